import path from 'node:path';
import * as vscode from 'vscode';
import type { createAdapterRoom } from '../../core/adapters/adapterRoom.ts';
import type { AdapterReport, Measurements, Progress } from '../../core/adapters/report.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import type { Log } from '../shared/log.ts';
import { fingerprintOf, isPacked, unpackedPlace, type UnpackedPlace } from './adapterPlace.ts';
import type { WorkEnd } from './messages.ts';

const SETTLE_MS = 200;
/** The page can show this many changes of progress. */
const PROGRESS_MS = 100;

export type AdapterRoom = ReturnType<typeof createAdapterRoom>;

/** What is known of an adapter. */
export interface AdapterState {
  /** Why there is no report; undefined while the headers are read as well. */
  problem?: 'missing' | 'failed';
  report?: AdapterReport;
  measurements?: Measurements;
  /** Where it is, or would be, unpacked; undefined where it is not packed. */
  place?: UnpackedPlace;
  /** Work in progress, or how the last one ended. */
  work?: { kind: 'measure' | 'unpack'; progress?: Progress; end?: WorkEnd };
  /** How the disk differs from what is shown. */
  change?: 'changed' | 'missing' | undefined;
}

/** Which part of the state changed; `report` means all of it. */
export type AdapterPart = 'report' | 'measurements' | 'place' | 'work' | 'change';

/** Owns what is known of one adapter: its headers, its measurements, where it is unpacked; and watches it on disk. */
export class AdapterDocument implements Disposable {
  readonly file: string;
  readonly name: string;
  readonly #room: AdapterRoom;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<AdapterPart>());
  #state: AdapterState = {};
  #fingerprint: string | undefined;
  #reading = new AbortController();
  #working: AbortController | undefined;
  #settle: NodeJS.Timeout | undefined;
  #watchesFolder = false;

  /** Fires when that part of the state changed. */
  readonly onDidChange = this.#changed.event;

  constructor(file: string, room: AdapterRoom, log: Log) {
    this.file = file;
    this.name = path.basename(file);
    this.#room = room;
    this.#log = log;
    // Escaped, or a name with brackets would be a pattern.
    this.#watch(path.dirname(file), this.name.replace(/[*?{[]/g, '[$&]'));
    void this.reload();
  }

  get state(): Readonly<AdapterState> {
    return this.#state;
  }

  /** Reads the headers again. Never throws. */
  async reload(): Promise<void> {
    this.#reading.abort();
    this.cancel();
    const { signal } = (this.#reading = new AbortController());
    this.#state = {};
    this.#changed.fire('report');
    let state: AdapterState;
    try {
      state = await this.#read(signal);
    } catch (error) {
      if (!signal.aborted) this.#log.error('adapter-not-inspected', error);
      state = { problem: 'failed' };
    }
    if (signal.aborted) return;
    this.#state = state;
    this.#changed.fire('report');
  }

  /** Reads all values once. */
  async measure(): Promise<void> {
    const { report } = this.#state;
    if (report === undefined) return;
    await this.#work(report, 'measure', undefined, async (options) => {
      const measurements = await this.#room.measureAdapter(this.file, options);
      this.#update(report, 'measurements', { measurements });
      return {};
    });
  }

  /** Unpacks the archive into a new folder. @param parent of that folder; that of the archive if undefined */
  async unpack(parent?: string): Promise<void> {
    const { report } = this.#state;
    if (report === undefined || !isPacked(report)) return;
    const place = await unpackedPlace(report, this.#room.inspectAdapter, parent);
    const { folder } = place;
    if (place.exists)
      this.#update(report, 'work', { work: { kind: 'unpack', end: { outcome: 'done', folder } } });
    else
      await this.#work(report, 'unpack', folder, async (options) => {
        const { leftOut } = await this.#room.extractAdapter(this.file, folder, options);
        place.exists = true;
        return { leftOut };
      });
    if (place.exists) this.#update(report, 'place', { place });
  }

  /** Ends the measuring or the unpacking. */
  cancel(): void {
    this.#working?.abort();
  }

  /** Checks whether the disk still holds what is shown. */
  async check(): Promise<void> {
    const { report, problem } = this.#state;
    if (report === undefined && problem !== 'missing') return;
    const found = await fingerprintOf(this.file);
    if (this.#state.report !== report || this.#store.disposed) return;
    if (report === undefined) {
      if (found !== undefined) await this.reload();
      return;
    }
    const change = found === this.#fingerprint ? undefined : found === undefined ? 'missing' : 'changed';
    if (change !== this.#state.change) this.#update(report, 'change', { change });
    const { place } = this.#state;
    if (place === undefined || this.#working !== undefined || change === 'missing') return;
    // The unpacked folder may be gone, or another may have been unpacked.
    const now = await unpackedPlace(report, this.#room.inspectAdapter, path.dirname(place.folder));
    if (this.#state.place === place && (now.folder !== place.folder || now.exists !== place.exists))
      this.#update(report, 'place', { place: now });
  }

  dispose(): void {
    clearTimeout(this.#settle);
    this.#reading.abort();
    this.cancel();
    this.#store.dispose();
  }

  async #read(signal: AbortSignal): Promise<AdapterState> {
    this.#fingerprint = await fingerprintOf(this.file);
    if (this.#fingerprint === undefined) return { problem: 'missing' };
    const report = await this.#room.inspectAdapter(this.file, { signal });
    if (report.container === 'folder' && !this.#watchesFolder && !this.#store.disposed) {
      this.#watchesFolder = true;
      this.#watch(this.file, '*');
    }
    if (report.verdict.code !== 'adapter' || !isPacked(report)) return { report };
    return { report, place: await unpackedPlace(report, this.#room.inspectAdapter) };
  }

  /** Changes what is known of a report, unless another has replaced it. */
  #update(report: AdapterReport, part: AdapterPart, changes: Partial<AdapterState>): void {
    if (this.#state.report !== report) return;
    this.#state = { ...this.#state, ...changes };
    this.#changed.fire(part);
  }

  async #work(
    report: AdapterReport,
    kind: 'measure' | 'unpack',
    folder: string | undefined,
    work: (options: {
      signal: AbortSignal;
      onProgress: (progress: Progress) => void;
    }) => Promise<Pick<WorkEnd, 'leftOut'>>,
  ): Promise<void> {
    // One at a time: both read the full file.
    if (this.#working !== undefined) return;
    const { signal } = (this.#working = new AbortController());
    const at = folder === undefined ? {} : { folder };
    let shownAtMs = 0;
    const show = (progress: Progress) => this.#update(report, 'work', { work: { kind, progress } });
    const end = (result: WorkEnd) =>
      this.#update(report, 'work', { work: { kind, end: { ...result, ...at } } });
    const onProgress = (progress: Progress) => {
      if (signal.aborted || Date.now() - shownAtMs < PROGRESS_MS) return;
      shownAtMs = Date.now();
      show(progress);
    };
    show({ doneBytes: 0, totalBytes: 0 });
    try {
      const result = await work({ signal, onProgress });
      end({ outcome: 'done', ...result });
    } catch (error) {
      if (signal.aborted) end({ outcome: 'cancelled' });
      else {
        this.#log.error(`adapter-${kind}`, error);
        end({ outcome: 'failed', code: codeOf(error) });
      }
      void this.check();
    } finally {
      this.#working = undefined;
    }
  }

  #watch(folder: string, pattern: string): void {
    const changed = () => {
      clearTimeout(this.#settle);
      this.#settle = setTimeout(() => void this.check(), SETTLE_MS);
    };
    const watcher = this.#store.add(
      vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(folder), pattern)),
    );
    this.#store.add(watcher.onDidChange(changed));
    this.#store.add(watcher.onDidCreate(changed));
    this.#store.add(watcher.onDidDelete(changed));
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
