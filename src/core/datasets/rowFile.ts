import type { BigIntStats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { isSameStamp, stampOf, type FileStamp } from '../base/fileStamp.ts';
import { textRow } from './facts/textRow.ts';
import { SPEAKER_OF } from './formats.ts';
import { CheckError } from './report.ts';
import { RowList, type RowsOfChoice } from './rowList.ts';

export type { RowList };

/** The role of each speaker's name, for the page. */
export const SPEAKER_ROLES: readonly (readonly [name: unknown, role: string])[] = [...SPEAKER_OF];

/** Bytes per read while counting rows. */
const CHUNK_BYTES = 1024 * 1024;
const WINDOW_BYTES = 128 * 1024;
const LF = 0x0a;

export interface FileRow {
  /** Counted from 1; rows end at LF only. */
  row: number;
  /** Offset in bytes from the start of the file. */
  offset: number;
  /** Its first bytes, up to the requested limit, without the LF. */
  bytes: Buffer;
  /** Its full length, without the LF. */
  sizeBytes: number;
}

/** Limits of one call, in bytes: per row, and for all rows (the first row is always returned). */
export interface RowLimits {
  rowBytes: number;
  totalBytes: number;
}

/** Owns an open file whose rows are read by number. Remembers where some rows begin, but no text. */
export class RowFile implements Disposable {
  readonly path: string;
  /** The file's version when it was opened. */
  readonly stamp: FileStamp;
  readonly #handle: FileHandle;
  readonly #marks = new RowMarks();

  private constructor(path: string, handle: FileHandle, found: BigIntStats) {
    this.path = path;
    this.#handle = handle;
    this.stamp = stampOf(found);
  }

  get sizeBytes(): number {
    return this.stamp.sizeBytes;
  }

  /** @throws CheckError `missing` or `unreadable` */
  static async open(path: string): Promise<RowFile> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, 'r');
      return new RowFile(path, handle, await handle.stat({ bigint: true }));
    } catch (cause) {
      await handle?.close();
      throw new CheckError(isMissing(cause) ? 'missing' : 'unreadable', { cause });
    }
  }

  /** Rows that can be read now; grows until `isCounted`. */
  get rows(): number {
    return this.#marks.rows;
  }

  get isCounted(): boolean {
    return this.#marks.isComplete;
  }

  /**
   * Indexes the rows by reading the file, and pauses after each MiB. Must be called only once.
   * @param onProgress awaited after each MiB, and called at the end
   * @throws CancelledError, also after `dispose`; CheckError `unreadable`
   */
  async count(signal: AbortSignal, onProgress: () => unknown): Promise<void> {
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    while (this.#marks.bytes < this.sizeBytes) {
      const bytes = await this.read(chunk, this.#marks.bytes);
      throwIfCancelled(signal);
      // The file has become shorter: only the rows read so far exist.
      if (bytes.length === 0) break;
      this.#marks.add(bytes);
      if (this.#marks.bytes < this.sizeBytes) await onProgress();
    }
    this.#marks.isComplete = true;
    onProgress();
  }

  /** Reads rows from a number on, as far as they are indexed and the limits allow. @throws CheckError, CancelledError */
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
      // A row longer than a window crosses a block border, so the mark after it is the next row.
      const endsAt = end !== -1 ? windowAt + end : (this.#marks.after(row)?.offset ?? this.sizeBytes + 1) - 1;
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

  /** Returns the answer or system message of an indexed row; undefined if there is no such row. @throws CheckError, CancelledError */
  async textOf(row: number, of: 'answer' | 'system', rowBytes: number): Promise<string | undefined> {
    const [found] = await this.readRows(row, 1, { rowBytes, totalBytes: rowBytes });
    return found && (textRow(found.bytes.toString('utf8').replace(/^\uFEFF/, ''))?.[of] ?? '');
  }

  /** Opens and indexes a file only to return a text of one row. @throws CheckError, also `changing`; CancelledError */
  static async readText(
    source: FileStamp & { path: string },
    [row, of, rowBytes]: Parameters<RowFile['textOf']>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const file = await RowFile.open(source.path);
    try {
      await file.count(signal, () => undefined);
      if (!isSameStamp(source, file.stamp)) throw new CheckError('changing');
      return await file.textOf(row, of, rowBytes);
    } finally {
      file.dispose();
    }
  }

  /** Lists the rows, all at first. */
  list(rowsOf: RowsOfChoice): RowList {
    return new RowList(this, rowsOf);
  }

  /** Returns the byte offset of an indexed row. @throws CheckError, CancelledError */
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
   * Fills a buffer from an offset on, up to the end of the file.
   * @throws CheckError `unreadable`, CancelledError after `dispose`
   */
  async read(buffer: Buffer, offset: number): Promise<Buffer> {
    try {
      let filled = 0;
      while (filled < buffer.length) {
        const left = buffer.length - filled;
        const { bytesRead } = await this.#handle.read(buffer, filled, left, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    } catch (cause) {
      // Closed by `dispose`.
      if ((cause as NodeJS.ErrnoException).code === 'EBADF') throw new CancelledError();
      throw new CheckError('unreadable', { cause });
    }
  }

  /** Checks whether the path still leads to the file version that was opened. Never throws. */
  async compareWithDisk(): Promise<'same' | 'changed' | 'missing'> {
    try {
      return isSameStamp(stampOf(await stat(this.path, { bigint: true })), this.stamp) ? 'same' : 'changed';
    } catch (error) {
      return isMissing(error) ? 'missing' : 'changed';
    }
  }

  dispose(): void {
    // `close` waits for pending reads; a later error has no effect.
    this.#handle.close().catch(() => undefined);
  }
}

/** Each block has at most one mark, so a row begins at most this many bytes after the last mark. */
export const BLOCK_BYTES = 64 * 1024;

/** With more line ends than this in a block, a byte loop is faster than repeated `indexOf`. */
const SPARSE = 2_000;

interface RowMark {
  /** As in `FileRow`. */
  row: number;
  offset: number;
}

/**
 * Indexes where rows begin: one mark for each block of 64 KiB in which a row begins. So the memory depends only on the file's
 * size, not on the number of rows. Rows end at LF only.
 */
class RowMarks {
  readonly #marks: RowMark[] = [{ row: 1, offset: 0 }];
  #lineFeeds = 0;
  #endsWithLf = true;
  /** Bytes read so far. */
  bytes = 0;
  /** Whether the end of the file was reached. */
  isComplete = false;

  /** Rows whose end is known. Text after the last LF is a row unless it is empty. */
  get rows(): number {
    return this.#lineFeeds + (this.isComplete && !this.#endsWithLf ? 1 : 0);
  }

  /** Adds the bytes that follow those added before; all but the last must be full blocks. */
  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
      const block = bytes.subarray(from, from + BLOCK_BYTES);
      const first = block.indexOf(LF);
      if (first !== -1) {
        this.#marks.push({ row: this.#lineFeeds + 2, offset: this.bytes + first + 1 });
        this.#lineFeeds += countLineFeeds(block, first);
      }
      this.bytes += block.length;
    }
    if (bytes.length > 0) this.#endsWithLf = bytes.at(-1) === LF;
  }

  /** Returns the last mark at or before a row. */
  before(row: number): RowMark {
    return this.#marks[this.#indexAfter(row) - 1] ?? { row: 1, offset: 0 };
  }

  /** Returns the first mark after a row. If the row crosses a block border, that is the start of the next row. */
  after(row: number): RowMark | undefined {
    return this.#marks[this.#indexAfter(row)];
  }

  /** Returns the index of the first mark after a row. */
  #indexAfter(row: number): number {
    let low = 1;
    let high = this.#marks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#marks[middle]?.row ?? 0) > row) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function countLineFeeds(block: Buffer, from: number): number {
  let count = 0;
  let at = from;
  for (; at !== -1 && count < SPARSE; at = block.indexOf(LF, at + 1)) count += 1;
  if (at === -1) return count;
  for (let index = at; index < block.length; index++) if (block[index] === LF) count += 1;
  return count;
}

/**
 * Returns the editor's line, from 1, on which a row begins. Rows end at LF only; the editor's lines also end at a lone CR.
 * Reads everything up to the row, so use it only for files that an editor can show.
 * @throws CancelledError, CheckError `unreadable`
 */
export async function lineOfRow(file: RowFile, row: number): Promise<number> {
  const before = await file.read(Buffer.allocUnsafeSlow(await file.offsetOf(row)), 0);
  return row + (before.toString('latin1').match(/\r(?!\n)/g)?.length ?? 0);
}

/**
 * Returns the row, from 1, with an editor's line. Reads the complete file: only for files that an editor can show.
 * @throws CancelledError, CheckError `unreadable`
 */
export async function rowOfLine(file: RowFile, line: number): Promise<number> {
  const all = await file.read(Buffer.allocUnsafeSlow(file.sizeBytes), 0);
  let row = 1;
  let passed = 1;
  for (const [end] of all.toString('latin1').matchAll(/\r\n?|\n/g)) {
    if (passed++ === line) break;
    if (end !== '\r') row += 1;
  }
  return row;
}
