import { l10n } from 'vscode';
import { websiteOf, type Account } from '../../core/accounts/account.ts';
import type { Balance, Model } from '../../core/api/types.ts';
import type { Summary } from '../../core/datasets/report.ts';
import type { AccountMoney } from '../../core/money/accountMoney.ts';
import type { DatasetSize, Wanted } from '../../core/money/estimate.ts';
import type { queueTimes, QueueTime } from '../../core/money/spending.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Prior, TrainedBefore } from '../../core/submission/receipts.ts';
import { balanceNoteText, budgetText, priceText, queueTimeText } from '../shared/moneyMessages.ts';
import {
  checkRows,
  priorPhrase,
  sizePhrase,
  trainedPhrase,
  type RunNames,
} from '../shared/datasetMessages.ts';
import {
  compact,
  formatAgo,
  formatBytes,
  formatCount,
  formatDay,
  formatMoney,
  formatRows,
  inSandbox,
  sandboxNote,
} from '../shared/format.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/termMessages.ts';
import { moneySentence } from './resultMessages.ts';

/** Why a review begins again with the check. */
export type Restart =
  'account-changed' | 'dataset-changed' | 'other-dataset' | 'reconnected' | 'submitted-meanwhile';

/** What a review shows and does not change. */
export interface SubmissionContext {
  account: Account;
  /** `place`: its path, from the workspace where it is in it. */
  dataset: { filename: string; place: string; size: DatasetSize };
  /** Undefined where that was an earlier one. */
  check?: Summary | 'unchecked';
  models: readonly Model[];
  balance: Balance | undefined;
  money: AccountMoney;
  /** How long runs waited in each queue, where enough is known. */
  queueTimes: ReturnType<typeof queueTimes>;
  /** Added to the label, unless the setting says no. */
  marker: string | undefined;
  /** Earlier submissions of the same bytes to the same service. */
  priorsOf: (sha256: string) => readonly (Prior & RunNames)[];
  /** The last run of this file. */
  trainedBefore: (sha256: string) => (TrainedBefore & RunNames) | undefined;
  /** The receipt of the run that is submitted again. */
  earlier?: Receipt | undefined;
  /** Why the summary is shown again. */
  notice?: string | undefined;
}

/** What the user chose before consenting; the label without its marker. */
export interface SubmissionChoices {
  model: Model | undefined;
  label: string;
  priority: boolean;
}

const provider = (model: Partial<Model>) => sanitizeServiceText(model.provider ?? '');

export const stepMessages = {
  title: ({ account, dataset: { filename } }: Pick<SubmissionContext, 'account' | 'dataset'>) =>
    account.kind === 'sandbox'
      ? l10n.t('Submit {0} to the sandbox', sanitizeServiceText(filename))
      : l10n.t('Submit {0} to {1}', sanitizeServiceText(filename), sanitizeServiceText(account.name)),
  preparing: () => l10n.t('Loading models and balance…'),
  noModels: () => l10n.t('No base models are available. Nothing was submitted.'),

  model: () => l10n.t('Base model (the price doesn’t depend on it)'),

  label: (marker: string | undefined, maxLength: number) =>
    marker === undefined
      ? l10n.t('Label (optional, up to {0} characters)', maxLength)
      : l10n.t('Label (optional, up to {1} characters). “{0}” is added.', marker, maxLength),
  labelCut: (length: number, maxLength: number) =>
    l10n.t('{0} of {1} characters: the end will be cut.', length, maxLength),

  standard: () => l10n.t('Standard queue'),
  standardDetail: (waited: QueueTime | undefined) => queueText(l10n.t('no extra cost'), waited),
  priority: () => l10n.t('Priority queue'),
  priorityDetail: (waited: QueueTime | undefined) => queueText(extraCost(), waited),

  review: () => l10n.t('Review before submitting. Nothing has been sent yet.'),
  /** Why the summary is shown again; undefined where the user asked for it. */
  restarted(reason: Restart, fileName: string, accountName: string): string | undefined {
    if (reason === 'other-dataset') return undefined;
    if (reason === 'submitted-meanwhile')
      return l10n.t('{0} was submitted meanwhile. Nothing more has been sent yet.', fileName);
    const notices: Record<typeof reason, string> = {
      'dataset-changed': l10n.t('{0} changed and was checked again.', fileName),
      'account-changed': l10n.t('The account is now {0}.', accountName),
      reconnected: l10n.t('The connection to {0} changed.', accountName),
    };
    return [notices[reason], l10n.t('Nothing has been sent yet.')].join(' ');
  },
  datasetGone: (fileName: string, { kind }: Account) =>
    inSandbox(l10n.t('{0} is not where it was. Choose the dataset to submit.', fileName), kind === 'sandbox'),
  terms: (model: Model) =>
    provider(model) === ''
      ? l10n.t('Terms for {0}', sanitizeServiceText(model.name))
      : l10n.t('Terms of {0} for {1}', provider(model), sanitizeServiceText(model.name)),
  readTerms: () => l10n.t('Read the terms, then accept. Nothing has been sent yet.'),
  openTerms: () => l10n.t('Open license terms'),
  noTerms: () => l10n.t('The service gives no license link for this model'),
  openPolicy: () => l10n.t('Open use policy'),
  notOpened: (url: string) => l10n.t('{0} (not opened: not https)', sanitizeServiceText(url, 200)),
  accept: () => l10n.t('Accept and Continue'),
};

function extraCost(): string {
  return l10n.t('costs extra unless your plan includes it');
}

function queueText(price: string, waited: QueueTime | undefined): string {
  return compact(price, waited && queueTimeText(waited)).join(' · ');
}

/** What a row of the summary leads to. */
export type SummaryTarget = 'continue' | 'model' | 'label' | 'queue' | 'dataset' | 'website';

/** A row of the summary, or the title above the ones that follow. */
export type SummaryRow =
  { section: string } | { icon: string; name: string; value?: string; target?: SummaryTarget };

/** The run of some choices, as price and budget are judged by it. */
export function runOf(
  { dataset }: SubmissionContext,
  { priority }: Pick<SubmissionChoices, 'priority'>,
  sha256: string | undefined,
): Wanted {
  return { size: dataset.size, priority, sha256 };
}

/** What will be sent, who pays, and what is known of the price. @param sha256 of the dataset, once it is known */
export function summaryRows(
  context: SubmissionContext,
  choices: SubmissionChoices,
  sha256: string | undefined,
): SummaryRow[] {
  const { account, balance, money } = context;
  const { model, label, priority } = choices;
  const wanted = runOf(context, choices, sha256);
  const budget = budgetText(money.checkBudget(wanted));
  const website = websiteOf(account);
  const notes = noteRows(context, choices, sha256);
  return compact<SummaryRow>(
    { icon: 'arrow-right', name: l10n.t('Continue'), target: 'continue' },
    { section: l10n.t('Run · Enter changes a row') },
    {
      icon: 'symbol-misc',
      name: TERMS.model,
      value: [model?.name, model?.provider].filter(Boolean).join(', '),
      target: 'model',
    },
    { icon: 'tag', name: TERMS.label, value: label || TERMS.none, target: 'label' },
    {
      icon: 'rocket',
      name: TERMS.queue,
      value: priority ? [TERMS.priority, extraCost()].join(' · ') : TERMS.standard,
      target: 'queue',
    },
    { icon: 'file', name: TERMS.dataset, value: datasetText(context, sha256), target: 'dataset' },
    { section: l10n.t('Money') },
    { icon: 'account', name: TERMS.account, value: payerText(account) },
    { icon: 'graph', name: TERMS.price, value: priceText(money.estimate(wanted)) },
    {
      icon: 'credit-card',
      name: TERMS.balance,
      value: formatMoney(balance?.balance_cents, balance?.currency),
    },
    budget && { icon: 'target', name: TERMS.budget, value: budget },
    website && { icon: 'globe', name: l10n.t('Website'), value: website, target: 'website' },
    notes.length > 0 && { section: l10n.t('Notes') },
    ...notes,
  );
}

function payerText(account: Account): string {
  return account.kind === 'sandbox'
    ? sandboxNote()
    : l10n.t('{0} ({1})', account.name, new URL(account.baseUrl).host);
}

function datasetText({ dataset, earlier }: SubmissionContext, sha256: string | undefined): string {
  const { place, size } = dataset;
  const { bytes, rows } = size;
  const facts = compact(place, formatBytes(bytes), rows !== undefined && formatRows(rows));
  if (earlier !== undefined && sha256 !== undefined) {
    const day = formatDay(earlier.created.localMs);
    if (earlier.dataset.sha256 === sha256) facts.push(l10n.t('unchanged since {0}', day));
    // Of another name it is another one, which the user chose.
    else if (earlier.dataset.filename === dataset.filename) facts.push(l10n.t('changed since {0}', day));
  }
  return facts.join(' · ');
}

/** Only where there is something that the user may not expect. */
function noteRows(
  context: SubmissionContext,
  { model, priority }: SubmissionChoices,
  sha256: string | undefined,
): SummaryRow[] {
  const { balance, check, dataset, money, priorsOf, trainedBefore } = context;
  const size = sizePhrase(dataset.size.bytes);
  const note = money.balanceNote(runOf(context, { priority }, sha256));
  const chosen = { modelId: model?.model_id, priority };
  const trained = sha256 === undefined ? undefined : trainedBefore(sha256);
  const changed = trained?.kind === 'changed' && trainedPhrase(trained, dataset.size.rows);
  return compact(
    note && balance && { icon: 'warning', name: TERMS.balance, value: balanceNoteText(note, balance) },
    ...(sha256 === undefined ? [] : priorRows(priorsOf(sha256), chosen, Date.now())),
    changed && { icon: 'history', name: TERMS.trainedBefore, value: changed },
    ...(check === undefined ? [] : checkRows(check)),
    size && { icon: 'warning', name: TERMS.size, value: size },
  );
}

/** The same again within this time is most likely a mistake. */
const RECENT_MS = 24 * 60 * 60_000;
/** The others are counted. */
const MAX_PRIOR_ROWS = 3;

/** Earlier submissions of the same dataset, those of the same model and queue before all others. @param priors newest first */
export function priorRows(
  priors: readonly (Prior & RunNames)[],
  chosen: { modelId: string | undefined; priority: boolean },
  nowMs: number,
): { icon: string; name: string; value: string }[] {
  const isSame = ({ modelId, priority, submittedAtMs }: Prior) =>
    modelId === chosen.modelId && priority === chosen.priority && nowMs - submittedAtMs < RECENT_MS;
  const sorted = [...priors.filter(isSame), ...priors.filter((prior) => !isSame(prior))];
  const rows = sorted.slice(0, MAX_PRIOR_ROWS).map((prior) => {
    const { modelName, otherAccount, submittedAtMs } = prior;
    const time = isSame(prior) ? formatAgo(submittedAtMs, nowMs) : formatDay(submittedAtMs);
    return {
      ...(isSame(prior)
        ? { icon: 'warning', name: l10n.t('Submitted before') }
        : { icon: 'history', name: TERMS.trainedBefore }),
      value: priorPhrase(prior, modelName, otherAccount, time),
    };
  });
  const more = sorted.length - rows.length;
  if (more > 0)
    rows.push({
      icon: 'history',
      name: TERMS.trainedBefore,
      value: l10n.t('{0} more', formatCount(more)),
    });
  return rows;
}

/** Asked after the summary, if a submission of the same dataset is open. @param isSame whether there is no other beside it */
export function askAboutOpen(
  submission: PendingSubmission,
  fileName: string,
  modelName: string,
  isOtherAccount: boolean,
  isSame: boolean,
): Promise<'open' | 'back' | 'continue' | undefined> {
  const name = sanitizeServiceText(fileName);
  const facts = [moneySentence(submission, Date.now()), sanitizeServiceText(modelName)];
  return askModal(
    showWarning,
    isOtherAccount
      ? l10n.t('Another account of this service has an open submission of {0}.', name)
      : l10n.t('A submission of {0} is already open.', name),
    isOtherAccount
      ? l10n.t('{0}\nModel: {1}. If they are the same account, you could be charged twice.', ...facts)
      : l10n.t('{0}\nModel: {1}. A run with another model is charged separately.', ...facts),
    {
      [l10n.t('Open It')]: 'open',
      ...(isSame ? { [TERMS.backToSummary]: 'back' } : { [TERMS.submitAnyway]: 'continue' }),
    },
  );
}
