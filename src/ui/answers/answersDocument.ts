import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { l10n } from 'vscode';
import { pairAnswers, type AnswerPairs } from '../../core/answers/answerPairs.ts';
import {
  compareScores,
  openAnswers,
  type AnswersFile,
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
import { compact } from '../shared/format.ts';
import type { Log } from '../shared/log.ts';
import { watchFile } from '../shared/webview.ts';
import { eitherData, fileData, fileNameOf, trainedData, type ComparedData } from './trainedData.ts';
import type { RunNames, SubmittedData } from './trainedData.ts';

/** State of comparing the prompts with data that may have been trained on. `unknown`: no data is known. */
export type Leak =
  | { kind: 'comparing' }
  | { kind: 'unknown' }
  | { kind: 'failed'; name: string }
  | { kind: 'compared'; data: ComparedData; found: FoundRows };

/** One version of the file, or of the rows that two files share. */
export interface ShownAnswers extends ScoredAnswers {
  /** The files as they were read. */
  files: readonly AnswersFile[];
  /** Undefined for one file. */
  pairs: AnswerPairs | undefined;
  /** Undefined if there is nothing to compare. */
  leak: Leak | undefined;
  /** Indexes of the rows whose prompts are in the data. */
  trained: ReadonlySet<number>;
  /** The comparison of the other rows. */
  comparison: Comparison;
  /** The run that the rows of each file name. */
  runs: readonly RunNames[];
  /** The hold-out beside the first file. */
  holdOut: string | undefined;
  /** How many rows a file that is being written will have, if that is known. */
  expectedRows: number | undefined;
}

/** What a document needs from the window. */
export interface AnswersDocumentParts {
  /** The packaged sample, which is compared with no data of the user. */
  sample: string;
  submitted: SubmittedData;
  log: Pick<Log, 'error'>;
}

/** The prompts of a later version are compared after this time without another version. */
const QUIET_MS = 1_000;

/** Why a file isn't shown. `failed`: it isn't known which file, and the former version stays. */
export interface AnswersProblem {
  kind: DatasetProblem | 'failed';
  path: string;
}

type LeakFields = Pick<ShownAnswers, 'leak' | 'trained' | 'comparison' | 'runs'>;

/** Owns one file of answers, or two of the same rows. Follows them on disk. A version stays until the next one is read. */
export class AnswersDocument implements Disposable {
  readonly #paths: readonly string[];
  readonly #parts: AnswersDocumentParts;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<void>());
  readonly #stop = new AbortController();
  #isLoading = false;
  #shown: ShownAnswers | undefined;
  #problem: AnswersProblem | undefined;
  /** Stops the comparison with data. */
  #stopComparing = new AbortController();
  /** The dataset that the user chose. */
  #dataset: string | undefined;

  /** Fires when anything that the page shows has changed. */
  readonly onDidChange = this.#changed.event;

  constructor(files: readonly string[], parts: AnswersDocumentParts) {
    this.#paths = files;
    this.#parts = parts;
    for (const file of files) this.#store.add(watchFile(file, () => this.compareWithDisk()));
    void this.#load();
  }

  get shown(): ShownAnswers | undefined {
    return this.#shown;
  }

  get problem(): AnswersProblem | undefined {
    return this.#problem;
  }

  /** Reads the files again if the disk has another version than the shown one. Never rejects. */
  async compareWithDisk(): Promise<void> {
    const found = await Promise.all(
      this.#paths.map((one) => stat(one, { bigint: true }).catch(() => undefined)),
    );
    const isShown = found.every((stats, index) => {
      const stamp = this.#shown?.files[index]?.stamp;
      return stats !== undefined && stamp !== undefined && isSameStamp(stampOf(stats), stamp);
    });
    const gone = this.#paths[found.indexOf(undefined)];
    const isSaid = gone !== undefined && this.#problem?.kind === 'missing' && this.#problem.path === gone;
    if (!isShown && !isSaid) await this.#load();
  }

  /** Compares with a dataset that the user chose, from now on only with that one. Never rejects. */
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
    // A load in progress ends with `compareWithDisk`.
    if (this.#isLoading) return;
    this.#isLoading = true;
    const opened = await this.#open().catch((error: unknown) => {
      if (!this.#store.disposed) this.#parts.log.error('answers-not-compared', error);
      return { kind: 'failed', path: '' } as const;
    });
    this.#isLoading = false;
    if (this.#store.disposed) return;
    const before = this.#shown;
    // After a failure, such as a thread without memory, the former rows stay.
    const hasFailed = 'kind' in opened && opened.kind === 'failed';
    if ('kind' in opened) [this.#shown, this.#problem] = [hasFailed ? before : undefined, opened];
    else {
      // A file that was saved unchanged keeps its comparison.
      const same = before?.file.sha256 === opened.file.sha256 ? before : undefined;
      [this.#shown, this.#problem] = [{ ...(same ?? this.#fieldsOf(opened)), ...opened }, undefined];
    }
    this.#changed.fire();
    if (this.#shown?.file.sha256 !== before?.file.sha256)
      void this.#compare(before === undefined ? 0 : QUIET_MS);
    // The file may have changed meanwhile.
    if (!hasFailed && this.#shown !== undefined) await this.compareWithDisk();
  }

  async #open(): Promise<Omit<ShownAnswers, keyof LeakFields> | AnswersProblem> {
    const opened: ScoredAnswers[] = [];
    for (const path of this.#paths) {
      const one = await openAnswers(path, this.#stop.signal);
      if (typeof one === 'string') return { kind: one, path };
      opened.push(one);
    }
    const [one, other] = opened as [ScoredAnswers, ScoredAnswers?];
    const shown = other === undefined ? { ...one, pairs: undefined } : pairAnswers(one, other);
    const holdOut = await holdOutBeside(this.#paths[0] ?? '');
    const isCounted = other === undefined && shown.file.isBeingWritten && holdOut !== undefined;
    const rows = isCounted ? await expectedRows(holdOut) : undefined;
    return { ...shown, files: opened.map(({ file }) => file), holdOut, expectedRows: rows };
  }

  /** @param leak undefined before the comparison */
  #fieldsOf({ file, scores }: ScoredAnswers, leak?: Leak, runs: LeakFields['runs'] = []): LeakFields {
    const found = leak?.kind === 'compared' ? leak.found.isFound : [];
    const trained = new Set(found.flatMap((isFound, index) => (isFound ? [index] : [])));
    const hasData = file.rows.length > 0 && !this.#paths.includes(this.#parts.sample);
    const first = hasData ? ({ kind: 'comparing' } as const) : undefined;
    return { leak: leak ?? first, trained, comparison: compareScores(scores, trained), runs };
  }

  /**
   * Finds the training data and compares the prompts with it. Stops an earlier comparison. Never rejects.
   * @param afterMs how long to wait: a program may write many versions a second
   */
  async #compare(afterMs = 0): Promise<void> {
    this.#stopComparing.abort();
    const shown = this.#shown;
    if (this.#store.disposed || shown?.leak === undefined) return;
    const { signal } = (this.#stopComparing = new AbortController());
    const show = (leak: Leak, runs?: ShownAnswers['runs']): void => {
      if (signal.aborted || this.#shown === undefined) return;
      this.#shown = { ...this.#shown, ...this.#fieldsOf(shown, leak, runs) };
      this.#changed.fire();
    };
    if (shown.leak.kind !== 'comparing') show({ kind: 'comparing' }, shown.runs);
    let name = this.#dataset && fileNameOf(this.#dataset);
    let { runs } = shown;
    try {
      await delay(afterMs, undefined, { signal });
      const { submitted } = this.#parts;
      const known = await Promise.all(
        shown.files.map((file, index) =>
          trainedData(submitted, { ...file.stamp, path: this.#paths[index] ?? '' }, file.runs),
        ),
      );
      runs = known.map(({ run }) => run);
      const chosen = this.#dataset === undefined ? undefined : await fileData(this.#dataset);
      const several = compact(...(name === undefined ? known.map(({ compared }) => compared) : [chosen]));
      if (several.length === 0 && name !== undefined) throw new CheckError('missing');
      const data = eitherData(several);
      name = data?.name;
      const found: FoundRows[] = [];
      for (const one of several)
        found.push(await submitted.fingerprints.find(shown.file.chat, one.data, signal));
      show(data ? { kind: 'compared', data, found: found.reduce(inEither) } : { kind: 'unknown' }, runs);
    } catch (error) {
      if (signal.aborted) return;
      this.#parts.log.error('prompts-not-compared', error);
      show({ kind: 'failed', name: name ?? l10n.t('the training data') }, runs);
    }
  }
}

function inEither(one: FoundRows, other: FoundRows): FoundRows {
  const isFound = one.isFound.map((isInOne, index) => isInOne || other.isFound[index] === true);
  return { isFound, sameAnswer: Math.max(one.sameAnswer, other.sameAnswer) };
}
