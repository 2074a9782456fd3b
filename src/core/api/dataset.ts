import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { throwIfCancelled } from '../base/errors.ts';
import { isSameStamp, isStill, stampOf, type FileStamp } from '../base/fileStamp.ts';
import { DatasetChangedError } from './errors.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Opens a named pipe without blocking, to reject it. Windows has neither the flag nor such pipes. */
const OPEN_FLAGS = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/** The dataset during an upload. It stays the same open file, even if its path is renamed or replaced. */
export class OpenDataset {
  /** The file's stamp when it was opened. */
  readonly stamp: FileStamp;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, stamp: FileStamp) {
    this.#handle = handle;
    this.stamp = stamp;
  }

  /** @throws DatasetChangedError unless it is a file of this size */
  static async open(path: string, sizeBytes: number): Promise<OpenDataset> {
    const handle = await reading(open(path, OPEN_FLAGS));
    try {
      const stats = await reading(handle.stat({ bigint: true }));
      if (!stats.isFile()) throw new DatasetChangedError('changed');
      if (stats.size !== BigInt(sizeBytes))
        throw new DatasetChangedError(stats.size > sizeBytes ? 'grew' : 'shrank');
      return new OpenDataset(handle, stampOf(stats));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Reads the file in chunks of 1 MiB; the last one is shorter. One buffer is read while the other is hashed
   * and sent, so a chunk is only valid until the next one is requested.
   * @throws DatasetChangedError if bytes are missing
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    let [current, other] = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
    let next = this.#fill(current, 0);
    for (let position = 0; position < this.stamp.sizeBytes; position += CHUNK_BYTES) {
      const chunk = await next;
      next = this.#fill(other, position + CHUNK_BYTES);
      // The consumer may stop before it is awaited.
      next.catch(() => undefined);
      yield chunk;
      [current, other] = [other, current];
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Fills the buffer up to the expected file size, so that short reads don't become short chunks. */
  async #fill(buffer: Buffer, position: number): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(buffer.byteLength, this.stamp.sizeBytes - position));
    for (let filled = 0; filled < wanted;) {
      const { bytesRead } = await reading(
        this.#handle.read(buffer, filled, wanted - filled, position + filled),
      );
      if (bytesRead === 0) throw new DatasetChangedError('shrank');
      filled += bytesRead;
    }
    return buffer.subarray(0, wanted);
  }
}

/**
 * Checks whether a file still has the bytes of a submission. Reads them only if the file's stamp changed.
 * @throws DatasetChangedError if it has other bytes or can't be read; CancelledError
 */
export async function assertSameDataset(
  submitted: FileStamp & { path: string; sha256: string },
  signal?: AbortSignal,
): Promise<void> {
  const { path, sizeBytes, sha256 } = submitted;
  const dataset = await OpenDataset.open(path, sizeBytes);
  await dataset.close();
  if (isSameStamp(submitted, dataset.stamp)) return;
  const now = await sha256OfFile({ path, ...dataset.stamp }, signal);
  if (now !== sha256) throw new DatasetChangedError('changed');
}

/** Waits for a read. @throws DatasetChangedError `unreadable` if it fails */
async function reading<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new DatasetChangedError('unreadable', (error as NodeJS.ErrnoException).code);
  }
}

/**
 * Computes the SHA-256 of a file.
 * @param file its path, and the stamp that it must still have
 * @throws DatasetChangedError if the file changed or is unreadable; CancelledError
 */
export async function sha256OfFile(
  file: FileStamp & { path: string },
  signal?: AbortSignal,
): Promise<string> {
  const dataset = await OpenDataset.open(file.path, file.sizeBytes);
  try {
    throwIfCancelled(signal);
    if (!isSameStamp(dataset.stamp, file)) throw new DatasetChangedError('changed');
    const hash = createHash('sha256');
    for await (const chunk of dataset.chunks()) {
      throwIfCancelled(signal);
      hash.update(chunk);
    }
    // The file may have been replaced, or its time reset.
    if (!(await isStill(file.path, file))) throw new DatasetChangedError('changed');
    return hash.digest('hex');
  } finally {
    await dataset.close().catch(() => undefined);
  }
}
