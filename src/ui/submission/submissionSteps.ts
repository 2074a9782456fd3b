import { InputBoxValidationSeverity, l10n, type Uri } from 'vscode';
import { modelLinks } from '../../core/api/address.ts';
import { MAX_LABEL_LENGTH, type Model } from '../../core/api/types.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import { isPast, isRepeat } from '../../core/submission/earlier.ts';
import type { KnownSubmissions } from '../../core/submission/journal.ts';
import type { Draft } from '../../core/submission/submission.ts';
import { openDataset } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact } from '../shared/format.ts';
import { openServiceLink } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import {
  ask,
  mapEnd,
  pick,
  separator,
  type DialogEnd,
  type DialogTitle,
  type PickRow,
} from '../shared/steps.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { confirmSubmission, mayExceedBudget } from './confirmSubmission.ts';
import type { InitialChoices, Restart, Review, SubmissionChoices, SubmissionContext } from './review.ts';
import { boxOf, EXTRA_COST, sentLabel, showSummary, type SummaryTarget } from './summary.ts';

/** What the user consented to, and the dataset's SHA-256. */
export type Confirmed = Pick<Draft, 'consents' | 'label' | 'model_id' | 'priority_processing'> & {
  sha256: string;
  known: KnownSubmissions;
};

/** The submission begins again with these choices: something changed, or the user chose another dataset. */
export interface Again {
  choices: SubmissionChoices;
  reason?: Restart;
  other?: Uri;
}

type End = Confirmed | Again | CommandResult;

/**
 * Leads from the summary through the terms to the final question. The rows of the summary change the choices.
 * @returns the end of the command, with nothing sent, if the user canceled or turned to an open submission
 */
export async function reviewSubmission(review: Review, initial: InitialChoices): Promise<End> {
  let { model } = initial;
  if (model === undefined) {
    const context = review.context();
    const answer = await askForModel(boxOf(context), context);
    if (answer.kind !== 'value') return { outcome: 'cancelled' };
    ({ model } = answer.value);
  }
  let choices: SubmissionChoices = { ...initial, model };
  let active: SummaryTarget = 'continue';
  for (;;) {
    const target = await showSummary(review, choices, active);
    switch (target) {
      case 'continue': {
        const end = await consent(review, choices);
        if (end !== 'back') return end ?? { outcome: 'cancelled' };
        break;
      }
      case 'dataset': {
        const other = await openDataset();
        if (other !== undefined) return { choices, other };
        break;
      }
      case 'model':
      case 'label':
      case 'queue': {
        const context = review.context();
        const answer = await BOXES[target]({ ...boxOf(context), hasBack: true }, context, choices);
        if (answer.kind === 'value') choices = { ...choices, ...answer.value };
        break;
      }
      default:
        return { outcome: 'cancelled' };
    }
    active = target;
  }
}

/** The steps after the summary: what changed, the terms, the final question. Each can lead back to it. */
async function consent(review: Review, choices: SubmissionChoices): Promise<End | 'back' | undefined> {
  const { model, priority } = choices;
  const reason = await review.restart();
  if (reason !== undefined) return { choices, reason };
  const sha256 = await review.sha256;
  const { dataset, proposal } = review.context();
  const signal = proposal?.signal;
  // A withdrawn proposal asks nothing more.
  if (signal?.aborted) return undefined;
  const beside = await review.open.confirm({ sha256, filename: dataset.filename }, model);
  if (typeof beside === 'object' && 'outcome' in beside && proposal !== undefined) proposal.metOpen = true;
  if (typeof beside !== 'object' || 'outcome' in beside) return beside;
  if (signal?.aborted) return undefined;
  const context = review.context();
  const wanted = { size: context.dataset.size, priority, sha256 };
  const chosen = { modelId: model.model_id, priority };
  const repeats = context
    .earlierOf(sha256, withoutMarker(sentLabel(context, choices.label)))
    .filter((one) => isPast(one) && isRepeat(chosen, one, Date.now()));
  // Prefer a submission whose bytes are known to be the same: a run from elsewhere may have other bytes.
  const repeated = repeats.find(({ kind }) => kind !== 'elsewhere') ?? repeats[0];
  const confirmation = () => {
    const now = review.context();
    const dataset = { ...now.dataset, sha256 };
    const changed = now.trainedBefore(sha256)?.changed;
    return {
      ...now,
      dataset,
      label: choices.label,
      model,
      wanted,
      repeated: repeated && [repeated],
      changed,
    };
  };
  const agreed = new Set<string>();
  const over = await mayExceedBudget(confirmation(), agreed);
  if (over !== 'continue') return over;
  const terms = await acceptTerms(model, review);
  if (typeof terms !== 'object') return terms;
  const answer = await confirmSubmission(() => (signal?.aborted ? undefined : confirmation()), agreed);
  if (answer !== 'submit') return answer;
  const dataPolicy = { accepted_at: new Date(review.nowMs()).toISOString() };
  const late = await review.restart();
  if (late !== undefined) return { choices, reason: late };
  const label = sentLabel(context, choices.label);
  const consents = { model_terms: terms, data_policy: dataPolicy };
  const { model_id } = model;
  return {
    model_id,
    ...(label !== '' && { label }),
    priority_processing: priority,
    consents,
    sha256,
    known: beside,
  };
}

/** The boxes of the summary's rows. @returns what was chosen; Back and Esc change nothing */
const BOXES = { model: askForModel, label: askForLabel, queue: askForQueue } as const;

/** Shows the base models by provider. */
async function askForModel(
  place: DialogTitle,
  { models }: SubmissionContext,
  chosen?: SubmissionChoices,
): Promise<DialogEnd<{ model: Model }>> {
  const sorted = [...models].sort(
    (a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name),
  );
  const items = sorted.flatMap((model, index): PickRow<Model>[] => [
    ...(model.provider === sorted[index - 1]?.provider ? [] : [separator(model.provider)]),
    { label: model.name, description: model.model_id, value: model },
  ]);
  const placeholder = l10n.t('Base model (the price doesn’t depend on it)');
  const answer = await pick(place, { placeholder, items, ...(chosen && { active: chosen.model }) });
  return mapEnd(answer, (model) => ({ model }));
}

async function askForLabel(
  place: DialogTitle,
  { marker }: SubmissionContext,
  { label }: SubmissionChoices,
): Promise<DialogEnd<{ label: string }>> {
  // A space separates label and marker.
  const maxLength = MAX_LABEL_LENGTH - (marker === undefined ? 0 : marker.length + 1);
  const answer = await ask(place, {
    prompt:
      marker === undefined
        ? l10n.t('Label (optional, up to {0} characters)', maxLength)
        : l10n.t('Label (optional, up to {1} characters). “{0}” will be added.', marker, maxLength),
    value: label,
    validate: ({ length }) =>
      length <= maxLength
        ? undefined
        : {
            message: l10n.t('{0} of {1} characters. The end will be cut off.', length, maxLength),
            severity: InputBoxValidationSeverity.Warning,
          },
  });
  return mapEnd(answer, (text) => ({ label: withoutMarker(cutAtWholeCharacters(text.trim(), maxLength)) }));
}

async function askForQueue(
  place: DialogTitle,
  _context: SubmissionContext,
  choices: SubmissionChoices,
): Promise<DialogEnd<{ priority: boolean }>> {
  const answer = await pick(place, {
    placeholder: TERMS.queue,
    items: [
      { label: l10n.t('Standard queue'), description: l10n.t('no extra cost'), value: false },
      { label: l10n.t('Priority queue'), description: EXTRA_COST, value: true },
    ],
    active: choices.priority,
  });
  return mapEnd(answer, (priority) => ({ priority }));
}

/**
 * Asks to accept the terms of the model's provider. Enter accepts only links that this account accepted
 * before; with other links no row is active.
 * @returns the time of acceptance and the links that could be opened
 */
async function acceptTerms(
  model: Model,
  review: Review,
): Promise<Draft['consents']['model_terms'] | 'back' | undefined> {
  const { terms, policy } = modelLinks(model);
  const urls = compact(terms, policy);
  const isSame = ({ consents: { model_terms } }: Pick<Draft, 'consents'>) =>
    urls.length > 0 && model_terms.urls.join(' ') === urls.join(' ');
  // A link that can't be opened goes into no receipt.
  const isOpenable = urls.length === compact(model.terms_url, model.use_policy_url).length;
  const { money, proposal } = review.context();
  const wasAccepted = isOpenable && money.receipts.some(isSame);
  type Row = 'accept' | 'stay' | { url: string };
  // In the labels: a description's hover would cover the row that accepts, and take its click.
  const link = (label: string, url: string): PickRow<Row> => ({
    icon: 'link-external',
    label: factLine(label, url),
    value: { url },
  });
  // The user can still read an address that isn't opened.
  const unopened = (label: string, url: string): PickRow<Row> => ({
    icon: 'warning',
    label: factLine(
      label,
      l10n.t('{0} (can’t be opened because it doesn’t use HTTPS)', sanitizeServiceText(url, 200)),
    ),
    value: 'stay',
  });
  const noTerms = l10n.t('The service provides no license link for this model');
  const [name, provider] = [sanitizeServiceText(model.name), sanitizeServiceText(model.provider)];
  let accepted_at = '';
  const answer = await pick<Row>(
    {
      title: provider === '' ? l10n.t('Terms for {0}', name) : l10n.t('Terms of {0} for {1}', provider, name),
      hasBack: true,
      signal: proposal?.signal,
    },
    {
      placeholder: l10n.t('Read the terms, then accept. Nothing has been sent yet.'),
      active: wasAccepted ? 'accept' : null,
      items: compact<PickRow<Row>>(
        { icon: 'check', label: l10n.t('Accept and Continue'), value: 'accept' },
        terms !== undefined
          ? link(l10n.t('Open License Terms'), terms)
          : model.terms_url
            ? unopened(TERMS.licenseTerms, model.terms_url)
            : { icon: 'warning', label: noTerms, value: 'stay' },
        { icon: 'info', label: l10n.t('The service provides no link to its data policy'), value: 'stay' },
        policy !== undefined
          ? link(l10n.t('Open Use Policy'), policy)
          : model.use_policy_url && unopened(TERMS.usePolicy, model.use_policy_url),
      ),
      stays: (row) => {
        if (typeof row === 'object') void openServiceLink(row.url);
        return row !== 'accept';
      },
      settle: () => {
        accepted_at = new Date(review.nowMs()).toISOString();
        return review.ready();
      },
    },
  );
  if (answer.kind !== 'value') return answer.kind === 'back' ? 'back' : undefined;
  return { accepted_at, urls };
}
