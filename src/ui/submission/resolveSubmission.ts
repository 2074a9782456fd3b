import * as vscode from 'vscode';
import { asDiskError, onDisk } from '../../core/base/diskError.ts';
import type { RunDetail } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import type { ReconcileResult } from '../../core/submission/reconciler.ts';
import { isUncertain, uncertaintyOf } from '../../core/submission/reconcilePolicy.ts';
import {
  canCheck,
  canContinue,
  canDiscard,
  isCancellable,
  type PendingSubmission,
} from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { showInformation, showWarning, withCancellableProgress } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { pick, type Choice } from '../shared/steps.ts';
import { confirmSubmission } from './confirmSubmission.ts';
import {
  factRows,
  moneySentence,
  resolveMessages,
  submissionDescription,
  submissionMessages,
  submissionName,
} from './messages.ts';
import { presetOf, reportResult, withSubmissionProgress, type ReportFoundRun } from './submissionResult.ts';

type Parts = Pick<Services, 'ensureActiveAccount' | 'log' | 'sessions' | 'submitted' | 'submitter'> & {
  reportFoundRun: ReportFoundRun;
};

/** What a check of this moment came to; `failure` if it failed. */
interface Checked {
  finding?: ReconcileResult | undefined;
  failure?: string;
}

/** What the user decided in the dialog; `stay` does nothing. */
type Decision = 'check' | 'cancel' | 'continue' | 'discard' | 'stay' | { run: RunDetail };

/**
 * Shows what is known of an open submission, the money first, and does what the user decides. What may have been charged is
 * checked first. Nothing is sent before the last question.
 * @param argument its row or id; without one, the user chooses
 * @param action `continue` to begin with the last question, or with the steps for a refused one
 * @throws StorageError, LeaseUnavailableError, ApiError
 */
export async function resolveSubmission(parts: Parts, argument?: unknown, action?: unknown): Promise<void> {
  const { ensureActiveAccount, reportFoundRun, sessions, submitted, submitter } = parts;
  const chosen = await chooseSubmission(parts, argument);
  if (chosen === undefined) return;
  const { id, accountId, intent } = chosen;
  const session = sessions.find(accountId);
  if (session === undefined) {
    // It says that the account is signed out.
    await ensureActiveAccount(accountId);
    return;
  }
  const find = () => submitter.pending.find((one) => one.id === id);
  if (action === 'continue' && canContinue(chosen, Date.now())) {
    if ((await continueSubmission(parts, chosen)) !== 'back') return;
  }
  let checked = await check(parts, session, chosen);
  for (;;) {
    if (checked.finding?.verdict === 'charged') {
      const { run } = checked.finding;
      await reportFoundRun(run, intent, session);
      submitted.fire({ runId: run.run_id });
      return;
    }
    const submission = find();
    if (submission === undefined) {
      void showInformation(submissionMessages.resolved());
      return;
    }
    const decision = await ask(session, submission, checked);
    // Meanwhile another window may have resolved it.
    const now = find() ?? submission;
    switch (decision) {
      case undefined:
        return;
      case 'check':
        checked = await check(parts, session, now);
        break;
      case 'continue':
        if ((await continueSubmission(parts, now)) !== 'back') return;
        break;
      case 'cancel':
        cancel(submitter, now);
        return;
      case 'discard':
        if (canDiscard(now) && (await discard(submitter, now))) return;
        break;
      case 'stay':
        break;
      default:
        if (await adopt(parts, session, now, decision.run)) return;
    }
  }
}

/**
 * Cancels an upload before it is complete; the command that started it reports the result. Without a row it is the only
 * upload, or the one that the user picks: VS Code does not always pass the row whose button was pressed.
 */
export async function cancelUpload(
  { sessions, submitter }: Pick<Services, 'sessions' | 'submitter'>,
  argument?: unknown,
): Promise<void> {
  const given = submissionIdOf(argument);
  const { pending } = submitter;
  if (given !== undefined) {
    const submission = pending.find(({ id }) => id === given);
    if (submission !== undefined) cancel(submitter, submission);
    return;
  }
  const uploads = pending.filter(isCancellable);
  const [only] = uploads;
  if (only === undefined) {
    void showInformation(submissionMessages.noUpload());
    return;
  }
  // It may have been meant for one whose upload has just been completed.
  const isClear = uploads.length === 1 && pending.every(({ state }) => state !== 'validating');
  const chosen = isClear ? only : await pickSubmission(uploads, sessions);
  if (chosen !== undefined) cancel(submitter, chosen);
}

function cancel(submitter: Services['submitter'], { id, intent }: PendingSubmission): void {
  if (submitter.cancel(id)) return;
  const isLate = submitter.pending.find((one) => one.id === id)?.state === 'validating';
  void showInformation(
    isLate ? submissionMessages.tooLate(intent.dataset.filename) : submissionMessages.noUpload(),
  );
}

/** The submission that a command was called with: its row, or its id. */
export function submissionIdOf(argument: unknown): string | undefined {
  const id = typeof argument === 'object' && argument !== null && 'id' in argument ? argument.id : argument;
  return typeof id === 'string' ? id : undefined;
}

async function chooseSubmission(
  { sessions, submitter: { pending } }: Parts,
  argument: unknown,
): Promise<PendingSubmission | undefined> {
  const given = submissionIdOf(argument);
  if (given !== undefined) {
    const found = pending.find(({ id }) => id === given);
    if (found === undefined) void showInformation(submissionMessages.resolved());
    return found;
  }
  const reachable = pending.filter(({ accountId }) => sessions.find(accountId) !== undefined);
  if (reachable.length > 1) return pickSubmission(reachable, sessions);
  if (reachable.length === 0)
    void showInformation(
      pending.length === 0 ? submissionMessages.noneOpen() : submissionMessages.onlySignedOut(),
    );
  return reachable[0];
}

async function pickSubmission(
  submissions: readonly PendingSubmission[],
  sessions: Services['sessions'],
): Promise<PendingSubmission | undefined> {
  const otherAccount = (accountId: string) =>
    accountId === sessions.active?.account.id
      ? undefined
      : (sessions.find(accountId)?.account.name ?? resolveMessages.signedOut());
  const answer = await pick<PendingSubmission>(
    { title: resolveMessages.choose(), step: 1, totalSteps: 1 },
    {
      placeholder: resolveMessages.which(),
      items: submissions.map((one) => ({
        label: submissionName(one.intent),
        description: submissionDescription(one, Date.now(), otherAccount(one.accountId)),
        value: one,
      })),
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Checks what may have been charged; if the user stops waiting, what is known so far is shown. */
async function check(
  { log, submitter }: Parts,
  session: Session,
  submission: PendingSubmission,
): Promise<Checked> {
  if (!canCheck(submission) && submission.state !== 'checking') return {};
  try {
    const title = submissionMessages.checking(submissionName(submission.intent));
    const finding = await withCancellableProgress(title, (signal) =>
      submitter.check(session, submission.id, signal),
    );
    return { finding };
  } catch (error) {
    if (error instanceof CancelledError) return {};
    log.error('not-checked', error);
    return { failure: asText(explain(asDiskError(error, 'submissions'))) };
  }
}

async function ask(
  { account, models }: Session,
  submission: PendingSubmission,
  { finding, failure }: Checked,
): Promise<Decision | undefined> {
  const { intent, state } = submission;
  const nowMs = Date.now();
  const uncertain = finding?.verdict === 'cannot-tell' ? finding : undefined;
  const isChecked = state === 'unknown' && intent.lastLook !== undefined;
  const facts = factRows(
    {
      submission,
      account,
      modelName: models.nameOf(intent.model_id),
      uncertainty: uncertain?.reason ?? (isChecked ? uncertaintyOf(intent) : undefined),
      againAtMs: uncertain?.againAtMs,
      failure,
    },
    nowMs,
  );
  const candidates = state === 'unknown' ? (uncertain?.candidates ?? []) : [];
  const actions = actionRows(submission, candidates, nowMs);
  const separator = (label: string) =>
    ({ label, kind: vscode.QuickPickItemKind.Separator }) as Choice<Decision>;
  const answer = await pick<Decision>(
    { title: resolveMessages.title(intent.dataset.filename), step: 1, totalSteps: 1 },
    {
      placeholder: moneySentence(submission, nowMs),
      items: [
        ...(actions.length === 0 ? [] : [separator(resolveMessages.actions()), ...actions]),
        separator(resolveMessages.known()),
        ...facts.map(({ icon, name, value }) => ({
          icon,
          label: name,
          description: value,
          value: 'stay' as const,
        })),
      ],
      stays: (value) => value === 'stay',
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** What costs nothing comes first, so that pressing Enter sends and discards nothing. */
function actionRows(
  submission: PendingSubmission,
  candidates: readonly RunDetail[],
  nowMs: number,
): Choice<Decision>[] {
  const { intent, state } = submission;
  const isUnknown = state === 'unknown';
  const row = (icon: string, label: string, detail: string, value: Decision): Choice<Decision> => ({
    icon,
    label,
    detail,
    value,
  });
  const rows: Choice<Decision>[] = [];
  if (canCheck(submission))
    rows.push(row('search', submissionMessages.checkNow(), resolveMessages.checkDetail(), 'check'));
  for (const run of candidates) {
    const facts = resolveMessages.runDetail(run, intent.balanceBefore?.currency);
    rows.push(row('pass', resolveMessages.run(run), facts, { run }));
  }
  if (isCancellable(submission))
    rows.push(row('close', resolveMessages.cancel(), resolveMessages.cancelDetail(), 'cancel'));
  if (canContinue(submission, nowMs))
    rows.push(
      canCheck(submission)
        ? row('play', submissionMessages.resend(), resolveMessages.resendDetail(), 'continue')
        : row(
            'play',
            submissionMessages.continue(),
            resolveMessages.continueDetail(state === 'refused'),
            'continue',
          ),
    );
  if (canDiscard(submission))
    rows.push(row('trash', resolveMessages.discard(), resolveMessages.discardDetail(isUnknown), 'discard'));
  return rows;
}

/** Sends the same bytes again with the same Idempotency-Key, after the last question; a refused one goes through the steps. */
async function continueSubmission(
  parts: Parts,
  { id, accountId }: PendingSubmission,
): Promise<'back' | undefined> {
  const { ensureActiveAccount, sessions, submitter } = parts;
  if (!(await ensureActiveAccount(accountId))) return undefined;
  const session = sessions.find(accountId);
  // The question may have waited: what is said of the money is what is true now.
  const submission = submitter.pending.find((one) => one.id === id);
  if (session === undefined || submission === undefined) return undefined;
  const { intent, state } = submission;
  const { dataset, model_id, priority_processing } = intent;
  if (state === 'refused') {
    const preset = { ...presetOf(intent), replaces: id };
    const file = vscode.Uri.file(dataset.path);
    await vscode.commands.executeCommand(COMMANDS.submitDataset, file, undefined, preset);
    return undefined;
  }
  const { account, models, balance } = session;
  const answer = await confirmSubmission({
    account,
    dataset,
    model: models.models?.find((model) => model.model_id === model_id) ?? { name: models.nameOf(model_id) },
    priority: priority_processing,
    balance: balance.current,
    resent: state === 'unsent' || state === 'not-charged' ? state : 'unknown',
  });
  if (answer !== 'submit') return answer;
  const { result } = await withSubmissionProgress(session, intent, (signal) =>
    submitter.resume(session, id, signal),
  );
  await reportResult(result, id, intent, session, parts);
  return undefined;
}

/** @returns whether it was decided */
async function discard(
  submitter: Services['submitter'],
  { id, intent }: PendingSubmission,
): Promise<boolean> {
  const name = submissionName(intent);
  const yes = resolveMessages.discardYes();
  const mayBeCharged = isUncertain(intent);
  const detail = resolveMessages.discardWarning(mayBeCharged);
  const choice = await showWarning(resolveMessages.discardQuestion(name), { modal: true, detail }, yes);
  if (choice !== yes) return false;
  const confirmed = mayBeCharged ? 'may-be-charged' : 'not-charged';
  if (await onDisk(submitter.discard(id, confirmed), 'submissions')) return true;
  const now = submitter.pending.find((one) => one.id === id);
  // It may have been charged meanwhile: the user decides again, with what is known now.
  if (now !== undefined && now.state !== 'elsewhere') return false;
  void showInformation(submissionMessages.elsewhere(name));
  return true;
}

/** Settles a submission with the run that the user recognized. @returns whether it was decided */
async function adopt(
  { reportFoundRun, submitted, submitter }: Parts,
  session: Session,
  { id, intent }: PendingSubmission,
  run: RunDetail,
): Promise<boolean> {
  const name = submissionName(intent);
  const yes = resolveMessages.isRunYes();
  const facts = resolveMessages.runDetail(run, session.balance.current?.currency);
  const choice = await showWarning(
    resolveMessages.isRun(name),
    { modal: true, detail: resolveMessages.isRunDetail(run, facts) },
    yes,
  );
  if (choice !== yes) return false;
  if (await onDisk(submitter.adopt(session, id, run.run_id), 'submissions')) {
    await reportFoundRun(run, intent, session);
    submitted.fire({ runId: run.run_id });
  } else void showInformation(submissionMessages.elsewhere(name));
  return true;
}
