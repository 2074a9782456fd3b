// The page of a run. It shows what it receives and sends which of its buttons was pressed.
import type { RunPageMemory, RunPageRequest, RunPageState } from '../../src/ui/runs/protocol.ts';
import { Client } from '../shared/client.ts';
import { element } from '../shared/dom.ts';
import { drawPage } from './draw.ts';
import { morph } from '../shared/morph.ts';

const client = new Client<{ message: RunPageState; request: RunPageRequest; memory: RunPageMemory }>();
const main = element('main');

main.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  const { action, target: about } = button?.dataset ?? {};
  if (action === undefined || about === undefined || button?.ariaDisabled === 'true') return;
  client.send({ type: 'act', action, target: about });
});
document.body.replaceChildren(main);
client.connect(draw);

function draw(state: RunPageState): void {
  client.remember(() => state.memory);
  const focused = document.activeElement;
  const around = [...ancestorsOf(focused)];
  morph(main, element('main', {}, drawPage(state)));
  // A pressed button may be gone: keyboard users continue beside it, not at the top of the page.
  if (focused?.isConnected !== false || !document.hasFocus()) return;
  for (const one of around) {
    const button = one.isConnected ? one.querySelector('button') : null;
    if (button === null) continue;
    button.focus();
    return;
  }
}

/** The innermost first. */
function* ancestorsOf(element: Element | null): Generator<Element> {
  for (let one = element?.parentElement; one; one = one.parentElement) yield one;
}
