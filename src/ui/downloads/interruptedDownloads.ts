import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import type { ActiveDownload } from '../../core/downloads/types.ts';
import type { Services } from '../../services.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS } from '../shared/ids.ts';
import { offerInterrupted, runNameOf } from './messages.ts';

/** Several are left by one end, and are offered together. */
const TOGETHER_MS = 500;

interface Parts {
  sessions: Sessions;
  downloads: Pick<Downloads, 'active' | 'open' | 'onDidChange'>;
  /** Whether this window is the one that shows something of a run. */
  claim: (accountId: string, runId: string, what: string) => Promise<boolean>;
  ensureActiveAccount: Services['ensureActiveAccount'];
}

/**
 * Offers, in one window and once for each end, to resume what a window left that ended: after a restart, or when another
 * window is killed.
 */
export function offerInterruptedDownloads({
  sessions,
  downloads,
  claim,
  ensureActiveAccount,
}: Parts): Disposable {
  /** Why this window itself gave up was reported here. */
  const leftOf = ({ account }: Session): ActiveDownload[] =>
    downloads.active.filter(
      ({ accountId, state, code }) =>
        accountId === account.id && state === 'interrupted' && code === undefined,
    );

  async function offer(session: Session, isEnded: () => boolean): Promise<void> {
    const { account, runs } = session;
    const claimed: ActiveDownload[] = [];
    for (const download of leftOf(session)) {
      // What is claimed is offered, also if the account is left meanwhile: no window claims it again.
      if (isEnded()) break;
      const what = `interrupted ${download.id} ${download.receivedBytes}`;
      if (await claim(account.id, download.runId, what)) claimed.push(download);
    }
    const resume = async () => {
      // Asked once, for all of them.
      if (!(await ensureActiveAccount(account.id))) return;
      for (const id of new Set(claimed.map(({ runId }) => runId))) {
        const target = { accountId: account.id, id };
        void vscode.commands.executeCommand(COMMANDS.downloadAdapter, target, 'resume');
      }
    };
    const discard = () => {
      // The offer may be old: what was resumed since is not meant.
      const running = downloads.active.filter(({ state }) => state !== 'interrupted').map(({ id }) => id);
      for (const { id } of claimed)
        if (!running.includes(id)) void vscode.commands.executeCommand(COMMANDS.cancelDownload, id);
    };
    const views = claimed.map((view) => ({ name: runNameOf(runs, view.runId), view }));
    offerInterrupted(views, account.kind === 'sandbox', { resume: () => void resume(), discard });
  }

  return followActive(sessions, (session) => {
    if (session === undefined) return [];
    let timer: NodeJS.Timeout | undefined;
    let isEnded = false;
    const plan = () => {
      // The account may have been left while its downloads were read.
      if (isEnded || session !== sessions.active || leftOf(session).length === 0) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void offer(session, () => isEnded);
      }, TOGETHER_MS).unref();
    };
    const end = () => {
      isEnded = true;
      clearTimeout(timer);
    };
    void downloads.open(session.account.id).then(plan);
    const changes = downloads.onDidChange(({ accountId }) => {
      if (accountId === session.account.id) plan();
    });
    return [changes, { dispose: end }];
  });
}
