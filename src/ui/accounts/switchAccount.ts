import { commands, l10n } from 'vscode';
import { originOf, websiteOf, type Account } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { parseWebsite } from '../../core/api/address.ts';
import type { Command, CommandResult } from '../shared/commands.ts';
import { compact } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { websiteLink } from '../shared/open.ts';
import { ask, pick, separator, type PickRow } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';

/** Shows the account menu: first the accounts, so that switching takes one click, then actions. */
export async function switchAccount(accounts: AccountStore): Promise<CommandResult | undefined> {
  const { active } = accounts;
  const rows = accounts.accounts.map((account): PickRow<Command> => {
    const isSandbox = account.kind === 'sandbox';
    const isActive = account.id === active?.id;
    const where = isSandbox ? l10n.t('no training, no charges') : originOf(account);
    return {
      icon: isActive ? 'check' : isSandbox ? 'beaker' : 'account',
      label: account.name,
      description: isActive ? [where, l10n.t('active')].join(' · ') : where,
      value: () => accounts.activate(account.id),
    };
  });
  const answer = await pick<Command>(
    { title: TERMS.account },
    {
      items:
        rows.length > 0
          ? [separator(l10n.t('Accounts')), ...rows, separator(TERMS.actions), ...actionsOf(accounts)]
          : actionsOf(accounts),
    },
  );
  if (answer.kind !== 'value') return { outcome: 'cancelled' };
  return (await answer.value()) ?? undefined;
}

function actionsOf(store: AccountStore): PickRow<Command>[] {
  const { accounts, active } = store;
  const action = (icon: string, label: string, command: CommandId): PickRow<Command> => ({
    icon,
    label,
    value: async () => commands.executeCommand<CommandResult>(command),
  });
  const hasSandbox = accounts.some((account) => account.kind === 'sandbox');
  return compact(
    active && action('refresh', TERMS.refreshBalance, COMMANDS.refreshBalance),
    active && action('graph', l10n.t('Show Spending and Prices'), COMMANDS.showSpend),
    active && action('target', TERMS.setBudget, COMMANDS.setBudget),
    action('sign-in', active ? l10n.t('Sign In to Another Account…') : TERMS.signInMenu, COMMANDS.signIn),
    !hasSandbox && action('beaker', TERMS.useSandbox, COMMANDS.useSandbox),
    active?.kind === 'service' && action('key', TERMS.replaceApiKey, COMMANDS.replaceKey),
    ...(active?.kind === 'service' ? websiteRows(store, active) : []),
    active?.kind === 'sandbox' && action('beaker', l10n.t('Manage Sandbox…'), COMMANDS.sandbox),
    active && action('sign-out', l10n.t('Sign Out…'), COMMANDS.signOut),
  );
}

function websiteRows(store: AccountStore, account: Account): PickRow<Command>[] {
  const link = websiteLink(account);
  const change = () => askForWebsite(store, account);
  if (link === undefined) return [{ icon: 'globe', label: l10n.t('Add Website…'), value: change }];
  return [
    { icon: 'globe', label: link.title, description: link.website, value: link.open },
    { icon: 'edit', label: l10n.t('Change Website…'), value: change },
  ];
}

async function askForWebsite(store: AccountStore, account: Account): Promise<CommandResult | undefined> {
  const answer = await ask(
    { title: l10n.t('Website for {0}', account.name) },
    {
      prompt: l10n.t('Where you add funds and create API keys (optional)'),
      placeholder: 'https://',
      value: websiteOf(account) ?? '',
      validate: (text) =>
        text.trim() === '' || parseWebsite(text) !== undefined
          ? undefined
          : l10n.t('Enter an https:// address without a user name or password.'),
    },
  );
  if (answer.kind !== 'value') return { outcome: 'cancelled' };
  await store.change(account.id, { website: parseWebsite(answer.value) });
}
