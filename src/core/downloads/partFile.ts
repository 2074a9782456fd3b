import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { KeptBytes } from '../api/signedDownload.ts';
import { onDisk } from '../base/diskError.ts';
import { syncDirectory } from '../storage/durableFile.ts';
import {
  markOf,
  OPEN_OR_MAKE,
  readPrefix,
  readSidecar,
  Sidecar,
  type PartPlace,
  type PartState,
  type Prefix,
} from './sidecar.ts';

/** Written at once. */
const BATCH_BYTES = 1024 * 1024;
/** How many batches may be on their way to the disk while the next one fills: with more, memory grows and nothing is faster. */
const MAX_BATCHES = 1;
/** How much is written between two marks: what a process that is killed loses at most, besides what is not written yet. */
const MARK_BYTES = 2 * 1024 * 1024;
/** How much is written until it is made durable, beside the writing: what a machine loses at most that fails, if its disk keeps up. */
const SYNC_BYTES = 32 * 1024 * 1024;

export interface PartOptions {
  /** How a file is opened, for disks that are not there in a test. */
  openFile?: typeof open;
}

/**
 * The beginning of an artifact beside its target: hidden, and only named when it is complete. A `Sidecar` says what its bytes are;
 * what is continued has been read again and is exactly what came. Everything that touches the disk @throws DiskError.
 */
export class PartFile {
  readonly #handle: FileHandle;
  readonly #sidecar: Sidecar;
  #hash: Hash = createHash('sha256');
  #etag: string | undefined;
  #totalBytes: number | undefined;
  #writtenBytes = 0;
  #markedBytes = 0;
  #syncedBytes = 0;
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  /** The last batch that is on its way to the disk, and with it those before. */
  #writing: Promise<void> = Promise.resolve();
  /** Those on their way, oldest first. */
  #queue: Promise<void>[] = [];
  /** What the disk took. */
  #takenBytes = 0;
  #syncing: Promise<void> | undefined;

  private constructor(handle: FileHandle, sidecar: Sidecar) {
    this.#handle = handle;
    this.#sidecar = sidecar;
  }

  /** Opens what is stored, or starts again where nothing can be continued. @throws DiskError, CancelledError */
  static async open(place: PartPlace, signal: AbortSignal, options: PartOptions = {}): Promise<PartFile> {
    const { openFile = open } = options;
    const kept = await partStateOf(place);
    if (kept !== undefined) {
      const part = await PartFile.#open(place, openFile, async (handle, sidecar) => {
        const prefix = await onDisk(readPrefix(handle, kept.marks, signal));
        const { nlink, size, ino, dev } = await onDisk(handle.stat({ bigint: true }));
        if (prefix === undefined) return undefined;
        const continued = new PartFile(handle, sidecar);
        // Some file systems of a network count none.
        if (nlink <= 1n) {
          await continued.#continue(kept, prefix, Number(size));
          return continued;
        }
        // It has another name and is never written into. Its final name it got when it was complete.
        const final = await lstat(targetOf(place), { bigint: true }).catch(() => undefined);
        const isNamed = final?.ino === ino && final.dev === dev;
        const totalBytes = isNamed ? prefix.bytes : kept.totalBytes;
        if (BigInt(prefix.bytes) !== size || prefix.bytes !== totalBytes) return undefined;
        await continued.#continue({ ...kept, totalBytes }, prefix, prefix.bytes);
        return continued;
      });
      if (part !== undefined) return part;
    }
    await PartFile.remove(place);
    const part = await PartFile.#open(place, openFile, async (handle, sidecar) => {
      const begun = new PartFile(handle, sidecar);
      await begun.begin({});
      return begun;
    });
    await syncFolder(path.dirname(place.part));
    return part;
  }

  /** Bytes that came, though they may be on their way to the disk. */
  get receivedBytes(): number {
    return this.#writtenBytes + this.#batchBytes;
  }

  /** Of the complete artifact, where it is known. */
  get totalBytes(): number | undefined {
    return this.#totalBytes;
  }

  /** What the storage can continue; undefined where nothing is kept, or nothing says what it is. */
  get kept(): KeptBytes | undefined {
    if (this.#etag === undefined || this.receivedBytes === 0) return undefined;
    return { startByte: this.receivedBytes, etag: this.#etag, totalBytes: this.#totalBytes };
  }

  get isWhole(): boolean {
    return this.receivedBytes === this.#totalBytes;
  }

  /** Starts again with other bytes. What they are is durable before the first of them is written. */
  async begin({ etag, totalBytes }: { etag?: string; totalBytes?: number }): Promise<void> {
    await this.#settle();
    await onDisk(this.#handle.truncate(0));
    await onDisk(this.#sidecar.begin(etag, totalBytes));
    this.#hash = createHash('sha256');
    this.#etag = etag;
    this.#totalBytes = totalBytes;
    this.#batch = [];
    this.#queue = [];
    this.#batchBytes = this.#writtenBytes = this.#takenBytes = this.#markedBytes = this.#syncedBytes = 0;
  }

  /** The storage provided the length later. */
  learnTotal(totalBytes: number): void {
    this.#totalBytes = totalBytes;
  }

  /**
   * Takes the next bytes, and their memory with them; to be waited for where it returns a promise.
   * @throws DiskError
   */
  add(chunk: Uint8Array): Promise<void> | undefined {
    this.#hash.update(chunk);
    this.#batch.push(chunk);
    this.#batchBytes += chunk.byteLength;
    return this.#batchBytes < BATCH_BYTES ? undefined : this.#flush(MARK_BYTES);
  }

  /** Makes durable what came, so that it can be continued. */
  async sync(): Promise<void> {
    await this.#flush(1);
    await this.#settle();
    await onDisk(this.#sync());
  }

  /** SHA-256 of everything in lower-case hexadecimal; to be called once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** May be called again. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#syncing]);
    await Promise.allSettled([this.#sidecar.close(), this.#handle.close()]);
  }

  /** Removes a part that no window has open. @throws DiskError */
  static async remove({ part, sidecar }: PartPlace): Promise<void> {
    // What says what the bytes are goes last: bytes of which nothing is known would stay for good.
    await onDisk(removeFile(part));
    await onDisk(removeFile(sidecar));
  }

  /** Both files, closed again unless `work` makes a part of them. */
  static async #open<T extends PartFile | undefined>(
    place: PartPlace,
    openFile: typeof open,
    work: (handle: FileHandle, sidecar: Sidecar) => Promise<T>,
  ): Promise<T> {
    const opened: { close(): Promise<void> }[] = [];
    let part: T | undefined;
    try {
      const handle = await onDisk(openFile(place.part, OPEN_OR_MAKE, 0o666));
      opened.push(handle);
      const sidecar = await onDisk(Sidecar.open(place, openFile));
      opened.push(sidecar);
      return (part = await work(handle, sidecar));
    } finally {
      if (part === undefined) await Promise.allSettled(opened.map((one) => one.close()));
    }
  }

  async #continue({ etag, totalBytes }: PartState, { bytes, hash }: Prefix, size: number): Promise<void> {
    if (bytes !== size) await onDisk(this.#handle.truncate(bytes));
    this.#hash = hash;
    this.#etag = etag;
    this.#totalBytes = totalBytes;
    this.#writtenBytes = this.#takenBytes = this.#markedBytes = bytes;
  }

  /** Hands the batch to the disk behind those before it. @param markBytes from so many unmarked bytes on they are marked */
  async #flush(markBytes: number): Promise<void> {
    const batch = this.#batch;
    const position = this.#writtenBytes;
    this.#batch = [];
    this.#writtenBytes += this.#batchBytes;
    this.#batchBytes = 0;
    const end = this.#writtenBytes;
    const mark = end - this.#markedBytes >= markBytes ? markOf(this.#hash, end) : undefined;
    if (mark !== undefined) this.#markedBytes = end;
    const before = this.#writing;
    const write = async () => {
      await before;
      await writeAll(this.#handle, batch, position);
      if (mark !== undefined) await this.#sidecar.mark(mark);
      this.#takenBytes = end;
    };
    this.#writing = onDisk(write());
    // Whoever waits for one of the next hears of it.
    this.#writing.catch(() => undefined);
    this.#queue.push(this.#writing);
    if (this.#takenBytes - this.#syncedBytes >= SYNC_BYTES) this.#syncing ??= this.#syncBeside();
    if (this.#queue.length > MAX_BATCHES) await this.#queue.shift();
  }

  #syncBeside(): Promise<void> {
    const done = onDisk(this.#sync()).then(() => {
      this.#syncing = undefined;
    });
    // A disk reports a failure once: it is remembered until somebody awaits it.
    done.catch(() => undefined);
    return done;
  }

  async #sync(): Promise<void> {
    const upTo = this.#takenBytes;
    await this.#handle.datasync();
    await this.#sidecar.sync();
    this.#syncedBytes = upTo;
  }

  async #settle(): Promise<void> {
    await this.#writing;
    await this.#syncing;
  }
}

/** What of a part may be continued; undefined where nothing can. Never throws. */
export async function partStateOf(place: PartPlace): Promise<PartState | undefined> {
  const state = await readSidecar(place);
  const stats = await lstat(place.part).catch(() => undefined);
  const last = state?.marks.at(-1);
  const isWhole = state?.totalBytes === 0;
  if (state?.etag === undefined || !stats?.isFile() || (last === undefined && !isWhole)) return undefined;
  return (last?.bytes ?? 0) <= (state.totalBytes ?? Infinity) ? state : undefined;
}

function targetOf({ part, targetName }: PartPlace): string {
  return path.join(path.dirname(part), targetName);
}

async function removeFile(file: string): Promise<void> {
  try {
    await rm(file, { force: true });
  } catch (error) {
    // What should be its folder is a file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/**
 * Writes all of some pieces, also to a disk that is nearly full and takes a part of what it is given, and gives their memory
 * back. Throws what the file system says.
 */
async function writeAll(handle: FileHandle, batch: readonly Uint8Array[], position: number): Promise<void> {
  let left = [...batch];
  while (left.length > 0) {
    const { bytesWritten } = await handle.writev(left, position);
    position += bytesWritten;
    left = behind(left, bytesWritten);
  }
  for (const piece of batch) free(piece);
}

/** Makes new names in a folder durable, as far as the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  // A share that cannot sync its folder takes nothing of its files away.
  await syncDirectory(folder).catch(() => undefined);
}

function behind(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  return pieces.flatMap((piece) => {
    const cut = Math.min(skip, piece.byteLength);
    skip -= cut;
    return cut === piece.byteLength ? [] : [piece.subarray(cut)];
  });
}

/** The garbage collector would leave it for tens of megabytes; what shares its memory with something else is its alone. */
function free(piece: Uint8Array): void {
  const { buffer } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength) buffer.transfer(0);
}
