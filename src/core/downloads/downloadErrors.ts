import { ExpectedError } from '../base/errors.ts';

/**
 * Why the service gives out no artifacts, which it answers 404 to alike (spec: "Endpoint-specific rules"):
 * `artifact-gone` is one that it offers others in place of.
 */
type ArtifactsMissing =
  'run-not-completed' | 'artifacts-expired' | 'run-unknown' | 'no-artifacts' | 'artifact-gone';

/** There is nothing to download. */
export class ArtifactsMissingError extends ExpectedError {
  readonly code: ArtifactsMissing;
  /** Of `artifacts-expired`, the service's text, where it told a time that is over. */
  readonly expiredAt: string | undefined;

  constructor(code: ArtifactsMissing, expiredAt?: string) {
    super(`there is nothing to download: ${code}`);
    this.code = code;
    this.expiredAt = expiredAt;
  }
}

/** Another window brings the same artifact to the same place. */
export class DownloadBusyError extends ExpectedError {
  readonly code = 'download-busy';

  constructor() {
    super('another window downloads this');
  }
}

/** An unfinished download is not there any more: it ended, or another window discarded it. */
export class DownloadGoneError extends ExpectedError {
  readonly code = 'download-gone';

  constructor() {
    super('there is no such unfinished download');
  }
}

/**
 * What came cannot be kept. `download-empty`: an adapter without a byte; `length-unknown`: neither the storage nor the file
 * tells where it ends.
 */
export class DownloadBrokenError extends ExpectedError {
  readonly code: 'download-empty' | 'length-unknown';

  constructor(code: DownloadBrokenError['code']) {
    super(`the download cannot be kept: ${code}`);
    this.code = code;
  }
}
