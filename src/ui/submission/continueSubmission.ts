import { l10n } from 'vscode';
import type { RunCreation } from '../../core/api/types.ts';
import { assertSameDataset } from '../../core/api/dataset.ts';
import { asDiskError } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { moneyOf } from '../../core/money/accountMoney.ts';
import { parametersOf } from '../../core/money/estimate.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { SubmissionError } from '../../core/submission/errors.ts';
import { submissionName, type Intent } from '../../core/submission/intent.ts';
import { mayBeForgotten } from '../../core/submission/nextStep.ts';
import { canContinue, canDiscard, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { ReconcileResult } from '../../core/submission/reconciler.ts';
import { stageOf, type Stage } from '../../core/submission/stage.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { showWarning, withLateProgress } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import type { ReportFoundRun } from './chargeReport.ts';
import { findSubmission } from './chooseSubmission.ts';
import { confirmSubmission } from './confirmSubmission.ts';
import { placeOf } from './datasetPlace.ts';
import { readFacts } from './readFacts.ts';
import { continueWithDataset } from './submitAgain.ts';
import { presetOf } from './preset.ts';
import { waitSentence } from './submissionMoney.ts';
import { reportEnd, reportResult, withSubmissionProgress } from './submissionResult.ts';

/** What resolving an open submission needs. */
export type ResolveParts = Pick<
  Services,
  'ensureActiveAccount' | 'journal' | 'log' | 'sandboxFault' | 'sessions' | 'submitted' | 'submitter'
> & {
  reportFoundRun: ReportFoundRun;
};

/** The result of the latest check, or why it failed; empty if there was none. */
export interface Checked {
  finding?: ReconcileResult | undefined;
  failure?: string;
}

/** Checks whether a submission was charged. If the user stops waiting, the dialog shows what is known so far. */
export async function checkSubmission(
  { log, submitter }: Pick<ResolveParts, 'log' | 'submitter'>,
  session: Session,
  { id, intent }: PendingSubmission,
): Promise<Checked> {
  try {
    const title = l10n.t('Checking whether {0} was charged', submissionName(intent));
    const finding = await withLateProgress(title, (signal) => submitter.check(session, id, signal));
    return { finding };
  } catch (error) {
    if (error instanceof CancelledError) return {};
    log.error('not-checked', error);
    return { failure: asText(explain(asDiskError(error, 'submissions'))) };
  }
}

/** Why a submission can't be resent. */
const RESEND_OBSTACLES: Readonly<Record<NonNullable<Stage['obstacle']>, string>> = {
  'key-replaced': l10n.t('It was first sent with another API key.'),
  'too-late': l10n.t('More than 23 hours have passed: you could be charged twice.'),
};

/**
 * Returns why an open submission can't be sent again; undefined if it can. A refused one starts again with the file as it is.
 * Reads the file only if it was written to since.
 */
export async function obstacleOf(
  submission: PendingSubmission,
  session: Pick<Session, 'keyId' | 'longWaitUntilMs'>,
): Promise<string | undefined> {
  const { intent, state } = submission;
  if (state === 'refused' || !canDiscard(submission)) return undefined;
  const { obstacle, busyUntilMs } = stageOf(intent, { nowMs: Date.now(), keyId: session.keyId });
  if (obstacle !== undefined) return RESEND_OBSTACLES[obstacle];
  const untilMs = busyUntilMs ?? session.longWaitUntilMs;
  if (untilMs !== undefined) return waitSentence(untilMs);
  const { dataset } = intent;
  try {
    const title = l10n.t('Comparing {0} with what was submitted', dataset.filename);
    await withLateProgress(title, (signal) => assertSameDataset(dataset, signal));
    return undefined;
  } catch (error) {
    // The upload compares it in any case.
    return error instanceof CancelledError ? undefined : asText(explain(error));
  }
}

/**
 * Resends the same bytes with the same Idempotency-Key after the final question; a refused submission repeats the steps. Reads
 * the current state before it asks, since a notification or a dialog may have been open for a while.
 * @returns the end of the command; undefined if the dialog of the submission is to be shown
 */
export async function continueSubmission(
  parts: ResolveParts,
  id: string,
): Promise<CommandResult | undefined> {
  const { ensureActiveAccount, sessions, submitter } = parts;
  const find = () => findSubmission(submitter, id);
  const asked = find();
  if (asked !== undefined && !(await ensureActiveAccount(asked.accountId)))
    return { outcome: 'cancelled', id };
  const submission = find();
  if (submission === undefined) return reportEnd(id, parts, true);
  const { accountId, intent, state } = submission;
  const session = sessions.find(accountId);
  if (session === undefined) return { outcome: 'unavailable', id };
  if (!canContinue(submission, Date.now(), session)) return undefined;
  const { dataset, model_id } = intent;
  if (state === 'refused')
    return continueWithDataset(dataset, { ...presetOf(intent), replaces: id, accountId }, session.account);
  if ((await obstacleOf(submission, session)) !== undefined) return undefined;
  const knowledge = await whatIsKnown(parts, session, submission);
  if (typeof knowledge === 'object') return knowledge;
  // The consents name the provider and the policy from the list of models.
  const facts = await readFacts(session, parts, state === 'unknown');
  if (facts === undefined) return { outcome: 'unavailable', id };
  const { models, balance } = session;
  const model = models.models?.find((one) => one.model_id === model_id) ?? { name: models.nameOf(model_id) };
  const place = await placeOf(dataset.path);
  const answer = await confirmSubmission(() => {
    const resent = find();
    if (resent === undefined || !canContinue(resent, Date.now(), session)) return undefined;
    const { account } = session;
    // Count the cost of the resent submission only once.
    const others = submitter.pending.filter((one) => one.id !== id);
    return {
      account,
      dataset: { ...dataset, place },
      label: withoutMarker(intent.label ?? ''),
      model,
      wanted: parametersOf(intent),
      balance: balance.current,
      money: moneyOf(session, facts.receipts, others),
      resent,
      isUnproven: knowledge === 'unproven',
    };
  });
  if (answer !== 'submit') return answer === 'back' ? undefined : { outcome: 'cancelled', id };
  const { result } = await withSubmissionProgress(session, intent, (signal) =>
    submitter.resume(session, id, signal),
  );
  return reportResult(result, id, intent, session, parts);
}

/**
 * Looks for the run of an upload that stopped without an end: after a rollback of the machine, its record proves nothing.
 * @returns the end of the command if it was charged, or if nothing may be sent without an answered check
 */
async function whatIsKnown(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
): Promise<'as-recorded' | 'unproven' | CommandResult> {
  const { intent, state } = submission;
  if (state !== 'unsent' || stageOf(intent).name !== 'begun') return 'as-recorded';
  const { finding } = await checkSubmission(parts, session, submission);
  if (finding?.verdict === 'not-charged') return 'as-recorded';
  if (finding?.verdict === 'charged') return reportRun(parts, session, intent, finding.run);
  if (!mayBeForgotten(intent, { localMs: Date.now() })) return 'unproven';
  void showWarning(asText(explain(new SubmissionError('too-late'))));
  return { outcome: 'unknown', id: intent.id };
}

/** Reports the run of a submission that a check found. @returns the end of the command */
export function reportRun(
  { reportFoundRun, submitted }: Pick<ResolveParts, 'reportFoundRun' | 'submitted'>,
  session: Session,
  intent: Intent,
  run: RunCreation,
): CommandResult {
  void reportFoundRun(run, intent, session);
  submitted.fire({ runId: run.run_id });
  return { outcome: 'charged', id: run.run_id };
}
