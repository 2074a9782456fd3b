import { commands } from 'vscode';
import { watchLockOf } from '../../core/accounts/account.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { followActive } from '../../core/runs/sessions.ts';
import type { Session } from '../../core/runs/session.ts';
import { Lease } from '../../core/storage/lease.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import {
  canCheck,
  canContinue,
  type FoundRun,
  type PendingSubmission,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import { isPastBoundary, isUncertain, stageOf } from '../../core/submission/stage.ts';
import type { Services } from '../../services.ts';
import { clearedSentence, interruptedSentence } from '../shared/chargeText.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import type { ReportFoundRun } from './chargeReport.ts';
import { warnLeftUnknown } from './mayBeCharged.ts';
import { BUTTONS } from './submissionTexts.ts';

/** How long an overdue check waits: the quota is used up, or another window is checking. */
const OVERDUE_MS = 5_000;
/** The longest wait for the next check, since timers stop while the machine sleeps. */
const LONGEST_WAIT_MS = 60_000;
/** For how long the window that learned of a charge may still report it itself. */
const REPORTING_MS = 10_000;
/** How long the notification of submissions that an earlier window left waits for the first check. */
const FIRST_CHECK_MS = 5_000;

type Parts = Pick<Services, 'journal' | 'runsFolder' | 'sessions' | 'submissions'> & {
  showFoundRun: ReportFoundRun;
};

/**
 * Checks the open submissions of all accounts when due, each with its own session. Notifies the user of
 * results, of submissions that an earlier window left, and of unreported charges. Sends nothing.
 */
export class SubmissionNotices implements Disposable {
  readonly #parts: Parts;
  readonly #store = new DisposableStore();
  /** The accounts whose submissions are being checked. */
  readonly #checking = new Set<string>();
  /** By account: submissions that earlier windows left open, until the user was notified of them. */
  readonly #leftOpen = new Map<string, string[]>();
  #firstCheck: NodeJS.Timeout | undefined;
  #later: NodeJS.Timeout | undefined;
  #nextCheck: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { sessions, submissions } = parts;
    for (const one of [
      {
        dispose: () => {
          clearTimeout(this.#nextCheck);
          clearTimeout(this.#firstCheck);
          clearTimeout(this.#later);
        },
      },
      followActive(sessions, (session) => {
        this.#planLeftOpen(session);
        this.#checkAll();
        return session && [session.runs.onDidChange(() => void this.#settleMarked(session))];
      }),
      sessions.onDidChangeState(({ session }) => void this.#check(session)),
      submissions.onDidChange(({ id, accountId, state }) => {
        // The window that settled it may have been killed.
        if (this.#find(id) === undefined) this.#showLater();
        if (state !== 'unknown' && state !== 'stopped') return;
        void this.#check(sessions.find(accountId));
        this.#planCheck();
      }),
    ])
      this.#store.add(one);
  }

  /** Called when the journal was read: what is open now was left by an earlier window. Never rejects. */
  async start(): Promise<void> {
    const { sessions, submissions } = this.#parts;
    void this.#showUnreported();
    // Another window may be sending one right now.
    await submissions.probe();
    for (const { id, accountId, intent, state } of submissions.pending)
      // The user was already notified that a cleared one isn't charged.
      if (['unknown', 'checking', 'stopped', 'unsent'].includes(state) && stageOf(intent).name !== 'cleared')
        this.#leftOpen.set(accountId, [...(this.#leftOpen.get(accountId) ?? []), id]);
    this.#planLeftOpen(sessions.active);
    this.#checkAll();
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Returns the sessions of accounts with open submissions. */
  #openSessions(): Session[] {
    const { sessions, submissions } = this.#parts;
    return [...new Set(submissions.pending.map(({ accountId }) => accountId))].flatMap(
      (accountId) => sessions.find(accountId) ?? [],
    );
  }

  #find(id: string): PendingSubmission | undefined {
    return this.#parts.submissions.pending.find((pending) => pending.id === id);
  }

  /** Reports the runs of submissions that a check or a label settled. */
  #showFound(session: Session, found: readonly FoundRun[]): void {
    for (const { intent, run } of found) void this.#parts.showFoundRun(run, intent, session);
  }

  #showNotCharged(session: Session, id: string): void {
    const now = this.#find(id);
    if (now?.state !== 'not-charged') return;
    const text = inSandbox(clearedSentence(now.intent), session.account.kind === 'sandbox');
    const resend = () => commands.executeCommand(COMMANDS.continueSubmission, id);
    const isPossible = canContinue(now, Date.now(), session);
    notify(showInformation, text, isPossible ? { [BUTTONS.resend]: resend } : {});
  }

  /** Reports charges that no window has reported, perhaps because it was killed. Never rejects. */
  async #showUnreported(): Promise<void> {
    const { sessions, journal, showFoundRun } = this.#parts;
    const report = async ({ settled, ...intent }: ChargedReceipt) => {
      const session = sessions.find(intent.accountId);
      if (session !== undefined && Math.abs(Date.now() - settled.at.localMs) < REPORTING_MS) return false;
      if (session !== undefined) await showFoundRun(settled.run, intent, session, 'earlier');
      return true;
    };
    const reported = await journal.reportAlone(async () =>
      Promise.all((await journal.unreported().catch(() => [])).map(report)),
    );
    if (reported?.every(Boolean) !== true) this.#showLater();
  }

  #showLater(): void {
    clearTimeout(this.#later);
    if (!this.#store.disposed) this.#later = setTimeout(() => void this.#showUnreported(), REPORTING_MS);
  }

  /** Notifies the user once of submissions left open by an earlier window, when their account is active. */
  #showLeftOpen({ account, state: connection }: Session): void {
    clearTimeout(this.#firstCheck);
    const open = (this.#leftOpen.get(account.id) ?? []).flatMap((id) => this.#find(id) ?? []);
    this.#leftOpen.delete(account.id);
    const of = (...states: SubmissionState[]) => open.filter(({ state }) => states.includes(state));
    const isPast = ({ intent }: PendingSubmission) => isPastBoundary(stageOf(intent));
    const isBusy = ({ intent }: PendingSubmission) =>
      stageOf(intent, { nowMs: Date.now() }).busyUntilMs !== undefined;
    const unknown = of('unknown', 'checking', 'elsewhere').filter(isPast);
    const [first, ...others] = unknown.map(({ intent }) => intent);
    // If this window didn't look for its run, another window does.
    const wasAsked = ({ id }: PendingSubmission) =>
      connection !== 'ready' || this.#parts.submissions.wasTried(id);
    const unanswered = of('stopped', 'checking').filter((one) => !isPast(one) && wasAsked(one));
    if (first !== undefined) warnLeftUnknown([first, ...others], { account, state: connection });
    else if (unanswered.length > 0) showInterrupted(unanswered, 'stopped');
    else {
      // A notification has already said that the service asked to wait.
      const unsent = of('unsent').filter((one) => !isBusy(one));
      showInterrupted(unsent, 'unsent');
    }
  }

  /** Waits for the first check, which reports what it finds. */
  #planLeftOpen(session: Session | undefined): void {
    clearTimeout(this.#firstCheck);
    if (session !== undefined && this.#leftOpen.has(session.account.id))
      this.#firstCheck = setTimeout(() => this.#showLeftOpen(session), FIRST_CHECK_MS);
  }

  /** Plans the next check of any account. */
  #planCheck(): void {
    clearTimeout(this.#nextCheck);
    if (this.#store.disposed) return;
    const { submissions } = this.#parts;
    const able = this.#openSessions().filter(({ isLocked }) => !isLocked);
    const leftMs = Math.min(...able.map(({ account }) => submissions.nextCheckMs(account.id))) - Date.now();
    if (leftMs === Infinity) return;
    const waitMs = leftMs <= 0 ? OVERDUE_MS : Math.min(leftMs, LONGEST_WAIT_MS);
    this.#nextCheck = setTimeout(() => this.#checkAll(), waitMs).unref();
  }

  #checkAll(): void {
    for (const session of this.#openSessions()) void this.#check(session);
    this.#planCheck();
  }

  /** Never rejects. */
  async #check(session: Session | undefined): Promise<void> {
    if (session === undefined) return;
    const { sessions, submissions } = this.#parts;
    const { id } = session.account;
    // Only the active account's state shows whether the service responds; nothing polls the others.
    const mayCheck = session === sessions.active ? session.state === 'ready' : !session.isLocked;
    if (!mayCheck || this.#checking.has(id) || submissions.nextCheckMs(id) > Date.now()) return;
    const unknown = submissions.pending.filter(
      (one) => one.accountId === id && one.state === 'unknown' && isUncertain(stageOf(one.intent)),
    );
    this.#checking.add(id);
    try {
      this.#showFound(session, await this.#checkDue(session));
    } finally {
      this.#checking.delete(id);
    }
    this.#planCheck();
    // Still due: the window that polls the account checks it.
    if (session === sessions.active && submissions.nextCheckMs(id) > Date.now()) this.#showLeftOpen(session);
    for (const submission of unknown) this.#showNotCharged(session, submission.id);
  }

  /**
   * Only the window that polls an account may send its automatic requests. If this window shows another
   * account, it takes that role during a check, unless another window has it. Never rejects.
   */
  async #checkDue(session: Session): Promise<readonly FoundRun[]> {
    const { sessions, submissions, runsFolder } = this.#parts;
    if (session === sessions.active) return submissions.checkDue(session);
    // Without locks, each window polls for itself.
    const lease = await Lease.take(watchLockOf(runsFolder, session.account.id), 1).catch(() => null);
    if (lease === undefined) return [];
    session.quota.open(false);
    const found = await submissions.checkDue(session);
    session.quota.close();
    lease?.release();
    return found;
  }

  /** Settles submissions by labels that were read, which saves a check. Never rejects. */
  async #settleMarked(session: Session): Promise<void> {
    const { submissions } = this.#parts;
    const isNeeded = submissions.pending.some((one) => one.accountId === session.account.id && canCheck(one));
    if (isNeeded) this.#showFound(session, await submissions.settleMarked(session));
  }
}

/** Reports uploads that an earlier window left. @param state `stopped` if looks weren't answered */
function showInterrupted(submissions: readonly PendingSubmission[], state: 'stopped' | 'unsent'): void {
  const [first, ...others] = submissions;
  if (first === undefined) return;
  const text = interruptedSentence([first, ...others], state);
  // If there are several, the user chooses.
  const id = others.length === 0 ? first.id : undefined;
  const [show, button, command] =
    state === 'unsent'
      ? ([showInformation, BUTTONS.continue, COMMANDS.continueSubmission] as const)
      : ([showWarning, BUTTONS.checkNow, COMMANDS.resolveSubmission] as const);
  notify(show, inSandbox(text, first.intent.origin === 'sandbox'), {
    [button]: () => commands.executeCommand(command, id),
  });
}
