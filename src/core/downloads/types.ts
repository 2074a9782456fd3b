import type { VerifiedKind } from '../adapters/archive/openArchive.ts';
import { ExpectedError } from '../base/errors.ts';
import type { Session } from '../runs/session.ts';

/** Which artifact of a run: the service may offer several, also of one type (spec: "Artifact"). */
export interface ArtifactName {
  type: string;
  /** As the service names it; undefined where it does not. */
  filename?: string | undefined;
}

export interface DownloadRequest {
  session: Session;
  runId: string;
  artifact: ArtifactName;
  /** The absolute path of a file that does not exist; its folder does. */
  target: string;
}

/** A download that was begun and has neither ended nor been discarded. */
export interface UnfinishedDownload {
  /** The same for the same artifact and target, in every window. */
  id: string;
  runId: string;
  artifactType: string;
  filename: string | undefined;
  target: string;
}

/**
 * `waiting`: for the service, the storage or the network; `verifying`: all bytes are there; `interrupted`: nothing happens
 * until it is resumed or discarded, what was received is stored.
 */
export type DownloadState = 'waiting' | 'downloading' | 'verifying' | 'interrupted';

/** An unfinished download, with how far it is. */
export interface ActiveDownload extends UnfinishedDownload {
  accountId: string;
  receivedBytes: number;
  /** Undefined while the storage has not provided it. */
  totalBytes?: number;
  state: DownloadState;
  /** The code of the error that interrupted it in this window. */
  code?: string;
}

/**
 * By what a download was found complete: the checks of the archive itself, or its length alone: of an archive that could not
 * be checked (`unread`) or fails its checks (`damaged`), of a web page (`html`) and of any other file.
 */
export type Verified = Exclude<VerifiedKind, 'unknown'> | 'length' | 'html' | 'damaged';

/** A downloaded artifact. */
export interface DownloadRecord {
  readonly runId: string;
  readonly artifactType: string;
  readonly filename?: string | undefined;
  readonly path: string;
  readonly sizeBytes: number;
  /** Of the file's bytes, lower-case hexadecimal; the service provides none to compare it to. */
  readonly sha256: string;
  readonly verified: Verified;
  readonly completedAtMs: number;
  /** No file of that length was at the path when it was last checked. */
  readonly isGone?: true;
}

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

const HOUR_MS = 3_600_000;

/** How long before the artifacts of a run expire the user is reminded, the last one first. */
const STAGES = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
] as const;

/** Which of the reminders; shown once, ever. */
export type Reminder = (typeof STAGES)[number]['what'];

/**
 * The latest reminder whose time has come, however many were missed.
 * @param expiresAtMs NaN where it is not a time: then there is no reminder
 */
export function reminderAt(expiresAtMs: number, nowMs: number): Reminder | undefined {
  const leftMs = expiresAtMs - nowMs;
  return leftMs > 0 ? STAGES.find(({ beforeMs }) => leftMs <= beforeMs)?.what : undefined;
}
