import { existsSync } from 'node:fs';
import path from 'node:path';
import { cutToBytes, isObeyed, MAX_NAME_BYTES, numberedFileName, safeFileName } from '../base/fileNames.ts';
import { withoutMarker } from '../runs/marker.ts';
import { isAdapter } from './localFiles.ts';
import type { ActiveDownload, ArtifactName } from './types.ts';

/** The extensions that are kept: those of adapters, logs and metrics. A program may run files with others. */
const EXTENSIONS: ReadonlySet<string> = new Set(
  'zip tar tgz gz safetensors gguf json bin pt pth model txt log csv jsonl md yaml'.split(' '),
);
const PLAIN = '.bin';
/** Characters of the label used in the name of a run's folder. */
const MAX_LABEL_LENGTH = 60;

/**
 * Returns the name of a run's folder in the download directory: the readable label, and part of the run ID to
 * make it unique.
 */
export function runFolderName(label: string | undefined, runId: string): string {
  const given = withoutMarker(label ?? '').replace(/[/\\]/g, '-');
  const start = Array.from(given).slice(0, MAX_LABEL_LENGTH).join('');
  return `${safeFileName(start, 'run')} ${safeFileName(runId.slice(0, 8), 'run')}`;
}

/** Sorts the adapter first and leaves the others in the service's order. */
export function adapterFirst(artifacts: readonly ArtifactName[]): ArtifactName[] {
  return artifacts.toSorted((one, other) => Number(isAdapter(other.type)) - Number(isAdapter(one.type)));
}

/**
 * Returns a safe file name for an artifact: the service's, or a generated one if there is none. A file with another
 * extension gets `.bin` after it; a file that programs act on by its name gets `.txt`.
 */
export function artifactFileName({ type, filename }: ArtifactName, runId: string): string {
  const kind = isAdapter(type) ? 'adapter' : safeFileName(type, 'artifact');
  const name = safeFileName(filename, safeFileName(`${kind}-${runId.slice(0, 8)}`, 'adapter'));
  const isKept = EXTENSIONS.has(path.extname(name).slice(1).toLowerCase());
  const ending = isObeyed(name) ? '.txt' : isKept ? '' : PLAIN;
  return cutToBytes(name, MAX_NAME_BYTES - ending.length) + ending;
}

/** Whether an unfinished download is of this artifact. */
export function isDownloadOf(download: Destined, runId: string, { type, filename }: ArtifactName): boolean {
  return download.runId === runId && download.artifactType === type && download.filename === filename;
}

/** A download that will create its target. */
type Destined = Pick<ActiveDownload, 'runId' | 'artifactType' | 'filename' | 'target'>;

/** A file name for an artifact: `name` or, if that is taken or about to be, the free name `other`. */
export interface FileNameChoice {
  name: string;
  other?: string;
  /** Whether the name is taken by an existing file. */
  isFile: boolean;
}

/**
 * Chooses a file name for an artifact in a folder. At least one name of the result is free.
 * @param destined unfinished downloads, whose targets count as taken
 */
export function fileNameIn(
  folder: string,
  artifact: ArtifactName,
  runId: string,
  destined: readonly Destined[],
): FileNameChoice {
  const isFile = (name: string) => existsSync(path.join(folder, name));
  const isTaken = (name: string) => {
    // Many file systems ignore case.
    const target = path.join(folder, name).toLowerCase();
    const isReserved = (one: Destined) =>
      one.target.toLowerCase() === target && !isDownloadOf(one, runId, artifact);
    return isFile(name) || destined.some(isReserved);
  };
  const name = artifactFileName(artifact, runId);
  if (!isTaken(name)) return { name, isFile: false };
  let number = 2;
  while (isTaken(numberedFileName(name, number))) number += 1;
  return { name, other: numberedFileName(name, number), isFile: isFile(name) };
}
