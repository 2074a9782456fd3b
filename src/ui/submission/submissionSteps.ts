import * as vscode from 'vscode';
import { websiteOf } from '../../core/accounts/account.ts';
import { modelLinks } from '../../core/api/address.ts';
import { MAX_LABEL_LENGTH, type Model } from '../../core/api/types.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import type { Wanted } from '../../core/money/estimate.ts';
import { withMarker } from '../../core/runs/marker.ts';
import type { Draft } from '../../core/submission/intent.ts';
import { budgetWords, overBudget } from '../shared/budgetMessages.ts';
import { showWarning } from '../shared/notifications.ts';
import { openServiceLink } from '../shared/openMessages.ts';
import { ask, pick, separator, type Choice } from '../shared/steps.ts';
import { confirmSubmission } from './confirmSubmission.ts';
import {
  stepMessages,
  summaryRows,
  wantedOf,
  type SubmissionChoices,
  type SubmissionContext,
  type SummaryTarget,
} from './stepMessages.ts';

/** Why a review begins again with the check. */
export type Restart = 'account-changed' | 'dataset-changed' | 'other-dataset';

/** What a review needs beside what it shows. */
export interface Review extends SubmissionContext {
  /** The SHA-256 of the dataset, computed while the summary is read. */
  sha256: Promise<string>;
  /** Waits for `sha256` with progress that can be canceled; undefined if the file is not the one that was checked any longer. */
  awaitSha256(): Promise<string | undefined>;
  /** What is not any longer as it was when the review began. */
  restart(): Promise<Restart | undefined>;
  /** Asks about open submissions of the same bytes. @returns whether to submit them anyway */
  mayGoBeside(sha256: string): Promise<boolean>;
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
    const model = await askForModel(review, choices);
    if (model === undefined) return undefined;
    choices = { ...choices, model };
  }
  let active: SummaryTarget = 'continue';
  for (;;) {
    const target = await showSummary(review, choices, active);
    if (target === undefined) return undefined;
    if (target === 'dataset') return { kind: 'restart', reason: 'other-dataset', choices };
    if (target === 'continue') {
      const result = await consent(review, choices);
      if (result !== 'back') return result;
    } else choices = { ...choices, ...(await change(target, review, choices)) };
    active = target;
  }
}

/** From the summary on: what is looked up with the digest, the terms, the last question. Each can lead back to the summary. */
async function consent(
  review: Review,
  choices: SubmissionChoices,
): Promise<ReviewResult | 'back' | undefined> {
  const { model, priority } = choices;
  if (model === undefined) return 'back';
  const sha256 = await review.awaitSha256();
  const changed = sha256 === undefined ? 'dataset-changed' : await review.restart();
  if (sha256 === undefined || changed !== undefined)
    return { kind: 'restart', reason: changed ?? 'dataset-changed', choices };
  if (!(await review.mayGoBeside(sha256))) return undefined;
  const wanted = wantedOf(review, choices, sha256);
  const over = await mayExceedBudget(review, wanted);
  if (over !== 'continue') return over;
  const terms = await acceptTerms(model);
  if (terms === 'back' || terms === undefined) return terms;
  const answer = await confirmSubmission({
    ...review,
    model,
    priority,
    estimate: review.money.estimate(wanted),
  });
  if (answer === 'back' || answer === undefined) return answer;
  const dataPolicy = { accepted_at: now() };
  const reason = await review.restart();
  if (reason !== undefined) return { kind: 'restart', reason, choices };
  return {
    kind: 'confirmed',
    model,
    label: sentLabel(review, choices.label),
    priority,
    consents: { model_terms: terms, data_policy: dataPolicy },
    sha256,
  };
}

/** One more deliberate step for a run that exceeds the budget, or may. */
async function mayExceedBudget(
  { account, money }: Review,
  wanted: Wanted,
): Promise<'continue' | 'back' | undefined> {
  const over = overBudget(money.checkBudget(wanted), account.name);
  if (over === undefined) return 'continue';
  const [back, anyway] = [budgetWords.backToSummary(), budgetWords.continueOver()];
  const choice = await showWarning(over.message, { modal: true, detail: over.detail }, back, anyway);
  return choice === anyway ? 'continue' : choice === back ? 'back' : undefined;
}

/** What will be sent, who pays and what is known of the price. @returns the row that was chosen */
async function showSummary(
  review: Review,
  choices: SubmissionChoices,
  active: SummaryTarget,
): Promise<SummaryTarget | undefined> {
  const sent = { ...choices, label: sentLabel(review, choices.label) };
  const items = (sha256?: string) =>
    summaryRows(review, sent, sha256).map((row): Choice<SummaryTarget | undefined> =>
      'section' in row
        ? separator(row.section)
        : { icon: row.icon, label: row.name, description: row.value, value: row.target },
    );
  const answer = await pick<SummaryTarget | undefined>(
    { title: stepMessages.title(review) },
    {
      placeholder: review.notice ?? stepMessages.review(),
      items: items(),
      active,
      later: review.sha256.then(items),
      stays: (target) => {
        if (target === 'website') void openServiceLink(websiteOf(review.account) ?? '');
        return target === undefined || target === 'website';
      },
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** @returns nothing where the user left the box without a choice */
async function change(
  target: SummaryTarget,
  review: Review,
  choices: SubmissionChoices,
): Promise<Partial<SubmissionChoices>> {
  switch (target) {
    case 'model': {
      const model = await askForModel(review, choices, true);
      return model === undefined ? {} : { model };
    }
    case 'label':
      return askForLabel(review, choices);
    case 'queue':
      return askForQueue(review, choices);
    default:
      return {};
  }
}

async function askForModel(
  review: Review,
  { model: chosen }: SubmissionChoices,
  hasBack = false,
): Promise<Model | undefined> {
  const sorted = [...review.models].sort(
    (a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name),
  );
  const items = sorted.flatMap((model, index): Choice<Model>[] => [
    ...(model.provider === sorted[index - 1]?.provider ? [] : [separator(model.provider)]),
    { label: model.name, description: model.model_id, value: model },
  ]);
  const place = { title: stepMessages.title(review), hasBack };
  const active = chosen === undefined ? {} : { active: chosen };
  const answer = await pick(place, { placeholder: stepMessages.model(), items, ...active });
  return answer.kind === 'value' ? answer.value : undefined;
}

async function askForLabel(
  review: Review,
  { label }: SubmissionChoices,
): Promise<Pick<SubmissionChoices, 'label'>> {
  const { marker } = review;
  // A space separates the two.
  const maxLength = MAX_LABEL_LENGTH - (marker === undefined ? 0 : marker.length + 1);
  const answer = await ask(
    { title: stepMessages.title(review), hasBack: true },
    {
      prompt: stepMessages.label(marker),
      value: label,
      validate: ({ length }) =>
        length <= maxLength
          ? undefined
          : {
              message: stepMessages.labelCut(length, maxLength),
              severity: vscode.InputBoxValidationSeverity.Warning,
            },
    },
  );
  return { label: answer.kind === 'value' ? cutAtWholeCharacters(answer.value.trim(), maxLength) : label };
}

async function askForQueue(
  review: Review,
  { priority }: SubmissionChoices,
): Promise<Pick<SubmissionChoices, 'priority'>> {
  const { queueTimes: times } = review;
  const answer = await pick(
    { title: stepMessages.title(review), hasBack: true },
    {
      placeholder: stepMessages.queue(),
      items: [
        {
          label: stepMessages.standard(),
          description: stepMessages.standardDetail(times.standard),
          value: false,
        },
        {
          label: stepMessages.priority(),
          description: stepMessages.priorityDetail(times.priority),
          value: true,
        },
      ],
      active: priority,
    },
  );
  return { priority: answer.kind === 'value' ? answer.value : priority };
}

/**
 * The terms of the model's provider. The links come first and accepting is the last row, so that Enter alone accepts nothing.
 * @returns the time of the acceptance and the addresses that could be opened
 */
async function acceptTerms(model: Model): Promise<Draft['consents']['model_terms'] | 'back' | undefined> {
  const { terms, policy } = modelLinks(model);
  type Row = 'accept' | 'stay' | { url: string };
  const link = (label: string, url: string): Choice<Row> => ({
    icon: 'link-external',
    label,
    description: url,
    value: { url },
  });
  // An address that is not opened can still be read.
  const warning = (label: string, url?: string): Choice<Row> => ({
    icon: 'warning',
    label,
    ...(url !== undefined && { description: stepMessages.notOpened(url) }),
    value: 'stay',
  });
  const policyRows =
    policy !== undefined
      ? [link(stepMessages.openPolicy(), policy)]
      : model.use_policy_url
        ? [warning(stepMessages.policy(), model.use_policy_url)]
        : [];
  const answer = await pick<Row>(
    { title: stepMessages.terms(model), hasBack: true },
    {
      placeholder: stepMessages.readTerms(),
      items: [
        terms !== undefined
          ? link(stepMessages.openTerms(), terms)
          : model.terms_url
            ? warning(stepMessages.licenseTerms(), model.terms_url)
            : warning(stepMessages.noTerms()),
        ...policyRows,
        { icon: 'check', label: stepMessages.accept(), value: 'accept' },
      ],
      stays: (row) => {
        if (typeof row === 'object') void openServiceLink(row.url);
        return row !== 'accept';
      },
    },
  );
  if (answer.kind !== 'value') return answer.kind === 'back' ? 'back' : undefined;
  return { accepted_at: now(), urls: [terms, policy].filter((url) => url !== undefined) };
}

function sentLabel({ marker }: SubmissionContext, label: string): string {
  return marker === undefined ? label : withMarker(label, marker);
}

function now(): string {
  return new Date().toISOString();
}
