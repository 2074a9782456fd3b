import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { keyOf, type Head } from '../storage/versions.ts';
import { isOver, isRefused, type Submission } from './submission.ts';

type Heads = ReadonlyMap<string, Head<Submission>>;

/** Owns what this window knows of the submissions on the disk, and reports changes. */
export class KnownRecords implements Disposable {
  readonly #onUnreadable: (key: string) => void;
  readonly #reported = new Set<string>();
  readonly #created = new Set<string>();
  readonly #looked = new Set<string>();
  readonly #onDidChange = new Emitter<void>();
  readonly #onDidChangeUnreadable = new Emitter<void>();
  #latest: readonly Submission[] = [];
  #submissions: readonly Submission[] = [];
  #unreadable: readonly string[] = [];

  readonly onDidChange = this.#onDidChange.event;
  readonly onDidChangeUnreadable = this.#onDidChangeUnreadable.event;

  /** @param onUnreadable called once with the key of each one that can't be read */
  constructor(onUnreadable: (key: string) => void) {
    this.#onUnreadable = onUnreadable;
  }

  get latest(): readonly Submission[] {
    return this.#latest;
  }

  /** The open submissions, and the refused ones that can be continued; oldest first. */
  get submissions(): readonly Submission[] {
    return this.#submissions;
  }

  /** The keys of unreadable submissions that may be open. */
  get unreadable(): readonly string[] {
    return this.#unreadable;
  }

  /** Remembers that this process created a submission. */
  created(id: string): void {
    this.#created.add(id);
  }

  isCreated(id: string): boolean {
    return this.#created.has(id);
  }

  /** Remembers that a look for its run was answered. */
  recordAnsweredLook(id: string): void {
    this.#looked.add(id);
    this.#onDidChange.fire();
  }

  /**
   * Whether this process may say that a submission isn't charged: it created it, or had a look answered since it
   * started (rule 5 in docs/journal.md). A record that was only found on the disk may be from before a charge.
   */
  maySayNotCharged(id: string): boolean {
    return this.#created.has(id) || this.#looked.has(id);
  }

  /**
   * Takes over the heads that were read or written.
   * @param failed keys of the records that couldn't be read now; by default the same as before
   */
  accept(heads: Heads, failed: readonly string[] = this.#unreadable): void {
    const all = [...heads.values()];
    const unreadable = all.filter(({ record, isOver: isDone }) => record === undefined && !isDone).map(keyOf);
    // If only the newer version can't be read, the older one is known.
    unreadable.push(...failed.filter((key) => !heads.has(key)));
    unreadable.sort();
    for (const key of unreadable) if (!this.#reported.has(key)) this.#onUnreadable(key);
    for (const key of unreadable) this.#reported.add(key);
    if (!isSameList(unreadable, this.#unreadable)) {
      this.#unreadable = unreadable;
      this.#onDidChangeUnreadable.fire();
    }
    this.#latest = all.flatMap(({ record }) => record ?? []);
    const submissions = all
      .flatMap(({ record, bytes, k }) =>
        record && (!isOver(record) || (isRefused(record) && !heads.has(keyOf({ bytes, k: k + 1 }))))
          ? record
          : [],
      )
      .sort((one, other) => one.created.localMs - other.created.localMs || (one.id < other.id ? -1 : 1));
    if (isSameList(submissions, this.#submissions)) return;
    this.#submissions = submissions;
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
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}
