import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Disposable } from '../base/disposable.ts';
import { makeDirectoryDurably } from '../storage/durableFile.ts';
import type { AccountFolder } from '../accounts/accountFolder.ts';
import type { ActiveDownload } from './activeDownload.ts';
import { onDisk } from '../base/diskError.ts';
import { placeOf } from './download.ts';
import { DownloadBook, type PendingDownload } from './downloadBook.ts';
import { DownloadBusyError } from './downloadErrors.ts';
import { Lease } from '../storage/lease.ts';
import { keptOf, PartFile } from './partFile.ts';
import type { PartPlace } from './sidecar.ts';

/** The name of a download's lock file. */
const LOCK = /^([0-9a-f]{32})\.lock$/;

/** The downloads of one account that no window works at, as the disk tells them, and the account's book. */
export class UnfinishedDownloads implements Disposable {
  readonly book: DownloadBook;
  readonly #accountId: string;
  readonly #folder: AccountFolder;
  readonly #isRunning: (id: string) => boolean;
  readonly #onChange: (runIds: Iterable<string>) => void;
  readonly #interrupted = new Map<string, ActiveDownload>();
  #opening: Promise<void> | undefined;

  /**
   * @param isRunning whether this window works at one
   * @param onChange told of which runs something is different
   * @param onSetAside see DownloadBook
   */
  constructor(
    accountId: string,
    folder: AccountFolder,
    isRunning: (id: string) => boolean,
    onChange: (runIds: Iterable<string>) => void,
    onSetAside?: (file: string) => void,
  ) {
    this.#accountId = accountId;
    this.#folder = folder;
    this.#isRunning = isRunning;
    this.#onChange = onChange;
    const onBookChange: ConstructorParameters<typeof DownloadBook>[1] = (before, after) => {
      const old = new Set([...before.records, ...before.pending].map((one) => JSON.stringify(one)));
      const changed = [...after.records, ...after.pending].filter((one) => !old.has(JSON.stringify(one)));
      const gone = before.pending.filter(({ id }) => !after.pending.some((one) => one.id === id));
      if (changed.length + gone.length > 0)
        onChange(new Set([...changed, ...gone].map(({ runId }) => runId)));
      void this.#lookAtAll();
    };
    this.book = new DownloadBook(folder.downloads, onBookChange, onSetAside);
  }

  get interrupted(): readonly ActiveDownload[] {
    return [...this.#interrupted.values()];
  }

  /** Reads the disk once. Never throws. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  lockFileOf(id: string): string {
    return path.join(this.#folder.path, 'downloads', `${id}.lock`);
  }

  /** It goes on. */
  forget(id: string): void {
    this.#interrupted.delete(id);
  }

  /** Looks at what is left of one. @param code of what interrupted it */
  async look(id: string, code?: string): Promise<void> {
    const find = () => this.book.pending.find((one) => one.id === id);
    const pending = find();
    const known = pending && (await this.#read(pending).catch(() => undefined));
    // It may have been discarded while the disk was read.
    if (known === undefined || find() === undefined) this.#interrupted.delete(id);
    else this.#interrupted.set(id, { ...known, ...(code !== undefined && { code }) });
  }

  /**
   * Takes away what is left of one; from a disk that is not there, when it is again.
   * @throws DownloadBusyError, DiskError, LeaseUnavailableError
   */
  async discard(pending: PendingDownload): Promise<void> {
    const isFound = await isAnythingLeft(placeOf(pending));
    await this.#end(pending, (book) =>
      isFound ? book.removePending(pending.id) : book.addPending({ ...pending, discarded: true }),
    );
  }

  /** Lets other windows look at what this one leaves. */
  async leave(): Promise<void> {
    if (this.book.pending.length > 0) await this.book.touch();
  }

  dispose(): void {
    this.book.dispose();
  }

  async #open(): Promise<void> {
    // There may be no folder yet to be followed.
    await makeDirectoryDurably(this.#folder.path, 0o700).catch(() => undefined);
    await this.book.read();
    await this.#lookAtAll();
    await this.#sweepDiscarded();
    await this.book.sweep();
    await this.#sweepLocks();
  }

  async #end(pending: PendingDownload, write: (book: DownloadBook) => Promise<void>): Promise<void> {
    const lease = await Lease.take(this.lockFileOf(pending.id));
    if (lease === undefined) throw new DownloadBusyError();
    try {
      await PartFile.remove(placeOf(pending));
      await onDisk(write(this.book));
      this.#interrupted.delete(pending.id);
      lease.remove();
    } finally {
      lease.release();
    }
    this.#onChange([pending.runId]);
  }

  /** Takes away what was discarded while its disk was not there, if that is there now. */
  async #sweepDiscarded(): Promise<void> {
    for (const pending of this.book.discarded) {
      const place = placeOf(pending);
      if (this.#isRunning(pending.id) || !(await isAnythingLeft(place))) continue;
      const lease = await Lease.take(this.lockFileOf(pending.id), 1).catch(() => undefined);
      if (lease === undefined) continue;
      try {
        // Another window may have begun it anew meanwhile.
        await this.book.read();
        if (this.book.discarded.some(({ id }) => id === pending.id)) {
          await PartFile.remove(place);
          await this.book.removePending(pending.id);
        }
        lease.remove();
      } catch {
        // It stays until another time.
      } finally {
        lease.release();
      }
    }
  }

  /** Takes away lock files of what has ended, which a window left that was killed. */
  async #sweepLocks(): Promise<void> {
    for (const name of await readdir(path.join(this.#folder.path, 'downloads')).catch(() => [])) {
      const [, id] = LOCK.exec(name) ?? [];
      if (id === undefined || this.#isRunning(id) || this.book.pending.some((one) => one.id === id)) continue;
      const lease = await Lease.take(this.lockFileOf(id), 1).catch(() => undefined);
      lease?.remove();
    }
  }

  async #lookAtAll(): Promise<void> {
    const { pending } = this.book;
    for (const id of this.#interrupted.keys())
      if (!pending.some((one) => one.id === id)) this.#interrupted.delete(id);
    for (const one of pending) {
      if (this.#isRunning(one.id)) continue;
      const before = this.#interrupted.get(one.id);
      await this.look(one.id, before?.code);
      if (JSON.stringify(this.#interrupted.get(one.id)) !== JSON.stringify(before))
        this.#onChange([one.runId]);
    }
  }

  /** Undefined where a window works at it, or where it ended and only that was not written down. */
  async #read(pending: PendingDownload): Promise<ActiveDownload | undefined> {
    const place = placeOf(pending);
    if (await Lease.isTaken(this.lockFileOf(pending.id))) return undefined;
    const kept = await keptOf(place);
    if (kept === undefined && (await this.#cameHome(pending))) {
      await this.#end(pending, (book) => book.removePending(pending.id));
      return undefined;
    }
    const { id, runId, artifactType, filename, target } = pending;
    return {
      id,
      accountId: this.#accountId,
      runId,
      artifactType,
      filename,
      target,
      receivedBytes: kept?.marks.at(-1)?.bytes ?? 0,
      ...(kept?.totalBytes !== undefined && { totalBytes: kept.totalBytes }),
      state: 'interrupted',
    };
  }

  /** Whether a crash came after the file had its name and before that was written down. */
  async #cameHome({ target }: PendingDownload): Promise<boolean> {
    const there = await lstat(target).catch(() => undefined);
    return there !== undefined && this.book.records.some((record) => record.path === target);
  }
}

async function isAnythingLeft({ part, sidecar }: PartPlace): Promise<boolean> {
  const found = await Promise.all([part, sidecar].map((file) => lstat(file).catch(() => undefined)));
  return found.some((stats) => stats !== undefined);
}
