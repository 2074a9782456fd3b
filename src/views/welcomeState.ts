import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { CONTEXT_KEYS } from '../host/ids.ts';
import type { Session } from '../runs/session.ts';
import type { Sessions } from '../runs/sessions.ts';
import { followActive } from './activeSession.ts';

/** Keeps the context keys by which package.json picks the welcome text of an empty view. */
export function keepWelcomeState(sessions: Sessions): Disposable {
  return followActive(sessions, (session) => {
    tell(session);
    return session === undefined
      ? []
      : [session.onDidChangeState(() => tell(session)), session.runs.onDidChange(() => tell(session))];
  });
}

function tell(session: Session | undefined): void {
  // "No runs yet" is true only when the list was read.
  const isUnread = session?.state === 'ready' && session.runs.rows === undefined;
  const unread = session?.runs.failed === true ? 'offline' : 'connecting';
  const state = isUnread ? unread : (session?.state ?? 'signedOut');
  void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.state, state);
  void vscode.commands.executeCommand(
    'setContext',
    CONTEXT_KEYS.sandbox,
    session?.account.kind === 'sandbox',
  );
}
