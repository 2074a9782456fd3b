import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { l10n } from 'vscode';
import {
  compareScores,
  openAnswers,
  type Comparison,
  type ScoredAnswers,
} from '../../core/answers/answersFile.ts';
import { expectedRows, holdOutBeside } from '../../core/answers/filesBeside.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import { isSameStamp, stampOf } from '../../core/base/fileStamp.ts';
import type { DatasetProblem } from '../../core/datasets/fileKind.ts';
import type { FoundRows } from '../../core/datasets/fingerprints.ts';
import { CheckError } from '../../core/datasets/report.ts';
import type { Log } from '../shared/log.ts';
import { watchFile } from '../shared/webview.ts';
import { fileData, fileNameOf, trainedData, type ComparedData, type SubmittedData } from './trainedData.ts';

/** How far the prompts are compared with data that may have been trained. `unknown`: there is none. */
export type Leak =
  | { kind: 'comparing' }
  | { kind: 'unknown' }
  | { kind: 'failed'; name: string }
  | { kind: 'compared'; data: ComparedData; found: FoundRows };

/** One version of the file. */
export interface ShownAnswers extends ScoredAnswers {
  /** Undefined if there is nothing to compare. */
  leak: Leak | undefined;
  /** Indexes of the rows whose prompts are in the data. */
  trained: ReadonlySet<number>;
  /** Of the other rows. */
  comparison: Comparison;
  /** The name of the run that the rows name. */
  run: string | undefined;
  /** The hold-out beside the file. */
  holdOut: string | undefined;
  /** How many rows a file that is being written will have, if that is known. */
  expectedRows: number | undefined;
}

/** What a document needs of the window. */
export interface AnswersDocumentParts {
  /** The comparison that is packed with the extension: its data is known to be other data. */
  sample: string;
  submitted: SubmittedData;
  log: Pick<Log, 'error'>;
}

/** After this time without another version, the prompts of a later version are compared. */
const QUIET_MS = 1_000;

type LeakFields = Pick<ShownAnswers, 'leak' | 'trained' | 'comparison' | 'run'>;

/** Owns one file of answers. Follows it on disk; the former version stays until a new one is read. */
export class AnswersDocument implements Disposable {
  readonly #path: string;
  readonly #parts: AnswersDocumentParts;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<void>());
  readonly #stop = new AbortController();
  #isLoading = false;
  #shown: ShownAnswers | undefined;
  #problem: DatasetProblem | 'failed' | undefined;
  /** Stops the comparison with data. */
  #stopComparing = new AbortController();
  /** The dataset that the user chose. */
  #dataset: string | undefined;

  /** Fires when anything that the page shows has changed. */
  readonly onDidChange = this.#changed.event;

  constructor(file: string, parts: AnswersDocumentParts) {
    this.#path = file;
    this.#parts = parts;
    this.#store.add(watchFile(file, () => this.compareWithDisk()));
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

  /** Compares with a dataset that the user chose, and from now on with no other one. Never rejects. */
  async compareWith(dataset: string): Promise<void> {
    this.#dataset = dataset;
    await this.#compare();
  }

  dispose(): void {
    this.#stop.abort();
    this.#stopComparing.abort();
    this.#store.dispose();
  }

  async #load(): Promise<void> {
    // A read in progress ends with this comparison.
    if (this.#isLoading) return;
    this.#isLoading = true;
    const opened = await this.#open().catch((error: unknown) => {
      if (!this.#store.disposed) this.#parts.log.error('answers-not-compared', error);
      return 'failed' as const;
    });
    this.#isLoading = false;
    if (this.#store.disposed) return;
    const before = this.#shown;
    // What failed once, such as a thread without memory, takes no rows away.
    if (opened === 'failed') this.#problem = opened;
    else if (typeof opened === 'string') [this.#shown, this.#problem] = [undefined, opened];
    else {
      // A file that was only saved again has the same rows, which are or were compared.
      const same = before?.file.sha256 === opened.file.sha256 ? before : undefined;
      const { leak, trained, comparison, run } = same ?? this.#fieldsOf(opened);
      [this.#shown, this.#problem] = [{ ...opened, leak, trained, comparison, run }, undefined];
    }
    this.#changed.fire();
    if (this.#shown?.file.sha256 !== before?.file.sha256)
      void this.#compare(before === undefined ? 0 : QUIET_MS);
    // The file may have changed meanwhile.
    if (opened !== 'failed' && this.#shown !== undefined) await this.compareWithDisk();
  }

  async #open(): Promise<Omit<ShownAnswers, keyof LeakFields> | DatasetProblem> {
    const opened = await openAnswers(this.#path, this.#stop.signal);
    if (typeof opened === 'string') return opened;
    const holdOut = await holdOutBeside(this.#path);
    const isCounted = opened.file.isBeingWritten && holdOut !== undefined;
    return { ...opened, holdOut, expectedRows: isCounted ? await expectedRows(holdOut) : undefined };
  }

  /** @param leak undefined before the comparison */
  #fieldsOf({ file, scores }: ScoredAnswers, leak?: Leak, run?: string): LeakFields {
    const found = leak?.kind === 'compared' ? leak.found.isFound : [];
    const trained = new Set(found.flatMap((isFound, index) => (isFound ? [index] : [])));
    const hasData = file.rows.length > 0 && this.#path !== this.#parts.sample;
    const first = hasData ? ({ kind: 'comparing' } as const) : undefined;
    return { leak: leak ?? first, trained, comparison: compareScores(scores, trained), run };
  }

  /**
   * Looks for the data that was trained and compares the prompts with it. Stops an earlier comparison. Never rejects.
   * @param afterMs a program may write many versions a second
   */
  async #compare(afterMs = 0): Promise<void> {
    this.#stopComparing.abort();
    const shown = this.#shown;
    if (this.#store.disposed || shown?.leak === undefined) return;
    const { signal } = (this.#stopComparing = new AbortController());
    const show = (leak: Leak, run?: string): void => {
      if (signal.aborted || this.#shown === undefined) return;
      this.#shown = { ...this.#shown, ...this.#fieldsOf(shown, leak, run) };
      this.#changed.fire();
    };
    if (shown.leak.kind !== 'comparing') show({ kind: 'comparing' }, shown.run);
    let name = this.#dataset && fileNameOf(this.#dataset);
    let { run } = shown;
    try {
      await delay(afterMs, undefined, { signal });
      const { submitted } = this.#parts;
      const known = await trainedData(submitted, { ...shown.file.stamp, path: this.#path }, shown.file.runs);
      run = known.run;
      const data = this.#dataset === undefined ? known.compared : await fileData(this.#dataset);
      if (data === undefined && name !== undefined) throw new CheckError('missing');
      name = data?.name;
      const found = data && (await submitted.fingerprints.find(shown.file.chat, data.data, signal));
      show(data && found ? { kind: 'compared', data, found } : { kind: 'unknown' }, run);
    } catch (error) {
      if (signal.aborted) return;
      this.#parts.log.error('prompts-not-compared', error);
      show({ kind: 'failed', name: name ?? l10n.t('the training data') }, run);
    }
  }
}
