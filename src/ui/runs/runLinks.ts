import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { isPlainRunId, runIdOfLink, type LinkParts } from '../../core/runs/runLink.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { notifySignedOut } from '../shared/accountMessages.ts';
import { withProgress } from '../shared/notifications.ts';
import { findingRun, notifyNoSuchRun, notifyUnsupportedLink } from './noticeMessages.ts';
import { isNotFound } from './pageMessages.ts';

/** What following a link needs of the rest. */
export interface RunLinkParts {
  accounts: Pick<AccountStore, 'accounts'>;
  sessions: Pick<Sessions, 'active'>;
  show: (accountId: string, runId: string) => Promise<void>;
  /** Reports an error that is not the link's. */
  onError: (error: unknown, again: () => void) => void;
}

/**
 * Follows a link `/run/<id>` to the page of that run in the active account. A link navigates, and does nothing else: an id that
 * this window does not know is looked up, which only reads.
 */
export async function followRunLink(link: LinkParts, parts: RunLinkParts): Promise<void> {
  const runId = runIdOfLink(link);
  const session = parts.sessions.active;
  const isKnown = session !== undefined && !session.isLocked && session.runs.get(runId ?? '') !== undefined;
  if (runId === undefined || (!isKnown && !isPlainRunId(runId))) {
    notifyUnsupportedLink();
    return;
  }
  if (session === undefined) {
    notifySignedOut();
    return;
  }
  const { account, runs } = session;
  const progress = { location: vscode.ProgressLocation.Notification, title: findingRun() };
  try {
    if (!isKnown) await withProgress(progress, () => runs.loadDetail(runId));
    await parts.show(account.id, runId);
  } catch (error) {
    if (isNotFound(error)) notifyNoSuchRun(account.name, runId, parts.accounts.accounts.length > 1);
    else parts.onError(error, () => void followRunLink(link, parts));
  }
}
