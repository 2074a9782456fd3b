import * as vscode from 'vscode';
import type { Balance } from '../../core/api/types.ts';
import { formatMoney } from './format.ts';
import { strangerText } from './strangerText.ts';

/** What the status bar knows. */
interface BalanceView {
  accountName: string;
  isSandbox: boolean;
  balance: Balance | undefined;
  state: 'connecting' | 'ready' | 'offline' | 'key-rejected' | 'key-missing';
  isLow: boolean;
}

export function balanceText({ accountName, isSandbox, balance }: BalanceView): string {
  const icon = isSandbox ? '$(beaker)' : '$(credit-card)';
  const amount =
    balance === undefined ? strangerText(accountName) : formatMoney(balance.balance_cents, balance.currency);
  return isSandbox && balance !== undefined
    ? `${icon} ${vscode.l10n.t('Sandbox {0}', amount)}`
    : `${icon} ${amount}`;
}

export function balanceTooltip(view: BalanceView): string {
  const { l10n } = vscode;
  const lines = [l10n.t('Fine-Tuning account: {0}', strangerText(view.accountName))];
  if (view.isSandbox) lines.push(l10n.t('The sandbox: nothing is trained and nothing is paid.'));
  if (view.balance !== undefined)
    lines.push(l10n.t('Balance: {0}', formatMoney(view.balance.balance_cents, view.balance.currency)));
  if (view.isLow) lines.push(l10n.t('The balance is below your warning threshold.'));
  if (view.state === 'offline')
    lines.push(
      view.isSandbox
        ? l10n.t('The sandbox could not be started, or does not answer.')
        : l10n.t('The service cannot be reached at the moment.'),
    );
  if (view.state === 'key-rejected') lines.push(l10n.t('The service does not accept the API key.'));
  if (view.state === 'key-missing') lines.push(l10n.t('The API key is missing on this machine.'));
  lines.push(l10n.t('Click for the account menu.'));
  return lines.join('\n');
}

export function statusItemName(): string {
  return vscode.l10n.t('Fine-Tuning Balance');
}
