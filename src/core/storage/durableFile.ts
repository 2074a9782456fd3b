import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from '../base/folders.ts';
import { renameOver } from '../base/renameOver.ts';

/** A temporary file older than this was left by a killed window. */
const TEMPORARY_MS = 60 * 60_000;

/**
 * Replaces a file so that after a crash it has either the old or the new text, never a part. Writes a
 * temporary file, syncs it, renames it, and syncs the folder. Creates the folder if it is missing.
 */
export async function writeFileDurably(file: string, text: string): Promise<void> {
  const directory = path.dirname(file);
  await makeDirectoryDurably(directory);
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeNewFile(temporary, text);
    await renameOver(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
}

/** Removes the temporary files that killed windows left in a folder. Never rejects. */
export async function removeTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith('.tmp')) continue;
    const file = path.join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > TEMPORARY_MS) await rm(file).catch(() => undefined);
  }
}

/**
 * Writes a new file and syncs its content, but not its folder.
 * @throws file system errors, EEXIST if the name is taken
 */
export function writeNewFile(file: string, text: string): Promise<void> {
  return writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true });
}

/** Creates a folder and its missing parents, so that a crash cannot lose them with their content. */
export async function makeDirectoryDurably(directory: string, mode = 0o777): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode });
  if (first === undefined) return;
  // Each name is stored in the parent folder, which this process may not be allowed to read.
  for (let made = path.resolve(directory); made.length >= first.length; made = path.dirname(made))
    await syncDirectory(path.dirname(made)).catch(() => undefined);
}
