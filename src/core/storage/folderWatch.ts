import { statSync, watch, type FSWatcher } from 'node:fs';
import type { Disposable } from '../base/disposable.ts';

/** Changes within this time are reported once. */
const TOGETHER_MS = 50;

/** Follows the names of a folder that have an ending, as long as the system can. It does not keep the process alive. */
export class FolderWatch implements Disposable {
  readonly #folder: string;
  readonly #ending: string;
  readonly #onChange: () => Promise<void>;
  #watcher: FSWatcher | undefined;
  #watched: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  /** @param onChange its rejection is ignored: the next change calls it again */
  constructor(folder: string, ending: string, onChange: () => Promise<void>) {
    this.#folder = folder;
    this.#ending = ending;
    this.#onChange = onChange;
    this.renew();
  }

  /** Follows the folder that is at the path now: a watch stays with the one it was started on. */
  renew(): void {
    if (this.#disposed) return;
    try {
      const now = statSync(this.#folder).ino;
      if (now === this.#watched) return;
      this.#watcher?.close();
      const watcher = watch(this.#folder, { persistent: false }, (_event, name) => {
        if (name === null || name.endsWith(this.#ending)) this.#changed();
      });
      // A folder that vanishes ends the watching, not the extension host.
      watcher.on('error', () => {
        watcher.close();
        this.#watched = undefined;
      });
      this.#watcher = watcher;
      this.#watched = now;
    } catch {
      // There is no folder, or the system has no watch left to give.
      this.#watched = undefined;
    }
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onChange().catch(() => undefined);
    }, TOGETHER_MS).unref();
  }
}
