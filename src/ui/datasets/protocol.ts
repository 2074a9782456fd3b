/**
 * Messages between the preview's page and the extension. Types only: both sides are bundled separately. All
 * texts come from the extension or the file; the page only replaces `{0}` in a word.
 */

/** Names of the texts that the page uses. */
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

/** What the page stores while it is hidden or the window reloads. */
export interface PreviewMemory {
  filter: PreviewFilter;
  /** The row at the top. */
  row: number;
  detailsHidden: boolean;
  /** Rows that the user switched between raw text and content. */
  switched: readonly number[];
}

/** Selects the listed rows; `problems` is a `ProblemChoice`. */
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
  /** `row` is at the top and stays there. */
  | { type: 'reload'; row: number }
  /** The failure's button. */
  | { type: 'act' }
  /** The button beside the progress. */
  | { type: 'stop' };

/** From the extension to the page. */
export type PreviewMessage =
  | PreviewStart
  | PreviewFailure
  | PreviewList
  | PreviewRows
  | PreviewCard
  | { type: 'goTo'; generation: number; position: number }
  | { type: 'notice'; text: string | undefined; canReload: boolean }
  /** The file was saved: request a reload. */
  | { type: 'follow' }
  /** The problems of rows have changed: request the rows again. */
  | { type: 'stale' };

export interface PreviewStart {
  type: 'start';
  words: Readonly<Record<PreviewWord, string>>;
  /** For numbers that the page formats. */
  language: string;
  /** The role of each name of a speaker. */
  speakers: readonly (readonly [name: unknown, role: string])[];
  fileName: string;
  /** Whether the file can be opened in a text editor. */
  hasSource: boolean;
}

/** Why there are no rows to show. */
export interface PreviewFailure {
  type: 'failure';
  text: string;
  /** The title of a button with what can be done with the file. */
  action?: string | undefined;
}

/** The list of rows to show. */
export interface PreviewList {
  type: 'list';
  /** Different for each filter and each file: positions are valid only within one generation. */
  generation: number;
  length: number;
  /** How many rows are listed, and the progress. */
  status: string;
  busy: boolean;
  /** Whether a paused search can be continued. */
  canContinue: boolean;
  filter: PreviewFilter;
  /** Whether this is another version of the listed rows, which stay where they are. */
  keepsPosition: boolean;
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
  /** "12.3 kB more not shown". */
  rest: string | undefined;
  problems: readonly PreviewProblem[];
  /** Says that more problems exist; undefined if all are listed. */
  moreProblems: string | undefined;
}

export interface PreviewProblem {
  severity: 'error' | 'warning';
  text: string;
  /** "line 3, column 17". */
  place: string;
  /** Offset in the row's text, in UTF-16 units; undefined if that part is not shown. */
  at: number | undefined;
  length: number;
  /** The name, for screen readers, of a secret or personal data to mark in the row's texts. */
  mark: string | undefined;
  /** The row that this one repeats, with the text of a link to it. */
  repeats: { row: number; text: string } | undefined;
  /** A few characters around an error. */
  excerpt: { before: string; marked: string; after: string } | undefined;
}

/** Verdict, facts, charts and problems of the file. */
export interface PreviewCard {
  type: 'card';
  /** `fraction` is from 0 to 1; undefined if nothing is running. `stop`: a button that ends it. */
  progress: { text: string; fraction: number; stop?: string } | undefined;
  verdict: { kind: 'clean' | 'warnings' | 'errors' | 'none'; text: string };
  facts: readonly PreviewFact[];
  charts: readonly PreviewChart[];
  problems: { title: string; classes: readonly PreviewProblemClass[] } | undefined;
}

export interface PreviewFact {
  name: string;
  value: string;
  /** Its rows, by a `ProblemChoice`: what they are called, and the text of a button that shows only them. */
  rows?: { choice: string; name: string; text: string } | undefined;
}

/** A bar chart. */
export interface PreviewChart {
  title: string;
  /** `share` is relative to the largest part, from 0 to 1. `line`: the words of one below it. */
  parts: readonly { name: string; value: string; share: number; line?: string | undefined }[];
}

export interface PreviewProblemClass {
  /** A `ProblemChoice`. */
  choice: string;
  name: string;
  count: string;
  codes: readonly { choice: string; name: string; count: string; severity: 'error' | 'warning' }[];
}
