import { websiteOf } from '../../core/accounts/account.ts';
import { DatasetChangedError } from '../../core/api/errors.ts';
import type { Model } from '../../core/api/types.ts';
import { withMarker } from '../../core/runs/marker.ts';
import type { Draft } from '../../core/submission/intent.ts';
import { isRepeat } from '../../core/submission/receipts.ts';
import { openServiceLink } from '../shared/openMessages.ts';
import { mapAnswer, pick, type Answer } from '../shared/steps.ts';
import { confirmSubmission, mayExceedBudget } from './confirmSubmission.ts';
import {
  acceptTerms,
  askForLabel,
  askForModel,
  askForQueue,
  stepMessages,
  summaryRows,
  runOf,
  type Restart,
  type SubmissionChoices,
  type SubmissionContext,
  type SummaryTarget,
} from './stepMessages.ts';

/** What a review knows and asks. */
export interface Review {
  /** As it is known now: money moves while the user reads. */
  context(): SubmissionContext;
  /** The SHA-256 of the dataset, computed while the summary is read. @throws DatasetChangedError, DigestError */
  sha256: Promise<string>;
  /** What is filled in when it comes. They never reject. */
  late: readonly Promise<unknown>[];
  /** Resolves when the digest is there, or failed, and balance and receipts were read once more. Never rejects. */
  ready(): Promise<void>;
  /** What is not any longer as it was when the review began. */
  restart(sha256: string): Promise<Restart | undefined>;
  /** Asks about open submissions of the same bytes. @returns whether to submit them anyway */
  mayGoBeside(sha256: string, model: Model): Promise<'continue' | 'back' | undefined>;
}

/** What the user consented to. */
export interface Confirmed {
  kind: 'confirmed';
  model: Model;
  /** As it is sent. */
  label: string;
  priority: boolean;
  consents: Draft['consents'];
  sha256: string;
}

export type ReviewResult = Confirmed | { kind: 'restart'; reason: Restart; choices: SubmissionChoices };

/**
 * Leads from the summary over the terms to the last question; the summary's rows change what was chosen.
 * @returns undefined if the user gave up, and then nothing was sent
 */
export async function reviewSubmission(
  review: Review,
  initial: SubmissionChoices,
): Promise<ReviewResult | undefined> {
  let choices = initial;
  if (choices.model === undefined) {
    const context = review.context();
    const answer = await askForModel({ title: stepMessages.title(context) }, context, choices);
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
        const next = await change(target, review.context(), choices);
        if (next === undefined) return undefined;
        choices = next;
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

/** From the summary on: what is looked up with the digest, the terms, the last question. Each can lead back to the summary. */
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
  const beside = await review.mayGoBeside(sha256, model);
  if (beside !== 'continue') return beside;
  const context = review.context();
  const wanted = runOf(context, choices, sha256);
  const chosen = { modelId: model.model_id, priority: choices.priority };
  const repeated = context.priorsOf(sha256).find((prior) => isRepeat(chosen, prior, Date.now()));
  const confirmation = () => ({ ...review.context(), model, wanted, repeated });
  const agreed = new Set<string>();
  const over = await mayExceedBudget(confirmation(), agreed);
  if (over !== 'continue') return over;
  const terms = await acceptTerms(model, () => review.ready());
  if (terms === 'back' || terms === undefined) return terms;
  const answer = await confirmSubmission(confirmation, agreed);
  if (answer !== 'submit') return answer;
  const dataPolicy = { accepted_at: new Date().toISOString() };
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

/** Undefined if the file is not the one that was checked any longer. @throws DigestError, CancelledError */
async function digestOf({ sha256 }: Review): Promise<string | undefined> {
  try {
    return await sha256;
  } catch (error) {
    if (error instanceof DatasetChangedError) return undefined;
    throw error;
  }
}

/** What will be sent, who pays and what is known of the price. @returns the row that was chosen */
async function showSummary(
  review: Review,
  choices: SubmissionChoices,
  active: SummaryTarget,
): Promise<SummaryTarget | undefined> {
  const context = review.context();
  const sent = { ...choices, label: sentLabel(context, choices.label) };
  let sha256: string | undefined;
  const items = () => summaryRows(review.context(), sent, sha256);
  const answer = await pick<SummaryTarget | undefined>(
    { title: stepMessages.title(context) },
    {
      placeholder: context.notice ?? stepMessages.review(),
      items: items(),
      active,
      later: [review.sha256.then((digest) => (sha256 = digest)), ...review.late].map((known) =>
        known.then(items),
      ),
      settle: (target) => (target === 'continue' ? review.ready() : undefined),
      stays: (target) => {
        if (target === 'website') void openServiceLink(websiteOf(context.account) ?? '');
        return target === undefined || target === 'website';
      },
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Shows the box of a row. @returns the choices after it; undefined if it was left for anything but the summary */
async function change(
  target: 'model' | 'label' | 'queue',
  context: SubmissionContext,
  choices: SubmissionChoices,
): Promise<SubmissionChoices | undefined> {
  const place = { title: stepMessages.title(context), hasBack: true };
  const answer: Answer<Partial<SubmissionChoices>> =
    target === 'model'
      ? mapAnswer(await askForModel(place, context, choices), (model) => ({ model }))
      : target === 'label'
        ? mapAnswer(await askForLabel(place, context, choices), (label) => ({ label }))
        : mapAnswer(await askForQueue(place, context, choices), (priority) => ({ priority }));
  if (answer.kind === 'cancel') return undefined;
  return answer.kind === 'value' ? { ...choices, ...answer.value } : choices;
}

function sentLabel({ marker }: SubmissionContext, label: string): string {
  return marker === undefined ? label : withMarker(label, marker);
}
