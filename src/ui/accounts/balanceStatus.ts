import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Balance } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS } from '../shared/ids.ts';
import { onDidChangeSettings, setting } from '../shared/settings.ts';
import { balanceText, balanceTooltip, statusItemName } from './statusMessages.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';

/** Charges come with changes of runs and balance; what was spent is read once for all of them. */
const SPENT_DELAY_MS = 500;

/** Shows the active account's balance in the status bar; hidden when signed out. */
export class BalanceStatus implements Disposable {
  readonly #sessions: Sessions;
  readonly #accounts: Pick<AccountStore, 'accounts' | 'onDidChange'>;
  readonly #item = vscode.window.createStatusBarItem('balance', vscode.StatusBarAlignment.Left, 0);
  readonly #readSpent: (session: Session) => Promise<string[]>;
  readonly #subscriptions: Disposable[];
  #spent: readonly string[] = [];
  #spentTimer: NodeJS.Timeout | undefined;
  /** As of when it was last found out what was spent. */
  #balance: Balance | undefined;

  /** @param readSpent what an account has spent, a line each */
  constructor(
    sessions: Sessions,
    accounts: Pick<AccountStore, 'accounts' | 'onDidChange'>,
    readSpent: (session: Session) => Promise<string[]>,
  ) {
    this.#sessions = sessions;
    this.#accounts = accounts;
    this.#readSpent = readSpent;
    this.#item.name = statusItemName();
    this.#item.command = COMMANDS.switchAccount;
    this.#subscriptions = [
      this.#item,
      onDidChangeSettings(['lowBalance'], () => this.#draw()),
      accounts.onDidChange(() => this.#changed()),
      followActive(sessions, (session) => {
        this.#spent = [];
        this.#changed();
        return session === undefined
          ? []
          : [
              session.balance.onDidChange(() => this.#balanceRead(session)),
              session.runs.onDidChange(() => this.#planSpent()),
              session.onDidChangeState(() => this.#draw()),
            ];
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.#spentTimer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #changed(): void {
    this.#draw();
    this.#planSpent();
  }

  #balanceRead({ balance: { current } }: Session): void {
    this.#draw();
    // It is read every few minutes, and what was spent is read from a folder that may be large.
    const { balance_cents, currency } = this.#balance ?? {};
    if (current?.balance_cents !== balance_cents || current?.currency !== currency) this.#planSpent();
  }

  #planSpent(): void {
    clearTimeout(this.#spentTimer);
    this.#spentTimer = setTimeout(() => void this.#drawSpent(), SPENT_DELAY_MS);
  }

  async #drawSpent(): Promise<void> {
    const session = this.#sessions.active;
    if (session === undefined) return;
    this.#balance = session.balance.current;
    const spent = await this.#readSpent(session).catch(() => {
      // The next read of the balance tries again.
      this.#balance = undefined;
      return [];
    });
    if (session !== this.#sessions.active) return;
    this.#spent = spent;
    this.#draw();
  }

  #draw(): void {
    const session = this.#sessions.active;
    if (session === undefined) {
      this.#item.hide();
      return;
    }
    // Nothing that a rejected key once read is shown.
    const balance = session.isLocked ? undefined : session.balance.current;
    const threshold = setting('lowBalance');
    const isLow = threshold > 0 && balance !== undefined && balance.balance_cents < threshold * 100;
    const view = {
      account: session.account,
      hasOthers: this.#accounts.accounts.length > 1,
      balance,
      readAtMs: session.balance.readAtMs,
      state: session.state,
      isLow,
      spent: session.isLocked ? [] : this.#spent,
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
