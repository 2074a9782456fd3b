import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { phaseOf } from '../../core/runs/run.ts';
import type { RunChange } from '../../core/runs/runStore.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import { isOnlyCounted } from './runsBadge.ts';
import type { Notice, NoticeParts } from './showNotices.ts';

/** How long to wait for more notices to show together. */
const TOGETHER_MS = 300;
/** How long a window without the focus waits for the focused one to show a notice. */
const UNFOCUSED_WAIT_MS = 2_000;

export interface RunNoticesParts extends NoticeParts {
  sessions: Sessions;
}

// Loaded at the first notice.
const load = () => import('./showNotices.ts');

/**
 * Decides which window notifies the user when runs of the active account end by their status. Several at
 * once become one digest. If the setting is `badge`, they are only counted, except failed ones, which were charged.
 */
export class RunNotices implements Disposable {
  readonly #parts: RunNoticesParts;
  readonly #following: Disposable;
  #isDisposed = false;

  constructor(parts: RunNoticesParts) {
    this.#parts = parts;
    this.#following = followActive(parts.sessions, (session) => session && this.#gather(session));
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#following.dispose();
  }

  #gather(session: Session): Disposable[] {
    const waiting = new Map<string, Notice>();
    let timer: NodeJS.Timeout | undefined;
    const show = () => {
      clearTimeout(timer);
      timer = undefined;
      const notices = [...waiting.values()];
      waiting.clear();
      if (notices.length > 0) void this.#show(session, notices);
    };
    return [
      // Show waiting notices when the account is left, but not when the window closes.
      { dispose: () => (this.#isDisposed ? clearTimeout(timer) : show()) },
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) show();
      }),
      session.runs.onDidChange(({ moved }) => {
        const news = moved.flatMap((one): Notice[] => {
          const kind = noticeKindOf(one);
          return kind === undefined ? [] : [{ run: one.after, kind }];
        });
        const [first] = news;
        if (first === undefined) return;
        for (const notice of news) waiting.set(notice.run.run_id, notice);
        if (waiting.size === 1) void load().then((notices) => notices.readNoticeFacts(session, first));
        // Random, so that one of several waiting windows claims all.
        const { focused } = vscode.window.state;
        timer ??= setTimeout(show, focused ? TOGETHER_MS : UNFOCUSED_WAIT_MS * (1 + Math.random() / 2));
      }),
    ];
  }

  /** Shows the notices that this window could claim: facts, claim and notification follow without a pause. */
  async #show(session: Session, notices: readonly Notice[]): Promise<void> {
    const { noticeFacts, showOne, showSeveral } = await load();
    const isCounted = isOnlyCounted();
    const isShown = ({ kind }: Notice) => kind === 'failed' || !isCounted;
    const receipts = await noticeFacts(this.#parts, session, notices.filter(isShown));
    // Another window shows them.
    if (this.#isDisposed) return;
    const mine: Notice[] = [];
    for (const notice of notices) {
      const { run, kind } = notice;
      const what = kind === 'finished' ? kind : `status:${run.status}`;
      if (await this.#parts.notices.claim(session.account.id, run.run_id, what, isCounted)) mine.push(notice);
    }
    const [only, ...others] = mine.filter(isShown);
    if (only === undefined) return;
    if (others.length === 0) showOne(this.#parts, session, only, receipts);
    else showSeveral(this.#parts, session, [only, ...others]);
  }
}

/** Returns the kind of notice for a change: the run completed, or reads as failed. */
function noticeKindOf({ before, after }: RunChange['moved'][number]): Notice['kind'] | undefined {
  const phase = phaseOf(after);
  if (phase === 'finished') return phaseOf(before) === 'finished' ? undefined : 'finished';
  return phase === 'ended' && before.status !== after.status ? 'failed' : undefined;
}
