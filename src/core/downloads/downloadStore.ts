import { stat } from 'node:fs/promises';
import path from 'node:path';
import { shared } from '../base/async.ts';
import { onDisk } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Lease } from '../storage/lease.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { DownloadError, type ActiveDownload, type DownloadRecord, type UnfinishedDownload } from './types.ts';

const TOPIC = 'downloads';
/** Older ones are forgotten. */
const MAX_RECORDS = 2_000;
/** Each is looked for at every start. The oldest are forgotten: their disk does not come back. */
const MAX_DISCARDED = 100;

interface Content {
  /** Newest first. */
  records: readonly DownloadRecord[];
  unfinished: readonly UnfinishedDownload[];
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
  /** What was downloaded and could not be stored yet, by the id of its download. */
  readonly #unstored = new Map<string, DownloadRecord>();
  #stored: Content = { records: [], unfinished: [] };
  #gone: ReadonlySet<string> = new Set();
  /** What is stored, with what is gone. */
  #content = this.#stored;
  #opening: Promise<void> | undefined;
  #following: Disposable | undefined;
  #disposed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Newest first; the same list as long as nothing changes. */
  get records(): readonly DownloadRecord[] {
    return this.#content.records;
  }

  get unfinished(): readonly UnfinishedDownload[] {
    return this.#content.unfinished;
  }

  /** Those that no window runs. */
  get interrupted(): readonly ActiveDownload[] {
    return this.unfinished.flatMap(({ id }) =>
      this.#options.isRunning(id) ? [] : (this.#interrupted.get(id) ?? []),
    );
  }

  /** Reads what is stored, once, checks it, and follows what other windows store. Never rejects. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open().catch(() => undefined));
  }

  /** Checks how far what no window runs is; afterwards `onChange` says which files are gone. Never rejects. */
  async check(): Promise<void> {
    const wasOpen = this.#opening !== undefined;
    await this.open();
    if (wasOpen) await this.#check();
  }

  /**
   * Does something with a download that no other window may touch meanwhile.
   * @throws DownloadError `download-busy`, LeaseUnavailableError, and what the work throws
   */
  async owned<T>(id: string, tries: number | undefined, work: () => Promise<T>): Promise<T> {
    const lease = await Lease.take(this.#lockOf(id), tries);
    if (lease === undefined) throw new DownloadError('download-busy');
    try {
      await this.#reread();
      return await work();
    } finally {
      if (this.unfinished.every((one) => one.id !== id)) lease.remove();
      lease.release();
    }
  }

  /** To be called by its owner. @throws what the state store does */
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

  /** Its file has its final name: no failure undoes that. To be called by its owner; never rejects. */
  async complete(unfinished: UnfinishedDownload, record: DownloadRecord): Promise<void> {
    this.#unstored.set(unfinished.id, record);
    try {
      await this.#change();
    } catch {
      // As on a full disk. Other windows find the part, which is another name of the file, and it complete.
      this.#accept(this.#stored);
      return;
    }
    await this.remove(unfinished).catch(() => undefined);
  }

  /** Removes its files and forgets it. To be called by its owner. @throws DiskError, and what the state store does */
  async remove(unfinished: UnfinishedDownload): Promise<void> {
    const { partPlaceOf, removePart } = await import('./partFile.ts');
    await removePart(partPlaceOf(unfinished));
    await onDisk(
      this.#change((tables, accountId) =>
        tables.run('DELETE FROM unfinished_download WHERE account = ? AND id = ?', accountId, unfinished.id),
      ),
    );
  }

  /**
   * Removes what is left of one; from a disk that is away, when it is there again.
   * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
   */
  discard(unfinished: UnfinishedDownload): Promise<void> {
    return this.owned(unfinished.id, undefined, async () => {
      if (await this.#isThere(unfinished)) await this.remove(unfinished);
      else await onDisk(this.#change((tables, account) => markDiscarded(tables, account, unfinished.id)));
    });
  }

  /** Reads how far one is, unless a window runs it. Never rejects. @param code of what interrupted it */
  async checkOne(id: string, code?: string): Promise<void> {
    const unfinished = this.unfinished.find((one) => one.id === id);
    const isFree = unfinished !== undefined && !(await Lease.isTaken(this.#lockOf(id)).catch(() => true));
    // An update of the extension may have removed the file of this version.
    const parts = isFree ? await import('./partFile.ts').catch(() => undefined) : undefined;
    if (!isFree || parts === undefined) {
      this.#interrupted.delete(id);
      return;
    }
    const state = await parts.partStateOf(parts.partPlaceOf(unfinished));
    this.#interrupted.set(id, {
      ...unfinished,
      accountId: this.#options.accountId,
      receivedBytes: state?.marks.at(-1)?.bytes ?? 0,
      ...(state?.totalBytes !== undefined && { totalBytes: state.totalBytes }),
      state: 'interrupted',
      ...(code !== undefined && { code }),
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#following?.dispose();
  }

  async #open(): Promise<void> {
    const { state, accountId } = this.#options;
    await this.#reread();
    this.#following = state.follow(TOPIC, accountId, () => void this.#reread().then(() => this.#check()));
    if (this.#disposed) this.#following.dispose();
    await this.#check();
    await this.#removeDiscarded();
  }

  /** What is known stays where it cannot be read. */
  async #reread(): Promise<void> {
    const { state, accountId } = this.#options;
    const content = await state.read((tables) => contentOf(tables, accountId)).catch(() => undefined);
    if (content !== undefined) this.#accept(content);
  }

  /** With it, what could not be stored before is stored. */
  async #change(work?: (tables: Tables, accountId: string) => unknown): Promise<void> {
    const { state, accountId } = this.#options;
    const unstored = [...this.#unstored];
    const content = await state.transaction((tables) => {
      for (const [id, record] of unstored) {
        addRecord(tables, accountId, record);
        markDiscarded(tables, accountId, id);
      }
      work?.(tables, accountId);
      tables.touch(TOPIC, accountId);
      return contentOf(tables, accountId);
    });
    for (const [id] of unstored) this.#unstored.delete(id);
    this.#accept(content);
  }

  /** @param gone the files that were not there */
  #accept(stored: Content, gone = this.#gone): void {
    [this.#stored, this.#gone] = [stored, gone];
    const records = [...this.#unstored.values()].reverse();
    const others = stored.records.filter((one) => records.every(({ path: file }) => file !== one.path));
    const next: Content = {
      records: [...records, ...others].map((record) =>
        gone.has(keyOf(record)) ? { ...record, isGone: true } : record,
      ),
      unfinished: stored.unfinished.filter(({ id }) => !this.#unstored.has(id)),
    };
    const textsOf = ({ records, unfinished }: Content) =>
      new Map([...records, ...unfinished].map((row) => [JSON.stringify(row), row.runId]));
    const [old, now] = [textsOf(this.#content), textsOf(next)];
    const changed = [...old, ...now].filter(([text]) => !old.has(text) || !now.has(text));
    // The list of records stays the same object.
    if (changed.length === 0) return;
    this.#content = next;
    this.#options.onChange(new Set(changed.map(([, runId]) => runId)));
  }

  async #check(): Promise<void> {
    // Nobody waits for it: a drive may hang.
    void this.#checkFiles();
    for (const { id, runId } of this.unfinished) {
      if (this.#options.isRunning(id)) continue;
      const before = this.#interrupted.get(id);
      await this.checkOne(id, before?.code);
      if (JSON.stringify(this.#interrupted.get(id)) !== JSON.stringify(before))
        this.#options.onChange([runId]);
    }
  }

  readonly #checkFiles = shared(async (): Promise<void> => {
    const gone = new Set<string>();
    // One after the other: a drive that hangs takes one thread of the pool.
    for (const record of this.records) {
      const found = await stat(record.path).catch(() => undefined);
      if (found?.size !== record.sizeBytes) gone.add(keyOf(record));
    }
    this.#accept(this.#stored, gone);
  });

  #lockOf(id: string): string {
    return path.join(this.#options.locks, `${id}.lock`);
  }

  async #isThere(unfinished: UnfinishedDownload): Promise<boolean> {
    const { isAnythingLeft, partPlaceOf } = await import('./partFile.ts');
    return isAnythingLeft(partPlaceOf(unfinished));
  }

  /** Where they are there now: their disk was away when they were discarded, or a crash came. */
  async #removeDiscarded(): Promise<void> {
    const { state, accountId } = this.#options;
    for (const one of await state.read((tables) => unfinishedOf(tables, accountId, 1))) {
      if (!(await this.#isThere(one))) continue;
      // Another window may have started it again meanwhile.
      const remove = async () => this.unfinished.every(({ id }) => id !== one.id) && this.remove(one);
      // Otherwise another time.
      await this.owned(one.id, 1, remove).catch(() => undefined);
    }
  }
}

function addRecord(tables: Tables, accountId: string, record: DownloadRecord): void {
  const { path: file, runId, artifactType, filename, sizeBytes, sha256, verified } = record;
  // A file of the same path is another one now.
  tables.run(
    `INSERT OR REPLACE INTO download (account, path, run, type, filename, size, sha256, verified, completed_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[accountId, file, runId, artifactType, filename ?? null],
    ...[sizeBytes, sha256, verified, record.completedAtMs],
  );
  tables.run(
    `DELETE FROM download WHERE account = ?1 AND rowid NOT IN
       (SELECT rowid FROM download WHERE account = ?1 ORDER BY rowid DESC LIMIT ?2)`,
    accountId,
    MAX_RECORDS,
  );
}

function markDiscarded(tables: Tables, accountId: string, id: string): void {
  tables.run('UPDATE unfinished_download SET discarded = 1 WHERE account = ? AND id = ?', accountId, id);
  tables.run(
    `DELETE FROM unfinished_download WHERE account = ?1 AND discarded = 1 AND rowid NOT IN
       (SELECT rowid FROM unfinished_download WHERE account = ?1 AND discarded = 1 ORDER BY rowid DESC LIMIT ?2)`,
    accountId,
    MAX_DISCARDED,
  );
}

function contentOf(tables: Tables, accountId: string): Content {
  const records = tables.all<DownloadRecord & { filename: string | null }>(
    `SELECT run AS runId, type AS artifactType, filename, path, size AS sizeBytes, sha256, verified,
       completed_ms AS completedAtMs FROM download WHERE account = ? ORDER BY rowid DESC`,
    accountId,
  );
  return { records: records.map(withoutNull), unfinished: unfinishedOf(tables, accountId, 0) };
}

function unfinishedOf(tables: Tables, accountId: string, discarded: 0 | 1): UnfinishedDownload[] {
  return tables
    .all<UnfinishedDownload & { filename: string | null }>(
      `SELECT id, run AS runId, type AS artifactType, filename, target FROM unfinished_download
       WHERE account = ? AND discarded = ? ORDER BY rowid`,
      accountId,
      discarded,
    )
    .map(withoutNull);
}

function withoutNull<T extends { filename: string | null }>(row: T) {
  return { ...row, filename: row.filename ?? undefined };
}

/** The file that a record is of: a later one of its path is another one. */
function keyOf({ completedAtMs, path: file }: DownloadRecord): string {
  return `${completedAtMs} ${file}`;
}
