import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { notifySignedOut } from '../shared/accountMessages.ts';
import { findingRun, notifyNoSuchRun, notifyUnsupportedLink } from './messages.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { isPlainRunId, runIdOfLink, type LinkParts } from '../../core/runs/runLink.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { isNotFound } from './runPageState.ts';
import { withProgress } from '../shared/notifications.ts';

/** What following a link needs of the rest. */
export interface RunLinkParts {
  accounts: Pick<AccountStore, 'accounts'>;
  sessions: Pick<Sessions, 'active'>;
  show: (accountId: string, runId: string) => Promise<void>;
  /** Reports an error that is not the link's. */
  onError: (error: unknown, again: () => void) => void;
}

/**
 * Follows links `/run/<id>` to the page of that run in the active account. A link navigates, and does nothing else: an id that
 * this window does not know is looked up, which only reads.
 */
export function followRunLinks(parts: RunLinkParts): Disposable {
  return vscode.window.registerUriHandler({ handleUri: (uri) => followRunLink(uri, parts) });
}

/** Follows one link. */
export async function followRunLink(link: LinkParts, parts: RunLinkParts): Promise<void> {
  const runId = runIdOfLink(link);
  const session = parts.sessions.active;
  const isOurs = runId !== undefined && (isPlainRunId(runId) || (session && isKnown(session, runId)));
  if (!isOurs) {
    notifyUnsupportedLink();
    return;
  }
  if (session === undefined) {
    notifySignedOut();
    return;
  }
  try {
    if (!isKnown(session, runId)) await lookUp(session, runId);
    await parts.show(session.account.id, runId);
  } catch (error) {
    if (isNotFound(error)) {
      const canSwitch = parts.accounts.accounts.length > 1;
      notifyNoSuchRun(session.account.name, runId, canSwitch);
    } else parts.onError(error, () => void followRunLink(link, parts));
  }
}

function isKnown({ isLocked, runs }: Session, runId: string): boolean {
  return !isLocked && runs.get(runId) !== undefined;
}

async function lookUp(session: Session, runId: string): Promise<void> {
  await withProgress({ location: vscode.ProgressLocation.Notification, title: findingRun() }, () =>
    session.runs.loadDetail(runId),
  );
}
