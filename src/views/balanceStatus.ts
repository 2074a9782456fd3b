import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { COMMANDS } from '../host/ids.ts';
import { lowBalanceSetting, onDidChangeLowBalance } from '../host/settings.ts';
import { balanceText, balanceTooltip, statusItemName } from '../host/wording/balance.ts';
import type { Sessions } from '../runs/sessions.ts';

/** Shows the active account's balance in the status bar; hidden when signed out. */
export class BalanceStatus implements Disposable {
  readonly #sessions: Sessions;
  readonly #item = vscode.window.createStatusBarItem('balance', vscode.StatusBarAlignment.Left, 0);
  readonly #subscriptions: Disposable[];
  #sessionSubscriptions: Disposable[] = [];

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#item.name = statusItemName();
    this.#item.command = COMMANDS.switchAccount;
    this.#subscriptions = [
      this.#item,
      sessions.onDidChangeActive(() => this.#follow()),
      onDidChangeLowBalance(() => this.#draw()),
    ];
    this.#follow();
  }

  dispose(): void {
    for (const subscription of [...this.#sessionSubscriptions, ...this.#subscriptions])
      subscription.dispose();
  }

  #follow(): void {
    for (const subscription of this.#sessionSubscriptions) subscription.dispose();
    const session = this.#sessions.active;
    this.#sessionSubscriptions =
      session === undefined
        ? []
        : [session.balance.onDidChange(() => this.#draw()), session.onDidChangeState(() => this.#draw())];
    this.#draw();
  }

  #draw(): void {
    const session = this.#sessions.active;
    if (session === undefined) {
      this.#item.hide();
      return;
    }
    const balance = session.balance.current;
    const threshold = lowBalanceSetting();
    const isLow = threshold > 0 && balance !== undefined && balance.balance_cents < threshold * 100;
    const view = {
      accountName: session.account.name,
      isSandbox: session.account.kind === 'sandbox',
      balance,
      state: session.state,
      isLow,
    };
    const isBlocked = session.state === 'key-rejected' || session.state === 'key-missing';
    this.#item.text = balanceText(view);
    this.#item.tooltip = balanceTooltip(view);
    this.#item.accessibilityInformation = {
      label: balanceTooltip(view).replaceAll('\n', ', '),
      role: 'button',
    };
    this.#item.backgroundColor =
      isLow || isBlocked ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#item.show();
  }
}
