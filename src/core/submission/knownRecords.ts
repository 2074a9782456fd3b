import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Head } from '../storage/versions.ts';
import { isSettled, type Intent } from './intent.ts';
import { isLater, type JournalRecord } from './record.ts';
import { isEarlier } from './rivals.ts';

type Heads = ReadonlyMap<string, Head<JournalRecord>>;

export interface Reports {
  /** Called once with each record that can't be read. */
  onUnreadable: (head: Head<JournalRecord>) => void;
  /** Called once with each other version that can't be read or used: what it means is known without it. */
  onHarmless: (head: Head<JournalRecord>) => void;
}

/** What this window knows of the journal's records, and whom it tells. */
export class KnownRecords implements Disposable {
  readonly #reports: Reports;
  readonly #reported = new Set<string>();
  readonly #onDidChange = new Emitter<void>();
  readonly #onDidChangeUnreadable = new Emitter<void>();
  #intents: readonly Intent[] = [];
  #unreadable: readonly string[] = [];

  readonly onDidChange = this.#onDidChange.event;
  readonly onDidChangeUnreadable = this.#onDidChangeUnreadable.event;

  constructor(reports: Reports) {
    this.#reports = reports;
  }

  /** The open intents, oldest first. */
  get intents(): readonly Intent[] {
    return this.#intents;
  }

  /** The IDs of the records that can't be read and weren't settled. */
  get unreadable(): readonly string[] {
    return this.#unreadable;
  }

  /** Takes over what was read or written. @param failed IDs of what could not be read now; undefined if that is as it was */
  accept(heads: Heads, failed: Iterable<string> = this.#unreadable): void {
    const all = [...heads.values()];
    for (const head of all) this.#report(head);
    const unreadable = all.filter(({ state }) => state === 'unreadable').map(({ id }) => id);
    // Of a record whose newer version can't be read now, the older one is known.
    unreadable.push(...[...failed].filter((id) => !heads.has(id)));
    unreadable.sort();
    if (!isSameList(unreadable, this.#unreadable)) {
      this.#unreadable = unreadable;
      this.#onDidChangeUnreadable.fire();
    }
    const intents = all
      .flatMap(({ record }) => (record === undefined || isLater(record) || isSettled(record) ? [] : record))
      .sort((one, other) => (isEarlier(one, other) ? -1 : 1));
    if (isSameList(intents, this.#intents)) return;
    this.#intents = intents;
    this.#onDidChange.fire();
  }

  /** Tells that the journal was opened. */
  opened(): void {
    this.#onDidChange.fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
    this.#onDidChangeUnreadable.dispose();
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
