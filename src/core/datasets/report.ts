import { ExpectedError } from '../base/errors.ts';
import type { FileStamp } from '../base/fileStamp.ts';
import type { ProblemClass, ProblemCode, ProblemGroup, Severity, Problem } from './problems.ts';

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

/** What the file is: rows of JSON with or without problems, or something else, for the reason of which no row is one. */
export type FileKind = 'rows' | UnreadKind | 'git-lfs' | 'html' | 'csv' | 'python' | ConvertibleKind;
/** Not UTF-8: its rows were not judged, nor searched for secrets. */
export type UnreadKind = 'utf-16' | 'utf-32' | 'gzip' | 'binary';
/** JSON of which a copy with one object on each line can be made. */
export type ConvertibleKind = 'json-array' | 'pretty-json';

export function isUnread(kind: FileKind): kind is UnreadKind {
  return kind === 'utf-16' || kind === 'utf-32' || kind === 'gzip' || kind === 'binary';
}

export function isConvertible(kind: FileKind): kind is ConvertibleKind {
  return kind === 'json-array' || kind === 'pretty-json';
}

/** Lengths of the rows in bytes, without line ends; blank rows are left out. */
export interface RowLengths {
  maxBytes: number;
  /** At most 3 % too high: they are read off fine bins. */
  percentiles: { p50: number; p99: number };
  /** From short to long, each up to twice as long as the one before. */
  histogram: readonly { fromBytes: number; toBytes: number; rows: number }[];
}

/** What is counted in a dataset. */
export interface Statistics {
  /** Unicode characters of the file, line ends included: all bytes but those that continue a sequence of UTF-8. */
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
export interface Report extends FileStamp {
  path: string;
  kind: FileKind;
  /** Rows, blank ones included; what follows the last LF is a row if it is not empty. */
  rows: number;
  blankRows: number;
  /** Rows by format; rows that are not objects have none. */
  formats: Readonly<Record<Format, number>>;
  /** The format of most rows; undefined if none has one. */
  format: Format | undefined;
  /** How many rows were searched for duplicates; below `rows` only in enormous files. */
  duplicatesLookedForRows: number;
  statistics: Statistics;
  /** Only those that occur, errors first, in the order of `PROBLEMS`. */
  problems: readonly ProblemGroup[];
}

/** How many problems of some codes there are. */
export function countOf({ problems }: Report, ...codes: readonly ProblemCode[]): number {
  return problems.reduce((sum, { code, total }) => sum + (codes.includes(code) ? total : 0), 0);
}

function countProblems(report: Report, severity: Severity): number {
  return report.problems.reduce((sum, group) => sum + (group.severity === severity ? group.total : 0), 0);
}

/** Whether a dataset can be submitted, or the user has to confirm its problems first. */
export type Verdict = 'clean' | 'warnings' | 'errors';

/** They are never summed up, and stop a submission as errors do. */
const SECRETS: readonly ProblemCode[] = ['api-key', 'private-key'];

/**
 * Errors, secrets, rows too long to check and a file of blank rows only stop a submission until the user confirms; an
 * address or other warnings do not.
 */
export function verdictOf(report: Report): Verdict {
  const stopping = countOf(report, ...SECRETS, 'row-too-long');
  if (report.kind !== 'rows' || report.rows === report.blankRows || stopping > 0) return 'errors';
  if (countProblems(report, 'error') > 0) return 'errors';
  return countProblems(report, 'warning') > 0 ? 'warnings' : 'clean';
}

/** Why a dataset could not be checked completely, apart from what `inspectDataset` finds before. */
export type CheckFailure = 'missing' | 'unreadable' | 'changing' | 'worker-died';

/** A check that came to no verdict. `changing`: the file was written to while it was read. */
export class CheckError extends ExpectedError {
  readonly code: CheckFailure;

  constructor(code: CheckFailure, options?: ErrorOptions) {
    super(`the dataset could not be checked: ${code}`, options);
    this.code = code;
  }
}

/** What sentences are made of where there is little room. */
export interface Summary extends FileStamp {
  kind: FileKind;
  verdict: Verdict;
  rows: number;
  /** Whether all rows are blank. */
  isBlank: boolean;
  format: Format | undefined;
  errors: number;
  /** API keys and private keys. */
  secrets: number;
  /** Warnings without the secrets. */
  warnings: number;
  /** Rows that are too long to be checked, among the warnings. */
  unchecked: number;
  emailAddresses: number;
  cardNumbers: number;
  /** As in `Statistics`. */
  characters: number;
  /** An estimate without a tokenizer. */
  estimatedTokens: number;
}

/** Sums up a report. */
export function summaryOf(report: Report): Summary {
  const secrets = countOf(report, ...SECRETS);
  return {
    kind: report.kind,
    sizeBytes: report.sizeBytes,
    mtimeMs: report.mtimeMs,
    ctimeMs: report.ctimeMs,
    verdict: verdictOf(report),
    rows: report.rows,
    isBlank: report.rows === report.blankRows,
    format: report.format,
    errors: countProblems(report, 'error'),
    secrets,
    // Line ends of Windows are one matter, on however many lines.
    warnings: countProblems(report, 'warning') - secrets - Math.max(countOf(report, 'crlf') - 1, 0),
    unchecked: countOf(report, 'row-too-long'),
    emailAddresses: countOf(report, 'email-address'),
    cardNumbers: countOf(report, 'card-number'),
    characters: report.statistics.characters,
    estimatedTokens: report.statistics.estimatedTokens,
  };
}

/** Waits for a check: the summary of its report, or why it came to no verdict. @throws CancelledError */
export async function summaryOrFailure(
  check: Promise<Report>,
  onFailure: (error: CheckError) => void,
): Promise<Summary | CheckFailure> {
  try {
    return summaryOf(await check);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    onFailure(error);
    return error.code;
  }
}

/** More problems of a code are shown as one. */
const MOST_OF_A_CODE = 20;
/** Fewer are not, even in a file of few rows. */
const FEWEST_OF_A_CODE = 3;

/** A problem as it is shown: it may stand for all of its code. */
export interface ShownProblem extends Problem {
  /** How many there are, where it stands for all. */
  count?: number;
}

/** A choice of a report's problems, and how many it leaves out. */
export interface ShownProblems {
  /** Errors, then secrets, then what is left; each in the order of the file. */
  shown: readonly ShownProblem[];
  hiddenErrors: number;
  hiddenWarnings: number;
}

/**
 * At most `limit` problems. What is found in many rows is one fact, shown at its first place; but each secret has to be
 * removed. Of a file that is something else than rows, or cut off, nothing else is said.
 */
export function shownProblems(report: Report, limit: number): ShownProblems {
  const whole = report.problems.filter(({ code }) => code === 'cut-off');
  const groups =
    report.kind === 'rows' && whole.length === 0
      ? report.problems
      : [...whole, ...report.problems.filter(isSecret)];
  const rankOf = (group: ProblemGroup) => (group.severity === 'error' ? 0 : isSecret(group) ? 1 : 2);
  const all = [0, 1, 2].flatMap((rank) =>
    groups
      .filter((group) => rankOf(group) === rank)
      .flatMap((group): ShownProblem[] =>
        isOneFact(group, report) ? [{ ...group.at(0), count: group.total }] : [...group],
      )
      .sort((a, b) => a.offset - b.offset),
  );
  const shown = all.slice(0, limit);
  const hidden = (severity: Severity) =>
    all.filter((problem, index) => index >= limit && problem.severity === severity).length;
  const unlocated = groups.filter(isSecret).reduce((sum, { total, located }) => sum + total - located, 0);
  return { shown, hiddenErrors: hidden('error'), hiddenWarnings: hidden('warning') + unlocated };
}

/** Whether problems of a code are rather one of the file, since they are many or in most rows. A secret never is. */
export function isOneFact(group: ProblemGroup, { rows }: Report): boolean {
  if (isSecret(group)) return false;
  if (group.total > MOST_OF_A_CODE) return true;
  return group.total >= FEWEST_OF_A_CODE && 2 * new Set(Array.from(group, ({ row }) => row)).size > rows;
}

function isSecret({ code }: ProblemGroup): boolean {
  return SECRETS.includes(code);
}

/** Which problems are meant: one code, one class, or all. */
export type ProblemChoice = ProblemCode | ProblemClass | 'all';

/** The rows that a choice of problems leads to. */
export interface ProblemRows {
  /** In the order of the file, each once. */
  rows: number[];
  /** For how many problems the place is known, out of how many. */
  located: number;
  total: number;
}

/** The rows with problems of a choice, as far as their places are known. */
export function rowsWithProblems(report: Report, choice: ProblemChoice): ProblemRows {
  const groups = report.problems.filter((group) => isChosen(group, choice));
  const rows = new Set<number>();
  for (const group of groups) for (const { row } of group) rows.add(row);
  return {
    rows: [...rows].sort((a, b) => a - b),
    located: groups.reduce((sum, { located }) => sum + located, 0),
    total: groups.reduce((sum, { total }) => sum + total, 0),
  };
}

/** The problems of one row, in the order of their places, and never more than asked for. */
export function problemsOfRow(report: Report, row: number, most: number): Problem[] {
  const found: Problem[] = [];
  for (const group of report.problems) {
    let taken = 0;
    for (let index = firstAt(group, row); index < group.located && taken < most; index++, taken++) {
      const problem = group.at(index);
      if (problem.row !== row) break;
      found.push(problem);
    }
  }
  return found.sort((a, b) => a.offset - b.offset).slice(0, most);
}

function isChosen({ code, class: problemClass }: ProblemGroup, choice: ProblemChoice): boolean {
  return choice === 'all' || choice === code || choice === problemClass;
}

/** The index of a group's first problem in a row or behind it. */
function firstAt(group: ProblemGroup, row: number): number {
  let low = 0;
  let high = group.located;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (group.at(middle).row < row) low = middle + 1;
    else high = middle;
  }
  return low;
}
