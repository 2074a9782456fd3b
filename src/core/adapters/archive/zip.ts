import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fromFdPromise, parseExtraFields, type Entry, type LocalFileHeader, type ZipFile } from 'yauzl';
import { LongTask } from '../../base/longTask.ts';
import { isSystemError } from '../../base/diskError.ts';
import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';
import { MAX_DIRECTORY_BYTES, MAX_ENTRIES, MAX_RATIO, MAX_TOTAL_BYTES, RATIO_FROM_BYTES } from '../limits.ts';
import { EntryNames } from './entryNames.ts';
import { inflated } from './inflate.ts';
import { readThrough, type Member } from './archive.ts';

const END = { signature: Buffer.from('PK\x05\x06'), bytes: 22, maxCommentBytes: 0xffff } as const;
const LOCATOR = { signature: 0x07064b50, bytes: 20 } as const;
const WIDE_END = { signature: 0x06064b50, bytes: 56 } as const;
const HEADER_BYTES = 46;
const DESCRIPTOR_SIGNATURE = Buffer.from('PK\x07\x08');
const STORED = 0;
const DEFLATED = 8;
/** What deflate can do at most: a run of 258 bytes in two bits. */
const MAX_DEFLATE_RATIO = 1032;
const FLAGS = { encrypted: 1, descriptor: 8, strong: 64, utf8: 2048, masked: 8192 } as const;
const COMPARED_FLAGS = FLAGS.encrypted | FLAGS.descriptor | FLAGS.utf8;
const UNIX_SYSTEMS: readonly number[] = [3, 19];
const FILE_TYPE = 0o170000;
const TYPES = { none: 0, file: 0o100000, folder: 0o040000, link: 0o120000 } as const;

/** The central directory ends right before its end record, which ends the file. */
interface Directory {
  count: number;
  at: number;
  sizeBytes: number;
}

/** A file of a ZIP archive, as its central directory has it and its local header agrees. */
interface ZipEntry {
  /** Safe, with `/`. */
  name: string;
  isDeflated: boolean;
  /** Sizes and CRC come after the data. */
  hasDescriptor: boolean;
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
export async function* zipMembers(file: FileBytes, signal?: AbortSignal): AsyncGenerator<Member, void> {
  const { entries } = await readEntries(file, signal);
  for (const entry of entries) yield memberOf(file, entry);
}

/** Reads every file of a ZIP archive to its end. @throws BrokenArchiveError, CancelledError */
export async function checkZip(file: FileBytes, signal: AbortSignal | undefined): Promise<void> {
  const { entries, directoryAt } = await readEntries(file, signal);
  for (const entry of entries) {
    await readThrough(memberOf(file, entry).open());
    if (entry.hasDescriptor) await checkDescriptor(file, entry, directoryAt);
  }
}

async function readEntries(
  file: FileBytes,
  signal: AbortSignal | undefined,
): Promise<{ entries: readonly ZipEntry[]; directoryAt: number }> {
  const directory = await findDirectory(file);
  if (directory.count > MAX_ENTRIES) throw new BrokenArchiveError('too-many-entries');
  if (directory.sizeBytes > MAX_DIRECTORY_BYTES) throw new BrokenArchiveError('header-too-large');
  const zip = await fromFdPromise(file.fd, { decodeStrings: false, validateEntrySizes: false }).catch(
    asBroken,
  );
  // Only for what yauzl leaves out.
  const bytes = await file.read(directory.at, directory.sizeBytes);
  const task = new LongTask(signal);
  const names = new EntryNames();
  const entries: ZipEntry[] = [];
  let at = 0;
  for await (const entry of entriesOf(zip)) {
    const length = HEADER_BYTES + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    const disk = at + length > bytes.length ? -1 : bytes.readUInt16LE(at + 34);
    if (disk !== 0 && disk !== 0xffff) throw new BrokenArchiveError('zip-directory');
    at += length;
    const checked = checkEntry(entry, names);
    if (checked !== undefined) entries.push({ ...checked, ...(await place(zip, entry)) });
    if (task.isDue) await task.yieldToEventLoop();
  }
  if (at !== directory.sizeBytes) throw new BrokenArchiveError('zip-directory');
  checkBytes(entries, directory.at, file.sizeBytes);
  return { entries, directoryAt: directory.at };
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
  throw new BrokenArchiveError(isEncrypted ? 'encrypted' : 'zip-directory');
}

/** Undefined for a folder. */
function checkEntry(entry: Entry, names: EntryNames): Omit<ZipEntry, 'at' | 'from' | 'to'> | undefined {
  const { fileNameRaw: raw, generalPurposeBitFlag: flags, compressionMethod: method } = entry;
  const { uncompressedSize: sizeBytes, compressedSize: packedBytes, crc32: crc } = entry;
  const text = raw.toString(isUtf8(raw) ? 'utf8' : 'latin1');
  const isFolder = text.endsWith('/');
  if ((flags & (FLAGS.encrypted | FLAGS.strong | FLAGS.masked)) !== 0)
    throw new BrokenArchiveError('encrypted', text);
  checkType(entry.versionMadeBy >>> 8, entry.externalFileAttributes >>> 16, text, isFolder);
  const name = names.add(text, isFolder);
  if (method !== STORED && method !== DEFLATED) throw new BrokenArchiveError('method', text);
  if (!Number.isSafeInteger(sizeBytes) || !Number.isSafeInteger(packedBytes))
    throw new BrokenArchiveError('zip-directory', text);
  if (method === STORED && packedBytes !== sizeBytes) throw new BrokenArchiveError('zip-length', text);
  if (isFolder && sizeBytes > 0) throw new BrokenArchiveError('zip-directory', text);
  if (sizeBytes > (packedBytes + 1) * MAX_DEFLATE_RATIO) throw new BrokenArchiveError('ratio', text);
  const hasDescriptor = (flags & FLAGS.descriptor) !== 0;
  return isFolder
    ? undefined
    : { name, isDeflated: method === DEFLATED, hasDescriptor, crc, packedBytes, sizeBytes };
}

/** Only the mode that Unix writes shows links and devices. */
function checkType(system: number, mode: number, name: string, isFolder: boolean): void {
  if (!UNIX_SYSTEMS.includes(system)) return;
  const type = mode & FILE_TYPE;
  if (type === TYPES.link) throw new BrokenArchiveError('link', name);
  if (type !== TYPES.none && type !== TYPES.file && type !== TYPES.folder)
    throw new BrokenArchiveError('device', name);
  if (type === TYPES.folder && !isFolder) throw new BrokenArchiveError('zip-directory', name);
}

/** The local header must agree with the central directory: other readers go by it. */
async function place(zip: ZipFile, entry: Entry): Promise<Pick<ZipEntry, 'at' | 'from' | 'to'>> {
  const name = entry.fileNameRaw.toString();
  const local = await zip.readLocalFileHeaderPromise(entry).catch((error: unknown) => {
    throw isSystemError(error) ? error : new BrokenArchiveError('zip-disagreement', name);
  });
  const hasDescriptor = (entry.generalPurposeBitFlag & FLAGS.descriptor) !== 0;
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    ((local.generalPurposeBitFlag ^ entry.generalPurposeBitFlag) & COMPARED_FLAGS) === 0 &&
    local.compressionMethod === entry.compressionMethod &&
    (hasDescriptor || hasSizes(local, entry));
  if (!isSame) throw new BrokenArchiveError('zip-disagreement', name);
  const from = local.fileDataStart;
  return { at: entry.relativeOffsetOfLocalHeader, from, to: from + entry.compressedSize };
}

/** Sizes that are all ones are in the extra field of ZIP64, in this order. */
function hasSizes(local: LocalFileHeader, { uncompressedSize, compressedSize, crc32: crc }: Entry): boolean {
  const wide: bigint[] = [];
  if (local.uncompressedSize === 0xffffffff || local.compressedSize === 0xffffffff) {
    const data = extraFieldsOf(local).find(({ id }) => id === 1)?.data ?? Buffer.alloc(0);
    for (let at = 0; at + 8 <= data.length; at += 8) wide.push(data.readBigUInt64LE(at));
  }
  const sizes = [local.uncompressedSize, local.compressedSize].map((size) =>
    size === 0xffffffff ? Number(wide.shift() ?? size) : size,
  );
  return local.crc32 === crc && sizes[0] === uncompressedSize && sizes[1] === compressedSize;
}

function extraFieldsOf({ extraField }: LocalFileHeader): { id: number; data: Buffer }[] {
  try {
    return parseExtraFields(extraField);
  } catch {
    return [];
  }
}

/** Bytes that several entries share make a bomb of a small file. */
function checkBytes(entries: readonly ZipEntry[], directoryAt: number, fileBytes: number): void {
  let end = 0;
  for (const { name, at, to } of entries.toSorted((a, b) => a.at - b.at)) {
    if (at < end) throw new BrokenArchiveError('overlap', name);
    end = to;
  }
  if (end > directoryAt) throw new BrokenArchiveError('overlap');
  const total = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
  if (total > RATIO_FROM_BYTES && total > fileBytes * MAX_RATIO) throw new BrokenArchiveError('ratio');
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
        if (piece.length > left) throw new BrokenArchiveError('zip-length', name);
        left -= piece.length;
        crc = crc32(piece, crc);
        yield piece;
      }
      if (left !== 0) throw new BrokenArchiveError('zip-length', name);
      if (crc !== entry.crc) throw new BrokenArchiveError('zip-crc', name);
    },
  };
}

/** What follows the data: with or without its signature, the sizes narrow or wide. */
async function checkDescriptor(file: FileBytes, entry: ZipEntry, directoryAt: number): Promise<void> {
  const { name, crc, packedBytes, sizeBytes, to } = entry;
  const narrow = Buffer.alloc(12);
  narrow.writeUInt32LE(crc);
  narrow.writeUInt32LE(packedBytes % 2 ** 32, 4);
  narrow.writeUInt32LE(sizeBytes % 2 ** 32, 8);
  const wide = Buffer.alloc(20);
  wide.writeUInt32LE(crc);
  wide.writeBigUInt64LE(BigInt(packedBytes), 4);
  wide.writeBigUInt64LE(BigInt(sizeBytes), 12);
  const bytes = await file.read(to, Math.min(24, directoryAt - to));
  const forms = [narrow, wide].flatMap((form) => [form, Buffer.concat([DESCRIPTOR_SIGNATURE, form])]);
  if (!forms.some((form) => bytes.subarray(0, form.length).equals(form)))
    throw new BrokenArchiveError('zip-disagreement', name);
}

/**
 * Finds the central directory, of which no second reading may exist: one end record that reaches to the end of the file,
 * that of ZIP64 in agreement with it, and the directory right before them.
 */
async function findDirectory(file: FileBytes): Promise<Directory> {
  const tailBytes = Math.min(file.sizeBytes, END.bytes + END.maxCommentBytes);
  const tailAt = file.sizeBytes - tailBytes;
  const tail = await file.read(tailAt, tailBytes);
  const found = findEnd(tail);
  const endAt = tailAt + found;
  const narrow = [4, 6, 8, 10].map((field) => tail.readUInt16LE(found + field));
  const [, , , count = 0] = narrow;
  const [sizeBytes, at] = [tail.readUInt32LE(found + 12), tail.readUInt32LE(found + 16)];
  // Also where the narrow fields fit: PyTorch always writes it, and Info-ZIP does on a pipe.
  const wide = await readWideEnd(file, endAt);
  const directory = wide?.directory ?? { count, sizeBytes, at };
  const isSame = (field: number | undefined, value: number, ones: number) =>
    field === value || (wide !== undefined && field === ones);
  const agrees =
    [0, 0, directory.count, directory.count].every((value, index) => isSame(narrow[index], value, 0xffff)) &&
    isSame(sizeBytes, directory.sizeBytes, 0xffffffff) &&
    isSame(at, directory.at, 0xffffffff);
  // Otherwise a reader that knows no ZIP64 would see another archive.
  if (!agrees) throw new BrokenArchiveError(wide === undefined ? 'zip-directory' : 'zip-disagreement');
  if (directory.at + directory.sizeBytes !== (wide?.at ?? endAt))
    throw new BrokenArchiveError('zip-directory');
  return directory;
}

function findEnd(tail: Buffer): number {
  const found: number[] = [];
  let isCut = false;
  const last = tail.length - END.bytes;
  for (
    let at = tail.indexOf(END.signature);
    at !== -1 && at <= last;
    at = tail.indexOf(END.signature, at + 1)
  ) {
    const end = at + END.bytes + tail.readUInt16LE(at + 20);
    if (end === tail.length) found.push(at);
    else if (end < tail.length) isCut = true;
  }
  const [first] = found;
  if (first === undefined) throw new BrokenArchiveError(isCut ? 'data-after-end' : 'zip-no-end');
  // Two readers would see two archives.
  if (found.length > 1) throw new BrokenArchiveError('zip-disagreement');
  return first;
}

/** The end record of ZIP64; undefined where there is none, and the narrow values are meant even if they are all ones. */
async function readWideEnd(
  file: FileBytes,
  endAt: number,
): Promise<{ directory: Directory; at: number } | undefined> {
  if (endAt < LOCATOR.bytes + WIDE_END.bytes) return undefined;
  const locatorAt = endAt - LOCATOR.bytes;
  const locator = await file.read(locatorAt, LOCATOR.bytes);
  if (locator.readUInt32LE(0) !== LOCATOR.signature) return undefined;
  const at = Number(locator.readBigUInt64LE(8));
  if (at > locatorAt - WIDE_END.bytes) throw new BrokenArchiveError('zip-directory');
  const wide = await file.read(at, WIDE_END.bytes);
  const number = (field: number) => Number(wide.readBigUInt64LE(field));
  const isWhole = wide.readUInt32LE(0) === WIDE_END.signature && at + 12 + number(4) === locatorAt;
  const count = number(32);
  if (!isWhole || wide.readUInt32LE(16) !== 0 || wide.readUInt32LE(20) !== 0 || number(24) !== count)
    throw new BrokenArchiveError('zip-directory');
  return { directory: { count, sizeBytes: number(40), at: number(48) }, at };
}
