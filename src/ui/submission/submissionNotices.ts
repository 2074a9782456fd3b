import { cacheFileOf } from '../../core/accounts/account.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive } from '../../core/runs/sessions.ts';
import {
  afterCheck,
  canDiscard,
  awaitsCheck,
  mayHaveBeenCharged,
  type FoundRun,
  type PendingSubmission,
} from '../../core/submission/pendingSubmission.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { ReportFoundRun } from './chargeReport.ts';
import { showState } from './showState.ts';
import { findSubmission, submissionKindOf, type Kind } from './submissionText.ts';

/** How long an overdue check waits: the quota is used up, or another window is checking. */
const OVERDUE_MS = 5_000;
/** The longest wait for the next check, since timers stop while the machine sleeps. */
const LONGEST_WAIT_MS = 60_000;
/** How long the window that learned of a charge has to report it itself. */
const REPORTING_MS = 10_000;
/** How long the notification of submissions that an earlier window left waits for the first check. */
const FIRST_CHECK_MS = 5_000;

/** Kinds that are reported if an earlier window left them, besides `unanswered`. */
const REPORTED: ReadonlySet<Kind> = new Set<Kind>(['sent', 'interrupted']);

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
  /** IDs of submissions that earlier windows left open, until the user was notified of them. */
  readonly #leftOpen = new Set<string>();
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
        return undefined;
      }),
      sessions.onDidChangeState(({ session }) => void this.#check(session)),
      submissions.onDidChange((one) => {
        // The window that ended it may have been killed.
        if (this.#find(one.id) === undefined) this.#showLater();
        if (!awaitsCheck(one)) return;
        void this.#check(sessions.find(one.accountId));
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
    for (const one of submissions.pending.map(afterCheck))
      // The user was already notified that a cleared one isn't charged.
      if (canDiscard(one) && one.submission.stage !== 'cleared') this.#leftOpen.add(one.id);
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
    return findSubmission(this.#parts.submissions, id);
  }

  /** Reports the runs of submissions that a check or a label found. */
  #showFound(session: Session, found: readonly FoundRun[]): void {
    for (const { submission, run } of found) void this.#parts.showFoundRun(run, submission, session);
  }

  /** Reports charges that no window has reported, perhaps because it was killed. Never rejects. */
  async #showUnreported(): Promise<void> {
    const { sessions, journal, showFoundRun } = this.#parts;
    const report = async (receipt: ChargedReceipt) => {
      const session = sessions.find(receipt.accountId);
      const { at, run } = receipt.charge;
      if (session !== undefined && Math.abs(Date.now() - at.localMs) < REPORTING_MS) return false;
      if (session !== undefined) await showFoundRun(run, receipt, session, 'earlier');
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
  #showLeftOpen(session: Session): void {
    clearTimeout(this.#firstCheck);
    const { account, state } = session;
    const own = this.#parts.submissions.pending.filter(({ accountId }) => accountId === account.id);
    for (const one of own.map(afterCheck)) {
      if (!this.#leftOpen.delete(one.id)) continue;
      const kind = submissionKindOf(one, Date.now());
      // If this window hasn't tried, another window is asking.
      const isMeant =
        kind === 'unanswered' ? one.hasLooked === true || state !== 'ready' : REPORTED.has(kind);
      if (isMeant) showState(one, session);
    }
  }

  /** Waits for the first check, which reports what it finds. */
  #planLeftOpen(session: Session | undefined): void {
    clearTimeout(this.#firstCheck);
    if (session !== undefined && this.#leftOpen.size > 0)
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
    const sent = submissions.pending.filter((one) => one.accountId === id && mayHaveBeenCharged(one));
    this.#checking.add(id);
    try {
      this.#showFound(session, await this.#checkDue(session));
    } finally {
      this.#checking.delete(id);
    }
    this.#planCheck();
    // Still due: another window is the account's reader, or no request is left.
    if (session === sessions.active && submissions.nextCheckMs(id) > Date.now()) this.#showLeftOpen(session);
    for (const now of sent.flatMap((one) => this.#find(one.id) ?? []))
      if (submissionKindOf(now, Date.now()) === 'cleared') showState(now, session);
  }

  /** Only one window repeats an account's checks, also those of an account that no window shows. Never rejects. */
  async #checkDue(session: Session): Promise<readonly FoundRun[]> {
    const { sessions, submissions, runsFolder } = this.#parts;
    const check = () => submissions.checkDue(session);
    if (session === sessions.active) return check();
    const file = cacheFileOf(runsFolder, session.account.id);
    const checked = import('../../core/runs/refresher.ts').then(({ asReader }) =>
      asReader(session, file, check),
    );
    // An update replaced the extension's files.
    return checked.catch(() => []);
  }
}
