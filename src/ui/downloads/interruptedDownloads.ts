import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS } from '../shared/ids.ts';
import { runName } from './messages.ts';
import { tellInterruptedDownloads } from './noticeMessages.ts';
import type { ActiveDownload } from '../../core/downloads/types.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { followActive } from '../shared/activeSession.ts';

/** Several are left by one end, and are told together. */
const TOGETHER_MS = 500;

interface Parts {
  sessions: Sessions;
  downloads: Pick<Downloads, 'active' | 'open' | 'onDidChange'>;
  told: Pick<NotificationLedger, 'claim'>;
  beActive: (accountId: string) => Promise<boolean>;
}

/**
 * Offers, in one window and once for each end, to resume what a window that is no more left in the middle: after a restart, or
 * when another window has died.
 */
export class InterruptedDownloads implements Disposable {
  readonly #parts: Parts;
  readonly #subscription: Disposable;
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#subscription = followActive(parts.sessions, (session) => {
      if (session === undefined) return [];
      void parts.downloads.open(session.account.id).then(() => this.#plan(session));
      return [
        parts.downloads.onDidChange(({ accountId }) => {
          if (accountId === session.account.id) this.#plan(session);
        }),
        { dispose: () => this.#forget() },
      ];
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#subscription.dispose();
    this.#forget();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #plan(session: Session): void {
    // The account may have been left while its downloads were read.
    if (session !== this.#parts.sessions.active) return;
    if (this.#disposed || this.#left(session).length === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#offer(session);
    }, TOGETHER_MS).unref();
  }

  /** What this window itself gave up was told there, with its reason. */
  #left({ account }: Session): ActiveDownload[] {
    return this.#parts.downloads.active.filter(
      ({ accountId, state, code }) =>
        accountId === account.id && state === 'interrupted' && code === undefined,
    );
  }

  async #offer(session: Session): Promise<void> {
    const { told, beActive, downloads } = this.#parts;
    const { account, runs } = session;
    const claimed: ActiveDownload[] = [];
    for (const download of this.#left(session)) {
      const what = `interrupted ${download.id} ${download.receivedBytes}`;
      if (await told.claim(account.id, download.runId, what)) claimed.push(download);
    }
    if (this.#disposed) return;
    const resume = async () => {
      if (!(await beActive(account.id))) return;
      for (const runId of new Set(claimed.map((download) => download.runId)))
        void vscode.commands.executeCommand(COMMANDS.downloadAdapter, { runId, resume: true });
    };
    const discard = () => {
      // The offer may be old: what goes on since is not meant.
      const running = downloads.active.filter(({ state }) => state !== 'interrupted').map(({ id }) => id);
      for (const { id } of claimed)
        if (!running.includes(id)) void vscode.commands.executeCommand(COMMANDS.cancelDownload, id);
    };
    tellInterruptedDownloads(
      claimed.map((view) => ({
        name: runName(withoutMarker(runs.label(view.runId) ?? ''), view.runId),
        view,
      })),
      account.kind === 'sandbox',
      { resume: () => void resume(), discard },
    );
  }
}
