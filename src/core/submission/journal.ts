import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sequencer } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Event } from '../base/event.ts';
import { syncDirectory } from '../base/folders.ts';
import { renameOver } from '../base/renameOver.ts';
import { makeDirectoryDurably, writeFileDurably } from '../storage/durableFile.ts';
import { Lease, LeaseUnavailableError } from '../storage/lease.ts';
import { SubmissionError } from './errors.ts';
import {
  isCharged,
  isDuplicate,
  isSettled,
  readJournalFile,
  runsOf,
  type ChargedReceipt,
  type Intent,
  type Receipt,
} from './intent.ts';
import { isEarlier, JournalFolder, type FolderOptions } from './journalFolder.ts';
import { JournalRecords } from './journalRecords.ts';
import { isHeld, prevents, stampOf, type UnreadRecord } from './unreadRecord.ts';

/** How often acquiring a lock is tried. The user waits; other windows' probes hold it more briefly. */
const ACQUIRE_TRIES = 20;
/** How often taking the lock for creating an intent is tried, for some seconds. */
const CREATE_TRIES = 400;
/** How often, and in which intervals, a record in use is read again before nothing is created. */
const IN_USE_TRIES = 10;
const IN_USE_AGAIN_MS = 250;
/** How long an intent waits for a later one of the same bytes to withdraw. */
const RIVAL_TRIES = 20;
const RIVAL_MS = 50;

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An open intent and this window's lease on it, which the caller must release. */
export interface Owned {
  lease: Lease;
  intent: Intent;
}

/** The submissions of the same bytes that the user knew of when consenting to another one. */
export interface KnownSubmissions {
  /** IDs of open intents of other accounts that don't prevent this one. */
  duplicates?: readonly string[];
  /** IDs of receipts. Any other receipt prevents this one; undefined: none does. */
  receipts?: readonly string[];
  /** Stamps of records that cannot be read, whatever they are. Any other one prevents this one. */
  unread?: readonly string[];
}

export interface JournalOptions extends Partial<Omit<FolderOptions, 'readAgainMs'>> {
  write?: typeof writeFileDurably;
  createTries?: number;
  inUseAgainMs?: number;
}

/**
 * Owns the submissions, which outlive a window, as durable files. An open intent has at most one owner among
 * all windows, whose lease is needed to write it. A settled one is a receipt, which changes only as `addCharge` says.
 * Contains no API keys or dataset rows.
 */
export class Journal implements Disposable {
  readonly #directory: string;
  readonly #folder: JournalFolder;
  readonly #records: JournalRecords;
  readonly #hints: JournalOptions['hints'];
  readonly #createTries: number;
  readonly #inUseAgainMs: number;
  /** Serializes access, so that older data never replaces newer data. */
  readonly #inTurn = sequencer();

  /** @param directory used by the journal only, in the extension's storage on the extension host's machine */
  constructor(
    directory: string,
    {
      write = writeFileDurably,
      createTries = CREATE_TRIES,
      inUseAgainMs = IN_USE_AGAIN_MS,
      ...options
    }: JournalOptions = {},
  ) {
    const ignore = () => undefined;
    this.#directory = directory;
    this.#folder = new JournalFolder(directory, (id) => this.isOwned(id), {
      onUnreadable: ignore,
      onHarmless: ignore,
      readAgainMs: 4 * inUseAgainMs,
      ...options,
    });
    this.#records = new JournalRecords(directory, this.#folder, write);
    this.#hints = options.hints;
    this.#createTries = createTries;
    this.#inUseAgainMs = inUseAgainMs;
  }

  /** Fires when the journal was opened, and when an intent was written, settled, or removed in any window. */
  get onDidChange(): Event<void> {
    return this.#folder.onDidChange;
  }

  get onDidChangeDamaged(): Event<void> {
    return this.#folder.onDidChangeDamaged;
  }

  /** Reads the open intents, and watches other windows' changes. */
  async open(): Promise<void> {
    for (const folder of ['', 'leases', 'notices'])
      await makeDirectoryDurably(path.join(this.#directory, folder), 0o700);
    await this.#folder.watch(() => this.reload());
  }

  /** The open intents as last read, oldest first. */
  get intents(): readonly Intent[] {
    return this.#folder.intents;
  }

  /** The records that cannot be read and may be open, until they are readable or ended, except those of running windows. */
  get damaged(): readonly UnreadRecord[] {
    return this.#folder.damaged;
  }

  /** Reads the open intents again. Without a file watcher, only this shows other windows' changes. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#folder.read();
    });
  }

  /** Returns the readable receipts, newest first. */
  async receipts(): Promise<Receipt[]> {
    await this.reload();
    return this.#folder.receipts.toSorted((one, other) => other.settled.at.localMs - one.settled.at.localMs);
  }

  /** Returns all readable records: the receipts, and the open intents. */
  async records(): Promise<readonly Intent[]> {
    const receipts = await this.receipts();
    return [...receipts, ...this.intents];
  }

  /**
   * Writes a new intent durably and takes ownership of it, in one window at a time. Returns an existing open
   * intent instead, if it was not refused and is for the same bytes, model, and service.
   * @throws LeaseUnavailableError, SubmissionError `journal-busy`, `journal-unreadable`, `record-in-use`,
   * `later-version`, `submitted-meanwhile`, and file system errors; no intent exists then
   */
  async create(
    intent: Intent,
    known: KnownSubmissions = {},
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const gate = await Lease.take(this.#records.lockFile('create'), this.#createTries);
    if (gate === undefined) throw new SubmissionError('journal-busy');
    try {
      for (let left = IN_USE_TRIES; ; left--)
        try {
          return await this.#inTurn(() => this.#createAlone(gate, intent, known));
        } catch (error) {
          const isInUse = error instanceof SubmissionError && error.code === 'record-in-use';
          if (!isInUse || left <= 1) throw error;
          await delay(this.#inUseAgainMs);
        }
    } finally {
      gate.release();
    }
  }

  /**
   * Takes ownership of an open intent, read from disk. Undefined if it is owned, settled, or gone. One that another
   * window had decided to end is settled as not charged.
   * @throws LeaseUnavailableError, and file system errors
   */
  async acquire(id: string): Promise<Owned | undefined> {
    if (!ID.test(id)) return undefined;
    const lease = await Lease.take(this.#records.lockFile(id), ACQUIRE_TRIES);
    if (lease === undefined) return undefined;
    try {
      const intent = await this.#inTurn(() => this.#records.readOwned(id));
      if (intent !== undefined) return { lease, intent };
    } catch (error) {
      lease.release();
      throw error;
    }
    lease.release();
    return undefined;
  }

  /**
   * Writes a changed intent durably.
   * @throws SubmissionError `not-owner`, and file system errors; the disk has the old or the new intent then
   */
  write(lease: Lease, intent: Intent): Promise<void> {
    return this.#inTurn(() => this.#records.write(lease, intent));
  }

  /**
   * Writes an intent with the mark of a closing boundary, which may be sent when this resolves.
   * @param before without the mark
   * @throws as `write`; no window may send the boundary then, unless another one decided that it may
   */
  close(lease: Lease, before: Intent, intent: Intent): Promise<void> {
    return this.#inTurn(() => this.#records.close(lease, before, intent));
  }

  /** Takes back `close`, whose boundary was not sent. Never rejects: it may stay closed, which leads to a check. */
  reopen(before: Intent): Promise<void> {
    return this.#inTurn(() => this.#records.reopen(before));
  }

  /**
   * Writes an intent that the service refused before any charge; no window sends its closing boundary afterwards.
   * @throws as `write`
   */
  refuse(lease: Lease, intent: Intent): Promise<void> {
    return this.#inTurn(() => this.#records.end(lease, intent));
  }

  /**
   * Settles an owned intent: it becomes a receipt, and the lease ends. A charge is written whoever owns the intent
   * now, and whatever it was settled as: no known charge is lost.
   * @throws SubmissionError `not-owner`, and file system errors; the lease is not released then
   */
  settle(lease: Lease, receipt: Receipt): Promise<void> {
    return this.#inTurn(async () => {
      if (lease.file !== this.#records.lockFile(receipt.id)) throw new SubmissionError('not-owner');
      if (isCharged(receipt)) await this.#records.charge(receipt);
      else await this.#records.end(lease, receipt);
      lease.release();
    });
  }

  /**
   * Adds a run with the marker of a settled submission to its receipt: one that was discarded or found not charged
   * becomes charged, and a charged one gets a further run. Nothing else ever changes a receipt.
   * @returns the receipt; undefined if there is none, or it has the run
   * @throws SubmissionError `not-owner` while another window changes it, LeaseUnavailableError, and file system errors
   */
  async addCharge(id: string, settled: ChargedReceipt['settled']): Promise<ChargedReceipt | undefined> {
    const lease = ID.test(id) ? await Lease.take(this.#records.lockFile(id), ACQUIRE_TRIES) : undefined;
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      return await this.#inTurn(async () => {
        const found = await readJournalFile(this.#records.file(id));
        if (found.kind !== 'intent' || !isSettled(found.intent)) return undefined;
        return this.#records.charge({ ...found.intent, settled });
      });
    } finally {
      lease.release();
    }
  }

  /**
   * Whether any running process, including this one, owns an intent.
   * @throws LeaseUnavailableError
   */
  async isOwned(id: string): Promise<boolean> {
    return ID.test(id) && (await Lease.isTaken(this.#records.lockFile(id)));
  }

  /**
   * Ends a record that cannot be read: renames its file, which no longer counts.
   * @returns false if it changed meanwhile, or a window owns it
   * @throws LeaseUnavailableError, and file system errors
   */
  async endDamaged({ id, file, stamp }: UnreadRecord): Promise<boolean> {
    const isForeign = !ID.test(id);
    const lease = isForeign ? undefined : await Lease.take(this.#records.lockFile(id), ACQUIRE_TRIES);
    if (lease === undefined && !isForeign) return false;
    try {
      return await this.#inTurn(async () => {
        if ((await stampOf(file)) !== stamp) return false;
        await renameOver(file, `${file}.discarded-${Date.now()}`);
        await syncDirectory(this.#directory).catch(() => undefined);
        await this.#hints?.end(id);
        await this.#folder.read();
        return true;
      });
    } finally {
      lease?.release();
    }
  }

  /** Returns the charges that no window has reported, perhaps because it was killed after the response. */
  async unreported(): Promise<ChargedReceipt[]> {
    const ids = await this.#records.notices();
    return ids.size === 0 ? [] : (await this.receipts()).filter(isCharged).filter(({ id }) => ids.has(id));
  }

  /**
   * Reports charges in one window at a time; if that one is killed, another one can.
   * @returns what `report` returns; undefined while another window reports
   */
  async reportAlone<T>(report: () => Promise<T>): Promise<T | undefined> {
    // Without locks, a charge is reported twice rather than never.
    const lease = await Lease.take(this.#records.lockFile('notices'), 1).catch(() => null);
    if (lease === undefined) return undefined;
    try {
      return await report();
    } finally {
      lease?.release();
    }
  }

  /** Records that the user saw a charge, unless it has a further run by now. Never rejects: at worst it is reported again. */
  async removeNotice({ id, settled }: ChargedReceipt): Promise<void> {
    const now = (await this.unreported().catch(() => [])).find((one) => one.id === id);
    if (now === undefined || runsOf(now.settled).length > runsOf(settled).length) return;
    await this.#records.removeNotice(id);
  }

  dispose(): void {
    this.#folder.dispose();
  }

  async #createAlone(
    gate: Lease,
    intent: Intent,
    known: KnownSubmissions,
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const { later, unread } = await this.#folder.read();
    const sameId = this.intents.find(({ id }) => id === intent.id);
    const existing = sameId ?? this.#openDuplicatesOf(intent, known)[0];
    if (existing !== undefined) return { existing };
    if (later.some((key) => isDuplicate(key, intent))) throw new SubmissionError('later-version');
    const unallowed = unread.filter((record) => prevents(record, intent, known));
    const first = unallowed.find((record) => !isHeld(record)) ?? unallowed[0];
    if (first !== undefined)
      throw new SubmissionError(isHeld(first) ? 'record-in-use' : 'journal-unreadable', first);
    const lease = await Lease.take(this.#records.lockFile(intent.id));
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      await this.#records.add(intent);
      // If the folder was replaced meanwhile, another window may hold a different `create` lock.
      if (!gate.isHeld() || !lease.isHeld()) throw new LeaseUnavailableError();
      const rival = await this.#rivalOf(intent, known);
      if (rival === undefined) return { lease };
      await this.#records.remove(intent.id);
      lease.release();
      return { existing: rival };
    } catch (error) {
      await this.#records.remove(intent.id);
      lease.release();
      throw error;
    }
  }

  /**
   * Reads the folder again after an intent was written, whatever the locks say: of two that were written at once, the later
   * one withdraws.
   * @returns the open intent for which this one must withdraw
   * @throws SubmissionError `submitted-meanwhile`
   */
  async #rivalOf(intent: Intent, known: KnownSubmissions): Promise<Intent | undefined> {
    for (let left = RIVAL_TRIES; ; left--) {
      await this.#folder.read();
      const isNew = (receipt: Receipt) =>
        receipt.settled.kind !== 'not-charged' &&
        isDuplicate(receipt, intent) &&
        known.receipts?.includes(receipt.id) === false;
      if (this.#folder.receipts.some(isNew)) throw new SubmissionError('submitted-meanwhile');
      const rivals = this.#openDuplicatesOf(intent, known);
      const earlier = rivals.find((other) => isEarlier(other, intent));
      // A later one withdraws, unless it was written, read the folder, and left before this one was written.
      if (earlier !== undefined || rivals.length === 0 || left <= 1) return earlier ?? rivals[0];
      await delay(RIVAL_MS);
    }
  }

  #openDuplicatesOf(intent: Intent, { duplicates = [] }: KnownSubmissions): Intent[] {
    const isAllowedBeside = ({ id, accountId }: Intent) =>
      accountId !== intent.accountId && duplicates.includes(id);
    return this.intents.filter(
      (other) =>
        other.id !== intent.id &&
        other.refused === undefined &&
        isDuplicate(other, intent) &&
        !isAllowedBeside(other),
    );
  }
}
