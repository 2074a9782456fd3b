import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS, VIEWS, type CommandId } from '../shared/ids.ts';
import { notificationsSetting } from '../shared/settings.ts';
import { tellDigest, tellFinished, tellStatus } from './noticeMessages.ts';
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
  /** For others, that are told together. */
  togetherMs: number;
  /** For a window that has the focus, so that the person's window tells. */
  focusedMs: number;
  /** For a window that was faster and tells the same. */
  fasterMs: number;
  /** For a label that nobody knows yet. */
  labelMs: number;
}
const PATIENCE: Readonly<NoticePatience> = {
  togetherMs: 300,
  focusedMs: 2_000,
  fasterMs: 200,
  labelMs: 3_000,
};

/** What became known in so long after the start went on while nobody looked. */
const START_MS = 60_000;

export interface RunNoticesParts {
  sessions: Sessions;
  told: Pick<NotificationLedger, 'claim' | 'addUnseen'>;
  /** Makes an account the active one, if it is not and the person agrees. */
  ensureActiveAccount: (accountId: string) => Promise<boolean>;
  /** Whether a download is to be offered: not where the person wants none, or it begins by itself. */
  offersDownload: () => boolean;
  patience?: NoticePatience;
}

interface Notice {
  run: RunSummary;
  kind: 'finished' | 'status';
  isAway: boolean;
}

/**
 * Tells that runs of the active account finished or have a status that the contract does not name: each once among all
 * windows, several at once in one digest; nothing but the badge where the person wants no more.
 */
export class RunNotices implements Disposable {
  readonly #told: Pick<NotificationLedger, 'claim' | 'addUnseen'>;
  readonly #ensureActiveAccount: (accountId: string) => Promise<boolean>;
  readonly #offersDownload: () => boolean;
  readonly #patience: NoticePatience;
  readonly #subscription: Disposable;
  #disposed = false;

  constructor({ sessions, told, ensureActiveAccount, offersDownload, patience = PATIENCE }: RunNoticesParts) {
    this.#told = told;
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
    let telling: Promise<unknown> = Promise.resolve();
    const tell = () => {
      clearTimeout(timer);
      timer = undefined;
      const notices = [...waiting.values()];
      waiting.clear();
      if (notices.length === 0) return;
      // One after the other: a slow disk must not turn around what became of a run.
      const next = () => (this.#disposed ? undefined : this.#tell(session, notices));
      telling = telling.then(next, next);
    };
    const plan = () => {
      const { focusedMs, togetherMs } = this.#patience;
      // Windows that wait alike would meet again.
      const waitMs = isFocused() ? togetherMs : focusedMs * (1 + Math.random() / 2);
      timer ??= setTimeout(tell, waitMs);
    };
    return [
      // What waits is told although the account is left. At the window's end there is nobody to tell.
      { dispose: () => (this.#disposed ? clearTimeout(timer) : tell()) },
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) tell();
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

  async #tell(session: Session, notices: readonly Notice[]): Promise<void> {
    const { id } = session.account;
    const mine: Notice[] = [];
    let isFirst = true;
    // In one order, so that of two windows one gets all.
    for (const notice of notices.toSorted((a, b) => (a.run.run_id < b.run.run_id ? -1 : 1))) {
      const { run, kind } = notice;
      const what = kind === 'finished' ? kind : `${kind}:${run.status}`;
      if (await this.#told.claim(id, run.run_id, what)) mine.push(notice);
      else if (isFirst) {
        isFirst = false;
        await new Promise((resolve) => setTimeout(resolve, this.#patience.fasterMs));
      }
    }
    if (notificationsSetting() === 'badge') {
      for (const { run, kind } of mine) if (kind === 'finished') await this.#told.addUnseen(id, run.run_id);
      return;
    }
    const [only, ...others] = mine;
    if (only === undefined) return;
    if (others.length === 0) await this.#tellOne(session, only);
    else this.#tellSeveral(session, mine);
  }

  async #tellOne(session: Session, { run, kind }: Notice): Promise<void> {
    const { account, runs, models } = session;
    await named(runs, run.run_id, this.#patience.labelMs);
    const label = withoutMarker(runs.label(run.run_id) ?? '');
    const name = { label: label === '' ? undefined : label, modelName: models.nameOf(run.model_id) };
    const isSandbox = account.kind === 'sandbox';
    const act = (command: CommandId) => () => void this.#act(account.id, command, run.run_id);
    const show = act(COMMANDS.showRun);
    if (kind === 'status') tellStatus(name, run.status, isSandbox, show);
    else
      tellFinished({ ...name, artifactsExpireAt: run.artifacts_expires_at }, isSandbox, {
        download:
          run.artifacts_available && this.#offersDownload() ? act(COMMANDS.downloadAdapter) : undefined,
        show,
      });
  }

  #tellSeveral({ account }: Session, notices: readonly Notice[]): void {
    const finished = notices.filter(({ kind }) => kind === 'finished').length;
    const isAway = notices.some((notice) => notice.isAway);
    tellDigest(
      { finished, changed: notices.length - finished },
      isAway,
      account.kind === 'sandbox',
      () => void this.#act(account.id, `${VIEWS.runs}.focus`),
    );
  }

  async #act(accountId: string, command: CommandId | `${typeof VIEWS.runs}.focus`, ...args: unknown[]) {
    if (await this.#ensureActiveAccount(accountId)) await vscode.commands.executeCommand(command, ...args);
  }
}

/** What there is to tell: a run that finished, or a status that the contract does not name. */
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
