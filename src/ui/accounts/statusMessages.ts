import * as vscode from 'vscode';
import type { Balance } from '../../core/api/types.ts';
import type { SessionState } from '../../core/runs/session.ts';
import { formatMoney, sandboxNote } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** What the status bar shows of the active account. */
interface BalanceView {
  accountName: string;
  isSandbox: boolean;
  balance: Balance | undefined;
  state: SessionState;
  isLow: boolean;
}

export function statusItemName(): string {
  return vscode.l10n.t('Fine-Tuning Balance');
}

export function balanceText({ accountName, isSandbox, balance }: BalanceView): string {
  const icon = isSandbox ? '$(beaker)' : '$(credit-card)';
  const amount =
    balance === undefined
      ? sanitizeServiceText(accountName)
      : formatMoney(balance.balance_cents, balance.currency);
  return isSandbox && balance !== undefined
    ? `${icon} ${vscode.l10n.t('Sandbox {0}', amount)}`
    : `${icon} ${amount}`;
}

export function balanceTooltip(view: BalanceView): string {
  const { l10n } = vscode;
  const lines = [l10n.t('Fine-Tuning account: {0}', sanitizeServiceText(view.accountName))];
  if (view.isSandbox) lines.push(sandboxNote());
  if (view.balance !== undefined)
    lines.push(l10n.t('Balance: {0}', formatMoney(view.balance.balance_cents, view.balance.currency)));
  if (view.isLow) lines.push(l10n.t('Below your low-balance threshold.'));
  if (view.state === 'offline')
    lines.push(
      view.isSandbox
        ? l10n.t('The sandbox didn’t start or isn’t responding.')
        : l10n.t('Can’t reach the service.'),
    );
  if (view.state === 'key-rejected') lines.push(l10n.t('The service rejected the API key.'));
  if (view.state === 'key-missing') lines.push(l10n.t('The API key is not on this machine.'));
  lines.push(l10n.t('Click for the account menu.'));
  return lines.join('\n');
}
