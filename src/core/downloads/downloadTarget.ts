import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ActiveDownload, ArtifactName } from './activeDownload.ts';
import type { DownloadRecord } from './downloadRecord.ts';
import { numberedFileName, safeFileName } from './fileName.ts';

/** What the kind of artifact is called that is the trained adapter (spec: "Artifact"). */
const ADAPTER = 'model';

/** Whether a kind of artifact is the trained adapter. */
export function isAdapter(artifactType: string): boolean {
  return artifactType === ADAPTER;
}

/** The adapter first, the others as the service has them. */
export function adapterFirst(artifacts: readonly ArtifactName[]): ArtifactName[] {
  return [
    ...artifacts.filter(({ type }) => isAdapter(type)),
    ...artifacts.filter(({ type }) => !isAdapter(type)),
  ];
}

/** The file name that an artifact gets: what the service calls it, made safe, or a name of its own. */
export function artifactFileName({ type, filename }: ArtifactName, runId: string): string {
  const kind = isAdapter(type) ? 'adapter' : safeFileName(type, 'artifact');
  return safeFileName(filename, safeFileName(`${kind}-${runId.slice(0, 8)}`, 'adapter'));
}

/** Whether a download that has not ended is one of this artifact. */
export function isOf(download: Destined, runId: string, { type, filename }: ArtifactName): boolean {
  return download.runId === runId && download.artifactType === type && download.filename === filename;
}

/** What is to have a name, and does not yet. */
type Destined = Pick<ActiveDownload, 'runId' | 'artifactType' | 'filename' | 'target'>;

/** A place for an artifact: `name`, or, where something has or gets that name already, `other`. */
export interface Place {
  name: string;
  other?: string;
  /** Whether it is a file that has the name. */
  isFile: boolean;
}

/**
 * Where in a folder an artifact may go without a file being replaced.
 * @param destined what others are to be called is taken, too
 */
export function placeIn(
  folder: string,
  artifact: ArtifactName,
  runId: string,
  destined: readonly Destined[],
): Place {
  const isFile = (name: string) => existsSync(path.join(folder, name));
  const isTaken = (name: string) => {
    // Many file systems do not tell letters by their case.
    const target = path.join(folder, name).toLowerCase();
    const isMeant = (one: Destined) => one.target.toLowerCase() === target && !isOf(one, runId, artifact);
    return isFile(name) || destined.some(isMeant);
  };
  const name = artifactFileName(artifact, runId);
  if (!isTaken(name)) return { name, isFile: false };
  let number = 2;
  while (isTaken(numberedFileName(name, number))) number += 1;
  return { name, other: numberedFileName(name, number), isFile: isFile(name) };
}

/** Whether a downloaded file is an adapter that is not known to be broken: an archive or safetensors. */
export function isSoundAdapter({
  artifactType,
  verified,
}: Pick<DownloadRecord, 'artifactType' | 'verified'>): boolean {
  return isAdapter(artifactType) && !['length', 'html', 'damaged'].includes(verified);
}

/** The sound adapter of a run that was downloaded and is still there, by its length: another artifact is none. */
export function atHome(records: readonly DownloadRecord[], runId: string): DownloadRecord | undefined {
  return records.find(
    (record) => record.runId === runId && isSoundAdapter(record) && sizeOf(record.path) === record.sizeBytes,
  );
}

/** Undefined where there is no such file, or it cannot be looked at. */
function sizeOf(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}
