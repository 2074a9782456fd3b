import { open, stat, type FileHandle } from 'node:fs/promises';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { CheckError } from './errors.ts';
import { RowMarks } from './rowMarks.ts';

/** Read at a time while rows are counted. */
const CHUNK_BYTES = 1024 * 1024;
const WINDOW_BYTES = 128 * 1024;
const LF = 0x0a;

/** A row as it stands in the file. */
export interface FileRow {
  /** Counted from 1; rows end at LF only. */
  row: number;
  /** Where it begins, in bytes from the start of the file. */
  offset: number;
  /** Its first bytes, without the LF; as many as were asked for. */
  bytes: Buffer;
  /** Its whole length, without the LF. */
  sizeBytes: number;
}

/** Limits of one call, in bytes: of a row, and of all rows together (the first row always comes). */
export interface RowLimits {
  rowBytes: number;
  totalBytes: number;
}

/** Owns an open file whose rows are read by number; it holds marks of where rows begin and no text. */
export class RowFile implements Disposable {
  readonly path: string;
  /** What the file was when it was opened. */
  readonly sizeBytes: number;
  /** When it was last written; whole milliseconds since the epoch. */
  readonly mtimeMs: number;
  readonly #handle: FileHandle;
  readonly #identity: string;
  readonly #marks = new RowMarks();

  private constructor(path: string, handle: FileHandle, found: FileIdentity) {
    this.path = path;
    this.#handle = handle;
    this.sizeBytes = Number(found.size);
    this.mtimeMs = Number(found.mtimeMs);
    this.#identity = identityOf(found);
  }

  /** @throws CheckError `missing` or `unreadable` */
  static async open(path: string): Promise<RowFile> {
    try {
      const handle = await open(path, 'r');
      try {
        return new RowFile(path, handle, await handle.stat({ bigint: true }));
      } catch (error) {
        await handle.close();
        throw error;
      }
    } catch (error) {
      throw new CheckError(isMissing(error) ? 'missing' : 'unreadable', { cause: error });
    }
  }

  /** Rows that can be read now: more and more until `isCounted`. */
  get rows(): number {
    return this.#marks.rows;
  }

  /** True once every row of the file is known. */
  get isCounted(): boolean {
    return this.#marks.isComplete;
  }

  /** Bytes looked at by `count`. */
  get countedBytes(): number {
    return this.#marks.bytes;
  }

  /**
   * Reads the file once to learn where its rows begin; it lets others run after each MiB. Called once.
   * @param onProgress is called after each MiB
   * @throws CancelledError, also after `dispose`; CheckError `unreadable`
   */
  async count(signal: AbortSignal, onProgress: () => void): Promise<void> {
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    while (this.#marks.bytes < this.sizeBytes) {
      const bytes = await this.read(chunk, this.#marks.bytes);
      throwIfCancelled(signal);
      // Shorter than it was: what there is are the rows.
      if (bytes.length === 0) break;
      this.#marks.add(bytes);
      onProgress();
    }
    this.#marks.end();
    onProgress();
  }

  /**
   * Rows from a number on, as far as they are known and the limits allow.
   * @throws CheckError `unreadable`, CancelledError after `dispose`
   */
  async readRows(from: number, count: number, limits: RowLimits): Promise<FileRow[]> {
    const found: FileRow[] = [];
    const last = Math.min(from + count - 1, this.rows);
    if (from < 1 || from > last) return found;
    let offset = await this.offsetOf(from);
    let window: Buffer = Buffer.alloc(0);
    let windowAt = offset;
    let total = 0;
    for (let row = from; row <= last; row++) {
      let end = window.indexOf(LF, offset - windowAt);
      if (end === -1) {
        window = await this.read(Buffer.allocUnsafeSlow(WINDOW_BYTES), offset);
        windowAt = offset;
        end = window.indexOf(LF);
      }
      // A row longer than a window crosses the border of a block, and the mark behind it is the next row.
      const endsAt =
        end !== -1 ? windowAt + end : (this.#marks.behind(row)?.offset ?? this.sizeBytes + 1) - 1;
      const sizeBytes = Math.max(0, endsAt - offset);
      const wanted = Math.min(sizeBytes, limits.rowBytes);
      if (found.length > 0 && total + wanted > limits.totalBytes) break;
      const start = offset - windowAt;
      const bytes =
        start + wanted <= window.length
          ? Buffer.from(window.subarray(start, start + wanted))
          : await this.read(Buffer.allocUnsafeSlow(wanted), offset);
      found.push({ row, offset, bytes, sizeBytes });
      total += wanted;
      offset = endsAt + 1;
    }
    return found;
  }

  /**
   * Where a known row begins, in bytes.
   * @throws CheckError `unreadable`, CancelledError after `dispose`
   */
  async offsetOf(row: number): Promise<number> {
    const mark = this.#marks.before(row);
    const block = await this.read(Buffer.allocUnsafeSlow(WINDOW_BYTES), mark.offset);
    let at = 0;
    for (let missing = row - mark.row; missing > 0; missing--) {
      const end = block.indexOf(LF, at);
      if (end === -1) break;
      at = end + 1;
    }
    return mark.offset + at;
  }

  /**
   * Fills a buffer from an offset on, as far as the file goes.
   * @throws CheckError `unreadable`, CancelledError after `dispose`
   */
  async read(buffer: Buffer, offset: number): Promise<Buffer> {
    let filled = 0;
    while (filled < buffer.length) {
      const bytesRead = await this.#readSome(buffer, filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  /** Whether the path still leads to what was opened. Never throws. */
  async look(): Promise<'same' | 'changed' | 'missing'> {
    try {
      return identityOf(await stat(this.path, { bigint: true })) === this.#identity ? 'same' : 'changed';
    } catch (error) {
      return isMissing(error) ? 'missing' : 'changed';
    }
  }

  dispose(): void {
    // Waits for reads under way; after that there is nobody to tell.
    this.#handle.close().catch(() => undefined);
  }

  async #readSome(buffer: Buffer, filled: number, position: number): Promise<number> {
    try {
      return (await this.#handle.read(buffer, filled, buffer.length - filled, position)).bytesRead;
    } catch (error) {
      // Closed by `dispose`.
      if ((error as NodeJS.ErrnoException).code === 'EBADF') throw new CancelledError();
      throw new CheckError('unreadable', { cause: error });
    }
  }
}

interface FileIdentity {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  mtimeMs: bigint;
}

function identityOf({ dev, ino, size, mtimeNs }: FileIdentity): string {
  return `${dev.toString()} ${ino.toString()} ${size.toString()} ${mtimeNs.toString()}`;
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
