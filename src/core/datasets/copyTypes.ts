import { ExpectedError } from '../base/errors.ts';
import type { DatasetFile } from './fileKind.ts';
import type { Finding, FactName } from './facts/fact.ts';
import { isRepairable } from './fixes.ts';
import { TRAINING_FORMATS, type Format } from './formats.ts';
import type { MaskCounts, Masks } from './masks.ts';
import { countOf, untrainableRows, type Report } from './report.ts';
import { toChat, type NotConverted } from './toChat.ts';

export type { NotConverted };

/** Rows whose prompts can be compared, each of which may take 20 bytes. */
export const MAX_SPLIT_ROWS = 2_000_000;

/** Part of a dataset's rows: a number of rows, or a share from 0 to 1. */
export type Amount = { rows: number } | { share: number };

/** What is held out unless the user chooses otherwise. A trial leaves it aside. */
export const USUAL_HOLD_OUT = { share: 0.1 } as const satisfies Amount;

export interface Split {
  /** Rows for evaluation. */
  holdOut: Amount | undefined;
  /** The only rows to train on. */
  trial: Amount | undefined;
}

/** Why nothing can be held out: too few rows are left, all have one prompt, or each prompt has more rows than were asked for. */
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

/** Whether a copy leaves out the rows of a finding unless the user chooses otherwise: few, with marks that conversions refuse. */
export function leavesOut({ name, kinds, total }: LeavableFinding, rows: number): boolean {
  if (name !== 'templateMarks' || 2 * total >= rows) return false;
  const isRefused = (mark: string) =>
    toChat(JSON.stringify({ prompt: `\n\n${mark}`, completion: 'x' })) === 'template';
  const refused = Object.entries(kinds).filter(([mark]) => isRefused(mark));
  // Other marks may stand beside them. Alone, they may be what the row is about.
  return refused.reduce((sum, [, found]) => sum + found, 0) >= total;
}

/** A choice that needs no dialog: a copy without what none has. */
export type Preset = 'clean';

/** What a copy of a dataset changes. Blank rows, a byte order mark and CRs before line ends are never copied. */
export interface PrepareChoices extends Split {
  /** Repairs rows with errors as quick fixes do, if they can be trained on then; `withoutErrors` leaves out the others. */
  repair: boolean;
  withoutErrors: boolean;
  /** Leaves out rows that can't be trained on, as the source has them. */
  withoutUntrainable: boolean;
  withoutDuplicates: boolean;
  /** A hold-out, or its path: leaves out rows whose prompts are there, as the source has them. */
  withoutHeldOut: string | DatasetFile | undefined;
  /** Leaves out the rows of these findings, as the source has them. */
  withoutFindings: readonly LeavableFinding[];
  /** What the system is to say in conversations in which it says nothing. */
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
 * Why a row is in none of the new files. `unchecked`: it is too long to check. `mask`: it would no longer be JSON. `format`: it
 * can't be converted. `split`: it isn't in the trial. `held-out`: its prompt is in the hold-out.
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

/** What a pass did. The rows of the source are those that were written, held out or left out. */
export interface PrepareCounts {
  /** Rows of the source, including blank ones. */
  rows: number;
  written: number;
  heldOut: number;
  leftOut: Record<SkippedRow, number>;
  masked: MaskCounts;
  repaired: number;
  /** Conversations that got the system message. */
  withSystem: number;
  converted: number;
  /** Why rows couldn't be converted, and the fields that were dropped from rows that were, with their numbers. */
  notConverted: Partial<Record<NotConverted, number>>;
  dropped: Map<string, number>;
}

/** An open file to read, and the open files to write. */
export interface PrepareJob {
  fd: number;
  sizeBytes: number;
  segments: number;
  choices: PrepareChoices;
  /** The hold-out whose prompts are left out. */
  heldOut?: DatasetFile | undefined;
  /** Undefined if nothing is written, only counted. */
  mainFd: number | undefined;
  /** If rows are held out. */
  holdOutFd: number | undefined;
  /** The most that a file may have. */
  maxBytes: number;
}

/** `empty`: no row would be left. `too-large`: a file would exceed the limit. The others are about a hold-out. */
export type PrepareFailure = 'empty' | 'too-large' | 'too-many-rows' | SplitFailure;

/** Thrown if a copy can't be prepared as chosen; nothing was written. */
export class PrepareError extends ExpectedError {
  readonly code: PrepareFailure;
  /** Why each row is left out, with `empty`. */
  readonly counts: PrepareCounts | undefined;

  constructor(code: PrepareFailure, counts?: PrepareCounts) {
    super(`the copy could not be prepared: ${code}`);
    this.code = code;
    this.counts = counts;
  }
}

/** What a prepared copy of a checked dataset can change, as far as its report shows it. */
export interface Mendable extends Pick<Report, 'untrainable'> {
  /** Rows that aren't blank. */
  rows: number;
  errorRows: number;
  /** Those of them that a copy can repair. */
  repairableRows: number;
  /** Rows that can't be trained on. Leaving them out is proposed only if they are less than half of the rows. */
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
  /** The usual system message, and how many conversations lack it. */
  system: { text: string; rows: number } | undefined;
  canSplit: boolean;
  /** Whether most rows have answers to compare, but no prompt. */
  namesNoPrompt: boolean;
  /** Blank rows, a byte order mark or CRs before line ends, which no copy has. */
  hasLitter: boolean;
}

const CONVERTIBLE: ReadonlySet<Format> = new Set(
  TRAINING_FORMATS.filter(({ toChat }) => toChat === 'turns' || toChat === 'pair').map(({ name }) => name),
);

/** As far as the report shows it: no row is tried. */
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
 * Whether a copy masks secrets: those that were found, and what only a conversion makes readable.
 * @param chosen undefined if nobody was asked
 */
export function masksSecrets(
  { apiKeys, privateKeys }: Mendable,
  chosen: boolean | undefined,
  toChat: boolean,
): boolean {
  return chosen !== false && (apiKeys + privateKeys > 0 || toChat);
}

/** Whether a copy leaves out rows that can't be trained on, unless the user chooses otherwise. */
export function leavesOutUntrainable({ rows, untrainableRows }: Mendable): boolean {
  return untrainableRows > 0 && 2 * untrainableRows < rows;
}

/** Whether rows have errors that a copy may repair. */
export function mayBeRepaired({ problems }: Report): boolean {
  return problems.some(({ code }) => code === 'bom-inside' || isRepairable(code));
}

/** Whether a row is left that has no errors, or may be repaired, and can be trained on. */
export function hasUsableRow(report: Report): boolean {
  return mayBeRepaired(report) || report.rows - report.blankRows > report.errorRows + untrainableRows(report);
}

/** Whether a copy mends a problem that the check reports, or can have chat messages instead of another format. */
export function isMendable(report: Report): boolean {
  if (report.kind !== 'rows') return false;
  const { errorRows, duplicateRows, ...found } = mendableOf(report);
  // Masks need no row that can be trained on.
  if (found.apiKeys + found.privateKeys + found.emailAddresses + found.cardNumbers > 0) return true;
  const hasProblems = found.hasLitter || errorRows + found.untrainableRows + duplicateRows > 0;
  return hasUsableRow(report) && (hasProblems || found.convertible.length > 0);
}
