import { statSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';

/** The empty file by whose time the windows of an account ask the one that watches to look now. */
export class LookMark {
  readonly #file: string;
  #seenMs: number;

  constructor(file: string) {
    this.#file = file;
    this.#seenMs = this.#timeMs();
  }

  /** Whether another window has asked since this was last called. */
  wasSet(): boolean {
    const timeMs = this.#timeMs();
    const isOther = timeMs !== this.#seenMs;
    this.#seenMs = timeMs;
    return isOther && timeMs > 0;
  }

  /** Asks. @throws the file system's error */
  async set(): Promise<void> {
    await writeFile(this.#file, '', { mode: 0o600 });
    // Of a file that was empty before, writing nothing need not change the time.
    const now = new Date();
    await utimes(this.#file, now, now);
  }

  #timeMs(): number {
    try {
      return statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    } catch {
      return 0;
    }
  }
}
