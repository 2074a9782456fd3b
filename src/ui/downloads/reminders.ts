import * as vscode from 'vscode';
import { instantOf } from '../../core/base/clock.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { reminderAt, type Reminder } from '../../core/downloads/reminders.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { remindOfExpiring, runNameOf } from './messages.ts';

interface DueReminder {
  runId: string;
  what: Reminder;
  /** The time until the adapter expires, by the service's clock. */
  leftMs: number;
}

/** Shows the due reminders that this window could claim. */
export async function remind(
  { downloads, ledger }: Pick<Services, 'downloads' | 'ledger'>,
  session: Session,
  ended: AbortSignal,
): Promise<void> {
  const { account, quota, runs } = session;
  // The list of downloaded files must be loaded first.
  await downloads.open(account.id);
  const won: DueReminder[] = [];
  for (const reminder of dueOf(session, downloads)) {
    const { runId, what } = reminder;
    // Read the label, which the list lacks, before claiming: a claimed reminder must be shown, as no window can claim it again.
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

/** @param first the one of `count` adapters that expires first */
function notify(session: Session, first: DueReminder, count: number): void {
  const { account, runs } = session;
  // Without an ID, the command asks for a run.
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

/** Returns the due reminders of adapters that are neither downloaded nor downloading, the next to expire first. */
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
