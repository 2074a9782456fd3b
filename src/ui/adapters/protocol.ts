/** Messages between the page of an adapter and the extension. Types only: both sides are bundled apart. */

/** From the page to the extension. */
export type AdapterRequest =
  | { type: 'reload' }
  | { type: 'measure' }
  | { type: 'cancel' }
  /** `elsewhere`: into a folder that the user chooses. */
  | { type: 'unpack'; elsewhere: boolean };

/** What the page stores while it is hidden, and while the window reloads. */
export interface AdapterMemory {
  file: string;
  /** The tool whose recipe is shown. */
  tool: string | undefined;
}

/** From the extension to the page. */
export type AdapterMessage = AdapterPageState | AdapterWork;

/** Everything that the page shows, but for work. */
export interface AdapterPageState {
  type: 'page';
  /** In `copyOf` the page replaces `{0}`. */
  words: Readonly<
    Record<'reload' | 'cancel' | 'copy' | 'copyOf' | 'tools' | 'progress' | 'error' | 'warning', string>
  >;
  fileName: string;
  file: string;
  /** How the disk differs from what is shown. */
  notice: string | undefined;
  /** Instead of all that follows: it is being read, or why it could not be; `retry` is the name of a button. */
  status?: { text: string; retry: string | undefined };
  verdict?: AdapterVerdict;
  sections?: readonly AdapterSection[];
  picture?: AdapterPicture | undefined;
  recipes?: AdapterRecipes | undefined;
  files?: AdapterFiles | undefined;
}

export interface AdapterSection {
  title: string;
  facts?: readonly AdapterFact[];
  notes?: readonly AdapterNote[];
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
  hasCopy?: boolean;
}

export interface AdapterNote {
  severity: 'error' | 'warning' | 'info';
  text: string;
  /** Names from the file. */
  examples?: readonly string[];
  /** "and 12 more". */
  more?: string | undefined;
}

export interface AdapterFiles {
  title: string;
  nameHeader: string;
  sizeHeader: string;
  rows: readonly { name: string; size: string; note: string | undefined }[];
  more: string | undefined;
}

/** Which modules of which layers are adapted. */
export interface AdapterPicture {
  title: string;
  caption: string;
  /** Shown while no cell is focused. */
  hint: string;
  /** Over the names of the modules. */
  corner: string;
  /** The layers; `short` is shown over the cells where it is not empty. */
  columns: readonly { name: string; short: string }[];
  rows: readonly { name: string; cells: readonly AdapterCell[] }[];
  legendTitle: string;
  legend: readonly { shade: AdapterShade; text: string }[];
  tableTitle: string;
  /** Says that there is more than is shown. */
  cut: string | undefined;
  /** What measuring found, or would find. */
  findings: readonly AdapterNote[];
  /** The name of the button that measures, where that is possible. */
  measure: string | undefined;
}

export interface AdapterCell {
  shade: AdapterShade;
  /** Everything known of it, for hover, screen readers and the line below. */
  text: string;
  /** In the table: short. */
  value: string;
}

/** How a cell is painted; a number from 0 to 1 is a norm's share of the largest. */
export type AdapterShade = number | 'adapted' | 'none' | 'half' | 'zero' | 'bad' | 'unknown';

export interface AdapterRecipes {
  title: string;
  /** What to do about a packed archive. */
  packed: { text: string; unpack: string; elsewhere: string } | undefined;
  /** The folder of the recipes, where it exists. */
  folder: AdapterFact | undefined;
  /** Before the commands of any tool. */
  notes: readonly AdapterNote[];
  tools: readonly AdapterTool[];
}

export interface AdapterTool {
  tool: string;
  name: string;
  /** Before the commands. */
  warnings: readonly AdapterNote[];
  /** `hint` says what to replace in the text. */
  blocks: readonly { title: string; text: string; hint: string | undefined }[];
  /** After the commands. */
  notes: readonly AdapterNote[];
}

/** Work in progress, or its result. */
export interface AdapterWork {
  type: 'work';
  kind: 'measure' | 'unpack';
  progress?: { text: string; fraction: number };
  /** A quiet one is only for screen readers: the page shows the result itself. */
  result?: { isError: boolean; isQuiet: boolean; text: string };
}
