import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ActiveDownload, ArtifactName } from './activeDownload.ts';
import type { DownloadRecord } from './downloadRecord.ts';
import { numberedFileName, safeFileName } from './fileName.ts';

/** What the kind of artifact is called that is the trained adapter (spec: "Artifact"). */
const ADAPTER = 'model';

/** The adapter first, the others as the service has them. */
export function adapterFirst(artifacts: readonly ArtifactName[]): ArtifactName[] {
  const isAdapter = ({ type }: ArtifactName) => type === ADAPTER;
  return [...artifacts.filter(isAdapter), ...artifacts.filter((artifact) => !isAdapter(artifact))];
}

/** The file name that an artifact gets: what the service calls it, made safe, or a name of its own. */
export function artifactFileName({ type, filename }: ArtifactName, runId: string): string {
  const kind = type === ADAPTER ? 'adapter' : safeFileName(type, 'artifact');
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
    const target = path.join(folder, name);
    return isFile(name) || destined.some((one) => one.target === target && !isOf(one, runId, artifact));
  };
  const name = artifactFileName(artifact, runId);
  if (!isTaken(name)) return { name, isFile: false };
  let number = 2;
  while (isTaken(numberedFileName(name, number))) number += 1;
  return { name, other: numberedFileName(name, number), isFile: isFile(name) };
}

/** What came home of a run and still stands there as it came, by its length; the adapter first, then the newest. */
export function atHome(records: readonly DownloadRecord[], runId: string): DownloadRecord | undefined {
  const standing = records.filter(
    (record) =>
      record.runId === runId && statSync(record.path, { throwIfNoEntry: false })?.size === record.sizeBytes,
  );
  return standing.find(({ artifactType }) => artifactType === ADAPTER) ?? standing[0];
}
