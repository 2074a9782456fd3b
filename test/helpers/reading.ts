import { RowTexts, type Reading } from '../../src/core/datasets/facts/reading.ts';
import { textRow } from '../../src/core/datasets/facts/textRow.ts';
import { readFacts, type FactName, type Finding } from '../../src/core/datasets/readFacts.ts';
import { Reports } from '../../src/core/datasets/reports.ts';

/** Reads the facts about the texts of rows, without a thread. */
export function readingOf(
  rows: readonly (object | string)[],
): Omit<Reading, 'path' | 'sizeBytes' | 'mtimeMs' | 'ctimeMs'> {
  const texts = new RowTexts();
  for (const [at, row] of rows.entries())
    texts.add(textRow(typeof row === 'string' ? row : JSON.stringify(row)), at);
  texts.endSegment(0, rows.length);
  return texts.result(Number.MAX_SAFE_INTEGER);
}

/** Returns a finding in so many rows. */
export function finding(name: FactName, total: number, kinds: Record<string, number> = {}): Finding {
  return { ...{ name, total, rows: [], kinds }, others: {} };
}

/** Returns the reading of 10 conversations without findings, with changes. */
export function shownReading(changes: Partial<Reading> = {}): Reading {
  return {
    ...{
      path: '/data/rows.jsonl',
      sizeBytes: 1_000,
      mtimeMs: 1_700_000_000_000,
      ctimeMs: 0,
      rows: 10,
      unread: 0,
    },
    ...{ conversations: 10, singleExchanges: 10, answers: 10, findings: [], labels: [], scripts: {} },
    system: { conversations: 10, without: 10, texts: 0, main: undefined },
    answer: undefined,
    tokens: { text: 250, assistant: 150, rowsOver4096: 0, rowsOver8192: 0, rows: [] },
    ...changes,
  };
}

/** Returns the services of features that read datasets. */
export function readersOf(reports: Reports) {
  const readings = new Reports<Reading>({ check: readFacts });
  return { reports: () => Promise.resolve(reports), readings: () => Promise.resolve(readings) };
}
