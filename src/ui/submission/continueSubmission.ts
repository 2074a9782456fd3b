import { l10n } from 'vscode';
import { assertSameDataset } from '../../core/api/dataset.ts';
import type { RunCreation } from '../../core/api/types.ts';
import { asDiskError, onDisk } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { moneyOf } from '../../core/money/accountMoney.ts';
import { parametersOf } from '../../core/money/estimate.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { earlierSubmissionsOf, isPast } from '../../core/submission/earlier.ts';
import {
  canContinue,
  canDiscard,
  type PendingSubmission,
  type CheckResult,
} from '../../core/submission/pendingSubmission.ts';
import { busyUntilMs, obstacleOf, type Situation } from '../../core/submission/stage.ts';
import { isRefused, isSent, type Submission } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { withLateProgress } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import type { ReportFoundRun } from './chargeReport.ts';
import { datasetPlaceOf } from './checkedDataset.ts';
import { confirmSubmission } from './confirmSubmission.ts';
import { OpenSubmissions } from './openSubmissions.ts';
import { readReviewFacts } from './review.ts';
import { showEnd, showResult, withSubmissionProgress, type EndParts } from './submissionResult.ts';
import { checkingTitle, findSubmission, waitSentence } from './submissionText.ts';
import { continueWithDataset, presetOf, startAnew } from './submitAgain.ts';

/** What resolving an open submission needs. */
export type ResolveParts = EndParts &
  Pick<Services, 'ensureActiveAccount' | 'log' | 'sandboxFault'> & { showFoundRun: ReportFoundRun };

/** The result of the latest check, or why it failed; empty if there was none. */
export interface Checked {
  finding?: CheckResult | undefined;
  error?: unknown;
}

/** Checks whether a submission was charged. If the user stops waiting, the dialog shows what is known so far. */
export async function checkSubmission(
  { log, submissions }: Pick<ResolveParts, 'log' | 'submissions'>,
  session: Session,
  { id, submission }: PendingSubmission,
): Promise<Checked> {
  try {
    return { finding: await whileChecking(submission, (signal) => submissions.check(session, id, signal)) };
  } catch (error) {
    if (!(error instanceof CancelledError)) log.error('not-checked', error);
    return { error: asDiskError(error, 'submissions') };
  }
}

/** Shows that a submission's run is looked for, if that takes long. */
export function whileChecking<T>(
  submission: Submission,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withLateProgress(checkingTitle(submission), work);
}

/** Why a submission is never sent again. */
const OBSTACLES: Readonly<Record<NonNullable<ReturnType<typeof obstacleOf>>, string>> = {
  'key-replaced': l10n.t('It was submitted with a different API key.'),
  'too-late': l10n.t('More than 23 hours have passed, so you could be charged twice.'),
};

/** What else decides whether a submission may be sent now. */
export function situationOf({ clockSkewMs, keyId }: Pick<Session, 'clockSkewMs' | 'keyId'>): Situation {
  return { nowMs: Date.now(), keyId, clockSkewMs };
}

/** Whether a new submission takes its place: it was refused, or is too old and its last bytes never left. */
export function beginsAnew(
  { submission }: PendingSubmission,
  session: Pick<Session, 'clockSkewMs' | 'keyId'>,
): boolean {
  return (
    isRefused(submission) ||
    (!isSent(submission) && obstacleOf(submission, situationOf(session)) === 'too-late')
  );
}

/**
 * Returns why an open submission can't be sent again; undefined if it can. Reads the file only if it was
 * written to since.
 */
export async function whyNotSent(
  row: PendingSubmission,
  session: Pick<Session, 'clockSkewMs' | 'keyId' | 'longWaitUntilMs'>,
): Promise<string | undefined> {
  const { submission } = row;
  if (!canDiscard(row) || beginsAnew(row, session)) return undefined;
  const obstacle = obstacleOf(submission, situationOf(session));
  if (obstacle !== undefined) return OBSTACLES[obstacle];
  const untilMs = busyUntilMs(submission, Date.now()) ?? session.longWaitUntilMs;
  if (untilMs !== undefined) return waitSentence(untilMs);
  const { dataset } = submission;
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
  const row = find();
  if (row === undefined) return showEnd(id, parts, true);
  const { accountId, submission } = row;
  const session = sessions.find(accountId);
  if (session === undefined) return { outcome: 'unavailable', id };
  if (!canContinue(row, Date.now(), session)) return undefined;
  const { dataset, model_id } = submission;
  if (isRefused(submission))
    return continueWithDataset(
      dataset,
      { ...presetOf(submission), replacesRefused: id, accountId },
      session.account,
    );
  if (beginsAnew(row, session)) {
    const discard = (signal: AbortSignal) => submissions.discard(id, 'not-charged', session, signal);
    const end = await onDisk(whileChecking(submission, discard), 'submissions');
    if (end?.kind === 'charged') return showChargedRun(parts, session, submission, end.run);
    return end && startAnew(submission, session.account);
  }
  // The dialog begins with a look. Until that is answered, nothing is asked or sent.
  if (row.state === 'unchecked' || (await whyNotSent(row, session)) !== undefined) return undefined;
  // The consents need the provider and the policy from the list of models.
  const facts = await readReviewFacts(session, parts, submission.stage === 'sent');
  if (facts === undefined) return { outcome: 'unavailable', id };
  const { models, balance } = session;
  const model = models.models?.find((one) => one.model_id === model_id) ?? { name: models.nameOf(model_id) };
  const place = await datasetPlaceOf(dataset.path);
  const known = await new OpenSubmissions(session, parts).confirm(dataset, { model_id }, id);
  if (typeof known !== 'object') return known === 'back' ? undefined : { outcome: 'cancelled', id };
  if ('outcome' in known) return known;
  const records = known.flatMap(({ record }) => (record === undefined || record.id === id ? [] : record));
  const repeated = earlierSubmissionsOf(dataset.sha256, submission.origin, { records }).filter(isPast);
  const answer = await confirmSubmission(() => {
    const resent = find();
    if (resent === undefined || !canContinue(resent, Date.now(), session)) return undefined;
    const { account } = session;
    // Count the cost of the resent submission only once.
    const others = submissions.pending.filter((one) => one.id !== id);
    return {
      account,
      dataset: { ...dataset, place },
      label: withoutMarker(submission.label ?? ''),
      model,
      wanted: parametersOf(submission),
      balance: balance.current,
      money: moneyOf(session, facts.receipts, others),
      resent,
      repeated,
    };
  });
  if (answer !== 'submit') return answer === 'back' ? undefined : { outcome: 'cancelled', id };
  const { result } = await withSubmissionProgress(session, submission, (signal) =>
    submissions.resume(session, id, signal),
  );
  return showResult(result, id, submission, session, parts);
}

/** Reports the run of a submission that a check found. @returns the end of the command */
export function showChargedRun(
  { showFoundRun }: Pick<ResolveParts, 'showFoundRun'>,
  session: Session,
  submission: Submission,
  run: RunCreation,
): CommandResult {
  void showFoundRun(run, submission, session);
  return { outcome: 'charged', id: run.run_id };
}
