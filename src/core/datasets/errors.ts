import { ExpectedError } from '../base/errors.ts';

/** Why a dataset could not be checked to its end, apart from what `inspectDataset` tells before. */
export type CheckFailure = 'missing' | 'unreadable' | 'changing' | 'worker-died';

/** A check that came to no verdict. `changing`: the file was written to while it was read. */
export class CheckError extends ExpectedError {
  readonly code: CheckFailure;

  constructor(code: CheckFailure, options?: ErrorOptions) {
    super(`the dataset could not be checked: ${code}`, options);
    this.code = code;
  }
}

/** The file has become shorter while it was read; known inside the worker only. */
export class ShorterFileError extends Error {
  constructor() {
    super('the file has become shorter');
  }
}
