/**
 * The messages between the preview's page and the extension. Types only: both sides are bundled separately. The extension
 * makes every text, or reads it from the file; the page fills in `{0}` in a word.
 */

/** Sentences and names that the page needs for itself. */
export type PreviewWord =
  | ('feed' | 'details' | 'keyboard' | 'problemsOfRow' | 'showDetails' | 'hideDetails' | 'reload')
  | ('search' | 'matchCase' | 'continueSearch' | 'noMatch' | 'problemFilter' | 'allRows' | 'clearFilter')
  | (
      | 'goToRow'
      | 'goToRowHint'
      | 'rowsLoading'
      | 'blankRow'
      | 'emptyText'
      | 'notParsed'
      | 'raw'
      | 'openSource'
    )
  | ('showMore' | 'showLess' | 'moreTurns' | 'toolCall' | 'toolCallId' | 'noRole');

/** What the page remembers while it is hidden, and over a reload of the window. */
export interface PreviewMemory {
  filter: PreviewFilter;
  /** The row at the top. */
  row: number;
  detailsHidden: boolean;
  /** Rows that the user switched between raw text and content. */
  switched: readonly number[];
}

/** Which rows are listed; `problems` is a `ProblemChoice`. */
export interface PreviewFilter {
  text: string;
  matchCase: boolean;
  problems: string | undefined;
}

/** From the page to the extension. */
export type PreviewRequest =
  | { type: 'need'; generation: number; from: number; count: number }
  | { type: 'filter'; filter: PreviewFilter }
  | { type: 'more' }
  | { type: 'goTo'; row: number }
  | { type: 'openSource'; row: number; problem: number | undefined }
  /** `row` is the one at the top, which stays there. */
  | { type: 'reload'; row: number };

/** From the extension to the page. */
export type PreviewMessage =
  | PreviewStart
  | PreviewFailure
  | PreviewList
  | PreviewRows
  | PreviewCard
  | { type: 'goTo'; generation: number; position: number }
  | { type: 'notice'; text: string | undefined; canReload: boolean }
  /** The problems of rows have changed: request the rows again. */
  | { type: 'stale' };

export interface PreviewStart {
  type: 'start';
  words: Readonly<Record<PreviewWord, string>>;
  /** For the numbers that the page writes. */
  language: string;
  fileName: string;
  /** Whether "open in the editor" can be offered. */
  hasSource: boolean;
}

/** Why there are no rows to show. */
export interface PreviewFailure {
  type: 'failure';
  text: string;
}

/** The list of rows that is shown now. */
export interface PreviewList {
  type: 'list';
  /** Another number for each filter and each file: positions of one generation are not those of another. */
  generation: number;
  length: number;
  /** Says what is listed and how far the work is. */
  status: string;
  busy: boolean;
  /** Whether a paused search can be continued. */
  canContinue: boolean;
  filter: PreviewFilter;
}

export interface PreviewRows {
  type: 'rows';
  generation: number;
  from: number;
  rows: readonly PreviewRow[];
}

export interface PreviewRow {
  row: number;
  /** "Row 1,234". */
  title: string;
  /** The row, or its beginning. */
  text: string;
  /** "12,345 more bytes not shown". */
  rest: string | undefined;
  problems: readonly PreviewProblem[];
  /** Says that there are more problems than these. */
  moreProblems: string | undefined;
}

export interface PreviewProblem {
  severity: 'error' | 'warning';
  text: string;
  /** "line 3, column 17". */
  place: string;
  /** Where in the row's text, in UTF-16 units; undefined where that part is not shown. */
  at: number | undefined;
  length: number;
  /** A few characters around an error. */
  excerpt: { before: string; marked: string; after: string } | undefined;
}

/** What is known of the file. */
export interface PreviewCard {
  type: 'card';
  /** While it is checked: how far, from 0 to 1. */
  progress: { text: string; fraction: number } | undefined;
  verdict: { kind: 'clean' | 'warnings' | 'errors' | 'none'; text: string };
  facts: readonly { name: string; value: string }[];
  charts: readonly PreviewChart[];
  problems: { title: string; classes: readonly PreviewProblemClass[] } | undefined;
}

/** Shares with their names. */
export interface PreviewChart {
  title: string;
  /** `share` is from 0 to 1, of the largest part. */
  parts: readonly { name: string; value: string; share: number }[];
}

export interface PreviewProblemClass {
  /** A `ProblemChoice`. */
  choice: string;
  name: string;
  count: string;
  codes: readonly { choice: string; name: string; count: string; severity: 'error' | 'warning' }[];
}
