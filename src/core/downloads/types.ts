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
export type Verified = 'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'length' | 'html' | 'damaged';

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
