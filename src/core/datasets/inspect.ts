import { isMissing } from '../base/diskError.ts';
import { open, stat } from 'node:fs/promises';

/** Why a file cannot be sent as a dataset. */
export type DatasetProblem = 'missing' | 'folder' | 'not-a-file' | 'unreadable' | 'empty' | 'too-large';

export interface DatasetFile {
  path: string;
  sizeBytes: number;
  /** When it was last written; whole milliseconds since the epoch. */
  mtimeMs: number;
}

/** Looks at a file without reading its rows: whether it is one that can be sent at all. Never throws. */
export async function inspectDataset(path: string, maxBytes: number): Promise<DatasetFile | DatasetProblem> {
  try {
    // Of a number of milliseconds with a fraction, another reader may round another one.
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) return 'folder';
    // Not opened: opening a pipe would wait for its writer.
    if (!found.isFile()) return 'not-a-file';
    // Whether a file may be read is known only by opening it.
    await (await open(path, 'r')).close();
    const sizeBytes = Number(found.size);
    if (sizeBytes === 0) return 'empty';
    if (sizeBytes > maxBytes) return 'too-large';
    return { path, sizeBytes, mtimeMs: Number(found.mtimeMs) };
  } catch (error) {
    return isMissing(error) ? 'missing' : 'unreadable';
  }
}
