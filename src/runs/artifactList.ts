import { ServiceError } from '../api/errors.ts';
import type { Artifact, RunDetail } from '../api/types.ts';
import { throwIfCancelled } from '../base/errors.ts';
import type { ArtifactName } from './activeDownload.ts';
import { ArtifactsMissingError } from './downloadErrors.ts';
import type { Session } from './session.ts';

/** What the kind of artifact is called that is the trained adapter (spec: "Artifact"). */
const ADAPTER = 'model';

/**
 * What a run offers, with fresh signed URLs: they expire, so they are asked for just in time and never stored.
 * @throws ArtifactsMissingError, ApiError, KeyMissingError, CancelledError
 */
export async function listArtifacts(
  session: Session,
  runId: string,
  signal: AbortSignal | undefined,
): Promise<Artifact[]> {
  const options = signal && { signal };
  try {
    const artifacts = await session.call((client) => client.createArtifactDownloads(runId, options));
    if (artifacts.length === 0) throw new ArtifactsMissingError('no-artifacts');
    return artifacts;
  } catch (error) {
    if (error instanceof ServiceError && error.httpStatus === 404)
      throw await whyNone(session, runId, signal, error);
    throw error;
  }
}

export function nameOf({ artifact_type, filename }: Artifact): ArtifactName {
  return { type: artifact_type, ...(filename !== undefined && { filename }) };
}

/** The adapter, or the first where none is called so. @throws ArtifactsMissingError */
export function adapterOf(artifacts: readonly Artifact[]): Artifact {
  const adapter = artifacts.find(({ artifact_type }) => artifact_type === ADAPTER) ?? artifacts[0];
  if (adapter === undefined) throw new ArtifactsMissingError('no-artifacts');
  return adapter;
}

/** The one of a name; where there is no such name, the only one of its type. @throws ArtifactsMissingError */
export function artifactNamed(artifacts: readonly Artifact[], { type, filename }: ArtifactName): Artifact {
  const ofType = artifacts.filter(({ artifact_type }) => artifact_type === type);
  const found =
    ofType.find((artifact) => artifact.filename === filename) ??
    (ofType.length === 1 ? ofType[0] : undefined);
  if (found === undefined) throw new ArtifactsMissingError('artifact-gone');
  return found;
}

/** Tells the causes of one 404 apart (spec: "run not found, or run not completed", and what is no longer kept). */
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
    if (error instanceof ServiceError && error.httpStatus === 404)
      return new ArtifactsMissingError('run-unknown');
    // Then the list's row is all that is known.
    throwIfCancelled(signal);
  }
  const run = detail ?? session.runs.get(runId);
  if (run === undefined) return refused;
  const isCompleted =
    run.status === 'completed' || run.status === 'complete' || detail?.completed_at !== undefined;
  return new ArtifactsMissingError(isCompleted ? 'artifacts-expired' : 'run-not-completed');
}
