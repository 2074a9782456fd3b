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
import { Extension } from '../shared/extension.ts';
import { drawPage } from './draw.ts';
import { morph } from './morph.ts';

/** How long a button says that it has copied. */
const COPIED_MS = 2_000;

/** Everything on the page. */
class Page {
  readonly #extension: Extension<RunPageRequest, RunPageMemory>;
  readonly #main = element('main');
  #clocks: RunPageClocks['texts'] = {};
  #copied = '';

  constructor(extension: Extension<RunPageRequest, RunPageMemory>) {
    this.#extension = extension;
    document.body.replaceChildren(this.#main);
    this.#main.addEventListener('click', ({ target }) => {
      const pressed = target instanceof Element ? target.closest('button') : null;
      if (pressed !== null) this.#press(pressed);
    });
  }

  take(message: RunPageMessage): void {
    if (message.type === 'clocks') this.#clocks = message.texts;
    else this.#draw(message);
    for (const clock of this.#main.querySelectorAll('[data-clock]')) {
      const text = this.#clocks[clock.getAttribute('data-clock') as keyof RunPageClocks['texts']] ?? '';
      if (clock.textContent !== text) clock.textContent = text;
    }
  }

  #draw(state: RunPageState): void {
    this.#extension.remember(() => state.memory);
    this.#copied = state.words.copied;
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
    this.#extension.send({ type: 'act', action: action as RunPageAction, key: about });
    if (action === 'copy') this.#showCopied(pressed);
  }

  /** For the eye and for screen readers, until it is drawn anew or some time has passed. */
  #showCopied(pressed: HTMLButtonElement): void {
    const words = pressed.textContent;
    const spoken = pressed.getAttribute('aria-label');
    if (words === this.#copied) return;
    pressed.textContent = this.#copied;
    pressed.removeAttribute('aria-label');
    setTimeout(() => {
      if (pressed.textContent !== this.#copied) return;
      pressed.textContent = words;
      if (spoken !== null) pressed.setAttribute('aria-label', spoken);
    }, COPIED_MS);
  }
}

/** The innermost first. */
function* ancestorsOf(element: Element | null): Generator<Element> {
  for (let one = element?.parentElement; one; one = one.parentElement) yield one;
}

function main(): void {
  const extension = new Extension<RunPageRequest, RunPageMemory>();
  const page = new Page(extension);
  window.addEventListener('message', ({ data }: MessageEvent<RunPageMessage>) => page.take(data));
  extension.send({ type: 'ready' });
}

main();
