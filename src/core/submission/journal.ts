import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Disposable } from '../base/disposable.ts';
import { writeFileDurably } from '../storage/durableFile.ts';
import { ExpectedError } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { isSameWish, type Intent, type Receipt } from './intent.ts';
import { isIntentId, JournalFolder, type Contents } from './journalFolder.ts';
import { Lease, LeaseUnavailableError } from '../storage/lease.ts';

/** The user waits for it: longer than other windows take to see whether it is free. */
const ACQUIRE_TRIES = 20;
/** For how long the creation of an intent waits for that of another window. */
const CREATE_WAIT_MS = 5_000;
const CREATE_TRY_AGAIN_MS = 20;

/** Whoever writes an intent has to own it. */
export class NotOwnerError extends ExpectedError {
  readonly code = 'not-owner';

  constructor() {
    super('the lease of the intent is not held');
  }
}

/** Other windows were creating intents for as long as this one waited. */
export class JournalBusyError extends ExpectedError {
  readonly code = 'journal-busy';

  constructor() {
    super('another process is creating an intent');
  }
}

/** It cannot be known whether an intent for the same bytes and model is open. */
export class JournalUnreadableError extends ExpectedError {
  readonly code = 'journal-unreadable';

  /** The one that cannot be read. */
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super('an intent cannot be read', { cause });
    this.file = file;
  }
}

/** An intent for the same bytes and model is open, in a file that only a later version of the extension can read. */
export class LaterVersionError extends ExpectedError {
  readonly code = 'later-version';

  constructor() {
    super('an intent of a later version is for the same bytes and model');
  }
}

/** An open intent and the lease of this window, which has to end. */
export interface Owned {
  lease: Lease;
  intent: Intent;
}

export interface JournalOptions {
  /** Called with each file that cannot be read as ours: where it was moved to, or where it was left. */
  onSetAside?: (file: string) => void;
  write?: typeof writeFileDurably;
  createWaitMs?: number;
}

/**
 * Owns the submissions that outlive a window: an open intent is a durable file that has one owner among all windows; settled
 * ones are stored as receipts. It holds no API key and no row.
 */
export class Journal implements Disposable {
  readonly #folder: JournalFolder;
  readonly #createWaitMs: number;
  readonly #onDidChange = new Emitter<void>();
  #watch: FolderWatch | undefined;
  #disposed = false;
  #intents: readonly Intent[] = [];
  #work: Promise<unknown> = Promise.resolve();

  /** Fires when an intent was written, settled or removed, here or in another window. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param directory of the journal alone, in the extension's storage on the extension host's machine */
  constructor(directory: string, options: JournalOptions = {}) {
    const { onSetAside = () => undefined, write = writeFileDurably, createWaitMs = CREATE_WAIT_MS } = options;
    this.#folder = new JournalFolder(directory, onSetAside, write);
    this.#createWaitMs = createWaitMs;
  }

  /** Reads the open intents, ends what a crash left half-done, and follows other windows. */
  async open(): Promise<void> {
    await this.#folder.make();
    await this.#inTurn(() => this.#folder.sweep());
    // Before the first reading, so that nothing is missed between.
    if (this.#disposed) return;
    this.#watch?.dispose();
    this.#watch = new FolderWatch(this.#folder.intents, '.json', () => this.reload());
    await this.reload();
  }

  /** Open ones as last read, oldest first. */
  get intents(): readonly Intent[] {
    return this.#intents;
  }

  /** Reads the open intents again: where the system has no watch to give, nothing else shows what other windows do. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
    });
  }

  /**
   * Makes an intent durable and owned, unless one that is open, and was not refused, is for the same bytes and model of the
   * same service: by one window at a time.
   * @param besides ids of those of other accounts of the service that are no obstacle
   * @throws LeaseUnavailableError, JournalBusyError, JournalUnreadableError, LaterVersionError, and what the file system
   * says: then there is no intent
   */
  async create(
    intent: Intent,
    besides: readonly string[] = [],
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const gate = await this.#takeGate();
    try {
      return await this.#inTurn(() => this.#createAlone(gate, intent, besides));
    } finally {
      gate.release();
    }
  }

  /**
   * Takes an open intent over, as the disk has it. Undefined when another living owner has it, or it is settled or gone.
   * @throws LeaseUnavailableError, and what the file system says
   */
  async acquire(id: string): Promise<Owned | undefined> {
    if (!isIntentId(id)) return undefined;
    const lease = await Lease.take(this.#folder.lockFile(id), ACQUIRE_TRIES);
    if (lease === undefined) return undefined;
    try {
      const intent = await this.#inTurn(async () => {
        const found = await this.#folder.readOwned(id);
        this.#replace(id, found);
        return found;
      });
      if (intent !== undefined) return { lease, intent };
    } catch (error) {
      lease.release();
      throw error;
    }
    this.#folder.letGo(lease, id);
    return undefined;
  }

  /**
   * Makes a change of an owned intent durable.
   * @throws NotOwnerError, and what the file system says: then the disk has the old intent or the new
   */
  write(lease: Lease, intent: Intent): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkOwner(lease, intent.id);
      if (intent.settled !== undefined) throw new TypeError('a settled intent is a receipt');
      await this.#put(intent);
    });
  }

  /**
   * Ends an owned intent: it becomes a receipt, and its lease ends. What a crash leaves between the two is finished by the
   * next reader, in whichever window.
   * @throws NotOwnerError, and what the file system says: then the lease is held as before
   */
  settle(lease: Lease, receipt: Receipt): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkOwner(lease, receipt.id);
      await this.#folder.putReceipt(receipt);
      // The receipt prevails: an intent that cannot be removed now is removed by the next reader.
      await this.#folder.remove(receipt.id).catch(() => undefined);
      this.#folder.letGo(lease, receipt.id);
      this.#replace(receipt.id, undefined);
    });
  }

  /**
   * Whether a living process, this one too, owns an intent.
   * @throws LeaseUnavailableError
   */
  async isOwned(id: string): Promise<boolean> {
    return isIntentId(id) && (await Lease.isTaken(this.#folder.lockFile(id)));
  }

  /** The settled intents, newest first; unreadable ones are left out. */
  receipts(): Promise<Receipt[]> {
    return this.#folder.receipts();
  }

  /** The charges that no window has reported yet: one that was killed right after the answer could not. */
  async unreported(): Promise<Receipt[]> {
    const ids = new Set(await this.#folder.noticeIds());
    return ids.size === 0 ? [] : (await this.receipts()).filter(({ id }) => ids.has(id));
  }

  /** Claims for this window to report that a run was charged, or says that it did: true for one window, once. Never rejects. */
  async claimNotice(runId: string): Promise<boolean> {
    const unreported = await this.unreported().catch(() => []);
    const receipt = unreported.find(
      ({ settled }) => settled.kind === 'charged' && settled.run.run_id === runId,
    );
    return receipt !== undefined && (await this.#folder.claimNotice(receipt.id));
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch?.dispose();
    this.#onDidChange.dispose();
  }

  /** One access at a time, so that nothing older is accepted after something newer. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #takeGate(): Promise<Lease> {
    const startedMs = performance.now();
    for (;;) {
      const gate = await Lease.take(this.#folder.gateFile, 1);
      if (gate !== undefined) return gate;
      if (performance.now() - startedMs > this.#createWaitMs) throw new JournalBusyError();
      await delay(CREATE_TRY_AGAIN_MS * (0.5 + Math.random()));
    }
  }

  async #createAlone(
    gate: Lease,
    intent: Intent,
    besides: readonly string[],
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const { later, unread } = await this.#read();
    const isPassedBy = ({ id, accountId }: Intent) => accountId !== intent.accountId && besides.includes(id);
    const existing = this.#intents.find(
      (other) =>
        other.id === intent.id ||
        (other.refused === undefined && isSameWish(other, intent) && !isPassedBy(other)),
    );
    if (existing !== undefined) return { existing };
    if (later.some((wish) => isSameWish(wish, intent))) throw new LaterVersionError();
    const [first] = unread;
    if (first !== undefined) throw new JournalUnreadableError(first.file, first.cause);
    const lease = await Lease.take(this.#folder.lockFile(intent.id));
    if (lease === undefined) throw new NotOwnerError();
    try {
      await this.#put(intent);
      // Where the folder was replaced meanwhile, another window may have gone through another gate.
      if (!gate.isHeld() || !lease.isHeld()) throw new LeaseUnavailableError();
      return { lease };
    } catch (error) {
      await this.#folder.remove(intent.id).catch(() => undefined);
      this.#replace(intent.id, undefined);
      this.#folder.letGo(lease, intent.id);
      throw error;
    }
  }

  #checkOwner(lease: Lease, id: string): void {
    if (lease.file !== this.#folder.lockFile(id) || !lease.isHeld()) throw new NotOwnerError();
  }

  async #put(intent: Intent): Promise<void> {
    try {
      this.#replace(intent.id, await this.#folder.put(intent));
    } catch (error) {
      // It may have failed after the new text took its place.
      await this.#read().catch(() => undefined);
      throw error;
    }
  }

  async #read(): Promise<Contents> {
    const contents = await this.#folder.read();
    this.#watch?.renew();
    const unread = contents.unread.map(({ file }) => file);
    // What cannot be read now is as it was read last.
    const known = this.#intents.filter(({ id }) => unread.includes(this.#folder.intentFile(id)));
    this.#accept([...contents.intents, ...known]);
    return contents;
  }

  #replace(id: string, intent: Intent | undefined): void {
    const others = this.#intents.filter((other) => other.id !== id);
    this.#accept(intent === undefined ? others : [...others, intent]);
  }

  /** One that is unchanged stays the same object, so that what is known of it stays known. */
  #known(intent: Intent): Intent {
    const known = this.#intents.find(({ id }) => id === intent.id);
    return known !== undefined && isDeepStrictEqual(known, intent) ? known : intent;
  }

  #accept(intents: readonly Intent[]): void {
    const next = intents
      .map((intent) => this.#known(intent))
      .sort((one, other) => one.created.localMs - other.created.localMs || (one.id < other.id ? -1 : 1));
    if (next.length === this.#intents.length && next.every((intent, at) => intent === this.#intents[at]))
      return;
    this.#intents = next;
    this.#onDidChange.fire();
  }
}
