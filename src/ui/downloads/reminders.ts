import * as vscode from 'vscode';
import { ServiceError } from '../../core/api/errors.ts';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { instantOf } from '../../core/base/instant.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import { dueReminders, type DueReminder, type ExpiringRun } from '../../core/downloads/reminders.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS } from '../shared/ids.ts';
import { quotedRunName, remindOfExpiring } from './messages.ts';

/**
 * How long after a change, so that downloads that it starts have begun, and the window in front reminds before the others;
 * and how often in any case.
 */
const DELAYS_MS = { focused: 2_000, behind: 5_000, always: 30_000 } as const;

interface Parts {
  sessions: Sessions;
  downloads: Pick<Downloads, 'active' | 'open' | 'records'>;
  /** Whether this window is the one that shows something of a run. */
  claim: (accountId: string, runId: string, what: string) => Promise<boolean>;
}

/**
 * Reminds, in one window, of adapters of the active account that are not on this machine and will expire; also where
 * notifications are turned down.
 */
export function remindBeforeExpiry(
  { sessions, downloads, claim }: Parts,
  delaysMs: Readonly<Record<keyof typeof DELAYS_MS, number>> = DELAYS_MS,
): Disposable {
  return followActive(sessions, (session) => {
    if (session === undefined) return [];
    const claimed = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    let isChecking = false;
    let isEnded = false;
    /** Nothing once the account is left. */
    const due = (rows = session.runs.rows ?? []) =>
      isEnded ? [] : dueOf(session, rows, downloads).filter((reminder) => !claimed.has(keyOf(reminder)));

    async function check(): Promise<void> {
      if (session === undefined || session.isLocked || isChecking) return;
      isChecking = true;
      // What is downloaded must be known first.
      await downloads.open(session.account.id);
      const won: DueReminder[] = [];
      for (const reminder of due()) {
        // What is claimed is shown, also if the account is left meanwhile: no window claims it again.
        if (isEnded || !(await knowCompletion(session, reminder))) continue;
        const row = session.runs.get(reminder.runId);
        if (row === undefined || !due([row]).some(({ what }) => what === reminder.what)) continue;
        claimed.add(keyOf(reminder));
        if (await claim(session.account.id, reminder.runId, reminder.what)) won.push(reminder);
      }
      isChecking = false;
      if (won.length > 0) remind(session, won);
    }

    const plan = () => {
      const { focused, behind } = delaysMs;
      if (isEnded) return;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          void check();
        },
        vscode.window.state.focused ? focused : behind,
      ).unref();
    };
    const interval = setInterval(() => void check(), delaysMs.always).unref();
    void downloads.open(session.account.id).then(plan);
    const end = () => {
      isEnded = true;
      clearTimeout(timer);
      clearInterval(interval);
    };
    const focus = vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) plan();
    });
    return [session.runs.onDidChange(plan), focus, { dispose: end }];
  });
}

function keyOf({ runId, what }: DueReminder): string {
  return `${what} ${runId}`;
}

function remind(session: Session, reminders: readonly DueReminder[]): void {
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

function dueOf(session: Session, rows: readonly RunSummary[], downloads: Parts['downloads']): DueReminder[] {
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
  // The last one must not be missed for a detail.
  const isLast = what === 'expires-in-2-hours';
  const canRemind = (failure: unknown) =>
    // The service knows nothing about it; after another failure it may be read later.
    isLast || (failure instanceof ServiceError && failure.code === 'not_found');
  const failure = runs.detailFailure(runId);
  if (failure !== undefined) return canRemind(failure);
  if (!budget.takeSpare()) return isLast;
  try {
    await runs.loadDetail(runId, { isBackground: true });
    return true;
  } catch (error) {
    return canRemind(error);
  }
}
