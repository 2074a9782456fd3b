import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS, VIEWS, type CommandId } from '../shared/ids.ts';
import { notificationsSetting } from '../shared/settings.ts';
import { notifyCompleted, notifySeveral, notifyStatus } from './messages.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import { phaseOf } from '../../core/runs/phase.ts';
import type { Moved } from '../../core/runs/runRows.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { followActive } from '../shared/activeSession.ts';

/** How long notices wait. */
export interface NoticePatience {
  /** For others, which are shown together. */
  togetherMs: number;
  /** For a window that has the focus, so that the user's window shows it. */
  focusedMs: number;
  /** For a window that was faster and shows the same. */
  fasterMs: number;
  /** For a label that is not known yet. */
  labelMs: number;
}
const PATIENCE: Readonly<NoticePatience> = {
  togetherMs: 300,
  focusedMs: 2_000,
  fasterMs: 200,
  labelMs: 3_000,
};

/** What becomes known this soon after the start happened while no window was open. */
const START_MS = 60_000;

export interface RunNoticesParts {
  sessions: Sessions;
  ledger: Pick<NotificationLedger, 'claim' | 'addUnseen'>;
  /** Makes an account the active one, if it is not and the user agrees. */
  ensureActiveAccount: (accountId: string) => Promise<boolean>;
  /** Whether to offer a download: not where the user wants none, or where it starts automatically. */
  offersDownload: () => boolean;
  patience?: NoticePatience;
}

interface Notice {
  run: RunSummary;
  kind: 'finished' | 'status';
  isAway: boolean;
}

/**
 * Notifies that runs of the active account completed or have a status that the contract does not name: each once among all
 * windows, several at once in one digest. Only the badge where the user wants that.
 */
export class RunNotices implements Disposable {
  readonly #ledger: Pick<NotificationLedger, 'claim' | 'addUnseen'>;
  readonly #ensureActiveAccount: (accountId: string) => Promise<boolean>;
  readonly #offersDownload: () => boolean;
  readonly #patience: NoticePatience;
  readonly #subscription: Disposable;
  #disposed = false;

  constructor({
    sessions,
    ledger,
    ensureActiveAccount,
    offersDownload,
    patience = PATIENCE,
  }: RunNoticesParts) {
    this.#ledger = ledger;
    this.#ensureActiveAccount = ensureActiveAccount;
    this.#offersDownload = offersDownload;
    this.#patience = patience;
    this.#subscription = followActive(sessions, (session) =>
      session === undefined ? [] : this.#follow(session),
    );
  }

  dispose(): void {
    this.#disposed = true;
    this.#subscription.dispose();
  }

  #follow(session: Session): Disposable[] {
    const startedAtMs = Date.now();
    const waiting = new Map<string, Notice>();
    let timer: NodeJS.Timeout | undefined;
    let showing: Promise<unknown> = Promise.resolve();
    const show = () => {
      clearTimeout(timer);
      timer = undefined;
      const notices = [...waiting.values()];
      waiting.clear();
      if (notices.length === 0) return;
      // One after the other: a slow disk must not turn around what became of a run.
      const next = () => (this.#disposed ? undefined : this.#show(session, notices));
      showing = showing.then(next, next);
    };
    const plan = () => {
      const { focusedMs, togetherMs } = this.#patience;
      // Windows that wait alike would meet again.
      const waitMs = isFocused() ? togetherMs : focusedMs * (1 + Math.random() / 2);
      timer ??= setTimeout(show, waitMs);
    };
    return [
      // What waits is shown although the account is left; not at the window's end.
      { dispose: () => (this.#disposed ? clearTimeout(timer) : show()) },
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) show();
      }),
      session.runs.onDidChange(({ moved }) => {
        const isAway = !isFocused() || Date.now() - startedAtMs < START_MS;
        const notices = moved.flatMap((one) => noticeOf(one, isAway));
        for (const notice of notices) waiting.set(notice.run.run_id, notice);
        const [only] = notices;
        if (only !== undefined && waiting.size === 1) readName(session, only.run.run_id);
        if (waiting.size > 0) plan();
      }),
    ];
  }

  async #show(session: Session, notices: readonly Notice[]): Promise<void> {
    const { id } = session.account;
    const mine: Notice[] = [];
    let isFirst = true;
    // In one order, so that of two windows one gets all.
    for (const notice of notices.toSorted((a, b) => (a.run.run_id < b.run.run_id ? -1 : 1))) {
      const { run, kind } = notice;
      const what = kind === 'finished' ? kind : `${kind}:${run.status}`;
      if (await this.#ledger.claim(id, run.run_id, what)) mine.push(notice);
      else if (isFirst) {
        isFirst = false;
        await new Promise((resolve) => setTimeout(resolve, this.#patience.fasterMs));
      }
    }
    if (notificationsSetting() === 'badge') {
      for (const { run, kind } of mine) if (kind === 'finished') await this.#ledger.addUnseen(id, run.run_id);
      return;
    }
    const [only, ...others] = mine;
    if (only === undefined) return;
    if (others.length === 0) await this.#notifyOne(session, only);
    else this.#notifySeveral(session, mine);
  }

  async #notifyOne(session: Session, { run, kind }: Notice): Promise<void> {
    const { account, runs, models } = session;
    await named(runs, run.run_id, this.#patience.labelMs);
    const label = withoutMarker(runs.label(run.run_id) ?? '');
    const name = { label: label === '' ? undefined : label, modelName: models.nameOf(run.model_id) };
    const isSandbox = account.kind === 'sandbox';
    const act = (command: CommandId) => () => void this.#act(account.id, command, run.run_id);
    const show = act(COMMANDS.showRun);
    if (kind === 'status') notifyStatus(name, run.status, isSandbox, show);
    else
      notifyCompleted({ ...name, artifactsExpireAt: run.artifacts_expires_at }, isSandbox, {
        download:
          run.artifacts_available && this.#offersDownload() ? act(COMMANDS.downloadAdapter) : undefined,
        show,
      });
  }

  #notifySeveral({ account }: Session, notices: readonly Notice[]): void {
    const finished = notices.filter(({ kind }) => kind === 'finished').length;
    const isAway = notices.some((notice) => notice.isAway);
    notifySeveral(
      { completed: finished, changed: notices.length - finished },
      isAway,
      account.kind === 'sandbox',
      () => void this.#act(account.id, `${VIEWS.runs}.focus`),
    );
  }

  async #act(accountId: string, command: CommandId | `${typeof VIEWS.runs}.focus`, ...args: unknown[]) {
    if (await this.#ensureActiveAccount(accountId)) await vscode.commands.executeCommand(command, ...args);
  }
}

/** What there is to show: a run that completed, or a status that the contract does not name. */
function noticeOf({ before, after }: Moved, isAway: boolean): Notice[] {
  const phase = phaseOf(after);
  if (phase === 'finished')
    return phaseOf(before) === 'finished' ? [] : [{ run: after, kind: 'finished', isAway }];
  const isNews = phase === 'active' && before.status !== after.status;
  return isNews ? [{ run: after, kind: 'status', isAway }] : [];
}

function isFocused(): boolean {
  return vscode.window.state.focused;
}

/** Whether it is known what a run is called, also that it is called nothing. */
function isNamed(runs: RunStore, runId: string): boolean {
  return runs.label(runId) !== undefined || runs.detail(runId) !== undefined;
}

/** The list has no labels: the window that watches reads the one that a notice wants, and the others learn it from that one. */
function readName({ runs, budget }: Session, runId: string): void {
  if (notificationsSetting() === 'badge' || isNamed(runs, runId) || !budget.takeSpare()) return;
  runs.loadDetail(runId, { isBackground: true }).catch(() => undefined);
}

/** Until a run's name is known, and no longer than so long. */
async function named(runs: RunStore, runId: string, ms: number): Promise<void> {
  if (isNamed(runs, runId)) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      subscription.dispose();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const subscription = runs.onDidChange(() => {
      if (isNamed(runs, runId)) end();
    });
  });
}
