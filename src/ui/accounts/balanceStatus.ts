import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS } from '../shared/ids.ts';
import { lowBalanceSetting, onDidChangeLowBalance } from '../shared/settings.ts';
import { balanceText, balanceTooltip, statusItemName } from './statusMessages.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';

/** Shows the active account's balance in the status bar; hidden when signed out. */
export class BalanceStatus implements Disposable {
  readonly #sessions: Sessions;
  readonly #accounts: Pick<AccountStore, 'accounts' | 'onDidChange'>;
  readonly #item = vscode.window.createStatusBarItem('balance', vscode.StatusBarAlignment.Left, 0);
  readonly #subscriptions: Disposable[];

  constructor(sessions: Sessions, accounts: Pick<AccountStore, 'accounts' | 'onDidChange'>) {
    this.#sessions = sessions;
    this.#accounts = accounts;
    this.#item.name = statusItemName();
    this.#item.command = COMMANDS.switchAccount;
    this.#subscriptions = [
      this.#item,
      onDidChangeLowBalance(() => this.#draw()),
      accounts.onDidChange(() => this.#draw()),
      followActive(sessions, (session) => {
        this.#draw();
        return session === undefined
          ? []
          : [session.balance.onDidChange(() => this.#draw()), session.onDidChangeState(() => this.#draw())];
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #draw(): void {
    const session = this.#sessions.active;
    if (session === undefined) {
      this.#item.hide();
      return;
    }
    // Nothing that a rejected key once read is shown.
    const balance = session.isLocked ? undefined : session.balance.current;
    const threshold = lowBalanceSetting();
    const isLow = threshold > 0 && balance !== undefined && balance.balance_cents < threshold * 100;
    const view = {
      account: session.account,
      hasOthers: this.#accounts.accounts.length > 1,
      balance,
      readAtMs: session.balance.readAtMs,
      state: session.state,
      isLow,
    };
    this.#item.text = balanceText(view);
    this.#item.tooltip = balanceTooltip(view);
    this.#item.accessibilityInformation = {
      label: balanceTooltip(view).replaceAll('\n', ', '),
      role: 'button',
    };
    this.#item.backgroundColor =
      isLow || session.isLocked ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#item.show();
  }
}
