import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';
import { notificationsSetting, onDidChangeSettings } from '../shared/settings.ts';
import { treeWords } from './messages.ts';

/** What the badge needs of a view. */
type View = Pick<vscode.TreeView<unknown>, 'badge' | 'onDidChangeVisibility' | 'visible'>;

/**
 * Shows the number on the Fine-Tuning icon: where notifications are turned down to it, runs that ended and were not seen yet;
 * else the active ones. Seen is what the view shows while the window has the focus.
 */
export function showRunsBadge(
  sessions: Sessions,
  view: View,
  ledger: Pick<NotificationLedger, 'unseen' | 'see' | 'follow' | 'onDidChangeUnseen'>,
): Disposable {
  const badgeOf = ({ account, runs, isLocked }: Session): vscode.ViewBadge | undefined => {
    // Runs that are not shown are not counted either.
    if (isLocked) return undefined;
    const unseen = ledger.unseen(account.id);
    if (unseen > 0 && view.visible && vscode.window.state.focused) void ledger.see(account.id);
    else if (unseen > 0 && notificationsSetting() === 'badge')
      return { value: unseen, tooltip: treeWords.unseen(unseen) };
    const active = runs.activeCount;
    return active === 0 ? undefined : { value: active, tooltip: treeWords.activeRuns(active) };
  };
  const draw = () => void (view.badge = sessions.active && badgeOf(sessions.active));
  const store = new DisposableStore();
  for (const one of [
    ledger.onDidChangeUnseen(draw),
    view.onDidChangeVisibility(draw),
    vscode.window.onDidChangeWindowState(draw),
    onDidChangeSettings(['notifications'], draw),
    followActive(sessions, (session) => {
      draw();
      if (session === undefined) return [];
      const { account, runs } = session;
      return [ledger.follow(account.id), runs.onDidChange(draw), session.onDidChangeState(draw)];
    }),
  ])
    store.add(one);
  return store;
}
