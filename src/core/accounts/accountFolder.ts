import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Lease } from '../storage/lease.ts';

/** Where what belongs to one account stands; all windows of the machine share it. None of it need exist. */
export interface AccountFolder {
  readonly path: string;
  /** The lock file of who watches the account's runs: for `Lease` alone. */
  readonly watchLock: string;
  /** What the watcher last saw. */
  readonly list: string;
  /** An empty file whose change asks the watcher to look now. */
  readonly look: string;
  /** A folder: details of runs that are final. */
  readonly details: string;
  /** A folder: an empty file for each thing that was told. */
  readonly told: string;
  /** What was downloaded and what is being. */
  readonly downloads: string;
}

/** @param runsFolder the folder of all accounts, in the extension's storage */
export function accountFolder(runsFolder: string, accountId: string): AccountFolder {
  const folder = path.join(runsFolder, nameOf(accountId));
  const inside = (name: string) => path.join(folder, name);
  return {
    path: folder,
    watchLock: inside('watch.lock'),
    list: inside('list.json'),
    look: inside('look'),
    details: inside('details'),
    told: inside('told'),
    downloads: inside('downloads.json'),
  };
}

/**
 * Removes the folders of accounts that are gone for good; one in which anything is still owned (`.lock`) stays until another time.
 * @param readKeptIds reads anew of which accounts folders are kept; undefined where that cannot be told: then nothing is removed
 */
export async function removeForsakenFolders(
  runsFolder: string,
  readKeptIds: () => Promise<Iterable<string> | undefined>,
): Promise<void> {
  const names = await namesIn(runsFolder);
  if (names.length === 0) return;
  // Read after the folders, which are made after their accounts: what is not among them now was signed out of.
  const keptIds = await readKeptIds();
  if (keptIds === undefined) return;
  const kept = new Set([...keptIds].map(nameOf));
  for (const name of names) if (!kept.has(name)) await removeUnowned(path.join(runsFolder, name));
}

async function removeUnowned(folder: string): Promise<void> {
  const leases: Lease[] = [];
  const release = () => leases.forEach((lease) => lease.release());
  try {
    const names = await readdir(folder, { recursive: true });
    // The watch's own, also where it does not stand yet: nobody begins to watch meanwhile.
    for (const name of new Set(['watch.lock', ...names.filter((one) => one.endsWith('.lock'))])) {
      const lease = await Lease.take(path.join(folder, name));
      if (lease === undefined) return;
      leases.push(lease);
    }
    // Windows removes no open file.
    if (process.platform === 'win32') release();
    await rm(folder, { recursive: true, force: true });
  } catch {
    // Something in it is open, or the folder cannot be locked: it stays until another time.
  } finally {
    release();
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Ids are UUIDs, but stand in a file that a person may edit: whatever it says, the folder lies in the one of all accounts. */
function nameOf(accountId: string): string {
  return /^[0-9a-z-]{1,64}$/.test(accountId) ? accountId : `_${Buffer.from(accountId).toString('hex')}`;
}
