/**
 * What the page of a run and the extension say to each other. Types only: both sides are bundled apart. Every text in it is made
 * for people by the extension, or is the service's own word.
 */

/** What a button of the page asks for; what it is done with the extension finds by the button's `key`. */
export type RunPageAction =
  | 'download'
  | 'inspect'
  | 'submitAgain'
  | 'refresh'
  | 'openDataset'
  | 'cancelDownload'
  | 'reveal'
  | 'compare'
  | 'useAccount'
  | 'switchAccount'
  | 'replaceKey';

/** From the page to the extension. */
export interface RunPageRequest {
  type: 'act';
  action: RunPageAction;
  key: string;
}

/** From the extension to the page. */
export type RunPageMessage = RunPageState | RunPageClocks;

/** Which run a page shows: the only thing that it remembers over a reload of the window. */
export interface RunPageMemory {
  accountId: string;
  runId: string;
}

/** Everything on the page. */
export interface RunPageState {
  type: 'state';
  memory: RunPageMemory;
  /** Words that the page needs for itself. */
  words: { actions: string };
  heading: RunPageHeading;
  notices: readonly RunPageNotice[];
  actions: readonly RunPageButton[];
  sections: readonly RunPageSection[];
}

/** Times that go on, each where an element names its clock. They are told apart, so that nothing else is drawn each second. */
export interface RunPageClocks {
  type: 'clocks';
  texts: Readonly<Partial<Record<RunPageClock, string>>>;
}

export type RunPageClock = 'queue' | 'started' | 'artifacts';

export interface RunPageHeading {
  title: string;
  phase: 'waiting' | 'active' | 'finished' | 'none';
  /** Announced when it changes. */
  status: string;
  /** Below the title. */
  lines: readonly string[];
}

export interface RunPageNotice {
  key: string;
  kind: 'info' | 'warning' | 'error';
  text: string;
  buttons: readonly RunPageButton[];
}

export interface RunPageButton {
  action: RunPageAction | 'copy';
  key: string;
  /** What it copies. */
  copy: string | undefined;
  words: string;
  /** What a screen reader says, where the words alone do not tell what they are about. */
  spoken: string | undefined;
  isFirst: boolean;
  /** It keeps its place, so that no other button slides under the pointer, and does nothing. */
  isDisabled: boolean;
}

export type RunPageSection =
  | { kind: 'timeline'; key: string; title: string; entries: readonly RunPageEntry[] }
  | {
      kind: 'durations';
      key: string;
      title: string;
      items: readonly RunPageDuration[];
      note: string;
      buttons: readonly RunPageButton[];
    }
  | { kind: 'facts'; key: string; title: string; facts: readonly RunPageFact[]; note: string | undefined }
  | RunPageArtifacts;

/** One event of the timeline; `unknown`: whether and when it happened is not told. */
export interface RunPageEntry {
  key: string;
  state: 'done' | 'now' | 'next' | 'unknown' | 'over';
  name: string;
  when: string;
  /** ISO 8601, where the time is told. */
  iso: string | undefined;
  notes: readonly string[];
  clock: RunPageClock | undefined;
}

/** How long one part of the run took, beside that part of other runs. */
export interface RunPageDuration {
  key: string;
  name: string;
  value: string;
  clock: RunPageClock | undefined;
  comparison: string;
  /** Shortest first; `share` is from 0 to 1, of the longest. */
  bars: readonly { share: number; isThis: boolean }[];
  /** The bars in words. */
  picture: string;
}

export interface RunPageFact {
  key: string;
  name: string;
  value: string;
  /** A button that copies it, or does something else with it. */
  buttons: readonly RunPageButton[];
}

export interface RunPageArtifacts {
  kind: 'artifacts';
  key: string;
  title: string;
  text: string;
  clock: RunPageClock | undefined;
  downloads: readonly RunPageDownload[];
  files: readonly RunPageFile[];
}

/** A download that has not ended. */
export interface RunPageDownload {
  key: string;
  name: string;
  text: string;
  /** From 0 to 1, while it is known and bytes come. */
  fraction: number | undefined;
  isBusy: boolean;
  buttons: readonly RunPageButton[];
}

/** A file that came home. */
export interface RunPageFile {
  key: string;
  name: string;
  lines: readonly string[];
  path: string;
  isGone: boolean;
  buttons: readonly RunPageButton[];
}
