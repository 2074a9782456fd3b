import { mkdir, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sequencer } from '../base/async.ts';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from '../storage/durableFile.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { Lease, LeaseUnavailableError } from '../storage/lease.ts';
import { SubmissionError } from './errors.ts';
import {
  isCharged,
  isDuplicate,
  isSettled,
  type ChargedReceipt,
  type Intent,
  type Receipt,
  type SameDataset,
  intentText,
  readJournalFile,
} from './intent.ts';

/** How often acquiring a lock is tried. The user waits; other windows' probes hold it more briefly. */
const ACQUIRE_TRIES = 20;
/** How often taking the lock for creating an intent is tried, for some seconds. */
const CREATE_TRIES = 400;
const FILES_AT_ONCE = 8;

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An open intent and this window's lease on it, which the caller must release. */
export interface Owned {
  lease: Lease;
  intent: Intent;
}

export interface JournalOptions {
  /** Called with the path of each file that is not a readable intent, after it was moved or left in place. */
  onUnreadable?: (file: string) => void;
  /** Called with the path of each record of a later version whose submission was settled or refused. */
  onLater?: (file: string) => void;
  write?: typeof writeFileDurably;
  createTries?: number;
}

/** The journal files that could not be read as intents and may be open. */
interface Unknown {
  /** Open intents of a later version; nothing else is known about them. */
  later: SameDataset[];
  /** Files that could not be read now and may contain open intents. */
  unread: { file: string; cause: unknown }[];
}

/**
 * Owns the submissions, which outlive a window, as durable files. An open intent has at most one owner among
 * all windows. A settled one is a receipt and never changes. Contains no API keys or dataset rows.
 */
export class Journal implements Disposable {
  readonly #directory: string;
  readonly #leases: string;
  /** The folder with an empty file, named by the receipt's ID, for each unreported charge. */
  readonly #notices: string;
  readonly #options: Required<JournalOptions>;
  readonly #onDidChange = new Emitter<void>();
  /** Serializes access, so that older data never replaces newer data. */
  readonly #inTurn = sequencer();
  /** IDs of unreported charges whose notice file could not be written. Only this window knows about them. */
  readonly #unwrittenNotices = new Set<string>();
  readonly #reported = new Set<string>();
  /** The receipts as last read, by file. */
  readonly #receipts = new Map<string, Receipt>();
  #watch: FolderWatch | undefined;
  #disposed = false;
  #intents: readonly Intent[] = [];

  /** Fires when the journal was opened, and when an intent was written, settled, or removed in any window. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param directory used by the journal only, in the extension's storage on the extension host's machine */
  constructor(directory: string, options: JournalOptions = {}) {
    const ignore = () => undefined;
    const defaults = { onUnreadable: ignore, onLater: ignore };
    this.#options = { ...defaults, write: writeFileDurably, createTries: CREATE_TRIES, ...options };
    this.#directory = directory;
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

  /** Reads the open intents again. Without a file watcher, only this shows other windows' changes. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
    });
  }

  /** Returns the readable receipts, newest first. */
  async receipts(): Promise<Receipt[]> {
    await this.reload();
    return [...this.#receipts.values()].sort(
      (one, other) => other.settled.at.localMs - one.settled.at.localMs,
    );
  }

  /**
   * Writes a new intent durably and takes ownership of it, in one window at a time. Returns an existing open
   * intent instead, if it was not refused and is for the same bytes, model, and service.
   * @param allowedDuplicates IDs of open intents of other accounts that don't prevent this one
   * @throws LeaseUnavailableError, SubmissionError `journal-busy`, `journal-unreadable`, `later-version`, and
   * file system errors; no intent exists then
   */
  async create(
    intent: Intent,
    allowedDuplicates: readonly string[] = [],
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const gate = await Lease.take(this.#lockFile('create'), this.#options.createTries);
    if (gate === undefined) throw new SubmissionError('journal-busy');
    try {
      return await this.#inTurn(() => this.#createAlone(gate, intent, allowedDuplicates));
    } finally {
      gate.release();
    }
  }

  /**
   * Takes ownership of an open intent, read from disk. Undefined if it is owned, settled, or gone.
   * @throws LeaseUnavailableError, and file system errors
   */
  async acquire(id: string): Promise<Owned | undefined> {
    if (!ID.test(id)) return undefined;
    const lease = await Lease.take(this.#lockFile(id), ACQUIRE_TRIES);
    if (lease === undefined) return undefined;
    try {
      const intent = await this.#inTurn(async () => {
        const found = await readJournalFile(this.#file(id));
        const open = found.kind === 'intent' && !isSettled(found.intent) ? found.intent : undefined;
        this.#replace(id, open);
        return open;
      });
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
      this.#checkOwner(lease, intent.id);
      await this.#put(intent);
    });
  }

  /**
   * Settles an owned intent: it becomes a receipt, and the lease ends.
   * @throws SubmissionError `not-owner`, and file system errors; the lease is still held then
   */
  settle(lease: Lease, receipt: Receipt): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkOwner(lease, receipt.id);
      // Written first, because a notice without a receipt is ignored.
      if (isCharged(receipt))
        await this.#note(receipt.id).catch(() => this.#unwrittenNotices.add(receipt.id));
      await this.#put(receipt);
      lease.release();
    });
  }

  /**
   * Whether any running process, including this one, owns an intent.
   * @throws LeaseUnavailableError
   */
  async isOwned(id: string): Promise<boolean> {
    return ID.test(id) && (await Lease.isTaken(this.#lockFile(id)));
  }

  /** Returns the charges that no window has reported, perhaps because it was killed after the response. */
  async unreported(): Promise<ChargedReceipt[]> {
    const written = await namesIn(this.#notices).catch(() => []);
    const ids = new Set([...written, ...this.#unwrittenNotices]);
    return ids.size === 0 ? [] : (await this.receipts()).filter(isCharged).filter(({ id }) => ids.has(id));
  }

  /** Claims the report of a run's charge. Resolves to true once, in a single window. Never rejects. */
  async claimNotice(runId: string): Promise<boolean> {
    const unreported = await this.unreported().catch(() => []);
    const receipt = unreported.find(({ settled }) => settled.run.run_id === runId);
    if (receipt === undefined) return false;
    if (this.#unwrittenNotices.delete(receipt.id)) return true;
    return unlink(path.join(this.#notices, receipt.id)).then(
      () => true,
      () => false,
    );
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch?.dispose();
    this.#onDidChange.dispose();
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
    allowedDuplicates: readonly string[],
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const { later, unread } = await this.#read();
    const isAllowedBeside = ({ id, accountId }: Intent) =>
      accountId !== intent.accountId && allowedDuplicates.includes(id);
    const existing = this.#intents.find(
      (other) =>
        other.id === intent.id ||
        (other.refused === undefined && isDuplicate(other, intent) && !isAllowedBeside(other)),
    );
    if (existing !== undefined) return { existing };
    if (later.some((key) => isDuplicate(key, intent))) throw new SubmissionError('later-version');
    const [first] = unread;
    if (first !== undefined) throw new SubmissionError('journal-unreadable', first);
    const lease = await Lease.take(this.#lockFile(intent.id));
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      await this.#put(intent);
      // If the folder was replaced meanwhile, another window may hold a different `create` lock.
      if (!gate.isHeld() || !lease.isHeld()) throw new LeaseUnavailableError();
      return { lease };
    } catch (error) {
      await rm(this.#file(intent.id), { force: true }).catch(() => undefined);
      await syncDirectory(this.#directory).catch(() => undefined);
      this.#replace(intent.id, undefined);
      lease.release();
      throw error;
    }
  }

  #checkOwner(lease: Lease, id: string): void {
    if (lease.file !== this.#lockFile(id) || !lease.isHeld()) throw new SubmissionError('not-owner');
  }

  async #put(intent: Intent): Promise<void> {
    const { text, intent: asRead } = intentText(intent);
    try {
      await this.#options.write(this.#file(intent.id), text);
    } catch (error) {
      // The write may have failed after the new file was already in place.
      await this.#read().catch(() => undefined);
      throw error;
    }
    this.#replace(intent.id, isSettled(asRead) ? undefined : asRead);
  }

  /** Reads the open intents and the new receipts, and sets foreign files aside. */
  async #read(): Promise<Unknown> {
    const names = await namesIn(this.#directory);
    const files = names
      .filter((name) => name.endsWith('.json'))
      .map((name) => path.join(this.#directory, name));
    const present = new Set(files);
    for (const file of this.#receipts.keys()) if (!present.has(file)) this.#receipts.delete(file);
    const open: Intent[] = [];
    const unknown: Unknown = { later: [], unread: [] };
    const left = files.filter((file) => !this.#receipts.has(file)).values();
    const readSome = async () => {
      for (const file of left) open.push(...(await this.#readFile(file, unknown)));
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, readSome));
    this.#watch?.renew();
    // Keep the last known version of intents that cannot be read now.
    const known = this.#intents.filter(({ id }) =>
      unknown.unread.some(({ file }) => file === this.#file(id)),
    );
    this.#accept([...open, ...known]);
    return unknown;
  }

  /** @returns the intent if it is open */
  async #readFile(file: string, { later, unread }: Unknown): Promise<Intent[]> {
    try {
      let found = await readJournalFile(file);
      // Setting the file aside reads it again, since its owner may have rewritten it meanwhile.
      if (found.kind === 'foreign') found = await this.#setAside(file);
      if (found.kind === 'later') {
        if (found.key !== undefined) later.push(found.key);
        this.#reportOnce(file, found.isDecided ? this.#options.onLater : this.#options.onUnreadable);
      }
      if (found.kind !== 'intent') return [];
      if (!isSettled(found.intent)) return [found.intent];
      this.#receipts.set(file, found.intent);
    } catch (cause) {
      unread.push({ file, cause });
      this.#reportOnce(file, this.#options.onUnreadable);
    }
    return [];
  }

  /**
   * Renames a foreign file, and returns what is in its place afterwards.
   * @throws if the file stays because it has an owner or cannot be renamed
   */
  async #setAside(file: string): ReturnType<typeof readJournalFile> {
    const id = path.basename(file, '.json');
    const lease = ID.test(id) ? await Lease.take(this.#lockFile(id), 1) : undefined;
    if (lease === undefined && ID.test(id))
      throw new Error('a foreign file is in the place of an owned intent');
    try {
      // The owner may have rewritten it meanwhile.
      const found = await readJournalFile(file);
      if (found.kind !== 'foreign') return found;
      const aside = `${file}.unreadable-${Date.now()}`;
      await rename(file, aside);
      this.#options.onUnreadable(aside);
      return { kind: 'gone' };
    } finally {
      lease?.release();
    }
  }

  #reportOnce(file: string, report: (file: string) => void): void {
    if (this.#reported.has(file)) return;
    this.#reported.add(file);
    report(file);
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
      .sort((one, other) => one.created.localMs - other.created.localMs || (one.id < other.id ? -1 : 1));
    if (next.length === this.#intents.length && next.every((intent, at) => intent === this.#intents[at]))
      return;
    this.#intents = next;
    this.#onDidChange.fire();
  }
}

/** Returns the names in a folder, or none if the folder doesn't exist. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
