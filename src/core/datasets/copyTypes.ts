import { ExpectedError } from '../base/errors.ts';
import type { Finding, FactName } from './facts/fact.ts';
import type { DatasetFile } from './fileKind.ts';
import { isRepairable } from './fixes.ts';
import { TRAINING_FORMATS, type Format } from './formats.ts';
import type { MaskCounts, Masks } from './masks.ts';
import { countOf, untrainableRows, type Report } from './report.ts';
import { REFUSED_MARKS } from './templateMarks.ts';
import type { NotConverted } from './toChat.ts';

export type { NotConverted };

/** The most rows that a copy can split. Each may take 20 bytes of memory. */
export const MAX_SPLIT_ROWS = 2_000_000;

/** Part of a dataset's rows: a number of rows, or a share from 0 to 1. */
export type Amount = { rows: number } | { share: number };

/** The hold-out that dialogs propose. A trial avoids these rows, so that they can still be held out later. */
export const USUAL_HOLD_OUT = { share: 0.1 } as const satisfies Amount;

export interface Split {
  /** Rows to evaluate on. They go to a file of their own. */
  holdOut: Amount | undefined;
  /** A small part of the dataset, to train on first. The copy has only these rows. */
  trial: Amount | undefined;
}

/** Why nothing can be held out: there are too few rows, all have one prompt, or each prompt has more rows than wanted. */
export type SplitFailure = 'too-few-rows' | 'one-prompt' | 'large-prompts';

/** Findings whose rows a copy can leave out. */
const LEAVABLE = ['templateMarks', 'emptyWords', 'refusals'] as const satisfies readonly FactName[];
export type Leavable = (typeof LEAVABLE)[number];

export type LeavableFinding = Pick<Finding, 'kinds' | 'total'> & { name: Leavable };

export function leavableOf(findings: readonly Finding[]): LeavableFinding[] {
  return LEAVABLE.flatMap((name) =>
    findings.filter((one) => one.name === name).map((one) => ({ ...one, name })),
  );
}

/** Whether a copy leaves out the rows of a finding by default: few rows, with marks that conversions refuse. */
export function leavesOut({ name, kinds, total }: LeavableFinding, rows: number): boolean {
  if (name !== 'templateMarks' || 2 * total >= rows) return false;
  const refused = Object.entries(kinds).filter(([mark]) => REFUSED_MARKS.test(`\n\n${mark}`));
  // A row that has only other marks may be about them.
  return refused.reduce((sum, [, found]) => sum + found, 0) >= total;
}

/** Choices that need no dialog. `clean`: change only what every copy changes. */
export type Preset = 'clean';

/** What a copy of a dataset changes. No copy has blank rows, a byte order mark or CRs before line ends. */
export interface PrepareChoices extends Split {
  /** Repairs rows with errors as quick fixes do, if that makes them rows to train on. */
  repair: boolean;
  withoutErrors: boolean;
  /** Leaves out rows that can't be trained on. Like the next ones, it judges rows before they are changed. */
  withoutUntrainable: boolean;
  withoutDuplicates: boolean;
  /** Leaves out rows whose prompts are in this hold-out. */
  withoutHeldOut: string | DatasetFile | undefined;
  /** Leaves out the rows of these findings. */
  withoutFindings: readonly LeavableFinding[];
  /** A system message to add to conversations that have none. */
  system: string | undefined;
  mask: Masks;
  toChat: boolean;
}

export const NO_CHANGES: Readonly<PrepareChoices> = {
  ...{ repair: false, withoutErrors: false, withoutUntrainable: false, withoutDuplicates: false },
  ...{ withoutHeldOut: undefined, withoutFindings: [], system: undefined, toChat: false },
  ...{ holdOut: undefined, trial: undefined },
  mask: { secrets: false, personal: false },
};

/** Whether something was chosen. */
export function changesAnything({ mask, withoutFindings, ...choices }: PrepareChoices): boolean {
  return (
    [mask.secrets, mask.personal, withoutFindings.length > 0].some(Boolean) ||
    Object.values<unknown>(choices).some(Boolean)
  );
}

/**
 * Why a row is in none of the new files. `unchecked`: it is too long to check. `mask`: masked, it would no longer be JSON.
 * `format`: it can't be converted. `split`: it isn't in the trial. `held-out`: its prompt is in the hold-out.
 */
export type SkippedRow =
  | 'blank'
  | 'error'
  | 'untrainable'
  | 'held-out'
  | Leavable
  | 'duplicate'
  | 'unchecked'
  | 'mask'
  | 'format'
  | 'split';

/** What a pass did. Each row of the source was written, held out or left out. */
export interface PrepareCounts {
  /** Rows of the source, including blank ones. */
  rows: number;
  written: number;
  heldOut: number;
  leftOut: Record<SkippedRow, number>;
  masked: MaskCounts;
  repaired: number;
  /** Conversations to which the system message was added. */
  withSystem: number;
  converted: number;
  /** Why rows couldn't be converted, and how many. */
  notConverted: Partial<Record<NotConverted, number>>;
  /** The fields that conversions dropped, each with its rows. */
  dropped: Map<string, number>;
}

/** An open file to read, and the open files to write. */
export interface PrepareJob {
  fd: number;
  sizeBytes: number;
  choices: PrepareChoices;
  /** Rows whose prompts are in this hold-out are left out. */
  heldOut?: DatasetFile | undefined;
  /** Undefined to count only. */
  mainFd: number | undefined;
  /** Undefined if nothing is held out. */
  holdOutFd: number | undefined;
  /** The most that a file may have. */
  maxBytes: number;
}

/** `empty`: no row would be left. `too-large`: a file would exceed the limit. The others are about a hold-out. */
export type PrepareFailure = 'empty' | 'too-large' | 'too-many-rows' | SplitFailure;

/** Thrown if a copy can't be prepared as chosen; nothing was written. */
export class PrepareError extends ExpectedError {
  readonly code: PrepareFailure;
  /** With `empty`: why the rows were left out. */
  readonly counts: PrepareCounts | undefined;

  constructor(code: PrepareFailure, counts?: PrepareCounts) {
    super(`the copy could not be prepared: ${code}`);
    this.code = code;
    this.counts = counts;
  }
}

/** What a prepared copy of a checked dataset can change (mend). */
export interface Mendable extends Pick<Report, 'untrainable'> {
  /** Rows that aren't blank. */
  rows: number;
  errorRows: number;
  /** How many of these rows a copy can repair. */
  repairableRows: number;
  /** Rows that can't be trained on. */
  untrainableRows: number;
  duplicateRows: number;
  apiKeys: number;
  privateKeys: number;
  emailAddresses: number;
  cardNumbers: number;
  /** Rows that become chat messages, by format, most common first. */
  convertible: readonly (readonly [Format, number])[];
  /** Rows of a format that can't be converted, most common first. */
  unconvertible: readonly (readonly [Format, number])[];
  /** Whether chat is the most common format, and all other rows have a format that can be converted. */
  convertsAll: boolean;
  /** Findings whose rows can be left out. */
  leavable: readonly LeavableFinding[];
  /** The usual system message, and how many conversations have none. */
  system: { text: string; rows: number } | undefined;
  canSplit: boolean;
  /** Whether at least half of the rows have answers to compare, but no prompt. */
  namesNoPrompt: boolean;
  /** Blank rows, a byte order mark or CRs before line ends, which no copy has. */
  hasLitter: boolean;
}

const CONVERTIBLE: ReadonlySet<Format> = new Set(
  TRAINING_FORMATS.filter(({ toChat }) => toChat === 'turns' || toChat === 'pair').map(({ name }) => name),
);

/** Returns what the report alone shows: no row is tried. */
export function mendableOf(report: Report): Mendable {
  const { blankRows, errorRows, untrainable, format, formats } = report;
  const rows = report.rows - blankRows;
  const others = (Object.keys(formats) as Format[])
    .filter((one) => one !== 'chat' && formats[one] > 0)
    .map((one) => [one, formats[one]] as const)
    .toSorted(([, one], [, other]) => other - one);
  const convertible = others.filter(([one]) => CONVERTIBLE.has(one));
  const unconvertible = others.filter(([one]) => !CONVERTIBLE.has(one));
  return {
    ...{ rows, errorRows, repairableRows: 0, untrainable, convertible, unconvertible },
    untrainableRows: untrainableRows(report),
    duplicateRows: countOf(report, 'duplicate-row'),
    apiKeys: countOf(report, 'api-key'),
    privateKeys: countOf(report, 'private-key'),
    emailAddresses: countOf(report, 'email-address'),
    cardNumbers: countOf(report, 'card-number'),
    convertsAll: format === 'chat' && convertible.length > 0 && unconvertible.length === 0,
    ...{ leavable: [], system: undefined },
    canSplit: rows > 1 && rows <= MAX_SPLIT_ROWS,
    namesNoPrompt: 2 * report.unprompted >= rows,
    hasLitter: blankRows > 0 || countOf(report, 'bom-at-start', 'crlf') > 0,
  };
}

/**
 * Whether a copy masks secrets. A conversion may decode secrets that the check couldn't see.
 * @param chosen undefined if nobody was asked
 */
export function masksSecrets(
  { apiKeys, privateKeys }: Mendable,
  chosen: boolean | undefined,
  toChat: boolean,
): boolean {
  return chosen !== false && (apiKeys + privateKeys > 0 || toChat);
}

/** Whether a copy leaves out rows that can't be trained on by default: only if they are less than half. */
export function leavesOutUntrainable({ rows, untrainableRows }: Mendable): boolean {
  return untrainableRows > 0 && 2 * untrainableRows < rows;
}

/** Whether rows have errors that a copy may repair. */
export function mayBeRepaired({ problems }: Report): boolean {
  return problems.some(({ code }) => code === 'bom-inside' || isRepairable(code));
}

/** Whether the dataset has rows that can be trained on, or may be after a repair. */
export function hasUsableRow(report: Report): boolean {
  return mayBeRepaired(report) || report.rows - report.blankRows > report.errorRows + untrainableRows(report);
}

/** Whether a copy can mend a problem that the check reports, or convert rows to chat messages. */
export function isMendable(report: Report): boolean {
  if (report.kind !== 'rows') return false;
  const { errorRows, duplicateRows, ...found } = mendableOf(report);
  // Secrets can be masked even if no row can be trained on.
  if (found.apiKeys + found.privateKeys + found.emailAddresses + found.cardNumbers > 0) return true;
  const hasProblems = found.hasLitter || errorRows + found.untrainableRows + duplicateRows > 0;
  return hasUsableRow(report) && (hasProblems || found.convertible.length > 0);
}
