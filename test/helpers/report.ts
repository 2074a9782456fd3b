import { FORMATS, ROLES } from '../../src/core/datasets/formats.ts';
import {
  PROBLEM_FIELDS,
  PROBLEMS,
  ProblemGroup,
  type ProblemCode,
} from '../../src/core/datasets/problems.ts';
import type { Report } from '../../src/core/datasets/report.ts';

/** The location of a problem; most tests only need its row. */
export interface Place {
  row: number;
  column?: number;
  length?: number;
  detail?: string;
}

/** Creates a group of problems, whose `total` may exceed the located ones. */
export function groupOf(code: ProblemCode, places: readonly Place[], total = places.length): ProblemGroup {
  const numbers = new Float64Array(places.length * PROBLEM_FIELDS);
  places.forEach(({ row, column = 1, length = 1 }, index) =>
    numbers.set([row, row, column, row * 100 + column, length], index * PROBLEM_FIELDS),
  );
  const number = PROBLEMS.findIndex(([name]) => name === code);
  return new ProblemGroup(
    number,
    total,
    numbers,
    places.map(({ detail = '' }) => detail),
  );
}

/** Creates a report of a clean file with 10 rows, with changes. */
export function reportOf(changes: Partial<Report> = {}): Report {
  const zeros = <K extends string>(names: readonly K[]) =>
    Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
  return {
    path: '/data/rows.jsonl',
    sizeBytes: 1_000,
    mtimeMs: 1_700_000_000_000,
    ctimeMs: 0,
    kind: 'rows',
    rows: 10,
    blankRows: 0,
    errorRows: 0,
    untrainable: { format: 0, content: 0, answer: 0, weight: 0 },
    unprompted: 0,
    formats: { ...zeros(FORMATS), chat: 10 },
    format: 'chat',
    datasetRows: 10,
    comparedRows: 10,
    repeats: { comparedRows: 10, prompts: 0, withOtherAnswers: 0 },
    statistics: {
      characters: 1_000,
      longestBytes: 99,
      roles: { ...zeros(ROLES), user: 10, assistant: 10 },
      maxTurns: 2,
    },
    problems: [],
    ...changes,
  };
}
