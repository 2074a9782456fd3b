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
  isSameWish,
  isSettled,
  type ChargedReceipt,
  type Intent,
  type Receipt,
  type Wish,
  intentText,
  readJournalFile,
} from './intent.ts';

/** The user waits for it: longer than other windows take to see whether it is free. */
const ACQUIRE_TRIES = 20;
/** The creation of an intent waits some seconds for that of another window. */
const CREATE_TRIES = 400;
const FILES_AT_ONCE = 8;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ID = new RegExp(`^${UUID}$`, 'i');
const TEMPORARY = new RegExp(`^(${UUID})\\.json\\.${UUID}\\.tmp$`, 'i');

/** An open intent and the lease of this window, which has to end. */
export interface Owned {
  lease: Lease;
  intent: Intent;
}

export interface JournalOptions {
  /** Called with each file that cannot be read as ours: where it was moved to, or where it was left. */
  onSetAside?: (file: string) => void;
  write?: typeof writeFileDurably;
  createTries?: number;
}

/** What of the open intents cannot be known. */
interface Unknown {
  /** Those of a later version, of which no more is known. */
  later: Wish[];
  /** Files that could not be read now and may be intents: then it is not known what is open. */
  unread: { file: string; cause: unknown }[];
}

/**
 * Owns the submissions that outlive a window: each is a durable file. As long as it is open it has one owner among all windows;
 * once it is settled it is a receipt, which never changes. It holds no API key and no row.
 */
export class Journal implements Disposable {
  readonly #directory: string;
  readonly #leases: string;
  /** Holds an empty file for each receipt of a charge that was not reported yet, by its ID. */
  readonly #notices: string;
  readonly #options: Required<JournalOptions>;
  readonly #onDidChange = new Emitter<void>();
  /** One access at a time, so that nothing older is accepted after something newer. */
  readonly #inTurn = sequencer();
  /** Of charges that are still to be reported, where the disk took none: only this window knows. */
  readonly #unwrittenNotices = new Set<string>();
  readonly #reported = new Set<string>();
  /** As last read, by their files. */
  readonly #receipts = new Map<string, Receipt>();
  #watch: FolderWatch | undefined;
  #disposed = false;
  #intents: readonly Intent[] = [];

  /** Fires when the journal was opened, and when an intent was written, settled or removed, here or in another window. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param directory of the journal alone, in the extension's storage on the extension host's machine */
  constructor(directory: string, options: JournalOptions = {}) {
    const defaults = { onSetAside: () => undefined, write: writeFileDurably, createTries: CREATE_TRIES };
    this.#options = { ...defaults, ...options };
    this.#directory = directory;
    this.#leases = path.join(directory, 'leases');
    this.#notices = path.join(directory, 'notices');
  }

  /** Reads the open intents, removes what killed processes left, and follows other windows. */
  async open(): Promise<void> {
    for (const folder of [this.#directory, this.#leases, this.#notices])
      await makeDirectoryDurably(folder, 0o700);
    if (this.#disposed) return;
    // Before the first reading, so that nothing is missed between.
    this.#watch?.dispose();
    this.#watch = new FolderWatch(this.#directory, '.json', () => this.reload());
    await this.reload();
    await this.#inTurn(() => this.#sweep());
    this.#onDidChange.fire();
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

  /** The settled intents, newest first; unreadable ones are left out. */
  async receipts(): Promise<Receipt[]> {
    await this.reload();
    return [...this.#receipts.values()].sort(
      (one, other) => other.settled.at.localMs - one.settled.at.localMs,
    );
  }

  /**
   * Makes an intent durable and owned, unless one that is open, and was not refused, is for the same bytes and model of the
   * same service: by one window at a time.
   * @param besides ids of those of other accounts of the service that are no obstacle
   * @throws LeaseUnavailableError, SubmissionError `journal-busy`, `journal-unreadable`, `later-version`, and what the file system
   * says: then there is no intent
   */
  async create(
    intent: Intent,
    besides: readonly string[] = [],
  ): Promise<{ lease: Lease } | { existing: Intent }> {
    const gate = await Lease.take(this.#lockFile('create'), this.#options.createTries);
    if (gate === undefined) throw new SubmissionError('journal-busy');
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
    lease.remove();
    return undefined;
  }

  /**
   * Makes a change of an owned intent durable.
   * @throws SubmissionError `not-owner`, and what the file system says: then the disk has the old intent or the new
   */
  write(lease: Lease, intent: Intent): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkOwner(lease, intent.id);
      await this.#put(intent);
    });
  }

  /**
   * Ends an owned intent: it becomes a receipt, and its lease ends.
   * @throws SubmissionError `not-owner`, and what the file system says: then the lease is held as before
   */
  settle(lease: Lease, receipt: Receipt): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkOwner(lease, receipt.id);
      // Before it: a notice without a receipt means nothing.
      if (isCharged(receipt))
        await this.#note(receipt.id).catch(() => this.#unwrittenNotices.add(receipt.id));
      await this.#put(receipt);
      lease.remove();
    });
  }

  /**
   * Whether a living process, this one too, owns an intent.
   * @throws LeaseUnavailableError
   */
  async isOwned(id: string): Promise<boolean> {
    return ID.test(id) && (await Lease.isTaken(this.#lockFile(id)));
  }

  /** The charges that no window has reported yet: one that was killed right after the answer could not. */
  async unreported(): Promise<ChargedReceipt[]> {
    const written = await namesIn(this.#notices).catch(() => []);
    const ids = new Set([...written, ...this.#unwrittenNotices]);
    return ids.size === 0 ? [] : (await this.receipts()).filter(isCharged).filter(({ id }) => ids.has(id));
  }

  /** Claims for this window to report that a run was charged, or says that it did: true for one window, once. Never rejects. */
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
    if (later.some((wish) => isSameWish(wish, intent))) throw new SubmissionError('later-version');
    const [first] = unread;
    if (first !== undefined) throw new SubmissionError('journal-unreadable', first);
    const lease = await Lease.take(this.#lockFile(intent.id));
    if (lease === undefined) throw new SubmissionError('not-owner');
    try {
      await this.#put(intent);
      // Where the folder was replaced meanwhile, another window may have gone through another gate.
      if (!gate.isHeld() || !lease.isHeld()) throw new LeaseUnavailableError();
      return { lease };
    } catch (error) {
      await rm(this.#file(intent.id), { force: true }).catch(() => undefined);
      await syncDirectory(this.#directory).catch(() => undefined);
      this.#replace(intent.id, undefined);
      lease.remove();
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
      // It may have failed after the new text took its place.
      await this.#read().catch(() => undefined);
      throw error;
    }
    this.#replace(intent.id, isSettled(asRead) ? undefined : asRead);
  }

  /** Reads what is open, and what was settled since; sets foreign files aside. */
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
    // What cannot be read now is as it was read last.
    const known = this.#intents.filter(({ id }) =>
      unknown.unread.some(({ file }) => file === this.#file(id)),
    );
    this.#accept([...open, ...known]);
    return unknown;
  }

  /** @returns the intent, if it is open */
  async #readFile(file: string, { later, unread }: Unknown): Promise<Intent[]> {
    try {
      let found = await readJournalFile(file);
      // It may be another one after that: its owner writes it again.
      if (found.kind === 'foreign') found = await this.#setAside(file);
      if (found.kind === 'later') {
        if (found.wish !== undefined) later.push(found.wish);
        this.#reportOnce(file);
      }
      if (found.kind !== 'intent') return [];
      if (!isSettled(found.intent)) return [found.intent];
      this.#receipts.set(file, found.intent);
    } catch (cause) {
      unread.push({ file, cause });
      this.#reportOnce(file);
    }
    return [];
  }

  /**
   * Renames a foreign file, and returns what is there then.
   * @throws where it stays, because it has an owner or cannot be renamed
   */
  async #setAside(file: string): ReturnType<typeof readJournalFile> {
    const id = path.basename(file, '.json');
    const work = async (): ReturnType<typeof readJournalFile> => {
      // Its owner may have written it since.
      const found = await readJournalFile(file);
      if (found.kind !== 'foreign') return found;
      const aside = `${file}.unreadable-${Date.now()}`;
      await rename(file, aside);
      this.#options.onSetAside(aside);
      return { kind: 'gone' };
    };
    const found = ID.test(id) ? await this.#ifFree(id, work) : await work();
    if (found === undefined) throw new Error('a foreign file is in the place of an owned intent');
    return found;
  }

  #reportOnce(file: string): void {
    if (this.#reported.has(file)) return;
    this.#reported.add(file);
    this.#options.onSetAside(file);
  }

  /** Removes what killed processes left: temporary files, and lock files without an open intent. */
  async #sweep(): Promise<void> {
    const open = new Set(this.#intents.map(({ id }) => id));
    const orphans = new Map<string, string[]>();
    for (const name of await namesIn(this.#leases)) {
      const id = path.basename(name, '.lock');
      if (ID.test(id) && !open.has(id)) orphans.set(id, []);
    }
    for (const name of await namesIn(this.#directory)) {
      const id = TEMPORARY.exec(name)?.[1];
      if (id !== undefined) orphans.set(id, [...(orphans.get(id) ?? []), path.join(this.#directory, name)]);
    }
    for (const [id, files] of orphans)
      // What cannot be removed harms nobody.
      await this.#ifFree(id, async () => {
        for (const file of files) await rm(file, { force: true });
      }).catch(() => undefined);
  }

  /** Does something as the owner of an intent, unless it has one. */
  async #ifFree<T>(id: string, work: () => Promise<T>): Promise<T | undefined> {
    const lease = await Lease.take(this.#lockFile(id), 1);
    if (lease === undefined) return undefined;
    try {
      return await work();
    } finally {
      if (this.#intents.some((open) => open.id === id)) lease.release();
      else lease.remove();
    }
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

/** The names in a folder; none where there is no folder. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
