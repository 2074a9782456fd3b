import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { decisionAbout, withClosing } from './closing.ts';
import { isSettled, readJournalFile, type Intent, type Receipt, type SameDataset } from './intent.ts';
import type { SubmissionHints } from './submissionHints.ts';
import { isBusyFile, isHeld, stampOf, type UnreadRecord } from './unreadRecord.ts';

const FILES_AT_ONCE = 8;

/** The open submissions in the folder. */
export interface FolderContent {
  open: Intent[];
  /** Open intents of a later version; nothing else is known about them. */
  later: SameDataset[];
  /** Records that may be open, since their content is not known. */
  unread: UnreadRecord[];
}

export interface FolderOptions {
  /** Called once with the path of each file that cannot be read as an intent or receipt. */
  onUnreadable: (file: string) => void;
  /** Called instead if that is no reason to alarm: its submission is settled or refused, or a later version's own. */
  onHarmless: (file: string) => void;
  /** What is known of submissions whose records cannot be read. */
  hints?: SubmissionHints;
  /** When a record in use is read again. */
  readAgainMs: number;
}

/**
 * Owns reading the journal's files, and what this window knows of them. Moves and changes none: a damaged record stays until
 * the user ends it.
 */
export class JournalFolder implements Disposable {
  readonly #directory: string;
  readonly #isOwned: (id: string) => Promise<boolean>;
  readonly #options: FolderOptions;
  readonly #reported = new Set<string>();
  /** The receipts as last read, by file. `stamp`: of the file, which another window may replace. */
  readonly #receipts = new Map<string, { stamp: string; receipt: Receipt }>();
  readonly #onDidChange = new Emitter<void>();
  readonly #onDidChangeDamaged = new Emitter<void>();
  #intents: readonly Intent[] = [];
  #damaged: readonly UnreadRecord[] = [];
  #reload: (() => Promise<void>) | undefined;
  #watch: FolderWatch | undefined;
  #readAgain: NodeJS.Timeout | undefined;
  #disposed = false;

  /** Fires when what this window knows of open intents changed. */
  readonly onDidChange = this.#onDidChange.event;
  readonly onDidChangeDamaged = this.#onDidChangeDamaged.event;

  /** @param isOwned whether a running window owns a submission */
  constructor(directory: string, isOwned: (id: string) => Promise<boolean>, options: FolderOptions) {
    this.#directory = directory;
    this.#isOwned = isOwned;
    this.#options = options;
  }

  /**
   * Reads the folder, and again when another window changes it.
   * @param reload calls `read` in turn with what this window writes
   */
  async watch(reload: () => Promise<void>): Promise<void> {
    if (this.#disposed) return;
    this.#reload = reload;
    // Watch before the first read, so that no change is missed in between.
    this.#watch?.dispose();
    this.#watch = new FolderWatch(this.#directory, '.json', reload);
    await reload();
    this.#onDidChange.fire();
  }

  /** The open intents as last read or written, oldest first. */
  get intents(): readonly Intent[] {
    return this.#intents;
  }

  /** The unread records that no running window owns. */
  get damaged(): readonly UnreadRecord[] {
    return this.#damaged;
  }

  /** The readable receipts as last read. */
  get receipts(): readonly Receipt[] {
    return [...this.#receipts.values()].map(({ receipt }) => receipt);
  }

  /** Reads the open intents and the new receipts. An unread record of a known intent counts as that intent, which keeps its bytes and model. */
  async read(): Promise<FolderContent> {
    const content = await this.#readFiles();
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
        () => void this.#reload?.().catch(() => undefined),
        this.#options.readAgainMs,
      ).unref();
    return { ...content, unread };
  }

  /** Accepts an intent that this window wrote. @param intent undefined if it is no longer open */
  replace(id: string, intent: Intent | undefined): void {
    const others = this.#intents.filter((other) => other.id !== id);
    this.#accept(intent === undefined ? others : [...others, intent]);
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch?.dispose();
    clearTimeout(this.#readAgain);
    this.#onDidChange.dispose();
    this.#onDidChangeDamaged.dispose();
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

  /** Returns the known object for an unchanged intent, so that state keyed by the object remains valid. */
  #known(intent: Intent): Intent {
    const known = this.#intents.find(({ id }) => id === intent.id);
    return known !== undefined && isDeepStrictEqual(known, intent) ? known : intent;
  }

  #acceptDamaged(records: readonly UnreadRecord[]): void {
    const sorted = records.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    if (isDeepStrictEqual(sorted, this.#damaged)) return;
    this.#damaged = sorted;
    this.#onDidChangeDamaged.fire();
  }

  async #readFiles(): Promise<FolderContent> {
    const names = await namesIn(this.#directory);
    const files = names
      .filter((name) => name.endsWith('.json'))
      .map((name) => path.join(this.#directory, name));
    const present = new Set(files);
    for (const file of this.#receipts.keys()) if (!present.has(file)) this.#receipts.delete(file);
    const content: FolderContent = { open: [], later: [], unread: [] };
    const left = files.values();
    const readSome = async () => {
      for (const file of left) await this.#readFile(file, content);
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, readSome));
    content.unread = await this.#withHints(content.unread);
    // What is in use is read again before anyone is alarmed.
    for (const record of content.unread) if (!isHeld(record)) this.#report(record, false);
    void this.#options.hints?.learn([...content.open, ...this.receipts]);
    return content;
  }

  async #readFile(file: string, { open, later, unread }: FolderContent): Promise<void> {
    const id = path.basename(file, '.json');
    let state: UnreadRecord['state'] = 'damaged';
    let cause: unknown;
    try {
      const receiptStamp = await stampOf(file);
      if (this.#receipts.get(file)?.stamp === receiptStamp) return;
      this.#receipts.delete(file);
      let found = await readJournalFile(file);
      if (found.kind === 'foreign') {
        if (await this.#isOwnedNow(id)) state = 'owned';
        // Its owner may have written it again meanwhile.
        found = await readJournalFile(file);
      }
      // An open one of a later version, of which not even the bytes are known, may be for any dataset.
      const isUnknown = found.kind === 'later' && found.key === undefined && !found.isDecided;
      if (found.kind === 'later') {
        if (found.key !== undefined) later.push(found.key);
        // What becomes of it is for the later version to say, which another window may run.
        if (!isUnknown) this.#report({ file }, true);
      }
      if (found.kind === 'intent' && isSettled(found.intent))
        this.#receipts.set(file, { stamp: receiptStamp, receipt: found.intent });
      else if (found.kind === 'intent') {
        const decision = await decisionAbout(this.#directory, found.intent);
        open.push(decision === 'closing' ? withClosing(found.intent) : found.intent);
      }
      if (found.kind !== 'foreign' && !isUnknown) return;
      if (isUnknown && (await this.#isOwnedNow(id))) state = 'owned';
    } catch (error) {
      cause = error;
      state = (await this.#isOwnedNow(id)) ? 'owned' : isBusyFile(error) ? 'busy' : 'unreadable';
    }
    // Taken after it was read, so that consent never covers a later version.
    unread.push({ id, file, stamp: await stampOf(file), state, cause, hint: undefined });
  }

  /** Never rejects: if locks are unavailable, no window owns an intent, and none can be created. */
  #isOwnedNow(id: string): Promise<boolean> {
    return this.#isOwned(id).catch(() => false);
  }

  /** Adds the hints, and leaves out what was settled or refused. */
  async #withHints(unread: readonly UnreadRecord[]): Promise<UnreadRecord[]> {
    if (unread.length === 0) return [];
    const hints = await this.#options.hints?.of(unread.map(({ id }) => id));
    const records = unread.map((record) => ({ ...record, hint: hints?.get(record.id) }));
    const isDecided = ({ hint }: UnreadRecord) => hint?.isOpen === false;
    for (const record of records.filter(isDecided)) this.#report(record, true);
    return records.filter((record) => !isDecided(record));
  }

  #report({ file }: { file: string }, isHarmless: boolean): void {
    if (this.#reported.has(file)) return;
    this.#reported.add(file);
    if (isHarmless) this.#options.onHarmless(file);
    else this.#options.onUnreadable(file);
  }
}

/** Returns the names in a folder, or none if the folder doesn't exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether an intent was created before another one; of two at once, one always was. */
export function isEarlier(one: Intent, other: Intent): boolean {
  const ms = one.created.localMs - other.created.localMs;
  return ms === 0 ? one.id < other.id : ms < 0;
}
