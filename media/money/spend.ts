// The page of what an account spends. It shows what it receives, and sends what is pressed, searched for and sorted by.
import type { SpendMemory, SpendRequest, SpendState, SpendView } from '../../src/ui/money/protocol.ts';
import { Client } from '../shared/client.ts';
import { showDocument } from '../shared/document.ts';
import { drawPage } from './draw.ts';

const TYPING_MS = 150;

function openPage(): void {
  const client = new Client<{ message: SpendState; request: SpendRequest; memory: SpendMemory }>();
  let view: SpendView | undefined;
  let typing: ReturnType<typeof setTimeout> | undefined;
  const show = (change: Partial<Record<keyof SpendView, unknown>>) => {
    if (view !== undefined) client.send({ type: 'view', ...view, ...(change as Partial<SpendView>) });
  };
  const main = showDocument(
    client,
    (state) => {
      ({ view } = state.memory);
      return drawPage(state);
    },
    ({ group, sort }) => {
      if (group !== undefined) show({ groupBy: group });
      else if (sort !== undefined) {
        // Dates and amounts are wanted from the highest, names from A.
        const isFirst = view?.sortBy !== sort;
        const isDescending = isFirst ? /^(date|price|balance)$/.test(sort) : !view?.isDescending;
        show({ sortBy: sort, isDescending });
      }
    },
  );
  main.addEventListener('input', ({ target }) => {
    clearTimeout(typing);
    typing = setTimeout(() => show({ search: (target as HTMLInputElement).value }), TYPING_MS);
  });
}

openPage();
