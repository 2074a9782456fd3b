import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { instantOf } from '../../core/base/clock.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { phaseOf } from '../../core/runs/runList.ts';
import type { Moved, RunStore } from '../../core/runs/runStore.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS, VIEWS, type CommandId } from '../shared/ids.ts';
import { notificationsSetting } from '../shared/settings.ts';

/** How long to wait for more notices to show together. */
const TOGETHER_MS = 300;
/** How long a window without the focus waits for the focused one to show a notice. */
const UNFOCUSED_WAIT_MS = 2_000;
/** How long to let a window that claimed a notice first claim the others, too. */
const CLAIM_LEAD_MS = 200;
/** How long to wait for an unknown label. */
const LABEL_MS = 3_000;

export interface RunNoticesParts {
  sessions: Sessions;
  ledger: Pick<NotificationLedger, 'claim'>;
  /** Makes an account active, if necessary and the user agrees. */
  ensureActiveAccount: (accountId: string) => Promise<boolean>;
  /** Whether to offer a download: not if the user wants none or it starts automatically. */
  offersDownload: () => boolean;
}

interface Notice {
  run: RunSummary;
  kind: 'finished' | 'status';
}

/**
 * Notifies the user, in one window, when runs of the active account complete or get a status that reads as an end, or any new
 * status if the setting is `all`. Several at once are shown as one digest. If the setting is `badge`, they are only counted.
 */
export function notifyOfRuns({
  sessions,
  ledger,
  ensureActiveAccount,
  offersDownload,
}: RunNoticesParts): Disposable {
  let isDisposed = false;

  const go = async (
    accountId: string,
    command: CommandId | `${typeof VIEWS.runs}.focus`,
    ...args: unknown[]
  ) => {
    if (await ensureActiveAccount(accountId)) await vscode.commands.executeCommand(command, ...args);
  };
  const showOne = async (session: Session, { run, kind }: Notice) => {
    const { account, runs, models } = session;
    const [{ notifyCompleted, notifyStatus }, { reminderAt }] = await Promise.all([
      import('./noticeMessages.ts'),
      import('../../core/downloads/reminders.ts'),
    ]);
    const act = (command: CommandId) => () => void go(account.id, command, run.run_id);
    const canDownload = kind === 'finished' && run.artifacts_available && offersDownload();
    const expiresAtMs = instantOf(run.artifacts_expires_at);
    const reminder = reminderAt(expiresAtMs, serviceNowMs(session));
    // Claim the reminder, which would repeat this notification, before waiting for anything.
    if (canDownload && reminder !== undefined) await ledger.claim(account.id, run.run_id, reminder);
    await waitForLabel(runs, run.run_id);
    const label = withoutMarker(runs.label(run.run_id) ?? '') || undefined;
    const name = { label, modelName: models.nameOf(run.model_id) };
    const isSandbox = account.kind === 'sandbox';
    const show = act(COMMANDS.showRun);
    const download = canDownload ? act(COMMANDS.downloadAdapter) : undefined;
    if (kind === 'status') notifyStatus(name, run.status, isSandbox, show);
    else notifyCompleted(name, expiresAtMs - serviceNowMs(session), isSandbox, { download, show });
  };
  const showSeveral = async ({ account }: Session, notices: readonly Notice[]) => {
    const { notifySeveral } = await import('./noticeMessages.ts');
    const statuses = notices.flatMap(({ kind, run }) => (kind === 'status' ? [run.status] : []));
    const show = () => void go(account.id, `${VIEWS.runs}.focus`);
    notifySeveral(notices.length - statuses.length, statuses, account.kind === 'sandbox', show);
  };
  const showAll = async (session: Session, notices: readonly Notice[]) => {
    const { id } = session.account;
    const mine: Notice[] = [];
    const isCounted = notificationsSetting() === 'badge';
    let hasWaited = false;
    // Every window claims in the same order, so that one of them gets all.
    for (const notice of notices.toSorted((a, b) => (a.run.run_id < b.run.run_id ? -1 : 1))) {
      const { run, kind } = notice;
      const what = kind === 'finished' ? kind : `${kind}:${run.status}`;
      if (await ledger.claim(id, run.run_id, what, isCounted)) mine.push(notice);
      else if (!hasWaited) {
        hasWaited = true;
        await new Promise((resolve) => setTimeout(resolve, CLAIM_LEAD_MS));
      }
    }
    const [only, ...others] = mine;
    if (only === undefined || isCounted) return;
    await (others.length === 0 ? showOne(session, only) : showSeveral(session, mine));
  };

  const following = followActive(sessions, (session) => {
    if (session === undefined) return undefined;
    const waiting = new Map<string, Notice>();
    let timer: NodeJS.Timeout | undefined;
    let showing: Promise<unknown> = Promise.resolve();
    const show = () => {
      clearTimeout(timer);
      timer = undefined;
      const notices = [...waiting.values()];
      waiting.clear();
      if (notices.length === 0) return;
      // One after another, so that a slow disk cannot reverse the order of a run's statuses.
      const next = () => (isDisposed ? undefined : showAll(session, notices));
      showing = showing.then(next, next);
    };
    return [
      // Show waiting notices when the account is left, but not when the window closes.
      { dispose: () => (isDisposed ? clearTimeout(timer) : show()) },
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
        if (waiting.size === 1) readLabel(session, first.run.run_id);
        // Random, so that waiting windows don't collide.
        const { focused } = vscode.window.state;
        timer ??= setTimeout(show, focused ? TOGETHER_MS : UNFOCUSED_WAIT_MS * (1 + Math.random() / 2));
      }),
    ];
  });
  return {
    dispose() {
      isDisposed = true;
      following.dispose();
    },
  };
}

/** Returns the kind of notice for a change: the run completed, or got a new status that the user wants to know. */
function noticeKindOf({ before, after }: Moved): Notice['kind'] | undefined {
  const phase = phaseOf(after);
  if (phase === 'finished') return phaseOf(before) === 'finished' ? undefined : 'finished';
  const isWanted = phase === 'ended' || (phase === 'active' && notificationsSetting() === 'all');
  return isWanted && before.status !== after.status ? 'status' : undefined;
}

/** Whether a run's label is known, including that it has none. */
function isLabelKnown(runs: RunStore, runId: string): boolean {
  return runs.label(runId) !== undefined || runs.detail(runId) !== undefined;
}

/** Reads a label for a notice, since the list has none. Only the polling window has the quota; it shares the label. */
function readLabel({ runs, quota }: Session, runId: string): void {
  if (notificationsSetting() === 'badge' || isLabelKnown(runs, runId) || !quota.takeSpare()) return;
  runs.loadDetail(runId, { isBackground: true }).catch(() => undefined);
}

/** Waits until a run's label is known, at most `LABEL_MS`. */
async function waitForLabel(runs: RunStore, runId: string): Promise<void> {
  if (isLabelKnown(runs, runId)) return;
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, LABEL_MS);
  const subscription = runs.onDidChange(() => {
    if (isLabelKnown(runs, runId)) resolve(undefined);
  });
  await promise;
  clearTimeout(timer);
  subscription.dispose();
}
