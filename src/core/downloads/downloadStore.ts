import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Lease } from '../storage/lease.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { DownloadError } from './downloadErrors.ts';
import type { ActiveDownload, DownloadRecord, UnfinishedDownload } from './types.ts';

const TOPIC = 'downloads';
/** Older ones are forgotten. */
const MAX_RECORDS = 2_000;
/** How often a download of another window is checked: that window may have ended. */
const CHECK_AGAIN_MS = 3_000;

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
  #content: Content = { records: [], unfinished: [] };
  #opening: Promise<void> | undefined;
  #following: Disposable | undefined;
  #timer: NodeJS.Timeout | undefined;
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

  /** Reads what is stored, once, and follows what other windows store. Never rejects. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open().catch(() => undefined));
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
        `INSERT INTO unfinished_download (account, id, run, type, filename, target) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (account, id) DO NOTHING`,
        ...values,
      );
    });
  }

  /**
   * Its file has its final name. To be called by its owner.
   * @throws what the state store does: then it is still unfinished, and its part, another name of the file, complete
   */
  async complete(unfinished: UnfinishedDownload, record: DownloadRecord): Promise<void> {
    await this.#change((tables, accountId) => {
      addRecord(tables, accountId, record);
      forget(tables, accountId, unfinished.id);
    });
    const { partPlaceOf, removePart } = await import('./partFile.ts');
    await removePart(partPlaceOf(unfinished)).catch(() => undefined);
  }

  /** Removes its files and forgets it. To be called by its owner. @throws DiskError, and what the state store does */
  async remove(unfinished: UnfinishedDownload): Promise<void> {
    const { partPlaceOf, removePart } = await import('./partFile.ts');
    await removePart(partPlaceOf(unfinished));
    await onDisk(this.#change((tables, accountId) => forget(tables, accountId, unfinished.id)));
  }

  /** Removes what is left of one. @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError */
  discard(unfinished: UnfinishedDownload): Promise<void> {
    return this.owned(unfinished.id, undefined, () => this.remove(unfinished));
  }

  /** Reads how far one is, unless a window runs it. @param code of what interrupted it */
  async check(id: string, code?: string): Promise<void> {
    const unfinished = this.unfinished.find((one) => one.id === id);
    if (unfinished === undefined || (await Lease.isTaken(this.#lockOf(id)).catch(() => true))) {
      this.#interrupted.delete(id);
      return;
    }
    const { partPlaceOf, partStateOf } = await import('./partFile.ts');
    const state = await partStateOf(partPlaceOf(unfinished));
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
    clearTimeout(this.#timer);
    this.#following?.dispose();
  }

  async #open(): Promise<void> {
    const { state, accountId } = this.#options;
    await this.#reread();
    this.#following = state.follow(TOPIC, accountId, () => void this.#reread().then(() => this.#checkAll()));
    if (this.#disposed) this.#following.dispose();
    await this.#checkAll();
  }

  /** What is known stays where it cannot be read. */
  async #reread(): Promise<void> {
    const { state, accountId } = this.#options;
    const content = await state.read((tables) => contentOf(tables, accountId)).catch(() => undefined);
    if (content !== undefined) this.#accept(content);
  }

  async #change(work: (tables: Tables, accountId: string) => unknown): Promise<void> {
    const { state, accountId } = this.#options;
    const content = await state.transaction((tables) => {
      work(tables, accountId);
      tables.touch(TOPIC, accountId);
      return contentOf(tables, accountId);
    });
    this.#accept(content);
  }

  #accept(content: Content): void {
    const textsOf = ({ records, unfinished }: Content) =>
      new Map([...records, ...unfinished].map((row) => [JSON.stringify(row), row.runId]));
    const [old, now] = [textsOf(this.#content), textsOf(content)];
    const changed = [...old, ...now].filter(([text]) => !old.has(text) || !now.has(text));
    if (changed.length === 0) return;
    this.#content = content;
    this.#options.onChange(new Set(changed.map(([, runId]) => runId)));
  }

  async #checkAll(): Promise<void> {
    for (const { id, runId } of this.unfinished) {
      if (this.#options.isRunning(id)) continue;
      const before = this.#interrupted.get(id);
      await this.check(id, before?.code);
      if (JSON.stringify(this.#interrupted.get(id)) !== JSON.stringify(before))
        this.#options.onChange([runId]);
    }
    clearTimeout(this.#timer);
    const isElsewhere = this.unfinished.some(
      ({ id }) => !this.#options.isRunning(id) && !this.#interrupted.has(id),
    );
    if (isElsewhere && !this.#disposed)
      this.#timer = setTimeout(() => void this.#checkAll(), CHECK_AGAIN_MS).unref();
  }

  #lockOf(id: string): string {
    return path.join(this.#options.locks, `${id}.lock`);
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

function forget(tables: Tables, accountId: string, id: string): void {
  tables.run('DELETE FROM unfinished_download WHERE account = ? AND id = ?', accountId, id);
}

function contentOf(tables: Tables, accountId: string): Content {
  const records = tables.all<DownloadRecord & { filename: string | null }>(
    `SELECT run AS runId, type AS artifactType, filename, path, size AS sizeBytes, sha256, verified,
       completed_ms AS completedAtMs FROM download WHERE account = ? ORDER BY rowid DESC`,
    accountId,
  );
  const unfinished = tables.all<UnfinishedDownload & { filename: string | null }>(
    `SELECT id, run AS runId, type AS artifactType, filename, target FROM unfinished_download
     WHERE account = ? ORDER BY rowid`,
    accountId,
  );
  return { records: records.map(withoutNull), unfinished: unfinished.map(withoutNull) };
}

function withoutNull<T extends { filename: string | null }>(row: T) {
  return { ...row, filename: row.filename ?? undefined };
}
