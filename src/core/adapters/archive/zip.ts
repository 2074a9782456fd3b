import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import {
  fromRandomAccessReaderPromise,
  parseExtraFields,
  RandomAccessReader,
  type Entry,
  type LocalFileHeader,
  type ZipFile,
} from 'yauzl';
import { isSystemError } from '../../base/diskError.ts';
import { CancelledError } from '../../base/errors.ts';
import { BrokenArchiveError } from '../problems.ts';
import {
  inflated,
  MAX_RATIO,
  MAX_TOTAL_BYTES,
  RATIO_FROM_BYTES,
  type FileBytes,
  type Member,
} from './bytes.ts';
import { EntryNames, MAX_ENTRIES } from './entryNames.ts';

/** Limit of a central directory. */
const MAX_DIRECTORY_BYTES = 32 * 2 ** 20;
const END = { signature: Buffer.from('PK\x05\x06'), bytes: 22, maxCommentBytes: 0xffff } as const;
/** The ZIP64 end record without extensions, followed by its locator. */
const WIDE_END = { signature: 0x06064b50, locator: 0x07064b50, locatorAt: 56, bytes: 76 } as const;
const DIRECTORY_SIGNATURE = Buffer.from('PK\x01\x02');
const DESCRIPTOR_SIGNATURE = Buffer.from('PK\x07\x08');
/** Marks a size that is stored in a ZIP64 extra field. */
const ALL_ONES = 0xffffffff;
const STORED = 0;
const DEFLATED = 8;
/** The maximum of deflate: a run of 258 bytes in two bits. */
const MAX_DEFLATE_RATIO = 1032;
const FLAGS = { encrypted: 1, descriptor: 8, strong: 64, utf8: 2048, masked: 8192 } as const;
const COMPARED_FLAGS = FLAGS.encrypted | FLAGS.descriptor | FLAGS.utf8;
const UNIX_SYSTEMS: readonly number[] = [3, 19];
const FILE_TYPE = 0o170000;
const TYPES = { none: 0, file: 0o100000, folder: 0o040000 } as const;

/** A file of a ZIP archive whose central directory and local header agree. */
interface ZipEntry {
  /** A safe path, with `/`. */
  name: string;
  entry: Entry;
  /** Where its data starts, and where the next record starts. */
  from: number;
  to: number;
}

/**
 * Yields the files of a ZIP archive. yauzl reads its headers. Before the first file, checks that the headers are
 * unambiguous, that names, kinds, and sizes are safe, and that no two entries share bytes.
 * @throws BrokenArchiveError, CancelledError
 */
export async function* zipMembers(file: FileBytes): AsyncGenerator<Member, void> {
  for (const entry of await readEntries(file)) yield memberOf(file, entry);
}

/**
 * Finds the archive in a file as Python and unzip do, by the last end record. Its offsets may count from the
 * archive's own first byte.
 * @param isFirst whether the file begins with an archive; some readers would take that one
 * @returns undefined if there is none, or if some readers would read another
 */
export async function findZip(
  file: FileBytes,
  isFirst: boolean,
): Promise<{ bytes: FileBytes; hasExtraBytes: boolean } | undefined> {
  const tail = await readTail(file);
  const at = tail.length < END.bytes ? -1 : tail.lastIndexOf(END.signature, tail.length - END.bytes);
  if (at === -1) return undefined;
  const endAt = file.sizeBytes - tail.length + at;
  const end = endAt + END.bytes + tail.readUInt16LE(at + 20);
  if (end > file.sizeBytes || (end < file.sizeBytes && endsOf(tail).length > 0)) return undefined;
  const wide = endAt < WIDE_END.bytes ? undefined : await file.read(endAt - WIDE_END.bytes, WIDE_END.bytes);
  const isWide =
    wide?.readUInt32LE() === WIDE_END.signature && wide.readUInt32LE(WIDE_END.locatorAt) === WIDE_END.locator;
  const directoryEnd = isWide ? endAt - WIDE_END.bytes : endAt;
  const directoryBytes = isWide ? Number(wide.readBigUInt64LE(40)) : tail.readUInt32LE(at + 12);
  const directoryAt = directoryEnd - directoryBytes;
  const from = directoryAt - (isWide ? Number(wide.readBigUInt64LE(48)) : tail.readUInt32LE(at + 16));
  if (isFirst ? from !== 0 : from < 0 || directoryBytes < DIRECTORY_SIGNATURE.length) return undefined;
  const start = await file.read(directoryAt, DIRECTORY_SIGNATURE.length);
  if (!isFirst && !start.equals(DIRECTORY_SIGNATURE)) return undefined;
  return { bytes: file.part(from, end), hasExtraBytes: !isFirst || end < file.sizeBytes };
}

/** Reads the part of the file that may contain the end record. */
async function readTail(file: FileBytes): Promise<Buffer> {
  const length = Math.min(file.sizeBytes, END.bytes + END.maxCommentBytes);
  return await file.read(file.sizeBytes - length, length);
}

/** Returns the positions of end records that extend to the end of the file. */
function endsOf(tail: Buffer): number[] {
  const ends: number[] = [];
  for (let from = tail.indexOf(END.signature); from !== -1; from = tail.indexOf(END.signature, from + 1)) {
    const isWhole = from + END.bytes <= tail.length;
    if (isWhole && from + END.bytes + tail.readUInt16LE(from + 20) === tail.length) ends.push(from);
  }
  return ends;
}

/** Lets yauzl read the file; reading beyond its end fails. */
class Reader extends RandomAccessReader {
  readonly #file: FileBytes;

  constructor(file: FileBytes) {
    super();
    this.#file = file;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#file.read(position, length).then((bytes) => {
      bytes.copy(buffer, offset);
      callback(null);
    }, callback);
  }
}

async function readEntries(file: FileBytes): Promise<readonly ZipEntry[]> {
  const options = { decodeStrings: false, validateEntrySizes: false, autoClose: false };
  const zip = await fromRandomAccessReaderPromise(new Reader(file), file.sizeBytes, options).catch(asBroken);
  if (zip.entryCount > MAX_ENTRIES) throw new BrokenArchiveError('too-large');
  const directoryAt = cursorOf(zip);
  const found = await readDirectory(file, zip).catch(asBroken);
  await checkEnd(file, found.length, directoryAt, cursorOf(zip));
  const names = new EntryNames();
  const entries: ZipEntry[] = [];
  for (const entry of found) {
    const name = checkEntry(entry, names);
    if (name !== undefined) entries.push({ name, entry, ...(await dataRange(zip, entry).catch(asBroken)) });
  }
  checkBytes(entries, directoryAt, file.sizeBytes);
  return entries;
}

/** The cursor is a number, although yauzl declares another type. */
function cursorOf({ readEntryCursor }: ZipFile): number {
  return Number(readEntryCursor);
}

async function readDirectory(file: FileBytes, zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = [];
  const directoryAt = cursorOf(zip);
  let at = directoryAt;
  for await (const entry of zip.eachEntry()) {
    entries.push(entry);
    // yauzl does not expose the disk number.
    const disk = (await file.read(at + 34, 2)).readUInt16LE();
    if (disk !== 0 && disk !== 0xffff) throw new BrokenArchiveError('zip');
    at = cursorOf(zip);
    if (at - directoryAt > MAX_DIRECTORY_BYTES) throw new BrokenArchiveError('header-too-large');
  }
  return entries;
}

/** Converts yauzl's errors, which have a message but no code. */
function asBroken(error: unknown): never {
  if (isSystemError(error) || error instanceof CancelledError) throw error;
  // `truncated` may only mean that a header points beyond the end of the file.
  if (error instanceof BrokenArchiveError && error.code !== 'truncated') throw error;
  const text = error instanceof Error ? error.message : '';
  if (text.includes('encryption')) throw new BrokenArchiveError('encrypted');
  if (text.includes('signature not found')) throw new BrokenArchiveError('truncated');
  throw new BrokenArchiveError(text.includes('Invalid comment length') ? 'data-after-end' : 'zip');
}

/** @returns the entry's name, or undefined for a folder */
function checkEntry(entry: Entry, names: EntryNames): string | undefined {
  const { fileNameRaw: raw, generalPurposeBitFlag: flags, compressionMethod: method } = entry;
  const { uncompressedSize: sizeBytes, compressedSize: packedBytes } = entry;
  const text = raw.toString(isUtf8(raw) ? 'utf8' : 'latin1');
  const isFolder = text.endsWith('/');
  if ((flags & (FLAGS.encrypted | FLAGS.strong | FLAGS.masked)) !== 0)
    throw new BrokenArchiveError('encrypted', text);
  checkType(entry.versionMadeBy >>> 8, entry.externalFileAttributes >>> 16, text, isFolder);
  const name = names.add(text, isFolder);
  if (method !== STORED && method !== DEFLATED) throw new BrokenArchiveError('method', text);
  if (!Number.isSafeInteger(sizeBytes) || !Number.isSafeInteger(packedBytes) || (isFolder && sizeBytes > 0))
    throw new BrokenArchiveError('zip', text);
  if (method === STORED && packedBytes !== sizeBytes) throw new BrokenArchiveError('length', text);
  if (sizeBytes > (packedBytes + 1) * MAX_DEFLATE_RATIO) throw new BrokenArchiveError('bomb', text);
  return isFolder ? undefined : name;
}

/** Only modes written on Unix identify links and devices. */
function checkType(system: number, mode: number, name: string, isFolder: boolean): void {
  if (!UNIX_SYSTEMS.includes(system)) return;
  const type = mode & FILE_TYPE;
  if (type !== TYPES.none && type !== TYPES.file && type !== TYPES.folder)
    throw new BrokenArchiveError('link', name);
  if (type === TYPES.folder && !isFolder) throw new BrokenArchiveError('zip', name);
}

function hasDescriptor({ generalPurposeBitFlag: flags }: Entry): boolean {
  return (flags & FLAGS.descriptor) !== 0;
}

/** Checks that the local header agrees with the central directory, since some readers rely on it. */
async function dataRange(zip: ZipFile, entry: Entry): Promise<{ from: number; to: number }> {
  const local = await zip.readLocalFileHeaderPromise(entry);
  const [sizeBytes, packedBytes] = sizesOf(local);
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    ((local.generalPurposeBitFlag ^ entry.generalPurposeBitFlag) & COMPARED_FLAGS) === 0 &&
    local.compressionMethod === entry.compressionMethod;
  const hasSizes =
    local.crc32 === entry.crc32 &&
    sizeBytes === entry.uncompressedSize &&
    packedBytes === entry.compressedSize;
  // With a descriptor, the sizes come after the data.
  if (!isSame || (!hasSizes && !hasDescriptor(entry)))
    throw new BrokenArchiveError('zip', entry.fileNameRaw.toString());
  return { from: local.fileDataStart, to: local.fileDataStart + entry.compressedSize };
}

/** Returns size and packed size. Those that are all ones are in the ZIP64 extra field, in this order. */
function sizesOf({ uncompressedSize, compressedSize, extraField }: LocalFileHeader): number[] {
  const sizes = [uncompressedSize, compressedSize];
  if (!sizes.includes(ALL_ONES)) return sizes;
  const wide = parseExtraFields(extraField).find(({ id }) => id === 1)?.data ?? Buffer.alloc(0);
  let at = 0;
  return sizes.map((size) => {
    if (size !== ALL_ONES || at + 8 > wide.length) return size;
    at += 8;
    return Number(wide.readBigUInt64LE(at - 8));
  });
}

/**
 * Checks that the directory is unambiguous. Only one end record may extend to the end of the file. It
 * follows the directory directly, or a ZIP64 end record with the same values. Otherwise a reader without ZIP64 would
 * see another archive.
 */
async function checkEnd(file: FileBytes, count: number, at: number, end: number): Promise<void> {
  const tail = await readTail(file);
  const tailAt = file.sizeBytes - tail.length;
  const ends = endsOf(tail);
  const [endAt = 0] = ends;
  // Accepted even if the 32-bit fields suffice: PyTorch always writes ZIP64, and Info-ZIP does on a pipe.
  const isWide = tailAt + endAt === end + WIDE_END.bytes;
  const matches = (value: number, meant: number, ones: number) =>
    value === meant || (isWide && value === ones);
  const agrees =
    ends.length === 1 &&
    (isWide ? await hasWideEnd(file, count, at, end) : tailAt + endAt === end) &&
    [0, 0, count, count].every((meant, index) =>
      matches(tail.readUInt16LE(endAt + 4 + 2 * index), meant, 0xffff),
    ) &&
    [end - at, at].every((meant, index) =>
      matches(tail.readUInt32LE(endAt + 12 + 4 * index), meant, ALL_ONES),
    );
  if (!agrees) throw new BrokenArchiveError('zip');
}

async function hasWideEnd(file: FileBytes, count: number, at: number, end: number): Promise<boolean> {
  const meant = Buffer.alloc(WIDE_END.bytes);
  meant.writeUInt32LE(WIDE_END.signature);
  meant.writeUInt32LE(WIDE_END.locator, WIDE_END.locatorAt);
  const fields = { 4: WIDE_END.locatorAt - 12, 24: count, 32: count, 40: end - at, 48: at, 64: end };
  for (const [field, value] of Object.entries(fields)) meant.writeBigUInt64LE(BigInt(value), Number(field));
  // Ignore the versions and the number of disks.
  const bytes = (await file.read(end, WIDE_END.bytes)).fill(0, 12, 16).fill(0, 72);
  return bytes.equals(meant);
}

/** Rejects sizes beyond the limits, and entries that share bytes, as in a small bomb. */
function checkBytes(entries: readonly ZipEntry[], directoryAt: number, fileBytes: number): void {
  let end = 0;
  const atOf = ({ entry }: ZipEntry) => entry.relativeOffsetOfLocalHeader;
  for (const one of entries.toSorted((a, b) => atOf(a) - atOf(b))) {
    if (atOf(one) < end) throw new BrokenArchiveError('bomb', one.name);
    end = one.to;
  }
  if (end > directoryAt) throw new BrokenArchiveError('bomb');
  const total = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
  if (total > RATIO_FROM_BYTES && total > fileBytes * MAX_RATIO) throw new BrokenArchiveError('bomb');
}

function memberOf(file: FileBytes, { name, entry, from, to }: ZipEntry): Member {
  const { uncompressedSize: sizeBytes, compressedSize: packedBytes } = entry;
  return {
    name,
    sizeBytes,
    open: async function* () {
      let crc = 0;
      let left = sizeBytes;
      const packed = file.chunks(from, to);
      const isDeflated = entry.compressionMethod === DEFLATED;
      for await (const piece of isDeflated ? inflated(packed, packedBytes, name) : packed) {
        if (piece.length > left) throw new BrokenArchiveError('length', name);
        left -= piece.length;
        crc = crc32(piece, crc);
        yield piece;
      }
      if (left !== 0) throw new BrokenArchiveError('length', name);
      if (crc !== entry.crc32) throw new BrokenArchiveError('checksum', name);
      if (hasDescriptor(entry)) await checkDescriptor(file, entry, to);
    },
  };
}

/** Checks the data descriptor, with or without signature, with 32-bit or 64-bit sizes. */
async function checkDescriptor(file: FileBytes, entry: Entry, at: number): Promise<void> {
  const sizes = [entry.compressedSize, entry.uncompressedSize];
  const crc = Buffer.from(Uint32Array.of(entry.crc32).buffer);
  const narrow = Buffer.concat([crc, Buffer.from(Uint32Array.from(sizes).buffer)]);
  const wide = Buffer.concat([crc, Buffer.from(BigUint64Array.from(sizes.map(BigInt)).buffer)]);
  // Reading 24 bytes is safe: the directory, which is longer, follows.
  const bytes = await file.read(at, 24);
  const forms = [narrow, wide].flatMap((form) => [form, Buffer.concat([DESCRIPTOR_SIGNATURE, form])]);
  if (!forms.some((form) => bytes.subarray(0, form.length).equals(form)))
    throw new BrokenArchiveError('zip', entry.fileNameRaw.toString());
}
