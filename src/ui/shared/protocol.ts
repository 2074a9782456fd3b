/** Messages between every page and its host, in addition to those of the page's feature. Types only. */

/** From the page: it has loaded and needs its state, or a text is to be copied. `copied` repeats the `id`. */
export type HostRequest = { type: 'ready'; memory: unknown } | { type: 'copy'; id: string; text: string };

/** To the page: a text was copied; `text` confirms it on the button with that `id`. */
export interface HostMessage {
  type: 'copied';
  id: string;
  text: string;
}

/** From a document page: a button was pressed. The extension runs only actions that it offered. */
export interface PageAct {
  type: 'act';
  action: string;
  target: string;
}

/** A button among others; `action` and `target` together are unique. */
export interface PageButton<Action extends string = string> {
  action: Action;
  /** A path, an ID, or the text to copy. */
  target: string;
  words: string;
  /** For screen readers, if the words alone are ambiguous. */
  label?: string;
  isFirst?: boolean;
  /** A disabled button stays in place, so that no other button moves under the pointer. */
  isDisabled?: boolean;
}

export interface PageNotice<Action extends string = string> {
  key: string;
  kind: 'info' | 'warning' | 'error';
  text: string;
  buttons: readonly PageButton<Action>[];
}
