import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { isSameStamp, isStill, stampOf, type FileStamp } from '../base/fileStamp.ts';
import { DatasetChangedError, DigestError } from './errors.ts';

const CHUNK_BYTES = 1024 * 1024;
/** A pipe in the place of the file is opened at once, to be refused; Windows has no such flag, nor such files. */
const OPEN_FLAGS = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/** The dataset while it is sent: one open file, whatever becomes of its name. */
export class OpenDataset {
  /** What the file was when it was opened. */
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
   * The bytes, in chunks of 1 MiB and a shorter last one. Two buffers take turns, one being read while the other is
   * sent, so a chunk is valid only until the one after it is asked for.
   * @param digest is given every chunk, and no buffer is filled again before it has hashed what was in it
   * @throws DatasetChangedError where bytes are missing, and what the digest throws
   */
  async *chunks(digest: Digest): AsyncGenerator<Uint8Array> {
    let [current, other] = [sharedBuffer(), sharedBuffer()];
    let next = this.#fill(current, 0);
    let hashed = Promise.resolve();
    for (let position = 0; position < this.stamp.sizeBytes; position += CHUNK_BYTES) {
      const chunk = await next;
      const [free, previousHashed] = [other, hashed];
      hashed = digest.add(chunk);
      next = previousHashed.then(() => this.#fill(free, position + CHUNK_BYTES));
      // Whoever reads may leave before they are awaited.
      for (const left of [hashed, next]) left.catch(() => undefined);
      yield chunk;
      [current, other] = [other, current];
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Fills the buffer from the file as far as the file should reach: short reads must not become short chunks. */
  async #fill(buffer: Buffer<SharedArrayBuffer>, position: number): Promise<Uint8Array> {
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

/** The SHA-256 of bytes that are handed over piece by piece: owns the thread that hashes them, from first to last. */
export class Digest implements Disposable {
  readonly #worker: Worker;
  /** One for each piece that is not answered yet, oldest first: the thread answers in order. */
  readonly #waiting: PromiseWithResolvers<string>[] = [];
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
    this.#worker.on('message', (text: string) => this.#waiting.shift()?.resolve(text));
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
    if (this.#end !== undefined) return Promise.reject(this.#end);
    const waiting = Promise.withResolvers<string>();
    this.#waiting.push(waiting);
    this.#worker.postMessage(piece);
    return waiting.promise;
  }

  #endWith(error: Error): void {
    this.#end ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#end);
  }
}

interface DigestOptions {
  /** The script of the thread that hashes, as in `ClientOptions.digestWorker`. */
  worker: string;
  signal?: AbortSignal | undefined;
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
  { worker, signal, onProgress }: DigestOptions,
): Promise<string> {
  const dataset = await OpenDataset.open(file.path, file.sizeBytes);
  let digest: Digest | undefined;
  const cancel = () => void digest?.dispose();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    throwIfCancelled(signal);
    if (!isSameStamp(dataset.stamp, file)) throw new DatasetChangedError('changed');
    digest = new Digest(worker);
    let hashedBytes = 0;
    for await (const chunk of dataset.chunks(digest)) {
      throwIfCancelled(signal);
      onProgress?.((hashedBytes += chunk.byteLength), file.sizeBytes);
    }
    const sha256 = await digest.read();
    // Another file may have taken its place, or its time was set back.
    if (!(await isStill(file.path, file))) throw new DatasetChangedError('changed');
    return sha256;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await Promise.allSettled([digest?.dispose(), dataset.close()]);
  }
}
