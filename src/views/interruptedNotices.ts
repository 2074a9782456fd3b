import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { tellInterrupted } from '../host/wording/pendingNotices.ts';
import type { Sessions } from '../runs/sessions.ts';
import type { Submitter } from '../runs/submission/submitter.ts';
import { followActive } from './activeSession.ts';

/**
 * Tells once for each account, when it is the active one, which submissions an earlier window left open; nothing is sent.
 * Called when the journal was read at the start.
 */
export async function showInterrupted(
  sessions: Sessions,
  submitter: Submitter,
  beActive: (accountId: string) => Promise<boolean>,
): Promise<Disposable> {
  const interrupted = new Map<string, string[]>();
  // Another window may be sending one at this moment.
  await submitter.probe();
  for (const { id, accountId, state } of submitter.pending) {
    if (state !== 'unknown' && state !== 'unsent') continue;
    interrupted.set(accountId, [...(interrupted.get(accountId) ?? []), id]);
  }
  return followActive(sessions, (session) => {
    const ids = session && interrupted.get(session.account.id);
    if (session === undefined || ids === undefined) return [];
    interrupted.delete(session.account.id);
    const { account } = session;
    const views = submitter.pending.filter(({ id }) => ids.includes(id));
    tellInterrupted(views, account.kind === 'sandbox', (command, id) => {
      void beActive(account.id).then((isActive) => {
        if (isActive) void vscode.commands.executeCommand(command, id);
      });
    });
    return [];
  });
}
