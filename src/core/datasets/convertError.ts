import { ExpectedError } from '../base/errors.ts';

/**
 * Why a file can't be converted to JSONL. `unknown`: it is neither JSON nor a table. `ragged`: no row of a table
 * has as many values as its header. `quote`: one is neither doubled nor at the start or end of its value. `too-large`: the
 * result would exceed the limit.
 */
export type ConvertFailure =
  | 'unknown'
  | 'not-json'
  | 'not-utf-8'
  | 'not-utf-16'
  | 'no-rows'
  | 'ragged'
  | 'too-large'
  | 'too-many-columns'
  | 'row-too-long'
  | 'quote'
  | 'quote-not-closed';

/** Thrown if a file can't be converted; nothing was written. */
export class ConvertError extends ExpectedError {
  readonly code: ConvertFailure;
  /** The row of a table that prevents it; the header is row 1. */
  readonly row: number | undefined;

  constructor(code: ConvertFailure, row?: number) {
    super(`the file could not be converted: ${code}`);
    this.code = code;
    this.row = row;
  }
}
