import { stat } from 'node:fs/promises';
import { AnswersError, type AnswersFailure, type AnswersFile } from '../../core/answers/answersFile.ts';
import { compareScores, type Comparison } from '../../core/answers/comparison.ts';
import { expectedRows, holdOutBeside } from '../../core/answers/filesBeside.ts';
import { openAnswers } from '../../core/answers/openAnswers.ts';
import type { RowScores } from '../../core/answers/scores.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import { isSameStamp, stampOf } from '../../core/base/fileStamp.ts';
import type { Log } from '../shared/log.ts';
import { watchFile } from '../shared/webview.ts';

/** Work that ends sooner is not shown, and the page keeps what it shows. */
const LATE_MS = 1_000;

/** One version of the file. */
export interface ShownAnswers {
  file: AnswersFile;
  /** Undefined until the rows are compared. */
  compared: { scores: readonly RowScores[]; comparison: Comparison } | undefined;
  /** The hold-out beside the file. */
  holdOut: string | undefined;
  /** How many rows a file that is being written will have, if that is known. */
  expectedRows: number | undefined;
}

/** Owns one file of answers: reads and compares it, and follows it on disk. */
export class AnswersDocument implements Disposable {
  readonly #path: string;
  readonly #worker: string;
  readonly #log: Pick<Log, 'error'>;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<void>());
  #stop = new AbortController();
  /** While the file is read or compared; shown after a while. */
  #work: { isLate: boolean; fraction: number | undefined } | undefined;
  #shown: ShownAnswers | undefined;
  #problem: AnswersFailure | 'cancelled' | 'failed' | undefined;

  /** Fires when anything that the page shows has changed. */
  readonly onDidChange = this.#changed.event;

  /** @param worker the script of the thread */
  constructor(path: string, worker: string, log: Pick<Log, 'error'>) {
    this.#path = path;
    this.#worker = worker;
    this.#log = log;
    this.#store.add(watchFile(path, () => this.compareWithDisk()));
    void this.load();
  }

  get shown(): ShownAnswers | undefined {
    return this.#shown;
  }

  /** Why the file isn't shown, or not compared. */
  get problem(): AnswersFailure | 'cancelled' | 'failed' | undefined {
    return this.#problem;
  }

  /** Undefined unless reading and comparing take long. The fraction is unknown while the file is read. */
  get progress(): { fraction: number | undefined } | undefined {
    return this.#work?.isLate === true ? { fraction: this.#work.fraction } : undefined;
  }

  /** Reads the file as it is now. Never rejects. */
  async load(): Promise<void> {
    this.#stop.abort();
    const { signal } = (this.#stop = new AbortController());
    const work = { isLate: false, fraction: undefined as number | undefined };
    const hadProblem = this.#problem !== undefined;
    [this.#work, this.#problem] = [work, undefined];
    if (hadProblem) this.#changed.fire();
    let read: AnswersFile | undefined;
    const isOver = () => signal.aborted || this.#store.disposed;
    // Not over what was compared meanwhile.
    const isDone = () => isOver() || this.#work !== work;
    const late = setTimeout(() => {
      work.isLate = true;
      void this.#show(read, undefined, isDone);
    }, LATE_MS);
    try {
      const scores = await openAnswers(this.#path, {
        worker: this.#worker,
        signal,
        onRead: (file) => {
          read = file;
          if (work.isLate) void this.#show(file, undefined, isDone);
        },
        onProgress: (fraction) => {
          work.fraction = fraction;
          if (work.isLate && !isOver()) this.#changed.fire();
        },
      });
      clearTimeout(late);
      if (isOver()) return;
      this.#work = undefined;
      await this.#show(read, { scores, comparison: compareScores(scores) }, isOver);
      // What changed meanwhile.
      await this.compareWithDisk();
    } catch (error) {
      if (isOver()) return;
      if (!(error instanceof AnswersError)) this.#log.error('answers-not-compared', error);
      this.#fail(error instanceof AnswersError ? error.code : 'failed');
    } finally {
      clearTimeout(late);
    }
  }

  cancel(): void {
    if (this.#work === undefined) return;
    this.#stop.abort();
    this.#fail('cancelled');
  }

  /** Reads the file again if it isn't what is shown. Never rejects. */
  async compareWithDisk(): Promise<void> {
    // What is being read is compared at its end.
    const { signal } = this.#stop;
    if (this.#work !== undefined || this.#problem === 'cancelled') return;
    const found = await stat(this.#path, { bigint: true }).catch(() => undefined);
    const stamp = this.#shown?.file.stamp;
    const isShown =
      found === undefined
        ? this.#problem === 'missing'
        : stamp !== undefined && isSameStamp(stampOf(found), stamp);
    // Otherwise it is being read meanwhile.
    if (!isShown && signal === this.#stop.signal && !this.#store.disposed) await this.load();
  }

  dispose(): void {
    this.#stop.abort();
    this.#store.dispose();
  }

  async #show(
    file: AnswersFile | undefined,
    compared: ShownAnswers['compared'],
    isOver: () => boolean,
  ): Promise<void> {
    const holdOut = await holdOutBeside(this.#path);
    const expected = file?.isBeingWritten === true && holdOut ? await expectedRows(holdOut) : undefined;
    if (isOver()) return;
    // Before the file is read, the page keeps what it shows.
    if (file !== undefined) this.#shown = { file, compared, holdOut, expectedRows: expected };
    this.#changed.fire();
  }

  #fail(problem: NonNullable<AnswersDocument['problem']>): void {
    [this.#work, this.#problem] = [undefined, problem];
    // What can't be read any longer isn't shown; without scores, the rows are.
    if (problem !== 'cancelled' && problem !== 'failed') this.#shown = undefined;
    this.#changed.fire();
  }
}
