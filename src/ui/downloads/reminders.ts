import * as vscode from 'vscode';
import { instantOf } from '../../core/base/instant.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { dueReminders, type DueReminder } from '../../core/downloads/reminders.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { COMMANDS } from '../shared/ids.ts';
import { remindOfExpiring, runNameOf } from './messages.ts';

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
  const { account, runs, budget } = session;
  // What is downloaded must be known first.
  await downloads.open(account.id);
  const won: DueReminder[] = [];
  for (const reminder of dueOf(session, downloads)) {
    if (claimed.has(keyOf(reminder))) continue;
    // What is claimed is shown, also if the account is left meanwhile: no window claims it again.
    if (ended.aborted) break;
    claimed.add(keyOf(reminder));
    if (await claim(account.id, reminder.runId, reminder.what)) won.push(reminder);
  }
  const [first] = won;
  if (first === undefined) return;
  // The list has no labels.
  if (runs.label(first.runId) === undefined && budget.takeSpare())
    await runs.loadDetail(first.runId, { isBackground: true }).catch(() => undefined);
  notify(session, won);
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
      name: runNameOf(runs, runId),
      leftMs: expiresAtMs - nowMs,
    })),
    account.kind === 'sandbox',
    {
      download: () => run(COMMANDS.downloadAdapter, chosen),
      show: () => run(COMMANDS.showRun, first?.runId),
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
  const expiring = (session.runs.rows ?? [])
    .filter((row) => row.artifacts_available)
    .map(({ run_id: runId, artifacts_expires_at: expiresAt, created_at: createdAt }) => ({
      runId,
      expiresAtMs: instantOf(expiresAt),
      createdAtMs: instantOf(createdAt),
    }));
  return dueReminders(expiring, serviceNowMs(session), isSafe);
}
