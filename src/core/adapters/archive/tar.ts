import { isUtf8 } from 'node:buffer';
import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';
import { MAX_ENTRIES, MAX_EXTENDED_BYTES, MAX_TOTAL_BYTES } from '../limits.ts';
import { EntryNames } from './entryNames.ts';
import { readThrough, type Member } from './archive.ts';

export const BLOCK_BYTES = 512;

interface TarHeader {
  name: string;
  sizeBytes: number;
  /** One character: '0' a file, '5' a folder, '1' and '2' links. */
  type: string;
}

/** The bytes of a tar archive from its beginning on, of a file or of a stream that unpacks one. */
export class TarBytes {
  readonly #reopen: ((at: number) => AsyncGenerator<Buffer, void>) | undefined;
  #pieces: AsyncGenerator<Buffer, void>;
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;

  private constructor(
    pieces: AsyncGenerator<Buffer, void>,
    reopen?: (at: number) => AsyncGenerator<Buffer, void>,
  ) {
    this.#pieces = pieces;
    this.#reopen = reopen;
  }

  static ofFile(file: FileBytes): TarBytes {
    const from = (at: number) => file.chunks(Math.min(at, file.sizeBytes), file.sizeBytes);
    return new TarBytes(from(0), from);
  }

  static ofStream(pieces: AsyncGenerator<Buffer, void>): TarBytes {
    return new TarBytes(pieces);
  }

  /** The first block, or less where there is no more, which is read again. */
  async peek(): Promise<Buffer> {
    while (this.#piece.length < BLOCK_BYTES) {
      const next = await this.#pieces.next();
      if (next.done === true) break;
      this.#piece = Buffer.concat([this.#piece, next.value]);
    }
    return this.#piece.subarray(0, BLOCK_BYTES);
  }

  /** @throws BrokenArchiveError `truncated` at the end */
  async block(): Promise<Buffer> {
    const block = Buffer.alloc(BLOCK_BYTES);
    let filled = 0;
    for await (const piece of this.exactly(BLOCK_BYTES)) filled += piece.copy(block, filled);
    return block;
  }

  /** The next bytes; each piece is only good until the next is asked for. @throws as `block` */
  async *exactly(length: number): AsyncGenerator<Buffer, void> {
    for (let left = length; left > 0;) {
      const piece = await this.#take(left);
      if (piece === undefined) throw new BrokenArchiveError('truncated');
      left -= piece.length;
      yield piece;
    }
  }

  /** In a file nothing of it is read. @throws as `block` */
  async skip(length: number): Promise<void> {
    if (this.#reopen === undefined || length <= this.#piece.length) await readThrough(this.exactly(length));
    else {
      await this.#pieces.return();
      this.#at += length;
      this.#piece = Buffer.alloc(0);
      this.#pieces = this.#reopen(this.#at);
    }
  }

  /** All that is left. */
  async *rest(): AsyncGenerator<Buffer, void> {
    for (let piece = await this.#take(Infinity); piece !== undefined; piece = await this.#take(Infinity))
      yield piece;
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }

  /** At least one byte and at most `most`; undefined at the end. */
  async #take(most: number): Promise<Buffer | undefined> {
    if (this.#piece.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) return undefined;
      this.#piece = next.value;
    }
    const taken = this.#piece.subarray(0, most);
    this.#piece = this.#piece.subarray(taken.length);
    this.#at += taken.length;
    return taken;
  }
}

/** The files of a tar archive, in their order, each to be read once. @throws BrokenArchiveError, CancelledError */
export async function* tarMembers(bytes: TarBytes): AsyncGenerator<Member, void> {
  const names = new EntryNames();
  /** Extended headers for all entries, and for the next one. */
  const shared: Partial<TarHeader> = {};
  let next: Partial<TarHeader> = {};
  let total = 0;
  let extended = 0;
  for (;;) {
    const block = await bytes.block();
    if (isEmptyBlock(block)) break;
    const header = readHeader(block);
    if (/^[xgLK]$/.test(header.type)) {
      // A name and what it points to, or one of each kind, for every entry.
      if (++extended > 2 * MAX_ENTRIES) throw new BrokenArchiveError('too-many-entries');
      const one = await readExtended(header, bytes);
      if (header.type === 'g') Object.assign(shared, one);
      else next = { ...next, ...one };
      continue;
    }
    const { type, name, sizeBytes } = { ...header, ...shared, ...next };
    next = {};
    if (type === '1' || type === '2') throw new BrokenArchiveError('link', name);
    if (/^[346]$/.test(type)) throw new BrokenArchiveError('device', name);
    if (type !== '0' && type !== '5') throw new BrokenArchiveError('method', name);
    // Old writers mark a folder by its name alone.
    const isFolder = type === '5' || name.endsWith('/');
    const safe = names.add(name, isFolder);
    if (isFolder && sizeBytes > 0) throw new BrokenArchiveError('tar-header', name);
    total += sizeBytes;
    if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
    let left = sizeBytes;
    const open = async function* () {
      for await (const piece of bytes.exactly(left)) {
        // Before it is passed on: the reader may leave.
        left -= piece.length;
        yield piece;
      }
    };
    if (!isFolder) yield { name: safe, sizeBytes, open };
    await bytes.skip(left + paddingOf(sizeBytes));
  }
  // Two empty blocks end it, and only zeros may follow.
  if (!isEmptyBlock(await bytes.block())) throw new BrokenArchiveError('data-after-end');
  for await (const piece of bytes.rest())
    if (!piece.equals(Buffer.alloc(piece.length))) throw new BrokenArchiveError('data-after-end');
}

/** Contents take up complete blocks. */
function paddingOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES - sizeBytes;
}

async function readExtended({ type, sizeBytes }: TarHeader, bytes: TarBytes): Promise<Partial<TarHeader>> {
  if (sizeBytes > MAX_EXTENDED_BYTES) throw new BrokenArchiveError('header-too-large');
  const pieces: Buffer[] = [];
  for await (const piece of bytes.exactly(sizeBytes)) pieces.push(Buffer.from(piece));
  await bytes.skip(paddingOf(sizeBytes));
  const content = Buffer.concat(pieces);
  // The long name of a link: the link itself follows, and is refused.
  if (type === 'K') return {};
  if (type === 'L') return { name: textIn(content) };
  const records = readPax(content);
  // The size in the header of such a file is not that of its content.
  for (const key of records.keys()) if (key.startsWith('GNU.sparse.')) throw new BrokenArchiveError('method');
  const name = records.get('path');
  const size = records.get('size');
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) throw new BrokenArchiveError('tar-header');
  return { ...(name !== undefined && { name }), ...(size !== undefined && { sizeBytes: Number(size) }) };
}

/** Whether these bytes begin as a tar archive does: with a header whose checksum is right. */
export function beginsAsTar(bytes: Buffer): boolean {
  return bytes.length >= BLOCK_BYTES && !isEmptyBlock(bytes) && hasChecksum(bytes.subarray(0, BLOCK_BYTES));
}

function isEmptyBlock(block: Buffer): boolean {
  return block.subarray(0, BLOCK_BYTES).every((byte) => byte === 0);
}

function readHeader(block: Buffer): TarHeader {
  if (!hasChecksum(block)) throw new BrokenArchiveError('tar-header');
  // The prefix is only there in ustar; GNU has other things in its place.
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

/** Up to a NUL; as Latin-1 where it is not UTF-8. */
function textIn(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  const used = end === -1 ? bytes : bytes.subarray(0, end);
  return used.toString(isUtf8(used) ? 'utf8' : 'latin1');
}

/** The records of an extended header (pax). */
function readPax(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const digits = space === -1 ? '' : bytes.toString('latin1', at, Math.min(space, at + 9));
    const end = at + Number(digits);
    const equals = bytes.indexOf(0x3d, space);
    const isRecord =
      /^[1-9][0-9]*$/.test(digits) &&
      end <= bytes.length &&
      equals !== -1 &&
      equals < end &&
      bytes[end - 1] === 0x0a;
    if (!isRecord) throw new BrokenArchiveError('tar-header');
    const value = bytes.subarray(equals + 1, end - 1);
    records.set(bytes.toString('utf8', space + 1, equals), value.toString(isUtf8(value) ? 'utf8' : 'latin1'));
    at = end;
  }
  return records;
}

/** Some old writers add signed bytes. */
function hasChecksum(block: Buffer): boolean {
  let unsigned = 0;
  let signed = 0;
  for (const [at, byte] of block.entries()) {
    const counted = at >= 148 && at < 156 ? 0x20 : byte;
    unsigned += counted;
    signed += counted < 128 ? counted : counted - 256;
  }
  const digits = block
    .toString('latin1', 148, 156)
    .replace(/(?<![\0 ])[\0 ]+$/, '')
    .trimStart();
  if (!/^[0-7]+$/.test(digits)) return false;
  const sum = parseInt(digits, 8);
  return sum === unsigned || sum === signed;
}

/** Octal digits, or what does not fit into them with base 256 (GNU). */
function numberIn(field: Buffer): number {
  if (field[0] === 0x80) {
    const wide = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
    if (Number.isSafeInteger(wide)) return wide;
    throw new BrokenArchiveError('tar-header');
  }
  const digits = field
    .toString('latin1')
    .replace(/^ +/, '')
    .replace(/[\0 ].*$/s, '');
  if (!/^[0-7]*$/.test(digits)) throw new BrokenArchiveError('tar-header');
  return digits === '' ? 0 : parseInt(digits, 8);
}
