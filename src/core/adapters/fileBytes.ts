import { open, stat, type FileHandle } from 'node:fs/promises';
import { throwIfCancelled } from '../base/errors.ts';
import { BrokenArchiveError, NotAnAdapterError } from './faults.ts';
import { CHUNK_BYTES } from './limits.ts';

/** The bytes of one open file. */
export class FileBytes {
  readonly #handle: FileHandle;
  readonly #signal: AbortSignal | undefined;
  readonly sizeBytes: number;

  private constructor(handle: FileHandle, sizeBytes: number, signal: AbortSignal | undefined) {
    this.#handle = handle;
    this.sizeBytes = sizeBytes;
    this.#signal = signal;
  }

  /** @throws what the file system says; NotAnAdapterError for a pipe, whose opening would wait for ever */
  static async open(path: string, signal?: AbortSignal): Promise<FileBytes> {
    if (!(await stat(path)).isFile()) throw new NotAnAdapterError({ code: 'not-an-archive' });
    const handle = await open(path, 'r');
    try {
      return new FileBytes(handle, (await handle.stat()).size, signal);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Exactly these bytes. @throws BrokenArchiveError `truncated` where the file has fewer; CancelledError */
  async read(at: number, length: number): Promise<Buffer> {
    if (at < 0 || at + length > this.sizeBytes) throw new BrokenArchiveError('truncated');
    const buffer = Buffer.allocUnsafe(length);
    await this.#fill(buffer, at);
    return buffer;
  }

  /** The bytes of a range in pieces; each is only good until the next is asked for. @throws as `read` */
  async *chunks(from: number, to: number): AsyncGenerator<Buffer, void> {
    if (from < 0 || to > this.sizeBytes) throw new BrokenArchiveError('truncated');
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, to - from)));
    for (let at = from; at < to; at += buffer.length) {
      const piece = buffer.subarray(0, Math.min(buffer.length, to - at));
      await this.#fill(piece, at);
      yield piece;
    }
  }

  /** All bytes in pieces. @throws as `read` */
  all(): AsyncGenerator<Buffer, void> {
    return this.chunks(0, this.sizeBytes);
  }

  async #fill(buffer: Buffer, at: number): Promise<void> {
    for (let done = 0; done < buffer.length;) {
      throwIfCancelled(this.#signal);
      const { bytesRead } = await this.#handle.read(buffer, done, buffer.length - done, at + done);
      if (bytesRead === 0) throw new BrokenArchiveError('truncated');
      done += bytesRead;
    }
  }
}
