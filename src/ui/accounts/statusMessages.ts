import { l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { Balance } from '../../core/api/types.ts';
import type { SessionState } from '../../core/runs/session.ts';
import { compact, formatMoment, formatMoney, sandboxNote } from '../shared/format.ts';
import { keyProblem } from '../shared/runMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/termMessages.ts';

/** What the status bar shows about the active account. */
export interface BalanceView {
  account: Account;
  /** Whether there are other accounts, so that the name must identify this one. */
  hasOthers: boolean;
  balance: Balance | undefined;
  readAtMs: number | undefined;
  state: SessionState;
  isLow: boolean;
  /** Lines about spending and budget; empty until they are read. */
  spent: readonly string[];
}

/** The status bar has no room for longer names. */
const MAX_NAME_UNITS = 16;

export function statusItemName(): string {
  return l10n.t('Fine-Tuning Balance');
}

export function balanceText({ account, hasOthers, balance, state }: BalanceView): string {
  const name = sanitizeServiceText(account.name, MAX_NAME_UNITS);
  if (state === 'key-rejected' || state === 'key-missing') return `$(key) ${name}`;
  const isSandbox = account.kind === 'sandbox';
  return compact(
    isSandbox ? '$(beaker)' : '$(credit-card)',
    (isSandbox || hasOthers || balance === undefined) && name,
    balance && formatMoney(balance.balance_cents, balance.currency),
  ).join(' ');
}

export function balanceTooltip({ account, balance, readAtMs, state, isLow, spent }: BalanceView): string {
  const isSandbox = account.kind === 'sandbox';
  const money = balance && formatMoney(balance.balance_cents, balance.currency);
  return compact(
    l10n.t('Fine-Tuning account: {0}', sanitizeServiceText(account.name)),
    isSandbox ? sandboxNote() : l10n.t('Service: {0}', sanitizeServiceText(new URL(account.baseUrl).host)),
    money &&
      (readAtMs === undefined
        ? factLine(TERMS.balance, money)
        : l10n.t('Balance: {0} (read {1})', money, formatMoment(readAtMs, Date.now()))),
    ...spent,
    isLow && l10n.t('Below your low-balance threshold.'),
    state === 'offline' &&
      (isSandbox
        ? l10n.t('The sandbox didn’t start or isn’t responding.')
        : l10n.t('Can’t reach the service.')),
    keyProblem(state),
    l10n.t('Click for the account menu.'),
  ).join('\n');
}
