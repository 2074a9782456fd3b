import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { throwIfCancelled } from '../base/errors.ts';
import { ArrayToLines } from './arrayToLines.ts';

/** What a copy of a dataset changes: a JSON array becomes rows, or the byte order mark at the start goes. */
export type Rewriting = 'array-to-lines' | 'without-bom';

const CHUNK_BYTES = 1024 * 1024;
const MAX_NAMES = 100;

/**
 * Writes a changed copy of a dataset into a new file beside it, and replaces no file. The dataset stays as it is.
 * @param onProgress is told what is done, from 0 to 1
 * @returns the path of the new file, which is whole
 * @throws NotAnArrayError, CancelledError, and what the file system says; then there is no new file
 */
export async function rewriteDataset(
  source: string,
  rewriting: Rewriting,
  options: { signal?: AbortSignal; onProgress?: (fraction: number) => void } = {},
): Promise<string> {
  const input = await open(source, 'r');
  try {
    const { path: target, handle } = await newFileBeside(source, rewriting, (await input.stat()).mode);
    try {
      await copy(input, handle, rewriting, options);
      await handle.close();
      return target;
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(target, { force: true }).catch(() => undefined);
      throw error;
    }
  } finally {
    await input.close();
  }
}

async function copy(
  input: FileHandle,
  output: FileHandle,
  rewriting: Rewriting,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (fraction: number) => void },
): Promise<void> {
  const { size } = await input.stat();
  const lines = rewriting === 'array-to-lines' ? new ArrayToLines() : undefined;
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ;) {
    throwIfCancelled(signal);
    const { bytesRead } = await input.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    const changed = lines?.push(chunk) ?? (position === 0 ? withoutBom(chunk) : chunk);
    if (changed.length > 0) await output.writeFile(changed);
    position += bytesRead;
    onProgress?.(Math.min(1, position / size));
  }
  lines?.end();
}

function withoutBom(start: Buffer): Buffer {
  const hasBom = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return hasBom ? start.subarray(3) : start;
}

/**
 * `train.jsonl` becomes `train.lines.jsonl`, or `train.lines-2.jsonl` where that is taken. Who may not read the dataset may
 * not read its copy.
 */
async function newFileBeside(
  source: string,
  rewriting: Rewriting,
  mode: number,
): Promise<{ path: string; handle: FileHandle }> {
  const { dir, name } = path.parse(source);
  const suffix = rewriting === 'array-to-lines' ? 'lines' : 'no-bom';
  for (let number = 1; ; number++) {
    const file = path.join(dir, `${name}.${suffix}${number === 1 ? '' : `-${number}`}.jsonl`);
    try {
      return { path: file, handle: await open(file, 'wx', (mode & 0o666) | 0o200) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number >= MAX_NAMES) throw error;
    }
  }
}
