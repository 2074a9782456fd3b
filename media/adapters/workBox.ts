import type { AdapterWord, AdapterWork } from '../../src/ui/adapters/protocol.ts';
import { button, element, icon } from '../shared/dom.ts';

/** Shows work that goes on, with Cancel, and what came of it. */
export class WorkBox {
  readonly root = element('div', { class: 'work' });
  readonly #bar: HTMLProgressElement;
  readonly #text = element('span', { class: 'note' });
  readonly #running: HTMLElement;
  readonly #result = element('p', { class: 'told' });
  readonly #cancel: HTMLButtonElement;

  constructor(words: Readonly<Record<AdapterWord, string>>, onCancel: () => void) {
    this.#bar = element('progress', { attributes: { max: '1', 'aria-label': words.progress } });
    this.#cancel = button(words.cancel, onCancel, { class: 'secondary' });
    this.#running = element('div', { class: 'running' }, [this.#bar, this.#text, this.#cancel]);
    this.#running.hidden = true;
    this.#result.hidden = true;
    this.root.append(this.#running, this.#result);
  }

  /** @returns whether the keyboard was on what is gone now */
  show(progress: AdapterWork['progress'], result: AdapterWork['result']): boolean {
    const began = this.#running.hidden && progress !== undefined;
    const hadFocus = this.#running.contains(document.activeElement);
    this.#running.hidden = progress === undefined;
    if (progress !== undefined) {
      this.#bar.value = progress.fraction;
      this.#text.textContent = progress.text;
    }
    // The button that began it is hidden now.
    if (began && (document.activeElement === null || document.activeElement === document.body))
      this.#cancel.focus();
    this.#result.hidden = result === undefined || result.isQuiet;
    this.#result.replaceChildren(
      ...(result === undefined
        ? []
        : [icon(result.isError ? 'error' : 'clean'), element('span', { text: result.text })]),
    );
    return hadFocus && progress === undefined;
  }
}
