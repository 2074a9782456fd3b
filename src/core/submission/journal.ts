import { mkdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sequencer } from '../base/async.ts';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from '../storage/durableFile.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { Lease, LeaseUnavailableError } from '../storage/lease.ts';
import { decide, decisionAbout, decisionFile, decisionOf, withClosing } from './closing.ts';
import { SubmissionError } from './errors.ts';
import {
  isCharged,
  isDuplicate,
  isSettled,
  mayBeCharged,
  type ChargedReceipt,
  type Intent,
  type Receipt,
  intentText,
  readJournalFile,
  runsOf,
} from './intent.ts';
import { JournalFolder, namesIn, type FolderContent, type FolderOptions } from './journalFolder.ts';
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

export interface JournalOptions extends Partial<FolderOptions> {
  write?: typeof writeFileDurably;
  createTries?: number;
  inUseAgainMs?: number;
}

/**
 * Owns the submissions, which outlive a window, as durable files. An open intent has at most one owner among
 * all windows, who compares the file with what it last wrote before it writes again: a lease can be lost without a
 * trace. A settled one is a receipt, which changes only as `addCharge` says. Contains no API keys or dataset rows.
 */
export class Journal implements Disposable {
  readonly #directory: string;
  readonly #leases: string;
  /** The folder with an empty file, named by the receipt's ID, for each unreported charge. */
  readonly #notices: string;
  readonly #options: Required<Omit<JournalOptions, 'hints'>> & Pick<JournalOptions, 'hints'>;
  readonly #folder: JournalFolder;
  readonly #onDidChange = new Emitter<void>();
  readonly #onDidChangeDamaged = new Emitter<void>();
  /** Serializes access, so that older data never replaces newer data. */
  readonly #inTurn = sequencer();
  /** IDs of unreported charges whose notice file could not be written. Only this window knows about them. */
  readonly #unwrittenNotices = new Set<string>();
  /** By ID, the texts that the file of an owned intent may have: after a failed write, the old or the new one. */
  readonly #written = new Map<string, readonly string[]>();
  #watch: FolderWatch | undefined;
  #readAgain: NodeJS.Timeout | undefined;
  #disposed = false;
  #intents: readonly Intent[] = [];
  #damaged: readonly UnreadRecord[] = [];

  /** Fires when the journal was opened, and when an intent was written, settled, or removed in any window. */
  readonly onDidChange = this.#onDidChange.event;
  readonly onDidChangeDamaged = this.#onDidChangeDamaged.event;

  /** @param directory used by the journal only, in the extension's storage on the extension host's machine */
  constructor(directory: string, options: JournalOptions = {}) {
    const ignore = () => undefined;
    this.#options = {
      onUnreadable: ignore,
      onDecided: ignore,
      write: writeFileDurably,
      createTries: CREATE_TRIES,
      inUseAgainMs: IN_USE_AGAIN_MS,
      ...options,
    };
    this.#directory = directory;
    this.#folder = new JournalFolder(directory, (id) => this.isOwned(id), this.#options);
    this.#leases = path.join(directory, 'leases');
    this.#notices = path.join(directory, 'notices');
  }

  /** Reads the open intents, and watches other windows' changes. */
  async open(): Promise<void> {
    for (const folder of [this.#directory, this.#leases, this.#notices])
      await makeDirectoryDurably(folder, 0o700);
    if (this.#disposed) return;
    // Watch before the first read, so that no change is missed in between.
    this.#watch?.dispose();
    this.#watch = new FolderWatch(this.#directory, '.json', () => this.reload());
    await this.reload();
    this.#onDidChange.fire();
  }

  /** The open intents as last read, oldest first. */
  get intents(): readonly Intent[] {
    return this.#intents;
  }

  /** The records that cannot be read and may be open, until they are readable or ended, except those of running windows. */
  get damaged(): readonly UnreadRecord[] {
    return this.#damaged;
  }

  /** Reads the open intents again. Without a file watcher, only this shows other windows' changes. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
    });
  }

  /** Returns the readable receipts, newest first. */
  async receipts(): Promise<Receipt[]> {
    await this.reload();
    return this.#folder.receipts.toSorted((one, other) => other.settled.at.localMs - one.settled.at.localMs);
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
    const gate = await Lease.take(this.#lockFile('create'), this.#options.createTries);
    if (gate === undefined) throw new SubmissionError('journal-busy');
    try {
      for (let left = IN_USE_TRIES; ; left--)
        try {
          return await this.#inTurn(() => this.#createAlone(gate, intent, known));
        } catch (error) {
          const isInUse = error instanceof SubmissionError && error.code === 'record-in-use';
          if (!isInUse || left <= 1) throw error;
          await delay(this.#options.inUseAgainMs);
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
    const lease = await Lease.take(this.#lockFile(id), ACQUIRE_TRIES);
    if (lease === undefined) return undefined;
    try {
      const intent = await this.#inTurn(() => this.#readOwned(id));
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
    return this.#inTurn(async () => {
      await this.#put(intent, lease);
      // This may have overwritten the mark of a closing boundary that another owner is sending.
      if ((await decisionAbout(this.#directory, intent)) !== 'closing') return;
      await this.#read().catch(() => undefined);
      throw new SubmissionError('not-owner');
    });
  }

  /**
   * Writes an intent with the mark of a closing boundary, which may be sent when this resolves.
   * @param before without the mark
   * @throws as `write`; no window may send the boundary then, unless another one decided that it may
   */
  close(lease: Lease, before: Intent, intent: Intent): Promise<void> {
    return this.#inTurn(async () => {
      await this.#put(intent, lease);
      if (!(await decide(decisionFile(this.#directory, before), 'closing')))
        throw new SubmissionError('not-owner');
      try {
        // Between comparing and writing, another window may have written.
        await this.#checkOwner(lease, intent.id);
      } catch (error) {
        await this.#undecide(before);
        throw error;
      }
    });
  }

  /** Takes back `close`, whose boundary was not sent. Never rejects: it may stay closed, which leads to a check. */
  reopen(before: Intent): Promise<void> {
    return this.#inTurn(() => this.#undecide(before));
  }

  /**
   * Writes an intent that the service refused before any charge; no window sends its closing boundary afterwards.
   * @throws as `write`
   */
  refuse(lease: Lease, intent: Intent): Promise<void> {
    return this.#inTurn(async () => {
      await this.#end(intent, lease);
    });
  }

  /**
   * Settles an owned intent: it becomes a receipt, and the lease ends. A charge is written whoever owns the intent
   * now, and whatever it was settled as: no known charge is lost.
   * @throws SubmissionError `not-owner`, and file system errors; the lease is not released then
   */
  settle(lease: Lease, receipt: Receipt): Promise<void> {
    return this.#inTurn(async () => {
      if (lease.file !== this.#lockFile(receipt.id)) throw new SubmissionError('not-owner');
      if (isCharged(receipt)) await this.#putCharge(receipt);
      else {
        await this.#end(receipt, lease);
      }
      this.#written.delete(receipt.id);
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
    const lease = ID.test(id) ? await Lease.take(this.#lockFile(id), ACQUIRE_TRIES) : undefined;
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      return await this.#inTurn(async () => {
        const found = await readJournalFile(this.#file(id));
        if (found.kind !== 'intent' || !isSettled(found.intent)) return undefined;
        return this.#putCharge({ ...found.intent, settled });
      });
    } finally {
      this.#written.delete(id);
      lease.release();
    }
  }

  /**
   * Whether any running process, including this one, owns an intent.
   * @throws LeaseUnavailableError
   */
  async isOwned(id: string): Promise<boolean> {
    return ID.test(id) && (await Lease.isTaken(this.#lockFile(id)));
  }

  /**
   * Ends a record that cannot be read: renames its file, which no longer counts.
   * @returns false if it changed meanwhile, or a window owns it
   * @throws LeaseUnavailableError, and file system errors
   */
  async endDamaged({ id, file, stamp }: UnreadRecord): Promise<boolean> {
    const isForeign = !ID.test(id);
    const lease = isForeign ? undefined : await Lease.take(this.#lockFile(id), ACQUIRE_TRIES);
    if (lease === undefined && !isForeign) return false;
    try {
      return await this.#inTurn(async () => {
        if ((await stampOf(file)) !== stamp) return false;
        await rename(file, `${file}.discarded-${Date.now()}`);
        await syncDirectory(this.#directory).catch(() => undefined);
        await this.#options.hints?.end(id);
        await this.#read();
        return true;
      });
    } finally {
      lease?.release();
    }
  }

  /** Returns the charges that no window has reported, perhaps because it was killed after the response. */
  async unreported(): Promise<ChargedReceipt[]> {
    const written = await namesIn(this.#notices).catch(() => []);
    const ids = new Set([...written, ...this.#unwrittenNotices]);
    return ids.size === 0 ? [] : (await this.receipts()).filter(isCharged).filter(({ id }) => ids.has(id));
  }

  /**
   * Reports charges in one window at a time; if that one is killed, another one can.
   * @returns what `report` returns; undefined while another window reports
   */
  async reportAlone<T>(report: () => Promise<T>): Promise<T | undefined> {
    // Without locks, a charge is reported twice rather than never.
    const lease = await Lease.take(this.#lockFile('notices'), 1).catch(() => null);
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
    this.#unwrittenNotices.delete(id);
    await unlink(path.join(this.#notices, id)).catch(() => undefined);
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch?.dispose();
    clearTimeout(this.#readAgain);
    this.#onDidChange.dispose();
    this.#onDidChangeDamaged.dispose();
  }

  #file(id: string): string {
    return path.join(this.#directory, `${id}.json`);
  }

  #lockFile(id: string): string {
    return path.join(this.#leases, `${id}.lock`);
  }

  async #note(id: string): Promise<void> {
    await mkdir(this.#notices, { recursive: true, mode: 0o700 });
    await writeFile(path.join(this.#notices, id), '', { mode: 0o600 });
  }

  async #createAlone(
    gate: Lease,
    intent: Intent,
    known: KnownSubmissions,
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const { later, unread } = await this.#read();
    const sameId = this.#intents.find(({ id }) => id === intent.id);
    const existing = sameId ?? this.#openDuplicatesOf(intent, known)[0];
    if (existing !== undefined) return { existing };
    if (later.some((key) => isDuplicate(key, intent))) throw new SubmissionError('later-version');
    const unallowed = unread.filter((record) => prevents(record, intent, known));
    const first = unallowed.find((record) => !isHeld(record)) ?? unallowed[0];
    if (first !== undefined)
      throw new SubmissionError(isHeld(first) ? 'record-in-use' : 'journal-unreadable', first);
    const lease = await Lease.take(this.#lockFile(intent.id));
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      await this.#put(intent);
      // If the folder was replaced meanwhile, another window may hold a different `create` lock.
      if (!gate.isHeld() || !lease.isHeld()) throw new LeaseUnavailableError();
      const rival = await this.#rivalOf(intent, known);
      if (rival === undefined) return { lease };
      await this.#remove(intent.id);
      lease.release();
      return { existing: rival };
    } catch (error) {
      await this.#remove(intent.id);
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
      await this.#read();
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
    return this.#intents.filter(
      (other) =>
        other.id !== intent.id &&
        other.refused === undefined &&
        isDuplicate(other, intent) &&
        !isAllowedBeside(other),
    );
  }

  /** Removes an intent of which nothing was sent. Never rejects. */
  async #remove(id: string): Promise<void> {
    await rm(this.#file(id), { force: true }).catch(() => undefined);
    await syncDirectory(this.#directory).catch(() => undefined);
    this.#replace(id, undefined);
  }

  /**
   * Whether the file is as this owner wrote it. The lease alone proves nothing: POSIX drops it when anything in this
   * process closes the lock file.
   * @throws SubmissionError `not-owner`, and file system errors
   */
  async #checkOwner(lease: Lease, id: string): Promise<void> {
    if (lease.file !== this.#lockFile(id) || !lease.isHeld()) throw new SubmissionError('not-owner');
    const text = await readFile(this.#file(id), 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text !== undefined && this.#written.get(id)?.includes(text) === true) return;
    await this.#read().catch(() => undefined);
    throw new SubmissionError('not-owner');
  }

  /** Writes an intent whose closing boundary no window sends afterwards. @throws as `write` */
  async #end(intent: Intent, lease: Lease): Promise<void> {
    await this.#checkOwner(lease, intent.id);
    const file = decisionFile(this.#directory, intent);
    const isFirst = await decide(file, 'ended');
    if (!isFirst && (await decisionOf(file)) !== 'ended') throw new SubmissionError('not-owner');
    try {
      await this.#put(intent, lease);
    } catch (error) {
      if (isFirst) await this.#undecide(intent);
      throw error;
    }
  }

  async #undecide(before: Intent): Promise<void> {
    await rm(decisionFile(this.#directory, before), { force: true }).catch(() => undefined);
  }

  /** Reads an intent that this window has the lease of. */
  async #readOwned(id: string): Promise<Intent | undefined> {
    // Read first: if the file is replaced meanwhile, this owner's next write fails.
    const text = await readFile(this.#file(id), 'utf8').catch(() => '');
    const found = await readJournalFile(this.#file(id));
    let open = found.kind === 'intent' && !isSettled(found.intent) ? found.intent : undefined;
    if (open !== undefined) {
      this.#written.set(id, [text]);
      const decision = await decisionAbout(this.#directory, open);
      if (decision === 'closing') open = withClosing(open);
      // A window was killed before it wrote the end. What may have been charged stays open.
      if (decision === 'ended' && mayBeCharged(open)) await this.#undecide(open);
      else if (decision === 'ended') {
        const at = { localMs: Date.now() };
        await this.#put({ ...open, settled: { kind: 'not-charged', at } });
        return undefined;
      }
    }
    this.#replace(id, open);
    return open;
  }

  /** Writes a charge over anything but a charge, to which a further run is added. @returns undefined if it is known */
  async #putCharge(receipt: ChargedReceipt): Promise<ChargedReceipt | undefined> {
    const found = await readJournalFile(this.#file(receipt.id)).catch(() => undefined);
    const known = found?.kind === 'intent' && isSettled(found.intent) ? found.intent : undefined;
    const next = known !== undefined && isCharged(known) ? withFurtherRun(known, receipt.settled) : receipt;
    if (next === undefined) return undefined;
    // Written first, because a notice without a receipt is ignored.
    await this.#note(next.id).catch(() => this.#unwrittenNotices.add(next.id));
    await this.#put(next);
    return next;
  }

  /** @param lease of its owner; undefined for what is written whoever owns it */
  async #put(intent: Intent, lease?: Lease): Promise<void> {
    const { text, intent: asRead } = intentText(intent);
    const written = this.#written.get(intent.id) ?? [];
    if (lease !== undefined) await this.#checkOwner(lease, intent.id);
    try {
      // As late as possible, again: a charge that the second of two owners writes meanwhile must not be replaced.
      const mayReplace = async () => {
        if (lease !== undefined) await this.#checkOwner(lease, intent.id);
        this.#written.set(intent.id, [text, ...written]);
      };
      await this.#options.write(this.#file(intent.id), text, mayReplace);
      this.#written.set(intent.id, [text]);
    } catch (error) {
      // The write may have failed after the new file was already in place.
      await this.#read().catch(() => undefined);
      throw error;
    }
    this.#replace(intent.id, isSettled(asRead) ? undefined : asRead);
  }

  /** Reads the folder. An unread record of a known intent counts as that intent, which keeps its bytes and model. */
  async #read(): Promise<FolderContent> {
    const content = await this.#folder.read();
    this.#watch?.renew();
    const known = this.#intents.filter(({ id }) =>
      content.unread.some((record) => record.id === id && record.state !== 'damaged'),
    );
    const unread = content.unread.filter(({ id }) => !known.some((intent) => intent.id === id));
    this.#accept([...content.open, ...known]);
    this.#acceptDamaged(unread.filter(({ state }) => state !== 'owned'));
    clearTimeout(this.#readAgain);
    // No change of the folder says that a record is no longer in use.
    if (!this.#disposed && content.unread.some(isHeld))
      this.#readAgain = setTimeout(
        () => void this.reload().catch(() => undefined),
        4 * this.#options.inUseAgainMs,
      ).unref();
    return { ...content, unread };
  }

  #acceptDamaged(records: readonly UnreadRecord[]): void {
    const sorted = records.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    if (isDeepStrictEqual(sorted, this.#damaged)) return;
    this.#damaged = sorted;
    this.#onDidChangeDamaged.fire();
  }

  #replace(id: string, intent: Intent | undefined): void {
    const others = this.#intents.filter((other) => other.id !== id);
    this.#accept(intent === undefined ? others : [...others, intent]);
  }

  /** Returns the known object for an unchanged intent, so that state keyed by the object remains valid. */
  #known(intent: Intent): Intent {
    const known = this.#intents.find(({ id }) => id === intent.id);
    return known !== undefined && isDeepStrictEqual(known, intent) ? known : intent;
  }

  #accept(intents: readonly Intent[]): void {
    const next = intents
      .map((intent) => this.#known(intent))
      .sort((one, other) => (isEarlier(one, other) ? -1 : 1));
    if (next.length === this.#intents.length && next.every((intent, at) => intent === this.#intents[at]))
      return;
    this.#intents = next;
    this.#onDidChange.fire();
  }
}

function isEarlier(one: Intent, other: Intent): boolean {
  const ms = one.created.localMs - other.created.localMs;
  return ms === 0 ? one.id < other.id : ms < 0;
}

/** Returns the receipt with a further run of the same marker; undefined if it has that run. */
function withFurtherRun(
  { settled, ...intent }: ChargedReceipt,
  { run }: ChargedReceipt['settled'],
): ChargedReceipt | undefined {
  if (runsOf(settled).some(({ run_id }) => run_id === run.run_id)) return undefined;
  return { ...intent, settled: { ...settled, furtherRuns: [...(settled.furtherRuns ?? []), run] } };
}
