import { ExpectedError } from '../base/errors.ts';

type DownloadProblem =
  // The service answers 404 to all of these alike (spec: "Endpoint-specific rules").
  | 'run-not-completed'
  | 'artifacts-expired'
  | 'run-unknown'
  | 'no-artifacts'
  /** The run no longer has this artifact. */
  | 'artifact-gone'
  /** Another window is downloading the same artifact to the same target. */
  | 'download-busy'
  /** The download to resume ended, or another window discarded it. */
  | 'download-gone'
  /** The adapter is an empty file. */
  | 'download-empty'
  /** Neither the response nor the file shows where the file ends. */
  | 'length-unknown'
  /** The target exists; it is unchanged. */
  | 'file-exists';

export class DownloadError extends ExpectedError {
  readonly code: DownloadProblem;

  constructor(code: DownloadProblem) {
    super(`the download failed: ${code}`);
    this.code = code;
  }
}
