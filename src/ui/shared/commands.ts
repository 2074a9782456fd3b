import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { isPlainId } from '../../core/base/plainText.ts';
import type { CommandId } from './ids.ts';

/** The object of a command and its account: notifications and pages outlive a switch of accounts. */
export interface Target {
  accountId: string;
  /** A `run_id`, or the ID of a submission or download. */
  id: string;
}

/**
 * What a command returns to other extensions, which can run any command: never money, paths, labels, keys, or
 * text of rows. The codes are a contract, explained in docs/commands.md.
 */
export interface CommandResult {
  outcome: 'done' | 'cancelled' | 'unavailable' | 'failed' | 'charged' | 'not-charged' | 'unknown';
  /** A `run_id`, or the ID of a submission. */
  id?: string;
}

type Nothing = void | Promise<void>;

/** The function of a command; features load its code at first use. It may return nothing after a success. */
export type Command = (...args: unknown[]) => Nothing | Promise<CommandResult | undefined>;

/** What a command requires. `account`: an active account; `accounts`: a readable list of accounts. */
export type Needs = 'nothing' | 'accounts' | 'account';

/**
 * Owns the commands of all features. A command that is called with a `Target` gets its ID. If it needs an
 * account, it first offers to switch to the target's.
 */
export class Commands {
  readonly #accounts: AccountStore;
  readonly #reportError: (error: unknown, retry: () => void) => void;
  readonly #byId = new Map<string, { command: Command; needs: Needs }>();

  /** @param reportError gets the error of a failed command, and a function that runs it again unchanged */
  constructor(accounts: AccountStore, reportError: (error: unknown, retry: () => void) => void) {
    this.#accounts = accounts;
    this.#reportError = reportError;
  }

  add(needs: Needs, commands: Partial<Record<CommandId, Command>>): void {
    for (const [id, command] of Object.entries(commands)) this.#byId.set(id, { command, needs });
  }

  /** Runs a command and reports its error. Never rejects. */
  async run(id: CommandId, args: unknown[]): Promise<CommandResult> {
    try {
      const { outcome, id: about } = await this.#run(id, args);
      // Whatever the command returned, only this leaves. A service may use any text as an ID.
      return { outcome, ...(about !== undefined && isPlainId(about) && { id: about }) };
    } catch (error) {
      this.#reportError(error, () => void this.run(id, args));
      return { outcome: error instanceof CancelledError ? 'cancelled' : 'failed' };
    }
  }

  async #run(id: CommandId, args: unknown[]): Promise<CommandResult> {
    const { command, needs } = this.#byId.get(id) ?? {};
    if (command === undefined) throw new RangeError(id);
    if (needs !== 'nothing' && this.#accounts.isUnreadable) await this.#accounts.open();
    const [first, ...rest] = args;
    if (isTarget(first)) {
      if (needs === 'account' && !(await ensureActiveAccount(this.#accounts, first.accountId))) {
        const isKnown = this.#accounts.accounts.some((account) => account.id === first.accountId);
        return { outcome: isKnown ? 'cancelled' : 'unavailable' };
      }
      args = [first.id, ...rest];
    }
    if (needs === 'account' && this.#accounts.active === undefined) {
      (await import('./activeAccount.ts')).notifySignedOut();
      return { outcome: 'unavailable' };
    }
    const result = await command(...args);
    return typeof result === 'object' ? result : { outcome: 'done' };
  }
}

function isTarget(argument: unknown): argument is Target {
  if (typeof argument !== 'object' || argument === null) return false;
  const { accountId, id } = argument as Record<string, unknown>;
  return typeof accountId === 'string' && typeof id === 'string';
}

/** Offers to switch to an account unless it is active already. Returns whether it is active afterwards. */
export async function ensureActiveAccount(
  accounts: Pick<AccountStore, 'accounts' | 'former' | 'active' | 'activate'>,
  accountId: string,
): Promise<boolean> {
  if (accounts.active?.id === accountId) return true;
  return (await import('./activeAccount.ts')).offerAccount(accounts, accountId);
}
