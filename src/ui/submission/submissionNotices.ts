import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Session } from '../../core/runs/session.ts';
import { mayBeCharged } from '../../core/submission/intent.ts';
import { canCheck, canContinue, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notify, showInformation } from '../shared/notifications.ts';
import {
  leftOpenSentence,
  noChargeFoundSentence,
  submissionMessages,
  warnMayBeCharged,
} from './resultMessages.ts';
import { submissionName } from './rowMessages.ts';
import type { ReportFoundRun } from './submissionResult.ts';

/** How often it is asked whether a check is due. */
const ASK_MS = 30_000;
/** For so long the window that got an answer may be about to report the charge. */
const REPORTING_MS = 10_000;
/** How long a warning about what an earlier window left open waits for the first check. */
const FIRST_CHECK_MS = 5_000;

type Parts = Pick<Services, 'sessions' | 'submitter' | 'journal'> & { reportFoundRun: ReportFoundRun };

/**
 * Has the open submissions of all accounts checked, each with its own session, while the service answers, and notifies the
 * user about what came of them, what an earlier window left open, and charges that it could not report. Nothing is sent.
 */
export class SubmissionNotices implements Disposable {
  readonly #parts: Parts;
  readonly #subscriptions: Disposable[];
  readonly #checking = new Set<string>();
  /** What earlier windows left open and the user was not yet notified of: the submissions of each account. */
  readonly #leftOpen = new Map<string, string[]>();
  #firstCheck: NodeJS.Timeout | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { sessions, submitter } = parts;
    const asking = setInterval(() => this.#checkAll(), ASK_MS);
    asking.unref();
    this.#subscriptions = [
      { dispose: () => clearInterval(asking) },
      followActive(sessions, (session) => this.#follow(session)),
      sessions.onDidChangeState(({ session }) => void this.#check(session)),
      submitter.onDidChange(({ accountId, state }) => {
        if (state === 'unknown') void this.#check(sessions.find(accountId));
      }),
    ];
  }

  /** Called when the journal was read: what is open now, an earlier window left open. Never rejects. */
  async start(): Promise<void> {
    const { sessions, submitter } = this.#parts;
    void this.#reportUnreported();
    // Another window may be sending one at this moment.
    await submitter.probe();
    for (const { id, accountId, state } of submitter.pending) {
      if (state !== 'unknown' && state !== 'checking' && state !== 'unsent') continue;
      this.#leftOpen.set(accountId, [...(this.#leftOpen.get(accountId) ?? []), id]);
    }
    this.#planLeftOpen(sessions.active);
    this.#checkAll();
  }

  dispose(): void {
    clearTimeout(this.#firstCheck);
    clearTimeout(this.#later);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #follow(session: Session | undefined): Disposable[] | undefined {
    this.#planLeftOpen(session);
    this.#checkAll();
    return session && [session.runs.onDidChange(() => void this.#settleMarked(session))];
  }

  #checkAll(): void {
    const { sessions, submitter } = this.#parts;
    for (const accountId of new Set(submitter.pending.map((one) => one.accountId)))
      void this.#check(sessions.find(accountId));
  }

  #find(id: string): PendingSubmission | undefined {
    return this.#parts.submitter.pending.find((pending) => pending.id === id);
  }

  /** Once the label of its run was read, no check is needed. Never rejects. */
  async #settleMarked(session: Session): Promise<void> {
    const { submitter } = this.#parts;
    const open = submitter.pending.filter((one) => one.accountId === session.account.id && canCheck(one));
    if (open.length === 0) return;
    await submitter.settleMarked(session);
    for (const submission of open) await this.#reportFound(session, submission);
  }

  /** Never rejects. */
  async #check(session: Session | undefined): Promise<void> {
    const { sessions, submitter } = this.#parts;
    if (session === undefined) return;
    const { id } = session.account;
    // Whether the service answers is known of the active account; of the others nothing else asks.
    const mayAsk = session === sessions.active ? session.state === 'ready' : !session.isLocked;
    if (!mayAsk || this.#checking.has(id)) return;
    const unknown = submitter.pending.filter((one) => one.accountId === id && one.state === 'unknown');
    if (unknown.length === 0) return;
    this.#checking.add(id);
    try {
      await submitter.checkDue(session);
    } finally {
      this.#checking.delete(id);
    }
    if (session === sessions.active) this.#reportLeftOpen(session);
    for (const submission of unknown) {
      this.#reportNotCharged(session, submission.id);
      await this.#reportFound(session, submission);
    }
  }

  #reportNotCharged({ account }: Session, id: string): void {
    const now = this.#find(id);
    if (now?.state !== 'not-charged') return;
    const text = noChargeFoundSentence(submissionName(now.intent), account.kind === 'sandbox');
    const resend = () => vscode.commands.executeCommand(COMMANDS.continueSubmission, id);
    const isLate = !canContinue(now, Date.now());
    notify(showInformation, text, isLate ? {} : { [submissionMessages.resend()]: resend });
  }

  /** Reports the run by which a check settled a submission; what the user did about it was reported there. */
  async #reportFound(session: Session, { id, intent }: PendingSubmission): Promise<void> {
    const { journal, reportFoundRun } = this.#parts;
    if (this.#find(id) !== undefined) return;
    const receipts = await journal.receipts().catch(() => []);
    const settled = receipts.find((receipt) => receipt.id === id)?.settled;
    if (settled?.kind !== 'charged' || settled.how !== 'found') return;
    if (await journal.claimNotice(settled.run.run_id)) await reportFoundRun(settled.run, intent, session);
  }

  /** Charges that an earlier window could not report. Never rejects. */
  async #reportUnreported(): Promise<void> {
    const { journal, reportFoundRun, sessions } = this.#parts;
    for (const { settled, ...intent } of await journal.unreported().catch(() => [])) {
      const session = sessions.find(intent.accountId);
      if (session === undefined) continue;
      if (Math.abs(Date.now() - settled.at.localMs) < REPORTING_MS) {
        clearTimeout(this.#later);
        this.#later = setTimeout(() => void this.#reportUnreported(), REPORTING_MS);
      } else if (await journal.claimNotice(settled.run.run_id))
        await reportFoundRun(settled.run, intent, session);
    }
  }

  /** At once, or after the first check of what may have been charged: whoever reads that a run was found needs no warning. */
  #planLeftOpen(session: Session | undefined): void {
    clearTimeout(this.#firstCheck);
    const ids = session && this.#leftOpen.get(session.account.id);
    if (session === undefined || ids === undefined) return;
    if (ids.every((id) => this.#find(id)?.state === 'unsent')) this.#reportLeftOpen(session);
    else this.#firstCheck = setTimeout(() => this.#reportLeftOpen(session), FIRST_CHECK_MS);
  }

  /** Once for each account, when it is the active one. */
  #reportLeftOpen(session: Session): void {
    clearTimeout(this.#firstCheck);
    const { account } = session;
    const ids = this.#leftOpen.get(account.id) ?? [];
    this.#leftOpen.delete(account.id);
    const open = ids.flatMap((id) => this.#find(id) ?? []);
    const unsent = open.filter(({ state }) => state === 'unsent');
    const unknown = open.filter(
      ({ state, intent }) =>
        state === 'unknown' || state === 'checking' || (state === 'elsewhere' && mayBeCharged(intent)),
    );
    const isUnknown = unknown.length > 0;
    const [first, ...others] = isUnknown ? unknown : unsent;
    if (first === undefined) return;
    const text = leftOpenSentence([first.intent, ...others.map(({ intent }) => intent)], isUnknown, session);
    // If there are several, the user chooses.
    const id = others.length === 0 ? first.id : undefined;
    const resume = () => vscode.commands.executeCommand(COMMANDS.continueSubmission, id);
    if (isUnknown) warnMayBeCharged(text, id);
    else notify(showInformation, text, { [submissionMessages.continue()]: resume });
  }
}
