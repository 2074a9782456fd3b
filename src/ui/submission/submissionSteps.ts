import { websiteOf } from '../../core/accounts/account.ts';
import { DatasetChangedError } from '../../core/api/errors.ts';
import type { Model } from '../../core/api/types.ts';
import { withMarker } from '../../core/runs/marker.ts';
import type { Draft } from '../../core/submission/intent.ts';
import { isRepeat } from '../../core/submission/receipts.ts';
import { openServiceLink } from '../shared/open.ts';
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

/** The facts and the questions of a review. */
export interface Review {
  /** Returns what is known now: balance and spending may change while the user reads. */
  context(): SubmissionContext;
  /** The SHA-256 of the dataset, computed while the summary is read. @throws DatasetChangedError, CancelledError */
  sha256: Promise<string>;
  /** Late data; the summary is updated when each resolves. They never reject. */
  late: readonly Promise<unknown>[];
  /** Resolves when the digest is known or failed, and the balance and receipts were reread. Never rejects. */
  ready(): Promise<void>;
  /** Returns what has changed since the review began, if anything. */
  restart(sha256: string): Promise<Restart | undefined>;
  /** Asks about open submissions of the same bytes. @returns `continue` to submit anyway */
  confirmDuplicates(sha256: string, model: Model): Promise<'continue' | 'back' | undefined>;
}

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

export type ReviewResult = Confirmed | { kind: 'restart'; reason: Restart; choices: SubmissionChoices };

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
        choices = await change(target, review.context(), choices);
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
  const duplicates = await review.confirmDuplicates(sha256, model);
  if (duplicates !== 'continue') return duplicates;
  const context = review.context();
  const wanted = runOf(context, choices, sha256);
  const chosen = { modelId: model.model_id, priority: choices.priority };
  const repeated = context.priorsOf(sha256).find((prior) => isRepeat(chosen, prior, Date.now()));
  const confirmation = () => {
    const now = review.context();
    const dataset = { ...now.dataset, sha256 };
    return { ...now, dataset, label: choices.label, model, wanted, repeated };
  };
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

/** Returns undefined if the file has changed since its check. @throws CancelledError */
async function digestOf({ sha256 }: Review): Promise<string | undefined> {
  try {
    return await sha256;
  } catch (error) {
    if (error instanceof DatasetChangedError) return undefined;
    throw error;
  }
}

/** Shows what will be sent, who pays, and what is known about the price. @returns the chosen row */
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

/** Shows the box of a row. @returns the resulting choices, which Back and Esc leave as they are */
async function change(
  target: 'model' | 'label' | 'queue',
  context: SubmissionContext,
  choices: SubmissionChoices,
): Promise<SubmissionChoices> {
  const place = { title: stepMessages.title(context), hasBack: true };
  const answer: Answer<Partial<SubmissionChoices>> =
    target === 'model'
      ? mapAnswer(await askForModel(place, context, choices), (model) => ({ model }))
      : target === 'label'
        ? mapAnswer(await askForLabel(place, context, choices), (label) => ({ label }))
        : mapAnswer(await askForQueue(place, context, choices), (priority) => ({ priority }));
  return answer.kind === 'value' ? { ...choices, ...answer.value } : choices;
}

function sentLabel({ marker }: SubmissionContext, label: string): string {
  return marker === undefined ? label : withMarker(label, marker);
}
