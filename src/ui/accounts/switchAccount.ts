import * as vscode from 'vscode';
import { originOf } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { accountWords } from '../shared/accountMessages.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { pick, separator, type Choice } from '../shared/steps.ts';
import { menuWords } from './messages.ts';

type Target = { accountId: string } | { command: CommandId };

/** The account menu: accounts first, so that a switch is one click, then the actions on the active one. */
export async function switchAccount(accounts: AccountStore): Promise<void> {
  const { active } = accounts;
  const rows = accounts.accounts.map((account): Choice<Target> => {
    const isSandbox = account.kind === 'sandbox';
    const isActive = account.id === active?.id;
    const where = isSandbox ? menuWords.sandbox() : originOf(account);
    return {
      icon: isActive ? 'check' : isSandbox ? 'beaker' : 'account',
      label: account.name,
      description: isActive ? `${where} · ${menuWords.active()}` : where,
      value: { accountId: account.id },
    };
  });
  const answer = await pick<Target>(
    { title: menuWords.title() },
    {
      placeholder: menuWords.placeholder(),
      items:
        rows.length > 0
          ? [separator(menuWords.accounts()), ...rows, separator(menuWords.actions()), ...actionsOf(accounts)]
          : actionsOf(accounts),
    },
  );
  if (answer.kind !== 'value') return;
  if ('accountId' in answer.value) await accounts.activate(answer.value.accountId);
  else await vscode.commands.executeCommand(answer.value.command);
}

function actionsOf({ accounts, active }: AccountStore): Choice<Target>[] {
  const action = (icon: string, label: string, command: CommandId) => ({ icon, label, value: { command } });
  const kind = active?.kind;
  const hasSandbox = accounts.some((account) => account.kind === 'sandbox');
  return [
    ...(active ? [action('refresh', menuWords.refreshBalance(), COMMANDS.refreshBalance)] : []),
    action('sign-in', active ? menuWords.signIn() : accountWords.signIn(), COMMANDS.signIn),
    ...(hasSandbox ? [] : [action('beaker', accountWords.useSandbox(), COMMANDS.useSandbox)]),
    ...(kind === 'service' ? [action('key', menuWords.replaceKey(), COMMANDS.replaceKey)] : []),
    ...(kind === 'sandbox'
      ? [
          action('add', menuWords.addFunds(), COMMANDS.sandboxAddFunds),
          action('debug-alt', menuWords.scenario(), COMMANDS.sandboxScenario),
          action('dashboard', menuWords.clockSpeed(), COMMANDS.sandboxClockSpeed),
          action('discard', menuWords.reset(), COMMANDS.sandboxReset),
        ]
      : []),
    ...(active ? [action('sign-out', menuWords.signOut(), COMMANDS.signOut)] : []),
  ];
}
