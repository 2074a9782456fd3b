import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { tellInterrupted } from './noticeMessages.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { mayBeCharged } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import { followActive } from '../shared/activeSession.ts';

/** How long the first look is waited for. */
const LOOK_MS = 5_000;

/**
 * Tells once for each account, when it is the active one, which submissions an earlier window left open; nothing is sent.
 * What may have been charged is told when it was looked for: whoever is told that its run was found needs no warning.
 * Called when the journal was read at the start.
 */
export async function showInterrupted(
  sessions: Sessions,
  submitter: Submitter,
  beActive: (accountId: string) => Promise<boolean>,
  lookMs = LOOK_MS,
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
    const { account } = session;
    const tell = () => {
      interrupted.delete(account.id);
      const views = submitter.pending.filter((one) => ids.includes(one.id) && isStillOpen(one));
      tellInterrupted(views, account.kind === 'sandbox', (command, id) => {
        void beActive(account.id).then((isActive) => {
          if (isActive) void vscode.commands.executeCommand(command, id);
        });
      });
    };
    return [afterLook(submitter, ids, lookMs, tell)];
  });
}

/** Not where the person goes on with it already; that nothing was charged is told by whoever looked. */
function isStillOpen({ state, intent }: PendingSubmission): boolean {
  if (state === 'checking' || state === 'elsewhere') return mayBeCharged(intent);
  return state === 'unknown' || state === 'unsent';
}

/** Calls once each of them was looked for that may have been charged, or after so long; at once where there is none. */
function afterLook(submitter: Submitter, ids: readonly string[], ms: number, call: () => void): Disposable {
  const stateOf = (id: string) => submitter.pending.find((one) => one.id === id)?.state;
  const waiting = new Set(ids.filter((id) => stateOf(id) !== 'unsent'));
  const checking = new Set<string>();
  const dispose = () => {
    clearTimeout(timer);
    subscription.dispose();
  };
  const end = () => {
    dispose();
    call();
  };
  const subscription = submitter.onDidChange(({ id }) => {
    const state = stateOf(id);
    if (state === 'checking') checking.add(id);
    else if (state === undefined || checking.has(id)) waiting.delete(id);
    if (waiting.size === 0) end();
  });
  const timer = setTimeout(end, ms);
  if (waiting.size === 0) end();
  return { dispose };
}
