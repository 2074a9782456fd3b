import { statSync, watch, type FSWatcher } from 'node:fs';
import type { Disposable } from '../base/disposable.ts';
import { counted } from '../base/rareCases.ts';

/** Changes within this time are reported as one. */
const TOGETHER_MS = 50;

/**
 * Reports changes of the files in a folder whose names have an ending, if the system can. Doesn't keep the process
 * alive.
 */
export class FolderWatch implements Disposable {
  readonly #folder: string;
  readonly #ending: string;
  readonly #onChange: () => Promise<void>;
  #watcher: FSWatcher | undefined;
  #watched: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  /** @param onChange rejections are ignored; the next change calls it again */
  constructor(folder: string, ending: string, onChange: () => Promise<void>) {
    this.#folder = folder;
    this.#ending = ending;
    this.#onChange = onChange;
    this.renew();
  }

  /** Watches the folder that is at the path now. A watcher stays with the folder it was created for. */
  renew(): void {
    if (this.#isDisposed) return;
    try {
      const now = statSync(this.#folder).ino;
      if (now === this.#watched) return;
      this.#watcher?.close();
      const watcher = watch(this.#folder, { persistent: false }, (_event, name) => {
        if (name === null || name.endsWith(this.#ending)) this.#changed();
      });
      // A deleted folder ends the watch, but must not crash the extension host.
      watcher.on('error', () => {
        watcher.close();
        this.#watched = undefined;
      });
      this.#watcher = watcher;
      this.#watched = now;
    } catch (error) {
      // The folder doesn't exist, or the system has no file watchers left.
      counted('no-watcher', (error as NodeJS.ErrnoException).code !== 'ENOENT');
      this.#watched = undefined;
    }
  }

  dispose(): void {
    this.#isDisposed = true;
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
