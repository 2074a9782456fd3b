import { constants, type BigIntStats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Digest } from './digest.ts';
import { DatasetChangedError } from './errors.ts';

const CHUNK_BYTES = 1024 * 1024;
/** A pipe in the place of the file is opened at once, to be refused; Windows has no such flag, nor such files. */
const OPEN_FLAGS = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/** The dataset while it is sent: one open file that must stay what it was, from the first byte to the last. */
export class OpenDataset {
  readonly #handle: FileHandle;
  readonly #atOpen: BigIntStats;

  private constructor(handle: FileHandle, atOpen: BigIntStats) {
    this.#handle = handle;
    this.#atOpen = atOpen;
  }

  /** @throws DatasetChangedError unless it is a file, of this size where one is given */
  static async open(path: string, sizeBytes?: number): Promise<OpenDataset> {
    const handle = await reading(open(path, OPEN_FLAGS));
    try {
      const stats = await reading(handle.stat({ bigint: true }));
      if (!stats.isFile()) throw new DatasetChangedError('changed');
      if (sizeBytes !== undefined && stats.size !== BigInt(sizeBytes))
        throw new DatasetChangedError(stats.size > sizeBytes ? 'grew' : 'shrank');
      return new OpenDataset(handle, stats);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get sizeBytes(): number {
    return Number(this.#atOpen.size);
  }

  /** In whole milliseconds since the epoch. */
  get mtimeMs(): number {
    return Number(this.#atOpen.mtimeMs);
  }

  /**
   * The bytes, in chunks of 1 MiB and a shorter last one. Two buffers take turns, one being read while the other is
   * sent, so a chunk is valid only until the one after it is asked for.
   * @param digest is given every chunk, and no buffer is filled again before it has hashed what was in it
   * @throws DatasetChangedError at the latest after the last chunk, and what the digest throws
   */
  async *chunks(digest?: Digest): AsyncGenerator<Uint8Array> {
    let [current, other] = [sharedBuffer(), sharedBuffer()];
    let next = this.#fill(current, 0);
    let hashed = Promise.resolve();
    for (let position = 0; position < this.sizeBytes; position += CHUNK_BYTES) {
      const chunk = await next;
      const [free, previousHashed] = [other, hashed];
      if (digest !== undefined) hashed = digest.add(chunk);
      next = previousHashed.then(() => this.#fill(free, position + CHUNK_BYTES));
      // Whoever reads may leave before they are awaited.
      for (const left of [hashed, next]) left.catch(() => undefined);
      yield chunk;
      [current, other] = [other, current];
    }
    await this.#checkUnchanged();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Fills the buffer from the file as far as the file should reach: short reads must not become short chunks. */
  async #fill(buffer: Buffer<SharedArrayBuffer>, position: number): Promise<Uint8Array> {
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

/** On memory that another thread can read too. */
function sharedBuffer(): Buffer<SharedArrayBuffer> {
  return Buffer.from(new SharedArrayBuffer(CHUNK_BYTES));
}

async function reading<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new DatasetChangedError('unreadable', (error as NodeJS.ErrnoException).code);
  }
}
