import type { RunPageAction, RunPageButton } from './protocol.ts';

/** The buttons of a page, and what each is about: the page knows their keys, and nothing that it says is more than such a key. */
export class PageButtons {
  readonly #targets = new Map<string, string | undefined>();

  /**
   * Makes a button.
   * @param key together with the action it is the only one
   * @param target what it is about: a path, an id or a text to copy
   */
  make(
    action: RunPageAction,
    key: string,
    words: string,
    more: { target?: string; spoken?: string; isFirst?: boolean } = {},
  ): RunPageButton {
    this.#targets.set(`${action} ${key}`, more.target);
    return {
      action,
      key,
      copy: undefined,
      words,
      spoken: more.spoken,
      isFirst: more.isFirst ?? false,
      isDisabled: false,
    };
  }

  /** A button whose place is kept while there is nothing that it could do. */
  disabled(action: RunPageAction, key: string, words: string): RunPageButton {
    return { action, key, copy: undefined, words, spoken: undefined, isFirst: false, isDisabled: true };
  }

  /** A button that copies a text. */
  copy(key: string, copy: string, words: string, spoken?: string): RunPageButton {
    return { action: 'copy', key, copy, words, spoken, isFirst: false, isDisabled: false };
  }

  /** Whether the page has such a button, and what it is about. */
  find(action: RunPageAction, key: string): { target: string | undefined } | undefined {
    const id = `${action} ${key}`;
    return this.#targets.has(id) ? { target: this.#targets.get(id) } : undefined;
  }
}
