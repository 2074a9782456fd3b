import * as vscode from 'vscode';
import { websiteOf } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import { CONTEXT_KEYS } from '../shared/ids.ts';

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
  const unread = session?.runs.hasFailed === true ? 'offline' : 'connecting';
  const state = isUnread ? unread : (session?.state ?? 'signedOut');
  setContext(CONTEXT_KEYS.state, state);
  setContext(CONTEXT_KEYS.sandbox, session?.account.kind === 'sandbox');
}

function setContext(key: string, value: string | boolean): void {
  void vscode.commands.executeCommand('setContext', key, value);
}
