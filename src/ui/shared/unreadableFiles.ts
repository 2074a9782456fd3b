import path from 'node:path';
import { inBackground, type Log } from './log.ts';
import type { UnreadableFile } from './notifyUnreadable.ts';

/** Files found within this time are reported as one. */
const TOGETHER_MS = 500;

/** Logs the extension's own files that could not be read, and reports those of one kind in one notification. */
export class UnreadableFiles {
  readonly #log: Pick<Log, 'warn' | 'error'>;
  readonly #found = new Map<UnreadableFile, string[]>();

  constructor(log: Pick<Log, 'warn' | 'error'>) {
    this.#log = log;
  }

  /** Returns the function that is called with the current path of each unreadable file of a kind. */
  of(what: UnreadableFile): (file: string) => void {
    return (file) => {
      this.#log.warn(`unreadable-${what}: ${path.basename(file)}`);
      const found = this.#found.get(what);
      if (found !== undefined) {
        found.push(file);
        return;
      }
      this.#found.set(what, [file]);
      setTimeout(() => inBackground(this.#log, this.#report(what)), TOGETHER_MS).unref();
    };
  }

  async #report(what: UnreadableFile): Promise<void> {
    const files = this.#found.get(what) ?? [];
    this.#found.delete(what);
    (await import('./notifyUnreadable.ts')).notifyUnreadable(what, files);
  }
}
