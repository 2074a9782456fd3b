import { l10n } from 'vscode';
import { isInRange, type Estimate, type PriceRange } from '../../core/money/estimate.ts';
import { formatAmount, formatBytes, formatCount, formatDay, formatMoney } from './format.ts';

/** Describes a price before it is charged, as the value of a row. */
export function expectedPriceText(estimate: Estimate): string {
  switch (estimate.kind) {
    case 'none':
      return l10n.t('Not known until charged');
    case 'range':
      return l10n.t('Likely {0} · based on {1} runs', rangeText(estimate), formatCount(estimate.runs));
    case 'same':
      return l10n.t('{0} last time ({1})', money(estimate), formatDay(estimate.atMs));
    case 'one':
      return l10n.t(
        'Not known until charged · your one run ({0}) cost {1}',
        formatBytes(estimate.sizeBytes),
        money(estimate),
      );
  }
}

/** Returns the estimate for a CodeLens and the final confirmation; undefined if there is none. */
export function likelyPrice(estimate: Estimate): string | undefined {
  return estimate.kind === 'range' ? l10n.t('likely {0}', rangeText(estimate)) : estimateText(estimate);
}

/** Returns the estimate to show next to a price; undefined if there is none. */
export function estimateText(estimate: Estimate): string | undefined {
  if (estimate.kind === 'range') return rangeText(estimate);
  return estimate.kind === 'same' ? l10n.t('{0} last time', money(estimate)) : undefined;
}

/** Explains the basis of a range, and how many of the latest ranges were correct. */
export function rangeTooltip({ correct, of }: { correct: number; of: number }): string {
  const assumption = l10n.t(
    'Assumes that a larger dataset costs at least as much and at most proportionally more.',
  );
  // A single run proves nothing.
  if (of < 2) return assumption;
  return [
    assumption,
    l10n.t('The price was within the likely range for {0} of your last {1} runs.', correct, of),
  ].join(' ');
}

/**
 * Describes a price that differs from its estimate; undefined for any other price, or in another currency.
 * @param price in words, with the mark if its currency is assumed
 */
export function unexpectedPrice(
  before: Estimate,
  priceCents: number,
  currency: string | undefined,
  price = formatMoney(priceCents, currency),
): string | undefined {
  if (!('currency' in before) || before.currency !== currency) return undefined;
  if (before.kind === 'range' && !isInRange(before, priceCents))
    return l10n.t('{0}, outside the estimate of {1}', price, rangeText(before));
  if (before.kind === 'same' && before.priceCents !== priceCents)
    return l10n.t('{0} instead of {1} last time', price, money(before));
  return undefined;
}

function rangeText({ lowCents, highCents, currency }: PriceRange): string {
  return l10n.t('{0}–{1}', formatAmount(lowCents, currency), formatMoney(highCents, currency));
}

function money({ priceCents, currency }: { priceCents: number; currency: string }): string {
  return formatMoney(priceCents, currency);
}
