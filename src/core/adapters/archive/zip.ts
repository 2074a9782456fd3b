import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fromFdPromise, type Entry, type LocalFileHeader, type ZipFile } from 'yauzl';
import { isSystemError } from '../../base/diskError.ts';
import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';
import { MAX_ENTRIES, MAX_RATIO, MAX_TOTAL_BYTES, RATIO_FROM_BYTES } from '../limits.ts';
import { EntryNames } from './entryNames.ts';
import { inflated } from './inflate.ts';
import { readThrough, type Member } from './archive.ts';

const END = { signature: 0x06054b50, bytes: 22 } as const;
/** The end record of ZIP64, with its locator behind it. */
const WIDE_END = { signature: 0x06064b50, bytes: 76 } as const;
const STORED = 0;
const DEFLATED = 8;
/** What deflate can do at most: a run of 258 bytes in two bits. */
const MAX_DEFLATE_RATIO = 1032;
const FLAGS = { encrypted: 1, descriptor: 8, utf8: 2048 } as const;
const COMPARED_FLAGS = FLAGS.encrypted | FLAGS.descriptor | FLAGS.utf8;
const UNIX_SYSTEMS: readonly number[] = [3, 19];
const FILE_TYPE = 0o170000;
const TYPES = { none: 0, file: 0o100000, folder: 0o040000 } as const;

/** A file of a ZIP archive, as its central directory has it and its local header agrees. */
interface ZipEntry {
  /** Safe, with `/`. */
  name: string;
  isDeflated: boolean;
  crc: number;
  packedBytes: number;
  sizeBytes: number;
  /** Where its local header begins, its data, and what comes next. */
  at: number;
  from: number;
  to: number;
}

/**
 * The files of a ZIP archive. yauzl reads its headers; that there is one reading of them only, that names, kinds and sizes
 * are safe, and that no two entries share bytes, is checked here, before the first.
 * @throws BrokenArchiveError, CancelledError
 */
export async function* zipMembers(file: FileBytes): AsyncGenerator<Member, void> {
  for (const entry of await readEntries(file)) yield memberOf(file, entry);
}

/** Reads every file of a ZIP archive to its end. @throws BrokenArchiveError, CancelledError */
export async function checkZip(file: FileBytes): Promise<void> {
  for await (const member of zipMembers(file)) await readThrough(member.open());
}

async function readEntries(file: FileBytes): Promise<readonly ZipEntry[]> {
  const zip = await fromFdPromise(file.fd, { decodeStrings: false, validateEntrySizes: false }).catch(
    asBroken,
  );
  if (zip.entryCount > MAX_ENTRIES) throw new BrokenArchiveError('too-large');
  // A number, whatever its declared type says.
  const directoryAt = Number(zip.readEntryCursor);
  const names = new EntryNames();
  const entries: ZipEntry[] = [];
  for await (const entry of entriesOf(zip)) {
    const checked = checkEntry(entry, names);
    if (checked !== undefined) entries.push({ ...checked, ...(await place(zip, entry)) });
  }
  await checkEnd(file, zip.entryCount, directoryAt, Number(zip.readEntryCursor));
  checkBytes(entries, file.sizeBytes);
  return entries;
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry, void> {
  try {
    yield* zip.eachEntry();
  } catch (error) {
    asBroken(error);
  }
}

/** yauzl's errors have a text only. */
function asBroken(error: unknown): never {
  if (isSystemError(error)) throw error;
  const isEncrypted = error instanceof Error && error.message.includes('encryption');
  throw new BrokenArchiveError(isEncrypted ? 'encrypted' : 'zip');
}

/** Undefined for a folder. */
function checkEntry(entry: Entry, names: EntryNames): Omit<ZipEntry, 'at' | 'from' | 'to'> | undefined {
  const { fileNameRaw: raw, generalPurposeBitFlag: flags, compressionMethod: method } = entry;
  const { uncompressedSize: sizeBytes, compressedSize: packedBytes, crc32: crc } = entry;
  const text = raw.toString(isUtf8(raw) ? 'utf8' : 'latin1');
  const isFolder = text.endsWith('/');
  if ((flags & FLAGS.encrypted) !== 0) throw new BrokenArchiveError('encrypted', text);
  checkType(entry.versionMadeBy >>> 8, entry.externalFileAttributes >>> 16, text, isFolder);
  const name = names.add(text, isFolder);
  if (method !== STORED && method !== DEFLATED) throw new BrokenArchiveError('method', text);
  if (!Number.isSafeInteger(sizeBytes) || !Number.isSafeInteger(packedBytes) || (isFolder && sizeBytes > 0))
    throw new BrokenArchiveError('zip', text);
  if (method === STORED && packedBytes !== sizeBytes) throw new BrokenArchiveError('length', text);
  if (sizeBytes > (packedBytes + 1) * MAX_DEFLATE_RATIO) throw new BrokenArchiveError('bomb', text);
  return isFolder ? undefined : { name, isDeflated: method === DEFLATED, crc, packedBytes, sizeBytes };
}

/** Only the mode that Unix writes shows links and devices. */
function checkType(system: number, mode: number, name: string, isFolder: boolean): void {
  if (!UNIX_SYSTEMS.includes(system)) return;
  const type = mode & FILE_TYPE;
  if (type !== TYPES.none && type !== TYPES.file && type !== TYPES.folder)
    throw new BrokenArchiveError('link', name);
  if (type === TYPES.folder && !isFolder) throw new BrokenArchiveError('zip', name);
}

/** The local header must agree with the central directory: other readers go by it. */
async function place(zip: ZipFile, entry: Entry): Promise<Pick<ZipEntry, 'at' | 'from' | 'to'>> {
  const local = await zip.readLocalFileHeaderPromise(entry).catch(asBroken);
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    ((local.generalPurposeBitFlag ^ entry.generalPurposeBitFlag) & COMPARED_FLAGS) === 0 &&
    local.compressionMethod === entry.compressionMethod &&
    // With a descriptor, sizes and CRC come after the data.
    ((entry.generalPurposeBitFlag & FLAGS.descriptor) !== 0 || hasSizes(local, entry));
  if (!isSame) throw new BrokenArchiveError('zip', entry.fileNameRaw.toString());
  const from = local.fileDataStart;
  return { at: entry.relativeOffsetOfLocalHeader, from, to: from + entry.compressedSize };
}

/** Sizes that are all ones are in the extra field of ZIP64; with others the CRC would not be right. */
function hasSizes(local: LocalFileHeader, { uncompressedSize, compressedSize, crc32: crc }: Entry): boolean {
  const isMeant = (size: number, meant: number) => size === meant || size === 0xffffffff;
  return (
    local.crc32 === crc &&
    isMeant(local.uncompressedSize, uncompressedSize) &&
    isMeant(local.compressedSize, compressedSize)
  );
}

/**
 * Of the directory no second reading may exist: right behind it is the end record, or that of ZIP64 and then it, which reaches
 * to the end of the file, and both say the same. Otherwise a reader that knows no ZIP64 would see another archive.
 */
async function checkEnd(file: FileBytes, count: number, at: number, end: number): Promise<void> {
  const left = Math.max(0, file.sizeBytes - end);
  const tail = await file.read(end, Math.min(left, WIDE_END.bytes + END.bytes));
  const isWide = tail.length > WIDE_END.bytes && tail.readUInt32LE() === WIDE_END.signature;
  const record = tail.subarray(isWide ? WIDE_END.bytes : 0);
  if (record.length < END.bytes || record.readUInt32LE() !== END.signature)
    throw new BrokenArchiveError('zip');
  const wide = isWide ? [32, 40, 48, 64].map((field) => Number(tail.readBigUInt64LE(field))) : [];
  const isMeant = (value: number, meant: number, ones: number) =>
    value === meant || (isWide && value === ones);
  const agrees =
    wide.every((value, index) => value === [count, end - at, at, end][index]) &&
    isMeant(record.readUInt16LE(8), count, 0xffff) &&
    isMeant(record.readUInt16LE(10), count, 0xffff) &&
    isMeant(record.readUInt32LE(12), end - at, 0xffffffff) &&
    isMeant(record.readUInt32LE(16), at, 0xffffffff) &&
    record.readUInt16LE(20) === left - tail.length + record.length - END.bytes;
  if (!agrees) throw new BrokenArchiveError('zip');
}

/** Bytes that several entries share make a bomb of a small file. */
function checkBytes(entries: readonly ZipEntry[], fileBytes: number): void {
  let end = 0;
  for (const { name, at, to } of entries.toSorted((a, b) => a.at - b.at)) {
    if (at < end) throw new BrokenArchiveError('bomb', name);
    end = to;
  }
  const total = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
  if (total > RATIO_FROM_BYTES && total > fileBytes * MAX_RATIO) throw new BrokenArchiveError('bomb');
}

function memberOf(file: FileBytes, entry: ZipEntry): Member {
  const { name, sizeBytes, packedBytes, from, to } = entry;
  return {
    name,
    sizeBytes,
    open: async function* () {
      let crc = 0;
      let left = sizeBytes;
      const packed = file.chunks(from, to);
      for await (const piece of entry.isDeflated ? inflated(packed, packedBytes, name) : packed) {
        if (piece.length > left) throw new BrokenArchiveError('length', name);
        left -= piece.length;
        crc = crc32(piece, crc);
        yield piece;
      }
      if (left !== 0) throw new BrokenArchiveError('length', name);
      if (crc !== entry.crc) throw new BrokenArchiveError('checksum', name);
    },
  };
}
