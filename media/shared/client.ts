import type { HostMessage, HostRequest } from '../../src/ui/shared/protocol.ts';
import { element } from './dom.ts';

interface VSCodeApi<Request, Memory> {
  postMessage(message: Request): void;
  getState(): Memory | undefined;
  setState(state: Memory): void;
}
declare function acquireVsCodeApi<Request, Memory>(): VSCodeApi<Request, Memory>;

const SAVE_AGAIN_MS = 150;
/** How long a button shows that it has copied. */
const COPIED_MS = 2_000;

/** What a page receives, sends and remembers. */
interface PageTypes {
  message: unknown;
  request: unknown;
  memory: unknown;
}

/** The page's end: the way to the extension, the page's memory, and what all pages do alike. One for each page. */
export class Client<Page extends PageTypes> {
  readonly #api = acquireVsCodeApi<Page['request'] | HostRequest, Page['memory']>();
  #spoken: HTMLElement | undefined;
  /** What copied last: two buttons of a page may copy the same text. */
  #pressed: HTMLElement | undefined;
  #memory: (() => Page['memory']) | undefined;
  #saving: ReturnType<typeof setTimeout> | undefined;

  /** What the page stored before it was hidden, or before the window was reloaded. */
  get remembered(): Page['memory'] | undefined {
    return this.#api.getState();
  }

  /** Asks for everything that the page shows. */
  connect(onMessage: (message: Page['message']) => void): void {
    window.addEventListener('message', ({ data }: MessageEvent<Page['message'] | HostMessage>) => {
      if (isCopied(data)) this.#showCopied(data);
      else onMessage(data);
    });
    document.addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest<HTMLElement>('button[data-copy]') : null;
      const { key: id, copy: text } = button?.dataset ?? {};
      if (button === null || id === undefined || text === undefined) return;
      this.#pressed = button;
      this.#api.postMessage({ type: 'copy', id, text });
    });
    this.#api.postMessage({ type: 'ready', memory: this.remembered });
  }

  send(request: Page['request']): void {
    this.#api.postMessage(request);
  }

  /**
   * Stores the memory now, as the page may go at any time, and once more soon after: scrolling changes it many times a second,
   * and it may be read from what is still being drawn.
   */
  remember(memory: () => Page['memory']): void {
    this.#memory = memory;
    if (this.#saving !== undefined) return;
    this.#api.setState(memory());
    this.#saving = setTimeout(() => {
      this.#saving = undefined;
      if (this.#memory !== undefined) this.#api.setState(this.#memory());
    }, SAVE_AGAIN_MS);
  }

  /** Has a screen reader say it. */
  say(text: string): void {
    const spoken = (this.#spoken ??= element('div', { class: 'spoken', attributes: { role: 'status' } }));
    if (!spoken.isConnected) document.body.append(spoken);
    // Cleared first, so that the same words are said again.
    spoken.textContent = '';
    requestAnimationFrame(() => (spoken.textContent = text));
  }

  #showCopied({ id, text }: HostMessage): void {
    this.say(text);
    const ofId = `button[data-copy][data-key="${CSS.escape(id)}"]`;
    const pressed = this.#pressed?.isConnected && this.#pressed.matches(ofId) ? this.#pressed : undefined;
    const button = pressed ?? document.querySelector(ofId);
    const words = button?.textContent;
    if (!button || words === text) return;
    const label = button.getAttribute('aria-label');
    button.textContent = text;
    button.setAttribute('data-copied', '');
    button.removeAttribute('aria-label');
    setTimeout(() => {
      button.removeAttribute('data-copied');
      button.textContent = words ?? '';
      if (label !== null) button.setAttribute('aria-label', label);
    }, COPIED_MS);
  }
}

function isCopied(message: unknown): message is HostMessage {
  return (message as Partial<HostMessage>).type === 'copied';
}
