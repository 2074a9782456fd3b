import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Event } from '../../core/base/event.ts';
import type { Log } from '../shared/log.ts';
import { accountFolder } from '../../core/accounts/accountFolder.ts';
import type { Journal } from '../../core/submission/journal.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { StateStore } from '../../core/storage/state.ts';
import { Watcher } from '../../core/runs/watcher.ts';
import { followActive } from '../shared/activeSession.ts';

/** When the window comes to the front, the watch looks at the runs and the balance, at most this often. */
const FOCUS_PAUSE_MS = 10_000;

/** The view whose rows show what the details tell. */
interface RunsView {
  readonly isVisible: boolean;
  readonly onDidShow: Event<void>;
}

/**
 * Keeps the active account's stores fresh: reads them on a switch, after the connection changed and on focus, and watches
 * runs while some are active. What fails shows as the session's state; the log has the reason.
 */
export class ActiveWatch implements Disposable {
  readonly #submitter: Submitter;
  readonly #receipts: () => Promise<readonly Receipt[]>;
  readonly #log: Log;
  readonly #runsFolder: string;
  readonly #state: StateStore;
  readonly #view: RunsView;
  readonly #subscriptions: Disposable[];
  #watcher: Watcher | undefined;
  #readAtMs = -Infinity;

  /** @param runsFolder where the lock files of accounts are */
  constructor(
    sessions: Sessions,
    submitter: Submitter,
    journal: Pick<Journal, 'receipts'>,
    log: Log,
    runsFolder: string,
    state: StateStore,
    view: RunsView,
  ) {
    this.#view = view;
    this.#runsFolder = runsFolder;
    this.#state = state;
    this.#submitter = submitter;
    this.#receipts = () => journal.receipts();
    this.#log = log;
    this.#subscriptions = [
      followActive(sessions, (session) => this.#follow(session)),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && performance.now() - this.#readAtMs > FOCUS_PAUSE_MS) this.#read();
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #follow(session: Session | undefined): Disposable[] {
    this.#watcher = undefined;
    if (session === undefined) return [];
    const { id: accountId } = session.account;
    const watcher = new Watcher({
      session,
      state: this.#state,
      lockFile: accountFolder(this.#runsFolder, accountId).watchLock,
      isFocused: () => vscode.window.state.focused,
      areRowsShown: () => this.#view.isVisible,
      isAwaiting: () => this.#submitter.isUnknown(accountId),
      recallSubmitted: () => this.#recall(session),
      onError: (error) => this.#log.warn(String(error)),
    });
    this.#watcher = watcher;
    // The charge may come minutes after the answer was given up: runs are watched until the user has decided.
    const awaiting = this.#submitter.onDidChange(({ id, accountId: changedId, state }) => {
      if (changedId !== accountId) return;
      if (state === 'unknown') void watcher.poll();
      // Another window ended it: the result is in the runs and the balance.
      const isOpen = this.#submitter.pending.some((pending) => pending.id === id);
      if (state === 'elsewhere' && !isOpen) void watcher.poll();
    });
    watcher.readAll();
    this.#readAtMs = performance.now();
    return [watcher, awaiting, this.#view.onDidShow(() => watcher.readMissing())];
  }

  /** Their end is shown as well, though no list named them before the windows were closed. */
  async #recall({ account, runs }: Session): Promise<void> {
    if (runs.rows === undefined) return;
    for (const { accountId, settled, model_id, label } of await this.#receipts())
      if (accountId === account.id && settled.kind === 'charged' && settled.at.localMs > runs.readAtMs)
        runs.insertCreated(settled.run, model_id, label);
  }

  #read(): void {
    if (this.#watcher === undefined) return;
    this.#readAtMs = performance.now();
    void this.#watcher.poll();
    this.#watcher.readMissing();
  }
}
