import { l10n } from 'vscode';
import type { RunCreation } from '../../core/api/types.ts';
import { assertSameDataset } from '../../core/api/dataset.ts';
import { asDiskError } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { moneyOf } from '../../core/money/accountMoney.ts';
import { parametersOf } from '../../core/money/estimate.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Intent } from '../../core/submission/intent.ts';
import {
  canContinue,
  canDiscard,
  type PendingSubmission,
  type CheckResult,
} from '../../core/submission/pendingSubmission.ts';
import { isPastBoundary, stageOf, type Stage, type Situation } from '../../core/submission/stage.ts';
import type { Services } from '../../services.ts';
import { checkingChargeTitle, waitSentence } from '../shared/chargeText.ts';
import type { CommandResult } from '../shared/commands.ts';
import { withLateProgress } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import type { ReportFoundRun } from './chargeReport.ts';
import { findSubmission } from './chooseSubmission.ts';
import { confirmSubmission } from './confirmSubmission.ts';
import { datasetPlaceOf } from './datasetPlace.ts';
import { readReviewFacts } from './readFacts.ts';
import { showUnanswered } from './notSent.ts';
import { continueWithDataset, startAnew } from './submitAgain.ts';
import { presetOf } from './preset.ts';
import { showEnd, showResult, withSubmissionProgress } from './submissionResult.ts';

/** What resolving an open submission needs. */
export type ResolveParts = Pick<
  Services,
  'ensureActiveAccount' | 'journal' | 'log' | 'sandboxFault' | 'sessions' | 'submissions'
> & {
  showFoundRun: ReportFoundRun;
};

/** The result of the latest check, or why it failed; empty if there was none. */
export interface Checked {
  finding?: CheckResult | undefined;
  error?: unknown;
}

/** Checks whether a submission was charged. If the user stops waiting, the dialog shows what is known so far. */
export async function checkSubmission(
  { log, submissions }: Pick<ResolveParts, 'log' | 'submissions'>,
  session: Session,
  { id, intent }: PendingSubmission,
): Promise<Checked> {
  try {
    return { finding: await whileChecking(intent, (signal) => submissions.check(session, id, signal)) };
  } catch (error) {
    if (!(error instanceof CancelledError)) log.error('not-checked', error);
    return { error: asDiskError(error, 'submissions') };
  }
}

/** Shows that a submission's run is looked for, if that takes long. */
export function whileChecking<T>(intent: Intent, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withLateProgress(checkingChargeTitle(intent), work);
}

/** Why a submission can't be resent. */
const RESEND_OBSTACLES: Readonly<Record<NonNullable<Stage['obstacle']>, string>> = {
  'key-replaced': l10n.t('It was first sent with another API key.'),
  'too-late': l10n.t('More than 23 hours have passed: you could be charged twice.'),
};

/** What is known besides a record about whether it may be sent now. */
export function situationOf({ clockSkewMs, keyId }: Pick<Session, 'clockSkewMs' | 'keyId'>): Situation {
  return { nowMs: Date.now(), keyId, clockSkewMs };
}

/**
 * Returns why an open submission can't be sent again; undefined if it can. A refused one starts again with
 * the file as it is, and so does an unsent one with an obstacle. Reads the file only if it was written to
 * since.
 */
export async function obstacleOf(
  submission: PendingSubmission,
  session: Pick<Session, 'clockSkewMs' | 'keyId' | 'longWaitUntilMs'>,
): Promise<string | undefined> {
  const { intent, state } = submission;
  if (state === 'refused' || state === 'stopped' || !canDiscard(submission)) return undefined;
  const stage = stageOf(intent, situationOf(session));
  const { obstacle, busyUntilMs } = stage;
  if (obstacle !== undefined && isPastBoundary(stage)) return RESEND_OBSTACLES[obstacle];
  const untilMs = busyUntilMs ?? session.longWaitUntilMs;
  if (untilMs !== undefined) return waitSentence(untilMs);
  if (obstacle !== undefined) return undefined;
  const { dataset } = intent;
  try {
    const title = l10n.t('Comparing {0} with what was submitted', dataset.filename);
    await withLateProgress(title, (signal) => assertSameDataset(dataset, signal));
    return undefined;
  } catch (error) {
    // If the comparison is canceled or fails, the upload compares the file anyway.
    return error instanceof CancelledError ? undefined : asText(explain(error));
  }
}

/**
 * Resends the same bytes with the same Idempotency-Key after the final question; a refused submission repeats
 * the steps. Reads the current state first: a notification or a dialog may have been open for long.
 * @returns the end of the command; undefined if the dialog of the submission is to be shown
 */
export async function continueSubmission(
  parts: ResolveParts,
  id: string,
): Promise<CommandResult | undefined> {
  const { ensureActiveAccount, sessions, submissions } = parts;
  const find = () => findSubmission(submissions, id);
  const asked = find();
  if (asked !== undefined && !(await ensureActiveAccount(asked.accountId)))
    return { outcome: 'cancelled', id };
  const submission = find();
  if (submission === undefined) return showEnd(id, parts, true);
  const { accountId, intent, state } = submission;
  const session = sessions.find(accountId);
  if (session === undefined) return { outcome: 'unavailable', id };
  if (!canContinue(submission, Date.now(), session)) return undefined;
  const { dataset, model_id } = intent;
  if (state === 'refused')
    return continueWithDataset(
      dataset,
      { ...presetOf(intent), replacesRefused: id, accountId },
      session.account,
    );
  // Then a possible charge can't be resent.
  if (stageOf(intent, situationOf(session)).obstacle !== undefined)
    return beginAnew(parts, session, submission);
  const end = state === 'stopped' ? await lookFirst(parts, session, submission) : undefined;
  if (end !== undefined) return end;
  if ((await obstacleOf(find() ?? submission, session)) !== undefined) return undefined;
  // The consents need the provider and the policy from the list of models.
  const facts = await readReviewFacts(session, parts, state === 'unknown');
  if (facts === undefined) return { outcome: 'unavailable', id };
  const { models, balance } = session;
  const model = models.models?.find((one) => one.model_id === model_id) ?? { name: models.nameOf(model_id) };
  const place = await datasetPlaceOf(dataset.path);
  const answer = await confirmSubmission(() => {
    const resent = find();
    if (resent === undefined || !canContinue(resent, Date.now(), session)) return undefined;
    const { account } = session;
    // Count the cost of the resent submission only once.
    const others = submissions.pending.filter((one) => one.id !== id);
    return {
      account,
      dataset: { ...dataset, place },
      label: withoutMarker(intent.label ?? ''),
      model,
      wanted: parametersOf(intent),
      balance: balance.current,
      money: moneyOf(session, facts.receipts, others),
      resent,
    };
  });
  if (answer !== 'submit') return answer === 'back' ? undefined : { outcome: 'cancelled', id };
  const { result } = await withSubmissionProgress(session, intent, (signal) =>
    submissions.resume(session, id, signal),
  );
  return showResult(result, id, intent, session, parts);
}

/**
 * Looks for the run of an upload that stopped: until a look is answered, nothing is asked or sent.
 * @returns the end of the command; undefined to continue
 */
async function lookFirst(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
): Promise<CommandResult | undefined> {
  const { id, intent } = submission;
  const { finding, error } = await checkSubmission(parts, session, submission);
  if (finding?.verdict === 'charged') return showChargedRun(parts, session, intent, finding.run);
  return findSubmission(parts.submissions, id)?.state === 'stopped'
    ? endUnanswered(parts, session, submission, error)
    : undefined;
}

/** Ends a submission that can't be sent, after a look for its run, and begins a new one of its dataset. */
async function beginAnew(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
): Promise<CommandResult | undefined> {
  const { log, submissions } = parts;
  const { id, intent } = submission;
  try {
    const end = await whileChecking(intent, (signal) => submissions.withdraw(session, id, signal));
    if (end?.kind === 'charged') return showChargedRun(parts, session, intent, end.run);
    if (end?.kind === 'withdrawn') return await startAnew(intent, session.account);
    return await endUnanswered(parts, session, submission, undefined);
  } catch (error) {
    log.error('not-withdrawn', error);
    return endUnanswered(parts, session, submission, error);
  }
}

/**
 * Reports that no look was answered, or what another window does with the submission.
 * @returns the end of the command; undefined if it may be charged by now, as its dialog then says
 */
async function endUnanswered(
  parts: ResolveParts,
  session: Session,
  { id, intent }: PendingSubmission,
  error: unknown,
): Promise<CommandResult | undefined> {
  const now = findSubmission(parts.submissions, id);
  if (now === undefined || now.state === 'elsewhere') return showEnd(id, parts, true);
  if (isPastBoundary(stageOf(now.intent))) return undefined;
  showUnanswered({ id, draft: intent, error }, session, parts.sandboxFault.get());
  return { outcome: 'unknown', id };
}

/** Reports the run of a submission that a check found. @returns the end of the command */
export function showChargedRun(
  { showFoundRun }: Pick<ResolveParts, 'showFoundRun'>,
  session: Session,
  intent: Intent,
  run: RunCreation,
): CommandResult {
  void showFoundRun(run, intent, session);
  return { outcome: 'charged', id: run.run_id };
}
