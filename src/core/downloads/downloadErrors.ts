import { ExpectedError } from '../base/errors.ts';

type DownloadProblem =
  // The service answers 404 to all of these alike (spec: "Endpoint-specific rules").
  | 'run-not-completed'
  | 'artifacts-expired'
  | 'run-unknown'
  | 'no-artifacts'
  /** It offers others instead. */
  | 'artifact-gone'
  /** Another window downloads the same artifact to the same place. */
  | 'download-busy'
  /** It ended, or another window discarded it. */
  | 'download-gone'
  /** An adapter without a byte. */
  | 'download-empty'
  /** Neither the storage nor the file says where it ends. */
  | 'length-unknown'
  /** The target exists; it is unchanged. */
  | 'file-exists';

/** Why something cannot be downloaded, or not now. */
export class DownloadError extends ExpectedError {
  readonly code: DownloadProblem;

  constructor(code: DownloadProblem) {
    super(`the download failed: ${code}`);
    this.code = code;
  }
}
