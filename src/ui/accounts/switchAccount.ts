import * as vscode from 'vscode';
import { pickFromAccountMenu, type MenuRow } from './accountDialogs.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { accountWords } from './messages.ts';
import { originOf } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';

type Choice = { accountId: string } | { command: CommandId };

/** The account menu: one click switches, the rest is what can be done with the active account. */
export function switchAccount(accounts: AccountStore) {
  return async (): Promise<void> => {
    const { active } = accounts;
    const rows = accounts.accounts.map((account): MenuRow<Choice> => {
      const where = account.kind === 'sandbox' ? accountWords.sandboxDescription() : originOf(account);
      const isActive = account.id === active?.id;
      return {
        icon: isActive ? 'check' : account.kind === 'sandbox' ? 'beaker' : 'account',
        label: account.name,
        description: isActive ? `${where} · ${accountWords.active()}` : where,
        value: { accountId: account.id },
      };
    });
    const action = (icon: string, label: string, command: CommandId): MenuRow<Choice> => ({
      icon,
      label,
      value: { command },
    });
    const hasSandbox = accounts.accounts.some((account) => account.kind === 'sandbox');
    const choice = await pickFromAccountMenu<Choice>(rows, [
      ...(active === undefined
        ? []
        : [action('refresh', accountWords.refreshBalance(), COMMANDS.refreshBalance)]),
      action(
        'sign-in',
        active === undefined ? accountWords.firstSignIn() : accountWords.signIn(),
        COMMANDS.signIn,
      ),
      ...(hasSandbox ? [] : [action('beaker', accountWords.useSandbox(), COMMANDS.useSandbox)]),
      ...(active?.kind === 'service' ? [action('key', accountWords.replaceKey(), COMMANDS.replaceKey)] : []),
      ...(active?.kind === 'sandbox'
        ? [
            action('add', accountWords.addFunds(), COMMANDS.sandboxAddFunds),
            action('debug-alt', accountWords.scenario(), COMMANDS.sandboxScenario),
            action('dashboard', accountWords.clockSpeed(), COMMANDS.sandboxClockSpeed),
            action('discard', accountWords.reset(), COMMANDS.sandboxReset),
          ]
        : []),
      ...(active === undefined ? [] : [action('sign-out', accountWords.signOut(), COMMANDS.signOut)]),
    ]);
    if (choice === undefined) return;
    if ('accountId' in choice) await accounts.activate(choice.accountId);
    else await vscode.commands.executeCommand(choice.command);
  };
}
