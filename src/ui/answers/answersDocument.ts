import { stat } from 'node:fs/promises';
import { openAnswers, type ComparedAnswers } from '../../core/answers/answersFile.ts';
import { expectedRows, holdOutBeside } from '../../core/answers/filesBeside.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import { isSameStamp, stampOf } from '../../core/base/fileStamp.ts';
import type { DatasetProblem } from '../../core/datasets/fileKind.ts';
import type { Log } from '../shared/log.ts';
import { watchFile } from '../shared/webview.ts';

/** One version of the file. */
export interface ShownAnswers extends ComparedAnswers {
  /** The hold-out beside the file. */
  holdOut: string | undefined;
  /** How many rows a file that is being written will have, if that is known. */
  expectedRows: number | undefined;
}

/** Owns one file of answers. Follows it on disk; the former version stays until a new one is compared. */
export class AnswersDocument implements Disposable {
  readonly #path: string;
  readonly #worker: string;
  readonly #log: Pick<Log, 'error'>;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<void>());
  readonly #stop = new AbortController();
  #isLoading = false;
  #shown: ShownAnswers | undefined;
  #problem: DatasetProblem | 'failed' | undefined;

  /** Fires when anything that the page shows has changed. */
  readonly onDidChange = this.#changed.event;

  /** @param worker the script of the thread */
  constructor(path: string, worker: string, log: Pick<Log, 'error'>) {
    this.#path = path;
    this.#worker = worker;
    this.#log = log;
    this.#store.add(watchFile(path, () => this.compareWithDisk()));
    void this.#load();
  }

  get shown(): ShownAnswers | undefined {
    return this.#shown;
  }

  /** Why the file isn't shown. */
  get problem(): DatasetProblem | 'failed' | undefined {
    return this.#problem;
  }

  /** Reads the file again if the disk has another version than the shown one. Never rejects. */
  async compareWithDisk(): Promise<void> {
    const found = await stat(this.#path, { bigint: true }).catch(() => undefined);
    const stamp = this.#shown?.file.stamp;
    const isShown =
      found === undefined
        ? this.#problem === 'missing'
        : stamp !== undefined && isSameStamp(stampOf(found), stamp);
    if (!isShown) await this.#load();
  }

  dispose(): void {
    this.#stop.abort();
    this.#store.dispose();
  }

  async #load(): Promise<void> {
    // A read in progress ends with this comparison.
    if (this.#isLoading) return;
    this.#isLoading = true;
    const opened = await this.#open().catch((error: unknown) => {
      if (!this.#store.disposed) this.#log.error('answers-not-compared', error);
      return 'failed' as const;
    });
    this.#isLoading = false;
    if (this.#store.disposed) return;
    // What failed once, such as a thread without memory, takes no rows and votes away.
    if (opened === 'failed') this.#problem = opened;
    else
      [this.#shown, this.#problem] = typeof opened === 'string' ? [undefined, opened] : [opened, undefined];
    this.#changed.fire();
    // The file may have changed meanwhile.
    if (opened !== 'failed' && this.#shown !== undefined) await this.compareWithDisk();
  }

  async #open(): Promise<ShownAnswers | DatasetProblem> {
    const opened = await openAnswers(this.#path, this.#worker, this.#stop.signal);
    if (typeof opened === 'string') return opened;
    const holdOut = await holdOutBeside(this.#path);
    const isCounted = opened.file.isBeingWritten && holdOut !== undefined;
    return { ...opened, holdOut, expectedRows: isCounted ? await expectedRows(holdOut) : undefined };
  }
}
