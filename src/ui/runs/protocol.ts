/** What the run page and the extension send each other. Types only. Every text is made by the extension or comes from the service. */

/** A button was pressed; the extension does what it has offered, and nothing else. */
export interface RunPageRequest {
  type: 'act';
  action: string;
  target: string;
}

/** The run of a page, which is all that the page remembers when the window is reloaded. */
export interface RunPageMemory {
  accountId: string;
  runId: string;
  /** In a tab of its own: no other run takes its place. */
  isKept?: boolean;
}

/** Everything on the page. */
export interface RunPageState {
  type: 'state';
  memory: RunPageMemory;
  /** Names the group of main buttons for screen readers. */
  actionsName: string;
  heading: RunPageHeading;
  notices: readonly RunPageNotice[];
  actions: readonly RunPageButton[];
  sections: readonly RunPageSection[];
}

export interface RunPageHeading {
  title: string;
  phase: 'waiting' | 'active' | 'finished' | 'ended' | 'none';
  /** Announced when it changes. */
  status: string;
  lines: readonly string[];
}

export interface RunPageNotice {
  kind: 'info' | 'warning' | 'error';
  text: string;
  buttons: readonly RunPageButton[];
}

/** Action and target together are unique beside each other. */
export interface RunPageButton {
  action:
    | 'download'
    | 'inspect'
    | 'submitAgain'
    | 'refresh'
    | 'openDataset'
    | 'cancelDownload'
    | 'reveal'
    | 'useAccount'
    | 'switchAccount'
    | 'replaceKey'
    | 'copy';
  /** A path, an ID, or the text to copy. */
  target: string;
  words: string;
  /** For screen readers, where the words alone don't say what they are about. */
  label?: string;
  isFirst?: boolean;
  /** It stays in its place, so that no other button slides under the pointer. */
  isDisabled?: boolean;
}

export type RunPageSection =
  | { kind: 'timeline'; key: string; title: string; entries: readonly RunPageEntry[] }
  | { kind: 'facts'; key: string; title: string; facts: readonly RunPageFact[]; note?: string | undefined }
  | {
      kind: 'adapter';
      key: string;
      title: string;
      text: string;
      downloads: readonly RunPageDownload[];
      files: readonly RunPageFile[];
    };

/** `unknown`: the service doesn't say whether or when it happened. */
export interface RunPageEntry {
  key: string;
  state: 'done' | 'now' | 'next' | 'unknown' | 'over';
  name: string;
  when: string;
  /** ISO 8601. */
  iso?: string;
  notes: readonly string[];
}

export interface RunPageFact {
  key: string;
  name: string;
  value: string;
  buttons: readonly RunPageButton[];
}

/** A download that has not ended. */
export interface RunPageDownload {
  key: string;
  name: string;
  text: string;
  /** From 0 to 1, where it is known. */
  fraction: number | undefined;
  isBusy: boolean;
  buttons: readonly RunPageButton[];
}

export interface RunPageFile {
  key: string;
  name: string;
  lines: readonly string[];
  path: string;
  isGone: boolean;
  buttons: readonly RunPageButton[];
}
