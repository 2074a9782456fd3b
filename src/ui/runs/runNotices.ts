import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { instantOf } from '../../core/base/clock.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { phaseOf } from '../../core/runs/phase.ts';
import type { Moved, RunStore } from '../../core/runs/runStore.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS, VIEWS, type CommandId } from '../shared/ids.ts';
import { notificationsSetting } from '../shared/settings.ts';

/** How long to wait for more notices to show together. */
const TOGETHER_MS = 300;
/** How long a window without the focus waits for the focused one to show a notice. */
const UNFOCUSED_WAIT_MS = 2_000;
/** How long to let a window that claimed a notice first claim the others, too. */
const CLAIM_LEAD_MS = 200;
/** How long to wait for an unknown label or price. */
const FACTS_MS = 3_000;

export interface RunNoticesParts {
  sessions: Sessions;
  ledger: Pick<NotificationLedger, 'claim'>;
  /** Makes an account active, if necessary and the user agrees. */
  ensureActiveAccount: (accountId: string) => Promise<boolean>;
  /** Whether to offer a download: not if the user wants none or it starts automatically. */
  offersDownload: () => boolean;
  /** Returns the receipts of an account's charges. */
  receiptsOf: (accountId: string) => Promise<readonly ChargedReceipt[]>;
}

interface Notice {
  run: RunSummary;
  /** `failed`: the status reads as an end other than completion. Such a run was charged, so it is always shown. */
  kind: 'finished' | 'failed' | 'status';
}

/**
 * Notifies the user, in one window, when runs of the active account complete or get a status that reads as an end, or any new
 * status if the setting is `all`. Several at once are shown as one digest. If the setting is `badge`, they are only counted,
 * except failed ones, which were charged.
 */
export function notifyOfRuns({
  sessions,
  ledger,
  ensureActiveAccount,
  offersDownload,
  receiptsOf,
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
    const [
      { notifyCompleted, notifyFailed, notifyRunIdCopied, notifyStatus },
      { priceText },
      { reminderAt },
    ] = await Promise.all([
      import('./noticeMessages.ts'),
      import('./detailMessages.ts'),
      import('../../core/downloads/reminders.ts'),
    ]);
    const act = (command: CommandId) => () => void go(account.id, command, run.run_id);
    const canDownload = kind === 'finished' && run.artifacts_available && offersDownload();
    const expiresAtMs = instantOf(run.artifacts_expires_at);
    const reminder = reminderAt(expiresAtMs, serviceNowMs(session));
    // Claim the reminder, which would repeat this notification, before waiting for anything.
    if (canDownload && reminder !== undefined) await ledger.claim(account.id, run.run_id, reminder);
    await waitForFacts(runs, { run, kind });
    const label = withoutMarker(runs.label(run.run_id) ?? '') || undefined;
    const name = { label, modelName: models.nameOf(run.model_id) };
    const isSandbox = account.kind === 'sandbox';
    const show = act(COMMANDS.showRun);
    const download = canDownload ? act(COMMANDS.downloadAdapter) : undefined;
    if (kind === 'failed') {
      const receipts = await receiptsOf(account.id).catch(() => []);
      const receipt = receipts.find(({ settled }) => settled.run.run_id === run.run_id);
      const price = priceText(receipt, runs.detail(run.run_id));
      const copyId = () => void vscode.env.clipboard.writeText(run.run_id).then(notifyRunIdCopied);
      notifyFailed(name, run.status, price, isSandbox, { copyId, show });
    } else if (kind === 'status') notifyStatus(name, run.status, isSandbox, show);
    else notifyCompleted(name, expiresAtMs - serviceNowMs(session), isSandbox, { download, show });
  };
  const showSeveral = async ({ account }: Session, notices: readonly Notice[]) => {
    const { notifySeveral } = await import('./noticeMessages.ts');
    const statuses = (of: Notice['kind']) =>
      notices.flatMap(({ kind, run }) => (kind === of ? [run.status] : []));
    const [failed, others] = [statuses('failed'), statuses('status')];
    const show = () => void go(account.id, `${VIEWS.runs}.focus`);
    const completed = notices.length - failed.length - others.length;
    notifySeveral(completed, failed, others, account.kind === 'sandbox', show);
  };
  const showAll = async (session: Session, notices: readonly Notice[]) => {
    const { id } = session.account;
    const mine: Notice[] = [];
    const isCounted = notificationsSetting() === 'badge';
    let hasWaited = false;
    // Every window claims in the same order, so that one of them gets all.
    for (const notice of notices.toSorted((a, b) => (a.run.run_id < b.run.run_id ? -1 : 1))) {
      const { run, kind } = notice;
      const what = kind === 'finished' ? kind : `status:${run.status}`;
      if (await ledger.claim(id, run.run_id, what, isCounted)) mine.push(notice);
      else if (!hasWaited) {
        hasWaited = true;
        await new Promise((resolve) => setTimeout(resolve, CLAIM_LEAD_MS));
      }
    }
    const shown = isCounted ? mine.filter(({ kind }) => kind === 'failed') : mine;
    const [only, ...others] = shown;
    if (only !== undefined)
      await (others.length === 0 ? showOne(session, only) : showSeveral(session, shown));
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
        if (waiting.size === 1) readFacts(session, first);
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
  if (before.status === after.status) return undefined;
  if (phase === 'ended') return 'failed';
  return phase === 'active' && notificationsSetting() === 'all' ? 'status' : undefined;
}

/** Whether what a notice names is known: the run's label, or that it has none, and the price of a failed one. */
function areFactsKnown(runs: RunStore, { run: { run_id }, kind }: Notice): boolean {
  return runs.detail(run_id) !== undefined || (kind !== 'failed' && runs.label(run_id) !== undefined);
}

/** Reads details for a notice, since the list has none. Only the polling window has the quota; it shares them. */
function readFacts({ runs, quota }: Session, notice: Notice): void {
  const isShown = notice.kind === 'failed' || notificationsSetting() !== 'badge';
  if (!isShown || areFactsKnown(runs, notice) || !quota.takeSpare()) return;
  runs.loadDetail(notice.run.run_id, { isBackground: true }).catch(() => undefined);
}

/** Waits until the facts of a notice are known, at most `FACTS_MS`. */
async function waitForFacts(runs: RunStore, notice: Notice): Promise<void> {
  if (areFactsKnown(runs, notice)) return;
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, FACTS_MS);
  const subscription = runs.onDidChange(() => {
    if (areFactsKnown(runs, notice)) resolve(undefined);
  });
  await promise;
  clearTimeout(timer);
  subscription.dispose();
}
