import { ServiceError } from '../api/errors.ts';
import type { Artifact, RunDetail } from '../api/types.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import type { ArtifactName } from './activeDownload.ts';
import { ArtifactsMissingError } from './downloadErrors.ts';
import { numberedFileName } from './fileName.ts';
import { serviceNowMs } from '../runs/serviceClock.ts';
import type { Session } from '../runs/session.ts';

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

/**
 * What an artifact is known by. Nothing in the contract keeps two of a run from being called alike: all but the first of those get
 * a number, by their order in the list.
 * @param list all that the run offers, this one among them
 */
export function nameOf(artifact: Artifact, index = 0, list: readonly Artifact[] = []): ArtifactName {
  const { artifact_type: type, filename } = artifact;
  const ofType = list.filter((other) => other.artifact_type === type);
  const alike = list
    .slice(0, index)
    .filter((other) => other.artifact_type === type && other.filename === filename);
  let numbered: string | undefined;
  let number = 2;
  // Not one that the service itself gave to another.
  for (let left = alike.length; left > 0; number += 1) {
    numbered = numberedFileName(filename ?? type, number);
    if (!ofType.some((other) => other.filename === numbered)) left -= 1;
  }
  const called = numbered ?? filename;
  return { type, ...(called !== undefined && { filename: called }) };
}

/** The adapter, or the first where none is called so. @throws ArtifactsMissingError */
export function adapterOf(artifacts: readonly Artifact[]): Artifact {
  const adapter = artifacts.find(({ artifact_type }) => artifact_type === ADAPTER) ?? artifacts[0];
  if (adapter === undefined) throw new ArtifactsMissingError('no-artifacts');
  return adapter;
}

/** The one of a name, as `nameOf` gives it; where there is no such name, the only one of its type. @throws ArtifactsMissingError */
export function artifactNamed(artifacts: readonly Artifact[], { type, filename }: ArtifactName): Artifact {
  const ofType = artifacts.filter(({ artifact_type }) => artifact_type === type);
  const found =
    ofType.find((artifact, index) => nameOf(artifact, index, ofType).filename === filename) ??
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
  if (!isCompleted) return new ArtifactsMissingError('run-not-completed');
  const expiresAt = session.runs.get(runId)?.artifacts_expires_at;
  const isOver = instantOf(expiresAt) <= serviceNowMs(session);
  return new ArtifactsMissingError('artifacts-expired', isOver ? expiresAt : undefined);
}
