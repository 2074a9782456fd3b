import { readdir, rename } from 'node:fs/promises';
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
  type Version,
  type VersionOptions,
} from '../storage/versions.ts';
import type { KnownSubmissions } from './earlier.ts';
import { SubmissionError } from './errors.ts';
import { isCharged, isSettled, runsOf, type ChargedReceipt, type Intent, type Receipt } from './intent.ts';
import { KnownRecords } from './knownRecords.ts';
import { Leases } from './leases.ts';
import { CODEC, isLater, withRuns, type JournalRecord } from './record.ts';
import { receiptsAmong } from './receipts.ts';
import { unwrittenCharges } from './unwrittenCharges.ts';
import { mayFollow, stepOf } from './transitions.ts';
import { knownOnContinue, Rivals } from './rivals.ts';

/** How often acquiring a lock is tried. The user waits for it; probes of other windows are short. */
const ACQUIRE_TRIES = 20;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An open intent and this window's lease on it, which the caller must release. */
export interface Owned {
  lease: Lease;
  intent: Intent;
}

export interface JournalOptions extends VersionOptions {
  /** Called once with the path of each record that can't be read. */
  onUnreadable?: (file: string) => void;
  /** Called once with the path of each other unreadable version. What it says is known without it. */
  onHarmless?: (file: string) => void;
}

/**
 * Owns the submissions, which outlive a window. Each is a chain of versions; the highest one counts. A window
 * appends the next one only after reading the highest, so of two windows one is overtaken. A lease only
 * prevents double work; no safety depends on it. A settled one is a receipt. Contains no API keys or rows.
 */
export class Journal implements Disposable {
  readonly #directory: string;
  readonly #store: VersionStore<JournalRecord>;
  readonly #leases: Leases;
  readonly unwritten: ReturnType<typeof unwrittenCharges>;
  readonly #known: KnownRecords;
  readonly #rivals: Rivals;
  /** The version that the owner of an intent last read or wrote. */
  readonly #owned = new WeakMap<Lease, { head: Head<JournalRecord>; isWritten: boolean }>();
  readonly #inTurn = sequencer();
  #isDisposed = false;

  /** @param directory only for the journal, in the extension's storage on the extension host's machine */
  constructor(directory: string, options: JournalOptions = {}) {
    this.#directory = directory;
    this.#leases = new Leases(path.join(directory, 'leases'));
    this.unwritten = unwrittenCharges(path.join(directory, 'leases'));
    const fileOf = ({ id, n }: Version) => path.join(directory, `${id}.${n}.json`);
    this.#known = new KnownRecords({
      onUnreadable: (head) => options.onUnreadable?.(fileOf(head)),
      onHarmless: (head) => options.onHarmless?.(fileOf(head)),
    });
    this.#store = new VersionStore(directory, CODEC, options);
    this.#rivals = new Rivals({
      folder: directory,
      store: this.#store,
      reload: () => this.reload(),
      unreadable: () => this.unreadable,
      appendAnyway: (id, change) => this.#appendAnyway(id, change),
    });
  }

  /** Fires when the journal was opened, and when an open intent was written, settled, or removed in any window. */
  get onDidChange(): Event<void> {
    return this.#known.onDidChange;
  }

  get onDidChangeUnreadable(): Event<void> {
    return this.#known.onDidChangeUnreadable;
  }

  /** Reads the open intents, and watches other windows' changes. */
  async open(): Promise<void> {
    if (this.#isDisposed) return;
    await makeDirectoryDurably(this.#directory, 0o700);
    // Watch before the first read, so that no change is missed in between.
    this.#store.watch(() => this.reload());
    await this.reload();
    this.#known.opened();
    void this.#store.removeTemporaries();
  }

  /** The open intents as last read, oldest first. */
  get intents(): readonly Intent[] {
    return this.#known.intents;
  }

  /** See `KnownRecords`. */
  isCreated(id: string): boolean {
    return this.#known.isCreated(id);
  }

  /** Whether this process may say that a record isn't charged: see `KnownRecords`. */
  isLooked(id: string): boolean {
    return this.#known.isLooked(id);
  }

  /** The IDs of the unreadable records that weren't settled. Any may be open, for any dataset. */
  get unreadable(): readonly string[] {
    return this.#known.unreadable;
  }

  /** Reads what is new in the folder. Without a file watcher, only this shows other windows' changes. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      this.#accept([...(await this.#store.list()).failed.keys()]);
    });
  }

  /** Returns the readable receipts, newest first. */
  async receipts(): Promise<Receipt[]> {
    return receiptsAmong(await this.records());
  }

  /** Returns all readable records: those that are settled, and the open intents. */
  async records(): Promise<readonly Intent[]> {
    await this.reload();
    return this.latest;
  }

  /** All readable records as last read. */
  get latest(): readonly Intent[] {
    return this.#known.latest;
  }

  /**
   * Writes a new intent durably and takes its lease. If another one of the same bytes and model comes first,
   * this one is withdrawn. Then the other one is returned if it is open.
   * @throws SubmissionError `journal-unreadable`, `later-version`, `submitted-meanwhile`, `not-owner`, and
   * file system errors; then this process never sends it
   */
  async create(
    intent: Intent,
    known: KnownSubmissions = {},
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const lease = await this.#leases.take(intent.id);
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      const head = await this.#store.create(intent.id, intent);
      this.#owned.set(lease, { head, isWritten: true });
      this.#known.created(intent.id);
      this.#accept();
      const existing = await this.#rivals.giveWay(intent, known);
      // Another window may have withdrawn it, and ended its own before this one listed the folder.
      if (existing === undefined && !(await this.#store.isHighest(head)))
        throw new SubmissionError('submitted-meanwhile');
      if (existing === undefined) return { lease };
      lease.release();
      return { existing };
    } catch (error) {
      await this.#rivals.withdraw(intent);
      lease.release();
      // Another process may have continued it.
      const record = (await this.#store.read(intent.id).catch(() => undefined))?.record;
      const isOthers = record !== undefined && (isLater(record) || record.attempts.length > 0);
      throw isOthers || error instanceof OvertakenError ? new SubmissionError('not-owner') : error;
    }
  }

  /**
   * Decides again before a draft is continued: its window may have been killed before it gave way.
   * @returns the open intent that replaces it; then the draft is withdrawn
   * @throws as `create`; the draft is withdrawn only with `submitted-meanwhile`
   */
  async giveWay(draft: Intent): Promise<Intent | undefined> {
    const receipts = await this.receipts();
    const known = knownOnContinue(draft, [...this.intents, ...receipts]);
    return this.#rivals.giveWay(draft, { ...known, unreadable: this.unreadable });
  }

  /**
   * Takes the lease of an open intent. Undefined if another window has it, or the intent is settled or gone.
   * On top of an unreadable highest version, the worst that it may have said is appended.
   * @throws file system errors
   */
  async acquire(id: string): Promise<Owned | undefined> {
    if (!ID.test(id)) return undefined;
    const lease = await this.#leases.take(id, ACQUIRE_TRIES);
    if (lease === undefined) return undefined;
    try {
      const head = await this.#readSound(id);
      const intent = head?.record;
      if (head !== undefined && intent !== undefined && !isLater(intent) && !isSettled(intent)) {
        this.#owned.set(lease, { head, isWritten: false });
        this.#accept();
        return { lease, intent };
      }
    } catch (error) {
      lease.release();
      if (error instanceof OvertakenError) return undefined;
      throw error;
    }
    lease.release();
    this.#accept();
    return undefined;
  }

  /**
   * Appends a changed intent durably.
   * @throws SubmissionError `not-owner` if another window has appended; file system errors: it may be written
   */
  async write(lease: Lease, intent: Intent): Promise<void> {
    const { head: below, isWritten = false } = this.#owned.get(lease) ?? {};
    if (below?.id !== intent.id) throw new SubmissionError('not-owner');
    const { record } = below;
    if (record !== undefined && !isLater(record) && !mayFollow(record, intent, isWritten))
      throw new RangeError(`${stepOf(intent)} can't follow ${stepOf(record)}`);
    try {
      const head = await this.#store.append(below, intent);
      this.#owned.set(lease, { head, isWritten: true });
      await this.#store.empty(head);
    } catch (error) {
      if (error instanceof OvertakenError) await this.#overtaken();
      const owned = await this.#adopt(lease, below, intent);
      // On a full disk, another process's version can still be read. If not even that, there may be one.
      if (!(await this.#store.isHighest(owned).catch(() => false))) await this.#overtaken();
      throw error;
    } finally {
      this.#accept();
    }
  }

  /** Appends the mark that the closing boundary may be sent. It may be sent once this resolves. @throws as `write` */
  async close(lease: Lease, intent: Intent): Promise<void> {
    await this.write(lease, intent);
    await this.assertLatest(lease);
  }

  /** @throws SubmissionError `not-owner` if another window appended to an owned intent; file system errors */
  async assertLatest(lease: Lease): Promise<void> {
    const owned = this.#owned.get(lease);
    if (owned === undefined || !(await this.#store.isHighest(owned.head))) await this.#overtaken();
  }

  /**
   * Settles an owned intent: it becomes a receipt, and the lease ends. A charge is written even over another
   * window's version, so that no known charge is lost.
   * @throws as `write`; the lease is not released then
   */
  async settle(lease: Lease, receipt: Receipt): Promise<void> {
    await (isCharged(receipt) ? this.#charge(receipt) : this.write(lease, receipt));
    lease.release();
  }

  /**
   * Adds a run to the settled submission whose marker it has. A discarded one, or one found not charged,
   * becomes charged. A charged one gets a further run. Nothing else ever changes a receipt.
   * @returns the receipt; undefined if there is none, or it has the run
   * @throws file system errors
   */
  async addCharge(id: string, settled: ChargedReceipt['settled']): Promise<ChargedReceipt | undefined> {
    const record = ID.test(id) ? (await this.#store.read(id))?.record : undefined;
    if (record === undefined || isLater(record) || !isSettled(record)) return undefined;
    return this.#charge({ ...record, settled });
  }

  /** Whether any running process, also this one, works on an intent. False without locks: it isn't known. */
  async isOwned(id: string): Promise<boolean> {
    return ID.test(id) && (await this.#leases.isTaken(id));
  }

  /** Whether the folder's file system has locks; true until one was tried. */
  get hasLocks(): boolean {
    return this.#leases.hasLocks;
  }

  /**
   * Moves records that still can't be read into the folder `damaged`, where they no longer count.
   * @param ids those that the user agreed to move
   * @throws file system errors
   */
  async setAside(ids: readonly string[]): Promise<void> {
    const aside = path.join(this.#directory, 'damaged');
    await makeDirectoryDurably(aside, 0o700);
    await this.reload();
    for (const id of this.unreadable.filter((one) => ids.includes(one)))
      for (const name of await readdir(this.#directory))
        if (name.startsWith(`${id}.`)) await rename(path.join(this.#directory, name), path.join(aside, name));
    await this.reload();
  }

  /** Returns the charges that no window has shown: a window may be killed after the response. */
  async unreported(): Promise<ChargedReceipt[]> {
    return (await this.receipts()).filter(isCharged).filter(({ settled }) => settled.unshown === true);
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
  async setShown({ id, settled }: ChargedReceipt): Promise<void> {
    const change = (head: Head<JournalRecord> | undefined): Intent | undefined => {
      const record = head?.record;
      if (record === undefined || isLater(record) || !isSettled(record) || !isCharged(record))
        return undefined;
      const isSame = runsOf(record.settled).length === runsOf(settled).length;
      if (!isSame || record.settled.unshown === undefined) return undefined;
      return { ...record, settled: { ...record.settled, unshown: undefined } };
    };
    await this.#appendAnyway(id, change).catch(() => undefined);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#store.dispose();
    this.#known.dispose();
  }

  /** Reads the highest version, and appends to it if it can't be read. @throws OvertakenError, and file system errors */
  async #readSound(id: string): Promise<Head<JournalRecord> | undefined> {
    const head = await this.#store.read(id);
    return head?.state === 'damaged' && !isLater(head.record) ? this.#store.append(head, head.record) : head;
  }

  /** A failed write may have created its version: then that one is owned. Never rejects. @returns the owned one */
  async #adopt(lease: Lease, below: Version, intent: Intent): Promise<Version> {
    const { id, n } = below;
    try {
      const head = await this.#store.read(id);
      const asRead = CODEC.parse(CODEC.format(intent), id);
      if (head?.n !== n + 1 || !isDeepStrictEqual(head.record, asRead)) return below;
      this.#owned.set(lease, { head, isWritten: true });
      return head;
    } catch {
      // If it was created, it overtakes the next write, which is safe.
      return below;
    }
  }

  /** Reads what the other window wrote. @throws SubmissionError `not-owner` */
  async #overtaken(): Promise<never> {
    await this.reload().catch(() => undefined);
    throw new SubmissionError('not-owner');
  }

  /** Writes a charge on top of any version. A charge gets its new runs. @returns undefined if it had them */
  async #charge(receipt: ChargedReceipt): Promise<ChargedReceipt | undefined> {
    const settled = { ...receipt.settled, unshown: true } as const;
    let written: ChargedReceipt | undefined;
    await this.#appendAnyway(receipt.id, (head) => {
      const record = head?.record;
      if (record !== undefined && isLater(record)) return (written = undefined);
      const isKnown = record !== undefined && isSettled(record) && isCharged(record);
      // Another window may have made attempts since.
      const theirs = record?.attempts ?? [];
      const attempts = theirs.length > receipt.attempts.length ? theirs : receipt.attempts;
      written = isKnown ? withRuns(record, settled) : { ...receipt, attempts, refused: undefined, settled };
      return written;
    });
    return written;
  }

  async #appendAnyway(
    id: string,
    change: (head: Head<JournalRecord> | undefined) => Intent | undefined,
  ): Promise<void> {
    const head = await this.#store.appendAnyway(id, change);
    if (head !== undefined) await this.#store.empty(head);
    this.#accept();
  }

  /** @param failed IDs of the records that couldn't be read now; undefined if unchanged */
  #accept(failed?: readonly string[]): void {
    this.#known.accept(this.#store.heads, failed);
  }
}
