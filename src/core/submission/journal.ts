import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sequencer } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Event } from '../base/event.ts';
import { makeDirectoryDurably } from '../storage/durableFile.ts';
import type { Lease } from '../storage/lease.ts';
import {
  OvertakenError,
  VersionStore,
  type Head,
  type Name,
  type VersionOptions,
} from '../storage/versions.ts';
import { SubmissionError } from './errors.ts';
import { KnownRecords } from './knownRecords.ts';
import { Leases } from './leases.ts';
import { receiptsAmong } from './receipts.ts';
import { CODEC, withRuns } from './record.ts';
import {
  bytesKeyOf,
  charged,
  isCharged,
  isOver,
  isRefused,
  runsOf,
  type ChargedReceipt,
  type Submission,
  type Receipt,
  type SameDataset,
} from './submission.ts';

/** Attempts to acquire a lease, while other windows probe it for a moment. The user waits. */
const ACQUIRE_TRIES = 20;
/** The names of records in an earlier format, without the hash of the bytes. */
const OLD_NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.\d+\.json$/;

/** An open submission and this window's lease on it. Whoever gets it must release the lease. */
export interface Owned {
  lease: Lease;
  submission: Submission;
}

/** The submissions of some bytes that the user knows of. `record` is undefined if it can't be read. */
export type KnownSubmissions = readonly Head<Submission>[];

export interface JournalOptions extends VersionOptions {
  /** Called once with the path of each record that can't be read. */
  onUnreadable?: (file: string) => void;
  /** Called once if there are records with names of the earlier format, which are ignored. */
  onOldNames?: () => void;
}

/**
 * Owns the submissions, which outlive a window: see docs/journal.md. Each is a chain of versions; the highest
 * one counts. A window appends the next one only after reading the highest, so of two windows one is
 * overtaken. A lease only prevents double work; no safety depends on it. Contains no API keys or rows.
 */
export class Journal implements Disposable {
  readonly #directory: string;
  readonly #options: JournalOptions;
  readonly #store: VersionStore<Submission>;
  readonly #leases: Leases;
  readonly #known: KnownRecords;
  /** The version of each owned submission that this window last read or wrote. */
  readonly #owned = new WeakMap<Lease, Head<Submission>>();
  readonly #inTurn = sequencer();
  #isDisposed = false;

  /** @param directory only for the journal, in the extension's storage on the extension host's machine */
  constructor(directory: string, options: JournalOptions = {}) {
    this.#directory = directory;
    this.#options = options;
    this.#leases = new Leases(path.join(directory, 'leases'));
    this.#store = new VersionStore(directory, CODEC, options);
    this.#known = new KnownRecords((key) => {
      const n = this.#store.heads.get(key)?.n ?? 1;
      options.onUnreadable?.(path.join(directory, `${key}.${n}.json`));
    });
  }

  /** Fires when the journal was opened, and when an open submission was written, ended, or removed in any window. */
  get onDidChange(): Event<void> {
    return this.#known.onDidChange;
  }

  get onDidChangeUnreadable(): Event<void> {
    return this.#known.onDidChangeUnreadable;
  }

  /** Reads the open submissions, and watches other windows' changes. */
  async open(): Promise<void> {
    if (this.#isDisposed) return;
    await makeDirectoryDurably(this.#directory, 0o700);
    // Watch before the first read, so that no change is missed in between.
    this.#store.watch(() => this.reload());
    await this.reload();
    this.#known.opened();
    void this.#store.removeTemporaries();
    const names = await readdir(this.#directory).catch(() => []);
    if (names.some((name) => OLD_NAME.test(name))) this.#options.onOldNames?.();
  }

  /** The open submissions as last read, and the refused ones that can be continued; oldest first. */
  get submissions(): readonly Submission[] {
    return this.#known.submissions;
  }

  /** See `KnownRecords`. */
  isCreated(id: string): boolean {
    return this.#known.isCreated(id);
  }

  /** Whether this process may say that a submission isn't charged: see `KnownRecords`. */
  maySayNotCharged(id: string): boolean {
    return this.#known.maySayNotCharged(id);
  }

  /** Remembers that a look for its run was answered. */
  recordAnsweredLook(id: string): void {
    this.#known.recordAnsweredLook(id);
  }

  /** The keys of unreadable submissions that may be open. Each stops its own bytes (rule 11 in docs/journal.md). */
  get unreadable(): readonly string[] {
    return this.#known.unreadable;
  }

  /** Reads what is new in the folder. Without a file watcher, only this shows other windows' changes. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      this.#accept(await this.#store.list());
    });
  }

  /**
   * Returns the submissions of these bytes, for the question before the user submits them again.
   * @throws file system errors
   */
  async knownOf(dataset: SameDataset): Promise<KnownSubmissions> {
    const known = await this.#store.headsOf(bytesKeyOf(dataset));
    this.#accept();
    return known;
  }

  /** Returns the readable receipts, newest first. */
  async receipts(): Promise<Receipt[]> {
    return receiptsAmong(await this.records());
  }

  /** Returns all readable submissions, also those that are over. */
  async records(): Promise<readonly Submission[]> {
    await this.reload();
    return this.latest;
  }

  /** All readable records as last read. */
  get latest(): readonly Submission[] {
    return this.#known.latest;
  }

  /**
   * Claims the bytes: writes a new submission durably, after those that the user knew of, and takes its lease.
   * @returns `existing`: an open submission of the same account that must end first
   * @throws SubmissionError `taken` if another window was first; file system errors. It must not be sent then
   */
  async create(
    submission: Submission,
    known: KnownSubmissions,
  ): Promise<{ lease: Lease } | { existing: Submission }> {
    const isOpen = (one: Submission | undefined) =>
      one && !isOver(one) && one.accountId === submission.accountId;
    const existing = known.find(({ record }) => isOpen(record))?.record;
    if (existing !== undefined) return { existing };
    const lease = await this.#leases.take(submission.id);
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      const head = await this.#store.claim(bytesKeyOf(submission), known, submission);
      this.#owned.set(lease, head);
      this.#known.created(submission.id);
      this.#accept();
      return { lease };
    } catch (error) {
      lease.release();
      throw error instanceof OvertakenError ? new SubmissionError('taken') : error;
    }
  }

  /**
   * Takes the lease of an open or refused submission. Undefined if another window has it, or the submission is over,
   * gone, or unreadable.
   * @throws file system errors
   */
  async acquire(id: string): Promise<Owned | undefined> {
    const name = this.#find(id);
    if (name === undefined) return undefined;
    const lease = await this.#leases.take(id, ACQUIRE_TRIES);
    if (lease === undefined) return undefined;
    try {
      const head = await this.#store.read(name);
      const submission = head?.record;
      if (head !== undefined && submission?.id === id && (!isOver(submission) || isRefused(submission))) {
        this.#owned.set(lease, head);
        this.#accept();
        return { lease, submission };
      }
    } catch (error) {
      lease.release();
      throw error;
    }
    lease.release();
    this.#accept();
    return undefined;
  }

  /**
   * Appends a changed submission durably.
   * @throws SubmissionError `not-owner` if another window has appended; file system errors: it may be written
   */
  async write(lease: Lease, submission: Submission): Promise<void> {
    const below = this.#owned.get(lease);
    if (below?.record?.id !== submission.id) throw new SubmissionError('not-owner');
    try {
      const head = await this.#store.append(below, submission);
      this.#owned.set(lease, head);
      await this.#store.emptyBelow(head);
    } catch (error) {
      if (error instanceof OvertakenError) await this.#overtaken();
      const owned = await this.#adopt(lease, below, submission);
      // On a full disk, another window's version can still be read. If reading fails, too, there may be one.
      await this.#store.assertHighest(owned).catch(() => this.#overtaken());
      throw error;
    } finally {
      this.#accept();
    }
  }

  /** Writes `sent`, and checks that it is the highest version: then the last bytes may leave. @throws as `write` */
  async close(lease: Lease, submission: Submission): Promise<void> {
    await this.write(lease, submission);
    await this.assertLatest(lease);
  }

  /** @throws SubmissionError `not-owner` unless an owned submission is as this window left it; file system errors */
  async assertLatest(lease: Lease): Promise<void> {
    const owned = this.#owned.get(lease);
    if (owned === undefined) throw new SubmissionError('not-owner');
    try {
      await this.#store.assertHighest(owned);
    } catch (error) {
      if (error instanceof OvertakenError) await this.#overtaken();
      throw error;
    }
  }

  /**
   * Ends an owned submission: it becomes a receipt, and the lease ends. A charge is written even over another
   * window's version, so that no known charge is lost.
   * @throws as `write`; the lease is not released then
   */
  async settle(lease: Lease, receipt: Receipt): Promise<void> {
    // Pass the name, because the record may have become unreadable.
    await (isCharged(receipt) ? this.#charge(receipt, this.#owned.get(lease)) : this.write(lease, receipt));
    lease.release();
  }

  /**
   * Adds a run to the receipt with its marker. An ended receipt becomes charged; a charged one gets a further run.
   * Nothing else changes a receipt, except `setShown`.
   * @returns the receipt; undefined if there is none, or it has the run
   * @throws file system errors
   */
  async addCharge(id: string, charge: ChargedReceipt['charge']): Promise<ChargedReceipt | undefined> {
    const name = this.#find(id);
    const record = name && (await this.#store.read(name))?.record;
    if (record?.id !== id || !isOver(record)) return undefined;
    return this.#charge(charged(record, charge), name);
  }

  /**
   * Whether any running process, including this one, works on a submission. False without locks, when nobody knows.
   */
  async isOwned(id: string): Promise<boolean> {
    return this.#find(id) !== undefined && (await this.#leases.isTaken(id));
  }

  /** Returns the charges that no window has shown, for example because it was killed after the response. */
  async unreported(): Promise<ChargedReceipt[]> {
    return (await this.receipts()).filter(isCharged).filter(({ charge }) => charge.unshown === true);
  }

  /**
   * Reports charges in one window at a time; if that one is killed, another one can.
   * @returns what `report` returns; undefined while another window reports
   */
  async reportAlone<T>(report: () => Promise<T>): Promise<T | undefined> {
    // Without locks, a charge is reported twice rather than never.
    const lease = await this.#leases.take('notices', 1);
    if (lease === undefined) return undefined;
    try {
      return await report();
    } finally {
      lease.release();
    }
  }

  /** Records that the user saw a charge, unless it got a further run. Never rejects: it may be shown again. */
  async setShown({ id, charge }: ChargedReceipt): Promise<void> {
    const change = (head: Head<Submission> | undefined): Submission | undefined => {
      const record = head?.record;
      if (record?.id !== id || !isCharged(record)) return undefined;
      const isSame = runsOf(record.charge).length === runsOf(charge).length;
      if (!isSame || record.charge.unshown === undefined) return undefined;
      return { ...record, charge: { ...record.charge, unshown: undefined } };
    };
    await this.#appendAnyway(this.#find(id), change).catch(() => undefined);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#store.dispose();
    this.#known.dispose();
  }

  /** The name of a known record. */
  #find(id: string): Head<Submission> | undefined {
    return [...this.#store.heads.values()].find(({ record }) => record?.id === id);
  }

  /**
   * After a failed write, which may have created its version, returns the version to continue from. Never rejects.
   */
  async #adopt(lease: Lease, below: Head<Submission>, submission: Submission): Promise<Head<Submission>> {
    try {
      const head = await this.#store.read(below);
      const asRead = CODEC.parse(CODEC.format(submission));
      if (head?.n !== below.n + 1 || !isDeepStrictEqual(head.record, asRead)) return below;
      this.#owned.set(lease, head);
      return head;
    } catch {
      // If the version was created, it overtakes the next write, which is safe.
      return below;
    }
  }

  /** Reads what the other window wrote. @throws SubmissionError `not-owner` */
  async #overtaken(): Promise<never> {
    await this.reload().catch(() => undefined);
    throw new SubmissionError('not-owner');
  }

  /**
   * Writes a charge on top of any version, even of an unreadable one (rule 9 in docs/journal.md). If it is charged
   * already, adds the new runs.
   * @returns undefined if it has them already, or if the name has another submission since storage was set back
   */
  async #charge(receipt: ChargedReceipt, name: Name | undefined): Promise<ChargedReceipt | undefined> {
    const charge = { ...receipt.charge, unshown: true } as const;
    let written: ChargedReceipt | undefined;
    await this.#appendAnyway(name, (head) => {
      const record = head?.record;
      // A later format says that it is charged.
      if (head?.laterEnd === 'charged') return (written = undefined);
      if (record !== undefined && record.id !== receipt.id) return (written = undefined);
      // Another window may have made attempts since.
      const theirs = record?.attempts ?? [];
      const attempts = theirs.length > receipt.attempts.length ? theirs : receipt.attempts;
      written = record && isCharged(record) ? withRuns(record, charge) : { ...receipt, attempts, charge };
      return written;
    });
    return written;
  }

  async #appendAnyway(
    name: Name | undefined,
    change: (head: Head<Submission> | undefined) => Submission | undefined,
  ): Promise<void> {
    if (name !== undefined) await this.#store.appendAnyway(name, change);
    this.#accept();
  }

  /** Publishes what was read or written. @param failed as in `KnownRecords.accept` */
  #accept(failed?: readonly string[]): void {
    this.#known.accept(this.#store.heads, failed);
  }
}
