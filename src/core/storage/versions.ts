// Stores records as files `<bytes>.<k>.<n>.json`. `bytes` is a hash of what the record is about, and k its number among
// the records of these bytes. The version is n; the highest one counts. Each name is created exclusively and never given
// twice. So two windows can neither create the same record, nor both write its next version. No lock is needed:
// - Versions have no gaps, so n is the highest if n+1 doesn't exist. No safety rests on a listing.
// - Clean-up empties a version, but its name stays. Else a suspended window could write it a second time.
import { link as linkFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { ExpectedError } from '../base/errors.ts';
import type { Link } from '../base/exclusiveName.ts';
import { makeDirectoryDurably } from './durableFile.ts';
import { FolderWatch } from './folderWatch.ts';
import {
  emptyVersion,
  MAX_VERSION_BYTES,
  readVersion,
  removeTemporary,
  statsOf,
  writeVersion,
} from './versionFile.ts';
import type { At } from './versionFile.ts';

/** Another window wrote the version first. The caller must read again, and say nothing about money before. */
export class OvertakenError extends ExpectedError {
  readonly code = 'overtaken';

  constructor() {
    super('another window wrote this version');
  }
}

/** How a record of a later format ended. */
type LaterEnd = 'charged' | 'ended';

/**
 * How records are parsed and formatted. Only the ID identifies a record: after storage was set back, its name may
 * have another one.
 */
export interface Codec<T extends { id: string }> {
  /** @returns undefined if the text isn't a complete record; how it ended if it has a later format and is over */
  parse: (text: string) => T | LaterEnd | undefined;
  format: (record: T) => string;
  /** Whether all versions below one with this record may be emptied. */
  isOver: (record: T) => boolean;
}

/** Which record: the k-th of these bytes, from 1. */
export interface Name {
  readonly bytes: string;
  readonly k: number;
}

/** A version of a record; `n` is its number, from 1. */
export interface Version extends Name {
  readonly n: number;
}

/** The highest version of a record. `record` is undefined if it can't be read: nothing is appended then. */
export interface Head<T> extends Version {
  readonly record: T | undefined;
  /** Whether it is known to be over, even if only a later version of the extension can read it. */
  readonly isOver: boolean;
  readonly laterEnd?: LaterEnd;
}

const NAME = /^([0-9a-f]{32})\.([1-9]\d{0,5})\.([1-9]\d{0,5})\.json$/;
const TEMPORARY = /\.json(\.[0-9a-f-]{36}\.tmp)+$/;
const FILES_AT_ONCE = 8;
const DAY_MS = 24 * 60 * 60_000;

/** For tests: `link` simulates file systems without hard links, `at` is called between the steps. */
export interface VersionOptions {
  link?: Link;
  at?: At;
}

/** @returns `<bytes>.<k>` */
export function keyOf({ bytes, k }: Name): string {
  return `${bytes}.${k}`;
}

/**
 * Owns the records in a folder, and what this window knows of them. After a file system error, reading rejects: the
 * error says nothing about the content, so the record doesn't count as damaged.
 */
export class VersionStore<T extends { id: string }> implements Disposable {
  readonly #folder: string;
  readonly #codec: Codec<T>;
  readonly #link: Link;
  readonly #at: At;
  readonly #heads = new Map<string, Head<T>>();
  #watch: FolderWatch | undefined;

  /** @param options for tests */
  constructor(folder: string, codec: Codec<T>, options: VersionOptions = {}) {
    this.#folder = folder;
    this.#codec = codec;
    this.#link = options.link ?? linkFile;
    this.#at = options.at ?? (() => Promise.resolve());
  }

  /** The heads as last read or written, by `keyOf`. */
  get heads(): ReadonlyMap<string, Head<T>> {
    return this.#heads;
  }

  /** Calls back when a window may have written a version, if the system reports it; ignores rejections. */
  watch(onChange: () => Promise<void>): void {
    this.#watch?.dispose();
    this.#watch = new FolderWatch(this.#folder, '.json', onChange);
  }

  dispose(): void {
    this.#watch?.dispose();
  }

  /**
   * Lists the folder once, and reads the highest versions that are new.
   * @returns the keys of the records that can't be read now; their heads stay as last known
   * @throws errors of the listing
   */
  async list(): Promise<readonly string[]> {
    this.#watch?.renew();
    const listed = await this.#listed();
    // Forget a record that was deleted, or whose version is gone since the storage was set back.
    for (const [key, head] of this.#heads)
      if ((listed.get(key)?.n ?? 0) < head.n && !(await this.#exists(head))) this.#heads.delete(key);
    const isNew = (version: Version) => {
      const known = this.#heads.get(keyOf(version));
      // An unreadable one may have been restored.
      return known === undefined || known.n < version.n || known.record === undefined;
    };
    const left = [...listed.values()].filter(isNew).values();
    const failed: string[] = [];
    const readSome = async () => {
      for (const version of left) await this.#readFrom(version).catch(() => failed.push(keyOf(version)));
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, readSome));
    return failed;
  }

  /**
   * Returns the records of these bytes by their number, without deleted ones. If the listing is late and misses the
   * last ones, `claim` fails.
   * @throws file system errors
   */
  async headsOf(bytes: string): Promise<Head<T>[]> {
    const listed = await this.#listed();
    let last = 0;
    for (const version of listed.values()) if (version.bytes === bytes) last = Math.max(last, version.k);
    while (await this.#exists({ bytes, k: last + 1, n: 1 })) last++;
    const heads: Head<T>[] = [];
    for (let k = 1; k <= last; k++) {
      // Begin with the listed version: a lower one may have been deleted by hand.
      const head = await this.read({ bytes, k }, listed.get(keyOf({ bytes, k }))?.n);
      if (head !== undefined) heads.push(head);
    }
    return heads;
  }

  /**
   * Reads the head of one record without a listing. Undefined if there is none.
   * @param from a version that was listed
   * @throws file system errors
   */
  async read(name: Name, from = 0): Promise<Head<T> | undefined> {
    const known = this.#heads.get(keyOf(name));
    // Even a known number is read again: the storage may have been set back, and written differently since.
    let n = known !== undefined && (await this.#exists(known)) ? known.n : 0;
    if (n === 0) this.#heads.delete(keyOf(name));
    if (from > n && (await this.#exists({ ...name, n: from }))) n = from;
    while (await this.#exists({ ...name, n: n + 1 })) n++;
    return n === 0 ? undefined : this.#readFrom({ ...name, n });
  }

  /**
   * Creates the record after those that the user knew of. Only the window that succeeds may submit.
   * @param known from `headsOf`, before the user consented. The next number is free unless another window was first
   * @throws as `append`
   */
  async claim(bytes: string, known: readonly Name[], record: T): Promise<Head<T>> {
    await makeDirectoryDurably(this.#folder, 0o700);
    this.#watch?.renew();
    return this.#write({ bytes, k: (known.at(-1)?.k ?? 0) + 1, n: 1 }, record);
  }

  /**
   * Writes the version after the one that was read, which must be the highest. It is durable when this resolves.
   * @throws OvertakenError; RangeError if the record could not be read back; file system errors, after which the version may exist
   */
  async append(head: Head<T>, record: T): Promise<Head<T>> {
    await this.#assertSame(head);
    return this.#write({ ...head, n: head.n + 1 }, record);
  }

  /** @throws OvertakenError unless this version is the highest, and still of the same record; file system errors */
  async assertHighest(head: Head<T>): Promise<void> {
    await this.#assertSame(head);
    if (await this.#exists({ ...head, n: head.n + 1 })) throw new OvertakenError();
  }

  /**
   * Writes on top of the highest version, even of an unreadable one, and repeats this until it isn't overtaken.
   * @param change called with each head that is found; returns the record to write, undefined to stop
   * @throws as `append`, except OvertakenError
   */
  async appendAnyway(name: Name, change: (head: Head<T> | undefined) => T | undefined): Promise<void> {
    for (;;) {
      const head = await this.read(name);
      const next = change(head);
      if (next === undefined) return;
      try {
        await this.emptyBelow(await this.#write({ ...name, n: (head?.n ?? 0) + 1 }, next));
        return;
      } catch (error) {
        if (!(error instanceof OvertakenError)) throw error;
      }
    }
  }

  /** If a record is over, empties its lower versions: they have a check value of the API key. Never rejects. */
  async emptyBelow({ bytes, k, n, isOver }: Head<T>): Promise<void> {
    try {
      for (let lower = n - 1; isOver && lower > 0; lower--) {
        await emptyVersion(this.#file({ bytes, k, n: lower }));
        await this.#at('emptied');
      }
    } catch {
      // The clean-up after the next version tries again.
    }
  }

  /** Removes temporaries older than a day, which killed windows left. Never rejects. */
  async removeTemporaries(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((one) => TEMPORARY.test(one))) {
      const file = path.join(this.#folder, name);
      const stats = await statsOf(file).catch(() => undefined);
      if (stats !== undefined && Date.now() - stats.mtimeMs > DAY_MS)
        await removeTemporary(file).catch(() => undefined);
    }
  }

  #file(version: Version): string {
    return path.join(this.#folder, `${keyOf(version)}.${version.n}.json`);
  }

  async #exists(version: Version): Promise<boolean> {
    return (await statsOf(this.#file(version))) !== undefined;
  }

  /** The highest listed version of each record, by `keyOf`. */
  async #listed(): Promise<ReadonlyMap<string, Version>> {
    const highest = new Map<string, Version>();
    try {
      for (const name of await readdir(this.#folder)) {
        const [, bytes, k, n] = NAME.exec(name) ?? [];
        if (bytes === undefined) continue;
        const version = { bytes, k: Number(k), n: Number(n) };
        if (version.n > (highest.get(keyOf(version))?.n ?? 0)) highest.set(keyOf(version), version);
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return highest;
  }

  /**
   * After storage was set back, a name may have another record than this window wrote.
   * @throws OvertakenError then
   */
  async #assertSame(head: Head<T>): Promise<void> {
    const found = await this.#readOne(head);
    // No record: it was emptied, so it isn't the highest; or it was damaged after this window had written it.
    const isSame = found === undefined ? await this.#exists(head) : found.record?.id === head.record?.id;
    if (head.record !== undefined && isSame) return;
    if (!isSame) this.#heads.delete(keyOf(head));
    throw new OvertakenError();
  }

  /** Reads the head: this version or, if it isn't a record, a higher one. Undefined if the record is gone. */
  async #readFrom({ bytes, k, n: from }: Version): Promise<Head<T> | undefined> {
    for (let n = from; ; n++) {
      const version = { bytes, k, n };
      const found = await this.#readOne(version);
      if (found !== undefined) return this.#accept(found);
      if (await this.#exists({ ...version, n: n + 1 })) continue;
      return (await this.#exists(version))
        ? this.#accept({ ...version, record: undefined, isOver: false })
        : undefined;
    }
  }

  /** Undefined if the version isn't a record. */
  async #readOne({ bytes, k, n }: Version): Promise<Head<T> | undefined> {
    const text = await readVersion(this.#file({ bytes, k, n }));
    const record = text ? this.#codec.parse(text) : undefined;
    if (record === undefined) return undefined;
    if (typeof record === 'string') return { bytes, k, n, record: undefined, isOver: true, laterEnd: record };
    return { bytes, k, n, record, isOver: this.#codec.isOver(record) };
  }

  /** Writes a version, if it can be read back. @throws OvertakenError if its name exists */
  async #write({ bytes, k, n }: Version, record: T): Promise<Head<T>> {
    const text = this.#codec.format(record);
    const asRead = this.#codec.parse(text);
    if (asRead === undefined || typeof asRead === 'string' || Buffer.byteLength(text) > MAX_VERSION_BYTES)
      throw new RangeError('the record could not be read back');
    if (!(await writeVersion(this.#file({ bytes, k, n }), text, this.#link, this.#at)))
      throw new OvertakenError();
    return this.#accept({ bytes, k, n, record: asRead, isOver: this.#codec.isOver(asRead) });
  }

  /** Remembers the highest head. Returns the known object if it is equal, so that callers see no change. */
  #accept(head: Head<T>): Head<T> {
    const known = this.#heads.get(keyOf(head));
    if (isDeepStrictEqual(known, head)) return known ?? head;
    if (known === undefined || known.n <= head.n) this.#heads.set(keyOf(head), head);
    return head;
  }
}
