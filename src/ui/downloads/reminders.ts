import * as vscode from 'vscode';
import { ServiceError } from '../../core/api/errors.ts';
import type { RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { dueReminders, type DueReminder, type ExpiringRun } from '../../core/downloads/reminders.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { COMMANDS } from '../shared/ids.ts';
import { quotedRunName, remindOfExpiring } from './messages.ts';

export interface ReminderParts {
  downloads: Downloads;
  /** Whether this window is the one that reminds. */
  claim: NotificationLedger['claim'];
}

/**
 * Reminds of those for which this window is the one that does.
 * @param claimed for which a window has reminded already
 */
export async function remind(
  { downloads, claim }: ReminderParts,
  session: Session,
  claimed: Set<string>,
  ended: AbortSignal,
): Promise<void> {
  const { account, runs } = session;
  // What is downloaded must be known first.
  await downloads.open(account.id);
  const due = (rows: readonly RunSummary[]) =>
    ended.aborted ? [] : dueOf(session, rows, downloads).filter((one) => !claimed.has(keyOf(one)));
  const won: DueReminder[] = [];
  for (const reminder of due(runs.rows ?? [])) {
    // What is claimed is shown, also if the account is left meanwhile: no window claims it again.
    if (ended.aborted || !(await knowCompletion(session, reminder))) continue;
    const row = runs.get(reminder.runId);
    if (row === undefined || !due([row]).some(({ what }) => what === reminder.what)) continue;
    claimed.add(keyOf(reminder));
    if (await claim(account.id, reminder.runId, reminder.what)) won.push(reminder);
  }
  if (won.length > 0) notify(session, won);
}

function keyOf({ runId, what }: DueReminder): string {
  return `${what} ${runId}`;
}

function notify(session: Session, reminders: readonly DueReminder[]): void {
  const { account, runs } = session;
  const [first] = reminders;
  // Without a run the command asks for one.
  const chosen = reminders.length === 1 ? first?.runId : '';
  const run = (command: string, id = '') =>
    void vscode.commands.executeCommand(command, { accountId: account.id, id });
  const nowMs = serviceNowMs(session);
  remindOfExpiring(
    reminders.map(({ runId, expiresAtMs }) => ({
      name: quotedRunName(runs, runId),
      leftMs: expiresAtMs - nowMs,
    })),
    account.kind === 'sandbox',
    {
      download: () => run(COMMANDS.downloadAdapter, chosen),
      show: () => run(COMMANDS.showRun, first?.runId),
    },
  );
}

function dueOf(session: Session, rows: readonly RunSummary[], downloads: Downloads): DueReminder[] {
  const { id } = session.account;
  const records = Map.groupBy(downloads.records(id), ({ runId }) => runId);
  const downloading = downloads.active.filter(
    ({ accountId, state, artifactType }) =>
      accountId === id && state !== 'interrupted' && isAdapter(artifactType),
  );
  const isSafe = (runId: string) =>
    downloading.some((download) => download.runId === runId) ||
    localAdapter(records.get(runId) ?? [], runId) !== undefined;
  const expiring = rows.flatMap((row) => expiringRun(session, row));
  return dueReminders(expiring, serviceNowMs(session), isSafe);
}

function expiringRun({ runs }: Session, row: RunSummary): ExpiringRun[] {
  const { run_id, artifacts_available, artifacts_expires_at, created_at } = row;
  if (!artifacts_available || artifacts_expires_at === undefined) return [];
  // Until more is known, it has at least not finished before it was created.
  const completedAtMs = instantOf(runs.detail(run_id)?.completed_at ?? created_at);
  return [
    {
      runId: run_id,
      expiresAtMs: instantOf(artifacts_expires_at),
      ...(!Number.isNaN(completedAtMs) && { completedAtMs }),
    },
  ];
}

/** Reads when a run finished, which the list does not say; whether everything is known now that can be. */
async function knowCompletion({ runs, budget }: Session, { runId, what }: DueReminder): Promise<boolean> {
  if (runs.detail(runId) !== undefined) return true;
  let failure = runs.detailFailure(runId);
  if (failure === undefined && budget.takeSpare())
    try {
      await runs.loadDetail(runId, { isBackground: true });
      return true;
    } catch (error) {
      failure = error;
    }
  // The last one must not be missed for a detail. What the service does not know stays unknown; the rest may be read later.
  return what === 'expires-in-2-hours' || (failure instanceof ServiceError && failure.code === 'not_found');
}
