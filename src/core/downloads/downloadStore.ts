import { stat } from 'node:fs/promises';
import path from 'node:path';
import { shared } from '../base/async.ts';
import { onDisk } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Lease } from '../storage/lease.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { DownloadError } from './errors.ts';
import type { ActiveDownload, DownloadRecord, UnfinishedDownload } from './types.ts';

const TOPIC = 'downloads';
/** Older records are deleted. */
const MAX_RECORDS = 2_000;
/** All are looked for at every start. The oldest are deleted: their disk is unlikely to come back. */
const MAX_DISCARDED = 100;

interface Content {
  /** Newest first. */
  records: readonly DownloadRecord[];
  unfinished: readonly UnfinishedDownload[];
}

interface Options {
  accountId: string;
  state: StateStore;
  /** The folder of the lock files, one per download. */
  locks: string;
  /** Whether this window runs a download. */
  isRunning: (id: string) => boolean;
  /** Called with the IDs of the runs whose downloads changed in any window. */
  onChange: (runIds: Iterable<string>) => void;
}

/**
 * Stores one account's downloads, completed and unfinished, for all windows. Progress is read from the part
 * files.
 */
export class DownloadStore implements Disposable {
  readonly #options: Options;
  readonly #interrupted = new Map<string, ActiveDownload>();
  /** Completed downloads that could not be stored yet, by download ID. */
  readonly #unstored = new Map<string, DownloadRecord>();
  #stored: Content = { records: [], unfinished: [] };
  #gone: ReadonlySet<string> = new Set();
  /** `#stored` combined with `#gone` and `#unstored`. */
  #content = this.#stored;
  #opening: Promise<void> | undefined;
  #following: Disposable | undefined;
  #disposed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Newest first. The same array until something changes. */
  get records(): readonly DownloadRecord[] {
    return this.#content.records;
  }

  get unfinished(): readonly UnfinishedDownload[] {
    return this.#content.unfinished;
  }

  /** Unfinished downloads that no window is running. */
  get interrupted(): readonly ActiveDownload[] {
    return this.unfinished.flatMap(({ id }) =>
      this.#options.isRunning(id) ? [] : (this.#interrupted.get(id) ?? []),
    );
  }

  /** Whether other windows see these downloads; if not, nobody would find a part after this window closes. */
  get isShared(): boolean {
    return this.#options.state.problem === undefined;
  }

  /** Whether an unfinished download is stored where the next window will find it. Never rejects. */
  async isFoundLater(id: string): Promise<boolean> {
    await this.#reread();
    return this.isShared && this.unfinished.some((one) => one.id === id);
  }

  /**
   * Loads the stored downloads once, checks their files, and follows the changes of other windows. Never
   * rejects.
   */
  open(): Promise<void> {
    return (this.#opening ??= this.#open().catch(() => undefined));
  }

  /** Rereads the progress of interrupted downloads; `onChange` later reports missing files. Never rejects. */
  async check(): Promise<void> {
    const wasOpen = this.#opening !== undefined;
    await this.open();
    if (wasOpen) await this.#check();
  }

  /**
   * Runs `work` while this window owns the download's lease.
   * @throws DownloadError `download-busy`, LeaseUnavailableError, and what `work` throws
   */
  async owned<T>(id: string, tries: number | undefined, work: () => Promise<T>): Promise<T> {
    const lease = await Lease.take(this.#lockOf(id), tries);
    if (lease === undefined) throw new DownloadError('download-busy');
    try {
      await this.#reread();
      return await work();
    } finally {
      lease.release();
    }
  }

  /**
   * Stores a download as unfinished. Must be called by the lease's owner.
   * @throws errors of the state store
   */
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

  /**
   * Records a download whose file already has its final name; no failure here can undo that. Must be called
   * by the lease's owner. Never rejects.
   */
  async complete(unfinished: UnfinishedDownload, record: DownloadRecord): Promise<void> {
    this.#unstored.set(unfinished.id, record);
    try {
      await this.#change();
    } catch {
      // The disk may be full. Other windows find the part, a hard link to the file, and see that it is
      // complete.
      this.#accept(this.#stored);
      return;
    }
    await this.remove(unfinished).catch(() => undefined);
  }

  /**
   * Removes a download's files and row. Must be called by the lease's owner.
   * @throws DiskError, errors of the state store
   */
  async remove(unfinished: UnfinishedDownload): Promise<void> {
    const { partPathsOf: partPlaceOf, removePart } = await import('./partFile.ts');
    await removePart(partPlaceOf(unfinished));
    await onDisk(
      this.#change((tables, accountId) =>
        tables.run('DELETE FROM unfinished_download WHERE account = ? AND id = ?', accountId, unfinished.id),
      ),
    );
  }

  /**
   * Removes an unfinished download. If its disk is missing, its files are removed once the disk is back.
   * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
   */
  discard(unfinished: UnfinishedDownload): Promise<void> {
    return this.owned(unfinished.id, undefined, async () => {
      if (await this.#isThere(unfinished)) await this.remove(unfinished);
      else await onDisk(this.#change((tables, account) => markDiscarded(tables, account, unfinished.id)));
    });
  }

  /**
   * Rereads the progress of a download unless a window runs it. Never rejects.
   * @param code of the error that interrupted it
   */
  async checkOne(id: string, code?: string): Promise<void> {
    const unfinished = this.unfinished.find((one) => one.id === id);
    const isFree = unfinished !== undefined && !(await Lease.isTaken(this.#lockOf(id)).catch(() => true));
    // The import fails if an update of the extension has removed this version's files.
    const parts = isFree ? await import('./partFile.ts').catch(() => undefined) : undefined;
    if (!isFree || parts === undefined) {
      this.#interrupted.delete(id);
      return;
    }
    const state = await parts.partStateOf(parts.partPathsOf(unfinished));
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

  /** Keeps the current content if reading fails. */
  async #reread(): Promise<void> {
    const { state, accountId } = this.#options;
    const content = await state.read((tables) => contentOf(tables, accountId)).catch(() => undefined);
    if (content !== undefined) this.#accept(content);
  }

  /** Runs a transaction that also stores the completed downloads that could not be stored before. */
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

  /** @param gone keys of the records whose files are missing */
  #accept(stored: Content, gone = this.#gone): void {
    [this.#stored, this.#gone] = [stored, gone];
    const records = [...this.#unstored.values()].reverse();
    const others = stored.records.filter((one) => records.every(({ path: file }) => file !== one.path));
    const next: Content = {
      records: [...records, ...others].map((record) =>
        gone.has(fileKey(record)) ? { ...record, isGone: true } : record,
      ),
      unfinished: stored.unfinished.filter(({ id }) => !this.#unstored.has(id)),
    };
    const textsOf = ({ records, unfinished }: Content) =>
      new Map([...records, ...unfinished].map((row) => [JSON.stringify(row), row.runId]));
    const [old, now] = [textsOf(this.#content), textsOf(next)];
    const changed = [...old, ...now].filter(([text]) => !old.has(text) || !now.has(text));
    // `records` must stay the same array if nothing changed.
    if (changed.length === 0) return;
    this.#content = next;
    this.#options.onChange(new Set(changed.map(([, runId]) => runId)));
  }

  async #check(): Promise<void> {
    // Not awaited, because a drive may hang.
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
    // Sequential, so that a hanging drive blocks only one thread of the pool.
    for (const record of this.records) {
      const found = await stat(record.path).catch(() => undefined);
      if (found?.size !== record.sizeBytes) gone.add(fileKey(record));
    }
    this.#accept(this.#stored, gone);
  });

  #lockOf(id: string): string {
    return path.join(this.#options.locks, `${id}.lock`);
  }

  async #isThere(unfinished: UnfinishedDownload): Promise<boolean> {
    const { isAnythingLeft, partPathsOf: partPlaceOf } = await import('./partFile.ts');
    return isAnythingLeft(partPlaceOf(unfinished));
  }

  /**
   * Removes the files of discarded downloads that are reachable now: their disk was missing, or the process
   * crashed.
   */
  async #removeDiscarded(): Promise<void> {
    const { state, accountId } = this.#options;
    for (const one of await state.read((tables) => unfinishedOf(tables, accountId, 1))) {
      if (!(await this.#isThere(one))) continue;
      // Another window may have restarted it meanwhile.
      const remove = async () => this.unfinished.every(({ id }) => id !== one.id) && this.remove(one);
      // If this fails, the next start tries again.
      await this.owned(one.id, 1, remove).catch(() => undefined);
    }
  }
}

function addRecord(tables: Tables, accountId: string, record: DownloadRecord): void {
  const { path: file, runId, artifactType, filename, sizeBytes, sha256, verified } = record;
  // A new file at the same path replaces the older record.
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

/** Identifies the file of a record; a later file at the same path has another key. */
function fileKey({ completedAtMs, path: file }: DownloadRecord): string {
  return `${completedAtMs} ${file}`;
}
