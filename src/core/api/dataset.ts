import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { isSameStamp, isStill, stampOf, type FileStamp } from '../base/fileStamp.ts';
import { DatasetChangedError, DigestError } from './errors.ts';

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

  /** What the file was when it was opened. */
  get stamp(): FileStamp {
    return stampOf(this.#atOpen);
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

interface Waiting {
  answered: (text: string) => void;
  failed: (error: unknown) => void;
}

/** The SHA-256 of bytes that are handed over piece by piece: owns the thread that hashes them, from first to last. */
export class Digest implements Disposable {
  readonly #worker: Worker;
  /** One for each piece that is not answered yet, oldest first: the thread answers in order. */
  readonly #waiting: Waiting[] = [];
  #end: Error | undefined;

  /**
   * Starts the thread.
   * @param script of the thread, an absolute path
   * @throws DigestError
   */
  constructor(script: string) {
    try {
      this.#worker = new Worker(script, { name: 'dataset digest' });
    } catch (error) {
      throw new DigestError({ cause: error });
    }
    this.#worker.on('message', (text: string) => this.#waiting.shift()?.answered(text));
    this.#worker.on('error', (error) => this.#endWith(new DigestError({ cause: error })));
    this.#worker.on('exit', () => this.#endWith(new DigestError()));
  }

  /**
   * Hashes a piece; once this has resolved, its memory may be overwritten. Shared memory is not copied.
   * @throws DigestError when the thread died or did not start, CancelledError once this is disposed
   */
  async add(piece: Uint8Array): Promise<void> {
    await this.#ask(piece);
  }

  /** The digest of all pieces in lower-case hexadecimal; the thread ends with it. @throws as `add` */
  read(): Promise<string> {
    return this.#ask(null);
  }

  /** Ends the thread, whatever it does; resolves when it is gone. */
  async dispose(): Promise<void> {
    this.#endWith(new CancelledError());
    await this.#worker.terminate();
  }

  #ask(piece: Uint8Array | null): Promise<string> {
    return new Promise((answered, failed) => {
      if (this.#end !== undefined) {
        failed(this.#end);
        return;
      }
      this.#waiting.push({ answered, failed });
      this.#worker.postMessage(piece);
    });
  }

  #endWith(error: Error): void {
    this.#end ??= error;
    for (const { failed } of this.#waiting.splice(0)) failed(this.#end);
  }
}

/** The SHA-256 of a dataset in lower-case hexadecimal. @throws DatasetChangedError, DigestError, CancelledError */
export async function sha256Of(
  dataset: OpenDataset,
  worker: string,
  signal?: AbortSignal,
  onProgress?: (hashedBytes: number, totalBytes: number) => void,
): Promise<string> {
  const digest = new Digest(worker);
  const cancel = () => void digest.dispose();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    throwIfCancelled(signal);
    let hashedBytes = 0;
    for await (const chunk of dataset.chunks(digest)) {
      throwIfCancelled(signal);
      onProgress?.((hashedBytes += chunk.byteLength), dataset.sizeBytes);
    }
    return await digest.read();
  } finally {
    signal?.removeEventListener('abort', cancel);
    await digest.dispose();
  }
}

interface DigestFileOptions {
  /** The script of the thread that hashes, as in `ClientOptions.digestWorker`. */
  worker: string;
  signal?: AbortSignal;
  /** Called for each MiB. */
  onProgress?: (hashedBytes: number, totalBytes: number) => void;
}

/**
 * The SHA-256 of a file, as a submission names it, read and hashed beside the main thread.
 * @param file with the stamp of its check: only the digest of those bytes is returned
 * @throws DatasetChangedError when it is another file before or after it was hashed, or cannot be read; DigestError, CancelledError
 */
export async function sha256OfFile(
  file: FileStamp & { path: string },
  { worker, signal, onProgress }: DigestFileOptions,
): Promise<string> {
  const dataset = await OpenDataset.open(file.path, file.sizeBytes);
  try {
    if (!isSameStamp(dataset.stamp, file)) throw new DatasetChangedError('changed');
    const sha256 = await sha256Of(dataset, worker, signal, onProgress);
    // Another file may have taken its place, or its time was set back.
    if (!(await isStill(file.path, file))) throw new DatasetChangedError('changed');
    return sha256;
  } finally {
    await dataset.close();
  }
}
