// The page of a run. It shows what it is told and says which of its buttons was pressed: it knows no path, asks nothing of the
// service, and makes no sentence of its own.
import type {
  RunPageAction,
  RunPageClocks,
  RunPageMemory,
  RunPageMessage,
  RunPageRequest,
  RunPageState,
} from '../../src/ui/runs/protocol.ts';
import { element } from '../shared/dom.ts';
import { Client } from '../shared/client.ts';
import { drawPage } from './draw.ts';
import { morph } from './morph.ts';

/** Everything on the page. */
class Page {
  readonly #client = new Client<{
    message: RunPageMessage;
    request: RunPageRequest;
    memory: RunPageMemory;
  }>();
  readonly #main = element('main');
  #clocks: RunPageClocks['texts'] = {};

  constructor() {
    document.body.replaceChildren(this.#main);
    this.#main.addEventListener('click', ({ target }) => {
      const pressed = target instanceof Element ? target.closest('button') : null;
      if (pressed !== null) this.#press(pressed);
    });
    this.#client.connect((message) => this.#take(message));
  }

  #take(message: RunPageMessage): void {
    if (message.type === 'clocks') this.#clocks = message.texts;
    else this.#draw(message);
    for (const clock of this.#main.querySelectorAll('[data-clock]')) {
      const text = this.#clocks[clock.getAttribute('data-clock') as keyof RunPageClocks['texts']] ?? '';
      if (clock.textContent !== text) clock.textContent = text;
    }
  }

  #draw(state: RunPageState): void {
    this.#client.remember(() => state.memory);
    const wanted = element('main', {}, drawPage(state));
    // What stands in a clock stays until the clocks are told.
    for (const clock of wanted.querySelectorAll('[data-clock]'))
      clock.textContent =
        this.#clocks[clock.getAttribute('data-clock') as keyof RunPageClocks['texts']] ?? '';
    const focused = document.activeElement;
    const around = [...ancestorsOf(focused)];
    morph(this.#main, wanted);
    // What was pressed may be gone: whoever uses the keyboard goes on beside it, not at the top of the page.
    if (focused?.isConnected === false && document.hasFocus())
      around
        .filter(({ isConnected }) => isConnected)
        .map((one) => one.querySelector('button'))
        .find((button) => button !== null)
        ?.focus();
  }

  #press(pressed: HTMLButtonElement): void {
    const { action, about } = pressed.dataset;
    if (action === undefined || about === undefined || pressed.ariaDisabled === 'true') return;
    this.#client.send({ type: 'act', action: action as RunPageAction, key: about });
  }
}

/** The innermost first. */
function* ancestorsOf(element: Element | null): Generator<Element> {
  for (let one = element?.parentElement; one; one = one.parentElement) yield one;
}

new Page();
