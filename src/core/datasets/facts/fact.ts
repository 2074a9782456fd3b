import type { TextRow } from './textRow.ts';

export type FactName =
  | ('templateMarks' | 'messagesInText' | 'emptyWords' | 'escapedTwice' | 'entities' | 'mojibake')
  | ('controls' | 'replacement' | 'openFences' | 'cutAnswers' | 'boilerplate' | 'thinking')
  | ('toolArguments' | 'tools' | 'columns' | 'withoutSystem' | 'refusals');

/** How many rows have each kind of a fact. */
export type KindCounts = Readonly<Record<string, number>>;

/** What is known of the file when its rows have been read. */
export interface FileTexts {
  /** Rows with an answer. */
  answers: number;
  /** Whether a text is one of a few answers, which are labels. */
  isLabel: (text: string) => boolean;
}

/** One thing that texts may have. Errors, costs and charges never depend on it. */
export interface Fact {
  name: FactName;
  /** Returns of which kinds a row is; mostly none. It knows only the row. */
  kindsOf: (row: TextRow) => readonly string[];
  /** Returns the kinds whose rows are shown: all of them, if this is missing. */
  shown?: (counts: KindCounts, file: FileTexts) => readonly string[];
}

/** A fact that a file has. */
export interface Finding {
  name: FactName;
  /** Rows of one of the kinds, and the first of them, in file order. */
  total: number;
  rows: readonly number[];
  /** The kinds that are shown, and all others, each with its rows. */
  kinds: KindCounts;
  others: KindCounts;
}

export const NONE: readonly string[] = [];

/** Returns the kinds whose condition holds. */
export function kindsIf(kinds: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(kinds).filter((kind) => kinds[kind]);
}

/** Returns the rarer ones of some kinds, if there are several: most rows are as they should be. */
export function rarerOf(counts: KindCounts, kinds: readonly string[]): readonly string[] {
  const found = kinds.filter((kind) => (counts[kind] ?? 0) > 0);
  const [, ...rarer] = found.toSorted((one, other) => (counts[other] ?? 0) - (counts[one] ?? 0));
  return rarer;
}
