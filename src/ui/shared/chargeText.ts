// What a submission cost. Only here, so that no two texts disagree. Money comes first: narrow views cut.
import { l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { currencyOf, type Estimate } from '../../core/money/estimate.ts';
import { chargedAt } from '../../core/submission/receipts.ts';
import { runsOf, submissionName, type ChargedReceipt, type Draft } from '../../core/submission/submission.ts';
import { formatCount, formatMoment, formatMoney, formatPrice, inSandbox } from './format.ts';
import { unexpectedPrice } from './priceText.ts';
import { sanitizeServiceText } from './serviceText.ts';

/**
 * How the user learns of a charge. `answered`: from its response. `found`: by finding its run, which reveals
 * less. `continued`: by acting on a submission that was already continued. `earlier`: at a start, from a
 * receipt.
 */
export type LearnedBy = 'answered' | 'found' | 'continued' | 'earlier';

/** Facts about a charge besides its run. */
export interface ChargeFacts {
  /** After the charge, if known. */
  balance: Balance | undefined;
  /** The estimate before the charge. */
  before: Estimate | undefined;
  how: LearnedBy;
  receipt: ChargedReceipt | undefined;
  /** Whether it couldn't be written to the disk. */
  isUnrecorded: boolean;
  /** Says what it cost, if that exceeded a limit of the budget. */
  exceeded: (price: string | undefined) => string | undefined;
}

/** At most two sentences: what was submitted, and its cost with the most important other fact. */
export function chargedText(run: RunCreation, draft: Draft, account: Account, facts: ChargeFacts): string {
  const { balance, before, exceeded, how, isUnrecorded, receipt } = facts;
  const { balance_after_cents: afterCents, currency, price_cents: cents } = run;
  const isSandbox = account.kind === 'sandbox';
  const label = nameOf(draft);
  // The details of a found run have no currency, and the balance's may have changed since.
  const known = currency ?? (receipt && currencyOf(receipt)) ?? balance?.currency;
  const isAssumed = !isSandbox && cents !== undefined && currency === undefined;
  const price = isAssumed ? formatPrice(cents, known) : formatMoney(cents, known);
  const unexpected =
    isSandbox || cents === undefined ? undefined : before && unexpectedPrice(before, cents, known, price);
  const paid = isSandbox ? l10n.t('{0} of sandbox money', price) : (unexpected ?? price);
  const over = exceeded(cents === undefined ? undefined : paid);
  if (how === 'earlier' && receipt !== undefined && cents !== undefined && over === undefined) {
    const time = formatMoment(chargedAt(receipt).localMs, Date.now());
    const text = l10n.t('Charged {1} for {0} ({2}). You may have seen this already.', label, paid, time);
    return inSandbox(text, isSandbox);
  }
  if (how === 'continued' && cents !== undefined && over === undefined)
    return inSandbox(l10n.t('Charged {1}. {0} was continued in the meantime.', label, paid), isSandbox);
  const costs = () => {
    if (isUnrecorded)
      return cents === undefined
        ? l10n.t('Charged; the price isn’t known yet, and the charge couldn’t be recorded here.')
        : l10n.t('Charged {0}, but the charge couldn’t be recorded here.', paid);
    if (cents === undefined) return l10n.t('Charged; the price isn’t known yet.');
    if (how === 'found' || how === 'earlier')
      return isSandbox ? l10n.t('{0}.', paid) : l10n.t('Charged {0}.', paid);
    const [leftCents, unit] =
      afterCents === undefined ? [balance?.balance_cents, balance?.currency] : [afterCents, known];
    return isSandbox
      ? l10n.t('{0}; {1} left.', paid, formatMoney(leftCents))
      : l10n.t('Charged {0}; balance {1}.', paid, formatMoney(leftCents, unit));
  };
  const attempt = receipt?.charge.foundBy === 'answered' ? receipt.attempts.length : 1;
  return l10n.t('{0}. {1}', submittedPhrase(label, account, how, attempt), over ?? costs());
}

function submittedPhrase(
  label: string,
  { kind, name }: Pick<Account, 'kind' | 'name'>,
  how: LearnedBy,
  attempt: number,
): string {
  const isSandbox = kind === 'sandbox';
  if (how === 'continued') return inSandbox(l10n.t('{0} was continued in the meantime', label), isSandbox);
  const payer = sanitizeServiceText(name);
  if (how === 'earlier')
    return isSandbox
      ? l10n.t('Sandbox: {0} was submitted (you may have seen this)', label)
      : l10n.t('{0} was submitted to {1} (you may have seen this)', label, payer);
  if (how === 'found')
    return isSandbox
      ? l10n.t('Sandbox: {0} was submitted after all', label)
      : l10n.t('{0} was submitted to {1} after all', label, payer);
  if (attempt > 1)
    return isSandbox
      ? l10n.t('Sandbox: submitted {0} on attempt {1}', label, attempt)
      : l10n.t('Submitted {0} to {1} on attempt {2}', label, payer, attempt);
  return isSandbox ? l10n.t('Sandbox: submitted {0}', label) : l10n.t('Submitted {0} to {1}', label, payer);
}

/** What a run cost, in few words. */
export function chargedPhrase(price: string, isSandbox: boolean): string {
  return isSandbox ? l10n.t('{0} of sandbox money', price) : l10n.t('Charged {0}', price);
}

/** The warning about a submission with several runs: it was, or may have been, charged more than once. */
export function severalRunsSentence(receipt: ChargedReceipt): string {
  const runs = runsOf(receipt.charge);
  const [name, count] = [nameOf(receipt), formatCount(runs.length)];
  const ids = runs.map(({ run_id }) => sanitizeServiceText(run_id)).join(', ');
  const isKnown = runs.every(({ price_cents = 0 }) => price_cents > 0);
  if (runs.length === 2)
    return isKnown
      ? l10n.t('Charged twice for {0}: {1}. Contact the service.', name, ids)
      : l10n.t('You may have been charged twice: two runs have {0}’s marker ({1}).', name, ids);
  return isKnown
    ? l10n.t('Charged {0} times for {1}: {2}. Contact the service.', count, name, ids)
    : l10n.t('You may have been charged {0} times: {0} runs have {1}’s marker ({2}).', count, name, ids);
}

function nameOf(draft: Pick<Draft, 'label' | 'dataset'>): string {
  return sanitizeServiceText(submissionName(draft));
}
