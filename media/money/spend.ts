// The page of what an account spends. It shows what it receives, and sends what is pressed, searched for and sorted by.
import type { SpendMemory, SpendRequest, SpendState, SpendView } from '../../src/ui/money/protocol.ts';
import { Client } from '../shared/client.ts';
import { element } from '../shared/dom.ts';
import { morph } from '../shared/morph.ts';
import { drawPage } from './draw.ts';

const TYPING_MS = 150;

class Page {
  readonly #client = new Client<{ message: SpendState; request: SpendRequest; memory: SpendMemory }>();
  readonly #main = element('main');
  #state: SpendState | undefined;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#main.addEventListener('click', ({ target }) => this.#click(target));
    this.#main.addEventListener('input', () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#show({ search: searchIn(this.#main)?.value ?? '' }), TYPING_MS);
    });
    document.body.replaceChildren(this.#main);
    this.#client.connect((state) => this.#draw(state));
  }

  #draw(state: SpendState): void {
    const search = searchIn(this.#main);
    this.#state = state;
    this.#client.remember(() => state.memory);
    morph(this.#main, element('main', {}, drawPage(state)));
    // What stands in a box that stays is newer than what comes.
    const shown = searchIn(this.#main);
    if (shown !== null && shown !== search) shown.value = state.memory.view?.search ?? '';
  }

  #click(target: EventTarget | null): void {
    const button = target instanceof Element ? target.closest('button') : null;
    if (button === null || button.ariaDisabled === 'true') return;
    const { action, target: about = '', group, sort } = button.dataset;
    const view = this.#state?.memory.view;
    if (action !== undefined) this.#client.send({ type: 'act', action, target: about });
    else if (group !== undefined) this.#show({ groupBy: group });
    else if (sort !== undefined && view !== undefined) {
      // Dates and amounts are wanted from the highest, names from A.
      const isFirst = view.sortBy !== sort;
      const isDescending = isFirst ? /^(date|price|balance)$/.test(sort) : !view.isDescending;
      this.#show({ sortBy: sort, isDescending });
    }
  }

  #show(change: Partial<Record<keyof SpendView, unknown>>): void {
    const view = this.#state?.memory.view;
    if (view !== undefined) this.#client.send({ type: 'view', ...view, ...(change as Partial<SpendView>) });
  }
}

function searchIn(main: HTMLElement): HTMLInputElement | null {
  return main.querySelector('input');
}

new Page();
