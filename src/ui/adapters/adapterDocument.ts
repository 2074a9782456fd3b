import path from 'node:path';
import * as vscode from 'vscode';
import type { createAdapterRoom } from '../../core/adapters/adapterRoom.ts';
import type { AdapterReport, Measurements, Progress } from '../../core/adapters/report.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import type { Log } from '../shared/log.ts';
import { fingerprintOf, isPacked, unpackedPlace, type UnpackedPlace } from './adapterPlace.ts';

const SETTLE_MS = 200;
/** The page reads so many figures a second. */
const TELL_MS = 100;

interface WorkOptions {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}

/** What the adapter room does. It is loaded at first use, so its classes are not ours: errors are known by their codes. */
export type AdapterRoom = Pick<
  ReturnType<typeof createAdapterRoom>,
  'inspectAdapter' | 'measureAdapter' | 'extractAdapter' | 'recipesOf'
>;

/** What there is to show of a file. */
export type AdapterContent =
  | { report: AdapterReport; recipesOf: AdapterRoom['recipesOf']; inspect: AdapterRoom['inspectAdapter'] }
  | { problem: 'missing' | 'inside' };

/** What of it can change. */
export type AdapterPart = 'content' | 'measured' | 'place' | 'work' | 'notice';

/** Work that goes on, and how the last one ended. */
export interface AdapterWorkState {
  kind: 'measure' | 'unpack';
  progress?: Progress;
  end?: WorkEnd;
}

/** How work ended. */
export interface WorkEnd {
  outcome: 'done' | 'cancelled' | 'failed';
  code?: string;
  /** Where it was unpacked, or should have been. */
  folder?: string;
  /** Pickle files that were not unpacked. */
  leftOut?: readonly string[];
}

/** Owns what is known of one adapter: its headers, its measurements, where it is unpacked; and watches it on the disk. */
export class AdapterDocument implements Disposable {
  readonly file: string;
  readonly name: string;
  readonly #loadRoom: () => Promise<AdapterRoom>;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<AdapterPart>());
  #content: AdapterContent | undefined;
  #measurements: Measurements | undefined;
  #place: UnpackedPlace | undefined;
  #work: AdapterWorkState | undefined;
  #change: 'changed' | 'missing' | undefined;
  #fingerprint: string | undefined;
  #reading = new AbortController();
  #working: AbortController | undefined;
  #toldAtMs = 0;
  #settle: NodeJS.Timeout | undefined;
  #watchesFolder = false;

  /** Fires when that part of what is known is another. */
  readonly onDidChange = this.#changed.event;

  constructor(file: string, loadRoom: () => Promise<AdapterRoom>, log: Log) {
    this.file = file;
    this.name = path.basename(file);
    this.#loadRoom = loadRoom;
    this.#log = log;
    this.#watch();
    void this.reload();
  }

  /** Undefined until the headers were read. */
  get content(): AdapterContent | undefined {
    return this.#content;
  }

  get measurements(): Measurements | undefined {
    return this.#measurements;
  }

  /** Where it is, or would be, unpacked; undefined where it is not packed. */
  get place(): UnpackedPlace | undefined {
    return this.#place;
  }

  get work(): AdapterWorkState | undefined {
    return this.#work;
  }

  /** How the disk differs from what is shown. */
  get change(): 'changed' | 'missing' | undefined {
    return this.#change;
  }

  /** Reads the headers as they are now. Never throws. */
  async reload(): Promise<void> {
    this.#reading.abort();
    this.cancel();
    const { signal } = (this.#reading = new AbortController());
    this.#content = undefined;
    this.#measurements = undefined;
    this.#place = undefined;
    this.#work = undefined;
    this.#change = undefined;
    this.#changed.fire('content');
    const content = await this.#read(signal);
    if (signal.aborted || content === undefined) return;
    this.#content = content;
    this.#changed.fire('content');
  }

  /** Reads all values once. */
  async measure(): Promise<void> {
    const { content } = this;
    if (content === undefined || !('report' in content)) return;
    let measured: Measurements | undefined;
    await this.#do('measure', undefined, async (room, options) => {
      measured = await room.measureAdapter(this.file, options);
      return {};
    });
    if (measured === undefined || this.#content !== content) return;
    this.#measurements = measured;
    this.#changed.fire('measured');
  }

  /** Unpacks the archive into a folder of its own. @param parent in which that is made; beside the archive if undefined */
  async unpack(parent?: string): Promise<void> {
    const { content } = this;
    if (content === undefined || !('report' in content) || !isPacked(content.report)) return;
    const place = await unpackedPlace(content.report, content.inspect, parent);
    if (this.#content !== content) return;
    if (place.exists) this.#work = { kind: 'unpack', end: { outcome: 'done', folder: place.folder } };
    else
      await this.#do('unpack', place.folder, async (room, options) => {
        const { leftOut } = await room.extractAdapter(this.file, place.folder, options);
        place.exists = true;
        return { leftOut };
      });
    if (!place.exists || this.#content !== content) return;
    this.#place = place;
    this.#changed.fire('place');
    this.#changed.fire('work');
  }

  /** Ends the measuring or the unpacking. */
  cancel(): void {
    this.#working?.abort();
  }

  /** Looks whether the disk still holds what is shown. */
  async look(): Promise<void> {
    const { content } = this;
    if (content === undefined) return;
    const found = await fingerprintOf(this.file);
    if (this.#content !== content || this.#store.disposed) return;
    if (!('report' in content)) {
      if (found !== undefined && content.problem === 'missing') await this.reload();
      return;
    }
    const change = found === this.#fingerprint ? undefined : found === undefined ? 'missing' : 'changed';
    if (change !== this.#change) {
      this.#change = change;
      this.#changed.fire('notice');
    }
    await this.#lookAtPlace(content);
  }

  dispose(): void {
    clearTimeout(this.#settle);
    this.#reading.abort();
    this.cancel();
    this.#store.dispose();
  }

  async #read(signal: AbortSignal): Promise<AdapterContent | undefined> {
    try {
      this.#fingerprint = await fingerprintOf(this.file);
      if (this.#fingerprint === undefined) return { problem: 'missing' };
      const room = await this.#loadRoom();
      const report = await room.inspectAdapter(this.file, { signal });
      const isLoadable = report.verdict.code === 'adapter' && isPacked(report);
      const place = isLoadable ? await unpackedPlace(report, room.inspectAdapter) : undefined;
      if (signal.aborted) return undefined;
      this.#place = place;
      if (report.container === 'folder') this.#watchFolder();
      return { report, recipesOf: room.recipesOf, inspect: room.inspectAdapter };
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#log.error('adapter-not-inspected', error);
      return { problem: 'inside' };
    }
  }

  async #do(
    kind: AdapterWorkState['kind'],
    folder: string | undefined,
    work: (room: AdapterRoom, options: WorkOptions) => Promise<Pick<WorkEnd, 'leftOut'>>,
  ): Promise<void> {
    // One at a time: both read the whole file.
    if (this.#working !== undefined) return;
    const stop = (this.#working = new AbortController());
    const { content } = this;
    const tell = (state: AdapterWorkState) => {
      if (this.#content !== content) return;
      this.#work = state;
      this.#changed.fire('work');
    };
    const onProgress = (progress: Progress) => {
      if (Date.now() - this.#toldAtMs < TELL_MS) return;
      this.#toldAtMs = Date.now();
      if (!stop.signal.aborted) tell({ kind, progress });
    };
    const at = folder === undefined ? {} : { folder };
    tell({ kind, progress: { doneBytes: 0, totalBytes: 0 } });
    try {
      const came = await work(await this.#loadRoom(), { signal: stop.signal, onProgress });
      tell({ kind, end: { outcome: 'done', ...at, ...came } });
    } catch (error) {
      const code = codeOf(error);
      const isCancelled = stop.signal.aborted;
      if (!isCancelled) this.#log.error(`adapter-${kind}`, error);
      tell({
        kind,
        end: {
          outcome: isCancelled ? 'cancelled' : 'failed',
          ...at,
          ...(code === undefined ? {} : { code }),
        },
      });
      void this.look();
    } finally {
      this.#working = undefined;
    }
  }

  /** The folder of an earlier unpacking may be gone, or another may have come. */
  async #lookAtPlace(content: Extract<AdapterContent, { report: AdapterReport }>): Promise<void> {
    const known = this.#place;
    if (known === undefined || this.#working !== undefined || this.#change === 'missing') return;
    const found = await unpackedPlace(content.report, content.inspect, path.dirname(known.folder));
    if (this.#place !== known || (found.folder === known.folder && found.exists === known.exists)) return;
    this.#place = found;
    this.#changed.fire('place');
  }

  #watch(): void {
    // Else a name with brackets would be a pattern.
    const name = this.name.replace(/[*?{[]/g, '[$&]');
    this.#watchFor(path.dirname(this.file), name);
  }

  #watchFolder(): void {
    if (this.#watchesFolder) return;
    this.#watchesFolder = true;
    this.#watchFor(this.file, '*');
  }

  #watchFor(folder: string, pattern: string): void {
    const changed = () => {
      clearTimeout(this.#settle);
      this.#settle = setTimeout(() => void this.look(), SETTLE_MS);
    };
    const watcher = this.#store.add(
      vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(folder), pattern)),
    );
    this.#store.add(watcher.onDidChange(changed));
    this.#store.add(watcher.onDidCreate(changed));
    this.#store.add(watcher.onDidDelete(changed));
  }
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
