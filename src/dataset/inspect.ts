import { open, stat } from 'node:fs/promises';

/** Why a file cannot be sent as a dataset. */
export type DatasetProblem = 'missing' | 'folder' | 'not-a-file' | 'unreadable' | 'empty' | 'too-large';

export interface DatasetFile {
  path: string;
  sizeBytes: number;
  /** The service may find it too large: "600 MB" is not defined (spec: "Limits"). */
  nearLimit: boolean;
}

/** Sizes in bytes: above the first a file is refused, from the second on it is warned of. */
export interface SizeLimits {
  maxBytes: number;
  warnBytes: number;
}

/** Looks at a file without reading its rows: whether it is one that can be sent at all. Never throws. */
export async function inspectDataset(
  path: string,
  limits: SizeLimits,
): Promise<DatasetFile | DatasetProblem> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'folder';
    // Not opened: opening a pipe would wait for its writer.
    if (!found.isFile()) return 'not-a-file';
    // Whether a file may be read is known only by opening it.
    await (await open(path, 'r')).close();
    if (found.size === 0) return 'empty';
    if (found.size > limits.maxBytes) return 'too-large';
    return { path, sizeBytes: found.size, nearLimit: found.size >= limits.warnBytes };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
}
