import path from 'node:path';
import { Lease } from '../storage/lease.ts';

/**
 * Says which process works on which record, so that no work is done twice. Leases are only hints: the versions of a
 * record decide which process may write it.
 */
export class Leases {
  readonly #folder: string;

  /** @param folder created if missing */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes the lease of a name. Undefined if a running process has it. @param tries as in `Lease.take` */
  take(name: string, tries?: number): Promise<Lease | undefined> {
    const file = this.#fileOf(name);
    return Lease.take(file, tries).catch(() => Lease.unlocked(file));
  }

  /**
   * Whether any running process, including this one, has the lease of a name. False without locks, when nobody
   * knows.
   */
  isTaken(name: string): Promise<boolean> {
    return Lease.isTaken(this.#fileOf(name)).catch(() => false);
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, `${name}.lock`);
  }
}
