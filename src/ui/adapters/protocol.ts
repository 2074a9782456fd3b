/**
 * What the page of an adapter and the extension say to each other. Types only: both sides are bundled apart. Every text in
 * it is made for people by the extension, or stands in the archive; `{0}` in a word is filled in by the page.
 */

/** Sentences and names that the page needs for itself. */
export type AdapterWord =
  | 'facts'
  | 'problems'
  | 'toKnow'
  | 'picture'
  | 'recipes'
  | 'files'
  | 'reload'
  | 'cancel'
  | 'copy'
  | 'copyOf'
  | 'copied'
  | 'asTable'
  | 'gridHint'
  | 'legend'
  | 'tools'
  | 'progress'
  | 'error'
  | 'warning';

/** From the page to the extension. */
export type AdapterRequest =
  | { type: 'ready' }
  | { type: 'reload' }
  | { type: 'measure' }
  /** Ends the measuring or the unpacking. */
  | { type: 'cancel' }
  /** `elsewhere`: into a folder that the person chooses. */
  | { type: 'unpack'; elsewhere: boolean }
  /** `id` comes back when the text is on the clipboard. */
  | { type: 'copy'; id: string; text: string };

/** From the extension to the page. */
export type AdapterMessage =
  | AdapterStart
  /** The file is read, for the first time or anew: what was shown of it is not true any more. */
  | { type: 'loading'; text: string }
  | AdapterFailure
  | AdapterOverview
  | AdapterPicture
  | AdapterRecipes
  | AdapterWork
  | { type: 'notice'; text: string | undefined }
  | { type: 'copied'; id: string };

/** Makes the page. */
export interface AdapterStart {
  type: 'start';
  words: Readonly<Record<AdapterWord, string>>;
  fileName: string;
  /** What the page remembers, so that it is restored with the window. */
  file: string;
}

/** There is nothing to show, and why; `retry` is the name of a button that looks again. */
export interface AdapterFailure {
  type: 'failure';
  text: string;
  retry: string;
}

/** What the headers tell. */
export interface AdapterOverview {
  type: 'overview';
  verdict: AdapterVerdict;
  facts: readonly AdapterFact[];
  problems: readonly AdapterNote[];
  /** What is no problem, and good to know all the same. */
  toKnow: readonly AdapterNote[];
  files: AdapterFiles | undefined;
}

export interface AdapterVerdict {
  kind: 'clean' | 'warning' | 'error';
  title: string;
  /** What it means, and what to do next; a paragraph each. */
  sentences: readonly string[];
}

export interface AdapterFact {
  name: string;
  value: string;
  /** What is copied, where a Copy button stands beside it. */
  copy?: string;
}

export interface AdapterNote {
  severity: 'error' | 'warning' | 'info';
  text: string;
  /** Names from the file. */
  examples: readonly string[];
  /** "and 12 more". */
  more: string | undefined;
}

export interface AdapterFiles {
  nameHeader: string;
  sizeHeader: string;
  rows: readonly { name: string; size: string; note: string | undefined }[];
  more: string | undefined;
}

/** Which modules of which layers are adapted. */
export interface AdapterPicture {
  type: 'picture';
  caption: string;
  /** What the corner over the names of the modules says. */
  corner: string;
  /** Headers of the columns, the layers; `short` stands over the cells where it is not empty. */
  columns: readonly { name: string; short: string }[];
  rows: readonly AdapterRow[];
  legend: readonly { shade: AdapterShade; text: string }[];
  /** Says that there is more than is shown. */
  cut: string | undefined;
  /** The name of the button that measures; undefined while that cannot be done. */
  measure: string | undefined;
  /** What measuring would tell, or what it told. */
  findings: readonly AdapterNote[];
}

export interface AdapterRow {
  name: string;
  cells: readonly AdapterCell[];
  /** Stands at the row's end once measured. */
  total: string | undefined;
}

export interface AdapterCell {
  shade: AdapterShade;
  /** All that is known of it, for hover, screen readers and the line below. */
  text: string;
  /** In the table: short. */
  value: string;
}

/** How a cell is painted; a number from 0 to 1 is a norm's share of the largest. */
export type AdapterShade = number | 'adapted' | 'none' | 'half' | 'zero' | 'bad' | 'unknown';

export interface AdapterRecipes {
  type: 'recipes';
  /** Where the archive is packed: what to do about it. */
  packed: { text: string; unpack: string; elsewhere: string } | undefined;
  /** The folder that the recipes name, where it exists. */
  folder: AdapterFact | undefined;
  tools: readonly AdapterTool[];
}

export interface AdapterTool {
  tool: string;
  name: string;
  /** Why it cannot take the adapter. */
  refusal: string | undefined;
  /** To be read before the commands. */
  warnings: readonly string[];
  blocks: readonly AdapterBlock[];
  /** To be known after them. */
  traps: readonly string[];
}

export interface AdapterBlock {
  title: string;
  text: string;
  /** Says what has to be replaced in it. */
  hint: string | undefined;
}

/** Work that goes on, or what came of it. */
export interface AdapterWork {
  type: 'work';
  kind: 'measure' | 'unpack';
  /** Undefined when it is over. */
  progress: { text: string; fraction: number } | undefined;
  /** Why it failed, or where it went. One that is `quiet` is only said to screen readers: all see what came of it. */
  result: { isError: boolean; isQuiet: boolean; text: string } | undefined;
}
