import path from 'node:path';
import { accountFolder } from '../accounts/account.ts';
import { SYSTEM_CLOCK } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, ExpectedError, throwIfCancelled, unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { KeyMissingError, type Session } from '../runs/session.ts';
import type { Download, DownloadTools } from './download.ts';
import { DownloadStore } from './downloadStore.ts';
import { DownloadError } from './errors.ts';
import type {
  ActiveDownload,
  ArtifactName,
  DownloadRecord,
  DownloadRequest,
  UnfinishedDownload,
} from './types.ts';

export { DownloadError } from './errors.ts';
export type { ActiveDownload, ArtifactName, DownloadRecord, DownloadState } from './types.ts';

/** The parts that each download needs. Tests may replace the clock and the random numbers. */
export interface DownloadsOptions
  extends
    Pick<DownloadTools, 'transport' | 'verify' | 'openFile'>,
    Partial<Pick<DownloadTools, 'clock' | 'random'>> {
  /** The folder of all accounts' runs, shared by all windows. */
  runsFolder: string;
  /**
   * Returns the session of an account, to resume its downloads; undefined if the user signed out of it.
   */
  sessionOf: (accountId: string) => Session | undefined;
}

interface Running {
  download: Download;
  done: Promise<DownloadRecord>;
}

/**
 * Owns this window's running downloads, and the stored downloads of each account. A file gets its final name only when
 * it is complete and verified.
 */
export class Downloads implements Disposable {
  readonly #options: DownloadsOptions & Pick<DownloadTools, 'clock' | 'random'>;
  readonly #running = new Map<string, Running>();
  readonly #stores = new Map<string, DownloadStore>();
  readonly #onDidChange = new Emitter<{ accountId: string; runId: string }>();
  #isDisposed = false;

  /**
   * Fires when a download starts, progresses (a few times a second), changes state, or ends, also in another window.
   */
  readonly onDidChange = this.#onDidChange.event;

  constructor(options: DownloadsOptions) {
    this.#options = { clock: SYSTEM_CLOCK, random: Math.random, ...options };
  }

  /** Loads an account's stored downloads and follows later changes. Never throws. */
  open(accountId: string): Promise<void> {
    return this.#store(accountId).open();
  }

  /** Checks what can be resumed, and starts checking which downloaded files still exist. Never throws. */
  check(accountId: string): Promise<void> {
    return this.#store(accountId).check();
  }

  /** This window's running downloads, and the interrupted downloads of all opened accounts. */
  get active(): readonly ActiveDownload[] {
    return [
      ...[...this.#running.values()].map(({ download }) => download.active),
      ...[...this.#stores.values()].flatMap(({ interrupted }) => interrupted),
    ];
  }

  /**
   * Completed downloads, newest first. Opens the account if necessary; `onDidChange` fires once it is loaded.
   */
  records(accountId: string): readonly DownloadRecord[] {
    const store = this.#store(accountId);
    void store.open();
    return store.records;
  }

  /** Lists a run's artifacts. @throws DownloadError, ApiError, KeyMissingError, CancelledError */
  async list(session: Session, runId: string, signal?: AbortSignal): Promise<ArtifactName[]> {
    const { artifactNamesOf, listArtifacts } = await import('./artifacts.ts');
    return artifactNamesOf(await listArtifacts(session, runId, signal));
  }

  /**
   * Starts a download, resumes an interrupted one of the same artifact and target, or joins the one running
   * in this window.
   * @param signal cancels the download and removes its files; a caller that joined only stops waiting
   * @throws DownloadError, DiskError, SignedUrlRefusedError, DownloadLinkError, ApiError, KeyMissingError,
   * LeaseUnavailableError, CancelledError. After an error that may pass, a download that has received bytes is
   * `interrupted`; otherwise it is removed
   */
  async start(request: DownloadRequest, signal?: AbortSignal): Promise<DownloadRecord> {
    throwIfCancelled(signal);
    const { session, runId, artifact, target } = request;
    const { downloadId } = await import('./download.ts');
    const wanted = { runId, artifactType: artifact.type, filename: artifact.filename, target };
    return this.#begin(session, { id: downloadId(session.account.id, wanted), ...wanted }, signal);
  }

  /** Resumes an interrupted download. @throws the same errors as `start` */
  async resume(id: string, signal?: AbortSignal): Promise<DownloadRecord> {
    const found = this.#find(id);
    if (found === undefined) throw new DownloadError('download-gone');
    const session = this.#options.sessionOf(found.accountId);
    if (session === undefined) throw new KeyMissingError();
    return this.#begin(session, found.unfinished, signal);
  }

  /**
   * Cancels a download of this window or discards an interrupted one, and removes its files.
   * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
   */
  async discard(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.download.cancel();
    await running?.done.catch(() => undefined);
    const found = this.#find(id);
    if (found !== undefined) await this.#store(found.accountId).discard(found.unfinished);
  }

  /** Discards an account's unfinished downloads but not its records. Never throws. */
  async discardAll(accountId: string): Promise<void> {
    const store = this.#store(accountId);
    await store.open();
    const running = [...this.#running.values()].map(({ download }) => download.active);
    const own = running.filter((active) => active.accountId === accountId);
    const ids = new Set([...store.unfinished, ...own].map(({ id }) => id));
    await Promise.allSettled([...ids].map((id) => this.discard(id)));
  }

  /**
   * Interrupts this window's downloads so that they can be resumed. Resolves when they have stopped; never
   * rejects.
   */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const running = [...this.#running.values()];
    for (const { download } of running) download.interrupt();
    this.#onDidChange.dispose();
    for (const store of this.#stores.values()) store.dispose();
    await Promise.allSettled(running.map(({ done }) => done));
  }

  /** Starts a download in this window, or joins the running one. */
  async #begin(
    session: Session,
    unfinished: UnfinishedDownload,
    signal: AbortSignal | undefined,
  ): Promise<DownloadRecord> {
    const { Download } = await import('./download.ts');
    const { id, runId } = unfinished;
    const running = this.#running.get(id);
    if (running !== undefined) return unlessCancelled(running.done, signal);
    if (this.#isDisposed) throw new CancelledError();
    const accountId = session.account.id;
    const onChange = () => this.#onDidChange.fire({ accountId, runId });
    const store = this.#store(accountId);
    const download = new Download(session, unfinished, { ...this.#options, store, onChange });
    const cancel = () => download.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    const done = this.#run(download, store).finally(() => {
      signal?.removeEventListener('abort', cancel);
      onChange();
    });
    this.#running.set(id, { download, done });
    onChange();
    return done;
  }

  async #run(download: Download, store: DownloadStore): Promise<DownloadRecord> {
    let code: string | undefined;
    try {
      return await download.run();
    } catch (error) {
      if (error instanceof ExpectedError) ({ code } = error);
      throw error;
    } finally {
      // Read the remaining state before listeners learn that it ended.
      await store.checkOne(download.unfinished.id, code);
      this.#running.delete(download.unfinished.id);
    }
  }

  #find(id: string): { accountId: string; unfinished: UnfinishedDownload } | undefined {
    for (const [accountId, store] of this.#stores) {
      const unfinished = store.unfinished.find((one) => one.id === id);
      if (unfinished !== undefined) return { accountId, unfinished };
    }
    return undefined;
  }

  #store(accountId: string): DownloadStore {
    let store = this.#stores.get(accountId);
    if (store === undefined) {
      const { runsFolder } = this.#options;
      store = new DownloadStore({
        accountId,
        folder: path.join(accountFolder(runsFolder, accountId), 'downloads'),
        isRunning: (id) => this.#running.has(id),
        onChange: (runIds) => {
          for (const runId of runIds) this.#onDidChange.fire({ accountId, runId });
        },
      });
      this.#stores.set(accountId, store);
    }
    return store;
  }
}
