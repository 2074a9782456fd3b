import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Lease } from '../storage/lease.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { DownloadError } from './downloadErrors.ts';
import { partStateOf, PartFile } from './partFile.ts';
import { partPlaceOf, type PartPlace } from './sidecar.ts';
import type { ActiveDownload, DownloadRecord, UnfinishedDownload } from './types.ts';

const TOPIC = 'downloads';
/** Older ones are forgotten. */
const MAX_RECORDS = 2_000;
/** So many that were discarded while their disk was away are remembered. */
const MAX_DISCARDED = 100;
/** How often a download of another window is checked: that window may have ended. */
const CHECK_AGAIN_MS = 3_000;
const LOCK_FILE = /^([0-9a-f]{32})\.lock$/;

interface Content {
  /** Newest first. */
  records: readonly DownloadRecord[];
  unfinished: readonly UnfinishedDownload[];
  /** Their files may be on a disk that was away when they were discarded. */
  discarded: readonly UnfinishedDownload[];
}

interface Options {
  accountId: string;
  state: StateStore;
  /** The folder of lock files, one for each download that a window runs. */
  locks: string;
  /** Whether this window runs a download. */
  isRunning: (id: string) => boolean;
  /** Called with the runs of which something changed, in whichever window. */
  onChange: (runIds: Iterable<string>) => void;
}

/** What one account downloaded and what is unfinished, shared by all windows. How far an unfinished one is, its files say. */
export class DownloadStore implements Disposable {
  readonly #options: Options;
  readonly #interrupted = new Map<string, ActiveDownload>();
  /** By download: what is downloaded but could not be stored, as on a full disk. Only this window knows of it. */
  readonly #unstored = new Map<string, DownloadRecord>();
  #content: Content = { records: [], unfinished: [], discarded: [] };
  #records: readonly DownloadRecord[] = [];
  #opening: Promise<void> | undefined;
  #following: Disposable | undefined;
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Newest first; the same list as long as nothing in it changes. */
  get records(): readonly DownloadRecord[] {
    return this.#records;
  }

  get unfinished(): readonly UnfinishedDownload[] {
    return this.#content.unfinished;
  }

  /** Those that no window runs. */
  get interrupted(): readonly ActiveDownload[] {
    return [...this.#interrupted.values()].filter(({ id }) => !this.#isOwn(id));
  }

  /** Reads what is stored, once, and follows what other windows store. Never rejects. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  /** Of a download, for `Lease` alone. */
  lockFileOf(id: string): string {
    return path.join(this.#options.locks, `${id}.lock`);
  }

  /** @throws what the state store does */
  begin({ id, runId, artifactType, filename, target }: UnfinishedDownload): Promise<void> {
    return this.#change((tables, accountId) => {
      const values = [accountId, id, runId, artifactType, filename ?? null, target];
      tables.run(
        `INSERT INTO unfinished_download (account, id, run, type, filename, target, discarded)
         VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (account, id) DO UPDATE SET discarded = 0`,
        ...values,
      );
    });
  }

  /** This window runs it again. */
  resume(id: string): void {
    this.#interrupted.delete(id);
    if (this.#unstored.delete(id)) this.#join();
  }

  /** @returns whether it is stored; otherwise this window remembers it */
  async add(id: string, record: DownloadRecord): Promise<boolean> {
    try {
      await this.#change((tables, accountId) => {
        const { path: file, runId, artifactType, filename, sizeBytes, sha256, verified } = record;
        // A file of the same path is another one now.
        tables.run('DELETE FROM download WHERE account = ? AND path = ?', accountId, file);
        const names = [accountId, file, runId, artifactType, filename ?? null];
        tables.run(
          `INSERT INTO download (account, path, run, type, filename, size, sha256, verified, completed_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[...names, sizeBytes, sha256, verified, record.completedAtMs],
        );
        tables.run(
          `DELETE FROM download WHERE account = ? AND rowid NOT IN
           (SELECT rowid FROM download WHERE account = ? ORDER BY rowid DESC LIMIT ?)`,
          accountId,
          accountId,
          MAX_RECORDS,
        );
      });
      return true;
    } catch {
      this.#unstored.set(id, record);
      this.#join();
      return false;
    }
  }

  /** Nothing is left of it. @throws what the state store does */
  end(id: string): Promise<void> {
    return this.#change((tables, accountId) => {
      tables.run('DELETE FROM unfinished_download WHERE account = ? AND id = ?', accountId, id);
    });
  }

  /** Reads how far one is. @param code of what interrupted it */
  async check(id: string, code?: string): Promise<void> {
    const find = () => this.unfinished.find((one) => one.id === id);
    const unfinished = find();
    const active = unfinished && (await this.#read(unfinished).catch(() => undefined));
    // It may have been discarded while the disk was read.
    if (active === undefined || find() === undefined) this.#interrupted.delete(id);
    else this.#interrupted.set(id, { ...active, ...(code !== undefined && { code }) });
  }

  /**
   * Removes what is left of one; from a disk that is away, when it is there again.
   * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
   */
  async discard(unfinished: UnfinishedDownload): Promise<void> {
    const isFound = await isAnythingLeft(partPlaceOf(unfinished));
    await this.#remove(
      unfinished,
      isFound ? () => this.end(unfinished.id) : () => this.#defer(unfinished.id),
    );
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#following?.dispose();
  }

  async #open(): Promise<void> {
    const { state, accountId } = this.#options;
    await this.#reread();
    this.#following = state.follow(TOPIC, accountId, () => void this.#reread());
    if (this.#disposed) this.#following.dispose();
    await this.#checkAll();
    await this.#removeDiscarded();
    await this.#removeLocks();
  }

  /** What is known stays where it cannot be read. */
  async #reread(): Promise<void> {
    const { state, accountId } = this.#options;
    await state
      .read((tables) => contentOf(tables, accountId))
      .then(
        (content) => this.#accept(content),
        () => undefined,
      );
  }

  async #change(work: (tables: Tables, accountId: string) => void): Promise<void> {
    const { state, accountId } = this.#options;
    const content = await state.transaction((tables) => {
      work(tables, accountId);
      tables.touch(TOPIC, accountId);
      return contentOf(tables, accountId);
    });
    this.#accept(content);
  }

  #accept(next: Content): void {
    const before = this.#content;
    this.#content = next;
    const rowsOf = ({ records, unfinished }: Content) => [...records, ...unfinished];
    const texts = (content: Content) =>
      new Map(rowsOf(content).map((row) => [JSON.stringify(row), row.runId]));
    const [old, now] = [texts(before), texts(next)];
    const changed = [...old, ...now].filter(([text]) => !old.has(text) || !now.has(text));
    if (changed.length > 0) {
      this.#join();
      this.#options.onChange(new Set(changed.map(([, runId]) => runId)));
    }
    void this.#checkAll();
  }

  #join(): void {
    const unstored = [...this.#unstored.values()];
    const stored = this.#content.records.filter(({ path: file }) =>
      unstored.every((one) => one.path !== file),
    );
    this.#records = [...unstored, ...stored];
  }

  #isOwn(id: string): boolean {
    return this.#options.isRunning(id) || this.#unstored.has(id);
  }

  async #checkAll(): Promise<void> {
    for (const id of this.#interrupted.keys())
      if (!this.unfinished.some((one) => one.id === id)) this.#interrupted.delete(id);
    for (const { id, runId } of this.unfinished) {
      if (this.#isOwn(id)) continue;
      const before = this.#interrupted.get(id);
      await this.check(id, before?.code);
      if (JSON.stringify(this.#interrupted.get(id)) !== JSON.stringify(before))
        this.#options.onChange([runId]);
    }
    clearTimeout(this.#timer);
    const isElsewhere = this.unfinished.some(({ id }) => !this.#isOwn(id) && !this.#interrupted.has(id));
    if (isElsewhere && !this.#disposed)
      this.#timer = setTimeout(() => void this.#checkAll(), CHECK_AGAIN_MS).unref();
  }

  /** Undefined where a window runs it, or where it ended and only that was not stored. */
  async #read(unfinished: UnfinishedDownload): Promise<ActiveDownload | undefined> {
    if (await Lease.isTaken(this.lockFileOf(unfinished.id))) return undefined;
    const state = await partStateOf(partPlaceOf(unfinished));
    // The process ended after the file had its name.
    const isDownloaded =
      state === undefined &&
      this.#content.records.some(({ path: file }) => file === unfinished.target) &&
      (await lstat(unfinished.target).catch(() => undefined)) !== undefined;
    if (isDownloaded) {
      await this.#remove(unfinished, () => this.end(unfinished.id));
      return undefined;
    }
    return {
      ...unfinished,
      accountId: this.#options.accountId,
      receivedBytes: state?.marks.at(-1)?.bytes ?? 0,
      ...(state?.totalBytes !== undefined && { totalBytes: state.totalBytes }),
      state: 'interrupted',
    };
  }

  async #remove(unfinished: UnfinishedDownload, store: () => Promise<void>): Promise<void> {
    const lease = await Lease.take(this.lockFileOf(unfinished.id));
    if (lease === undefined) throw new DownloadError('download-busy');
    try {
      await PartFile.remove(partPlaceOf(unfinished));
      await onDisk(store());
      this.#interrupted.delete(unfinished.id);
      lease.remove();
    } finally {
      lease.release();
    }
    this.#options.onChange([unfinished.runId]);
  }

  #defer(id: string): Promise<void> {
    return this.#change((tables, accountId) => {
      tables.run('UPDATE unfinished_download SET discarded = 1 WHERE account = ? AND id = ?', accountId, id);
      // A disk may never come back.
      tables.run(
        `DELETE FROM unfinished_download WHERE account = ? AND discarded = 1 AND rowid NOT IN
         (SELECT rowid FROM unfinished_download WHERE account = ? AND discarded = 1 ORDER BY rowid DESC LIMIT ?)`,
        accountId,
        accountId,
        MAX_DISCARDED,
      );
    });
  }

  /** Removes what was discarded while its disk was away, if that is there now. */
  async #removeDiscarded(): Promise<void> {
    for (const discarded of this.#content.discarded) {
      const place = partPlaceOf(discarded);
      if (this.#isOwn(discarded.id) || !(await isAnythingLeft(place))) continue;
      const lease = await Lease.take(this.lockFileOf(discarded.id), 1).catch(() => undefined);
      if (lease === undefined) continue;
      try {
        // Another window may have started it again meanwhile.
        await this.#reread();
        if (this.#content.discarded.some(({ id }) => id === discarded.id)) {
          await PartFile.remove(place);
          await this.end(discarded.id);
        }
        lease.remove();
      } catch {
        // It stays until another time.
      } finally {
        lease.release();
      }
    }
  }

  /** Removes lock files of what has ended, which a window left that was killed. */
  async #removeLocks(): Promise<void> {
    for (const name of await readdir(this.#options.locks).catch(() => [])) {
      const [, id] = LOCK_FILE.exec(name) ?? [];
      if (id === undefined || this.#isOwn(id) || this.unfinished.some((one) => one.id === id)) continue;
      const lease = await Lease.take(this.lockFileOf(id), 1).catch(() => undefined);
      lease?.remove();
    }
  }
}

interface Named {
  filename: string | null;
}

function contentOf(tables: Tables, accountId: string): Content {
  const records = tables.all<Omit<DownloadRecord, 'filename'> & Named>(
    `SELECT run AS runId, type AS artifactType, filename, path, size AS sizeBytes, sha256, verified,
       completed_ms AS completedAtMs FROM download WHERE account = ? ORDER BY rowid DESC`,
    accountId,
  );
  const unfinished = tables.all<Omit<UnfinishedDownload, 'filename'> & Named & { discarded: number }>(
    `SELECT id, run AS runId, type AS artifactType, filename, target, discarded
     FROM unfinished_download WHERE account = ? ORDER BY rowid`,
    accountId,
  );
  const rows = unfinished.map(({ discarded, filename, ...row }) => ({
    isDiscarded: discarded === 1,
    row: { ...row, filename: filename ?? undefined },
  }));
  return {
    records: records.map(({ filename, ...row }) => ({ ...row, ...(filename !== null && { filename }) })),
    unfinished: rows.filter(({ isDiscarded }) => !isDiscarded).map(({ row }) => row),
    discarded: rows.filter(({ isDiscarded }) => isDiscarded).map(({ row }) => row),
  };
}

async function isAnythingLeft({ part, sidecar }: PartPlace): Promise<boolean> {
  const found = await Promise.all([part, sidecar].map((file) => lstat(file).catch(() => undefined)));
  return found.some((stats) => stats !== undefined);
}
