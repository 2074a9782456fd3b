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

interface Parts {
  accounts: Pick<AccountStore, 'active' | 'isUnreadable' | 'open'>;
  /** Makes an account the active one, if it is not and the user agrees. */
  ensureActiveAccount: (accountId: string) => Promise<boolean>;
  reportSignedOut: () => void;
  /** Gets the error that ended a command, and what calls it again with its arguments. */
  reportError: (error: unknown, retry: () => void) => void;
}

/** Makes what registers commands. A command that needs an account and is called with a `Target` runs with the target's account and its id. */
export function commandRegistry({ accounts, ensureActiveAccount, reportSignedOut, reportError }: Parts) {
  async function run(command: Command, needs: Needs, args: unknown[]): Promise<void> {
    if (needs !== 'nothing' && accounts.isUnreadable) await accounts.open();
    const [first, ...rest] = args;
    if (isTarget(first)) {
      if (needs === 'account' && !(await ensureActiveAccount(first.accountId))) return;
      args = [first.id, ...rest];
    }
    if (needs === 'account' && accounts.active === undefined) reportSignedOut();
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
