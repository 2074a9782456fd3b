import { l10n, type TreeView, type ViewBadge, window } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Notices } from '../../core/runs/notices.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import { formatRuns } from '../shared/format.ts';
import { onDidChangeSettings, setting } from '../shared/settings.ts';

/**
 * Shows the number on the Fine-Tuning icon. If the setting is `badge` and ended runs are unseen: their
 * number, else that of active runs. Runs are seen when the view is visible in a focused window.
 */
export function showRunsBadge(
  sessions: Sessions,
  notices: Pick<Notices, 'unseenCount' | 'markSeen' | 'follow' | 'onDidChangeUnseen'>,
  view: TreeView<unknown>,
): Disposable {
  const badgeOf = ({ account, runs, isLocked }: Session): ViewBadge | undefined => {
    // Hidden runs are not counted.
    if (isLocked) return undefined;
    const unseen = notices.unseenCount(account.id);
    if (unseen > 0 && view.visible && window.state.focused) void notices.markSeen(account.id);
    else if (unseen > 0 && isOnlyCounted())
      return { value: unseen, tooltip: l10n.t('{0} ended', formatRuns(unseen)) };
    const active = runs.activeCount;
    return active === 0 ? undefined : { value: active, tooltip: l10n.t('{0} active', formatRuns(active)) };
  };
  const draw = () => void (view.badge = sessions.active && badgeOf(sessions.active));
  const store = new DisposableStore();
  for (const one of [
    notices.onDidChangeUnseen(draw),
    view.onDidChangeVisibility(draw),
    window.onDidChangeWindowState(draw),
    onDidChangeSettings(['notifications'], draw),
    followActive(sessions, (session) => {
      draw();
      if (session === undefined) return [];
      const { account, runs } = session;
      return [notices.follow(account.id), runs.onDidChange(draw), session.onDidChangeState(draw)];
    }),
  ])
    store.add(one);
  return store;
}

/** Whether completed runs are only counted. Any other value means `on`, such as `all` and `finished` of earlier versions. */
export function isOnlyCounted(): boolean {
  return setting('notifications') === 'badge';
}
