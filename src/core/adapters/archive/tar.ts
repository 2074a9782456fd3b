import { isUtf8 } from 'node:buffer';
import { BrokenArchiveError } from '../problems.ts';
import { bytesOf, MAX_TOTAL_BYTES, readThrough, type Member } from './bytes.ts';
import { EntryNames, MAX_ENTRIES } from './entryNames.ts';

export const TAR_BLOCK_BYTES = 512;
/** Limit of an extended header. */
const MAX_EXTENDED_BYTES = 2 ** 20;
/** Limit of a record's key in an extended header, including the length before it. */
const MAX_KEY_BYTES = 1024;

interface TarHeader {
  name: string;
  sizeBytes: number;
  /** One character: '0' a file, '5' a folder, '1' and '2' links. */
  type: string;
}

/** Reads the bytes of a tar archive in order. Pieces are valid only until the next is requested. */
export class TarBytes {
  readonly #from: ((at: number) => AsyncGenerator<Buffer, void>) | undefined;
  #pieces: AsyncGenerator<Buffer, void>;
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;

  /** @param from reads from any position, if possible, so that skipped bytes are not read */
  constructor(pieces: AsyncGenerator<Buffer, void>, from?: (at: number) => AsyncGenerator<Buffer, void>) {
    this.#pieces = pieces;
    this.#from = from;
  }

  /** Returns the first block, or less if the archive is shorter, without consuming it. */
  async peek(): Promise<Buffer> {
    while (this.#piece.length < TAR_BLOCK_BYTES) {
      const next = await this.#pieces.next();
      if (next.done === true) break;
      this.#piece = Buffer.concat([this.#piece, next.value]);
    }
    return this.#piece.subarray(0, TAR_BLOCK_BYTES);
  }

  /** Yields the next bytes; if abandoned early, the next call gets the rest. @throws BrokenArchiveError `truncated` */
  async *exactly(length: number): AsyncGenerator<Buffer, void> {
    for (let left = length; left > 0;) {
      if (this.#piece.length === 0) this.#piece = (await this.#pieces.next()).value ?? Buffer.alloc(0);
      const taken = this.#piece.subarray(0, left);
      if (taken.length === 0) throw new BrokenArchiveError('truncated');
      this.#piece = this.#piece.subarray(taken.length);
      this.#at += taken.length;
      left -= taken.length;
      yield taken;
    }
  }

  async skip(length: number): Promise<void> {
    if (this.#from === undefined || length <= this.#piece.length) {
      await readThrough(this.exactly(length));
      return;
    }
    this.#at += length;
    this.#piece = Buffer.alloc(0);
    this.#pieces = this.#from(this.#at);
  }

  async *rest(): AsyncGenerator<Buffer, void> {
    yield this.#piece;
    yield* this.#pieces;
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }
}

/** Yields the files of a tar archive in order; each can be read once. @throws BrokenArchiveError, CancelledError */
export async function* tarMembers(bytes: TarBytes): AsyncGenerator<Member, void> {
  const names = new EntryNames();
  /** Extended headers for all entries, and for the next one. */
  const shared: Partial<TarHeader> = {};
  let next: Partial<TarHeader> = {};
  let total = 0;
  let extended = 0;
  for (;;) {
    const block = await bytesOf(bytes.exactly(TAR_BLOCK_BYTES));
    if (isEmptyBlock(block)) break;
    const header = readHeader(block);
    if (/^[xgLK]$/.test(header.type)) {
      // Every entry may have a long name and a long link target, or one extended header of each kind.
      if (++extended > 2 * MAX_ENTRIES) throw new BrokenArchiveError('too-large');
      const one = await readExtended(header, bytes);
      if (header.type === 'g') Object.assign(shared, one);
      else next = { ...next, ...one };
      continue;
    }
    const { type, name, sizeBytes } = { ...header, ...shared, ...next };
    next = {};
    if (/^[12346]$/.test(type)) throw new BrokenArchiveError('link', name);
    if (type !== '0' && type !== '5') throw new BrokenArchiveError('method', name);
    // Old writers mark a folder only by a final slash.
    const isFolder = type === '5' || name.endsWith('/');
    const safe = names.add(name, isFolder);
    if (isFolder && sizeBytes > 0) throw new BrokenArchiveError('tar', name);
    total += sizeBytes;
    if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
    let left = sizeBytes;
    const open = async function* () {
      for await (const piece of bytes.exactly(left)) {
        // Count it before yielding: the consumer may stop here.
        left -= piece.length;
        yield piece;
      }
    };
    if (!isFolder) yield { name: safe, sizeBytes, open };
    await bytes.skip(left + paddingOf(sizeBytes));
  }
  // Two empty blocks end the archive; only zeros may follow.
  if (!isEmptyBlock(await bytesOf(bytes.exactly(TAR_BLOCK_BYTES))))
    throw new BrokenArchiveError('data-after-end');
  for await (const piece of bytes.rest())
    if (!piece.equals(Buffer.alloc(piece.length))) throw new BrokenArchiveError('data-after-end');
}

/** Returns the number of bytes that fill the last block. */
function paddingOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES - sizeBytes;
}

async function readExtended({ type, sizeBytes }: TarHeader, bytes: TarBytes): Promise<Partial<TarHeader>> {
  if (sizeBytes > MAX_EXTENDED_BYTES) throw new BrokenArchiveError('header-too-large');
  const content = await bytesOf(bytes.exactly(sizeBytes));
  await bytes.skip(paddingOf(sizeBytes));
  // The long target of a link. The link itself follows and is refused.
  if (type === 'K') return {};
  if (type === 'L') return { name: textIn(content) };
  const records = readPax(content);
  // The size in a sparse file's header isn't the size of its content.
  for (const key of records.keys()) if (key.startsWith('GNU.sparse.')) throw new BrokenArchiveError('method');
  const name = records.get('path');
  const size = records.get('size');
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) throw new BrokenArchiveError('tar');
  return { ...(name !== undefined && { name }), ...(size !== undefined && { sizeBytes: Number(size) }) };
}

/** Whether these bytes start like a tar archive: with a header that has a correct checksum. */
export function beginsAsTar(bytes: Buffer): boolean {
  return (
    bytes.length >= TAR_BLOCK_BYTES && !isEmptyBlock(bytes) && hasChecksum(bytes.subarray(0, TAR_BLOCK_BYTES))
  );
}

function isEmptyBlock(block: Buffer): boolean {
  return block.subarray(0, TAR_BLOCK_BYTES).every((byte) => byte === 0);
}

function readHeader(block: Buffer): TarHeader {
  if (!hasChecksum(block)) throw new BrokenArchiveError('tar');
  // Only ustar has a prefix; GNU stores other fields there.
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? textIn(block.subarray(345, 500)) : '';
  const name = textIn(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    sizeBytes: numberIn(block.subarray(124, 136)),
    type: type === '\0' || type === '7' ? '0' : type,
  };
}

/** Reads text up to a NUL. */
function textIn(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return decoded(end === -1 ? bytes : bytes.subarray(0, end));
}

function decoded(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}

/** Reads the records of an extended header (pax): length, blank, key, equals sign, value, line end. */
function readPax(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const begin = bytes.toString('latin1', at, at + MAX_KEY_BYTES);
    const [start = '', length, key = ''] = /^([1-9]\d*) ([^=]+)=/.exec(begin) ?? [];
    const end = at + Number(length);
    if (!(end > at + start.length) || bytes[end - 1] !== 0x0a) throw new BrokenArchiveError('tar');
    records.set(key, decoded(bytes.subarray(at + start.length, end - 1)));
    at = end;
  }
  return records;
}

function hasChecksum(block: Buffer): boolean {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  const digits = block
    .toString('latin1', 148, 156)
    .replace(/(?<![\0 ])[\0 ]+$/, '')
    .trimStart();
  return /^[0-7]+$/.test(digits) && parseInt(digits, 8) === sum;
}

/** Reads octal digits, or base 256 (GNU) for larger numbers. */
function numberIn(field: Buffer): number {
  if (field[0] === 0x80) {
    const wide = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
    if (Number.isSafeInteger(wide)) return wide;
    throw new BrokenArchiveError('tar');
  }
  const digits = field
    .toString('latin1')
    .replace(/^ +/, '')
    .replace(/[\0 ].*$/s, '');
  if (!/^[0-7]*$/.test(digits)) throw new BrokenArchiveError('tar');
  return digits === '' ? 0 : parseInt(digits, 8);
}
