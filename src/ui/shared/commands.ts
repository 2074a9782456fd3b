import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { CommandId } from './ids.ts';

/** What a command is about, wherever it is called from: notifications and pages outlive a switch of accounts. */
export interface Target {
  accountId: string;
  /** A `run_id`, or the id of a submission or download. */
  id: string;
}

/** A function that a command id runs; each is loaded at its first use. */
export type Command = (...args: unknown[]) => unknown;

/** `account`: an active account; `accounts`: accounts that could be read; `nothing`: works without either. */
export type Needs = 'nothing' | 'accounts' | 'account';

/**
 * Makes what registers commands. A command that needs an account and is called with a `Target` runs with the target's account and its
 * id.
 * @param reportError gets the error that ended a command, and what calls it again with its arguments
 */
export function commandRegistry(
  accounts: AccountStore,
  reportError: (error: unknown, retry: () => void) => void,
) {
  async function run(command: Command, needs: Needs, args: unknown[]): Promise<void> {
    if (needs !== 'nothing' && accounts.isUnreadable) await accounts.open();
    const [first, ...rest] = args;
    if (isTarget(first)) {
      if (needs === 'account' && !(await ensureActiveAccount(accounts, first.accountId))) return;
      args = [first.id, ...rest];
    }
    if (needs === 'account' && accounts.active === undefined)
      (await import('./accountMessages.ts')).notifySignedOut();
    else await command(...args);
  }
  return (needs: Needs, commands: Partial<Record<CommandId, Command>>): vscode.Disposable =>
    vscode.Disposable.from(
      ...Object.entries(commands).map(([id, command]) =>
        vscode.commands.registerCommand(id, async (...args: unknown[]) => {
          try {
            await run(command, needs, args);
          } catch (error) {
            reportError(error, () => void vscode.commands.executeCommand(id, ...args));
          }
        }),
      ),
    );
}

function isTarget(argument: unknown): argument is Target {
  if (typeof argument !== 'object' || argument === null) return false;
  const { accountId, id } = argument as Record<string, unknown>;
  return typeof accountId === 'string' && typeof id === 'string';
}

/** Whether an account is the active one, or the user agrees to switch to it: a notification may be older than a switch. */
export async function ensureActiveAccount(
  accounts: Pick<AccountStore, 'accounts' | 'former' | 'active' | 'activate'>,
  accountId: string,
): Promise<boolean> {
  if (accounts.active?.id === accountId) return true;
  const account = accounts.accounts.find(({ id }) => id === accountId);
  const { notifyAccountGone, offerAccount } = await import('./accountMessages.ts');
  if (account === undefined) {
    notifyAccountGone(accounts.former.find(({ id }) => id === accountId)?.name);
    return false;
  }
  if (!(await offerAccount(account.name))) return false;
  await accounts.activate(accountId);
  // Meanwhile the account may have been signed out of.
  return accounts.active?.id === accountId;
}
