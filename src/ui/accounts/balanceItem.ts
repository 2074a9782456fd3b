import { l10n, StatusBarAlignment, type StatusBarItem, ThemeColor, window } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Balance } from '../../core/api/types.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Session, SessionState } from '../../core/runs/session.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import type { FaultOf } from '../../services.ts';
import { keyProblem } from '../shared/connectionText.ts';
import { compact, formatMoment, formatMoney, sandboxNote } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { onDidChangeSettings, setting } from '../shared/settings.ts';
import { factLine, TERMS } from '../shared/terms.ts';

/** A charge changes both runs and balance; spending is read once for all changes within this delay. */
const SPENT_DELAY_MS = 500;

/**
 * Shows the active account's balance in the status bar; hidden when signed out.
 * @param readSpent returns lines about an account's spending
 * @param faultOf returns which fault of the sandbox is on for an account
 */
export function showBalance(
  sessions: Sessions,
  accounts: Pick<AccountStore, 'accounts' | 'onDidChange'>,
  readSpent: (session: Session) => Promise<string[]>,
  faultOf: FaultOf,
): Disposable {
  const store = new DisposableStore();
  const item = store.add(window.createStatusBarItem('balance', StatusBarAlignment.Left, 0));
  item.name = l10n.t('Fine-Tuning Balance');
  item.command = COMMANDS.switchAccount;
  let spent: readonly string[] = [];
  let spentTimer: NodeJS.Timeout | undefined;
  /** The balance when spending was last read. */
  let spentAt: Balance | undefined;

  const draw = () => {
    const session = sessions.active;
    if (session === undefined) item.hide();
    else {
      const lines = compact(faultOf(session.account)?.sentence, ...spent);
      drawItem(item, session, lines, accounts.accounts.length > 1);
    }
  };
  const drawSpent = async () => {
    const session = sessions.active;
    if (session === undefined) return;
    spentAt = session.balance.current;
    const read = await readSpent(session).catch(() => {
      // The next read of the balance retries.
      spentAt = undefined;
      return [];
    });
    if (session !== sessions.active) return;
    spent = read;
    draw();
  };
  const planSpent = () => {
    clearTimeout(spentTimer);
    spentTimer = setTimeout(() => void drawSpent(), SPENT_DELAY_MS);
  };
  const changed = () => {
    draw();
    planSpent();
  };
  const balanceRead = ({ balance: { current } }: Session) => {
    draw();
    // The balance is read every few minutes, but reading the spending may mean reading a large folder.
    if (current?.balance_cents !== spentAt?.balance_cents || current?.currency !== spentAt?.currency)
      planSpent();
  };
  for (const one of [
    { dispose: () => clearTimeout(spentTimer) },
    onDidChangeSettings(['lowBalance'], draw),
    accounts.onDidChange(changed),
    followActive(sessions, (session) => {
      spent = [];
      changed();
      return (
        session && [
          session.balance.onDidChange(() => balanceRead(session)),
          session.runs.onDidChange(planSpent),
          session.onDidChangeState(draw),
        ]
      );
    }),
  ])
    store.add(one);
  return store;
}

function drawItem(item: StatusBarItem, session: Session, spent: readonly string[], hasOthers: boolean): void {
  const { account, state, isLocked } = session;
  // Don't show data that was read with an API key that no longer works.
  const balance = isLocked ? undefined : session.balance.current;
  const threshold = setting('lowBalance');
  const isLow = threshold > 0 && balance !== undefined && balance.balance_cents < threshold * 100;
  const { readAtMs } = session.balance;
  const view = { account, hasOthers, balance, readAtMs, state, isLow, spent: isLocked ? [] : spent };
  item.text = balanceText(view);
  item.tooltip = balanceTooltip(view);
  item.accessibilityInformation = { label: item.tooltip.replaceAll('\n', ', '), role: 'button' };
  item.backgroundColor = isLow || isLocked ? new ThemeColor('statusBarItem.warningBackground') : undefined;
  item.show();
}

/** What the status bar shows about the active account. */
export interface BalanceView {
  account: Account;
  /** Whether there are other accounts, so that the name is needed. */
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
        : l10n.t('Balance: {0} (as of {1})', money, formatMoment(readAtMs, Date.now()))),
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
