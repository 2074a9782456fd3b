import path from 'node:path';
import { Lease } from '../storage/lease.ts';

/**
 * Shows which process works on which record, so that no work is done twice. They are only hints: which
 * process writes a record is decided by its versions, also without locks.
 */
export class Leases {
  readonly #folder: string;
  #hasLocks = true;

  /** @param folder created if missing */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether the folder's file system has locks; true until one was tried. */
  get hasLocks(): boolean {
    return this.#hasLocks;
  }

  /** Takes the lease of a name. Undefined if another process has it. @param tries as in `Lease.take` */
  take(name: string, tries?: number): Promise<Lease | undefined> {
    const file = this.#fileOf(name);
    return Lease.take(file, tries).catch(() => this.#without(Lease.unlocked(file)));
  }

  /** Whether any running process, including this one, has the lease of a name. Without locks, that isn't known: false. */
  isTaken(name: string): Promise<boolean> {
    return Lease.isTaken(this.#fileOf(name)).catch(() => this.#without(false));
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, `${name}.lock`);
  }

  #without<T>(instead: T): T {
    this.#hasLocks = false;
    return instead;
  }
}
