/** Messages between the adapter page and the extension. Types only: both sides are bundled separately. */

/** From the page to the extension. */
export type AdapterRequest =
  | { type: 'reload' }
  | { type: 'measure' }
  | { type: 'cancel' }
  /** `elsewhere`: let the user choose the folder. */
  | { type: 'unpack'; elsewhere: boolean }
  /** Shows another checkpoint. */
  | { type: 'open'; checkpoint: string };

/** What the page stores while it is hidden, and while the window reloads. */
export interface AdapterMemory {
  file: string;
  /** The tool whose recipe is shown. */
  tool: string | undefined;
}

/** From the extension to the page. */
export type AdapterMessage = AdapterPageState | AdapterWork | AdapterReveal;

/** Shows a block of a recipe, of the chosen tool if possible. Posted after the page with the recipes. */
export interface AdapterReveal {
  type: 'reveal';
  purpose: string;
}

/** Everything that the page shows except `AdapterWork`. */
export interface AdapterPageState {
  type: 'page';
  /** The page replaces `{0}` in `copyOf`. */
  words: Readonly<
    Record<'reload' | 'cancel' | 'copy' | 'copyOf' | 'tools' | 'progress' | 'error' | 'warning', string>
  >;
  fileName: string;
  /** The run that trained it, if this machine submitted that: its dataset, day and model. */
  origin: string | undefined;
  file: string;
  /** How the file on disk differs from what is shown. */
  notice: string | undefined;
  /** Replaces all fields below while the adapter is being read or if that failed; `retry` is the name of a button. */
  status?: { text: string; retry: string | undefined };
  verdict?: AdapterVerdict;
  sections?: readonly AdapterSection[];
  values?: AdapterValues | undefined;
  recipes?: AdapterRecipes | undefined;
  publishing?: AdapterPublishing | undefined;
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
  /** The meaning and the next step; a paragraph each. */
  sentences: readonly string[];
}

export interface AdapterFact {
  name: string;
  value: string;
  hasCopy?: boolean;
  /** Checkpoints that can be shown, instead of the value. */
  opens?: readonly string[];
  /** "and 5 more", which have no buttons. */
  more?: string | undefined;
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

/** What measuring the weights found, or would find. */
export interface AdapterValues {
  title: string;
  notes: readonly AdapterNote[];
  /** The name of the button that measures; undefined if measuring is not possible. */
  measure: string | undefined;
}

export interface AdapterRecipes {
  title: string;
  /** Offers to unpack the archive. */
  packed: { text: string; unpack: string; elsewhere: string } | undefined;
  /** The folder that the recipes use, if it exists. */
  folder: AdapterFact | undefined;
  /** Shown above all tools. */
  notes: readonly AdapterNote[];
  tools: readonly AdapterTool[];
}

export interface AdapterTool {
  tool: string;
  name: string;
  /** Shown above the commands. */
  warnings: readonly AdapterNote[];
  blocks: readonly AdapterBlock[];
  /** Shown below the commands. */
  notes: readonly AdapterNote[];
}

/** Commands or code to copy. */
export interface AdapterBlock {
  purpose: string;
  title: string;
  text: string;
  /** Names the folded text, if it is long. */
  fold: string | undefined;
  /** What to replace in the text. */
  hint: string | undefined;
}

export interface AdapterPublishing {
  title: string;
  notes: readonly AdapterNote[];
  blocks: readonly AdapterBlock[];
}

/** Work in progress, or its result. */
export interface AdapterWork {
  type: 'work';
  kind: 'measure' | 'unpack';
  progress?: { text: string; fraction: number };
  /** A quiet result is only announced to screen readers, because the page itself shows it. */
  result?: { isError: boolean; isQuiet: boolean; text: string };
}
