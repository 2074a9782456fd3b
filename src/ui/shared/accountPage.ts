import type * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import type { Services } from '../../services.ts';
import type { PageButton } from './protocol.ts';
import { isRecord, WebviewHost, type Typed, type WebviewOptions } from './webview.ts';

/** Changes that come together are drawn once. */
const DRAW_MS = 50;

export type AccountPageParts = Pick<
  Services,
  'accounts' | 'context' | 'journal' | 'log' | 'openJournal' | 'sessions'
>;

/** Whether something that is read is known. */
export type Loading = 'loaded' | 'loading' | 'failed';

/**
 * What the pages of an account do alike, the run page and the spend page: they work with its session and its receipts, post what
 * they show when it changes, and do what a button of it offers, and nothing else.
 */
export abstract class AccountPage<
  State extends Typed,
  Request extends Typed,
  Button extends PageButton,
> implements Disposable {
  protected readonly accountId: string;
  protected readonly panel: vscode.WebviewPanel;
  protected readonly store = new DisposableStore();
  /** Another one where its address changed, none where the account is gone. */
  protected session: Session | undefined;
  protected receiptsLoading: Loading = 'loading';
  readonly #parts: AccountPageParts;
  #following = new DisposableStore();
  #host: WebviewHost<State, Request> | undefined;
  #state: State | undefined;
  /** The last message, which is not repeated. */
  #posted = '';
  #drawTimer: NodeJS.Timeout | undefined;

  protected constructor(accountId: string, panel: vscode.WebviewPanel, parts: AccountPageParts) {
    this.accountId = accountId;
    this.panel = panel;
    this.#parts = parts;
  }

  /** Of the tab. */
  protected abstract title(): string;
  /** Everything that the page shows now. */
  protected abstract state(): State;
  protected abstract do(button: Button): unknown;
  /** @param isOther whether it is another session, and not only another state of it */
  protected abstract sessionChanged(isOther: boolean): void;
  protected abstract acceptReceipts(receipts: readonly Receipt[]): void;

  dispose(): void {
    this.store.dispose();
  }

  /** At the end of the constructor. */
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

  /** By the service's clock. */
  protected nowMs(): number {
    return this.session === undefined ? Date.now() : serviceNowMs(this.session);
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

  /** Posts what has changed, if anything. */
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
    // Its name or budget may be another one.
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

/** Every button that a page shows, wherever it is. */
function buttonsIn(part: unknown): PageButton[] {
  if (!isRecord(part)) return [];
  return 'action' in part
    ? [part as unknown as PageButton]
    : Object.values(part).flatMap((one) => buttonsIn(one));
}
