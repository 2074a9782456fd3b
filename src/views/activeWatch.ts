import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import type { Log } from '../host/log.ts';
import { accountFolder } from '../runs/accountFolder.ts';
import type { Session } from '../runs/session.ts';
import type { Submitter } from '../runs/submitter.ts';
import type { Sessions } from '../runs/sessions.ts';
import { Watcher } from '../runs/watcher.ts';
import { followActive } from './activeSession.ts';

/** When the window comes to the front, the watch looks at the runs and the balance, at most this often. */
const FOCUS_PAUSE_MS = 10_000;

/**
 * Keeps the active account's stores fresh: reads them on a switch, after the connection changed and on focus, and watches
 * runs while some are active. What fails shows as the session's state; the log has the reason.
 */
export class ActiveWatch implements Disposable {
  readonly #sessions: Sessions;
  readonly #submitter: Submitter;
  readonly #log: Log;
  readonly #runsFolder: string;
  readonly #subscriptions: Disposable[];
  #watcher: Watcher | undefined;
  #readAtMs = 0;

  /** @param runsFolder where windows share what they know of the runs of all accounts */
  constructor(sessions: Sessions, submitter: Submitter, log: Log, runsFolder: string) {
    this.#sessions = sessions;
    this.#runsFolder = runsFolder;
    this.#submitter = submitter;
    this.#log = log;
    this.#subscriptions = [
      followActive(sessions, (session) => this.#follow(session)),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && Date.now() - this.#readAtMs > FOCUS_PAUSE_MS) this.#read();
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
      folder: accountFolder(this.#runsFolder, accountId),
      isFocused: () => vscode.window.state.focused,
      isAwaiting: () => this.#submitter.isUnknown(accountId),
      onError: (error) => this.#log.warn(String(error)),
    });
    this.#watcher = watcher;
    const reconnecting = session.onDidChangeState((state) => {
      if (state === 'connecting') this.#readAll(session, watcher);
      if (state === 'ready') this.#readMissing(session);
    });
    // The charge may come minutes after the answer was given up: runs are watched until the person has decided.
    const awaiting = this.#submitter.onDidChange(({ id, accountId: changedId, state }) => {
      if (changedId !== accountId) return;
      if (state === 'unknown') void watcher.look();
      // Another window ended it: what came of it is not told here, but stands in the runs and the balance.
      const isOpen = this.#submitter.pending.some((pending) => pending.id === id);
      if (state === 'elsewhere' && !isOpen) void watcher.look();
    });
    this.#readAll(session, watcher);
    return [watcher, reconnecting, awaiting];
  }

  #readAll(session: Session, watcher: Watcher): void {
    this.#readAtMs = Date.now();
    void watcher.look();
    this.#logFailures([session.models.refresh(), session.balance.refresh()]);
  }

  /** What could not be read while the service was out of reach. */
  #readMissing(session: Session): void {
    if (session.models.models === undefined) this.#logFailures([session.models.refresh()]);
    if (session.balance.current === undefined) this.#logFailures([session.balance.refresh()]);
  }

  #read(): void {
    const session = this.#sessions.active;
    if (session === undefined || this.#watcher === undefined) return;
    this.#readAtMs = Date.now();
    void this.#watcher.look();
  }

  #logFailures(work: Promise<unknown>[]): void {
    for (const one of work) one.catch((error: unknown) => this.#log.warn(String(error)));
  }
}
