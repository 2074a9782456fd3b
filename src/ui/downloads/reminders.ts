import * as vscode from 'vscode';
import { instantOf } from '../../core/base/instant.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { dueReminders, type DueReminder } from '../../core/downloads/reminders.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { remindOfExpiring, runNameOf } from './messages.ts';

/** Reminds of those for which this window is the one that does. */
export async function remind(
  { downloads, ledger }: Pick<Services, 'downloads' | 'ledger'>,
  session: Session,
  ended: AbortSignal,
): Promise<void> {
  const { account, budget, runs } = session;
  // What is downloaded must be known first.
  await downloads.open(account.id);
  const won: DueReminder[] = [];
  for (const reminder of dueOf(session, downloads)) {
    const { runId, what } = reminder;
    // The list has no labels. They are read before it is claimed: what is claimed is shown, as no window claims it again.
    const isUnknown = runs.label(runId) === undefined && runs.detailFailure(runId) === undefined;
    if (isUnknown && !ended.aborted && budget.takeSpare())
      await runs.loadDetail(runId, { isBackground: true }).catch(() => undefined);
    if (ended.aborted) break;
    const isStill = dueOf(session, downloads).some((one) => one.runId === runId && one.what === what);
    if (isStill && (await ledger.claim(account.id, runId, what))) won.push(reminder);
  }
  const [first] = won;
  if (first !== undefined) notify(session, first, won.length);
}

/** @param first of so many to expire */
function notify(session: Session, first: DueReminder, count: number): void {
  const { account, runs } = session;
  // Without a run the command asks for one.
  const chosen = count === 1 ? first.runId : '';
  const run = (command: string, id = '') =>
    void vscode.commands.executeCommand(command, { accountId: account.id, id });
  remindOfExpiring(
    { name: runNameOf(runs, first.runId), leftMs: first.expiresAtMs - serviceNowMs(session) },
    count,
    account.kind === 'sandbox',
    {
      download: () => run(COMMANDS.downloadAdapter, chosen),
      show: () => (count === 1 ? run(COMMANDS.showRun, first.runId) : run(`${VIEWS.runs}.focus`)),
    },
  );
}

function dueOf(session: Session, downloads: Downloads): DueReminder[] {
  const { id } = session.account;
  const records = Map.groupBy(downloads.records(id), ({ runId }) => runId);
  const downloading = downloads.active.filter(
    ({ accountId, state, artifactType }) =>
      accountId === id && state !== 'interrupted' && isAdapter(artifactType),
  );
  const isSafe = (runId: string) =>
    downloading.some((download) => download.runId === runId) ||
    localAdapter(records.get(runId) ?? [], runId) !== undefined;
  const expiring = (session.runs.rows ?? []).flatMap(
    ({ run_id, artifacts_available, artifacts_expires_at }) =>
      artifacts_available ? [{ runId: run_id, expiresAtMs: instantOf(artifacts_expires_at) }] : [],
  );
  return dueReminders(expiring, serviceNowMs(session), isSafe);
}
