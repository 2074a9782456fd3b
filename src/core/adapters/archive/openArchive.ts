import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { BrokenArchiveError, NotAnAdapterError } from '../problems.ts';
import { MAX_HEADER_BYTES, WEIGHTS_NAME } from '../safetensors.ts';
import { FileBytes, gunzipped, readThrough, type Archive, type Member } from './bytes.ts';
import { checkpointOf, CONFIG_NAME } from './contents.ts';
import { MAX_ENTRIES } from './entryNames.ts';
import { beginsAsTar, TAR_BLOCK_BYTES, TarBytes, tarMembers } from './tar.ts';
import { findZip, zipMembers } from './zip.ts';

/** Limits the search for checkpoints. */
const MAX_FOLDERS = 500;

/**
 * Opens an archive, a safetensors file, or a folder, detected by content.
 * @throws NotAnAdapterError, BrokenArchiveError, CancelledError, and errors of the file system
 */
export async function openArchive(file: string, signal?: AbortSignal): Promise<Archive> {
  if ((await stat(file)).isDirectory()) return await openFolder(file, signal);
  const bytes = await FileBytes.open(file, signal);
  try {
    return await openFile(
      bytes,
      await bytes.read(0, Math.min(bytes.sizeBytes, TAR_BLOCK_BYTES)),
      path.basename(file),
    );
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

async function openFile(bytes: FileBytes, first: Buffer, fileName: string): Promise<Archive> {
  const { sizeBytes } = bytes;
  const rest = { sizeBytes, close: () => bytes.close() };
  const begins = (...start: number[]) => start.every((byte, at) => first[at] === byte);
  if (first.length === 0) throw new NotAnAdapterError({ code: 'empty' });
  // The first local header, or the end record of an empty archive (ZIP or ZIP64).
  const isZip = begins(0x50, 0x4b, 3, 4) || begins(0x50, 0x4b, 5, 6) || begins(0x50, 0x4b, 6, 6);
  const openZip = async () => {
    const zip = await findZip(bytes, isZip);
    return zip && { ...rest, container: 'zip' as const, ...zip, members: () => zipMembers(zip.bytes) };
  };
  // If the directory isn't found, reading the members reports why.
  if (isZip) return (await openZip()) ?? { ...rest, container: 'zip', members: () => zipMembers(bytes) };
  if (begins(0x1f, 0x8b)) return { ...rest, container: 'tar.gz', members: () => gzipMembers(bytes) };
  if (beginsAsTar(first)) return { ...rest, container: 'tar', members: () => tarMembers(tarIn(bytes)) };
  if (first.length >= 10 && first[8] === 0x7b && first.readBigUInt64LE(0) <= BigInt(MAX_HEADER_BYTES)) {
    const name = /\.safetensors$/i.test(fileName) ? fileName : WEIGHTS_NAME;
    const members = () => [{ name, sizeBytes, open: () => bytes.all() }];
    return { ...rest, container: 'safetensors', members };
  }
  const isPickle = begins(0x80) && (first[1] ?? 0) >= 2 && (first[1] ?? 0) <= 5;
  if (isPickle) throw new NotAnAdapterError({ code: 'pickle-only' });
  const zip = await openZip();
  if (zip === undefined) throw new NotAnAdapterError({ code: 'not-an-archive' });
  return zip;
}

function tarIn(bytes: FileBytes): TarBytes {
  const from = (at: number) => bytes.chunks(at, bytes.sizeBytes);
  return new TarBytes(from(0), from);
}

/** @throws NotAnAdapterError if the gzip file is complete but contains no tar */
async function* gzipMembers(bytes: FileBytes): AsyncGenerator<Member, void> {
  const tar = new TarBytes(gunzipped(bytes.all()));
  try {
    const begin = await tar.peek();
    if (!beginsAsTar(begin)) {
      await readThrough(tar.rest());
      throw new NotAnAdapterError({ code: begin.length === 0 ? 'empty' : 'not-an-archive' });
    }
    yield* tarMembers(tar);
  } finally {
    await tar.close();
  }
}

/** Folders are the user's own, so links in them are followed (caches use links), but only to files. */
async function openFolder(folder: string, signal: AbortSignal | undefined): Promise<Archive> {
  const names = (await readdir(folder)).sort();
  if (names.length > MAX_ENTRIES) throw new BrokenArchiveError('too-large');
  const files: Member[] = [];
  for (const name of [...names, ...(await filesOfCheckpoints(folder, names))]) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile()) files.push({ name, sizeBytes: found.size, open: () => fileIn(file, signal) });
  }
  return {
    container: 'folder',
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    close: () => Promise.resolve(),
    members: () => files,
  };
}

/** Returns where adapters may be: in `checkpoint-500` or `my-run/checkpoint-500`, say. */
async function filesOfCheckpoints(folder: string, names: readonly string[]): Promise<string[]> {
  const isRun = (name: string) => !names.includes(CONFIG_NAME) && checkpointOf(name) === undefined;
  const inRuns = names
    .filter(isRun)
    .slice(0, MAX_FOLDERS)
    .map(async (name) => {
      const inside = await readdir(path.join(folder, name)).catch(() => []);
      return inside.map((one) => `${name}/${one}`);
    });
  const files = [CONFIG_NAME, WEIGHTS_NAME, 'adapters.safetensors'];
  return [...names, ...(await Promise.all(inRuns)).flat()]
    .filter((name) => checkpointOf(name) !== undefined)
    .slice(0, MAX_FOLDERS)
    .flatMap((name) =>
      [...files, ...files.map((file) => `adapter_model/${file}`)].map((file) => `${name}/${file}`),
    );
}

async function* fileIn(file: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void> {
  const bytes = await FileBytes.open(file, signal);
  try {
    yield* bytes.all();
  } finally {
    await bytes.close();
  }
}
