import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readFile, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import type { KeptBytes } from '../api/signedDownload.ts';
import { onDisk } from '../base/diskError.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { isSameFile } from '../base/exclusiveName.ts';
import { syncDirectory } from '../base/folders.ts';
import type { UnfinishedDownload } from './types.ts';

/** Bytes per write. */
const BATCH_BYTES = 1024 * 1024;
/** Bytes written between two marks. A killed process loses at most these, and bytes that aren't written yet. */
const MARK_BYTES = 2 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;
/** A larger sidecar is invalid: a real one has one short line per few megabytes. */
const MAX_SIDECAR_BYTES = 4 * 1024 * 1024;
/** Opens for reading and writing, creates the file if missing, and never follows a planted symbolic link. */
const OPEN_OR_CREATE = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW || 0);
/** Hexadecimal digits of the SHA-256 in a mark. */
const DIGEST_LENGTH = 32;
const MARK = /^(\d{1,15}) ([0-9a-f]{32})$/;

const headSchema = v.object({
  version: v.literal(1),
  /** The download's ID. A part of another download isn't resumed. */
  id: v.string(),
  /** A strong ETag. Without one the bytes can't be identified, and the part can't be resumed. */
  etag: v.string(),
  totalBytes: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});

/** The paths of an unfinished download. */
export interface PartPaths {
  id: string;
  part: string;
  sidecar: string;
  target: string;
}

/** Returns the paths of the part and its sidecar, both hidden beside the target. */
export function partPathsOf({ id, target }: UnfinishedDownload): PartPaths {
  const part = path.join(path.dirname(target), `.${id}.part`);
  return { id, part, sidecar: `${part}.json`, target };
}

/** The SHA-256 of the first `bytes` bytes, truncated, in hexadecimal. */
interface Mark {
  bytes: number;
  digest: string;
}

/** The content of a sidecar. */
interface PartState {
  etag: string;
  totalBytes?: number | undefined;
  /** In ascending order. The part must still be checked against them. */
  marks: readonly Mark[];
}

/**
 * Owns the part: a hidden file beside the target, which receives an artifact and gets the target's name only when it is
 * complete. Owns its sidecar, too. That begins with a line of JSON, durable before the first byte of the part. Then
 * comes one mark, with the hash of all bytes so far, per few megabytes. On resume, the part is read again and compared
 * with the marks. So no torn line is trusted, and no byte that never reached the disk. All methods that use the disk
 * throw DiskError.
 */
export class PartFile {
  /** Bytes received, including those not written to the disk yet. */
  receivedBytes = 0;
  /** Size of the complete artifact, if known. */
  totalBytes: number | undefined;
  readonly #place: PartPaths;
  readonly #part: FileHandle;
  readonly #sidecar: FileHandle;
  #sidecarBytes: number;
  #hash: Hash = createHash('sha256');
  #etag: string | undefined;
  /** Bytes already handed to a write. */
  #flushedBytes = 0;
  #markedBytes = 0;
  #batch: Uint8Array[] = [];
  /** Settles when the last batch, and with it all earlier ones, is written. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(place: PartPaths, part: FileHandle, sidecar: FileHandle, sidecarBytes: number) {
    this.#place = place;
    this.#part = part;
    this.#sidecar = sidecar;
    this.#sidecarBytes = sidecarBytes;
  }

  /**
   * Opens the stored part, or starts over if it can't be resumed.
   * @param openFile replaced in tests, to simulate disk errors
   * @throws DiskError, CancelledError
   */
  static async open(place: PartPaths, signal: AbortSignal, openFile = open): Promise<PartFile> {
    for (let state = await partStateOf(place); ; state = undefined) {
      if (state === undefined) await removePart(place);
      const part = await PartFile.#openFiles(place, openFile);
      let isReady = false;
      try {
        isReady = await (state === undefined ? part.begin() : part.#continue(state, signal));
        if (isReady) return part;
      } finally {
        if (!isReady) await part.close();
      }
    }
  }

  static async #openFiles(place: PartPaths, openFile: typeof open): Promise<PartFile> {
    const part = await onDisk(openFile(place.part, OPEN_OR_CREATE, 0o666));
    try {
      const sidecar = await onDisk(openFile(place.sidecar, OPEN_OR_CREATE, 0o600));
      try {
        await syncFolder(path.dirname(place.part));
        return new PartFile(place, part, sidecar, (await onDisk(sidecar.stat())).size);
      } catch (error) {
        await sidecar.close();
        throw error;
      }
    } catch (error) {
      await part.close();
      throw error;
    }
  }

  /** The bytes that a request can continue after; undefined if there are none or they have no ETag. */
  get kept(): KeptBytes | undefined {
    if (this.#etag === undefined || this.receivedBytes === 0) return undefined;
    return { startByte: this.receivedBytes, etag: this.#etag, totalBytes: this.totalBytes };
  }

  get isComplete(): boolean {
    return this.receivedBytes === this.totalBytes;
  }

  /** Starts over. The sidecar's first line is durable before the first byte is written. */
  async begin(etag?: string, totalBytes?: number): Promise<true> {
    await this.#writing;
    const head = { version: 1, id: this.#place.id, etag, totalBytes };
    await onDisk(this.#part.truncate(0));
    await onDisk(this.#sidecar.truncate(0));
    this.#sidecarBytes = 0;
    await onDisk(this.#append(`${JSON.stringify(head)}\n`));
    await onDisk(this.#sidecar.sync());
    this.#hash = createHash('sha256');
    this.#etag = etag;
    this.totalBytes = totalBytes;
    this.#batch = [];
    this.receivedBytes = this.#flushedBytes = this.#markedBytes = 0;
    return true;
  }

  /**
   * Adds the next bytes and takes ownership of their memory. The caller must await the promise if there is one.
   * @throws DiskError
   */
  add(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#batch.push(chunk);
    this.receivedBytes += chunk.byteLength;
    return this.receivedBytes - this.#flushedBytes < BATCH_BYTES ? undefined : this.#flush(MARK_BYTES);
  }

  /** Makes all received bytes durable, so that the download can be resumed. */
  async sync(): Promise<void> {
    await this.#flush(1);
    await this.#writing;
    await onDisk(this.#part.datasync());
    await onDisk(this.#sidecar.datasync());
  }

  /** Returns the SHA-256 of all bytes in lowercase hexadecimal. Must be called only once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** May be called more than once. */
  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await Promise.allSettled([this.#sidecar.close(), this.#part.close()]);
  }

  /** @returns whether the part can be resumed; if not, it is unchanged */
  async #continue(state: PartState, signal: AbortSignal): Promise<boolean> {
    const prefix = await onDisk(readPrefix(this.#part, state.marks, signal));
    if (prefix === undefined) return false;
    const { bytes, hash } = prefix;
    const { part, target } = this.#place;
    const { nlink, size } = await onDisk(this.#part.stat());
    // Never write to a file that has a second name. If that name is the target, the part was complete.
    const isNamed = nlink > 1;
    if (isNamed && (bytes !== size || !(await isSameFile(target, part)))) return false;
    if (bytes !== size) await onDisk(this.#part.truncate(bytes));
    this.#hash = hash;
    this.#etag = state.etag;
    this.totalBytes = isNamed ? bytes : state.totalBytes;
    this.receivedBytes = this.#flushedBytes = this.#markedBytes = bytes;
    return true;
  }

  /**
   * Queues the batch for writing and returns a promise for the earlier ones. More pending batches would cost
   * memory without being faster.
   * @param markBytes writes a mark if at least this many bytes are unmarked
   */
  #flush(markBytes: number): Promise<void> {
    const [before, batch, start, end] = [this.#writing, this.#batch, this.#flushedBytes, this.receivedBytes];
    this.#batch = [];
    this.#flushedBytes = end;
    const isMarked = end - this.#markedBytes >= markBytes;
    if (isMarked) this.#markedBytes = end;
    // Start on a new line, in case a crash tore the previous one. Empty lines are ignored.
    const mark = isMarked ? `\n${end} ${digestOf(this.#hash)}\n` : '';
    const write = async () => {
      await before;
      await writeAll(this.#part, batch, start, end);
      if (isMarked) await this.#append(mark);
    };
    this.#writing = onDisk(write());
    // Not unhandled: later batches await this one and fail with it.
    this.#writing.catch(() => undefined);
    return before;
  }

  /** Writes at an explicit position: Windows can't truncate a file that was opened for appending. */
  async #append(text: string): Promise<void> {
    const { bytesWritten } = await this.#sidecar.write(text, this.#sidecarBytes);
    this.#sidecarBytes += bytesWritten;
  }
}

/** Reads the sidecar of a part; returns undefined if nothing can be resumed. Never throws. */
export async function partStateOf({ id, part, sidecar }: PartPaths): Promise<PartState | undefined> {
  try {
    const [bytes, lines] = await Promise.all([lstat(part), lstat(sidecar)]);
    if (!bytes.isFile() || !lines.isFile() || lines.size > MAX_SIDECAR_BYTES) return undefined;
    // Text after the last line end was torn by a crash.
    const [first = '', ...rest] = (await readFile(sidecar, 'utf8')).split('\n').slice(0, -1);
    const head = v.parse(headSchema, JSON.parse(first));
    const marks: Mark[] = [];
    for (const line of rest) {
      const [, count, digest] = MARK.exec(line) ?? [];
      if (digest !== undefined && Number(count) > (marks.at(-1)?.bytes ?? 0))
        marks.push({ bytes: Number(count), digest });
    }
    const lastBytes = marks.at(-1)?.bytes ?? 0;
    if (head.id !== id || lastBytes > (head.totalBytes ?? Infinity)) return undefined;
    if (lastBytes === 0 && head.totalBytes !== 0) return undefined;
    return { etag: head.etag, totalBytes: head.totalBytes, marks };
  } catch {
    return undefined;
  }
}

/** Removes a part that no window has open. @throws DiskError */
export async function removePart({ part, sidecar }: PartPaths): Promise<void> {
  // Remove the sidecar last: a part without one would never be cleaned up.
  for (const file of [part, sidecar])
    await onDisk(
      rm(file, { force: true }).catch((error: unknown) => {
        // ENOTDIR: a file is where the folder should be.
        if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
      }),
    );
}

/** Makes new directory entries durable, as far as the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  // Some network shares can't sync a folder; the files themselves are unaffected.
  await syncDirectory(folder).catch(() => undefined);
}

/** Returns the SHA-256 of the bytes hashed so far, truncated as in a mark. */
function digestOf(hash: Hash): string {
  return hash.copy().digest('hex').slice(0, DIGEST_LENGTH);
}

/**
 * Reads a file up to the first mark that it doesn't match. Returns the bytes up to the mark before it, with their hash;
 * undefined if the file doesn't even match the first mark.
 * @throws CancelledError, and any error of the file system
 */
async function readPrefix(
  handle: FileHandle,
  marks: readonly Mark[],
  signal: AbortSignal,
): Promise<{ bytes: number; hash: Hash } | undefined> {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const hash = createHash('sha256');
  let known = marks.length === 0 ? { bytes: 0, hash: hash.copy() } : undefined;
  let position = 0;
  for (const mark of marks) {
    while (position < mark.bytes) {
      throwIfCancelled(signal);
      const length = Math.min(READ_BYTES, mark.bytes - position);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      if (bytesRead === 0) return known;
      hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
    if (digestOf(hash) !== mark.digest) return known;
    known = { bytes: position, hash: hash.copy() };
  }
  return known;
}

/** Writes a complete batch, even if a nearly full disk accepts it in pieces, and frees its memory. */
async function writeAll(
  handle: FileHandle,
  batch: readonly Uint8Array[],
  start: number,
  end: number,
): Promise<void> {
  let left = batch;
  for (let position = start; position < end;) {
    const { bytesWritten } = await handle.writev(left, position);
    position += bytesWritten;
    if (position < end) left = [Buffer.concat(left).subarray(bytesWritten)];
  }
  // The garbage collector would let tens of megabytes pile up. Leave buffers alone that share their memory.
  for (const { buffer, byteLength } of batch)
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
