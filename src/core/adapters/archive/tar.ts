import type { Member } from './archive.ts';
import { EntryNames } from './entryNames.ts';
import { BrokenArchiveError } from '../faults.ts';
import { MAX_ENTRIES, MAX_EXTENDED_BYTES, MAX_TOTAL_BYTES } from '../limits.ts';
import { BLOCK_BYTES, isEmptyBlock, readPax, readTarHeader, text, type TarHeader } from './tarHeader.ts';
import type { TarBytes } from './tarBytes.ts';

/** Extended headers that belong to the next entry. */
interface Extended {
  name?: string;
  sizeBytes?: number;
}

/** The files of a tar archive, in their order. @throws BrokenArchiveError, CancelledError */
export async function* tarMembers(bytes: TarBytes): AsyncGenerator<Member, void> {
  const names = new EntryNames();
  const shared: Extended = {};
  let next: Extended = {};
  let total = 0;
  let extended = 0;
  for (;;) {
    const block = await bytes.block();
    if (isEmptyBlock(block)) break;
    const header = readTarHeader(block);
    if (isExtended(header)) {
      // A name and what it points to, or one of each kind, for every entry.
      if (++extended > 2 * MAX_ENTRIES) throw new BrokenArchiveError('too-many-entries');
      const one = await readExtended(header, bytes);
      if (header.type === 'g') Object.assign(shared, one);
      else next = { ...next, ...one };
      continue;
    }
    const { name, sizeBytes } = { ...header, ...shared, ...next };
    next = {};
    if (header.type === '1' || header.type === '2') throw new BrokenArchiveError('link', name);
    if (/^[346]$/.test(header.type)) throw new BrokenArchiveError('device', name);
    if (header.type !== '0' && header.type !== '5') throw new BrokenArchiveError('method', name);
    // Old writers tell a folder by its name alone.
    const isFolder = header.type === '5' || name.endsWith('/');
    const safe = names.add(name, isFolder);
    if (isFolder && sizeBytes > 0) throw new BrokenArchiveError('tar-header', name);
    total += sizeBytes;
    if (total > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
    const body = bytes.body(sizeBytes);
    if (!isFolder) yield { name: safe, sizeBytes, open: () => body.open() };
    await body.skip();
  }
  await checkEnd(bytes);
}

function isExtended({ type }: TarHeader): boolean {
  return /^[xgLK]$/.test(type);
}

async function readExtended({ type, sizeBytes }: TarHeader, bytes: TarBytes): Promise<Extended> {
  if (sizeBytes > MAX_EXTENDED_BYTES) throw new BrokenArchiveError('header-too-large');
  const pieces: Buffer[] = [];
  const body = bytes.body(sizeBytes);
  for await (const piece of body.open()) pieces.push(Buffer.from(piece));
  await body.skip();
  const content = Buffer.concat(pieces);
  // The long name of a link: the link itself follows, and is refused.
  if (type === 'K') return {};
  if (type === 'L') return { name: text(content) };
  const records = readPax(content);
  // The size in the header of such a file is not that of its content.
  for (const key of records.keys()) if (key.startsWith('GNU.sparse.')) throw new BrokenArchiveError('method');
  const path = records.get('path');
  const size = records.get('size');
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) throw new BrokenArchiveError('tar-header');
  return {
    ...(path === undefined ? {} : { name: path }),
    ...(size === undefined ? {} : { sizeBytes: Number(size) }),
  };
}

/** Two empty blocks end it, and nothing but zeros may follow. */
async function checkEnd(bytes: TarBytes): Promise<void> {
  if (!isEmptyBlock(await bytes.block())) throw new BrokenArchiveError('data-after-end');
  for await (const piece of bytes.rest())
    if (!piece.equals(Buffer.alloc(piece.length))) throw new BrokenArchiveError('data-after-end');
}

/** Of how many bytes the content of a file takes up, in whole blocks. */
export function paddedBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}
