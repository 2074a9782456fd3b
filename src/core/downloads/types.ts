import type { Session } from '../runs/session.ts';

/** Identifies an artifact of a run, which may have several, even of the same type (spec: "Artifact"). */
export interface ArtifactName {
  type: string;
  /** The service's name; undefined if it provides none. */
  filename?: string | undefined;
}

export interface DownloadRequest {
  session: Session;
  runId: string;
  artifact: ArtifactName;
  /** The absolute path of a file that does not exist; its folder does. */
  target: string;
}

/** A download that was started and neither ended nor was discarded. */
export interface UnfinishedDownload {
  /** The same for the same artifact and target, in every window. */
  id: string;
  runId: string;
  artifactType: string;
  filename: string | undefined;
  target: string;
}

/**
 * `waiting`: for the service, the storage, or the network. `verifying`: all bytes were received.
 * `interrupted`: stopped until resumed or discarded, with the received bytes on disk.
 */
export type DownloadState = 'waiting' | 'downloading' | 'verifying' | 'interrupted';

/** An unfinished download and its progress. */
export interface ActiveDownload extends UnfinishedDownload {
  accountId: string;
  receivedBytes: number;
  /** Undefined until the storage provides it. */
  totalBytes?: number;
  state: DownloadState;
  /** The code of the error that interrupted it in this window. */
  code?: string;
}

/**
 * How a download was verified. `zip`, `gzip`, `tar`, `safetensors`: by the checks of that format. `damaged`: it failed
 * them, as its name shows. Only by length: an archive that could not be checked (`unread`), a web page in place of an
 * adapter (`html`), and any other file (`length`).
 */
export const VERIFIED = ['zip', 'gzip', 'tar', 'safetensors', 'unread', 'length', 'html', 'damaged'] as const;
export type Verified = (typeof VERIFIED)[number];

/** A downloaded artifact. */
export interface DownloadRecord {
  readonly runId: string;
  readonly artifactType: string;
  readonly filename?: string | undefined;
  readonly path: string;
  readonly sizeBytes: number;
  /** In lowercase hexadecimal. The service provides none to compare it with. */
  readonly sha256: string;
  readonly verified: Verified;
  readonly completedAtMs: number;
  /** Whether its last transfer continued an earlier one. Not stored. */
  readonly wasResumed?: true;
  /** Whether the last check found no file of this length at the path. */
  readonly isGone?: true;
}
