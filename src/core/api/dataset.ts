import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { isSameStamp, isStill, stampOf, type FileStamp } from '../base/fileStamp.ts';
import { DatasetChangedError, DigestError } from './errors.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Opens a named pipe without blocking, to reject it. Windows has neither the flag nor such pipes. */
const OPEN_FLAGS = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);

/** The dataset during an upload: one open file, even if it is renamed or replaced. */
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
   * Reads the file in chunks of 1 MiB and a shorter last one. Alternates two buffers, one being read while
   * the other is sent, so a chunk is only valid until the next one is requested.
   * @param digest receives every chunk; a buffer is only reused after its content was hashed
   * @throws DatasetChangedError if bytes are missing, and digest errors
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
      // The consumer may stop before these are awaited.
      for (const left of [hashed, next]) left.catch(() => undefined);
      yield chunk;
      [current, other] = [other, current];
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Fills the buffer up to the expected file size, so that short reads don't become short chunks. */
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

/** Allocates memory that can be shared with the worker thread. */
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

/** Owns the thread that computes the SHA-256 of bytes passed in pieces. */
export class Digest implements Disposable {
  readonly #worker: Worker;
  /** One for each unanswered piece, oldest first: the thread answers in order. */
  readonly #waiting: PromiseWithResolvers<string>[] = [];
  #end: Error | undefined;

  /**
   * @param script the absolute path of the thread's script
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
   * Hashes a piece. Its memory may be overwritten once this resolves; shared memory is not copied.
   * @throws DigestError if the thread died or didn't start, CancelledError after `dispose`
   */
  async add(piece: Uint8Array): Promise<void> {
    await this.#ask(piece);
  }

  /** Returns the digest of all pieces in lower-case hexadecimal, and ends the thread. @throws as `add` */
  read(): Promise<string> {
    return this.#ask(null);
  }

  /** Terminates the thread, and resolves when it has exited. */
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
  /** The path of the hashing script, as in `ClientOptions.digestWorker`. */
  worker: string;
  signal?: AbortSignal | undefined;
  onProgress?: (hashedBytes: number, totalBytes: number) => void;
}

/**
 * Computes the SHA-256 of a file off the main thread.
 * @param file with the stamp from its check; other content is rejected
 * @throws DatasetChangedError if the file changed or is unreadable; DigestError, CancelledError
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
    // The file may have been replaced, or its time reset.
    if (!(await isStill(file.path, file))) throw new DatasetChangedError('changed');
    return sha256;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await Promise.allSettled([digest?.dispose(), dataset.close()]);
  }
}
