import { DatasetChangedError } from '../../core/api/errors.ts';
import type { Model } from '../../core/api/types.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Draft } from '../../core/submission/intent.ts';
import { isPast, isRepeat } from '../../core/submission/earlier.ts';
import type { CommandResult } from '../shared/commands.ts';
import { acceptTerms } from './acceptTerms.ts';
import { askForModel, changeChoice } from './changeChoice.ts';
import { confirmSubmission, mayExceedBudget } from './confirmSubmission.ts';
import { runParameters, sentLabel, type Restart, type Review, type SubmissionChoices } from './review.ts';
import { boxOf, showSummary, type SummaryTarget } from './summary.ts';

/** What the user consented to. */
export interface Confirmed {
  kind: 'confirmed';
  model: Model;
  /** As sent, including the marker. */
  label: string;
  priority: boolean;
  consents: Draft['consents'];
  sha256: string;
}

export type ReviewResult =
  | Confirmed
  | { kind: 'restart'; reason: Restart; choices: SubmissionChoices }
  /** The user turned to an open submission of the same bytes; `end` says how that ended. */
  | { kind: 'open'; end: CommandResult };

/**
 * Leads from the summary through the terms to the final question. The rows of the summary change the choices.
 * @returns undefined if the user canceled, with nothing sent
 */
export async function reviewSubmission(
  review: Review,
  initial: SubmissionChoices,
): Promise<ReviewResult | undefined> {
  let choices = initial;
  if (choices.model === undefined) {
    const context = review.context();
    const answer = await askForModel(boxOf(context), context, choices);
    if (answer.kind !== 'value') return undefined;
    choices = { ...choices, model: answer.value };
  }
  let active: SummaryTarget = 'continue';
  for (;;) {
    const target = await showSummary(review, choices, active);
    switch (target) {
      case 'continue': {
        const result = await consent(review, choices);
        if (result !== 'back') return result;
        break;
      }
      case 'model':
      case 'label':
      case 'queue': {
        const context = review.context();
        choices = await changeChoice(target, boxOf(context), context, choices);
        break;
      }
      case 'dataset':
        return { kind: 'restart', reason: 'other-dataset', choices };
      default:
        return undefined;
    }
    active = target;
  }
}

/** The steps after the summary: checks that need the digest, the terms, the final question. Each can lead back to it. */
async function consent(
  review: Review,
  choices: SubmissionChoices,
): Promise<ReviewResult | 'back' | undefined> {
  const { model } = choices;
  if (model === undefined) return 'back';
  const sha256 = await digestOf(review);
  const restart = (reason: Restart) => ({ kind: 'restart', reason, choices }) as const;
  const reason = sha256 === undefined ? 'dataset-changed' : await review.restart(sha256);
  if (sha256 === undefined || reason !== undefined) return restart(reason ?? 'dataset-changed');
  const signal = review.context().proposal?.signal;
  // A withdrawn proposal asks nothing more.
  if (signal?.aborted) return undefined;
  const duplicates = await review.confirmDuplicates(sha256, model);
  if (typeof duplicates === 'object') return { kind: 'open', end: duplicates };
  if (duplicates !== 'continue') return duplicates;
  if (signal?.aborted) return undefined;
  const context = review.context();
  const wanted = runParameters(context, choices, sha256);
  const chosen = { modelId: model.model_id, priority: choices.priority };
  const repeats = context
    .earlierOf(sha256, withoutMarker(sentLabel(context, choices.label)))
    .filter((one) => isPast(one) && isRepeat(chosen, one, Date.now()));
  // Prefer a submission whose bytes are known to be the same: a run from elsewhere may have other bytes.
  const repeated = repeats.find(({ kind }) => kind !== 'elsewhere') ?? repeats[0];
  const confirmation = () => {
    const now = review.context();
    const dataset = { ...now.dataset, sha256 };
    const changed = now.trainedBefore(sha256)?.changed;
    return { ...now, dataset, label: choices.label, model, wanted, repeated, changed };
  };
  const agreed = new Set<string>();
  const over = await mayExceedBudget(confirmation(), agreed);
  if (over !== 'continue') return over;
  const terms = await acceptTerms(model, review, signal);
  if (terms === 'back' || terms === undefined) return terms;
  const answer = await confirmSubmission(() => (signal?.aborted ? undefined : confirmation()), agreed);
  if (answer !== 'submit') return answer;
  const dataPolicy = { accepted_at: new Date(review.nowMs()).toISOString() };
  const late = await review.restart(sha256);
  if (late !== undefined) return restart(late);
  return {
    kind: 'confirmed',
    model,
    label: sentLabel(context, choices.label),
    priority: choices.priority,
    consents: { model_terms: terms, data_policy: dataPolicy },
    sha256,
  };
}

/** Returns undefined if the file has changed since its check. @throws CancelledError */
async function digestOf({ sha256 }: Review): Promise<string | undefined> {
  try {
    return await sha256;
  } catch (error) {
    if (error instanceof DatasetChangedError) return undefined;
    throw error;
  }
}
