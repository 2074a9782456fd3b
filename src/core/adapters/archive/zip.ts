import { crc32 } from 'node:zlib';
import type { Archive, Member } from './archive.ts';
import { Breath } from '../../base/breath.ts';
import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';
import { inflated } from './inflated.ts';
import { extraField, hasDescriptor, readZipDirectory, safeNumber, type ZipEntry } from './zipDirectory.ts';

const SIGNATURE = 0x04034b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const FIXED_BYTES = 30;
/** Flags that must be the same in both headers: encryption and the encoding of the name. */
const COMPARED_FLAGS = 0b0000_1000_0000_1001;

/** Where an entry's data stands. */
interface Placed {
  entry: ZipEntry;
  from: number;
  to: number;
  /** Local header's extra field of ZIP64. */
  isWide: boolean;
}

/**
 * Opens a ZIP archive: its central directory is read, each local header compared to it, and no two entries share bytes.
 * @throws BrokenArchiveError, CancelledError
 */
export async function openZip(file: FileBytes, signal?: AbortSignal): Promise<Archive & { check: Check }> {
  const directory = await readZipDirectory(file);
  const placed = await placeAll(file, directory.entries, directory.at, signal);
  return {
    container: 'zip',
    sizeBytes: file.sizeBytes,
    close: () => file.close(),
    // eslint-disable-next-line @typescript-eslint/require-await -- other archives have to wait
    members: async function* () {
      for (const one of placed) yield memberOf(file, one);
    },
    check: async (onBytes) => {
      for (const one of placed) {
        for await (const piece of memberOf(file, one).open()) onBytes?.(piece.length);
        if (hasDescriptor(one.entry)) await checkDescriptor(file, one, directory.at);
      }
    },
  };
}

/** Reads every entry to its end. @throws BrokenArchiveError */
export type Check = (onBytes?: (bytes: number) => void) => Promise<void>;

function memberOf(file: FileBytes, { entry, from, to }: Placed): Member {
  return {
    name: entry.name,
    sizeBytes: entry.sizeBytes,
    open: async function* () {
      let crc = 0;
      let left = entry.sizeBytes;
      const packed = file.chunks(from, to);
      for await (const piece of entry.isDeflated ? inflated(packed, entry.packedBytes, entry.name) : packed) {
        if (piece.length > left) throw new BrokenArchiveError('zip-length', entry.name);
        left -= piece.length;
        crc = crc32(piece, crc);
        yield piece;
      }
      if (left !== 0) throw new BrokenArchiveError('zip-length', entry.name);
      if (crc !== entry.crc) throw new BrokenArchiveError('zip-crc', entry.name);
    },
  };
}

async function placeAll(
  file: FileBytes,
  entries: readonly ZipEntry[],
  directoryAt: number,
  signal: AbortSignal | undefined,
): Promise<Placed[]> {
  const breath = new Breath(signal);
  const placed: Placed[] = [];
  for (const entry of entries) {
    placed.push(await place(file, entry));
    if (breath.isDue) await breath.take();
  }
  // Bytes that several entries share make a bomb of a small file.
  let end = 0;
  for (const { entry, to } of placed.toSorted((a, b) => a.entry.at - b.entry.at)) {
    if (entry.at < end) throw new BrokenArchiveError('overlap', entry.name);
    end = to;
  }
  if (end > directoryAt) throw new BrokenArchiveError('overlap');
  return placed;
}

async function place(file: FileBytes, entry: ZipEntry): Promise<Placed> {
  const fixed = await file.read(entry.at, FIXED_BYTES);
  if (fixed.readUInt32LE(0) !== SIGNATURE) throw new BrokenArchiveError('zip-local-header', entry.name);
  const nameBytes = fixed.readUInt16LE(26);
  const extraBytes = fixed.readUInt16LE(28);
  const rest = await file.read(entry.at + FIXED_BYTES, nameBytes + extraBytes);
  const wide = extraField(rest.subarray(nameBytes), 1);
  const isSame =
    rest.subarray(0, nameBytes).equals(entry.rawName) &&
    ((fixed.readUInt16LE(6) ^ entry.flags) & COMPARED_FLAGS) === 0 &&
    fixed.readUInt16LE(8) === (entry.isDeflated ? 8 : 0) &&
    (hasDescriptor(entry) || hasSizes(entry, fixed, wide));
  if (!isSame) throw new BrokenArchiveError('zip-disagreement', entry.name);
  const from = entry.at + FIXED_BYTES + rest.length;
  return { entry, from, to: from + entry.packedBytes, isWide: wide !== undefined };
}

function hasSizes(
  { crc, sizeBytes, packedBytes }: ZipEntry,
  fixed: Buffer,
  wide: Buffer | undefined,
): boolean {
  let at = 0;
  const [size, packed] = [22, 18].map((field) => {
    const value = fixed.readUInt32LE(field);
    if (value !== 0xffffffff || wide === undefined || wide.length < at + 8) return value;
    at += 8;
    return safeNumber(wide.readBigUInt64LE(at - 8));
  });
  return fixed.readUInt32LE(14) === crc && size === sizeBytes && packed === packedBytes;
}

/** What stands behind the data: with or without its signature, the sizes narrow or wide. */
async function checkDescriptor(file: FileBytes, { entry, to }: Placed, directoryAt: number): Promise<void> {
  const bytes = await file.read(to, Math.min(24, directoryAt - to));
  const forms = [4, 8].flatMap((width) => {
    const form = Buffer.alloc(4 + 2 * width);
    form.writeUInt32LE(entry.crc, 0);
    form.writeUIntLE(entry.packedBytes % 2 ** 32, 4, 4);
    form.writeUIntLE(entry.sizeBytes % 2 ** 32, 4 + width, 4);
    if (width === 8) {
      form.writeUInt32LE(Math.floor(entry.packedBytes / 2 ** 32), 8);
      form.writeUInt32LE(Math.floor(entry.sizeBytes / 2 ** 32), 16);
    }
    const signature = Buffer.alloc(4);
    signature.writeUInt32LE(DESCRIPTOR_SIGNATURE, 0);
    return [form, Buffer.concat([signature, form])];
  });
  if (!forms.some((form) => bytes.subarray(0, form.length).equals(form)))
    throw new BrokenArchiveError('zip-disagreement', entry.name);
}
