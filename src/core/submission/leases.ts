import path from 'node:path';
import { Lease } from '../storage/lease.ts';

/**
 * Shows which process works on which record, so that no work is done twice. They are only hints: which
 * process writes a record is decided by its versions, also without locks.
 */
export class Leases {
  readonly #folder: string;

  /** @param folder created if missing */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes the lease of a name. Undefined if another process has it. @param tries as in `Lease.take` */
  take(name: string, tries?: number): Promise<Lease | undefined> {
    const file = this.#fileOf(name);
    return Lease.take(file, tries).catch(() => Lease.unlocked(file));
  }

  /** Whether any running process, including this one, has the lease of a name. Without locks, that isn't known: false. */
  isTaken(name: string): Promise<boolean> {
    return Lease.isTaken(this.#fileOf(name)).catch(() => false);
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, `${name}.lock`);
  }
}
