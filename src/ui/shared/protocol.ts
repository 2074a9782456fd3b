/** What every page and its host say to each other, besides the messages of the page's own feature. Types only. */

/** From the page: it was loaded and needs everything; or a text is to be copied. `id` comes back with `copied`. */
export type HostRequest = { type: 'ready'; memory: unknown } | { type: 'copy'; id: string; text: string };

/** To the page: the text of that button is on the clipboard; `text` says so. */
export interface HostMessage {
  type: 'copied';
  id: string;
  text: string;
}

/** From a page that reads as a document: a button was pressed. The extension does what it has offered, and nothing else. */
export interface PageAct {
  type: 'act';
  action: string;
  target: string;
}

/** Action and target together are unique beside each other. */
export interface PageButton<Action extends string = string> {
  action: Action;
  /** A path, an ID, or the text to copy. */
  target: string;
  words: string;
  /** For screen readers, where the words alone don't say what they are about. */
  label?: string;
  isFirst?: boolean;
  /** It stays in its place, so that no other button slides under the pointer. */
  isDisabled?: boolean;
}

export interface PageNotice<Action extends string = string> {
  key: string;
  kind: 'info' | 'warning' | 'error';
  text: string;
  buttons: readonly PageButton<Action>[];
}
