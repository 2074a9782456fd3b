import { ServiceError } from '../api/errors.ts';
import type { Artifact, RunDetail } from '../api/types.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { numberedFileName } from '../base/fileNames.ts';
import type { Session } from '../runs/session.ts';
import { DownloadError } from './errors.ts';
import type { ArtifactName } from './types.ts';

/**
 * Lists a run's artifacts with new signed URLs. The URLs expire, so call this just in time, and never store them.
 * @throws DownloadError, ApiError, KeyMissingError, CancelledError
 */
export async function listArtifacts(
  session: Session,
  runId: string,
  signal: AbortSignal | undefined,
): Promise<Artifact[]> {
  const options = signal && { signal };
  try {
    const artifacts = await session.call((client) => client.createArtifactDownloads(runId, options));
    if (artifacts.length === 0) throw new DownloadError('no-artifacts');
    return artifacts;
  } catch (error) {
    if (error instanceof ServiceError && error.httpStatus === 404)
      throw await whyNone(session, runId, signal, error);
    throw error;
  }
}

/**
 * Returns the names of all artifacts of a run. The contract does not rule out duplicate names: every
 * duplicate after the first gets a number, in list order.
 */
export function artifactNamesOf(artifacts: readonly Artifact[]): ArtifactName[] {
  const given = artifacts.map(({ artifact_type: type, filename }): ArtifactName => ({ type, filename }));
  const names: ArtifactName[] = [];
  for (const { type, filename } of given) {
    const isIn = (list: readonly ArtifactName[], name: string | undefined) =>
      list.some((one) => one.type === type && one.filename === name);
    let name = filename;
    // Skip names that the service itself gave to another artifact.
    for (let number = 2; isIn(names, name) || (name !== filename && isIn(given, name)); number++)
      name = numberedFileName(filename ?? type, number);
    names.push({ type, filename: name });
  }
  return names;
}

/** Finds an artifact by name or, if no name matches, the only one of its type. @throws DownloadError */
export function artifactNamed(artifacts: readonly Artifact[], { type, filename }: ArtifactName): Artifact {
  const names = artifactNamesOf(artifacts);
  const ofType = artifacts.filter(({ artifact_type }) => artifact_type === type);
  const found =
    artifacts[names.findIndex((name) => name.type === type && name.filename === filename)] ??
    (ofType.length === 1 ? ofType[0] : undefined);
  if (found === undefined) throw new DownloadError('artifact-gone');
  return found;
}

/** Returns an error with the cause of a 404 (spec: "POST /api/v1/runs/{run_id}/artifacts/download"). */
async function whyNone(
  session: Session,
  runId: string,
  signal: AbortSignal | undefined,
  refused: ServiceError,
): Promise<Error> {
  let detail: RunDetail | undefined;
  try {
    detail = await session.call((client) => client.getRun(runId, signal && { signal }));
  } catch (error) {
    if (error instanceof ServiceError && error.httpStatus === 404) return new DownloadError('run-unknown');
    // Fall back to the run's row in the list.
    throwIfCancelled(signal);
  }
  const run = detail ?? session.runs.get(runId);
  if (run === undefined) return refused;
  const isCompleted =
    run.status === 'completed' || run.status === 'complete' || detail?.completed_at !== undefined;
  return new DownloadError(isCompleted ? 'artifacts-expired' : 'run-not-completed');
}
