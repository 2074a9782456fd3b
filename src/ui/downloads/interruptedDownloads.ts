import * as vscode from 'vscode';
import type { ActiveDownload } from '../../core/downloads/types.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { offerInterrupted, runNameOf } from './messages.ts';

/** Offers to resume or discard those that no other window offers. */
export async function offer(
  { downloads, ledger, ensureActiveAccount }: Pick<Services, 'downloads' | 'ensureActiveAccount' | 'ledger'>,
  { account, runs }: Session,
  interrupted: readonly ActiveDownload[],
  ended: AbortSignal,
): Promise<void> {
  const claimed: ActiveDownload[] = [];
  for (const download of interrupted) {
    // What is claimed is offered, also if the account is left meanwhile: no window claims it again.
    if (ended.aborted) break;
    const what = `interrupted ${download.id} ${download.receivedBytes}`;
    if (await ledger.claim(account.id, download.runId, what)) claimed.push(download);
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
