import { isUtf8 } from 'node:buffer';
import { EntryNames } from './entryNames.ts';
import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';
import { MAX_DIRECTORY_BYTES, MAX_ENTRIES, MAX_RATIO, MAX_TOTAL_BYTES, RATIO_FROM_BYTES } from '../limits.ts';
import { findZipEnd } from './zipEnd.ts';

const SIGNATURE = 0x02014b50;
const FIXED_BYTES = 46;
const STORED = 0;
const DEFLATED = 8;
/** What deflate can do at most: a run of 258 bytes in two bits. */
const MAX_DEFLATE_RATIO = 1032;
const FLAGS = { encrypted: 1, descriptor: 8, strong: 64, utf8: 2048, masked: 8192 } as const;
const UNIX_SYSTEMS: readonly number[] = [3, 19];
const FILE_TYPE = 0o170000;
const TYPES = { none: 0, file: 0o100000, folder: 0o040000, link: 0o120000 } as const;

/** A file of a ZIP archive, as its central directory has it. */
export interface ZipEntry {
  /** Safe, with `/`. */
  name: string;
  /** As they stand, to be compared to those of the local header. */
  rawName: Buffer;
  isDeflated: boolean;
  flags: number;
  crc: number;
  packedBytes: number;
  sizeBytes: number;
  /** Where its local header begins. */
  at: number;
}

export interface ZipDirectory {
  entries: ZipEntry[];
  /** Where it begins: no entry reaches behind it. */
  at: number;
}

/** Whether sizes and CRC come after the data, so that the local header may lack them. */
export function hasDescriptor({ flags }: ZipEntry): boolean {
  return (flags & FLAGS.descriptor) !== 0;
}

/** Reads the central directory of a ZIP archive, folders left out. @throws BrokenArchiveError */
export async function readZipDirectory(file: FileBytes): Promise<ZipDirectory> {
  const { count, at, sizeBytes } = await findZipEnd(file);
  if (count > MAX_ENTRIES) throw new BrokenArchiveError('too-many-entries');
  if (sizeBytes > MAX_DIRECTORY_BYTES) throw new BrokenArchiveError('header-too-large');
  const directory = await file.read(at, sizeBytes);
  const names = new EntryNames();
  const entries: ZipEntry[] = [];
  let from = 0;
  for (let number = 0; number < count; number++) {
    const { entry, isFolder, length } = readEntry(directory.subarray(from), names);
    if (!isFolder) entries.push(entry);
    from += length;
  }
  if (from !== sizeBytes) throw new BrokenArchiveError('zip-directory');
  checkSizes(entries, file.sizeBytes);
  return { entries, at };
}

function readEntry(bytes: Buffer, names: EntryNames): { entry: ZipEntry; isFolder: boolean; length: number } {
  if (bytes.length < FIXED_BYTES || bytes.readUInt32LE(0) !== SIGNATURE)
    throw new BrokenArchiveError('zip-directory');
  const nameEnd = FIXED_BYTES + bytes.readUInt16LE(28);
  const extraEnd = nameEnd + bytes.readUInt16LE(30);
  const length = extraEnd + bytes.readUInt16LE(32);
  if (length > bytes.length) throw new BrokenArchiveError('zip-directory');
  const rawName = bytes.subarray(FIXED_BYTES, nameEnd);
  const text = rawName.toString(isUtf8(rawName) ? 'utf8' : 'latin1');
  const isFolder = text.endsWith('/');
  const flags = bytes.readUInt16LE(8);
  const method = bytes.readUInt16LE(10);
  if ((flags & (FLAGS.encrypted | FLAGS.strong | FLAGS.masked)) !== 0)
    throw new BrokenArchiveError('encrypted', text);
  checkType(bytes.readUInt8(5), bytes.readUInt32LE(38) >>> 16, text, isFolder);
  const name = names.add(text, isFolder);
  if (method !== STORED && method !== DEFLATED) throw new BrokenArchiveError('method', text);
  const sizes = wideSizes(bytes.subarray(nameEnd, extraEnd), {
    sizeBytes: bytes.readUInt32LE(24),
    packedBytes: bytes.readUInt32LE(20),
    at: bytes.readUInt32LE(42),
    disk: bytes.readUInt16LE(34),
  });
  const isDeflated = method === DEFLATED;
  if (!isDeflated && sizes.packedBytes !== sizes.sizeBytes) throw new BrokenArchiveError('zip-length', text);
  if (isFolder && sizes.sizeBytes > 0) throw new BrokenArchiveError('zip-directory', text);
  if (sizes.sizeBytes > (sizes.packedBytes + 1) * MAX_DEFLATE_RATIO)
    throw new BrokenArchiveError('ratio', text);
  return {
    entry: { name, rawName, isDeflated, flags, crc: bytes.readUInt32LE(16), ...sizes },
    isFolder,
    length,
  };
}

/** Links and devices can only be told by the mode that Unix leaves. */
function checkType(system: number, mode: number, name: string, isFolder: boolean): void {
  if (!UNIX_SYSTEMS.includes(system)) return;
  const type = mode & FILE_TYPE;
  if (type === TYPES.link) throw new BrokenArchiveError('link', name);
  if (type !== TYPES.none && type !== TYPES.file && type !== TYPES.folder)
    throw new BrokenArchiveError('device', name);
  if (type === TYPES.folder && !isFolder) throw new BrokenArchiveError('zip-directory', name);
}

interface Sizes {
  sizeBytes: number;
  packedBytes: number;
  at: number;
}

/** Fields that are all ones stand in the extra field of ZIP64, in this order. */
function wideSizes(extra: Buffer, { disk, ...narrow }: Sizes & { disk: number }): Sizes {
  const wide = extraField(extra, 1);
  let from = 0;
  const take = (value: number): number => {
    if (value !== 0xffffffff) return value;
    if (wide === undefined || wide.length < from + 8) throw new BrokenArchiveError('zip-directory');
    from += 8;
    return safeNumber(wide.readBigUInt64LE(from - 8));
  };
  const sizeBytes = take(narrow.sizeBytes);
  const packedBytes = take(narrow.packedBytes);
  const at = take(narrow.at);
  if (disk !== 0 && !(disk === 0xffff && wide?.length === from + 4 && wide.readUInt32LE(from) === 0))
    throw new BrokenArchiveError('zip-directory');
  return { sizeBytes, packedBytes, at };
}

/** The content of an extra field; undefined where there is none or the fields do not fit. */
export function extraField(extra: Buffer, id: number): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) return undefined;
    if (extra.readUInt16LE(at) === id) return extra.subarray(at + 4, end);
    at = end;
  }
  return undefined;
}

/** @throws BrokenArchiveError where no file can be so large */
export function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new BrokenArchiveError('zip-directory');
  return Number(value);
}

function checkSizes(entries: readonly ZipEntry[], packedBytes: number): void {
  const total = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
  if (total > RATIO_FROM_BYTES && total > packedBytes * MAX_RATIO) throw new BrokenArchiveError('ratio');
}
