import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { notificationsSetting, onDidChangeNotifications } from '../shared/settings.ts';
import { treeWords } from './messages.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { followActive } from '../shared/activeSession.ts';

/** What the view's badge needs of it. */
interface View {
  readonly visible: boolean;
  readonly onDidChangeVisibility: vscode.Event<unknown>;
  badge?: vscode.ViewBadge | undefined;
}

/**
 * The number on the Fine-Tuning icon: where notifications are turned down to it, finished runs that were not seen yet;
 * else the active ones. Seen is what the view shows while the window has the focus.
 */
export class RunsBadge implements Disposable {
  readonly #sessions: Sessions;
  readonly #view: View;
  readonly #ledger: Pick<NotificationLedger, 'unseen' | 'see' | 'follow' | 'onDidChangeUnseen'>;
  readonly #subscriptions: Disposable[];

  constructor(
    sessions: Sessions,
    view: View,
    ledger: Pick<NotificationLedger, 'unseen' | 'see' | 'follow' | 'onDidChangeUnseen'>,
  ) {
    this.#sessions = sessions;
    this.#view = view;
    this.#ledger = ledger;
    const draw = () => this.draw();
    this.#subscriptions = [
      ledger.onDidChangeUnseen(draw),
      view.onDidChangeVisibility(draw),
      vscode.window.onDidChangeWindowState(draw),
      onDidChangeNotifications(draw),
      followActive(sessions, (session) => {
        if (session !== undefined) void ledger.follow(session.account.id);
        return [];
      }),
    ];
  }

  draw(): void {
    const session = this.#sessions.active;
    // Runs that are not shown are not counted either.
    this.#view.badge = session === undefined || session.isLocked ? undefined : this.#badgeOf(session);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #badgeOf({ account, runs }: Session): vscode.ViewBadge | undefined {
    const unseen = this.#ledger.unseen(account.id);
    if (unseen > 0 && this.#view.visible && vscode.window.state.focused) void this.#ledger.see(account.id);
    else if (unseen > 0 && notificationsSetting() === 'badge')
      return { value: unseen, tooltip: treeWords.unseen(unseen) };
    const active = runs.activeCount;
    return active === 0 ? undefined : { value: active, tooltip: treeWords.activeRuns(active) };
  }
}
