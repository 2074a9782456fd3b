/** The messages between the run page and the extension; types only. All text comes from the extension or the service. */

import type { PageAct, PageButton, PageNotice } from '../shared/protocol.ts';

export type RunPageRequest = PageAct;

/** Identifies the run of a page. The page stores nothing else across reloads of the window. */
export interface RunPageMemory {
  accountId: string;
  runId: string;
}

/** Everything that the page shows. */
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
  /** Announced by screen readers when it changes. */
  status: string;
  lines: readonly string[];
}

export type RunPageNotice = PageNotice<RunPageAction>;
export type RunPageButton = PageButton<RunPageAction>;
export type RunPageAction =
  | 'download'
  | 'inspect'
  | 'submitAgain'
  | 'refresh'
  | 'openDataset'
  | 'howToCompare'
  | 'compareAnswers'
  | 'cancelDownload'
  | 'reveal'
  | 'useAccount'
  | 'switchAccount'
  | 'replaceKey'
  | 'copy';

export type RunPageSection =
  | { kind: 'timeline'; key: string; title: string; entries: readonly RunPageEntry[] }
  | { kind: 'facts'; key: string; title: string; facts: readonly RunPageFact[]; note?: string | undefined }
  | {
      kind: 'adapter';
      key: string;
      title: string;
      text: string;
      facts: readonly RunPageFact[];
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

/** An unfinished download. */
export interface RunPageDownload {
  key: string;
  name: string;
  text: string;
  /** From 0 to 1; undefined if unknown. */
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
