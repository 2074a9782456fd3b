import type { ProblemClass, ProblemCode, ProblemGroup, Severity } from './problems.ts';

/** What the rows of a dataset can look like, in the order of the scanner's numbers (`scanner/codes.ts`). */
export const FORMATS = [
  'unknown',
  'chat',
  'prompt-completion',
  'instruction',
  'question-answer',
  'text',
  'preference',
  'sharegpt',
] as const;
export type Format = (typeof FORMATS)[number];

/** Who speaks in a turn of a conversation, in the order of the scanner's numbers. */
export const ROLES = ['system', 'user', 'assistant', 'tool', 'other'] as const;
export type Role = (typeof ROLES)[number];

/**
 * What the file as a whole is. Only of `rows` the rows are judged; the others are told from the file's first bytes: UTF-16
 * text, no text at all, one JSON array with everything in it.
 */
export type FileKind = 'rows' | 'utf-16' | 'binary' | 'json-array';

/** Lengths of the rows in bytes, without line ends; blank rows are left out. */
export interface RowLengths {
  minBytes: number;
  maxBytes: number;
  meanBytes: number;
  /** At most 3 % too high: they are read off fine bins. */
  percentiles: { p50: number; p90: number; p99: number };
  /** From short to long, each up to twice as long as the one before. */
  histogram: readonly { fromBytes: number; toBytes: number; rows: number }[];
}

/** What is counted in a dataset. */
export interface Statistics {
  /** Unicode characters of the whole file, line ends included: every byte that continues no sequence of UTF-8. */
  characters: number;
  /** An estimate without a tokenizer: about one token for four bytes. */
  estimatedTokens: number;
  lengths: RowLengths;
  /** Turns of conversations by who speaks. */
  roles: Readonly<Record<Role, number>>;
  /** The longest conversation, in turns. */
  maxTurns: number;
}

/** Everything that was found out about a dataset, and of which bytes. */
export interface Report {
  path: string;
  sizeBytes: number;
  /** When the judged bytes were last changed, as the file system tells, in whole milliseconds. */
  mtimeMs: number;
  /** When anything of the file was, its times too: a copy that keeps the first time has another here. */
  ctimeMs: number;
  /** SHA-256 of the judged bytes, in hexadecimal. */
  sha256: string;
  kind: FileKind;
  /** Rows, blank ones included; what follows the last LF is a row if it is not empty. */
  rows: number;
  blankRows: number;
  /** Rows by format; rows that are no object are in none. */
  formats: Readonly<Record<Format, number>>;
  /** The format of most rows; undefined if none has one. */
  format: Format | undefined;
  /** Rows up to which duplicates were looked for; below `rows` only in enormous files. */
  duplicatesLookedForRows: number;
  statistics: Statistics;
  /** Only those that occur, errors first, in the order of `PROBLEMS`. */
  problems: readonly ProblemGroup[];
}

/** How many problems of a severity, or of a class, a report counts. */
export function countProblems(
  report: Report,
  which: { severity?: Severity; class?: ProblemClass } = {},
): number {
  return report.problems
    .filter(
      (group) =>
        (which.severity === undefined || group.severity === which.severity) &&
        (which.class === undefined || group.class === which.class),
    )
    .reduce((sum, { total }) => sum + total, 0);
}

/** What is to be done with a dataset: it can go, or a person has to look first. */
export type Verdict = 'clean' | 'warnings' | 'errors';

/** Warnings that stop a submission as errors do: secrets, and rows that were not searched for secrets. */
const STOPPING: readonly ProblemCode[] = ['api-key', 'private-key', 'row-too-long'];

/**
 * Errors, secrets, rows too long to be checked and a file of blank rows only stop a submission until a person has looked; an
 * address or other warnings do not.
 */
export function verdictOf(report: Report): Verdict {
  const stops = report.problems.some(({ code }) => STOPPING.includes(code));
  if (report.kind !== 'rows' || report.rows === report.blankRows || stops) return 'errors';
  if (countProblems(report, { severity: 'error' }) > 0) return 'errors';
  return countProblems(report) > 0 ? 'warnings' : 'clean';
}
