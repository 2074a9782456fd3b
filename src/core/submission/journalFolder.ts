import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../base/diskError.ts';
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
  /** Called instead if its submission is known to be settled or refused. */
  onDecided: (file: string) => void;
  /** What is known of submissions whose records cannot be read. */
  hints?: SubmissionHints;
}

/** Owns reading the journal's files. Moves and changes none: a damaged record stays until the user ends it. */
export class JournalFolder {
  readonly #directory: string;
  readonly #isOwned: (id: string) => Promise<boolean>;
  readonly #options: FolderOptions;
  readonly #reported = new Set<string>();
  /** The receipts as last read, by file. `stamp`: of the file, which another window may replace. */
  readonly #receipts = new Map<string, { stamp: string; receipt: Receipt }>();

  /** @param isOwned whether a running window owns a submission */
  constructor(directory: string, isOwned: (id: string) => Promise<boolean>, options: FolderOptions) {
    this.#directory = directory;
    this.#isOwned = isOwned;
    this.#options = options;
  }

  /** The readable receipts as last read. */
  get receipts(): readonly Receipt[] {
    return [...this.#receipts.values()].map(({ receipt }) => receipt);
  }

  /** Reads the open intents and the new receipts. */
  async read(): Promise<FolderContent> {
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
      if (found.kind === 'later') {
        if (found.key !== undefined) later.push(found.key);
        this.#report({ file }, found.isDecided);
      }
      if (found.kind === 'intent' && isSettled(found.intent))
        this.#receipts.set(file, { stamp: receiptStamp, receipt: found.intent });
      else if (found.kind === 'intent') {
        const decision = await decisionAbout(this.#directory, found.intent);
        open.push(decision === 'closing' ? withClosing(found.intent) : found.intent);
      }
      if (found.kind !== 'foreign') return;
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

  #report({ file }: { file: string }, isDecided: boolean): void {
    if (this.#reported.has(file)) return;
    this.#reported.add(file);
    if (isDecided) this.#options.onDecided(file);
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
