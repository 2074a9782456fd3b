import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { notifySignedOut } from '../shared/accountMessages.ts';
import { withProgress } from '../shared/notifications.ts';
import { findingRun, notifyNoSuchRun, notifyUnsupportedLink } from './noticeMessages.ts';
import { isNotFound } from './pageMessages.ts';

/** Room for every id that a service may reasonably give; the contract's are UUIDs (spec: "Run creation result"). */
const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const START = '/run/';

/** What following a link needs of the rest. */
export interface RunLinkParts {
  accounts: Pick<AccountStore, 'accounts'>;
  sessions: Pick<Sessions, 'active'>;
  show: (accountId: string, runId: string) => Promise<void>;
  /** Reports an error that is not the link's. */
  onError: (error: unknown, again: () => void) => void;
}

/** The path of the link to a run. */
export function runLinkPath(runId: string): string {
  return START + encodeURIComponent(runId.toWellFormed());
}

/**
 * Follows a link `/run/<id>` to the page of that run in the active account. Whoever made it, it brings nothing
 * but an id, and navigates: one that this window does not know is looked up, which only reads.
 */
export async function followRunLink(
  link: Pick<vscode.Uri, 'path' | 'query' | 'fragment'>,
  parts: RunLinkParts,
): Promise<void> {
  const { path, query, fragment } = link;
  const runId = query + fragment === '' && path.startsWith(START) ? path.slice(START.length) : '';
  const session = parts.sessions.active;
  const isKnown = session !== undefined && !session.isLocked && session.runs.get(runId) !== undefined;
  // Another id could be any words of whoever made the link, and is not repeated.
  if (!isKnown && !PLAIN_ID.test(runId)) {
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
