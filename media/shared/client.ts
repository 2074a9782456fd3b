import type { HostMessage, HostRequest } from '../../src/ui/shared/protocol.ts';
import { element } from './dom.ts';

interface VSCodeApi<Request, Memory> {
  postMessage(message: Request): void;
  getState(): Memory | undefined;
  setState(state: Memory): void;
}
declare function acquireVsCodeApi<Request, Memory>(): VSCodeApi<Request, Memory>;

const SAVE_AGAIN_MS = 150;
/** How long a button shows that the text was copied. */
const COPIED_MS = 2_000;

/** The types that a page receives, sends and stores. */
interface PageTypes {
  message: unknown;
  request: unknown;
  memory: unknown;
}

/** Owns the page's side of the connection: messages, the page's memory, Copy buttons and announcements. */
export class Client<Page extends PageTypes> {
  readonly #api = acquireVsCodeApi<Page['request'] | HostRequest, Page['memory']>();
  #spoken: HTMLElement | undefined;
  /** The Copy button that was pressed last; several may have the same key. */
  #pressed: HTMLElement | undefined;
  #memory: (() => Page['memory']) | undefined;
  #saving: ReturnType<typeof setTimeout> | undefined;

  /** The memory from before the page was hidden or the window was reloaded. */
  get remembered(): Page['memory'] | undefined {
    return this.#api.getState();
  }

  /** Starts listening, and requests everything that the page shows. */
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
   * Stores the memory now, because the page may be closed at any time, and again after a delay. The delay
   * combines frequent changes while scrolling, and includes what is still being drawn.
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

  /** Announces a text to screen readers. */
  say(text: string): void {
    const spoken = (this.#spoken ??= element('div', { class: 'spoken', attributes: { role: 'status' } }));
    if (!spoken.isConnected) document.body.append(spoken);
    // Clear it first so that the same text is announced again.
    spoken.textContent = '';
    requestAnimationFrame(() => (spoken.textContent = text));
  }

  #showCopied({ id, text }: HostMessage): void {
    this.say(text);
    const ofId = `button[data-copy][data-key="${CSS.escape(id)}"]`;
    const pressed = this.#pressed?.isConnected && this.#pressed.matches(ofId) ? this.#pressed : undefined;
    const button = pressed ?? document.querySelector(ofId);
    if (!button || button.hasAttribute('data-copied')) return;
    const shown = [...button.childNodes];
    const label = button.getAttribute('aria-label');
    button.textContent = text;
    button.setAttribute('data-copied', '');
    button.removeAttribute('aria-label');
    setTimeout(() => {
      button.removeAttribute('data-copied');
      button.replaceChildren(...shown);
      if (label !== null) button.setAttribute('aria-label', label);
    }, COPIED_MS);
  }
}

function isCopied(message: unknown): message is HostMessage {
  return (message as Partial<HostMessage>).type === 'copied';
}
