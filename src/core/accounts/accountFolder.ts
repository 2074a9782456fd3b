import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Lease } from '../storage/lease.ts';
import type { StateStore } from '../storage/state.ts';

/** The lock file of who watches an account's runs: for `Lease` alone. */
const WATCH_LOCK = 'watch.lock';

/**
 * Where the lock files of one account are; all windows of the machine share them. It need not exist.
 * @param runsFolder the folder of all accounts, in the extension's storage
 */
export function accountFolder(runsFolder: string, accountId: string): string {
  return path.join(runsFolder, folderNameOf(accountId));
}

export function watchLockOf(runsFolder: string, accountId: string): string {
  return path.join(accountFolder(runsFolder, accountId), WATCH_LOCK);
}

/**
 * Removes what is stored of accounts that are gone for good. A folder in which anything is still owned (`.lock`) stays until
 * another time.
 * @param readKnownIds reads the accounts that are signed in or may come back; undefined where the list of accounts cannot be
 * read: then nothing is removed
 */
export async function removeOrphanedAccounts(
  runsFolder: string,
  state: StateStore,
  readKnownIds: () => Promise<Iterable<string> | undefined>,
): Promise<void> {
  const names = await namesIn(runsFolder);
  const storedIds = await state.accountIds().catch(() => []);
  if (names.length + storedIds.length === 0) return;
  // Read after these, which come after their accounts: what is not among them now is gone.
  const ids = await readKnownIds();
  if (ids === undefined) return;
  const knownIds = new Set(ids);
  const known = new Set([...knownIds].map(folderNameOf));
  for (const name of names) if (!known.has(name)) await removeUnowned(path.join(runsFolder, name));
  const orphaned = storedIds.filter((id) => !knownIds.has(id));
  if (orphaned.length > 0) await state.removeAccounts(orphaned).catch(() => undefined);
}

async function removeUnowned(folder: string): Promise<void> {
  const leases: Lease[] = [];
  const release = () => leases.forEach((lease) => lease.release());
  try {
    const names = await readdir(folder, { recursive: true });
    // The watch's own, also where it does not exist yet: nobody begins to watch meanwhile.
    for (const name of new Set([WATCH_LOCK, ...names.filter((one) => one.endsWith('.lock'))])) {
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

/** IDs are UUIDs, but come from a file that the user may edit: whatever it says, the folder is inside the one of all accounts. */
function folderNameOf(accountId: string): string {
  return /^[0-9a-z-]{1,64}$/.test(accountId) ? accountId : `_${Buffer.from(accountId).toString('hex')}`;
}
