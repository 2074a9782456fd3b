import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { CONTEXT_KEYS } from '../host/ids.ts';
import type { Sessions } from '../runs/sessions.ts';

/** Keeps the context keys by which package.json picks the welcome text of an empty view. */
export class WelcomeState implements Disposable {
  readonly #sessions: Sessions;
  readonly #subscription: Disposable;
  #sessionSubscription: Disposable | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#subscription = sessions.onDidChangeActive(() => this.#follow());
    this.#follow();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#sessionSubscription?.dispose();
  }

  #follow(): void {
    this.#sessionSubscription?.dispose();
    const session = this.#sessions.active;
    const tell = () => {
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
    };
    if (session !== undefined)
      this.#sessionSubscription = vscode.Disposable.from(
        session.onDidChangeState(tell),
        session.runs.onDidChange(tell),
      );
    tell();
  }
}
