import { InputBoxValidationSeverity, l10n } from 'vscode';
import { websiteOf, type Account } from '../../core/accounts/account.ts';
import { modelLinks } from '../../core/api/address.ts';
import { MAX_LABEL_LENGTH, type Balance, type Model } from '../../core/api/types.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import type { Report } from '../../core/datasets/report.ts';
import type { AccountMoney } from '../../core/money/accountMoney.ts';
import type { DatasetSize, RunParameters } from '../../core/money/estimate.ts';
import type { queueTimes, QueueTime } from '../../core/money/spending.ts';
import type { Draft, Receipt } from '../../core/submission/intent.ts';
import { isRepeat, type Prior, type TrainedBefore } from '../../core/submission/receipts.ts';
import { balanceNoteText, budgetText, overBudget, queueTimeText } from './budgetText.ts';
import { priceText } from '../shared/priceText.ts';
import { checkRows, type Fact } from './checkRows.ts';
import { priorName, priorPhrase, type RunNames, sizePhrase, trainedPhrase } from '../shared/datasetTexts.ts';
import {
  compact,
  formatAgo,
  formatBytes,
  formatCount,
  formatDay,
  formatMoment,
  formatMoney,
  formatRows,
  inSandbox,
  sandboxNote,
} from '../shared/format.ts';
import { openServiceLink } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { ask, mapAnswer, pick, separator, type Answer, type Choice, type Place } from '../shared/steps.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { MAX_FOLDER_UNITS } from './confirmMessages.ts';
import type { DatasetPlace } from './datasetPlace.ts';
import type { OpenOne } from './openSubmissions.ts';

/** Why a review starts again with the check. */
export type Restart =
  'account-changed' | 'dataset-changed' | 'other-dataset' | 'reconnected' | 'submitted-meanwhile';

/** What a review shows but doesn't change. */
export interface SubmissionContext {
  account: Account;
  dataset: { filename: string; place: DatasetPlace; size: DatasetSize };
  /** Undefined if an earlier check was reused. */
  check?: Report | 'unchecked';
  models: readonly Model[];
  balance: Balance | undefined;
  /** Given while the service asks to wait: until when, and when the balance was read. */
  held?: { untilMs: number; balanceReadAtMs: number | undefined } | undefined;
  money: AccountMoney;
  /** How long runs waited in each queue, if enough is known. */
  queueTimes: ReturnType<typeof queueTimes>;
  /** Added to the label; undefined if the setting is off. */
  marker: string | undefined;
  /** Earlier submissions of the same bytes to the same service. */
  priorsOf: (sha256: string) => readonly (Prior & RunNames)[];
  /** The open submissions of the same bytes to the same service. */
  openOnesOf: (sha256: string) => readonly OpenOne[];
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

export const stepMessages = {
  title: ({ account, dataset: { filename } }: Pick<SubmissionContext, 'account' | 'dataset'>) =>
    account.kind === 'sandbox'
      ? l10n.t('Submit {0} to the sandbox', sanitizeServiceText(filename))
      : l10n.t('Submit {0} to {1}', sanitizeServiceText(filename), sanitizeServiceText(account.name)),
  preparing: () => l10n.t('Loading models and balance…'),
  noModels: () => l10n.t('No base models are available. Nothing was submitted.'),
  review: () => l10n.t('Review before submitting. Nothing has been sent yet.'),
  /** Why the summary is shown again; undefined if the user requested it. */
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
};

export function askForModel(
  place: Place,
  { models }: SubmissionContext,
  { model: chosen }: SubmissionChoices,
): Promise<Answer<Model>> {
  const sorted = [...models].sort(
    (a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name),
  );
  const items = sorted.flatMap((model, index): Choice<Model>[] => [
    ...(model.provider === sorted[index - 1]?.provider ? [] : [separator(model.provider)]),
    { label: model.name, description: model.model_id, value: model },
  ]);
  const placeholder = l10n.t('Base model (the price doesn’t depend on it)');
  return pick(place, { placeholder, items, ...(chosen && { active: chosen }) });
}

export async function askForLabel(
  place: Place,
  { marker }: SubmissionContext,
  { label }: SubmissionChoices,
): Promise<Answer<string>> {
  // A space separates label and marker.
  const maxLength = MAX_LABEL_LENGTH - (marker === undefined ? 0 : marker.length + 1);
  const answer = await ask(place, {
    prompt:
      marker === undefined
        ? l10n.t('Label (optional, up to {0} characters)', maxLength)
        : l10n.t('Label (optional, up to {1} characters). “{0}” is added.', marker, maxLength),
    value: label,
    validate: ({ length }) =>
      length <= maxLength
        ? undefined
        : {
            message: l10n.t('{0} of {1} characters: the end will be cut.', length, maxLength),
            severity: InputBoxValidationSeverity.Warning,
          },
  });
  return mapAnswer(answer, (text) => cutAtWholeCharacters(text.trim(), maxLength));
}

export function askForQueue(
  place: Place,
  { queueTimes: { standard, priority } }: SubmissionContext,
  choices: SubmissionChoices,
): Promise<Answer<boolean>> {
  const queue = (label: string, price: string, waited: QueueTime | undefined, value: boolean) => ({
    label,
    description: compact(price, waited && queueTimeText(waited)).join(' · '),
    value,
  });
  return pick(place, {
    placeholder: TERMS.queue,
    items: [
      queue(l10n.t('Standard queue'), l10n.t('no extra cost'), standard, false),
      queue(l10n.t('Priority queue'), EXTRA_COST, priority, true),
    ],
    active: choices.priority,
  });
}

const EXTRA_COST = l10n.t('costs extra unless your plan includes it');

/**
 * Asks to accept the terms of the model's provider. Links come first and accepting last, so that Enter alone accepts nothing.
 * @param ready resolves when the final question can be shown
 * @returns the time of acceptance and the links that could be opened
 */
export async function acceptTerms(
  model: Model,
  ready: () => Promise<void>,
): Promise<Draft['consents']['model_terms'] | 'back' | undefined> {
  const { terms, policy } = modelLinks(model);
  type Row = 'accept' | 'stay' | { url: string };
  // Addresses are in the labels: the hover of a description would lie over the row that accepts, and take its click.
  const link = (label: string, url: string): Choice<Row> => ({
    icon: 'link-external',
    label: factLine(label, url),
    value: { url },
  });
  // The user can still read an address that isn't opened.
  const unopened = (label: string, url: string): Choice<Row> => ({
    icon: 'warning',
    label: factLine(label, l10n.t('{0} (not opened: not https)', sanitizeServiceText(url, 200))),
    value: 'stay',
  });
  const noTerms = l10n.t('The service gives no license link for this model');
  const [name, provider] = [sanitizeServiceText(model.name), sanitizeServiceText(model.provider)];
  let accepted_at = '';
  const answer = await pick<Row>(
    {
      title: provider === '' ? l10n.t('Terms for {0}', name) : l10n.t('Terms of {0} for {1}', provider, name),
      hasBack: true,
    },
    {
      placeholder: l10n.t('Read the terms, then accept. Nothing has been sent yet.'),
      items: compact<Choice<Row>>(
        terms !== undefined
          ? link(l10n.t('Open license terms'), terms)
          : model.terms_url
            ? unopened(TERMS.licenseTerms, model.terms_url)
            : { icon: 'warning', label: noTerms, value: 'stay' },
        policy !== undefined
          ? link(l10n.t('Open use policy'), policy)
          : model.use_policy_url && unopened(TERMS.usePolicy, model.use_policy_url),
        { icon: 'check', label: l10n.t('Accept and Continue'), value: 'accept' },
      ),
      stays: (row) => {
        if (typeof row === 'object') void openServiceLink(row.url);
        return row !== 'accept';
      },
      settle: () => {
        accepted_at = new Date().toISOString();
        return ready();
      },
    },
  );
  if (answer.kind !== 'value') return answer.kind === 'back' ? 'back' : undefined;
  return { accepted_at, urls: compact(terms, policy) };
}

/** The target of a row in the summary. */
export type SummaryTarget = 'continue' | 'model' | 'label' | 'queue' | 'dataset' | 'website';

/** `undefined` is for rows that only show something. */
type SummaryRow = Choice<SummaryTarget | undefined>;

/** The parameters of the chosen run that determine price and budget checks. */
export function runOf(
  { dataset }: SubmissionContext,
  { priority }: Pick<SubmissionChoices, 'priority'>,
  sha256: string | undefined,
): RunParameters {
  return { size: dataset.size, priority, sha256 };
}

/** The rows about what will be sent, who pays, and the known price. @param sha256 of the dataset, once known */
export function summaryRows(
  context: SubmissionContext,
  choices: SubmissionChoices,
  sha256: string | undefined,
): SummaryRow[] {
  const { account, money } = context;
  const { model, label, priority } = choices;
  const { folder } = context.dataset.place;
  const wanted = runOf(context, choices, sha256);
  const budget = budgetText(money.checkBudget(wanted));
  const website = websiteOf(account);
  const notes = noteRows(context, choices, sha256);
  const row = (icon: string, label: string, description: string, value?: SummaryTarget): SummaryRow => ({
    icon,
    label,
    description,
    value,
  });
  return compact<SummaryRow>(
    { icon: 'arrow-right', label: l10n.t('Continue'), value: 'continue' },
    separator(l10n.t('Run · Enter changes a row')),
    row('symbol-misc', TERMS.model, compact(model?.name, model?.provider).join(', '), 'model'),
    row('tag', TERMS.label, label || TERMS.none, 'label'),
    row('rocket', TERMS.queue, priority ? [TERMS.priority, EXTRA_COST].join(' · ') : TERMS.standard, 'queue'),
    row('file', TERMS.dataset, datasetText(context, sha256), 'dataset'),
    hasLongFolder(context) && row('folder', l10n.t('Folder'), folder),
    separator(l10n.t('Money')),
    row('account', TERMS.account, payerText(account)),
    row('graph', TERMS.price, pricePhrase(context, wanted)),
    row('credit-card', TERMS.balance, balanceText(context)),
    budget && row('target', TERMS.budget, budget),
    website && row('globe', l10n.t('Website'), website, 'website'),
    notes.length > 0 && separator(l10n.t('Notes')),
    ...notes.map((note) => ({ ...note, value: undefined })),
  );
}

/** The estimate; while there is none of these bytes, what another account paid for them. */
function pricePhrase({ money, priorsOf }: SubmissionContext, wanted: RunParameters): string {
  const { priority, sha256 } = wanted;
  const estimate = money.estimate(wanted);
  const others = sha256 === undefined || estimate.kind === 'same' ? [] : priorsOf(sha256);
  const paid = others.find(
    (one) => one.otherAccount !== undefined && one.priority === priority && one.priceCents,
  );
  if (paid?.otherAccount === undefined) return priceText(estimate);
  const price = l10n.t(
    '{0} last time, with {1}',
    formatMoney(paid.priceCents, paid.currency),
    sanitizeServiceText(paid.otherAccount),
  );
  return 'lowCents' in estimate ? [price, priceText(estimate)].join(' · ') : price;
}

function payerText(account: Account): string {
  return account.kind === 'sandbox'
    ? sandboxNote()
    : l10n.t('{0} ({1})', account.name, new URL(account.baseUrl).host);
}

function balanceText({ balance, held }: SubmissionContext): string {
  const text = formatMoney(balance?.balance_cents, balance?.currency);
  return held?.balanceReadAtMs === undefined
    ? text
    : l10n.t('{0} (read {1})', text, formatMoment(held.balanceReadAtMs, Date.now()));
}

/** Whether the final question cuts the folder. */
function hasLongFolder({ dataset }: SubmissionContext): boolean {
  return dataset.place.folder.length > MAX_FOLDER_UNITS;
}

function datasetText(context: SubmissionContext, sha256: string | undefined): string {
  const { dataset, earlier } = context;
  const { filename, place, size } = dataset;
  const { bytes, rows } = size;
  const path = hasLongFolder(context) ? filename : place.file;
  const file = place.isLink ? l10n.t('{0} (link to {1})', filename, place.file) : path;
  const facts = compact(file, formatBytes(bytes), rows !== undefined && formatRows(rows));
  if (earlier !== undefined && sha256 !== undefined) {
    const day = formatDay(earlier.created.localMs);
    if (earlier.dataset.sha256 === sha256) facts.push(l10n.t('unchanged since {0}', day));
    // A file with another name is another dataset, which the user chose.
    else if (earlier.dataset.filename === dataset.filename) facts.push(l10n.t('changed since {0}', day));
  }
  return facts.join(' · ');
}

/** Only facts that the user may not expect. */
function noteRows(
  context: SubmissionContext,
  { model, priority }: SubmissionChoices,
  sha256: string | undefined,
): Fact[] {
  const { account, balance, check, dataset, held, money, openOnesOf, priorsOf, trainedBefore } = context;
  const size = sizePhrase(dataset.size.bytes);
  const wanted = runOf(context, { priority }, sha256);
  const note = money.balanceNote(wanted);
  const over = overBudget(money.checkBudget(wanted), account.name);
  const chosen = { modelId: model?.model_id, priority };
  const trained = sha256 === undefined ? undefined : trainedBefore(sha256);
  const changed = trained?.kind === 'changed' && trainedPhrase(trained, dataset.size.rows);
  return compact(
    ...(sha256 === undefined ? [] : openOnesOf(sha256).map(openRow)),
    over && { icon: 'warning', label: l10n.t('Over budget'), description: over.message },
    held && {
      icon: 'watch',
      label: l10n.t('Upload'),
      description: l10n.t('Waits until {0}, as the service asked.', formatMoment(held.untilMs, Date.now())),
    },
    note &&
      balance && {
        icon: 'warning',
        label: TERMS.balance,
        description: balanceNoteText(note, balance, account.kind === 'sandbox'),
      },
    ...(sha256 === undefined ? [] : priorRows(priorsOf(sha256), chosen, Date.now())),
    changed && { icon: 'history', label: priorName(trained), description: changed },
    ...(check === undefined ? [] : checkRows(check)),
    size && { icon: 'warning', label: TERMS.size, description: size },
  );
}

/** An open submission, money first; after the summary, a question about it follows. */
function openRow({ state, modelName, otherAccount }: OpenOne): Fact {
  return {
    icon: 'warning',
    label: l10n.t('Open submission'),
    description: compact(state, modelName, otherAccount).join(' · '),
  };
}

/** Further rows are only counted. */
const MAX_PRIOR_ROWS = 3;

/** Earlier submissions of the same dataset, likely repeats before all others. @param priors newest first */
export function priorRows(
  priors: readonly (Prior & RunNames)[],
  chosen: { modelId: string | undefined; priority: boolean },
  nowMs: number,
): Fact[] {
  const isSame = (prior: Prior) => isRepeat(chosen, prior, nowMs);
  const sorted = [...priors.filter(isSame), ...priors.filter((prior) => !isSame(prior))];
  const rows = sorted.slice(0, MAX_PRIOR_ROWS).map((prior) => {
    const { modelName, otherAccount, submittedAtMs } = prior;
    const time = isSame(prior) ? formatAgo(submittedAtMs, nowMs) : formatDay(submittedAtMs);
    return {
      icon: isSame(prior) ? 'warning' : 'history',
      label: priorName(prior, isSame(prior)),
      description: priorPhrase(prior, modelName, otherAccount, time),
    };
  });
  const more = sorted.length - rows.length;
  const rest = l10n.t('{0} more', formatCount(more));
  return compact(...rows, more > 0 && { icon: 'history', label: TERMS.submittedBefore, description: rest });
}
