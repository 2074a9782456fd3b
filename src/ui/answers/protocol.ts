/** Messages between the page that compares answers and the extension. Types only: both sides are bundled separately. */

/** Names of the texts that the page uses. */
export type AnswersWord =
  | ('feed' | 'rowsLoading' | 'noMatch' | 'keyboard' | 'comparison' | 'rowsToShow' | 'legend')
  | ('voteBlind' | 'copySummary' | 'prompt' | 'showMore' | 'showLess' | 'emptyText' | 'showInHoldOut')
  | ('question' | 'left' | 'right' | 'equal' | 'back' | 'end' | 'expected' | 'showExpected' | 'hideExpected')
  | ('voteKeyboard' | 'showRows' | 'discardVotes');

/** What the page stores while it is hidden or the window reloads: neither text of rows nor votes. */
export interface AnswersMemory {
  file: string;
}

/** Which rows are listed. */
export type AnswersFilter = 'all' | 'different' | 'adapter' | 'base' | 'trained' | 'voted';

/** The user's preference between two answers. */
export type AnswersChoice = 'left' | 'right' | 'equal';

/** From the page to the extension. */
export type AnswersRequest =
  | { type: 'need'; generation: number; from: number; count: number }
  | { type: 'filter'; filter: AnswersFilter }
  | { type: 'showInHoldOut'; row: number }
  /** Asks for a dataset to compare the prompts with. */
  | { type: 'chooseDataset' }
  /** Shows a row to vote on: the first without a vote, or more of them. */
  | { type: 'vote' }
  /** `row` is the shown one: a late key press must not vote on another row. */
  | { type: 'choose'; row: number; choice: AnswersChoice }
  | { type: 'back' }
  /** Ends voting, or returns from its end to the rows. */
  | { type: 'end' }
  | { type: 'discardVotes' };

/** From the extension to the page. */
export type AnswersMessage = AnswersStart | AnswersHead | AnswersList | AnswersRows | AnswersVoting;

export interface AnswersStart {
  type: 'start';
  words: Readonly<Record<AnswersWord, string>>;
  memory: AnswersMemory;
}

/** Everything above the rows. */
export interface AnswersHead {
  type: 'head';
  /** "train.answers.jsonl · 50 rows". */
  title: string;
  notices: readonly string[];
  /** Why there is nothing to show. */
  failure: string | undefined;
  /** Which prompts were trained, as far as that is known, and one button: the filter `trained`, or a dataset to choose. */
  leak:
    | { text: string; action: { kind: 'showRows' | 'chooseDataset'; words: string } | undefined }
    | undefined;
  headline: { isWarning: boolean; sentences: readonly string[] } | undefined;
  table: AnswersTable | undefined;
  /** Empty without rows. */
  filters: readonly { filter: AnswersFilter; words: string; isPressed: boolean }[];
  canVote: boolean;
  /** Markdown without text of rows; undefined without rows. */
  summary: string | undefined;
}

export interface AnswersTable {
  columns: readonly string[];
  rows: readonly { name: string; cells: readonly string[]; note: string | undefined }[];
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

/** A row's prompt: on one line, and completely if that leaves something out. */
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
  /** What the model thought before. */
  thinking: { title: string; text: string } | undefined;
  /** "= expected". */
  notes: readonly string[];
}

/** The row to vote on or the end of voting; with neither, the rows are shown. */
export interface AnswersVoting {
  type: 'voting';
  row: AnswersVoteRow | undefined;
  end: { sentences: readonly string[]; more: string | undefined } | undefined;
  /** The last vote in words, for screen readers. */
  said: string | undefined;
}

export interface AnswersVoteRow {
  row: number;
  /** "Row 7 of 20". */
  title: string;
  /** "20 of 43 rows". */
  note: string;
  prompt: AnswersPrompt;
  expected: AnswersText;
  left: AnswersText;
  right: AnswersText;
  /** The earlier vote on this row. */
  choice: AnswersChoice | undefined;
  canGoBack: boolean;
}
