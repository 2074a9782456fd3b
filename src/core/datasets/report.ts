import { ExpectedError } from '../base/errors.ts';
import type { FileStamp } from '../base/fileStamp.ts';
import type { FactName } from './facts/fact.ts';
import type { Format, Role } from './formats.ts';
import { PROBLEMS } from './problems.ts';
import type { ProblemClass, ProblemCode, ProblemGroup, Severity, Problem, Untrainable } from './problems.ts';
import type { Repeats } from './sameRows.ts';

export type { Format, Problem, ProblemClass, ProblemCode, Role };

/**
 * `rows`: JSONL, with or without problems. Any other kind explains why no row is valid. `array`: of values that aren't objects.
 * `answers`: a file of model answers to compare. `requests`: requests to a chat API with their answers. `other-form`: rows of
 * another service.
 */
export type FileKind =
  | 'rows'
  | UnreadKind
  | ConvertibleKind
  | 'array'
  | 'git-lfs'
  | 'html'
  | 'python'
  | 'cr-only'
  | 'answers';
/** Not UTF-8: its rows were neither checked nor searched for secrets. */
export type UnreadKind = 'utf-16' | 'utf-32' | 'gzip' | 'binary';
/** Kinds that *Convert to JSONL* accepts. */
export type ConvertibleKind = (typeof CONVERTIBLE)[number];

const CONVERTIBLE = ['json-array', 'pretty-json', 'csv', 'utf-16', 'requests', 'other-form'] as const;

export function isUnread(kind: FileKind): kind is UnreadKind {
  return kind === 'utf-16' || kind === 'utf-32' || kind === 'gzip' || kind === 'binary';
}

export function isConvertible(kind: FileKind): kind is ConvertibleKind {
  return (CONVERTIBLE as readonly FileKind[]).includes(kind);
}

export interface Statistics {
  /**
   * Unicode characters, including line ends. Undefined if a row is too long to check: its characters are unknown. The other
   * figures leave such rows out.
   */
  characters: number | undefined;
  /** Bytes of the longest row that was checked, without its line end. */
  longestBytes: number;
  /** Messages by role. */
  roles: Readonly<Record<Role, number>>;
  /** Messages in the longest conversation. */
  maxTurns: number;
}

/** Prompts and answers that several rows have. */
export interface RepeatedTexts extends Repeats {
  /** Rows, from the first, whose prompts and answers were compared; fewer than all only in huge files. */
  comparedRows: number;
}

/** Rows with a fact that isn't a problem: how many, and the first of them. */
export interface FactRows {
  total: number;
  rows: readonly number[];
}

/** The result of a check, with the stamp (size and times) of the version that was checked. */
export interface Report extends FileStamp {
  path: string;
  kind: FileKind;
  /** Rows, including blank ones. Text after the last LF is a row unless it is empty. */
  rows: number;
  blankRows: number;
  /** Rows with at least one error. */
  errorRows: number;
  /** Rows without errors that can't be trained on, by the reason. */
  untrainable: Readonly<Record<Untrainable, number>>;
  /** Rows by format; rows that are not objects have none. */
  formats: Readonly<Record<Format, number>>;
  /** The most common known format; undefined if no row has one. */
  format: Format | undefined;
  /** The largest number of rows that match one training format by names and types of fields. Other files rarely have any. */
  datasetRows: number;
  /** Preference rows without a prompt, among the first million rows. */
  unprompted: number;
  /** Rows, from the first, that were compared for duplicates; fewer than `rows` only in huge files. */
  comparedRows: number;
  repeats: RepeatedTexts;
  statistics: Statistics;
  /** Only codes that occur, errors first, then in the order of `PROBLEMS`. */
  problems: readonly ProblemGroup[];
}

export function countOf({ problems }: Report, ...codes: readonly ProblemCode[]): number {
  return problems.reduce((sum, { code, total }) => sum + (codes.includes(code) ? total : 0), 0);
}

/** Problems, counted as the messages do. */
export interface ProblemCounts {
  errors: number;
  /** API keys and private keys. */
  secrets: number;
  /** Warnings without the secrets. */
  warnings: number;
  /** Rows too long to check; included in the warnings. */
  unchecked: number;
}

/** Returns the format of at least half of the rows, or else how many formats there are; undefined if no row has one. */
export function mainFormat({ format, formats }: Report): Format | number | undefined {
  const counts = Object.values(formats).filter((rows) => rows > 0);
  const all = counts.reduce((sum, rows) => sum + rows, 0);
  return format === undefined || counts.length < 2 || 2 * formats[format] >= all ? format : counts.length;
}

/** Each secret is listed on its own, and stops a submission like an error. */
const SECRETS: readonly ProblemCode[] = ['api-key', 'private-key'];

export function countProblems(report: Report): ProblemCounts {
  const of = (severity: Severity) =>
    report.problems.reduce((sum, group) => sum + (group.severity === severity ? group.total : 0), 0);
  const secrets = countOf(report, ...SECRETS);
  // All CRLF line ends together count as one warning.
  const warnings = of('warning') - secrets - Math.max(countOf(report, 'crlf') - 1, 0);
  return { errors: of('error'), secrets, warnings, unchecked: countOf(report, 'row-too-long') };
}

export function hasOnlyBlankRows({ rows, blankRows }: Report): boolean {
  return rows === blankRows;
}

/** Returns how many rows can't be trained on, apart from errors. */
export function untrainableRows({ untrainable }: Pick<Report, 'untrainable'>): number {
  return Object.values(untrainable).reduce((sum, rows) => sum + rows, 0);
}

/** Whether there are valid rows, but none of them can be trained on. */
export function isUntrainable(report: Report): boolean {
  const rows = untrainableRows(report);
  return rows > 0 && rows === report.rows - report.blankRows - report.errorRows;
}

/** Whether a row with this problem can't be trained on. */
export function isUntrainableCode(code: unknown): boolean {
  return PROBLEMS.some(([known, , , reason]) => known === code && reason !== undefined);
}

/** Decides whether the user has to confirm a dataset's problems before submitting it. */
export type Verdict = 'clean' | 'warnings' | 'errors';

/** These count as errors too: secrets, unchecked rows, other kinds of files, and files without a row to train on. Addresses don't. */
export function verdictOf(report: Report): Verdict {
  const { errors, secrets, warnings, unchecked } = countProblems(report);
  if (
    report.kind !== 'rows' ||
    hasOnlyBlankRows(report) ||
    isUntrainable(report) ||
    errors + secrets + unchecked > 0
  )
    return 'errors';
  return warnings > 0 ? 'warnings' : 'clean';
}

/** Why a check failed, apart from what `inspectDataset` finds first. */
export type CheckFailure = 'missing' | 'unreadable' | 'changing' | 'worker-died';

/** Thrown if a check can't be completed. `changing`: the file was written to while it was read. */
export class CheckError extends ExpectedError {
  readonly code: CheckFailure;

  constructor(code: CheckFailure, options?: ErrorOptions) {
    super(`the dataset could not be checked: ${code}`, options);
    this.code = code;
  }
}

/** Awaits a check and returns its report, or why it failed. @throws CancelledError */
export async function reportOrFailure(
  check: Promise<Report>,
  log: { error(subject: string, error: unknown): void },
): Promise<Report | CheckFailure> {
  try {
    return await check;
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    log.error('not-checked', error);
    return error.code;
  }
}

/** If a code has more problems than this, they are shown as one. */
const MOST_OF_A_CODE = 20;
/** Fewer problems are shown separately, even in a file with few rows. */
const FEWEST_OF_A_CODE = 3;

/** A problem to show, which may represent all problems of its code. */
export interface ShownProblem extends Problem {
  /** The total, if it represents all problems of its code. */
  count?: number;
}

/** A selection of a report's problems, and the number left out. */
export interface ShownProblems {
  /** Errors, then secrets, then the rest, each in file order. */
  shown: readonly ShownProblem[];
  hiddenErrors: number;
  hiddenWarnings: number;
}

/**
 * Selects at most `limit` problems. A problem of many rows is shown once, at its first place, but each secret is
 * shown, because each must be removed. If the file is cut off or isn't JSONL, only that and its secrets are shown.
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
        isShownAsOne(group, report) ? [{ ...group.at(0), count: group.total }] : [...group],
      )
      .sort((a, b) => a.offset - b.offset),
  );
  const shown = all.slice(0, limit);
  const hidden = (severity: Severity) =>
    all.filter((problem, index) => index >= limit && problem.severity === severity).length;
  const unlocated = groups.filter(isSecret).reduce((sum, { total, located }) => sum + total - located, 0);
  return { shown, hiddenErrors: hidden('error'), hiddenWarnings: hidden('warning') + unlocated };
}

/** Whether a code's problems are shown as one, because they are many or in most rows. Secrets never are. */
export function isShownAsOne(group: ProblemGroup, { rows }: Report): boolean {
  if (isSecret(group)) return false;
  if (group.total > MOST_OF_A_CODE) return true;
  return group.total >= FEWEST_OF_A_CODE && 2 * new Set(Array.from(group, ({ row }) => row)).size > rows;
}

function isSecret({ code }: ProblemGroup): boolean {
  return SECRETS.includes(code);
}

/** Selects problems: one code, one class, or all. Or rows with a fact, or rows that changed since the last run. */
export type ProblemChoice = ProblemCode | ProblemClass | 'all' | FactName | 'since-last-run';

/** Rows with the selected problems. */
export interface ProblemRows {
  /** In file order, without duplicates. */
  rows: number[];
  /** How many of the problems have a known place, and how many there are. */
  located: number;
  total: number;
}

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

export function rowsOfFact({ total, rows }: FactRows): ProblemRows {
  return { rows: [...rows], located: rows.length, total };
}

/** Returns at most `most` problems of one row, sorted by place. */
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

/** Returns the index of a group's first problem at or after a row. */
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
