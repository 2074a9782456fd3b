import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { sequencer, shared } from '../base/async.ts';
import { isMissing, onDisk } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { counted } from '../base/rareCases.ts';
import { removeTemporaries, writeFileDurably } from '../storage/durableFile.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { Lease } from '../storage/lease.ts';
import { DownloadError } from './errors.ts';
import { VERIFIED, type ActiveDownload, type DownloadRecord, type UnfinishedDownload } from './types.ts';

/** `<ID>.begun.json` says where a part is; `<hash of its path>.done.json` describes a downloaded file. */
const BEGUN = '.begun.json';
const DONE = '.done.json';
/** How many of the newest records are kept. */
const MAX_RECORDS = 2_000;

const artifact = v.object({ runId: v.string(), artifactType: v.string(), filename: v.optional(v.string()) });
const begun = v.object({ ...artifact.entries, target: v.string(), isDiscarded: v.optional(v.boolean()) });
const done = v.object({
  ...{ ...artifact.entries, path: v.string(), sizeBytes: v.number(), sha256: v.string() },
  ...{ verified: v.picklist(VERIFIED), completedAtMs: v.number() },
});

interface Content {
  /** Newest first. */
  records: readonly DownloadRecord[];
  unfinished: readonly UnfinishedDownload[];
}

interface Options {
  accountId: string;
  /** The folder of the account's downloads and their lock files. */
  folder: string;
  /** Whether this window runs a download. */
  isRunning: (id: string) => boolean;
  /** Called with the IDs of the runs whose downloads changed in any window. */
  onChange: (runIds: Iterable<string>) => void;
}

/**
 * Owns the stored downloads of one account, completed and unfinished, for all windows. Their progress is in the part
 * files.
 */
export class DownloadStore implements Disposable {
  readonly #options: Options;
  readonly #interrupted = new Map<string, ActiveDownload>();
  /** Completed downloads that could not be stored yet, by download ID. */
  readonly #unstored = new Map<string, { unfinished: UnfinishedDownload; record: DownloadRecord }>();
  /** The text of each file when it was last readable. */
  readonly #texts = new Map<string, string>();
  #stored: Content = { records: [], unfinished: [] };
  #gone: ReadonlySet<string> = new Set();
  /** `#stored` combined with `#gone` and `#unstored`. */
  #content = this.#stored;
  #opening: Promise<void> | undefined;
  /** Discarded downloads whose files must still be removed, because their disk was missing or the process crashed. */
  #discarded: readonly UnfinishedDownload[] = [];
  #watch: FolderWatch | undefined;
  readonly #inTurn = sequencer();
  #isDisposed = false;

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

  /** Whether an unfinished download is stored, so that the next window finds it. Never rejects. */
  isFoundLater(id: string): Promise<boolean> {
    return exists(this.#fileOf(id, BEGUN));
  }

  /**
   * Loads the stored downloads once, checks their files, and follows the changes of other windows. Never
   * rejects.
   */
  open(): Promise<void> {
    return (this.#opening ??= this.#open().catch(() => undefined));
  }

  /** Rereads the progress of interrupted downloads, and starts to look for missing files. Never rejects. */
  async check(): Promise<void> {
    const wasOpen = this.#opening !== undefined;
    await this.open();
    if (!wasOpen) return;
    this.#watch?.renew();
    await this.#reread();
    await this.#check();
  }

  /**
   * Runs `work` while this window owns the download's lease.
   * @throws DownloadError `download-busy`, LeaseUnavailableError, and what `work` throws
   */
  async withLease<T>(id: string, tries: number | undefined, work: () => Promise<T>): Promise<T> {
    const lease = await Lease.take(this.#fileOf(id, '.lock'), tries);
    if (lease === undefined) throw new DownloadError('download-busy');
    try {
      await this.#reread();
      return await work();
    } finally {
      lease.release();
    }
  }

  /** Stores a download as unfinished. Must be called by the lease's owner. @throws file system errors */
  async begin(unfinished: UnfinishedDownload): Promise<void> {
    await write(this.#fileOf(unfinished.id, BEGUN), unfinished);
    await this.#reread();
  }

  /**
   * Records a download whose file has its final name already. Must be called by the lease's owner. Never rejects: if
   * the record can't be written, this window remembers it and tries again with the next one.
   */
  async complete(unfinished: UnfinishedDownload, record: DownloadRecord): Promise<void> {
    this.#unstored.set(unfinished.id, { unfinished, record });
    try {
      for (const [id, late] of this.#unstored) {
        await write(this.#recordOf(late.record), late.record);
        this.#unstored.delete(id);
        if (id !== unfinished.id) void this.discard(late.unfinished).catch(() => undefined);
      }
      // Mark it first: the part may be in use, and is then removed at the next start.
      await this.#markDiscarded(unfinished);
      await this.remove(unfinished);
      for (const old of this.#stored.records.slice(MAX_RECORDS)) await rm(this.#recordOf(old));
    } catch {
      // The disk may be full. Other windows find the part, which is a hard link to the file, and see that it is
      // complete.
      counted('unrecorded', this.#unstored.has(unfinished.id));
      await this.#reread();
    }
  }

  /** Removes a download and its part. Must be called by the lease's owner. @throws DiskError */
  async remove(unfinished: UnfinishedDownload): Promise<void> {
    const { partPathsOf: partPlaceOf, removePart } = await import('./partFile.ts');
    await removePart(partPlaceOf(unfinished));
    await onDisk(rm(this.#fileOf(unfinished.id, BEGUN), { force: true }));
    await this.#reread();
  }

  /**
   * Removes an unfinished download. If its disk is missing, its files are removed once the disk is back.
   * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
   */
  discard(unfinished: UnfinishedDownload): Promise<void> {
    return this.withLease(unfinished.id, undefined, async () => {
      if (await exists(path.dirname(unfinished.target))) await this.remove(unfinished);
      else if (counted('missing-disk', await this.isFoundLater(unfinished.id)))
        await onDisk(this.#markDiscarded(unfinished));
      await this.#reread();
    });
  }

  /**
   * Rereads the progress of a download unless a window runs it. Never rejects.
   * @param code of the error that interrupted it
   */
  async checkOne(id: string, code?: string): Promise<void> {
    const unfinished = this.unfinished.find((one) => one.id === id);
    const isFree =
      unfinished !== undefined && !(await Lease.isTaken(this.#fileOf(id, '.lock')).catch(() => true));
    // The import fails if an update of the extension removed this version's files.
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
    this.#isDisposed = true;
    this.#watch?.dispose();
  }

  async #open(): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
    await removeTemporaries(folder);
    await this.#reread();
    this.#watch = new FolderWatch(folder, '.json', async () => {
      const before = this.#content;
      await this.#reread();
      // Unchanged: this window wrote it.
      if (this.#content !== before) await this.#check();
    });
    if (this.#isDisposed) this.#watch.dispose();
    await this.#check();
    await this.#removeDiscarded();
  }

  /** Reads the stored downloads again. Keeps the current content if reading fails. Never rejects. */
  #reread(): Promise<void> {
    return this.#inTurn(async () => {
      const names = (await readdir(this.#options.folder)).sort();
      const records = await this.#parse(names, DONE, done);
      const parts = await this.#parse(names, BEGUN, begun);
      const partsIn = (state: boolean) =>
        parts.flatMap(({ id, value: { isDiscarded = false, runId, artifactType, filename, target } }) =>
          isDiscarded === state ? [{ id, runId, artifactType, filename, target }] : [],
        );
      this.#discarded = partsIn(true);
      this.#accept({
        records: records
          .map(({ value }) => value)
          .sort((one, other) => other.completedAtMs - one.completedAtMs),
        unfinished: partsIn(false),
      });
    }).catch(() => this.#accept(this.#stored));
  }

  /** Returns the content of the valid files with an ending. For a file that can't be read now, uses its last text. */
  async #parse<T>(names: readonly string[], ending: string, schema: v.GenericSchema<unknown, T>) {
    const found: { id: string; value: T }[] = [];
    for (const name of names.filter((one) => one.endsWith(ending)))
      try {
        const text = await readFile(path.join(this.#options.folder, name), 'utf8').catch((error: unknown) =>
          isMissing(error) ? '' : (this.#texts.get(name) ?? ''),
        );
        this.#texts.set(name, text);
        found.push({ id: name.slice(0, -ending.length), value: v.parse(schema, JSON.parse(text)) });
      } catch {
        // Damaged, or removed meanwhile.
      }
    return found;
  }

  #markDiscarded(unfinished: UnfinishedDownload): Promise<void> {
    return write(this.#fileOf(unfinished.id, BEGUN), { ...unfinished, isDiscarded: true });
  }

  /**
   * Publishes the content, and reports the runs whose downloads changed.
   * @param gone keys of the records whose files are missing
   */
  #accept(stored: Content, gone = this.#gone): void {
    [this.#stored, this.#gone] = [stored, gone];
    const records = [...this.#unstored.values()].map(({ record }) => record).reverse();
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

  #fileOf(name: string, ending: string): string {
    return path.join(this.#options.folder, `${name}${ending}`);
  }

  /** Returns the file of a record, by the downloaded file's path: a later download to it replaces the record. */
  #recordOf(record: DownloadRecord): string {
    return this.#fileOf(hash('sha256', record.path).slice(0, 32), DONE);
  }

  /**
   * Removes the files of discarded downloads whose folder is reachable now.
   */
  async #removeDiscarded(): Promise<void> {
    for (const one of this.#discarded) {
      if (!(await exists(path.dirname(one.target)))) continue;
      // Another window may have restarted it meanwhile.
      const remove = async () => this.unfinished.every(({ id }) => id !== one.id) && this.remove(one);
      // If this fails, the next start tries again.
      await this.withLease(one.id, 1, remove).catch(() => undefined);
    }
  }
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function write(file: string, value: object): Promise<void> {
  return writeFileDurably(file, JSON.stringify(value));
}

/** Identifies the file of a record; a later file at the same path has another key. */
function fileKey({ completedAtMs, path: file }: DownloadRecord): string {
  return `${completedAtMs} ${file}`;
}
