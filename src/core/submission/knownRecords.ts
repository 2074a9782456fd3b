import { isDeepStrictEqual } from 'node:util';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Head } from '../storage/versions.ts';
import { isSettled, type Intent, type Moment } from './intent.ts';
import { isLater, type JournalRecord } from './record.ts';
import { isEarlier } from './rivals.ts';

type Heads = ReadonlyMap<string, Head<JournalRecord>>;

export interface RecordReports {
  /** Called once with each record that can't be read. */
  onUnreadable: (head: Head<JournalRecord>) => void;
  /** Called once with each other version that can't be read or used. Its meaning is known without it. */
  onHarmless: (head: Head<JournalRecord>) => void;
}

/** What this window knows of the journal's records. */
export class KnownRecords implements Disposable {
  readonly #reports: RecordReports;
  readonly #reported = new Set<string>();
  readonly #created = new Set<string>();
  readonly #onDidChange = new Emitter<void>();
  readonly #onDidChangeUnreadable = new Emitter<void>();
  /** By ID: the highest version that this process has seen, and the time of the last answered look in it. */
  readonly #seen = new Map<string, { n: number; looked: Moment | undefined }>();
  readonly #looked = new Set<string>();
  #latest: readonly Intent[] = [];
  #intents: readonly Intent[] = [];
  #unreadable: readonly string[] = [];

  readonly onDidChange = this.#onDidChange.event;
  readonly onDidChangeUnreadable = this.#onDidChangeUnreadable.event;

  constructor(reports: RecordReports) {
    this.#reports = reports;
  }

  get latest(): readonly Intent[] {
    return this.#latest;
  }

  /** The open intents, oldest first. */
  get intents(): readonly Intent[] {
    return this.#intents;
  }

  /** The IDs of the records that can't be read and weren't settled. */
  get unreadable(): readonly string[] {
    return this.#unreadable;
  }

  created(id: string): void {
    this.#created.add(id);
  }

  isCreated(id: string): boolean {
    return this.#created.has(id);
  }

  /**
   * Whether this process may say that a record isn't charged: it created it, or has seen a look for its run
   * being answered. A record that it only found on the disk may be a copy from before a charge.
   */
  isLooked(id: string): boolean {
    return this.#created.has(id) || this.#looked.has(id);
  }

  /**
   * Takes over what was read or written.
   * @param failed IDs that couldn't be read now; undefined if unchanged
   */
  accept(heads: Heads, failed: readonly string[] = this.#unreadable): void {
    const all = [...heads.values()];
    const gone = [...this.#seen.keys()].filter((id) => !heads.has(id));
    // A newer version may say anything.
    const isForgotten = [...gone, ...failed].map((id) => this.#forget(id)).includes(true);
    for (const head of all) {
      this.#report(head);
      this.#see(head);
    }
    const unreadable = all.filter(({ state }) => state === 'unreadable').map(({ id }) => id);
    // If only the newer version can't be read, the older one is known.
    unreadable.push(...failed.filter((id) => !heads.has(id)));
    unreadable.sort();
    if (!isSameList(unreadable, this.#unreadable)) {
      this.#unreadable = unreadable;
      this.#onDidChangeUnreadable.fire();
    }
    this.#latest = all.flatMap(({ record }) => (record === undefined || isLater(record) ? [] : record));
    const intents = this.#latest
      .filter((record) => !isSettled(record))
      .sort((one, other) => (isEarlier(one, other) ? -1 : 1));
    if (!isForgotten && isSameList(intents, this.#intents)) return;
    this.#intents = intents;
    this.#onDidChange.fire();
  }

  /** Fires once, when the journal was opened. */
  opened(): void {
    this.#onDidChange.fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
    this.#onDidChangeUnreadable.dispose();
  }

  /** A higher version with a new look is news. A lower one means that the storage was set back. */
  #see({ id, n, record }: Head<JournalRecord>): void {
    const looked = record === undefined || isLater(record) ? undefined : record.looked;
    const known = this.#seen.get(id);
    if (known !== undefined && n < known.n) this.#forget(id);
    else if (
      known !== undefined &&
      n > known.n &&
      looked !== undefined &&
      !isDeepStrictEqual(looked, known.looked)
    )
      this.#looked.add(id);
    this.#seen.set(id, { n, looked });
  }

  /** @returns whether this process could say until now that the record isn't charged */
  #forget(id: string): boolean {
    this.#seen.delete(id);
    return [this.#looked.delete(id), this.#created.delete(id)].includes(true);
  }

  #report(head: Head<JournalRecord>): void {
    const { id, state, record } = head;
    const isOpenLater = record !== undefined && isLater(record) && !record.isDecided;
    if ((state === 'sound' && !isOpenLater) || this.#reported.has(id)) return;
    this.#reported.add(id);
    if (state === 'unreadable') this.#reports.onUnreadable(head);
    else this.#reports.onHarmless(head);
  }
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}
