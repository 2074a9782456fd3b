import type { BigIntStats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { DatasetChangedError } from './errors.ts';

const CHUNK_BYTES = 1024 * 1024;

/** The dataset while it is sent: one open file that must stay what it was, from the first byte to the last. */
export class OpenDataset {
  readonly #handle: FileHandle;
  readonly #atOpen: BigIntStats;

  private constructor(handle: FileHandle, atOpen: BigIntStats) {
    this.#handle = handle;
    this.#atOpen = atOpen;
  }

  /** @throws DatasetChangedError unless it is a file of this size, last written at that time where one is given */
  static async open(path: string, sizeBytes: number, mtimeMs?: number): Promise<OpenDataset> {
    const handle = await reading(open(path));
    try {
      const stats = await reading(handle.stat({ bigint: true }));
      if (!stats.isFile()) throw new DatasetChangedError('changed');
      if (stats.size !== BigInt(sizeBytes))
        throw new DatasetChangedError(stats.size > sizeBytes ? 'grew' : 'shrank');
      if (mtimeMs !== undefined && stats.mtimeMs !== BigInt(mtimeMs))
        throw new DatasetChangedError('changed');
      return new OpenDataset(handle, stats);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get sizeBytes(): number {
    return Number(this.#atOpen.size);
  }

  /**
   * The bytes, in chunks of 1 MiB and a shorter last one. Two buffers take turns, one being read while the other is
   * sent, so a chunk is valid only until the one after it is asked for.
   * @throws DatasetChangedError at the latest after the last chunk
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    let [current, other] = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
    let next = this.#fill(current, 0);
    for (let position = 0; position < this.sizeBytes; position += CHUNK_BYTES) {
      const chunk = await next;
      next = this.#fill(other, position + CHUNK_BYTES);
      // Whoever reads may leave before it is awaited.
      next.catch(() => undefined);
      yield chunk;
      [current, other] = [other, current];
    }
    await this.#checkUnchanged();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Fills the buffer from the file as far as the file should reach: short reads must not become short chunks. */
  async #fill(buffer: Buffer, position: number): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(buffer.byteLength, this.sizeBytes - position));
    for (let filled = 0; filled < wanted;) {
      const { bytesRead } = await reading(
        this.#handle.read(buffer, filled, wanted - filled, position + filled),
      );
      if (bytesRead === 0) throw new DatasetChangedError('shrank');
      filled += bytesRead;
    }
    return buffer.subarray(0, wanted);
  }

  async #checkUnchanged(): Promise<void> {
    const { bytesRead } = await reading(this.#handle.read(Buffer.alloc(1), 0, 1, this.sizeBytes));
    if (bytesRead > 0) throw new DatasetChangedError('grew');
    const { size, mtimeNs } = await reading(this.#handle.stat({ bigint: true }));
    if (size !== this.#atOpen.size || mtimeNs !== this.#atOpen.mtimeNs)
      throw new DatasetChangedError('changed');
  }
}

async function reading<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new DatasetChangedError('unreadable', (error as NodeJS.ErrnoException).code);
  }
}
