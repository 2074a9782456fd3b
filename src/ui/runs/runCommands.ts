import * as vscode from 'vscode';
import { CancelledError, unlessCancelled } from '../../core/base/errors.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { chooseRun, runChoices, modelOf } from '../shared/arguments.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { openServiceLink, notifyNoLink } from '../shared/openMessages.ts';
import { withCancellableProgress, withViewProgress } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { loadAllWords, notifyMayBeIncomplete, notifyNotAllLoaded, notifyRunIdCopied } from './messages.ts';

type Active = Pick<Sessions, 'active'>;

/**
 * Reads runs, models and balance of the active account again, and details that failed.
 * @param viewId shows the progress
 * @throws ApiError, KeyMissingError
 */
export async function refresh({ active: session }: Active, viewId: (typeof VIEWS)[keyof typeof VIEWS]) {
  if (session === undefined) return;
  await withViewProgress(viewId, async () => {
    session.runs.retryDetails();
    const results = await Promise.allSettled([
      session.runs.refresh(),
      session.models.refresh(),
      session.balance.refresh(),
    ]);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
}

/** Reads the next older page. @throws ApiError, KeyMissingError */
export async function loadMoreRuns({ active: session }: Active): Promise<void> {
  if (session !== undefined) await withViewProgress(VIEWS.runs, () => session.runs.loadMore());
}

/** Reads page after page until all runs are loaded, the service sends no new ones, or the user cancels; what was read stays. */
export async function loadAllRuns(sessions: Pick<Sessions, 'active' | 'isReportedByState'>): Promise<void> {
  const session = sessions.active;
  if (session === undefined) return;
  const { runs } = session;
  const retry = () => void vscode.commands.executeCommand(COMMANDS.loadAllRuns);
  await withCancellableProgress(loadAllWords.title(), async (signal, report) => {
    try {
      if (runs.rows === undefined) await runs.refresh();
      while (runs.hasMore && !signal.aborted && sessions.active === session) {
        report(loadAllWords.soFar(runs.rows?.length ?? 0));
        await unlessCancelled(runs.loadMore(), signal);
        if (!runs.isIncomplete) continue;
        notifyMayBeIncomplete(runs.rows?.length ?? 0, retry);
        return;
      }
    } catch (error) {
      if (error instanceof CancelledError || sessions.isReportedByState(error)) return;
      notifyNotAllLoaded(runs.rows?.length ?? 0, asText(explain(error)), retry);
    }
  });
}

/** Opens the page of a run of the active account. */
export async function showRun(
  { active: session }: Active,
  show: (accountId: string, runId: string) => Promise<void>,
  argument: unknown,
): Promise<void> {
  if (session === undefined) return;
  const runId = await chooseRun(argument, runChoices(session));
  if (runId !== undefined) await show(session.account.id, runId);
}

export async function copyRunId({ active: session }: Active, argument: unknown): Promise<void> {
  if (session === undefined) return;
  const runId = await chooseRun(argument, runChoices(session));
  if (runId === undefined) return;
  await vscode.env.clipboard.writeText(runId);
  notifyRunIdCopied();
}

/** Opens the license terms or the use policy of a model, if the service has an https link. */
export async function openModelLink(
  { active: session }: Active,
  field: 'terms_url' | 'use_policy_url',
  argument: unknown,
): Promise<void> {
  const url = modelOf(argument, session?.models.models ?? [])?.[field];
  if (url === undefined || !(await openServiceLink(url))) notifyNoLink();
}
