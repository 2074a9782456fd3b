import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS } from '../shared/ids.ts';
import { keyNotice } from './messages.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { showWarning } from '../shared/notifications.ts';

/** Tells once, and not with every call, that an account's API key is no good any more: also one that works unseen. */
export function showKeyNotices(sessions: Sessions): Disposable {
  return sessions.onDidChangeState(({ session, state }) => {
    if (state !== 'key-rejected' && state !== 'key-missing') return;
    const { sentence, replace } = keyNotice(session.account.name, state);
    void showWarning(sentence, replace).then((choice) => {
      if (choice === replace) void vscode.commands.executeCommand(COMMANDS.replaceKey, session.account.id);
    });
  });
}
