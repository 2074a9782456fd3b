import { statSync } from 'node:fs';
import path from 'node:path';
import type { DownloadRecord } from './types.ts';

/** What the kind of artifact is called that is the trained adapter (spec: "Artifact"). */
const ADAPTER = 'model';

/** Whether a kind of artifact is the trained adapter. */
export function isAdapter(artifactType: string): boolean {
  return artifactType === ADAPTER;
}

/** Whether a downloaded file is an adapter that is not known to be broken: an archive or safetensors. */
export function isSoundAdapter({ artifactType, verified }: DownloadRecord): boolean {
  return isAdapter(artifactType) && !['length', 'html', 'damaged'].includes(verified);
}

/** The sound adapter of a run that was downloaded and is still there, by its length: another artifact is none. */
export function localAdapter(records: readonly DownloadRecord[], runId: string): DownloadRecord | undefined {
  return records.find(
    (record) => record.runId === runId && isSoundAdapter(record) && sizeOf(record.path) === record.sizeBytes,
  );
}

/** Undefined where there is no such file, or it cannot be checked. */
function sizeOf(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}

/** The download folder as the user set it; `asked`: none is set. */
export type Directory =
  | { kind: 'asked' }
  /** Not an absolute path, or something that is no folder. */
  | { kind: 'unusable'; text: string }
  /** It does not exist: perhaps a drive that is not mounted. */
  | { kind: 'missing'; path: string }
  | { kind: 'there'; path: string };

/** What the text of the setting means on this machine. @param home what `~` means */
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
    // Without permission to check it, writing there says more; otherwise a file is in its way.
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? { kind: 'there', path: normal }
      : { kind: 'unusable', text: trimmed };
  }
}
