import { access, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Which charges were shown but couldn’t be written: an empty file each, for which a full disk has
 * room. Never rejects.
 */
export class UnwrittenCharges {
  readonly #folder: string;

  /** @param folder that of the leases */
  constructor(folder: string) {
    this.#folder = folder;
  }

  add(id: string): Promise<void> {
    return writeFile(this.#fileOf(id), '').catch(() => undefined);
  }

  has(id: string): Promise<boolean> {
    return access(this.#fileOf(id)).then(
      () => true,
      () => false,
    );
  }

  remove(id: string): Promise<void> {
    return rm(this.#fileOf(id), { force: true }).catch(() => undefined);
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.shown`);
  }
}
