import { ExpectedError } from '../base/errors.ts';
import type { MaskCounts, Masks } from './masks.ts';
import type { Split, SplitFailure } from './split.ts';
import type { NotConverted } from './toChat.ts';

/** A choice that needs no dialog: a copy without what none has. */
export type Preset = 'clean';

/** What a copy of a dataset changes. Blank rows, a byte order mark and CRs before line ends are never copied. */
export interface PrepareChoices extends Split {
  withoutErrors: boolean;
  /** Leaves out rows that can't be trained on, as the source has them. */
  withoutUntrainable: boolean;
  withoutDuplicates: boolean;
  mask: Masks;
  toChat: boolean;
}

/**
 * Why a row is in none of the new files. `unchecked`: it is too long to check. `mask`: it would no longer be JSON. `format`: it
 * can't be converted. `split`: it isn't in the trial.
 */
export type LeftOut =
  'blank' | 'error' | 'untrainable' | 'duplicate' | 'unchecked' | 'mask' | 'format' | 'split';

/** What a pass did. The rows of the source are those that were written, held out or left out. */
export interface PrepareCounts {
  /** Rows of the source, including blank ones. */
  rows: number;
  written: number;
  heldOut: number;
  leftOut: Record<LeftOut, number>;
  masked: MaskCounts;
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

  constructor(code: PrepareFailure) {
    super(`the copy could not be prepared: ${code}`);
    this.code = code;
  }
}
