import * as vscode from 'vscode';
import { instantOf } from '../../core/base/clock.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { reminderAt, type Reminder } from '../../core/downloads/reminders.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { remindOfExpiring, runNameOf } from './messages.ts';

/** One reminder that is due. */
interface DueReminder {
  runId: string;
  what: Reminder;
  /** By the service's clock. */
  leftMs: number;
}

/** Reminds of those for which this window is the one that does. */
export async function remind(
  { downloads, ledger }: Pick<Services, 'downloads' | 'ledger'>,
  session: Session,
  ended: AbortSignal,
): Promise<void> {
  const { account, quota, runs } = session;
  // What is downloaded must be known first.
  await downloads.open(account.id);
  const won: DueReminder[] = [];
  for (const reminder of dueOf(session, downloads)) {
    const { runId, what } = reminder;
    // The list has no labels. They are read before it is claimed: what is claimed is shown, as no window claims it again.
    const isUnknown = runs.label(runId) === undefined && runs.detailFailure(runId) === undefined;
    if (isUnknown && !ended.aborted && quota.takeSpare())
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
    { name: runNameOf(runs, first.runId), leftMs: first.leftMs },
    count,
    account.kind === 'sandbox',
    {
      download: () => run(COMMANDS.downloadAdapter, chosen),
      show: () => (count === 1 ? run(COMMANDS.showRun, first.runId) : run(`${VIEWS.runs}.focus`)),
    },
  );
}

/** What is due now and not on this machine or on its way there, the run that expires first before the others. */
function dueOf(session: Session, downloads: Downloads): DueReminder[] {
  const { id } = session.account;
  const nowMs = serviceNowMs(session);
  const isSafe = (runId: string) =>
    localAdapter(downloads.records(id), runId) !== undefined ||
    downloads.active.some(
      (one) =>
        one.accountId === id &&
        one.runId === runId &&
        one.state !== 'interrupted' &&
        isAdapter(one.artifactType),
    );
  return (session.runs.rows ?? [])
    .flatMap(({ run_id: runId, artifacts_available, artifacts_expires_at }) => {
      const expiresAtMs = instantOf(artifacts_expires_at);
      const what = artifacts_available ? reminderAt(expiresAtMs, nowMs) : undefined;
      return what === undefined || isSafe(runId) ? [] : [{ runId, what, leftMs: expiresAtMs - nowMs }];
    })
    .sort((one, other) => one.leftMs - other.leftMs);
}
