import { access, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Which charges were shown but couldn’t be written: an empty file each, for which a full disk has
 * room. Never rejects.
 * @param folder that of the leases
 */
export function unwrittenCharges(folder: string) {
  const fileOf = (id: string) => path.join(folder, `${id}.shown`);
  return {
    add: (id: string) => writeFile(fileOf(id), '').catch(() => undefined),
    has: (id: string) =>
      access(fileOf(id)).then(
        () => true,
        () => false,
      ),
    remove: (id: string) => rm(fileOf(id), { force: true }).catch(() => undefined),
  };
}
