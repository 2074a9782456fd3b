import * as vscode from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { MAX_LABEL_LENGTH, type Balance, type Model } from '../../core/api/types.ts';
import type { Summary } from '../../core/datasets/report.ts';
import type { Prior } from '../../core/submission/trainedBefore.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { checkRows, priorPhrase, sizePhrase } from '../shared/datasetMessages.ts';
import { formatAgo, formatBytes, formatCount, formatDay, formatMoney } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { accountText } from './resolveMessages.ts';
import { moneySentence } from './resultMessages.ts';

/** What the steps are about and do not change. */
export interface SubmissionContext {
  account: Account;
  fileName: string;
  sizeBytes: number;
  check: Summary | 'unchecked';
  models: readonly Model[];
  balance: Balance | undefined;
  /** Added to the label, unless the setting says no. */
  marker: string | undefined;
  /** Earlier submissions of the same bytes to the same service. */
  priors: readonly (Prior & { modelName: string })[];
}

/** What the user chose before consenting; the label without its marker. */
export interface SubmissionChoices {
  model: Model | undefined;
  label: string;
  priority: boolean;
}

const provider = (model: Partial<Model>) =>
  sanitizeServiceText(model.provider ?? '') || vscode.l10n.t('its provider');

export const stepMessages = {
  title: (fileName: string, accountName: string) => vscode.l10n.t('Submit {0} to {1}', fileName, accountName),
  preparing: () => vscode.l10n.t('Loading models and balance…'),
  noModels: () => vscode.l10n.t('No base models are available. Nothing was submitted.'),

  model: () => vscode.l10n.t('Base model (the price doesn’t depend on it)'),
  openTerms: () => vscode.l10n.t('Open license terms'),

  label: (marker: string | undefined) =>
    marker === undefined
      ? vscode.l10n.t('Label (optional). Up to {0} characters.', MAX_LABEL_LENGTH)
      : vscode.l10n.t(
          'Label (optional). “{0}” is added to help find the run later. Up to {1} characters.',
          marker,
          MAX_LABEL_LENGTH,
        ),
  labelCut: (length: number, maxLength: number) =>
    vscode.l10n.t('{0} of {1} characters: the end will be cut.', length, maxLength),

  queue: () => vscode.l10n.t('Queue'),
  standard: () => vscode.l10n.t('Standard queue'),
  standardPrice: () => vscode.l10n.t('no extra cost'),
  priority: () => vscode.l10n.t('Priority queue'),
  priorityPrice: () => vscode.l10n.t('costs extra unless your plan includes it'),

  review: () => vscode.l10n.t('Review before submitting. Nothing has been sent yet.'),
  continue: () => vscode.l10n.t('Continue'),
  terms: (model: Model) => vscode.l10n.t('Terms of {0}', provider(model)),
  decline: () => vscode.l10n.t('I do not accept'),
  declineDetail: () => vscode.l10n.t('nothing is sent'),
  accept(model: Model): string {
    const { l10n } = vscode;
    const name = sanitizeServiceText(model.name);
    return model.use_policy_url
      ? l10n.t('I accept the license terms and the use policy of {0} for {1}', provider(model), name)
      : l10n.t('I accept the license terms of {0} for {1}', provider(model), name);
  },
  licenseTerms: () => vscode.l10n.t('License terms'),
  noTerms: () => vscode.l10n.t('The service provides no license link for this model'),
  openPolicy: () => vscode.l10n.t('Open use policy'),
  policy: () => vscode.l10n.t('Use policy'),
  notOpened: (url: string) => vscode.l10n.t('{0} (not opened: not https)', sanitizeServiceText(url, 200)),
};

/** A row of the summary; `step` is where its choice is made. */
export interface SummaryRow {
  icon: string;
  name: string;
  value: string;
  step?: 'model' | 'label' | 'queue';
}

/** What will be sent and what is known of its price. */
export function summaryRows(context: SubmissionContext, choices: SubmissionChoices): SummaryRow[] {
  const { l10n } = vscode;
  const { account, fileName, sizeBytes, check, balance } = context;
  const { model, label, priority } = choices;
  const size = sizePhrase(sizeBytes);
  return [
    ...priorRows(context.priors, { modelId: model?.model_id, priority }, Date.now()),
    { icon: 'account', name: l10n.t('Account'), value: accountText(account) },
    { icon: 'file', name: l10n.t('Dataset'), value: `${fileName}, ${formatBytes(sizeBytes)}` },
    ...(size === undefined ? [] : [{ icon: 'warning', name: l10n.t('Size'), value: size }]),
    ...checkRows(check),
    {
      icon: 'symbol-misc',
      name: l10n.t('Model'),
      value: [model?.name, model?.provider].filter(Boolean).join(', '),
      step: 'model',
    },
    { icon: 'tag', name: l10n.t('Label'), value: label || l10n.t('none'), step: 'label' },
    {
      icon: 'rocket',
      name: l10n.t('Queue'),
      value: priority ? l10n.t('priority: costs extra unless your plan includes it') : l10n.t('standard'),
      step: 'queue',
    },
    {
      icon: 'credit-card',
      name: l10n.t('Balance'),
      value: formatMoney(balance?.balance_cents, balance?.currency),
    },
    { icon: 'question', name: l10n.t('Price'), value: l10n.t('Not known until charged') },
    { icon: 'warning', name: l10n.t('Final'), value: l10n.t('A run can’t be canceled or refunded') },
  ];
}

/** The same again within this time is most likely a mistake. */
const RECENT_MS = 24 * 60 * 60_000;
/** The others are counted. */
const MAX_PRIOR_ROWS = 3;

/** Earlier submissions of the same dataset, newest first, those of the same model and queue before all others. */
export function priorRows(
  priors: SubmissionContext['priors'],
  chosen: { modelId: string | undefined; priority: boolean },
  nowMs: number,
): SummaryRow[] {
  const { l10n } = vscode;
  const isSame = ({ modelId, priority, submittedAtMs }: Prior) =>
    modelId === chosen.modelId && priority === chosen.priority && nowMs - submittedAtMs < RECENT_MS;
  const newestFirst = [...priors].sort((a, b) => b.submittedAtMs - a.submittedAtMs);
  const sorted = [...newestFirst.filter(isSame), ...newestFirst.filter((prior) => !isSame(prior))];
  const rows = sorted.slice(0, MAX_PRIOR_ROWS).map((prior) => {
    const { modelName, submittedAtMs } = prior;
    const time = isSame(prior) ? formatAgo(submittedAtMs, nowMs) : formatDay(submittedAtMs);
    return {
      ...(isSame(prior)
        ? { icon: 'warning', name: l10n.t('Submitted before') }
        : { icon: 'history', name: l10n.t('Trained before') }),
      value: priorPhrase(prior, modelName, time),
    };
  });
  const more = sorted.length - rows.length;
  if (more > 0)
    rows.push({
      icon: 'history',
      name: l10n.t('Trained before'),
      value: l10n.t('{0} more', formatCount(more)),
    });
  return rows;
}

/** Asked before the steps, if a submission of the same dataset is open. */
export const openMessages = {
  question: (fileName: string, isOtherAccount: boolean) =>
    isOtherAccount
      ? vscode.l10n.t('Another account of this service has an open submission of {0}.', fileName)
      : vscode.l10n.t('A submission of {0} is already open.', fileName),
  detail(submission: PendingSubmission, modelName: string, isOtherAccount: boolean): string {
    const { l10n } = vscode;
    const facts = [moneySentence(submission, Date.now()), sanitizeServiceText(modelName)];
    return isOtherAccount
      ? l10n.t('{0} Model: {1}. If they are the same account, you could be charged twice.', ...facts)
      : l10n.t('{0} Model: {1}. A run with another model is charged separately.', ...facts);
  },
  open: () => vscode.l10n.t('Open It'),
  another: (isOtherAccount: boolean) =>
    isOtherAccount ? vscode.l10n.t('Submit Anyway') : vscode.l10n.t('Use Another Model'),
};
