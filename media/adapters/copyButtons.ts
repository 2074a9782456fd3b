import type { AdapterWord } from '../../src/ui/adapters/protocol.ts';
import { button, fill } from '../shared/dom.ts';

const CONFIRMED_MS = 2_000;

/** Makes Copy buttons, and shows on each that its text is on the clipboard. */
export class CopyButtons {
  readonly #words: Readonly<Record<AdapterWord, string>>;
  readonly #onCopy: (id: string, text: string) => void;

  constructor(words: Readonly<Record<AdapterWord, string>>, onCopy: (id: string, text: string) => void) {
    this.#words = words;
    this.#onCopy = onCopy;
  }

  /** @param id tells one button from the others, also after it was drawn anew; @param name what it copies */
  make(id: string, name: string, text: string, look: 'link' | 'secondary'): HTMLButtonElement {
    const { copy, copyOf } = this.#words;
    return button(copy, () => this.#onCopy(id, text), {
      class: look,
      key: `copy ${id}`,
      attributes: { 'aria-label': fill(copyOf, name) },
    });
  }

  /** The text of that button is on the clipboard. */
  confirm(id: string): void {
    const { copy, copied } = this.#words;
    const found = document.querySelector(`[data-key="${CSS.escape(`copy ${id}`)}"]`);
    if (found === null) return;
    found.textContent = copied;
    setTimeout(() => (found.textContent = copy), CONFIRMED_MS);
  }
}
