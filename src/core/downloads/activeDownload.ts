import type { Session } from '../runs/session.ts';

/** Which artifact of a run: the service may offer several, also of one type (spec: "Artifact"). */
export interface ArtifactName {
  type: string;
  /** As the service names it; undefined where it names none. */
  filename?: string;
}

/** What a person wants on the disk. */
export interface DownloadRequest {
  session: Session;
  runId: string;
  /** The trained adapter where undefined, or the first one where there is no `model`. */
  artifact?: ArtifactName;
  /** The absolute path of a file that does not exist; its folder does. */
  target: string;
}

/**
 * `waiting`: for the service, the storage or the network; `verifying`: all bytes are there; `interrupted`: nothing is done
 * until it is resumed or discarded, what came is kept.
 */
export type DownloadState = 'waiting' | 'downloading' | 'verifying' | 'interrupted';

/** A download that has not ended. */
export interface ActiveDownload {
  /** The same for the same artifact and target, in every window. */
  id: string;
  accountId: string;
  runId: string;
  artifactType: string;
  filename: string | undefined;
  target: string;
  receivedBytes: number;
  /** Undefined while the storage has not told it. */
  totalBytes?: number;
  state: DownloadState;
  /** The code of the error that interrupted it in this window. */
  code?: string;
}
