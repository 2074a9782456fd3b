import * as vscode from 'vscode';
import { instantOf } from '../../core/base/clock.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { reminderAt, type Reminder } from '../../core/downloads/runState.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { compact, formatCount, formatRoughly, inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { notify, showWarning, type SandboxFault } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { runNameOf } from './downloadReports.ts';

interface DueReminder {
  runId: string;
  what: Reminder;
  /** The time until the adapter expires, by the service's clock. */
  leftMs: number;
}

/** Shows the due reminders that this window could claim. */
export async function remind(
  { downloads, notices, sandboxFault }: Pick<Services, 'downloads' | 'notices' | 'sandboxFault'>,
  session: Session,
  ended: AbortSignal,
): Promise<void> {
  const { account, quota, runs } = session;
  // The list of downloaded files must be loaded first.
  await downloads.open(account.id);
  // If the folder can't be watched, other windows' downloads aren't known yet.
  if (dueOf(session, downloads).length > 0) await downloads.check(account.id);
  const won: DueReminder[] = [];
  for (const reminder of dueOf(session, downloads)) {
    const { runId, what } = reminder;
    // Read the label before claiming, as the list has none: a claimed reminder must be shown in this window.
    const isUnknown = runs.label(runId) === undefined && runs.detailFailure(runId) === undefined;
    if (isUnknown && !ended.aborted && quota.takeForExtras())
      await runs.loadDetail(runId, { isBackground: true }).catch(() => undefined);
    if (ended.aborted) break;
    const isStill = dueOf(session, downloads).some((one) => one.runId === runId && one.what === what);
    if (isStill && (await notices.claim(account.id, runId, what))) won.push(reminder);
  }
  const [first] = won;
  const fault = sandboxFault.get()(account, ['short-retention']);
  if (first !== undefined) remindOf(session, first, won.length, fault);
}

/** Reminds the user of adapters that will expire and are not on this machine. @param first the one of `count` that expires first */
function remindOf(
  { account, runs }: Session,
  first: DueReminder,
  count: number,
  fault: SandboxFault | undefined,
): void {
  const isOne = count === 1;
  const run = (command: string, id = '') =>
    vscode.commands.executeCommand(command, { accountId: account.id, id });
  const text = isOne
    ? vscode.l10n.t(
        'The adapter for {0} expires in {1} and hasn’t been downloaded.',
        runNameOf(runs, first.runId),
        formatRoughly(first.leftMs),
      )
    : vscode.l10n.t('{0} adapters expire within 24 hours.', formatCount(count));
  notify(showWarning, inSandbox(compact(text, fault?.sentence).join(' '), account.kind === 'sandbox'), {
    // Without an ID, the command asks for a run.
    [isOne ? TERMS.download : vscode.l10n.t('Download…')]: () =>
      run(COMMANDS.downloadAdapter, isOne ? first.runId : ''),
    [TERMS.show]: () => (isOne ? run(COMMANDS.showRun, first.runId) : run(`${VIEWS.runs}.focus`)),
    ...fault?.button,
  });
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
