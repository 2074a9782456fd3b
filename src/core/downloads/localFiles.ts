import { statSync } from 'node:fs';
import path from 'node:path';
import type { DownloadRecord } from './types.ts';

/** The artifact type of the trained adapter (spec: "Artifact"). */
const ADAPTER = 'model';

export function isAdapter(artifactType: string): boolean {
  return artifactType === ADAPTER;
}

/** Whether a downloaded file is an adapter not known to be damaged: an archive or safetensors file. */
export function isSoundAdapter({ artifactType, verified }: DownloadRecord): boolean {
  return isAdapter(artifactType) && !['length', 'html', 'damaged'].includes(verified);
}

/** Whether a downloaded file is an adapter that failed the checks of its own format. */
export function isDamagedAdapter({ artifactType, verified }: DownloadRecord): boolean {
  return isAdapter(artifactType) && verified === 'damaged';
}

/** Finds the downloaded adapter of a run that isn't damaged, and whose file still has the recorded length. */
export function localAdapter(records: readonly DownloadRecord[], runId: string): DownloadRecord | undefined {
  return records.find(
    (record) => record.runId === runId && isSoundAdapter(record) && sizeOf(record.path) === record.sizeBytes,
  );
}

/** Returns undefined if the file doesn't exist or can't be checked. */
function sizeOf(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}

/** The download folder by the user's settings. `asked`: none is set, so the user is asked each time. */
export type Directory =
  | { kind: 'asked' }
  /** Not an absolute path, or not a folder. */
  | { kind: 'unusable'; text: string }
  /** The folder doesn't exist; its drive may not be mounted. */
  | { kind: 'missing'; path: string }
  | { kind: 'there'; path: string };

/** Resolves the text of the setting on this machine. @param home the folder that `~` stands for */
export function directoryOf(text: string, home: string): Directory {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'asked' };
  const directory = /^~(?=$|[/\\])/.test(trimmed) ? path.join(home, trimmed.slice(1)) : trimmed;
  if (!path.isAbsolute(directory)) return { kind: 'unusable', text: trimmed };
  const normal = path.normalize(directory);
  try {
    const stats = statSync(normal, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing', path: normal };
    return stats.isDirectory() ? { kind: 'there', path: normal } : { kind: 'unusable', text: trimmed };
  } catch (error) {
    // Without permission to check, let an attempt to write decide. Any other error: a folder of the path is a file.
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? { kind: 'there', path: normal }
      : { kind: 'unusable', text: trimmed };
  }
}
