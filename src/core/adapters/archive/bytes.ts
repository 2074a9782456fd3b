import { open, stat, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { throwIfCancelled } from '../../base/errors.ts';
import { BrokenArchiveError, NotAnAdapterError } from '../problems.ts';
import type { Container } from '../report.ts';

/** Limit of the unpacked size of all entries together. */
export const MAX_TOTAL_BYTES = 64 * 2 ** 30;
/** The ratio is checked from this unpacked size on. Small files of zeros pack well without being a bomb. */
export const RATIO_FROM_BYTES = 2 ** 30;
/** Limit of unpacked bytes per packed byte. */
export const MAX_RATIO = 100;
/** Bytes per read, small enough not to block. */
const CHUNK_BYTES = 512 * 1024;

/** A regular file of an archive or folder. */
export interface Member {
  /** A safe path, with `/`. */
  name: string;
  sizeBytes: number;
  /**
   * Yields the bytes from the start, each piece valid until the next is requested. May be abandoned early; reading
   * to the end verifies a ZIP member. A tar member can be read once, before the next member is requested.
   * @throws BrokenArchiveError, CancelledError
   */
  open(): AsyncGenerator<Buffer, void>;
}

export interface Archive {
  container: Container;
  /** Whether there are bytes before or after a ZIP archive, which tools ignore. */
  hasExtraBytes?: boolean;
  /** Size of the file, or of all files in the folder. */
  sizeBytes: number;
  /** Yields the members in order; each call reads from the start. @throws BrokenArchiveError, CancelledError */
  members(): AsyncIterable<Member> | Iterable<Member>;
  close(): Promise<void>;
}

export async function readThrough(all: AsyncGenerator<unknown, void>): Promise<void> {
  while ((await all.next()).done !== true);
}

/** Concatenates pieces; each is valid only until the next one is requested. */
export async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}

/** The bytes of one open file, or a part of them. */
export class FileBytes {
  readonly #handle: FileHandle;
  readonly #signal: AbortSignal | undefined;
  readonly #from: number;
  readonly sizeBytes: number;

  private constructor(handle: FileHandle, sizeBytes: number, signal: AbortSignal | undefined, from = 0) {
    this.#handle = handle;
    this.sizeBytes = sizeBytes;
    this.#signal = signal;
    this.#from = from;
  }

  /** @throws file system errors; NotAnAdapterError unless it is a file: opening a pipe would wait forever */
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

  /** Returns a part. Its positions count from its start; closing either closes both. */
  part(from: number, to: number): FileBytes {
    return new FileBytes(this.#handle, to - from, this.#signal, this.#from + from);
  }

  /** Reads exactly these bytes. @throws BrokenArchiveError `truncated` if the file has fewer; CancelledError */
  async read(at: number, length: number): Promise<Buffer> {
    if (at < 0 || at + length > this.sizeBytes) throw new BrokenArchiveError('truncated');
    const buffer = Buffer.allocUnsafe(length);
    await this.#fill(buffer, at);
    return buffer;
  }

  /** Yields a range, each piece valid until the next is requested. @throws BrokenArchiveError, CancelledError */
  async *chunks(from: number, to: number): AsyncGenerator<Buffer, void> {
    if (from < 0 || to > this.sizeBytes) throw new BrokenArchiveError('truncated');
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, to - from)));
    for (let at = from; at < to; at += buffer.length) {
      const piece = buffer.subarray(0, Math.min(buffer.length, to - at));
      await this.#fill(piece, at);
      yield piece;
    }
  }

  /** Yields all bytes, like `chunks`. */
  all(): AsyncGenerator<Buffer, void> {
    return this.chunks(0, this.sizeBytes);
  }

  async #fill(buffer: Buffer, at: number): Promise<void> {
    for (let done = 0; done < buffer.length;) {
      throwIfCancelled(this.#signal);
      const position = this.#from + at + done;
      const { bytesRead } = await this.#handle.read(buffer, done, buffer.length - done, position);
      if (bytesRead === 0) throw new BrokenArchiveError('truncated');
      done += bytesRead;
    }
  }
}

/** Inflates a ZIP entry. @throws BrokenArchiveError `length` */
export async function* inflated(
  packed: AsyncIterable<Buffer>,
  packedBytes: number,
  name: string,
): AsyncGenerator<Buffer, void> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  yield* through(packed, inflate, new BrokenArchiveError('length', name));
  // Otherwise bytes are hidden after the deflated data.
  if (inflate.bytesWritten !== packedBytes) throw new BrokenArchiveError('length', name);
}

/** Unpacks gzip of one or more members, checked by zlib. @throws BrokenArchiveError `gzip`, `bomb`, `too-large` */
export async function* gunzipped(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let bytes = 0;
  for await (const piece of through(packed, gunzip, new BrokenArchiveError('gzip'))) {
    bytes += piece.length;
    if (bytes > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
    if (bytes > RATIO_FROM_BYTES && bytes > gunzip.bytesWritten * MAX_RATIO)
      throw new BrokenArchiveError('bomb');
    yield piece;
  }
}

async function* through(
  packed: AsyncIterable<Buffer>,
  unpack: Gunzip | InflateRaw,
  broken: BrokenArchiveError,
): AsyncGenerator<Buffer, void> {
  // Copy each piece, because zlib reads it on another thread while the next may already be requested.
  const source = Readable.from(copies(packed), { highWaterMark: 1 });
  source.on('error', (error) => unpack.destroy(error));
  source.pipe(unpack);
  try {
    for await (const piece of unpack) yield piece as Buffer;
  } catch (error) {
    throw isZlibError(error) ? broken : error;
  } finally {
    source.destroy();
    unpack.destroy();
  }
}

async function* copies(packed: AsyncIterable<Buffer>) {
  for await (const piece of packed) yield Buffer.from(piece);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(Z_|ERR_BUFFER_TOO)/.test(String(error.code));
}
