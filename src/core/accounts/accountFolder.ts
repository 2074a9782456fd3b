import path from 'node:path';

/**
 * Where the lock files of one account are; all windows of the machine share them. It need not exist. IDs are UUIDs, but come
 * from a file that the user may edit: whatever it says, the folder is inside the one of all accounts.
 * @param runsFolder the folder of all accounts, in the extension's storage
 */
export function accountFolder(runsFolder: string, accountId: string): string {
  const isPlain = /^[0-9a-z-]{1,64}$/.test(accountId);
  return path.join(runsFolder, isPlain ? accountId : `_${Buffer.from(accountId).toString('hex')}`);
}

/** The lock file of who watches an account's runs: for `Lease` alone. */
export function watchLockOf(runsFolder: string, accountId: string): string {
  return path.join(accountFolder(runsFolder, accountId), 'watch.lock');
}
