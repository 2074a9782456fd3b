import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { isOpenableUrl } from '../api/address.ts';
import { currencyCode } from '../api/types.ts';
import { sequencer } from '../base/async.ts';
import { isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { ExpectedError } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { renameOver } from '../base/renameOver.ts';
import { writeFileDurably } from '../storage/durableFile.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { Lease } from '../storage/lease.ts';
import type { Account, AccountChange } from './account.ts';

/** How often locking is tried, about 12 ms apart; another window's write takes a few milliseconds. */
const LOCK_TRIES = 500;

const centsSchema = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));
// Invalid budgets and websites are dropped so that their accounts can still be read.
const budgetSchema = v.fallback(
  v.optional(v.object({ perRunCents: centsSchema, perMonthCents: centsSchema, currency: currencyCode })),
  undefined,
);
const websiteSchema = v.fallback(v.optional(v.pipe(v.string(), v.check(isOpenableUrl))), undefined);
// A service account is loose: what a later version added is written back.
const accountSchema = v.variant('kind', [
  v.looseObject({
    kind: v.literal('service'),
    id: v.string(),
    name: v.string(),
    baseUrl: v.pipe(v.string(), v.url()),
    budget: budgetSchema,
    website: websiteSchema,
  }),
  v.object({ kind: v.literal('sandbox'), id: v.string(), name: v.string(), budget: budgetSchema }),
]);
const accountsSchema = v.array(accountSchema);
const KINDS: ReadonlySet<string> = new Set(accountSchema.options.map(({ entries }) => entries.kind.literal));
const entriesSchema = v.array(v.looseObject({ kind: v.string() }));
const fileSchema = v.object({
  version: v.literal(1),
  activeId: v.optional(v.string()),
  accounts: entriesSchema,
  former: v.optional(entriesSchema, []),
});
/** The readable parts of a file that a later version of the extension wrote. */
const laterEntriesSchema = v.fallback(v.array(v.fallback(v.nullable(accountSchema), null)), []);
const laterFileSchema = v.object({
  version: v.pipe(v.number(), v.integer(), v.minValue(2)),
  activeId: v.fallback(v.optional(v.string()), undefined),
  accounts: laterEntriesSchema,
  former: laterEntriesSchema,
});
type Entries = v.InferOutput<typeof entriesSchema>;

interface Content {
  activeId?: string | undefined;
  accounts: Account[];
  /** The signed-out accounts, latest last. */
  former: Account[];
  /** Accounts of kinds that only a later version knows. They are written back unchanged. */
  others: { accounts: Entries; former: Entries };
  /** Whether a later version of the extension wrote the file. This version then never writes it. */
  isOfLaterVersion: boolean;
}

function emptyContent(): Content {
  return { accounts: [], former: [], others: { accounts: [], former: [] }, isOfLaterVersion: false };
}

/** The accounts file may exist but cannot be read, so it is unknown which accounts there are. */
export class AccountsUnreadableError extends ExpectedError {
  readonly code = 'accounts-unreadable';
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super('the accounts cannot be read', { cause });
    this.file = file;
  }
}

/** A later version of the extension wrote the accounts file, so this version doesn't change it. */
export class AccountsOfLaterVersionError extends ExpectedError {
  readonly code = 'accounts-later-version';

  constructor() {
    super('the accounts file is of a later version');
  }
}

/**
 * Owns the accounts of this machine, and which one is active, in a file that all windows share and write under a lock.
 * Not in a `Memento`: that always writes the extension's complete state, so windows would overwrite each other's
 * updates. Contains no API keys.
 */
export class AccountStore implements Disposable {
  readonly #file: string;
  readonly #onUnreadable: (file: string) => void;
  readonly #onDidChange = new Emitter<void>();
  readonly #inTurn = sequencer();
  #content = emptyContent();
  #isUnreadable = false;
  #watch: FolderWatch | undefined;

  /**
   * Fires when an account is added, changed, removed, or activated in any window, and when the accounts
   * become readable again.
   */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param directory the extension's storage on the extension host's machine
   * @param onUnreadable called with the path to which an invalid file was moved
   */
  constructor(directory: string, onUnreadable: (file: string) => void = () => undefined) {
    this.#file = path.join(directory, 'accounts.json');
    this.#onUnreadable = onUnreadable;
  }

  /**
   * Reads the file and watches for changes by other windows. Sets an invalid file aside. May be called again
   * after a failure.
   * @throws AccountsUnreadableError
   */
  async open(): Promise<void> {
    try {
      const folder = path.dirname(this.#file);
      await mkdir(folder, { recursive: true });
      this.#watch ??= new FolderWatch(folder, path.basename(this.#file), () => this.reload());
      await this.reload();
    } catch (error) {
      this.#isUnreadable = true;
      throw error instanceof AccountsUnreadableError ? error : new AccountsUnreadableError(this.#file, error);
    }
  }

  /** Reads the file again. Without a file watcher, only this shows other windows' changes. @throws AccountsUnreadableError */
  reload(): Promise<void> {
    return this.#inTurn(async () => this.#accept(await this.#read()));
  }

  /** Whether `open` failed and nothing has been read since. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  get accounts(): readonly Account[] {
    return this.#content.accounts;
  }

  /** The signed-out accounts. Signing in again restores access to their stored data. */
  get former(): readonly Account[] {
    return this.#content.former;
  }

  get active(): Account | undefined {
    return this.#content.accounts.find((account) => account.id === this.#content.activeId);
  }

  /** @throws AccountsOfLaterVersionError if the file, as last read, can't be changed */
  requireChangeable(): void {
    if (this.#content.isOfLaterVersion) throw new AccountsOfLaterVersionError();
  }

  /**
   * Adds or replaces an account by ID and activates it. Keeps its budget and website, even after a sign-out.
   * A new sandbox replaces the existing one.
   */
  save(account: Account): Promise<void> {
    const isOther = ({ id, kind }: Account) =>
      id !== account.id && (kind !== 'sandbox' || account.kind !== 'sandbox');
    return this.#change(({ accounts, former, ...content }) => ({
      ...content,
      activeId: account.id,
      accounts: [
        ...accounts.filter(isOther),
        { ...[...accounts, ...former].find(({ id }) => id === account.id), ...account },
      ],
      // A sandbox with a new database never returns under its old ID.
      former: former.filter(isOther),
    }));
  }

  /** Changes the user's settings of an account; ignores an unknown ID. */
  change(id: string, change: AccountChange): Promise<void> {
    return this.#change((content) => ({
      ...content,
      accounts: content.accounts.map((account) => (account.id === id ? { ...account, ...change } : account)),
    }));
  }

  /** Activates an account; ignores an unknown ID. */
  activate(id: string): Promise<void> {
    return this.#change((content) =>
      content.accounts.some((account) => account.id === id) ? { ...content, activeId: id } : content,
    );
  }

  /** Signs out of an account without activating another: that could spend another account's money. */
  remove(id: string): Promise<void> {
    return this.#change(({ activeId, accounts, former, ...content }) => ({
      ...content,
      activeId: activeId === id ? undefined : activeId,
      accounts: accounts.filter((account) => account.id !== id),
      former: [...former, ...accounts.filter((account) => account.id === id)],
    }));
  }

  dispose(): void {
    this.#watch?.dispose();
    this.#onDidChange.dispose();
  }

  /**
   * Applies one change at a time among all windows, based on the current file.
   * @throws AccountsUnreadableError, AccountsOfLaterVersionError, and file system errors
   */
  #change(change: (content: Content) => Content): Promise<void> {
    return this.#inTurn(() =>
      this.#locked(async () => {
        const content = await this.#readLocked();
        if (content.isOfLaterVersion) {
          this.#accept(content);
          throw new AccountsOfLaterVersionError();
        }
        // Write only what can be read back, so that the watcher sees no second change.
        const next = contentOf(fileText(change(content)));
        await writeFileDurably(this.#file, fileText(next));
        this.#accept(next);
      }),
    );
  }

  /** Runs work under the lock. If files can't be locked, or another window hangs while writing, runs it without. */
  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = path.join(path.dirname(this.#file), 'accounts.lock');
    const lease = await Lease.take(lock, LOCK_TRIES).catch(() => undefined);
    try {
      return await work();
    } finally {
      lease?.release();
    }
  }

  /** Takes over the content of the file, and fires if it changed. */
  #accept(next: Content): void {
    if (!this.#isUnreadable && JSON.stringify(next) === JSON.stringify(this.#content)) return;
    this.#isUnreadable = false;
    this.#content = next;
    this.#onDidChange.fire();
  }

  /** Reads without the lock. An invalid file is read again under it: another window may be writing. */
  async #read(): Promise<Content> {
    return (await this.#parsed()) ?? this.#locked(() => this.#readLocked());
  }

  /** Reads under the lock. Sets an invalid file aside, and is empty then. */
  async #readLocked(): Promise<Content> {
    const content = await this.#parsed();
    if (content !== undefined) return content;
    // Edited by hand or foreign: set aside, never deleted.
    const aside = `${this.#file}.unreadable-${Date.now()}`;
    await renameOver(this.#file, aside);
    this.#onUnreadable(aside);
    return emptyContent();
  }

  /** Undefined if the file is invalid. @throws AccountsUnreadableError */
  async #parsed(): Promise<Content | undefined> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if (isMissing(error)) return emptyContent();
      throw new AccountsUnreadableError(this.#file, error);
    }
    try {
      return contentOf(text);
    } catch {
      return undefined;
    }
  }
}

function fileText({ activeId, accounts, former, others }: Content): string {
  const file = {
    version: 1,
    activeId,
    accounts: [...accounts, ...others.accounts],
    former: [...former, ...others.former],
  };
  return JSON.stringify(file, null, 2);
}

/** @throws ValiError, SyntaxError if the text is invalid */
function contentOf(text: string): Content {
  const value: unknown = JSON.parse(text);
  const later = v.safeParse(laterFileSchema, value);
  if (later.success) {
    const { activeId, accounts, former } = later.output;
    const read = {
      accounts: accounts.filter((one) => one !== null),
      former: former.filter((one) => one !== null),
    };
    return { ...emptyContent(), activeId, ...read, isOfLaterVersion: true };
  }
  const { activeId, accounts, former } = v.parse(fileSchema, value);
  const known = (entries: Entries) =>
    v.parse(
      accountsSchema,
      entries.filter(({ kind }) => KINDS.has(kind)),
    );
  const unknown = (entries: Entries) => entries.filter(({ kind }) => !KINDS.has(kind));
  return {
    activeId,
    accounts: known(accounts),
    former: known(former),
    others: { accounts: unknown(accounts), former: unknown(former) },
    isOfLaterVersion: false,
  };
}
