import * as vscode from 'vscode';
import { watchLockOf } from '../../core/accounts/account.ts';
import { DisposableStore } from '../../core/base/disposable.ts';
import type { Session } from '../../core/runs/session.ts';
import { Lease } from '../../core/storage/lease.ts';
import { mayBeCharged, type ChargedReceipt } from '../../core/submission/intent.ts';
import { canCheck, canContinue, type FoundRun } from '../../core/submission/pendingSubmission.ts';
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
import type { ReportFoundRun } from './submissionResult.ts';

/** How long an overdue check waits: the account's quota was used up, or another window is checking. */
const OVERDUE_MS = 5_000;
/** The longest wait for the next check, since timers stop while the machine sleeps. */
const LONGEST_WAIT_MS = 60_000;
/** How long after a charge the window that got the response, or found the run, may still report it. */
const REPORTING_MS = 10_000;
/** How long the warning about submissions left open by an earlier window waits for the first check. */
const FIRST_CHECK_MS = 5_000;

type Parts = Pick<Services, 'journal' | 'runsFolder' | 'sessions' | 'submitter'> & {
  reportFoundRun: ReportFoundRun;
};

/**
 * Checks the open submissions of all accounts when due, each with its own session, while the service responds. Notifies the user of the
 * results, of submissions that an earlier window left open, and of charges that it could not report. Sends nothing.
 */
export function watchSubmissions({ sessions, submitter, journal, runsFolder, reportFoundRun }: Parts) {
  const store = new DisposableStore();
  /** The accounts whose submissions are being checked. */
  const checking = new Set<string>();
  /** By account: the submissions that earlier windows left open and that the user was not yet notified of. */
  const leftOpen = new Map<string, string[]>();
  let firstCheck: NodeJS.Timeout | undefined;
  let later: NodeJS.Timeout | undefined;
  let nextCheck: NodeJS.Timeout | undefined;

  /** The sessions of accounts with open submissions. */
  const openSessions = () =>
    [...new Set(submitter.pending.map(({ accountId }) => accountId))].flatMap(
      (accountId) => sessions.find(accountId) ?? [],
    );
  const find = (id: string) => submitter.pending.find((pending) => pending.id === id);

  /** Reports the runs of submissions that a check or a label settled. */
  const reportFound = (session: Session, found: readonly FoundRun[]) => {
    for (const { intent, run } of found) void reportFoundRun(run, intent, session);
  };

  const reportNotCharged = ({ account, keyId }: Session, id: string) => {
    const now = find(id);
    if (now?.state !== 'not-charged') return;
    const text = noChargeFoundSentence(now.intent, account.kind === 'sandbox');
    const resend = () => vscode.commands.executeCommand(COMMANDS.continueSubmission, id);
    const isPossible = canContinue(now, Date.now(), keyId);
    notify(showInformation, text, isPossible ? { [submissionMessages.resend()]: resend } : {});
  };

  /** Reports charges that no other window has reported, such as one that was killed. Never rejects. */
  const reportUnreported = async () => {
    const report = async ({ settled, ...intent }: ChargedReceipt) => {
      const session = sessions.find(intent.accountId);
      if (session !== undefined && Math.abs(Date.now() - settled.at.localMs) < REPORTING_MS) return false;
      if (session !== undefined) await reportFoundRun(settled.run, intent, session);
      return true;
    };
    const reported = await journal.reportAlone(async () =>
      Promise.all((await journal.unreported().catch(() => [])).map(report)),
    );
    if (reported?.every(Boolean) !== true) reportLater();
  };
  const reportLater = () => {
    clearTimeout(later);
    if (!store.disposed) later = setTimeout(() => void reportUnreported(), REPORTING_MS);
  };

  /** Notifies the user of submissions left open, once per account, when it is active. */
  const reportLeftOpen = (session: Session) => {
    clearTimeout(firstCheck);
    const { id: accountId } = session.account;
    const open = (leftOpen.get(accountId) ?? []).flatMap((id) => find(id) ?? []);
    leftOpen.delete(accountId);
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
  };

  /** Reports at once, or after the first check if any may have been charged: a found run needs no warning. */
  const planLeftOpen = (session: Session | undefined) => {
    clearTimeout(firstCheck);
    const ids = session && leftOpen.get(session.account.id);
    if (session === undefined || ids === undefined) return;
    if (ids.every((id) => find(id)?.state === 'unsent')) reportLeftOpen(session);
    else firstCheck = setTimeout(() => reportLeftOpen(session), FIRST_CHECK_MS);
  };

  /**
   * Only the window that polls an account may send it automatic requests. If this window shows another account, it takes that
   * role while it checks, unless a window that shows the account has it. Never rejects.
   */
  const checkDue = async (session: Session) => {
    if (session === sessions.active) return submitter.checkDue(session);
    // Without locks, each window polls for itself.
    const lease = await Lease.take(watchLockOf(runsFolder, session.account.id), 1).catch(() => null);
    if (lease === undefined) return [];
    session.quota.open(false);
    const found = await submitter.checkDue(session);
    session.quota.close();
    lease?.release();
    return found;
  };

  /** Plans the next check of any account. */
  const planCheck = () => {
    clearTimeout(nextCheck);
    if (store.disposed) return;
    const able = openSessions().filter(({ isLocked }) => !isLocked);
    const leftMs = Math.min(...able.map(({ account }) => submitter.nextCheckMs(account.id))) - Date.now();
    if (leftMs === Infinity) return;
    const waitMs = leftMs <= 0 ? OVERDUE_MS : Math.min(leftMs, LONGEST_WAIT_MS);
    nextCheck = setTimeout(checkAll, waitMs).unref();
  };

  /** Never rejects. */
  const check = async (session: Session | undefined) => {
    if (session === undefined) return;
    const { id } = session.account;
    // Only the active account's state shows whether the service responds; nothing polls the others.
    const mayCheck = session === sessions.active ? session.state === 'ready' : !session.isLocked;
    if (!mayCheck || checking.has(id) || submitter.nextCheckMs(id) > Date.now()) return;
    const unknown = submitter.pending.filter((one) => one.accountId === id && one.state === 'unknown');
    checking.add(id);
    try {
      reportFound(session, await checkDue(session));
    } finally {
      checking.delete(id);
    }
    planCheck();
    // If it is still due, the window that polls the account checks it.
    if (session === sessions.active && submitter.nextCheckMs(id) > Date.now()) reportLeftOpen(session);
    for (const submission of unknown) reportNotCharged(session, submission.id);
  };
  const checkAll = () => {
    for (const session of openSessions()) void check(session);
    planCheck();
  };

  /** Settles submissions whose run's label was read, which makes a check unnecessary. Never rejects. */
  const settleMarked = async (session: Session) => {
    const isNeeded = submitter.pending.some((one) => one.accountId === session.account.id && canCheck(one));
    if (isNeeded) reportFound(session, await submitter.settleMarked(session));
  };

  for (const one of [
    {
      dispose() {
        clearTimeout(nextCheck);
        clearTimeout(firstCheck);
        clearTimeout(later);
      },
    },
    followActive(sessions, (session) => {
      planLeftOpen(session);
      checkAll();
      return session && [session.runs.onDidChange(() => void settleMarked(session))];
    }),
    sessions.onDidChangeState(({ session }) => void check(session)),
    submitter.onDidChange(({ id, accountId, state }) => {
      // The window that settled it may have been killed.
      if (find(id) === undefined) reportLater();
      if (state !== 'unknown') return;
      void check(sessions.find(accountId));
      planCheck();
    }),
  ])
    store.add(one);

  return {
    /** Called when the journal was read: what is open now was left open by an earlier window. Never rejects. */
    async start(): Promise<void> {
      void reportUnreported();
      // Another window may be sending one right now.
      await submitter.probe();
      for (const { id, accountId, state } of submitter.pending)
        if (state === 'unknown' || state === 'checking' || state === 'unsent')
          leftOpen.set(accountId, [...(leftOpen.get(accountId) ?? []), id]);
      planLeftOpen(sessions.active);
      checkAll();
    },
    dispose: () => store.dispose(),
  };
}
