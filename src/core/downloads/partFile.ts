import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readFile, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import type { KeptBytes } from '../api/signedDownload.ts';
import { onDisk } from '../base/diskError.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { syncDirectory } from '../storage/durableFile.ts';
import type { UnfinishedDownload } from './types.ts';

/** Written at once. */
const BATCH_BYTES = 1024 * 1024;
/** How much is written between two marks: what a process that is killed loses at most, besides what is not written yet. */
const MARK_BYTES = 2 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;
/** No sidecar is larger: it has one short line for each few megabytes. */
const MAX_SIDECAR_BYTES = 4 * 1024 * 1024;
/** Opened to be read and written, made where it is missing; never through a link that somebody put there. */
const OPEN_OR_MAKE = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW || 0);
/** Hexadecimal digits of SHA-256 that a mark holds. */
const DIGEST_LENGTH = 32;
const MARK = /^(\d{1,15}) ([0-9a-f]{32})$/;

const headSchema = v.object({
  version: v.literal(1),
  /** Of the download: a part of another one is not continued. */
  id: v.string(),
  /** A strong one; without it nothing says what the bytes are, so that they cannot be continued. */
  etag: v.string(),
  totalBytes: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});

/** Where the files of an unfinished download are. */
export interface PartPlace {
  id: string;
  part: string;
  sidecar: string;
  target: string;
}

export function partPlaceOf({ id, target }: UnfinishedDownload): PartPlace {
  const part = path.join(path.dirname(target), `.${id}.part`);
  return { id, part, sidecar: `${part}.json`, target };
}

/** So many bytes from the first on have this SHA-256 (its beginning, in hexadecimal). */
interface Mark {
  bytes: number;
  digest: string;
}

/** What is known of a part's bytes. */
interface PartState {
  etag: string;
  totalBytes?: number | undefined;
  /** Rising. Whether the bytes are still those, the part itself must show. */
  marks: readonly Mark[];
}

/**
 * The beginning of an artifact beside its target: hidden, and only named when it is complete. A sidecar says what its bytes
 * are: a line of JSON, durable before the first byte, then a line for each few megabytes that were written, with the hash of
 * everything up to there. Neither a line that a crash tore nor bytes that never reached the disk can be taken for what they
 * are not: what is continued has been read again and is exactly what came. Everything that touches the disk @throws DiskError.
 */
export class PartFile {
  /** Bytes that came, though they may be on their way to the disk. */
  receivedBytes = 0;
  /** Of the complete artifact, where it is known. */
  totalBytes: number | undefined;
  readonly #place: PartPlace;
  readonly #part: FileHandle;
  readonly #sidecar: FileHandle;
  #sidecarBytes: number;
  #hash: Hash = createHash('sha256');
  #etag: string | undefined;
  /** Handed to the disk. */
  #flushedBytes = 0;
  #markedBytes = 0;
  #batch: Uint8Array[] = [];
  /** The last batch that is on its way to the disk, and with it those before. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(place: PartPlace, part: FileHandle, sidecar: FileHandle, sidecarBytes: number) {
    this.#place = place;
    this.#part = part;
    this.#sidecar = sidecar;
    this.#sidecarBytes = sidecarBytes;
  }

  /**
   * Opens what is stored, or starts again where nothing can be continued.
   * @param openFile for disks that are not there in a test
   * @throws DiskError, CancelledError
   */
  static async open(place: PartPlace, signal: AbortSignal, openFile = open): Promise<PartFile> {
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

  static async #openFiles(place: PartPlace, openFile: typeof open): Promise<PartFile> {
    const part = await onDisk(openFile(place.part, OPEN_OR_MAKE, 0o666));
    try {
      const sidecar = await onDisk(openFile(place.sidecar, OPEN_OR_MAKE, 0o600));
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

  /** What the storage can continue; undefined where there is nothing, or nothing says what it is. */
  get kept(): KeptBytes | undefined {
    if (this.#etag === undefined || this.receivedBytes === 0) return undefined;
    return { startByte: this.receivedBytes, etag: this.#etag, totalBytes: this.totalBytes };
  }

  get isComplete(): boolean {
    return this.receivedBytes === this.totalBytes;
  }

  /** Starts again with other bytes. What they are is durable before the first of them is written. */
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

  /** Takes the next bytes, and their memory with them; to be waited for where it returns a promise. @throws DiskError */
  add(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#batch.push(chunk);
    this.receivedBytes += chunk.byteLength;
    return this.receivedBytes - this.#flushedBytes < BATCH_BYTES ? undefined : this.#flush(MARK_BYTES);
  }

  /** Makes durable what came, so that it can be continued. */
  async sync(): Promise<void> {
    await this.#flush(1);
    await this.#writing;
    await onDisk(this.#part.datasync());
    await onDisk(this.#sidecar.datasync());
  }

  /** SHA-256 of everything in lower-case hexadecimal; to be called once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** May be called again. */
  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await Promise.allSettled([this.#sidecar.close(), this.#part.close()]);
  }

  /** @returns whether it can be continued; else it is as it was */
  async #continue(state: PartState, signal: AbortSignal): Promise<boolean> {
    const prefix = await onDisk(readPrefix(this.#part, state.marks, signal));
    if (prefix === undefined) return false;
    const { bytes, hash } = prefix;
    const { part, target } = this.#place;
    const { nlink, size } = await onDisk(this.#part.stat());
    // What has another name is never written into. Its final name it got when it was complete.
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
   * Hands the batch to the disk behind those before it, and waits for those: with more on their way memory grows and nothing
   * is faster. @param markBytes from so many unmarked bytes on they are marked
   */
  #flush(markBytes: number): Promise<void> {
    const [before, batch, start, end] = [this.#writing, this.#batch, this.#flushedBytes, this.receivedBytes];
    this.#batch = [];
    this.#flushedBytes = end;
    const isMarked = end - this.#markedBytes >= markBytes;
    if (isMarked) this.#markedBytes = end;
    // After a line that a crash tore this one needs a new line; an empty line says nothing.
    const mark = isMarked ? `\n${end} ${digestOf(this.#hash)}\n` : '';
    const write = async () => {
      await before;
      await writeAll(this.#part, batch, start, end);
      if (isMarked) await this.#append(mark);
    };
    this.#writing = onDisk(write());
    // Whoever waits for one of the next hears of it.
    this.#writing.catch(() => undefined);
    return before;
  }

  /** At a position: Windows can't shorten a file that was opened to be appended to. */
  async #append(text: string): Promise<void> {
    const { bytesWritten } = await this.#sidecar.write(text, this.#sidecarBytes);
    this.#sidecarBytes += bytesWritten;
  }
}

/** What of a part may be continued; undefined where nothing can. Never throws. */
export async function partStateOf({ id, part, sidecar }: PartPlace): Promise<PartState | undefined> {
  try {
    const [bytes, lines] = await Promise.all([lstat(part), lstat(sidecar)]);
    if (!bytes.isFile() || !lines.isFile() || lines.size > MAX_SIDECAR_BYTES) return undefined;
    // What follows the last line end was torn.
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

export async function isAnythingLeft({ part, sidecar }: PartPlace): Promise<boolean> {
  const found = await Promise.allSettled([lstat(part), lstat(sidecar)]);
  return found.some(({ status }) => status === 'fulfilled');
}

/** Removes a part that no window has open. @throws DiskError */
export async function removePart({ part, sidecar }: PartPlace): Promise<void> {
  // What says what the bytes are goes last: bytes of which nothing is known would stay for good.
  for (const file of [part, sidecar])
    await onDisk(
      rm(file, { force: true }).catch((error: unknown) => {
        // What should be its folder is a file.
        if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
      }),
    );
}

/** Whether two names are those of one file. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((file) => lstat(file, { bigint: true }).catch(() => undefined)),
  );
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

/** Makes new names in a folder durable, as far as the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  // A share that cannot sync its folder takes nothing of its files away.
  await syncDirectory(folder).catch(() => undefined);
}

/** The SHA-256 of what was hashed so far, as a mark has it. */
function digestOf(hash: Hash): string {
  return hash.copy().digest('hex').slice(0, DIGEST_LENGTH);
}

/**
 * Reads a file up to the last mark that it holds, with all those before it. Undefined where it does not hold the first.
 * @throws CancelledError, and what the file system says
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

/** Writes all of a batch, also to a disk that is nearly full and takes a part of it, and gives its memory back. */
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
  // The garbage collector would leave it for tens of megabytes; what shares its memory with something else keeps it.
  for (const { buffer, byteLength } of batch)
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
