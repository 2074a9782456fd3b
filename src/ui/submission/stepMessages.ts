import * as vscode from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { MAX_LABEL_LENGTH, type Balance, type Model } from '../../core/api/types.ts';
import type { Prior } from '../../core/submission/runFacts.ts';
import { formatAgo, formatBytes, formatCount, formatDay, formatMoney, formatRows } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { accountText } from './messages.ts';

const provider = (model: Partial<Model>) =>
  sanitizeServiceText(model.provider ?? '') || vscode.l10n.t('its provider');

export const stepMessages = {
  title: (fileName: string, isSandbox: boolean) =>
    isSandbox
      ? vscode.l10n.t('Submit {0} to the sandbox (no training, no charges)', fileName)
      : vscode.l10n.t('Submit {0}', fileName),

  model: () => vscode.l10n.t('Base model to fine-tune; the price doesn’t depend on it'),
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
  priorityPrice: () => vscode.l10n.t('costs extra'),
  priorityDetail: () =>
    vscode.l10n.t('Free if your plan includes it. The service doesn’t show the cost in advance.'),

  review: () => vscode.l10n.t('Review before submitting. Nothing has been sent yet.'),
  continue: () => vscode.l10n.t('Continue'),
  terms: (model: Model) => vscode.l10n.t('Terms of {0}', provider(model)),
  decline: () => vscode.l10n.t('I do not accept'),
  declineDetail: () => vscode.l10n.t('nothing is sent'),
  accept: (model: Model) =>
    model.use_policy_url
      ? vscode.l10n.t(
          'I accept the license terms and the use policy of {0} for {1}',
          provider(model),
          sanitizeServiceText(model.name),
        )
      : vscode.l10n.t(
          'I accept the license terms of {0} for {1}',
          provider(model),
          sanitizeServiceText(model.name),
        ),
  licenseTerms: () => vscode.l10n.t('License terms'),
  noTerms: () => vscode.l10n.t('The service provides no license link for this model'),
  openPolicy: () => vscode.l10n.t('Open use policy'),
  policy: () => vscode.l10n.t('Use policy'),
  notOpened: (url: string) => vscode.l10n.t('{0} (not opened: not https)', sanitizeServiceText(url, 200)),
};

/** The rows of the summary. */
export const summaryMessages = {
  account: (account: Pick<Account, 'kind' | 'name'>) => ({
    name: vscode.l10n.t('Account'),
    value: accountText(account),
  }),
  dataset: (fileName: string, sizeBytes: number) => ({
    name: vscode.l10n.t('Dataset'),
    value: vscode.l10n.t('{0}, {1}', fileName, formatBytes(sizeBytes)),
  }),
  size: (value: string) => ({ name: vscode.l10n.t('Size'), value }),
  model: (model: Model | undefined) => ({
    name: vscode.l10n.t('Model'),
    value: [model?.name, model?.provider].filter(Boolean).join(', '),
  }),
  label: (label: string) => ({ name: vscode.l10n.t('Label'), value: label || vscode.l10n.t('none') }),
  queue: (isPriority: boolean) => ({
    name: vscode.l10n.t('Queue'),
    value: isPriority
      ? vscode.l10n.t('priority: costs extra unless your plan includes it')
      : vscode.l10n.t('standard'),
  }),
  balance: (balance: Balance | undefined) => ({
    name: vscode.l10n.t('Balance'),
    value:
      balance === undefined ? vscode.l10n.t('unknown') : formatMoney(balance.balance_cents, balance.currency),
  }),
  price: () => ({ name: vscode.l10n.t('Price'), value: vscode.l10n.t('Not known until charged') }),
  final: () => ({
    name: vscode.l10n.t('Final'),
    value: vscode.l10n.t('a run can’t be canceled or refunded'),
  }),
};

/** What the last question before anything is sent names. */
export interface Confirmation {
  account: Account;
  dataset: { filename: string; sizeBytes: number; rows?: number | undefined };
  /** Only its name if the service does not list it now. */
  model: Pick<Model, 'name'> & Partial<Pick<Model, 'provider' | 'use_policy_url'>>;
  priority: boolean;
  balance: Balance | undefined;
  /** Of a submission that is sent again, with the same Idempotency-Key. */
  resent?: 'unsent' | 'not-charged' | 'unknown';
}

/** With names of this length the dialog has no more than 20 lines of 48 characters: not every platform scrolls it. */
const MAX_NAME_UNITS = 28;

const short = (text: string) => sanitizeServiceText(text, MAX_NAME_UNITS);

export const confirmMessages = {
  question: ({ account, dataset }: Confirmation) =>
    account.kind === 'sandbox'
      ? vscode.l10n.t('Submit {0} to the sandbox?', short(dataset.filename))
      : vscode.l10n.t('Submit {0} to {1} and pay?', short(dataset.filename), short(account.name)),
  submit: (isSandbox: boolean) => (isSandbox ? vscode.l10n.t('Submit') : vscode.l10n.t('Submit and Pay')),
  back: (isResent: boolean) =>
    isResent ? vscode.l10n.t('Show Submission') : vscode.l10n.t('Back to Summary'),
  detail: (confirmation: Confirmation) =>
    [
      ...(confirmation.account.kind === 'sandbox'
        ? [vscode.l10n.t('Sandbox: no training, no charges.')]
        : []),
      ...moneyLines(confirmation),
      ...factLines(confirmation),
      ...finalLines(confirmation),
      ...consentLines(confirmation),
    ].join('\n'),
};

function moneyLines({ resent }: Confirmation): string[] {
  const { l10n } = vscode;
  switch (resent) {
    case undefined:
      return [];
    case 'unsent':
      return [l10n.t('Not charged: the upload wasn’t completed.')];
    case 'not-charged':
      return [l10n.t('Not charged so far. If you resend within 24 hours, you’re charged at most once.')];
    case 'unknown':
      return [
        l10n.t('You may have been charged. If you resend within 24 hours, you’re charged at most once.'),
      ];
  }
}

function factLines({ account, dataset, model, priority, balance }: Confirmation): string[] {
  const { l10n } = vscode;
  const size = formatBytes(dataset.sizeBytes);
  const file = short(dataset.filename);
  const name = model.provider ? `${short(model.name)} (${short(model.provider)})` : short(model.name);
  return [
    ...(account.kind === 'sandbox'
      ? []
      : [l10n.t('Account: {0} ({1})', short(account.name), short(new URL(account.baseUrl).host))]),
    priority ? l10n.t('Model: {0} · priority queue', name) : l10n.t('Model: {0} · standard queue', name),
    dataset.rows === undefined
      ? l10n.t('Dataset: {0} · {1}', file, size)
      : l10n.t('Dataset: {0} · {1} · {2}', file, size, formatRows(dataset.rows)),
    ...(account.kind === 'sandbox' ? [] : [l10n.t('Price: known only after the charge.')]),
    balance === undefined
      ? l10n.t('Balance: unknown')
      : l10n.t('Balance: {0}', formatMoney(balance.balance_cents, balance.currency)),
  ];
}

function finalLines({ account, resent }: Confirmation): string[] {
  if (account.kind === 'sandbox') return [];
  return resent === undefined
    ? [
        vscode.l10n.t(
          'You’re charged when the service accepts the dataset. A run can’t be canceled or refunded.',
        ),
      ]
    : [vscode.l10n.t('A run can’t be canceled or refunded.')];
}

/** Both consents, since another extension may have accepted the first one: only a user can press this dialog. */
function consentLines({ model }: Confirmation): string[] {
  const { l10n } = vscode;
  const owner = model.provider ? short(model.provider) : l10n.t('its provider');
  return [
    l10n.t('By submitting you:'),
    model.use_policy_url
      ? l10n.t('• accept the license terms and use policy of {0}', owner)
      : l10n.t('• accept the license terms of {0}', owner),
    l10n.t('• accept the service’s data policy'),
    l10n.t('• confirm that you have the rights to this dataset'),
    l10n.t('• understand that results aren’t guaranteed'),
  ];
}

/** The same again within this time is most likely a mistake. */
const RECENT_MS = 24 * 60 * 60_000;
/** The others are counted. */
const MAX_PRIOR_ROWS = 3;

/** Earlier submissions of the same dataset, newest first, those of the same model and queue before all others. */
export function priorRows(
  priors: readonly (Prior & { modelName: string })[],
  chosen: { modelId: string | undefined; priority: boolean },
  nowMs: number,
): { icon: string; name: string; value: string }[] {
  const { l10n } = vscode;
  const isSame = ({ modelId, priority, submittedAtMs }: Prior) =>
    modelId === chosen.modelId && priority === chosen.priority && nowMs - submittedAtMs < RECENT_MS;
  const newestFirst = [...priors].sort((a, b) => b.submittedAtMs - a.submittedAtMs);
  const same = newestFirst.filter(isSame).map(({ runId, submittedAtMs }) => {
    const ago = formatAgo(submittedAtMs, nowMs);
    return {
      icon: 'warning',
      name: l10n.t('Submitted before'),
      value:
        runId === undefined
          ? l10n.t(
              'You already submitted this dataset with this model {0} and discarded it. You may have been charged.',
              ago,
            )
          : l10n.t('You already submitted this dataset with this model {0}: run {1}', ago, runId),
    };
  });
  const name = l10n.t('Trained before');
  const others = newestFirst
    .filter((prior) => !isSame(prior))
    .map(({ modelName, runId, submittedAtMs }) => {
      const day = formatDay(submittedAtMs);
      return {
        icon: 'history',
        name,
        value:
          runId === undefined
            ? l10n.t(
                'You submitted it on {0} ({1}) and discarded it. You may have been charged.',
                day,
                modelName,
              )
            : l10n.t('You trained it on {0}: run {1} ({2})', day, runId, modelName),
      };
    });
  const rows = [...same, ...others];
  const more = rows.length - MAX_PRIOR_ROWS;
  if (more <= 0) return rows;
  const value = more === 1 ? l10n.t('and once more') : l10n.t('and {0} more times', formatCount(more));
  return [...rows.slice(0, MAX_PRIOR_ROWS), { icon: 'history', name, value }];
}
