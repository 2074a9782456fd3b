/** What every page and its host say to each other, besides the messages of the page's own feature. Types only. */

/** From the page: it was loaded and needs everything; or a text is to be copied. `id` comes back with `copied`. */
export type HostRequest = { type: 'ready'; memory: unknown } | { type: 'copy'; id: string; text: string };

/** To the page: the text of that button is on the clipboard; `text` says so. */
export interface HostMessage {
  type: 'copied';
  id: string;
  text: string;
}
