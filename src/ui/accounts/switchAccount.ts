import * as vscode from 'vscode';
import { originOf, websiteOf, type Account } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { parseWebsite } from '../../core/api/address.ts';
import { accountWords, websiteLink } from '../shared/accountMessages.ts';
import { compact } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { ask, pick, separator, type Choice } from '../shared/steps.ts';
import { TERMS } from '../shared/termMessages.ts';
import { menuWords, websiteWords } from './messages.ts';

type Target = () => unknown;

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
      value: () => accounts.activate(account.id),
    };
  });
  const answer = await pick<Target>(
    { title: TERMS.account },
    {
      items:
        rows.length > 0
          ? [separator(menuWords.accounts()), ...rows, separator(TERMS.actions), ...actionsOf(accounts)]
          : actionsOf(accounts),
    },
  );
  if (answer.kind === 'value') await answer.value();
}

function actionsOf(store: AccountStore): Choice<Target>[] {
  const { accounts, active } = store;
  const action = (icon: string, label: string, command: CommandId): Choice<Target> => ({
    icon,
    label,
    value: async () => vscode.commands.executeCommand(command),
  });
  const hasSandbox = accounts.some((account) => account.kind === 'sandbox');
  const isSandbox = active?.kind === 'sandbox';
  return compact(
    active && action('refresh', TERMS.refreshBalance, COMMANDS.refreshBalance),
    active && action('graph', menuWords.showSpend(), COMMANDS.showSpend),
    active && action('target', TERMS.setBudget, COMMANDS.setBudget),
    action('sign-in', active ? menuWords.signIn() : accountWords.signIn(), COMMANDS.signIn),
    !hasSandbox && action('beaker', accountWords.useSandbox(), COMMANDS.useSandbox),
    active?.kind === 'service' && action('key', TERMS.replaceApiKey, COMMANDS.replaceKey),
    ...(active?.kind === 'service' ? websiteRows(store, active) : []),
    isSandbox && action('add', menuWords.addFunds(), COMMANDS.sandboxAddFunds),
    isSandbox && action('debug-alt', menuWords.scenario(), COMMANDS.sandboxScenario),
    isSandbox && action('dashboard', menuWords.clockSpeed(), COMMANDS.sandboxClockSpeed),
    isSandbox && action('discard', menuWords.reset(), COMMANDS.sandboxReset),
    active && action('sign-out', menuWords.signOut(), COMMANDS.signOut),
  );
}

function websiteRows(store: AccountStore, account: Account): Choice<Target>[] {
  const link = websiteLink(account);
  const change = () => askForWebsite(store, account);
  if (link === undefined) return [{ icon: 'globe', label: menuWords.addWebsite(), value: change }];
  return [
    { icon: 'globe', label: link.title, description: link.website, value: link.open },
    { icon: 'edit', label: menuWords.changeWebsite(), value: change },
  ];
}

async function askForWebsite(store: AccountStore, account: Account): Promise<void> {
  const answer = await ask(
    { title: websiteWords.title(account.name) },
    {
      prompt: websiteWords.prompt(),
      placeholder: 'https://',
      value: websiteOf(account) ?? '',
      validate: (text) =>
        text.trim() === '' || parseWebsite(text) !== undefined ? undefined : websiteWords.notHttps(),
    },
  );
  if (answer.kind === 'value') await store.change(account.id, { website: parseWebsite(answer.value) });
}
