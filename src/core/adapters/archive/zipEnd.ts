import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';

const END = { signature: 0x06054b50, bytes: 22, maxCommentBytes: 0xffff } as const;
const LOCATOR = { signature: 0x07064b50, bytes: 20 } as const;
const WIDE_END = { signature: 0x06064b50, bytes: 56 } as const;

/** Where a ZIP's central directory stands. */
export interface ZipEnd {
  count: number;
  at: number;
  sizeBytes: number;
}

/** Reads the end of a ZIP archive, and that of ZIP64 where there is one. @throws BrokenArchiveError */
export async function findZipEnd(file: FileBytes): Promise<ZipEnd> {
  const tailBytes = Math.min(file.sizeBytes, END.bytes + END.maxCommentBytes);
  const tailAt = file.sizeBytes - tailBytes;
  const tail = await file.read(tailAt, tailBytes);
  const found = endIn(tail);
  const endAt = tailAt + found;
  const end = tail.subarray(found);
  const narrow = {
    disk: end.readUInt16LE(4),
    directoryDisk: end.readUInt16LE(6),
    diskCount: end.readUInt16LE(8),
    count: end.readUInt16LE(10),
    sizeBytes: end.readUInt32LE(12),
    at: end.readUInt32LE(16),
  };
  // Also where the narrow fields fit: PyTorch always writes it, and Info-ZIP does on a pipe.
  const wide = await wideEnd(file, endAt);
  if (wide !== undefined) {
    const { count, sizeBytes, at } = wide;
    const expected = { disk: 0, directoryDisk: 0, diskCount: count, count, sizeBytes, at };
    // Otherwise a reader that knows no ZIP64 would see another archive.
    const isSame = Object.entries(expected).every(([name, value]) => {
      const field = narrow[name as keyof typeof narrow];
      return field === value || field === (name === 'at' || name === 'sizeBytes' ? 0xffffffff : 0xffff);
    });
    if (!isSame) throw new BrokenArchiveError('zip-disagreement');
    return checked(wide, wide.endAt);
  }
  if (narrow.disk !== 0 || narrow.directoryDisk !== 0 || narrow.diskCount !== narrow.count)
    throw new BrokenArchiveError('zip-directory');
  return checked(narrow, endAt);
}

/** Where the end record begins. Its comment reaches to the end of the file, and in it is no second one that would too. */
function endIn(tail: Buffer): number {
  const found: number[] = [];
  let isCut = false;
  for (let at = tail.length - END.bytes; at >= 0; at--) {
    if (tail[at] !== 0x50 || tail.readUInt32LE(at) !== END.signature) continue;
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
async function wideEnd(file: FileBytes, endAt: number): Promise<(ZipEnd & { endAt: number }) | undefined> {
  if (endAt < LOCATOR.bytes + WIDE_END.bytes) return undefined;
  const locator = await file.read(endAt - LOCATOR.bytes, LOCATOR.bytes);
  if (locator.readUInt32LE(0) !== LOCATOR.signature) return undefined;
  const wideAt = Number(locator.readBigUInt64LE(8));
  if (wideAt > endAt - LOCATOR.bytes - WIDE_END.bytes) throw new BrokenArchiveError('zip-directory');
  const wide = await file.read(wideAt, WIDE_END.bytes);
  const length = Number(wide.readBigUInt64LE(4)) + 12;
  if (wide.readUInt32LE(0) !== WIDE_END.signature || wideAt + length !== endAt - LOCATOR.bytes)
    throw new BrokenArchiveError('zip-directory');
  const count = Number(wide.readBigUInt64LE(32));
  if (
    wide.readUInt32LE(16) !== 0 ||
    wide.readUInt32LE(20) !== 0 ||
    Number(wide.readBigUInt64LE(24)) !== count
  )
    throw new BrokenArchiveError('zip-directory');
  return {
    count,
    sizeBytes: Number(wide.readBigUInt64LE(40)),
    at: Number(wide.readBigUInt64LE(48)),
    endAt: wideAt,
  };
}

/** The directory stands right before its end, in an archive that begins where the file does. */
function checked({ count, at, sizeBytes }: ZipEnd, endAt: number): ZipEnd {
  if (at + sizeBytes !== endAt) throw new BrokenArchiveError('zip-directory');
  return { count, at, sizeBytes };
}
