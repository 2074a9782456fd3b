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

/**
 * What the file is. Only the rows of `rows` are judged; the other kinds are detected by the file's first bytes: UTF-16
 * text, no text at all, one JSON array with everything in it.
 */
export type FileKind = 'rows' | 'utf-16' | 'binary' | 'json-array';

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

function countProblems(report: Report, severity: Severity): number {
  return report.problems.reduce((sum, group) => sum + (group.severity === severity ? group.total : 0), 0);
}

/** Whether a dataset can be submitted, or the user has to confirm its problems first. */
export type Verdict = 'clean' | 'warnings' | 'errors';

/** Warnings that stop a submission as errors do: secrets, and rows that were not searched for secrets. */
const STOPPING: readonly ProblemCode[] = ['api-key', 'private-key', 'row-too-long'];

/**
 * Errors, secrets, rows too long to check and a file of blank rows only stop a submission until the user confirms; an
 * address or other warnings do not.
 */
export function verdictOf(report: Report): Verdict {
  const stops = report.problems.some(({ code }) => STOPPING.includes(code));
  if (report.kind !== 'rows' || report.rows === report.blankRows || stops) return 'errors';
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
  const total = (...codes: ProblemCode[]) =>
    report.problems.reduce((sum, group) => sum + (codes.includes(group.code) ? group.total : 0), 0);
  const secrets = total('api-key', 'private-key');
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
    warnings: countProblems(report, 'warning') - secrets - Math.max(total('crlf') - 1, 0),
    unchecked: total('row-too-long'),
    emailAddresses: total('email-address'),
    cardNumbers: total('card-number'),
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

/** Line endings are the same on all lines: one problem is enough. */
const ONCE = 'crlf';

/** A choice of a report's problems, and how many it leaves out. */
export interface ShownProblems {
  /** Errors, then secrets, then what is left; each in the order of the file. */
  shown: readonly Problem[];
  hiddenErrors: number;
  hiddenWarnings: number;
}

/**
 * At most `limit` problems: errors first, then secrets, then the other warnings. Where not all of one rank have room, each
 * code gets an equal share of it, so that 10,000 blank lines do not hide another fault. What holds for the complete file is
 * shown once, with the number of lines as its detail.
 */
export function shownProblems(report: Report, limit: number): ShownProblems {
  const shown: Problem[] = [];
  for (const rank of [0, 1, 2]) {
    const groups = report.problems.filter((group) => rankOf(group) === rank);
    const chosen = fairShare(groups, limit - shown.length);
    shown.push(...chosen.sort((a, b) => a.offset - b.offset));
  }
  const hidden = (severity: Problem['severity']) =>
    report.problems.reduce(
      (sum, group) => sum + (group.severity !== severity ? 0 : group.code === ONCE ? 1 : group.total),
      0,
    ) - shown.filter((problem) => problem.severity === severity).length;
  return { shown, hiddenErrors: hidden('error'), hiddenWarnings: hidden('warning') };
}

function rankOf({ severity, code }: ProblemGroup): number {
  if (severity === 'error') return 0;
  return code === 'api-key' || code === 'private-key' ? 1 : 2;
}

/** The first ones of each group; what a small group leaves of its share goes to the larger ones. */
function fairShare(groups: readonly ProblemGroup[], room: number): Problem[] {
  const chosen: Problem[] = [];
  const fromSmall = [...groups].sort((a, b) => wanted(a) - wanted(b));
  for (const [index, group] of fromSmall.entries()) {
    const share = Math.floor((room - chosen.length) / (fromSmall.length - index));
    if (group.code === ONCE) {
      if (share > 0) chosen.push({ ...group.at(0), detail: String(group.total) });
    } else for (let at = 0; at < Math.min(share, group.located); at++) chosen.push(group.at(at));
  }
  return chosen;
}

function wanted({ code, located }: ProblemGroup): number {
  return code === ONCE ? 1 : located;
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
