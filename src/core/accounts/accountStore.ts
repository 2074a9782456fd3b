import { mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { sequencer } from '../base/async.ts';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { writeFileDurably } from '../storage/durableFile.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { ExpectedError } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { isOpenableUrl } from '../api/address.ts';
import type { Account, AccountChange } from './account.ts';
import { Lease } from '../storage/lease.ts';

/** How often the lock is tried, some ten milliseconds apart: another window writes for a few. */
const LOCK_TRIES = 500;

const centsSchema = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));
// What is damaged of these is left out alone: the accounts are worth more.
const budgetSchema = v.fallback(
  v.optional(v.object({ perRunCents: centsSchema, perMonthCents: centsSchema, currency: v.string() })),
  undefined,
);
const websiteSchema = v.fallback(v.optional(v.pipe(v.string(), v.check(isOpenableUrl))), undefined);
const accountSchema = v.variant('kind', [
  v.object({
    kind: v.literal('service'),
    id: v.string(),
    name: v.string(),
    baseUrl: v.pipe(v.string(), v.url()),
    budget: budgetSchema,
    website: websiteSchema,
  }),
  v.object({ kind: v.literal('sandbox'), id: v.string(), name: v.string(), budget: budgetSchema }),
]);
const fileSchema = v.object({
  version: v.literal(1),
  activeId: v.optional(v.string()),
  accounts: v.array(accountSchema),
  former: v.optional(v.array(accountSchema), []),
});
interface Content {
  activeId?: string | undefined;
  accounts: Account[];
  /** Those that were signed out of, the last one last. */
  former: Account[];
}

/** The file of accounts is there, or may be, and cannot be read: nobody knows which accounts there are. */
export class AccountsUnreadableError extends ExpectedError {
  readonly code = 'accounts-unreadable';
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super('the accounts cannot be read', { cause });
    this.file = file;
  }
}

/**
 * Owns the accounts of this machine and which one is active, in a file of its own that all windows share (a `Memento`
 * writes the complete state of the extension, so that two windows can lose each other's updates). It is written under a lock. It
 * holds no API key.
 */
export class AccountStore implements Disposable {
  readonly #file: string;
  readonly #onSetAside: (file: string) => void;
  readonly #onDidChange = new Emitter<void>();
  readonly #inTurn = sequencer();
  #content: Content = { accounts: [], former: [] };
  #isUnreadable = false;
  #watch: FolderWatch | undefined;

  /**
   * Fires when an account was added, changed or removed or another one became active, here or in another window, and when
   * they can be read again.
   */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param directory the extension's storage on the extension host's machine
   * @param onSetAside gets the path to which a file was moved that cannot be read as ours
   */
  constructor(directory: string, onSetAside: (file: string) => void = () => undefined) {
    this.#file = path.join(directory, 'accounts.json');
    this.#onSetAside = onSetAside;
  }

  /**
   * Reads the file and follows what other windows write. A file that cannot be read as ours is set aside. May be called
   * again after it failed.
   * @throws AccountsUnreadableError
   */
  async open(): Promise<void> {
    try {
      const folder = path.dirname(this.#file);
      await mkdir(folder, { recursive: true });
      this.#watch ??= new FolderWatch(folder, path.basename(this.#file), () => this.#reload());
      await this.#reload();
    } catch (error) {
      this.#isUnreadable = true;
      throw error instanceof AccountsUnreadableError ? error : new AccountsUnreadableError(this.#file, error);
    }
  }

  /** Whether `open` failed, and nothing has been read since. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  get accounts(): readonly Account[] {
    return this.#content.accounts;
  }

  /** Those that were signed out of: whoever signs in again finds what is stored of them. */
  get former(): readonly Account[] {
    return this.#content.former;
  }

  get active(): Account | undefined {
    return this.#content.accounts.find((account) => account.id === this.#content.activeId);
  }

  /**
   * Adds the account, or replaces the one with its id, and makes it active. Its budget and website stay, also where it was
   * signed out of. There is one sandbox: a new one replaces it.
   */
  save(account: Account): Promise<void> {
    const isOther = (other: Account) => !isReplacedBy(other, account);
    return this.#change(({ accounts, former }) => ({
      activeId: account.id,
      accounts: [
        ...accounts.filter(isOther),
        { ...[...accounts, ...former].find(({ id }) => id === account.id), ...account },
      ],
      // A sandbox whose database became another one never comes back.
      former: former.filter(isOther),
    }));
  }

  /** Changes what the user set of an account; an id that is unknown leaves everything as it is. */
  change(id: string, change: AccountChange): Promise<void> {
    return this.#change((content) => ({
      ...content,
      accounts: content.accounts.map((account) => (account.id === id ? { ...account, ...change } : account)),
    }));
  }

  /** Makes an account active; an id that is unknown leaves everything as it is. */
  activate(id: string): Promise<void> {
    return this.#change((content) =>
      content.accounts.some((account) => account.id === id) ? { ...content, activeId: id } : content,
    );
  }

  /** Ends that an account is used. If it was active, none is: switching by itself could spend another account's money. */
  remove(id: string): Promise<void> {
    return this.#change(({ activeId, accounts, former }) => ({
      activeId: activeId === id ? undefined : activeId,
      accounts: accounts.filter((account) => account.id !== id),
      former: [...former, ...accounts.filter((account) => account.id === id)],
    }));
  }

  dispose(): void {
    this.#watch?.dispose();
    this.#onDidChange.dispose();
  }

  /** One change at a time among all windows, on what the disk holds now. */
  #change(change: (content: Content) => Content): Promise<void> {
    return this.#inTurn(() =>
      this.#locked(async () => {
        // As it will be read back: nothing is written that could not be, and the watcher sees no second change.
        const next = contentOf(textOf(change(await this.#readLocked())));
        await writeFileDurably(this.#file, textOf(next));
        this.#accept(next);
      }),
    );
  }

  /** Works alone among all windows; where the file system does not lock, or a window was stopped while it wrote, it works as well. */
  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = path.join(path.dirname(this.#file), 'accounts.lock');
    const lease = await Lease.take(lock, LOCK_TRIES).catch(() => undefined);
    try {
      return await work();
    } finally {
      lease?.release();
    }
  }

  /** @throws AccountsUnreadableError */
  #reload(): Promise<void> {
    return this.#inTurn(async () => this.#accept(await this.#read()));
  }

  #accept(next: Content): void {
    if (!this.#isUnreadable && JSON.stringify(next) === JSON.stringify(this.#content)) return;
    this.#isUnreadable = false;
    this.#content = next;
    this.#onDidChange.fire();
  }

  /** Reads without the lock: a file that is to be set aside is read again with it, another window may be writing a new one. */
  async #read(): Promise<Content> {
    return (await this.#parsed()) ?? this.#locked(() => this.#readLocked());
  }

  async #readLocked(): Promise<Content> {
    const content = await this.#parsed();
    if (content !== undefined) return content;
    // Torn by hand, foreign, or of a later version: set aside, never deleted.
    const aside = `${this.#file}.unreadable-${Date.now()}`;
    await rename(this.#file, aside);
    this.#onSetAside(aside);
    return { accounts: [], former: [] };
  }

  /** Undefined where the file is not ours. @throws AccountsUnreadableError */
  async #parsed(): Promise<Content | undefined> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if (isMissing(error)) return { accounts: [], former: [] };
      throw new AccountsUnreadableError(this.#file, error);
    }
    try {
      return contentOf(text);
    } catch {
      return undefined;
    }
  }
}

function isReplacedBy(old: Account, account: Account): boolean {
  return old.id === account.id || (old.kind === 'sandbox' && account.kind === 'sandbox');
}

function textOf(content: Content): string {
  return JSON.stringify({ version: 1, ...content }, null, 2);
}

/** @throws ValiError, SyntaxError when the text is not ours */
function contentOf(text: string): Content {
  const { activeId, accounts, former } = v.parse(fileSchema, JSON.parse(text));
  return { activeId, accounts, former };
}
