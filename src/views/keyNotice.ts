import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { COMMANDS } from '../host/ids.ts';
import { keyNotice } from '../host/wording/accounts.ts';
import type { Sessions } from '../runs/sessions.ts';

/** Tells once, and not with every call, that the active account's API key is no good any more. */
export class KeyNotice implements Disposable {
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
    this.#sessionSubscription = session?.onDidChangeState((state) => {
      if (state !== 'key-rejected' && state !== 'key-missing') return;
      const { sentence, replace } = keyNotice(session.account.name, state);
      void vscode.window.showWarningMessage(sentence, replace).then((choice) => {
        if (choice === replace) void vscode.commands.executeCommand(COMMANDS.replaceKey, session.account.id);
      });
    });
  }
}
