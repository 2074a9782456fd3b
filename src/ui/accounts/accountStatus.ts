import * as vscode from 'vscode';
import { websiteOf } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Balance } from '../../core/api/types.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS, CONTEXT_KEYS } from '../shared/ids.ts';
import { onDidChangeSettings, setting } from '../shared/settings.ts';
import { balanceText, balanceTooltip, statusItemName } from './statusMessages.ts';

/** A charge changes both runs and balance; spending is read once for all changes within this delay. */
const SPENT_DELAY_MS = 500;

/**
 * Shows the active account's balance in the status bar; hidden when signed out.
 * @param readSpent returns lines about an account's spending
 */
export function showBalance(
  sessions: Sessions,
  accounts: Pick<AccountStore, 'accounts' | 'onDidChange'>,
  readSpent: (session: Session) => Promise<string[]>,
): Disposable {
  const store = new DisposableStore();
  const item = store.add(vscode.window.createStatusBarItem('balance', vscode.StatusBarAlignment.Left, 0));
  item.name = statusItemName();
  item.command = COMMANDS.switchAccount;
  let spent: readonly string[] = [];
  let spentTimer: NodeJS.Timeout | undefined;
  /** The balance when spending was last read. */
  let spentAt: Balance | undefined;

  const draw = () => {
    const session = sessions.active;
    if (session === undefined) {
      item.hide();
      return;
    }
    const { account, state, isLocked } = session;
    // Don't show data that was read with an API key that no longer works.
    const balance = isLocked ? undefined : session.balance.current;
    const threshold = setting('lowBalance');
    const isLow = threshold > 0 && balance !== undefined && balance.balance_cents < threshold * 100;
    const hasOthers = accounts.accounts.length > 1;
    const { readAtMs } = session.balance;
    const view = { account, hasOthers, balance, readAtMs, state, isLow, spent: isLocked ? [] : spent };
    item.text = balanceText(view);
    item.tooltip = balanceTooltip(view);
    item.accessibilityInformation = { label: item.tooltip.replaceAll('\n', ', '), role: 'button' };
    item.backgroundColor =
      isLow || isLocked ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    item.show();
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

/** Updates the context keys by which package.json selects the welcome text of an empty view. */
export function updateWelcomeContext(sessions: Sessions, accounts: AccountStore): Disposable {
  const disposables = new DisposableStore();
  disposables.add(
    followActive(sessions, (session) => {
      const set = () => setState(session);
      set();
      return session && [session.onDidChangeState(set), session.runs.onDidChange(set)];
    }),
  );
  const setAccounts = () => {
    const { active } = accounts;
    setContext(CONTEXT_KEYS.accountsStored, accounts.accounts.length > 0);
    setContext(CONTEXT_KEYS.accountsUnreadable, accounts.isUnreadable);
    setContext(CONTEXT_KEYS.website, active !== undefined && websiteOf(active) !== undefined);
  };
  setAccounts();
  disposables.add(accounts.onDidChange(setAccounts));
  return disposables;
}

function setState(session: Session | undefined): void {
  // "No runs yet" may be shown only after the list was read.
  const isUnread = session?.state === 'ready' && session.runs.rows === undefined;
  const unread = session?.runs.failed === true ? 'offline' : 'connecting';
  const state = isUnread ? unread : (session?.state ?? 'signedOut');
  setContext(CONTEXT_KEYS.state, state);
  setContext(CONTEXT_KEYS.sandbox, session?.account.kind === 'sandbox');
}

function setContext(key: string, value: string | boolean): void {
  void vscode.commands.executeCommand('setContext', key, value);
}
