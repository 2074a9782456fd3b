import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { isNotFound } from '../../core/api/errors.ts';
import { CancelledError, unlessCancelled } from '../../core/base/errors.ts';
import { isPlainId } from '../../core/base/plainText.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { notifySignedOut } from '../shared/activeAccount.ts';
import { chooseRun, modelOf, runChoices, runIdOf } from '../shared/arguments.ts';
import type { CommandResult } from '../shared/commands.ts';
import { formatCount, formatRuns } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import {
  notify,
  showInformation,
  showWarning,
  withCancellableProgress,
  withProgress,
  withViewProgress,
} from '../shared/notifications.ts';
import { openServiceLink } from '../shared/open.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { TERMS } from '../shared/terms.ts';
import { notifyRunIdCopied } from './showNotices.ts';

type Active = Pick<Sessions, 'active'>;

/**
 * Refreshes the runs, models, and balance of the active account, and retries failed details. Both views show progress.
 * @throws ApiError, KeyMissingError
 */
export async function refresh({ active: session }: Active): Promise<void> {
  if (session === undefined) return;
  const { runs, models, balance } = session;
  const isLocked = () => session.isLocked;
  const wasLocked = isLocked();
  const read = async () => {
    runs.retryDetails();
    const results = await Promise.allSettled([runs.refresh(), models.refresh(), balance.refresh()]);
    const failed = results.find((result) => result.status === 'rejected');
    // A rejected key is notified once for the account, whichever request it was. Don't report it again.
    if (failed !== undefined && (wasLocked || !isLocked())) throw failed.reason;
  };
  await withViewProgress(VIEWS.runs, async () => withViewProgress(VIEWS.models, read));
}

/** Loads older runs. @throws ApiError, KeyMissingError */
export async function loadMoreRuns({ active: session }: Active): Promise<void> {
  if (session !== undefined) await withViewProgress(VIEWS.runs, () => session.runs.loadMore());
}

/** Loads older runs until there are no more, the service sends no new ones, or the user cancels. Loaded runs stay. */
export async function loadAllRuns(
  sessions: Pick<Sessions, 'active' | 'isReportedByState'>,
): Promise<CommandResult | undefined> {
  const session = sessions.active;
  if (session === undefined) return { outcome: 'unavailable' };
  const { runs } = session;
  const retry = () => void vscode.commands.executeCommand(COMMANDS.loadAllRuns);
  const title = vscode.l10n.t('Loading all runs');
  return withCancellableProgress<CommandResult | undefined>(title, async (signal, report) => {
    try {
      if (runs.rows === undefined) await runs.refresh();
      while (runs.hasMore && !signal.aborted && sessions.active === session) {
        report(vscode.l10n.t('{0} so far', formatCount(runs.rows?.length ?? 0)));
        await unlessCancelled(runs.loadMore(), signal);
        if (!runs.isIncomplete) continue;
        const loaded = formatRuns(runs.rows?.length ?? 0);
        const text = vscode.l10n.t('Loaded {0}. The service reports more but didn’t send them.', loaded);
        notify(showWarning, text, { [TERMS.loadMore]: retry });
        return { outcome: 'failed' };
      }
      return { outcome: runs.hasMore ? 'cancelled' : 'done' };
    } catch (error) {
      if (error instanceof CancelledError) return { outcome: 'cancelled' };
      if (!sessions.isReportedByState(error))
        notifyNotAllLoaded(runs.rows?.length ?? 0, asText(explain(error)), retry);
      return { outcome: 'failed' };
    }
  });
}

/** @param retry loads the rest */
function notifyNotAllLoaded(count: number, reason: string, retry: () => void): void {
  const text =
    count === 0
      ? vscode.l10n.t('Couldn’t load the runs. {0}', reason)
      : vscode.l10n.t('Loaded {0}, but not the older ones. {1}', formatRuns(count), reason);
  notify(showWarning, text, { [TERMS.loadMore]: retry });
}

/** Opens the page of a run of the active account. */
export async function showRun(
  { active: session }: Active,
  show: (accountId: string, runId: string) => Promise<void>,
  argument: unknown,
): Promise<CommandResult> {
  if (session === undefined) return { outcome: 'unavailable' };
  const id = await chooseRun(argument, runChoices(session));
  if (typeof id === 'object') return id;
  await show(session.account.id, id);
  return { outcome: 'done', id };
}

/** Copies the ID of a known run, since another extension could pass any text. */
export async function copyRunId({ active: session }: Active, argument: unknown): Promise<CommandResult> {
  if (session === undefined) return { outcome: 'unavailable' };
  const given = runIdOf(argument) ?? '';
  const isKnown = !session.isLocked && session.runs.get(given) !== undefined;
  const id = isKnown ? given : await chooseRun(undefined, runChoices(session));
  if (typeof id === 'object') return id;
  await vscode.env.clipboard.writeText(id);
  notifyRunIdCopied();
  return { outcome: 'done', id };
}

/** Opens the license terms or the use policy of a model, if the service provides an https link. */
export async function openModelLink(
  { active: session }: Active,
  field: 'terms_url' | 'use_policy_url',
  argument: unknown,
): Promise<CommandResult> {
  const url = modelOf(argument, session?.models.models ?? [])?.[field];
  if (url !== undefined && (await openServiceLink(url))) return { outcome: 'done' };
  void showInformation(vscode.l10n.t('The service didn’t provide an HTTPS link for this.'));
  return { outcome: 'unavailable' };
}

const RUN_PATH = '/run/';

export interface RunLinkParts {
  accounts: Pick<AccountStore, 'accounts'>;
  sessions: Pick<Sessions, 'active'>;
  show: (accountId: string, runId: string) => Promise<void>;
  /** Reports an error that the link didn't cause. */
  onError: (error: unknown, again: () => void) => void;
}

/** Returns the path of a link to a run. */
export function runLinkPath(runId: string): string {
  return RUN_PATH + encodeURIComponent(runId.toWellFormed());
}

/**
 * Follows a link `/run/<id>` to the run's page in the active account. Anyone may have made the link, so it
 * contains only an ID and only navigates. A run that this window doesn't know is looked up, which only reads.
 */
export async function followRunLink(
  link: Pick<vscode.Uri, 'path' | 'query' | 'fragment'>,
  parts: RunLinkParts,
): Promise<void> {
  const { path, query, fragment } = link;
  const runId = query + fragment === '' && path.startsWith(RUN_PATH) ? path.slice(RUN_PATH.length) : '';
  const session = parts.sessions.active;
  const isKnown = session !== undefined && !session.isLocked && session.runs.get(runId) !== undefined;
  // Any other ID may be text that the link's author wants to show, so don't repeat it.
  if (!isKnown && !isPlainId(runId)) {
    void showWarning(vscode.l10n.t('Unsupported link. Fine-Tuning links can only open a run.'));
    return;
  }
  if (session === undefined) {
    notifySignedOut();
    return;
  }
  const { account, runs } = session;
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: vscode.l10n.t('Finding the run…'),
  };
  try {
    if (!isKnown) await withProgress(progress, () => runs.loadDetail(runId));
    await parts.show(account.id, runId);
  } catch (error) {
    if (isNotFound(error)) notifyNoSuchRun(account.name, runId, parts.accounts.accounts.length > 1);
    else parts.onError(error, () => void followRunLink(link, parts));
  }
}

/** @param canSwitch whether there is another account */
function notifyNoSuchRun(accountName: string, runId: string, canSwitch: boolean): void {
  const text = vscode.l10n.t('{0} doesn’t have run {1}.', accountName, runId);
  const switchAccount = () => vscode.commands.executeCommand(COMMANDS.switchAccount);
  notify(showWarning, text, canSwitch ? { [TERMS.switchAccount]: switchAccount } : {});
}

/** Opens VS Code's own search in the rows of the Runs view. */
export async function findRuns(): Promise<void> {
  await vscode.commands.executeCommand(`${VIEWS.runs}.focus`);
  await vscode.commands.executeCommand('list.find');
}
