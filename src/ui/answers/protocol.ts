/** Messages between the page that compares answers and the extension. Types only: both sides are bundled separately. */

/** Names of the texts that the page uses. */
export type AnswersWord =
  | ('feed' | 'rowsLoading' | 'noMatch' | 'keyboard' | 'rowsToShow' | 'legend')
  | ('copySummary' | 'compareWithOther' | 'showDifferences' | 'showInHoldOut')
  | ('prompt' | 'showMore' | 'showLess' | 'emptyText');

/** What the page stores while it is hidden or the window reloads: no text of rows. */
export interface AnswersMemory {
  file: string;
  /** A second file of answers to the same rows. */
  other?: string | undefined;
  /** Whether differences to the expected answers are marked. Only the page knows it. */
  marksDifferences?: boolean;
}

/** Which rows are listed. */
export type AnswersFilter = 'all' | 'different' | 'adapter' | 'base' | 'trained';

/** From the page to the extension. */
export type AnswersRequest =
  | { type: 'need'; generation: number; from: number; count: number }
  | { type: 'filter'; filter: AnswersFilter }
  | { type: 'showInHoldOut'; row: number }
  /** Asks for another file of answers. */
  | { type: 'compareWithOther' }
  /** Asks for a dataset to compare the prompts with. */
  | { type: 'chooseDataset' };

/** From the extension to the page. */
export type AnswersMessage = AnswersStart | AnswersHead | AnswersList | AnswersRows;

export interface AnswersStart {
  type: 'start';
  words: Readonly<Record<AnswersWord, string>>;
  memory: AnswersMemory;
}

/** Everything above the rows. */
export interface AnswersHead {
  type: 'head';
  /** "train.answers.jsonl · 50 rows", or "old ↔ new · 48 rows in common". */
  title: string;
  notices: readonly string[];
  /** Why there is nothing to show. */
  failure: string | undefined;
  /** Which prompts were trained, as far as that is known, and one button: the filter `trained`, or a dataset to choose. */
  leak:
    | { text: string; action: { kind: 'showRows' | 'chooseDataset'; words: string } | undefined }
    | undefined;
  headline: { isWarning: boolean; sentences: readonly string[] } | undefined;
  /** Counts of all rows, and of those with each expected answer. */
  tables: readonly AnswersTable[];
  /** Empty without rows. */
  filters: readonly { filter: AnswersFilter; words: string; isPressed: boolean }[];
  /** Markdown without text of rows; undefined without rows. */
  summary: string | undefined;
  canCompareWithOther: boolean;
}

export interface AnswersTable {
  name: string;
  /** Above the names of the rows; may be empty. */
  corner: string;
  columns: readonly string[];
  rows: readonly { name: string; cells: readonly string[] }[];
}

/** The list of rows to show. */
export interface AnswersList {
  type: 'list';
  /** Different for each filter and each version of the file. */
  generation: number;
  length: number;
  busy: boolean;
  keepsPosition: boolean;
}

export interface AnswersRows {
  type: 'rows';
  generation: number;
  from: number;
  rows: readonly AnswersRow[];
}

/** A row's prompt on one line, and its messages if the line leaves something out. */
export interface AnswersPrompt {
  line: string;
  messages: readonly AnswersText[] | undefined;
}

export interface AnswersRow {
  /** Its line in the file. */
  row: number;
  /** "Row 12". */
  title: string;
  /** "Trained". */
  note: string | undefined;
  prompt: AnswersPrompt;
  texts: readonly AnswersText[];
  hasHoldOut: boolean;
}

/** A text with its name. */
export interface AnswersText {
  /** Unique in its row. */
  key: string;
  name: string;
  /** In reading order: without a mark, or only in the answer (`ins`), or only in the expected one (`del`). */
  pieces: readonly { text: string; mark: 'ins' | 'del' | undefined }[];
  /** "1,234 more characters not shown". */
  rest: string | undefined;
  /** The thinking before the answer. */
  thinking: { title: string; text: string } | undefined;
  /** "= expected". */
  notes: readonly string[];
}
