import { l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { Balance, Model } from '../../core/api/types.ts';
import type { AccountMoney, BalanceNote } from '../../core/money/accountMoney.ts';
import type { RunParameters } from '../../core/money/estimate.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Prior } from '../../core/submission/receipts.ts';
import { compact, formatAgo, formatBytes, formatMoney, formatRows, sandboxNote } from '../shared/format.ts';
import { likelyPrice } from '../shared/moneyMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/termMessages.ts';
import { moneySentence } from './resultMessages.ts';

/** What the final question shows before anything is sent. */
export interface Confirmation {
  account: Account;
  dataset: { filename: string };
  /** Only the name if the service doesn't list the model now. */
  model: Pick<Model, 'name'> & Partial<Pick<Model, 'provider' | 'use_policy_url'>>;
  wanted: RunParameters;
  balance: Balance | undefined;
  money: Pick<AccountMoney, 'balanceNote' | 'checkBudget' | 'estimate'>;
  /** The submission of the same bytes, model, and queue within the last day, which this one repeats, most likely by mistake. */
  repeated?: Prior | undefined;
  /** The submission that is resent with the same Idempotency-Key. */
  resent?: PendingSubmission;
}

/** These lengths keep the dialog within 20 lines of 48 characters, since not every platform scrolls it. */
const MAX_NAME_UNITS = 28;
/** Keeps the account on one line; the question above shows more of the name. */
const MAX_ACCOUNT_UNITS = 10;
const MAX_HOST_UNITS = 26;
/** Long enough for sizes and versions, which are in the middle of a model's name. */
const MAX_MODEL_UNITS = 40;
const MAX_PROVIDER_UNITS = 18;

const short = (text: string) => sanitizeServiceText(text, MAX_NAME_UNITS);

export const confirmMessages = {
  question: ({ account, dataset }: Confirmation) =>
    account.kind === 'sandbox'
      ? l10n.t('Submit {0} to the sandbox?', short(dataset.filename))
      : l10n.t('Submit {0} to {1} and pay?', short(dataset.filename), short(account.name)),
  submit: ({ account }: Confirmation) =>
    account.kind === 'sandbox' ? l10n.t('Submit') : l10n.t('Submit and Pay'),
  back: ({ resent }: Confirmation) =>
    resent === undefined ? TERMS.backToSummary : l10n.t('Show Submission'),
  overBudget: () => l10n.t('Continue Over Budget'),
  /** Repeats the consents, since another extension may have accepted the first one; only the user can press this dialog. */
  detail(confirmation: Confirmation): string {
    const { account, resent, dataset, model, wanted, balance, money, repeated } = confirmation;
    const isSandbox = account.kind === 'sandbox';
    const provider = model.provider ? sanitizeServiceText(model.provider, MAX_PROVIDER_UNITS) : undefined;
    const modelName = sanitizeServiceText(model.name, MAX_MODEL_UNITS);
    const name = provider === undefined ? modelName : `${modelName} (${provider})`;
    const { bytes, rows } = wanted.size;
    const facts = compact(
      short(dataset.filename),
      formatBytes(bytes),
      rows !== undefined && formatRows(rows),
    ).join(' · ');
    const queue = wanted.priority ? l10n.t('priority (may cost extra)') : l10n.t('standard queue');
    const likely = likelyPrice(money.estimate(wanted));
    const price =
      likely === undefined
        ? l10n.t('Price: known only after the charge.')
        : l10n.t('Price: known only after the charge; {0}.', likely);
    const charge = compact(
      resent === undefined && l10n.t('You’re charged when the service accepts the dataset.'),
      l10n.t('A run can’t be canceled or refunded.'),
    ).join(' ');
    return compact(
      isSandbox && sandboxNote(),
      resent && resentSentence(resent),
      !isSandbox &&
        l10n.t(
          'Account: {0} ({1})',
          sanitizeServiceText(account.name, MAX_ACCOUNT_UNITS),
          sanitizeServiceText(new URL(account.baseUrl).host, MAX_HOST_UNITS),
        ),
      factLine(TERMS.model, [name, queue].join(' · ')),
      factLine(TERMS.dataset, facts),
      repeated && factLine(TERMS.submittedBefore, repeatedFacts(repeated)),
      isSandbox ? likely && factLine(TERMS.price, likely) : price,
      balanceLine(balance, money.balanceNote(wanted)),
      !isSandbox && charge,
      l10n.t('By submitting you:'),
      termsConsent(model.use_policy_url, provider ?? sanitizeServiceText(model.name, MAX_PROVIDER_UNITS)),
      l10n.t('• accept the service’s data policy'),
      l10n.t('• confirm you have the rights to this dataset'),
      l10n.t('• understand that results aren’t guaranteed'),
    ).join('\n');
  },
};

/** Leaves out the price, which is shown as the likely price. */
function repeatedFacts({ submittedAtMs, runId }: Prior): string {
  const time = formatAgo(submittedAtMs, Date.now());
  return runId === undefined ? [time, TERMS.mayBeCharged].join(' · ') : time;
}

function balanceLine(balance: Balance | undefined, note: BalanceNote): string {
  const notes: Record<NonNullable<BalanceNote>, string> = {
    empty: l10n.t('too low unless in your plan'),
    'probably-too-low': l10n.t('probably too low'),
    'may-be-too-low': l10n.t('may be too low'),
  };
  const amount = formatMoney(balance?.balance_cents, balance?.currency);
  return factLine(TERMS.balance, compact(amount, balance && note && notes[note]).join(' · '));
}

function termsConsent(policy: string | null | undefined, provider: string): string {
  return policy
    ? l10n.t('• accept the license terms and use policy of {0}', provider)
    : l10n.t('• accept the license terms of {0}', provider);
}

/** Starts with the money. */
function resentSentence(submission: PendingSubmission): string {
  if (submission.state === 'unsent') return moneySentence(submission, Date.now());
  return submission.state === 'not-charged'
    ? l10n.t('Not charged so far. Resending now can’t charge you twice.')
    : l10n.t('You may have been charged. Resending now can’t charge you twice.');
}
