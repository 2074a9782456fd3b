import type { TextRow } from './textRow.ts';

export type FactName =
  | ('templateMarks' | 'messagesInText' | 'emptyWords' | 'escapedTwice' | 'entities' | 'mojibake')
  | ('controls' | 'replacement' | 'openFences' | 'cutAnswers' | 'boilerplate' | 'thinking')
  | ('toolArguments' | 'tools' | 'columns' | 'withoutSystem' | 'refusals');

/** How many rows have each kind of a fact. */
export type KindCounts = Readonly<Record<string, number>>;

/** What a fact can ask about the file once all rows are read. */
export interface FileTexts {
  /** Rows with an answer. */
  answers: number;
  /** Whether a text is a label: one of only a few different answers. */
  isLabel: (text: string) => boolean;
}

/** Something that texts may have, for example open code fences. Errors, costs and charges never depend on it. */
export interface Fact {
  name: FactName;
  /** Returns the kinds that a row has, usually none. Depends on nothing but the row. */
  kindsOf: (row: TextRow) => readonly string[];
  /** Returns the kinds whose rows are shown. If missing, all are. */
  shown?: (counts: KindCounts, file: FileTexts) => readonly string[];
}

/** A fact that was found in a file. */
export interface Finding {
  name: FactName;
  /** How many rows have a shown kind, and the first of them in file order. */
  total: number;
  rows: readonly number[];
  /** The shown kinds and all other kinds, each with its number of rows. */
  kinds: KindCounts;
  others: KindCounts;
}

export const NONE: readonly string[] = [];

/** Returns the kinds whose condition holds. */
export function kindsIf(kinds: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(kinds).filter((kind) => kinds[kind]);
}

/** Returns all kinds that occur but the most common one: most rows are as they should be. */
export function rarerOf(counts: KindCounts, kinds: readonly string[]): readonly string[] {
  const found = kinds.filter((kind) => (counts[kind] ?? 0) > 0);
  const [, ...rarer] = found.toSorted((one, other) => (counts[other] ?? 0) - (counts[one] ?? 0));
  return rarer;
}
