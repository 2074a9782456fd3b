import { copyFile, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { writeFileDurably } from '../storage/durableFile.ts';
import { downloadRecordSchema, type DownloadRecord } from './downloadRecord.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { Lease, LeaseUnavailableError } from '../storage/lease.ts';

/** Nothing of ours is larger. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Older ones are forgotten. */
const MAX_RECORDS = 2_000;
/** So much that was discarded while its disk was away is remembered. */
const MAX_DISCARDED = 100;
/** Another window writes for milliseconds. */
const LEASE_TRIES = 200;

const pendingSchema = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  runId: v.string(),
  artifactType: v.string(),
  filename: v.optional(v.string()),
  target: v.string(),
  /** It was discarded, and what is left of it could not be found: the disk may have been away. */
  discarded: v.optional(v.literal(true)),
});
const fileSchema = v.object({
  version: v.literal(1),
  records: v.array(v.unknown()),
  pending: v.array(v.unknown()),
});

/** A download that was begun and has neither ended nor been discarded. */
export type PendingDownload = Readonly<v.InferOutput<typeof pendingSchema>>;

interface Content {
  /** Newest first. */
  records: readonly DownloadRecord[];
  pending: readonly PendingDownload[];
}

/** `isDamaged`: the file holds something that cannot be read as ours. */
type Loaded = Content & { isDamaged: boolean };

const NOTHING: Readonly<Content> = { records: [], pending: [] };

/**
 * What one account downloaded and what is unfinished, in a file that all windows share. One window at a time changes it,
 * durably. What cannot be read as ours counts as absent, and is set aside before it is written over.
 */
export class DownloadBook implements Disposable {
  readonly #file: string;
  readonly #onChange: (before: Content, after: Content) => void;
  readonly #watch: FolderWatch;
  readonly #onSetAside: (file: string) => void;
  #content: Content = NOTHING;
  #work: Promise<unknown> = Promise.resolve();

  /**
   * @param onChange told of each change, also one of another window
   * @param onSetAside told where what could not be read is kept, before it is written over
   */
  constructor(
    file: string,
    onChange: (before: Content, after: Content) => void,
    onSetAside: (file: string) => void = () => undefined,
  ) {
    this.#file = file;
    this.#onChange = onChange;
    this.#onSetAside = onSetAside;
    this.#watch = new FolderWatch(path.dirname(file), path.basename(file), () => this.read());
  }

  get records(): readonly DownloadRecord[] {
    return this.#content.records;
  }

  get pending(): readonly PendingDownload[] {
    return this.#content.pending.filter(({ discarded }) => discarded === undefined);
  }

  /** What of discarded ones may stand on a disk that was not there. */
  get discarded(): readonly PendingDownload[] {
    return this.#content.pending.filter(({ discarded }) => discarded === true);
  }

  /** Reads what the disk holds now; what is known stays where it cannot be read. Never throws. */
  async read(): Promise<void> {
    // There may have been no folder yet.
    this.#watch.renew();
    await this.#inTurn(async () => {
      const { records, pending } = await this.#load();
      this.#accept({ records, pending }, true);
    }).catch(() => undefined);
  }

  /** @throws LeaseUnavailableError, and what the file system says */
  addPending(pending: PendingDownload): Promise<void> {
    return this.#change(({ records, pending: others }) => ({
      records,
      pending: withoutOldest([...others.filter(({ id }) => id !== pending.id), pending]),
    }));
  }

  /** @throws as `addPending` */
  async removePending(id: string): Promise<void> {
    const isKnown = () => this.#content.pending.some((one) => one.id === id);
    if (!isKnown()) await this.read();
    if (!isKnown()) return;
    await this.#change(({ records, pending }) => ({
      records,
      pending: pending.filter((one) => one.id !== id),
    }));
  }

  /** A file of the same path is another one now. @throws as `addPending` */
  addRecord(record: DownloadRecord): Promise<void> {
    return this.#change(({ records, pending }) => ({
      records: [record, ...records.filter(({ path: other }) => other !== record.path)].slice(0, MAX_RECORDS),
      pending,
    }));
  }

  /** Lets other windows look at what this one leaves. */
  async touch(): Promise<void> {
    const now = new Date();
    await utimes(this.#file, now, now).catch(() => undefined);
  }

  /** Takes away what a window left that was killed while it wrote. Never throws. */
  async sweep(): Promise<void> {
    const folder = path.dirname(this.#file);
    const isLeft = (name: string) =>
      name.startsWith(`${path.basename(this.#file)}.`) && name.endsWith('.tmp');
    try {
      if (!(await readdir(folder)).some(isLeft)) return;
      const lease = await Lease.take(`${this.#file}.lock`, LEASE_TRIES);
      try {
        // Nobody else writes now.
        if (lease !== undefined)
          for (const name of await readdir(folder))
            if (isLeft(name)) await rm(path.join(folder, name), { force: true });
      } finally {
        lease?.release();
      }
    } catch {
      // There is no folder, or it may not be written to.
    }
  }

  dispose(): void {
    this.#watch.dispose();
  }

  async #change(change: (content: Content) => Content): Promise<void> {
    await this.#inTurn(async () => {
      const lease = await Lease.take(`${this.#file}.lock`, LEASE_TRIES);
      if (lease === undefined) throw new LeaseUnavailableError();
      try {
        const { isDamaged, ...content } = await this.#load();
        const aside = `${this.#file}.set-aside-${Date.now()}`;
        if (isDamaged) await copyFile(this.#file, aside);
        const next = change(content);
        await writeFileDurably(this.#file, JSON.stringify({ version: 1, ...next }, null, 1));
        this.#accept(next, false);
        if (isDamaged) this.#onSetAside(aside);
      } finally {
        lease.release();
      }
    });
    // The folder may have been made just now.
    this.#watch.renew();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  #accept(next: Content, wasTouched: boolean): void {
    const before = this.#content;
    this.#content = next;
    if (wasTouched || JSON.stringify(before) !== JSON.stringify(next)) this.#onChange(before, next);
  }

  /** Throws what the file system says: what cannot be read now is not to be written over. */
  async #load(): Promise<Loaded> {
    try {
      if ((await stat(this.#file)).size > MAX_BYTES) return { ...NOTHING, isDamaged: true };
      return contentOf(await readFile(this.#file, 'utf8'));
    } catch (error) {
      if (isMissing(error)) return { ...NOTHING, isDamaged: false };
      throw error;
    }
  }
}

/** A disk may never come back. */
function withoutOldest(pending: readonly PendingDownload[]): readonly PendingDownload[] {
  const kept = new Set(pending.filter(({ discarded }) => discarded === true).slice(-MAX_DISCARDED));
  return pending.filter((one) => one.discarded === undefined || kept.has(one));
}

function contentOf(text: string): Loaded {
  try {
    const file = v.parse(fileSchema, JSON.parse(text));
    const records = only(downloadRecordSchema, file.records);
    const pending = only(pendingSchema, file.pending);
    const isDamaged = records.length < file.records.length || pending.length < file.pending.length;
    return { records, pending, isDamaged };
  } catch {
    return { ...NOTHING, isDamaged: true };
  }
}

/** Those that can be read: one that cannot must not cost the others. */
function only<T>(schema: v.GenericSchema<unknown, T>, rows: readonly unknown[]): T[] {
  return rows.flatMap((row) => {
    const parsed = v.safeParse(schema, row);
    return parsed.success ? [parsed.output] : [];
  });
}
