import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { kindByFirstRow } from '../../core/answers/answersFile.ts';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { DisposableStore } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { Emitter } from '../../core/base/event.ts';
import { isSameStamp } from '../../core/base/fileStamp.ts';
import { inspectDataset, kindOf, SAMPLE_BYTES, type DatasetProblem } from '../../core/datasets/fileKind.ts';
import type { CommonText, Reading } from '../../core/datasets/readFacts.ts';
import { CheckError, type CheckFailure } from '../../core/datasets/report.ts';
import type { FileKind, Report } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { RowFile } from '../../core/datasets/rowFile.ts';
import type { Log } from '../shared/log.ts';
import { watchFile } from '../shared/webview.ts';
import type { CardTexts } from './contentFacts.ts';
import type { DatasetRuns, PastRuns } from './datasetRuns.ts';

/** After this time, counting continues and the check starts even if the first rows are not shown yet. */
const DEFER_MS = 1_000;
/** Time for the page to draw the first rows before other work uses the CPU. */
const DRAWING_MS = 150;

/** Facts about the file's texts, which are only shown. */
export interface PreviewTexts {
  reading: Reading | undefined;
  /** From 0 to 1 during a long read. */
  readProgress: number | undefined;
  /** Ends the read. */
  stop?: () => void;
  texts: CardTexts;
}

const NOT_READ: Readonly<PreviewTexts> = { reading: undefined, readProgress: undefined, texts: {} };
/** A shorter read of the texts shows no progress. */
const QUIET_MS = 1_000;

/** The card's texts come only from rows up to this length: part of a row can't be parsed. */
const TEXT_BYTES = 256 * 1024;

/** Why there are no rows to show. */
export type UnshownReason = DatasetProblem | 'not-on-disk';

/**
 * `opened`: the file was opened or reloaded, or that failed. `counted`: more rows are known. `checked`: the
 * check started, progressed or ended, or past runs changed. `change`: the value of `change` is different.
 */
export type PreviewChange = 'opened' | 'counted' | 'checked' | 'change';

/** State of the check. */
export interface PreviewCheck {
  progress: number | undefined;
  report: Report | undefined;
  failure: CheckFailure | 'too-large' | undefined;
}

/** Sources of what a preview shows besides rows. */
export interface PreviewChecks {
  reports: Reports;
  readings: Reports<Reading>;
  runs: DatasetRuns;
}

/** Owns one previewed file: keeps it open, counts and checks its rows, and watches it on disk. */
export class PreviewDocument implements vscode.CustomDocument {
  readonly uri: vscode.Uri;
  readonly name: string;
  readonly #reports: Reports;
  readonly #readings: PreviewChecks['readings'];
  readonly #runs: PreviewChecks['runs'];
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<PreviewChange>());
  #file: RowFile | undefined;
  /** As its first bytes show. */
  #kind: FileKind = 'rows';
  #problem: UnshownReason | undefined;
  #check: PreviewCheck = { progress: undefined, report: undefined, failure: undefined };
  #read: PreviewTexts = NOT_READ;
  #change: 'changed' | 'missing' | undefined;
  #isUnsaved = false;
  #stop = new AbortController();
  /** Starts or continues the work that is not needed for the first rows. */
  #startDeferred: (() => void) | undefined;

  /** Fires when the file's state has changed. */
  readonly onDidChange = this.#changed.event;

  constructor(uri: vscode.Uri, { reports, readings, runs }: PreviewChecks, log: Log) {
    this.uri = uri;
    this.name = path.posix.basename(uri.path);
    this.#reports = reports;
    this.#readings = readings;
    this.#runs = runs;
    this.#log = log;
    this.#store.add(reports.onDidChange((state) => this.#updateCheck(state.path)));
    this.#store.add(runs.onDidChange(() => this.#changed.fire('checked')));
    if (uri.scheme === 'file') this.#watch();
    void this.reload();
  }

  /** Undefined until the file is opened, or if there is a problem. */
  get file(): RowFile | undefined {
    return this.#file;
  }

  /** What the file is, as far as it is known. */
  get kind(): FileKind {
    return this.#check.report?.kind ?? this.#kind;
  }

  get problem(): UnshownReason | undefined {
    return this.#problem;
  }

  get check(): PreviewCheck {
    return this.#check;
  }

  /** Facts about the texts of the shown version. */
  get read(): PreviewTexts {
    return this.#read;
  }

  /** Past runs of the shown version of the file. */
  get past(): PastRuns | undefined {
    const { report } = this.#check;
    return report && this.#runs.of(report);
  }

  /** How the file on disk, or in an editor, differs from the shown version. */
  get change(): 'changed' | 'missing' | 'unsaved' | undefined {
    return this.#change ?? (this.#isUnsaved ? 'unsaved' : undefined);
  }

  /** Opens the current version of the file. Never rejects. */
  async reload(): Promise<void> {
    this.#close();
    const stop = new AbortController();
    this.#stop = stop;
    const opened = await this.#open();
    const { file, kind } = typeof opened === 'string' ? {} : opened;
    if (stop.signal.aborted || this.#store.disposed) {
      file?.dispose();
      return;
    }
    this.#file = file;
    this.#kind = kind ?? 'rows';
    this.#problem = typeof opened === 'string' ? opened : undefined;
    this.#change = undefined;
    this.#read = NOT_READ;
    this.#check = { progress: undefined, report: undefined, failure: undefined };
    this.#changed.fire('opened');
    // Without rows, there is nothing to count or check.
    if (file === undefined || this.#kind !== 'rows') return;
    const { signal } = stop;
    const { promise: drawn, resolve } = Promise.withResolvers<undefined>();
    this.#startDeferred = () => resolve(undefined);
    const wait = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    const mayStartDeferred = Promise.race([wait(DEFER_MS), drawn.then(() => wait(DRAWING_MS))]);
    const counted = this.#count(file, signal, mayStartDeferred);
    void mayStartDeferred.then(async () => {
      if (signal.aborted) return;
      await this.#checkFile(file, signal);
      await counted;
      await this.#readTexts(file, signal);
    });
  }

  /** Continues counting and starts the check. Both delay the first rows, so call it once these are shown. */
  startDeferredWork(): void {
    this.#startDeferred?.();
  }

  /** Compares the file on disk with the shown version. Reloads a file that couldn't be opened. */
  async compareWithDisk(): Promise<void> {
    const file = this.#file;
    if (file === undefined) {
      if (this.#problem !== undefined && this.#problem !== 'not-on-disk') await this.reload();
      return;
    }
    const found = await file.compareWithDisk();
    if (this.#file !== file) return;
    const change = found === 'same' ? undefined : found;
    if (change === this.#change) return;
    this.#change = change;
    this.#changed.fire('change');
  }

  dispose(): void {
    this.#close();
    this.#store.dispose();
  }

  #close(): void {
    this.#stop.abort();
    this.#file?.dispose();
  }

  async #open(): Promise<{ file: RowFile; kind: FileKind } | UnshownReason> {
    if (this.uri.scheme !== 'file') return 'not-on-disk';
    const { fsPath } = this.uri;
    const found = await inspectDataset(fsPath, Infinity);
    if (typeof found === 'string') return found;
    let file: RowFile | undefined;
    try {
      file = await RowFile.open(fsPath);
      const kind = await kindByFirstRow(fsPath);
      return { file, kind: kind ?? kindOf(await file.read(Buffer.allocUnsafeSlow(SAMPLE_BYTES), 0)) };
    } catch (error) {
      file?.dispose();
      return error instanceof CheckError && error.code === 'missing' ? 'missing' : 'unreadable';
    }
  }

  async #count(file: RowFile, signal: AbortSignal, mayStartDeferred: Promise<undefined>): Promise<void> {
    try {
      await file.count(signal, () => {
        if (!signal.aborted) this.#changed.fire('counted');
        return mayStartDeferred;
      });
    } catch (error) {
      if (error instanceof CancelledError) return;
      this.#log.error('preview-not-read', error);
      this.#fail('unreadable', signal);
    }
  }

  async #checkFile(file: RowFile, signal: AbortSignal): Promise<void> {
    if (file.sizeBytes > MAX_DATASET_BYTES) {
      this.#fail('too-large', signal);
      return;
    }
    this.#check = { progress: 0, report: undefined, failure: undefined };
    this.#changed.fire('checked');
    try {
      await this.#reports.currentReport(file.path, signal);
      if (!signal.aborted) this.#updateCheck(file.path);
    } catch (error) {
      if (error instanceof CancelledError) return;
      this.#log.error('preview-not-checked', error);
      this.#fail(error instanceof CheckError ? error.code : 'worker-died', signal);
    }
    if (!signal.aborted) await this.compareWithDisk();
  }

  async #readTexts(file: RowFile, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#check.report?.kind !== 'rows') return;
    const own = new AbortController();
    const beganMs = performance.now();
    const show = (read: PreviewTexts) => {
      if (this.#file !== file) return;
      this.#read = read;
      this.#changed.fire('checked');
    };
    const textOf = async (at: CommonText | undefined, of: 'answer' | 'system') =>
      at && (await file.textOf(at.row, of, TEXT_BYTES));
    try {
      const stop = AbortSignal.any([signal, own.signal]);
      const reading = await this.#readings.currentReport(file.path, stop, (readProgress) => {
        if (performance.now() > beganMs + QUIET_MS)
          show({ ...NOT_READ, readProgress, stop: () => own.abort() });
      });
      if (!isSameStamp(reading, file.stamp)) return;
      const { answer, labels, system } = reading;
      const texts = {
        answer: await textOf(answer, 'answer'),
        system: await textOf(system.main, 'system'),
        labels: await Promise.all(labels.map(async (label) => (await textOf(label, 'answer')) ?? '')),
      };
      show({ reading, readProgress: undefined, texts });
    } catch (error) {
      show(NOT_READ);
      if (!(error instanceof CancelledError)) this.#log.error('preview-not-read', error);
    }
  }

  #fail(failure: PreviewCheck['failure'], signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#check = { progress: undefined, report: undefined, failure };
    this.#changed.fire('checked');
  }

  /** Updates the check from the file's state if that is about the shown version. */
  #updateCheck(changedPath: string): void {
    const file = this.#file;
    if (file?.path !== changedPath) return;
    const state = this.#reports.get(changedPath);
    // Without a newer report of the shown version, its last one still applies.
    const report = [state?.report, this.#check.report].find(
      (known) => known !== undefined && isSameStamp(known, file.stamp),
    );
    const { failure } = this.#check;
    this.#check = { progress: state?.progress, report, failure: report === undefined ? failure : undefined };
    this.#changed.fire('checked');
  }

  #setUnsaved(isUnsaved: boolean): void {
    if (isUnsaved === this.#isUnsaved) return;
    this.#isUnsaved = isUnsaved;
    this.#changed.fire('change');
  }

  #watch(): void {
    this.#store.add(watchFile(this.uri.fsPath, () => void this.compareWithDisk()));
    const { workspace } = vscode;
    const edited = (document: vscode.TextDocument) => {
      if (document.uri.toString() === this.uri.toString()) this.#setUnsaved(document.isDirty);
    };
    this.#store.add(workspace.onDidChangeTextDocument(({ document }) => edited(document)));
    this.#store.add(
      workspace.onDidSaveTextDocument((document) => {
        edited(document);
        // This event comes before the watcher's.
        if (document.uri.toString() === this.uri.toString()) void this.compareWithDisk();
      }),
    );
    this.#store.add(workspace.onDidCloseTextDocument(edited));
    workspace.textDocuments.forEach(edited);
  }
}
