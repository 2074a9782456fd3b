import path from 'node:path';
import { commands, l10n, Uri, type WebviewPanel } from 'vscode';
import { extractAdapter } from '../../core/adapters/archive.ts';
import { recipesOf, type SystemMessage } from '../../core/adapters/recipes.ts';
import {
  runInWorker,
  type AdapterReport,
  type Measurements,
  type Progress,
} from '../../core/adapters/report.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { diskSentence } from '../shared/datasetTexts.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { chooseFolder } from '../shared/open.ts';
import {
  isBoolean,
  isRecord,
  isText,
  watchFile,
  WebviewHost,
  WebviewPanels,
  type RequestTable,
} from '../shared/webview.ts';
import { adapterOverview, adapterValues } from './adapterOverview.ts';
import { pageStatus, adapterPageWords, workProgress, workResult, type WorkEnd } from './adapterPageView.ts';
import {
  adapterFolder,
  fingerprintOf,
  isPacked,
  unpackedPlace,
  type UnpackedFolder,
} from './adapterPlace.ts';
import { adapterPublishing, adapterRecipes } from './adapterRecipes.ts';
import type { AdapterRun } from './adapterRun.ts';
import type { AdapterMessage, AdapterPageState, AdapterRequest, AdapterWork } from './protocol.ts';

/** Minimum time between progress updates. */
const PROGRESS_MS = 100;
const REQUESTS: Readonly<RequestTable<AdapterRequest>> = {
  reload: {},
  measure: {},
  cancel: {},
  unpack: { elsewhere: isBoolean },
  open: { checkpoint: isText },
};

const CORE = { extractAdapter, runInWorker } as const;

export interface AdapterPageParts {
  extensionUri: Uri;
  /** The script of the worker that inspects and measures. */
  worker: string;
  /** Returns what is known of the run that a file is from. */
  runOf: (file: string) => Promise<AdapterRun | undefined>;
  log: Pick<Log, 'error'>;
  /** Replaced by tests. */
  core?: Partial<typeof CORE>;
}

/** Creates the adapter pages, one for each file. */
export function adapterPanels(parts: AdapterPageParts): WebviewPanels<{ file: string }, AdapterPage> {
  return new WebviewPanels({
    viewType: PANELS.adapter,
    memoryOf: (state) => {
      const file = isRecord(state) ? state['file'] : undefined;
      return isText(file) && path.isAbsolute(file) ? { file: path.normalize(file) } : undefined;
    },
    keyOf: ({ file }) => file,
    create: (panel, { file }) => new AdapterPage(file, panel, parts),
  });
}

/** State of an adapter. */
interface Known {
  /** Why there is no report; also undefined while the headers are being read. */
  problem?: 'missing' | 'failed';
  report?: AdapterReport;
  measurements?: Measurements;
  run?: AdapterRun | undefined;
  system?: SystemMessage;
  /** Where the archive is, or would be, unpacked; undefined for other adapters. */
  place?: UnpackedFolder;
  /** How the file on disk differs from what is shown. */
  change?: 'changed' | 'missing' | undefined;
}

/** Owns the page of one adapter: reads, measures and unpacks the file, watches it on disk, and posts the state. */
export class AdapterPage implements Disposable {
  readonly #file: string;
  readonly #name: string;
  readonly #core: typeof CORE;
  readonly #parts: AdapterPageParts;
  readonly #store = new DisposableStore();
  readonly #host: WebviewHost<AdapterMessage, AdapterRequest>;
  #known: Known = {};
  #work: AdapterWork | undefined;
  #fingerprint: string | undefined;
  #reading = new AbortController();
  /** The purpose of the block that the page is to show next. */
  #revealing = '';
  #working: AbortController | undefined;
  #watchesFolder = false;

  constructor(file: string, panel: WebviewPanel, parts: AdapterPageParts) {
    this.#file = file;
    this.#name = path.basename(file);
    this.#parts = parts;
    this.#core = { ...CORE, ...parts.core };
    panel.title = l10n.t('Adapter {0}', this.#name);
    this.#host = this.#store.add(
      new WebviewHost(panel, {
        page: 'adapter',
        extensionUri: parts.extensionUri,
        title: panel.title,
        requests: REQUESTS,
        onReady: () => {
          this.#draw();
          if (this.#work !== undefined) this.#host.post(this.#work);
        },
        onRequest: (request) => this.#answer(request),
        onShown: () => this.check(),
        log: parts.log,
      }),
    );
    this.#store.add(watchFile(file, () => this.check()));
    void this.#reload();
  }

  /** Scrolls to the block with this purpose once the adapter is read; does nothing if it is empty. */
  reveal(purpose: string): void {
    this.#revealing = purpose;
    this.#draw();
  }

  /** Compares the file on disk with the shown version, and reads a file that has appeared since. */
  async check(): Promise<void> {
    const { report, problem } = this.#known;
    if (report === undefined && problem !== 'missing') return;
    const found = await fingerprintOf(this.#file);
    if (this.#known.report !== report || this.#store.disposed) return;
    if (report === undefined) {
      if (found !== undefined) await this.#reload();
      return;
    }
    const change = found === this.#fingerprint ? undefined : found === undefined ? 'missing' : 'changed';
    if (change !== this.#known.change) this.#update(report, { change });
    const { place } = this.#known;
    if (place === undefined || this.#working !== undefined || change === 'missing') return;
    // The unpacked folder may have been deleted, or another one created.
    const { signal } = this.#reading;
    const now = await this.#unpackedPlace(report, signal, path.dirname(place.folder)).catch(
      (error: unknown) => {
        if (!signal.aborted) this.#parts.log.error('adapter-place', error);
        return place;
      },
    );
    if (this.#known.place === place && (now.folder !== place.folder || now.exists !== place.exists))
      this.#update(report, { place: now });
  }

  dispose(): void {
    this.#reading.abort();
    this.#working?.abort();
    this.#store.dispose();
  }

  async #answer(request: AdapterRequest): Promise<void> {
    const { report } = this.#known;
    if (request.type === 'reload') await this.#reload();
    else if (request.type === 'cancel') this.#working?.abort();
    else if (report === undefined) return;
    else if (request.type === 'measure') await this.#measure(report);
    else if (request.type === 'open') this.#open(report, request.checkpoint);
    else {
      const parent = request.elsewhere ? await this.#chooseParent() : undefined;
      if (!request.elsewhere || parent !== undefined) await this.#unpack(parent);
    }
  }

  #open(report: AdapterReport, checkpoint: string): void {
    if (report.checkpoints?.includes(checkpoint) !== true) return;
    const folder = path.join(this.#known.place?.folder ?? this.#file, ...checkpoint.split('/'));
    void commands.executeCommand(COMMANDS.inspectAdapter, Uri.file(folder));
  }

  #chooseParent(): Promise<string | undefined> {
    const title = l10n.t('Choose a Folder to Unpack Into');
    return chooseFolder(title, l10n.t('Unpack Here'), Uri.file(path.dirname(this.#file)));
  }

  async #reload(): Promise<void> {
    this.#reading.abort();
    this.#working?.abort();
    const { signal } = (this.#reading = new AbortController());
    [this.#known, this.#work] = [{}, undefined];
    this.#draw();
    let known: Known;
    try {
      known = await this.#read(signal);
    } catch (error) {
      if (!signal.aborted) this.#parts.log.error('adapter-not-inspected', error);
      known = { problem: 'failed' };
    }
    if (signal.aborted) return;
    this.#known = known;
    this.#draw();
    void this.#readSystem(known, signal);
  }

  /** Reads the run's dataset, which may take seconds. Never rejects. */
  async #readSystem({ report, run }: Known, signal: AbortSignal): Promise<void> {
    try {
      const system = await run?.system(signal);
      if (report !== undefined && system !== undefined) this.#update(report, { system });
    } catch (error) {
      if (!signal.aborted) this.#parts.log.error('adapter-run', error);
    }
  }

  async #read(signal: AbortSignal): Promise<Known> {
    this.#fingerprint = await fingerprintOf(this.#file);
    if (this.#fingerprint === undefined) return { problem: 'missing' };
    const [report, run] = await Promise.all([this.#inspect(this.#file, signal), this.#runOf()]);
    if (report.container === 'folder' && !this.#watchesFolder && !this.#store.disposed) {
      this.#watchesFolder = true;
      this.#store.add(watchFile(this.#file, () => this.check(), 'its-files'));
    }
    if (report.sample === undefined || !isPacked(report)) return { report, run };
    return { report, run, place: await this.#unpackedPlace(report, signal) };
  }

  /** Never rejects: without its run, the page only shows less. */
  #runOf(): Promise<AdapterRun | undefined> {
    return this.#parts.runOf(this.#file).catch((error: unknown) => {
      this.#parts.log.error('adapter-run', error);
      return undefined;
    });
  }

  #inspect(file: string, signal: AbortSignal): Promise<AdapterReport> {
    return this.#core.runInWorker('inspect', file, { worker: this.#parts.worker, signal });
  }

  /** @throws CancelledError if the page is closed or reads the file again, and errors of the thread */
  #unpackedPlace(report: AdapterReport, signal: AbortSignal, parent?: string): Promise<UnpackedFolder> {
    return unpackedPlace(report, (folder) => this.#inspect(folder, signal), parent);
  }

  async #measure(report: AdapterReport): Promise<void> {
    await this.#run(report, 'measure', {}, async (options) => {
      const { worker } = this.#parts;
      const measurements = await this.#core.runInWorker('measure', this.#file, { ...options, worker });
      this.#update(report, { measurements });
      return {};
    });
  }

  /** @param parent where to create the folder; defaults to the archive's folder */
  async #unpack(parent: string | undefined): Promise<void> {
    // The file may have been read again while the user chose a folder.
    const { report } = this.#known;
    if (report === undefined || !isPacked(report)) return;
    const place = await this.#unpackedPlace(report, this.#reading.signal, parent);
    const { folder } = place;
    if (place.exists) this.#showWork(report, 'unpack', { outcome: 'done', folder });
    else
      await this.#run(report, 'unpack', { folder }, async (options) => {
        const leftOut = await this.#core.extractAdapter(this.#file, folder, options);
        place.exists = true;
        return { leftOut };
      });
    if (place.exists) this.#update(report, { place });
  }

  /** Measures or unpacks; never both at once because each reads the complete file. */
  async #run(
    report: AdapterReport,
    kind: AdapterWork['kind'],
    about: { folder?: string },
    work: (options: {
      signal: AbortSignal;
      onProgress: (progress: Progress) => void;
    }) => Promise<Pick<WorkEnd, 'leftOut'>>,
  ): Promise<void> {
    if (this.#working !== undefined) return;
    const { signal } = (this.#working = new AbortController());
    let shownAtMs = 0;
    const onProgress = (progress: Progress) => {
      if (signal.aborted || Date.now() - shownAtMs < PROGRESS_MS) return;
      shownAtMs = Date.now();
      this.#showWork(report, kind, progress);
    };
    this.#showWork(report, kind, { doneBytes: 0, totalBytes: 0 });
    try {
      const result = await work({ signal, onProgress });
      this.#showWork(report, kind, { outcome: 'done', ...about, ...result });
    } catch (error) {
      if (!signal.aborted) this.#parts.log.error(`adapter-${kind}`, error);
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      this.#showWork(report, kind, { outcome: signal.aborted ? 'cancelled' : 'failed', ...about, code });
      void this.check();
    } finally {
      this.#working = undefined;
    }
  }

  #showWork(report: AdapterReport, kind: AdapterWork['kind'], now: Progress | WorkEnd): void {
    if (this.#known.report !== report) return;
    this.#work =
      'outcome' in now
        ? { type: 'work', kind, result: workResult(this.#name, kind, now) }
        : { type: 'work', kind, progress: workProgress(kind, now) };
    this.#host.post(this.#work);
  }

  /** Updates the state of a report unless another one has replaced it. */
  #update(report: AdapterReport, changes: Partial<Known>): void {
    if (this.#known.report !== report) return;
    this.#known = { ...this.#known, ...changes };
    this.#draw();
  }

  #draw(): void {
    if (!this.#host.isReady) return;
    const page = this.#page();
    this.#host.post(page);
    if (this.#revealing === '' || page.recipes === undefined) return;
    this.#host.post({ type: 'reveal', purpose: this.#revealing });
    this.#revealing = '';
  }

  #page(): AdapterPageState {
    const { report, problem, measurements, place, run, system, change } = this.#known;
    const notice = change && diskSentence(this.#name, change);
    const page = {
      type: 'page',
      words: adapterPageWords(),
      fileName: this.#name,
      origin: run?.origin,
      file: this.#file,
      notice,
    } as const;
    if (report === undefined) return { ...page, status: pageStatus(this.#name, problem) };
    const { weights, config } = report;
    const canMeasure = measurements === undefined && change !== 'missing';
    const isOnDisk = !isPacked(report) || place?.exists === true;
    const head = { ...page, ...adapterOverview(report, measurements, isOnDisk) };
    const values = weights?.pairs.length ? adapterValues(weights, measurements, canMeasure) : undefined;
    if (report.sample === undefined) return { ...head, values };
    // The folder may not exist yet.
    const folder = adapterFolder(report, place?.folder ?? report.file);
    const { platform } = process;
    const recipes = recipesOf(report, { folder, platform, holdOut: run?.holdOut, run: run?.id, system });
    return {
      ...head,
      values,
      recipes:
        recipes.tools.length + recipes.mend.length === 0
          ? undefined
          : adapterRecipes(recipes, config?.baseModel, folder, place, report.file),
      publishing: recipes.hub.length === 0 ? undefined : adapterPublishing(recipes),
    };
  }
}
