// A record is a chain of versions: `<id>.1.json`, `<id>.2.json` and so on. The highest counts; none ever
// changes. To create version n+1, a window must have read version n. If several try, the file system lets one
// succeed, so no lock is needed. This rests on two rules:
// - Numbers have no gaps, so n is the highest if n+1 doesn't exist.
// - A name is never given twice: clean-up empties a version, but its name stays. Otherwise a suspended window
//   could write a version a second time.
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

/** Another window wrote this version first, or the one below it is gone. Read the record again. */
export class OvertakenError extends ExpectedError {
  readonly code = 'overtaken';

  constructor() {
    super('another window wrote this version');
  }
}

/** How records are read and written. `T` may include kinds that are only read, such as a later format. */
export interface Codec<T> {
  /** @returns undefined if the text is no complete record with this ID */
  parse: (text: string, id: string) => T | undefined;
  format: (record: T) => string;
  /** Whether all versions below one with this record may be emptied. */
  isSettled: (record: T) => boolean;
  /** What is assumed if the highest version is no record. @param below the next lower one that is */
  afterDamage: (below: T) => T;
}

/** A version of a record; `n` is its number, from 1. */
export interface Version {
  readonly id: string;
  readonly n: number;
}

/**
 * The highest version of a record. `sound`: it contains `record`. `damaged`: `record` is what `afterDamage`
 * says. `unreadable`: no version is a record. `emptied`: as `unreadable`, but version 1 was emptied after a
 * higher one was settled.
 */
export type Head<T> = Version &
  (
    | { readonly state: 'sound' | 'damaged'; readonly record: T }
    | { readonly state: 'unreadable' | 'emptied'; readonly record?: undefined }
  );

/** What a listing found. */
export interface Listing {
  /** IDs of records with another head than before the listing, or without one. */
  changed: string[];
  /** By ID, why a new version could not be read. The head stays as last known. */
  failed: Map<string, unknown>;
}

/** The name of a version: ID and number. */
const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9]\d{0,5})\.json$/;
const TEMPORARY = /\.json(\.[0-9a-f-]{36}\.tmp)+$/;
const FILES_AT_ONCE = 8;
const DAY_MS = 24 * 60 * 60_000;

/** For tests: file systems without hard links, and points between two steps. */
export interface VersionOptions {
  link?: Link;
  at?: At;
}

/**
 * Owns the records in a folder, and what this window knows of them. A file system error is no damage, since
 * it says nothing about the content: reading then rejects.
 */
export class VersionStore<T> implements Disposable {
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

  /** The heads as last read or written, by ID. */
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

  /** Lists the folder once, and reads the highest versions that are new. @throws errors of the listing */
  async list(): Promise<Listing> {
    this.#watch?.renew();
    const before = new Map(this.#heads);
    const highest = new Map<string, number>();
    for (const name of await this.#names()) {
      const [, id, n] = NAME.exec(name) ?? [];
      if (id !== undefined) highest.set(id, Math.max(Number(n), highest.get(id) ?? 0));
    }
    const listing: Listing = { changed: [], failed: new Map() };
    // An unreadable record may have been restored.
    const isNew = (id: string) => highest.get(id) !== before.get(id)?.n || before.get(id)?.state !== 'sound';
    const left = [...new Set([...before.keys(), ...highest.keys()])].filter(isNew).values();
    const readSome = async () => {
      for (const id of left)
        try {
          await this.#update(id, highest.get(id) ?? 0, before.get(id));
          if (this.#heads.get(id) !== before.get(id)) listing.changed.push(id);
        } catch (error) {
          listing.failed.set(id, error);
        }
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, readSome));
    return listing;
  }

  /** Reads the head of one record without a listing. Undefined if there is none. @throws file system errors */
  async read(id: string): Promise<Head<T> | undefined> {
    const known = this.#heads.get(id);
    // Even a known number is read again: the storage may have been set back, and written differently since.
    let n = known !== undefined && (await this.#exists(id, known.n)) ? known.n : 0;
    if (n === 0) this.#heads.delete(id);
    while (await this.#exists(id, n + 1)) n++;
    return n === 0 ? undefined : this.#readFrom(id, n);
  }

  /** Whether no window has appended to a version, by one system call. @throws file system errors: then it is not known */
  async isHighest({ id, n }: Version): Promise<boolean> {
    return !(await this.#exists(id, n + 1));
  }

  /** Writes version 1. @throws as `append` */
  async create(id: string, record: T): Promise<Head<T>> {
    await makeDirectoryDurably(this.#folder, 0o700);
    this.#watch?.renew();
    return this.#write(id, 1, record);
  }

  /**
   * Writes the version after the one that was read, which must be the highest. It is durable when this resolves.
   * @throws OvertakenError; RangeError if the record could not be read back; file system errors, after which the version may exist
   */
  append({ id, n }: Version, record: T): Promise<Head<T>> {
    return this.#write(id, n + 1, record);
  }

  /**
   * Writes what must not be lost on top of the highest version.
   * @param change called with each head that is found; returns undefined if nothing is to be written
   * @returns the head, whichever window wrote it
   * @throws as `append`, except OvertakenError
   */
  async appendAnyway(
    id: string,
    change: (head: Head<T> | undefined) => T | undefined,
  ): Promise<Head<T> | undefined> {
    for (;;) {
      const head = await this.read(id);
      const next = change(head);
      if (next === undefined) return head;
      try {
        return await (head === undefined ? this.create(id, next) : this.append(head, next));
      } catch (error) {
        if (!(error instanceof OvertakenError)) throw error;
      }
    }
  }

  /**
   * Empties the versions below a settled one, except a settled one right below: if the highest is damaged
   * later, it still says how the record ended. Version 1 is the last. Never rejects.
   */
  async empty({ id, n, state, record }: Head<T>): Promise<void> {
    if (state !== 'sound' || !this.#codec.isSettled(record)) return;
    try {
      const { record: below } = await this.#readOne(id, n - 1);
      const isKept = below !== undefined && this.#codec.isSettled(below);
      for (let lower = isKept ? n - 2 : n - 1; lower > 0; lower--) {
        await emptyVersion(this.#file(id, lower));
        await this.#at('emptied');
      }
    } catch {
      // The clean-up after the next version tries again.
    }
  }

  /** Removes temporaries older than a day, which killed windows left. Never rejects. */
  async removeTemporaries(): Promise<void> {
    const names = await this.#names().catch(() => []);
    for (const name of names.filter((one) => TEMPORARY.test(one))) {
      const file = path.join(this.#folder, name);
      const stats = await statsOf(file).catch(() => undefined);
      if (stats !== undefined && Date.now() - stats.mtimeMs > DAY_MS)
        await removeTemporary(file).catch(() => undefined);
    }
  }

  #file(id: string, n: number): string {
    return path.join(this.#folder, `${id}.${n}.json`);
  }

  async #exists(id: string, n: number): Promise<boolean> {
    return (await statsOf(this.#file(id, n))) !== undefined;
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** @param listed the highest number in a listing, 0 if there is none. @param known the head before it */
  async #update(id: string, listed: number, known: Head<T> | undefined): Promise<void> {
    // It was deleted or set aside, or the storage was set back.
    if (known !== undefined && listed < known.n && !(await this.#exists(id, known.n))) this.#heads.delete(id);
    const head = this.#heads.get(id);
    if (listed > (head?.n ?? 0) || (listed === head?.n && head.state !== 'sound'))
      await this.#readFrom(id, listed);
  }

  /** Reads a version; if it isn't a record, a higher one. Undefined if the record is gone. */
  async #readFrom(id: string, from: number): Promise<Head<T> | undefined> {
    for (let n = from; ; n++) {
      const { record } = await this.#readOne(id, n);
      if (record !== undefined) return this.#accept({ id, n, state: 'sound', record });
      if (await this.#exists(id, n + 1)) continue;
      return (await this.#exists(id, n)) ? this.#accept(await this.#readBelow(id, n)) : undefined;
    }
  }

  /** Returns the head of a record whose highest version is damaged. */
  async #readBelow(id: string, n: number): Promise<Head<T>> {
    // Empty, although clean-up never empties the highest one: its text was lost.
    const isCut = (await this.#readOne(id, n)).text === '';
    let isEmpty = false;
    for (let lower = n - 1; lower > 0; lower--) {
      const { text, record } = await this.#readOne(id, lower);
      if (record !== undefined) return { id, n, state: 'damaged', record: this.#codec.afterDamage(record) };
      isEmpty = text === '';
    }
    return { id, n, state: isEmpty && !isCut ? 'emptied' : 'unreadable' };
  }

  async #readOne(id: string, n: number): Promise<{ text: string | undefined; record: T | undefined }> {
    const text = await readVersion(this.#file(id, n));
    return { text, record: text ? this.#codec.parse(text, id) : undefined };
  }

  async #write(id: string, n: number, record: T): Promise<Head<T>> {
    const text = this.#codec.format(record);
    const asRead = this.#codec.parse(text, id);
    if (asRead === undefined || Buffer.byteLength(text) > MAX_VERSION_BYTES)
      throw new RangeError('the record could not be read back');
    // The storage may have been set back under this window; writing would then leave a gap.
    if (n > 1 && !(await this.#exists(id, n - 1))) {
      this.#heads.delete(id);
      throw new OvertakenError();
    }
    if (!(await writeVersion(this.#file(id, n), text, this.#link, this.#at))) throw new OvertakenError();
    return this.#accept({ id, n, state: 'sound', record: asRead });
  }

  /** Keeps the highest head. Returns the known object if it is equal, so that callers see no change. */
  #accept(head: Head<T>): Head<T> {
    const known = this.#heads.get(head.id);
    if (isDeepStrictEqual(known, head)) return known ?? head;
    if (known === undefined || known.n <= head.n) this.#heads.set(head.id, head);
    return head;
  }
}
