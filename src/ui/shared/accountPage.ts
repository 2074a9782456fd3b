import type * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { PageButton } from './protocol.ts';
import { isRecord, WebviewHost, type Typed, type WebviewOptions } from './webview.ts';

/** Changes within this delay are drawn together. */
const DRAW_MS = 50;

export type AccountPageParts = Pick<
  Services,
  'accounts' | 'context' | 'journal' | 'log' | 'openJournal' | 'sessions'
>;

/** Whether data has been read. */
export type Loading = 'loaded' | 'loading' | 'failed';

/**
 * Base of an account's pages. Follows the account's session and receipts, posts the page's state when it
 * changes, and runs only actions whose buttons the page shows.
 */
export abstract class AccountPage<
  State extends Typed,
  Request extends Typed,
  Button extends PageButton,
> implements Disposable {
  protected readonly accountId: string;
  protected readonly panel: vscode.WebviewPanel;
  protected readonly store = new DisposableStore();
  /** Replaced if the account's name or URL changes; undefined while the account is signed out. */
  protected session: Session | undefined;
  protected receiptsLoading: Loading = 'loading';
  readonly #parts: AccountPageParts;
  #following = new DisposableStore();
  #host: WebviewHost<State, Request> | undefined;
  #state: State | undefined;
  /** The last posted state as JSON, to avoid posting it again. */
  #posted = '';
  #drawTimer: NodeJS.Timeout | undefined;

  protected constructor(accountId: string, panel: vscode.WebviewPanel, parts: AccountPageParts) {
    this.accountId = accountId;
    this.panel = panel;
    this.#parts = parts;
  }

  protected abstract title(): string;
  /** Returns the complete current state of the page. */
  protected abstract state(): State;
  protected abstract do(button: Button): unknown;
  /** @param isOther whether the session was replaced, not just changed */
  protected abstract sessionChanged(isOther: boolean): void;
  protected abstract acceptReceipts(receipts: readonly Receipt[]): void;

  dispose(): void {
    this.store.dispose();
  }

  /** Call this at the end of the constructor. */
  protected begin(
    options: Pick<WebviewOptions<Request>, 'page' | 'requests' | 'onRequest'> & { onReady?: () => unknown },
  ): void {
    const { accounts, context, journal, log } = this.#parts;
    this.#follow();
    this.#readReceipts();
    const { panel } = this;
    panel.title = this.title();
    this.#host = new WebviewHost(panel, {
      ...options,
      extensionUri: context.extensionUri,
      title: panel.title,
      onReady: () => {
        this.#posted = '';
        this.draw();
        options.onReady?.();
      },
      log,
    });
    for (const one of [
      { dispose: () => clearTimeout(this.#drawTimer) },
      { dispose: () => this.#following.dispose() },
      this.#host,
      accounts.onDidChange(() => this.#follow()),
      journal.onDidChange(() => this.#readReceipts()),
    ])
      this.store.add(one);
  }

  protected drawDelayMs(): number {
    return DRAW_MS;
  }

  /** The time by the service's clock, or this machine's without a session. */
  protected nowMs(): number {
    return this.session === undefined ? Date.now() : serviceNowMs(this.session);
  }

  /** Reads the account again. Failures show as the session's state. */
  protected async refresh(): Promise<void> {
    const { session } = this;
    if (session === undefined) return;
    session.runs.retryDetails();
    await Promise.allSettled([session.runs.refresh(), session.models.refresh(), session.balance.refresh()]);
  }

  protected async act({ action, target }: { action: string; target: string }): Promise<void> {
    const pressed = buttonsIn(this.#state).find((one) => one.action === action && one.target === target);
    if (pressed === undefined || pressed.isDisabled === true) return;
    try {
      await this.do(pressed as Button);
    } finally {
      this.planDraw();
    }
  }

  protected planDraw(): void {
    this.#drawTimer ??= setTimeout(() => this.draw(), this.drawDelayMs());
  }

  /** Updates the tab's title and posts the state, if they changed. */
  protected draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.store.disposed) return;
    const title = this.title();
    if (this.panel.title !== title) this.panel.title = title;
    if (this.#host?.isReady !== true) return;
    const state = this.state();
    const text = JSON.stringify(state);
    if (text === this.#posted) return;
    this.#state = state;
    this.#posted = text;
    this.#host.post(state);
  }

  #follow(): void {
    const session = this.#parts.sessions.find(this.accountId);
    // The account's name or budget may have changed.
    this.planDraw();
    if (session === this.session) return;
    this.session = session;
    this.#following.dispose();
    this.#following = new DisposableStore();
    if (session !== undefined) {
      const { runs, models, balance, onDidChangeState } = session;
      const changed = () => this.sessionChanged(false);
      for (const { onDidChange } of [runs, models, balance]) this.#following.add(onDidChange(changed));
      this.#following.add(onDidChangeState(changed));
    }
    this.sessionChanged(true);
  }

  #readReceipts(): void {
    const { journal, log, openJournal } = this.#parts;
    openJournal()
      .then(() => journal.receipts())
      .then(
        (receipts) => {
          this.receiptsLoading = 'loaded';
          this.acceptReceipts(receipts);
        },
        (error: unknown) => {
          this.receiptsLoading = 'failed';
          log.error('page-receipts', error);
        },
      )
      .finally(() => this.planDraw());
  }
}

/** Returns every button in a page's state, however deeply nested. */
function buttonsIn(part: unknown): PageButton[] {
  if (!isRecord(part)) return [];
  return 'action' in part
    ? [part as unknown as PageButton]
    : Object.values(part).flatMap((one) => buttonsIn(one));
}
