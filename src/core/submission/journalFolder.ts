import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { isMissing } from '../base/diskError.ts';
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from '../storage/durableFile.ts';
import { intentSchema, type Intent, type Receipt, type Wish } from './intent.ts';
import { Lease } from '../storage/lease.ts';

const RECEIPTS_AT_ONCE = 8;
/** An intent is a few kilobytes: what is larger is not ours. */
const MAX_BYTES = 1024 * 1024;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ID = new RegExp(`^${UUID}$`, 'i');
const INTENT = new RegExp(`^(${UUID})\\.json$`, 'i');
const TEMPORARY = new RegExp(`^(${UUID})\\.json\\.${UUID}\\.tmp$`, 'i');
const LOCK = new RegExp(`^(${UUID})\\.lock$`, 'i');

const versionSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(2)) });
const wishSchema = v.object({
  origin: v.string(),
  model_id: v.string(),
  dataset: v.object({ sha256: v.string() }),
  refused: v.optional(v.undefined()),
  settled: v.optional(v.undefined()),
});
/** What a file of the journal turned out to be. `later`: written by a later version of the extension. */
type JournalFile =
  | { kind: 'intent'; intent: Intent }
  | { kind: 'gone' }
  | { kind: 'foreign' }
  | { kind: 'later'; wish: Wish | undefined };

/** What the folder of open intents holds. */
export interface Contents {
  intents: Intent[];
  /** Intents of a later version, of which no more is known. */
  later: Wish[];
  /** Files that could not be read now and may be intents: then it is not known what is open. */
  unread: { file: string; cause: unknown }[];
}

/** Owns the journal's files on the disk: their names, what is in them, and what is done with those that are not ours. */
export class JournalFolder {
  /** The folder of the open intents. */
  readonly intents: string;
  readonly #receipts: string;
  readonly #leases: string;
  /** Charges that are still to be reported, of which the disk holds no notice: only this window knows. */
  readonly #unwrittenNotices = new Set<string>();
  /** Holds an empty file for each receipt of a charge that was not reported yet, by its ID. */
  readonly #notices: string;
  readonly #onSetAside: (file: string) => void;
  readonly #write: typeof writeFileDurably;
  readonly #reported = new Set<string>();
  /** By the names of their files: they never change. */
  readonly #readReceipts = new Map<string, Receipt>();

  /** @param onSetAside called with each file that cannot be read as ours: where it was moved to, or where it was left */
  constructor(directory: string, onSetAside: (file: string) => void, write: typeof writeFileDurably) {
    this.intents = path.join(directory, 'intents');
    this.#receipts = path.join(directory, 'receipts');
    this.#leases = path.join(directory, 'leases');
    this.#notices = path.join(directory, 'notices');
    this.#onSetAside = onSetAside;
    this.#write = write;
  }

  /** Makes the folders where they are missing, for their owner alone. */
  async make(): Promise<void> {
    for (const folder of [this.intents, this.#receipts, this.#leases, this.#notices])
      await makeDirectoryDurably(folder, 0o700);
  }

  /** The file of an open intent. */
  intentFile(id: string): string {
    return path.join(this.intents, `${id}.json`);
  }

  /** The lock file of an intent. */
  lockFile(id: string): string {
    return path.join(this.#leases, `${id}.lock`);
  }

  /** The lock file of those that create an intent. */
  get gateFile(): string {
    return path.join(this.#leases, 'create.lock');
  }

  /** Ends the lease of an intent, and with it the lock file where there is no file left to own. */
  letGo(lease: Lease, id: string): void {
    if (existsSync(this.intentFile(id))) lease.release();
    else lease.remove();
  }

  /** Reads the open intents; sets foreign files aside, and ends settlements that a crash interrupted. */
  async read(): Promise<Contents> {
    const contents: Contents = { intents: [], later: [], unread: [] };
    for (const name of await namesIn(this.intents))
      if (name.endsWith('.json'))
        try {
          await this.#readInto(contents, name);
        } catch (cause) {
          const file = path.join(this.intents, name);
          contents.unread.push({ file, cause });
          this.#reportOnce(file);
        }
    return contents;
  }

  /** What the owner of an intent finds: it, if it is open; else it ends a settlement that a crash interrupted. */
  async readOwned(id: string): Promise<Intent | undefined> {
    const found = await readJournalFile(this.intentFile(id));
    if (found.kind !== 'intent') return undefined;
    const receipt = await this.#receiptOf(id);
    if (receipt === undefined) {
      const settled = receiptFrom(found.intent);
      if (settled === undefined) return found.intent;
      await this.putReceipt(settled);
    }
    await this.remove(id);
    return undefined;
  }

  /** Makes an open intent durable, and returns it as it will be read. */
  async put(open: Intent): Promise<Intent> {
    const { text, intent } = intentText(open);
    await this.#write(this.intentFile(intent.id), text);
    return intent;
  }

  /** The IDs of the receipts of charges that were not reported yet. */
  async noticeIds(): Promise<string[]> {
    return [...(await namesIn(this.#notices)).filter(isIntentId), ...this.#unwrittenNotices];
  }

  /** @returns whether this window is the one that removed it */
  claimNotice(id: string): Promise<boolean> {
    if (this.#unwrittenNotices.delete(id)) return Promise.resolve(true);
    return unlink(path.join(this.#notices, id)).then(
      () => true,
      () => false,
    );
  }

  /** Makes a receipt durable. From then on it prevails over the intent. */
  async putReceipt(receipt: Receipt): Promise<void> {
    // Before it: a notice without a receipt means nothing. Where the disk does not take it, only a crash keeps it from being reported.
    if (receipt.settled.kind === 'charged')
      await writeFile(path.join(this.#notices, receipt.id), '', { mode: 0o600 }).catch(() =>
        this.#unwrittenNotices.add(receipt.id),
      );
    else await this.claimNotice(receipt.id);
    await this.#write(path.join(this.#receipts, `${receipt.id}.json`), intentText(receipt).text);
  }

  /** Removes the file of an intent, durably. */
  async remove(id: string): Promise<void> {
    await rm(this.intentFile(id), { force: true });
    await syncDirectory(this.intents);
  }

  /** The receipts, newest first; unreadable ones are left out. */
  async receipts(): Promise<Receipt[]> {
    const names = (await namesIn(this.#receipts)).filter((name) => name.endsWith('.json'));
    const present = new Set(names);
    for (const name of this.#readReceipts.keys()) if (!present.has(name)) this.#readReceipts.delete(name);
    const unread = names.filter((name) => !this.#readReceipts.has(name)).values();
    const readSome = async () => {
      for (const name of unread) await this.#readReceipt(name);
    };
    await Promise.all(Array.from({ length: RECEIPTS_AT_ONCE }, readSome));
    return [...this.#readReceipts.values()].sort(
      (one, other) => other.settled.at.localMs - one.settled.at.localMs,
    );
  }

  /** Removes what killed processes left: temporary files, and lock files without an intent. */
  async sweep(): Promise<void> {
    const orphans = new Map<string, string[]>();
    for (const folder of [this.intents, this.#receipts])
      for (const name of await namesIn(folder)) {
        const id = TEMPORARY.exec(name)?.[1];
        if (id !== undefined) orphans.set(id, [...(orphans.get(id) ?? []), path.join(folder, name)]);
      }
    const intents = new Set(await namesIn(this.intents));
    for (const name of await namesIn(this.#leases)) {
      const id = LOCK.exec(name)?.[1];
      if (id !== undefined && !intents.has(`${id}.json`) && !orphans.has(id)) orphans.set(id, []);
    }
    for (const [id, files] of orphans)
      // What cannot be removed harms nobody.
      await this.#ifFree(id, async () => {
        for (const file of files) await rm(file, { force: true });
      }).catch(() => undefined);
  }

  async #readInto(contents: Contents, name: string): Promise<void> {
    const file = path.join(this.intents, name);
    let found = await readJournalFile(file);
    // It may be another one after that: its owner writes it again.
    if (found.kind === 'foreign') found = await this.#setAside(file);
    if (found.kind === 'later') {
      if (found.wish !== undefined) contents.later.push(found.wish);
      this.#reportOnce(file);
    }
    if (found.kind !== 'intent') return;
    const { intent } = found;
    if (intent.settled === undefined && (await this.#receiptOf(intent.id)) === undefined)
      contents.intents.push(intent);
    // It is settled, whether or not that can be tidied up now.
    else await this.#ifFree(intent.id, () => this.readOwned(intent.id)).catch(() => undefined);
  }

  /** @throws what the file system says where it cannot be known whether there is a receipt */
  async #receiptOf(id: string): Promise<Receipt | undefined> {
    const found = await readJournalFile(path.join(this.#receipts, `${id}.json`));
    return found.kind === 'intent' ? receiptFrom(found.intent) : undefined;
  }

  async #readReceipt(name: string): Promise<void> {
    const file = path.join(this.#receipts, name);
    try {
      let found = await readJournalFile(file);
      if (found.kind === 'foreign') found = await this.#setAside(file);
      const receipt = found.kind === 'intent' ? receiptFrom(found.intent) : undefined;
      if (receipt !== undefined) this.#readReceipts.set(name, receipt);
      else if (found.kind !== 'gone') this.#reportOnce(file);
    } catch {
      this.#reportOnce(file);
    }
  }

  /**
   * Renames a foreign file, and returns what is there then.
   * @throws where it stays, because it has an owner or cannot be renamed
   */
  async #setAside(file: string): Promise<JournalFile> {
    const id = INTENT.exec(path.basename(file))?.[1];
    const work = async (): Promise<JournalFile> => {
      // Its owner may have written it since.
      const found = await readJournalFile(file);
      if (found.kind !== 'foreign') return found;
      const aside = `${file}.unreadable-${Date.now()}`;
      await rename(file, aside);
      this.#onSetAside(aside);
      return { kind: 'gone' };
    };
    const found = id === undefined ? await work() : await this.#ifFree(id, work);
    if (found === undefined) throw new Error('a foreign file is in the place of an owned intent');
    return found;
  }

  /** Does something as the owner of an intent, unless it has one. */
  async #ifFree<T>(id: string, work: () => Promise<T>): Promise<T | undefined> {
    const lease = await Lease.take(this.lockFile(id), 1);
    if (lease === undefined) return undefined;
    try {
      return await work();
    } finally {
      this.letGo(lease, id);
    }
  }

  #reportOnce(file: string): void {
    if (this.#reported.has(file)) return;
    this.#reported.add(file);
    this.#onSetAside(file);
  }
}

function receiptFrom(intent: Intent): Receipt | undefined {
  const { settled } = intent;
  return settled && { ...intent, settled };
}

/** Whether it can be the id of an intent, and with that a part of a file's name. */
export function isIntentId(id: string): boolean {
  return ID.test(id);
}

/**
 * Reads one file of the journal, whose name must be its intent's.
 * @throws what the file system says where it could not be read: then nothing is known of what it holds
 */
async function readJournalFile(file: string): Promise<JournalFile> {
  let bytes: Buffer;
  try {
    const stats = await lstat(file);
    // Whoever opens a pipe waits for its other end.
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: 'foreign' };
    bytes = await readFile(file);
  } catch (error) {
    if (isMissing(error)) return { kind: 'gone' };
    throw error;
  }
  let value: unknown;
  try {
    value = isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return { kind: 'foreign' };
  }
  if (v.is(versionSchema, value)) {
    const wish = v.safeParse(wishSchema, value);
    return { kind: 'later', wish: wish.success ? wish.output : undefined };
  }
  const intent = v.safeParse(intentSchema, value);
  if (!intent.success || `${intent.output.id}.json` !== path.basename(file)) return { kind: 'foreign' };
  return { kind: 'intent', intent: intent.output };
}

/**
 * The text of an intent's file, and the intent as it will be read from it.
 * @throws ValiError, RangeError where it could not be read again
 */
export function intentText(intent: Intent): { text: string; intent: Intent } {
  // What the service sent beside the fields of the contract could be anything: it is not stored.
  const asRead = v.parse(intentSchema, JSON.parse(JSON.stringify(intent)));
  const text = `${JSON.stringify(asRead, null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('the intent is too large for its file');
  return { text, intent: asRead };
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
