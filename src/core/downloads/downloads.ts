import type { Artifact } from '../api/types.ts';
import type { Transport } from '../api/transport.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, ExpectedError, throwIfCancelled, unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { accountFolder } from '../accounts/accountFolder.ts';
import type { ActiveDownload, ArtifactName, DownloadRequest } from './activeDownload.ts';
import { adapterOf, artifactNamed, listArtifacts, nameOf } from './artifactList.ts';
import { Download, downloadId, type VerifyArchive } from './download.ts';
import type { PendingDownload } from './downloadBook.ts';
import { DownloadGoneError } from './downloadErrors.ts';
import type { DownloadRecord } from './downloadRecord.ts';
import { KeyMissingError, type Session } from '../runs/session.ts';
import { SignedLink } from './signedLink.ts';
import { UnfinishedDownloads } from './unfinishedDownloads.ts';
import { UnwrittenRecords } from './unwrittenRecords.ts';
import type { PartOptions } from './partFile.ts';

export interface DownloadsOptions {
  /** The folder of all accounts' runs, in the storage that all windows share. */
  runsFolder: string;
  /** Asked anew for each request. */
  transport: () => Transport;
  /** The account's session, for what is resumed; undefined where it is not on this machine any more. */
  sessionOf: (accountId: string) => Session | undefined;
  /** `verifyArchive` of the adapter room: throws on a broken archive. */
  verify: VerifyArchive;
  /** Told where a list of downloads that could not be read is kept. */
  onSetAside?: (file: string) => void;
  clock?: Clock;
  /** From 0 up to 1; for the jitter. */
  random?: () => number;
  part?: PartOptions;
}

interface Running {
  download: Download;
  done: Promise<DownloadRecord>;
}

/**
 * Brings artifacts home: under the final name a file stands only when it is whole. Owns the downloads of this window, knows the
 * unfinished ones that no window works at, and remembers what came home.
 */
export class Downloads implements Disposable {
  readonly #options: DownloadsOptions;
  readonly #clock: Clock;
  readonly #running = new Map<string, Running>();
  readonly #unwritten = new UnwrittenRecords();
  readonly #accounts = new Map<string, UnfinishedDownloads>();
  readonly #onDidChange = new Emitter<{ accountId: string; runId: string }>();
  #disposed = false;

  /**
   * Fires when a download began, went on (a few times a second), changed its state or ended, and when something became known
   * of one of another window.
   */
  readonly onDidChange = this.#onDidChange.event;

  constructor(options: DownloadsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
  }

  /** Reads what the disk knows of an account, and follows it from then on. Never throws. */
  async open(accountId: string): Promise<void> {
    await this.#account(accountId).open();
  }

  /** This window's downloads, and the interrupted ones of the accounts that are open. */
  get active(): readonly ActiveDownload[] {
    const interrupted = [...this.#accounts.values()].flatMap((account) => account.interrupted);
    return [
      ...[...this.#running.values()].map(({ download }) => download.active),
      ...interrupted.filter(({ id }) => !this.#isOwn(id)),
    ];
  }

  /** What came home, newest first. Of an account that is not open yet nothing: it opens it, and tells when that is read. */
  records(accountId: string): readonly DownloadRecord[] {
    const account = this.#account(accountId);
    void account.open();
    return this.#unwritten.before(accountId, account.book.records);
  }

  /** Whether this window downloads something of an account. */
  isBusy(accountId: string): boolean {
    return [...this.#running.values()].some(({ download }) => download.accountId === accountId);
  }

  /** What a run offers. @throws ArtifactsMissingError, ApiError, KeyMissingError, CancelledError */
  async list(session: Session, runId: string, signal?: AbortSignal): Promise<ArtifactName[]> {
    return (await listArtifacts(session, runId, signal)).map(nameOf);
  }

  /**
   * Downloads, or goes on with what is kept of the same artifact and target, or joins the same download of this window.
   * @param signal cancels: nothing is kept. One who joined only leaves
   * @throws ArtifactsMissingError, DownloadBusyError, DownloadBrokenError, FileExistsError, DiskError, SignedUrlRefusedError,
   * DownloadLinkError, ApiError, KeyMissingError, LeaseUnavailableError, CancelledError. It is `interrupted` after those which may
   * pass where something of it came, and gone after the others
   */
  async start(request: DownloadRequest, signal?: AbortSignal): Promise<DownloadRecord> {
    const { session, runId, target } = request;
    throwIfCancelled(signal);
    let listed: Artifact | undefined;
    if (request.artifact === undefined) listed = adapterOf(await listArtifacts(session, runId, signal));
    const { type, filename } = request.artifact ?? nameOf(adapterOf(listed ? [listed] : []));
    const wish = { runId, artifactType: type, ...(filename !== undefined && { filename }), target };
    const accountId = session.account.id;
    return this.#begin(session, { id: downloadId(accountId, wish), ...wish }, signal, listed);
  }

  /** Goes on with an interrupted one. @throws as `start`, DownloadGoneError */
  async resume(id: string, signal?: AbortSignal): Promise<DownloadRecord> {
    const found = this.#find(id);
    if (found === undefined) throw new DownloadGoneError();
    const session = this.#options.sessionOf(found.accountId);
    if (session === undefined) throw new KeyMissingError();
    return this.#begin(session, found.pending, signal);
  }

  /**
   * Cancels a download of this window, or forgets an interrupted one; nothing of it is left then. One that is gone is none.
   * @throws DownloadBusyError, DiskError, LeaseUnavailableError
   */
  async discard(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.download.stop(false);
      await running.done.catch(() => undefined);
    }
    const found = this.#find(id);
    if (found !== undefined) await this.#account(found.accountId).discard(found.pending);
  }

  /** Forgets all that is unfinished of an account, before its folder is removed; what cannot be stays. Never throws. */
  async discardAll(accountId: string): Promise<void> {
    const account = this.#account(accountId);
    await account.open();
    const ids = new Set([...account.book.pending, ...this.#runningOf(accountId)].map(({ id }) => id));
    await Promise.allSettled([...ids].map((id) => this.discard(id)));
  }

  /** Ends this window's downloads and keeps what came: they are interrupted. Resolves when that is done; never rejects. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    const running = [...this.#running.values()];
    for (const { download } of running) download.stop(true);
    this.#onDidChange.dispose();
    await Promise.allSettled(running.map(({ done }) => done));
    for (const account of this.#accounts.values()) {
      account.dispose();
      await account.leave();
    }
  }

  #begin(
    session: Session,
    pending: PendingDownload,
    signal: AbortSignal | undefined,
    listed?: Artifact,
  ): Promise<DownloadRecord> {
    const running = this.#running.get(pending.id);
    if (running !== undefined) return unlessCancelled(running.done, signal);
    if (this.#disposed) return Promise.reject(new CancelledError());
    const { runId, artifactType: type, filename } = pending;
    const name = { type, ...(filename !== undefined && { filename }) };
    const accountId = session.account.id;
    const account = this.#account(accountId);
    const { transport, verify, part, random = Math.random } = this.#options;
    const tell = () => this.#onDidChange.fire({ accountId, runId });
    const download = new Download(
      accountId,
      pending,
      {
        book: account.book,
        lockFile: account.lockFileOf(pending.id),
        transport,
        clock: this.#clock,
        random,
        verify,
        ...(part && { part }),
      },
      tell,
    );
    const cancel = () => download.stop(false);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    const link = new SignedLink(session, runId, name, this.#clock, listed && artifactNamed([listed], name));
    account.forget(pending.id);
    this.#unwritten.delete(pending.id);
    const done = this.#run(download, link, account).finally(() => {
      signal?.removeEventListener('abort', cancel);
      tell();
    });
    this.#running.set(pending.id, { download, done });
    tell();
    return done;
  }

  async #run(download: Download, link: SignedLink, account: UnfinishedDownloads): Promise<DownloadRecord> {
    let code: string | undefined;
    try {
      const record = await download.run(link);
      if (!download.isWritten) this.#unwritten.add(download.pending.id, download.accountId, record);
      return record;
    } catch (error) {
      if (error instanceof ExpectedError) ({ code } = error);
      throw error;
    } finally {
      // What is left of it is known before it is told that it ended.
      await account.look(download.pending.id, code);
      this.#running.delete(download.pending.id);
    }
  }

  /** Whether nobody has to go on with it: this window does, or it came home here. */
  #isOwn(id: string): boolean {
    return this.#running.has(id) || this.#unwritten.has(id);
  }

  #find(id: string): { accountId: string; pending: PendingDownload } | undefined {
    for (const [accountId, { book }] of this.#accounts) {
      const pending = book.pending.find((one) => one.id === id);
      if (pending !== undefined) return { accountId, pending };
    }
    return undefined;
  }

  #runningOf(accountId: string): PendingDownload[] {
    return [...this.#running.values()]
      .filter(({ download }) => download.accountId === accountId)
      .map(({ download }) => download.pending);
  }

  #account(accountId: string): UnfinishedDownloads {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = new UnfinishedDownloads(
        accountId,
        accountFolder(this.#options.runsFolder, accountId),
        (id) => this.#isOwn(id),
        (runIds) => {
          for (const runId of runIds) this.#onDidChange.fire({ accountId, runId });
        },
        this.#options.onSetAside,
      );
      this.#accounts.set(accountId, account);
    }
    return account;
  }
}
