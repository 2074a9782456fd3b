import { env, l10n } from 'vscode';
import { isWithin, type Estimate, type PriceRange } from '../../core/money/estimate.ts';
import { amountText, formatBytes, formatCount, formatDay, formatMoney } from './format.ts';

/** What is known of a price before it is charged, wherever there is a row for it. */
export function priceText(estimate: Estimate): string {
  switch (estimate.kind) {
    case 'none':
      return notKnown();
    case 'range':
      return l10n.t('Likely {0} · from {1} runs', rangeText(estimate), formatCount(estimate.runs));
    case 'same':
      return l10n.t('{0} last time ({1})', money(estimate), formatDay(estimate.atMs));
    case 'one':
      return notKnown(
        l10n.t('one earlier run ({0}) cost {1}', formatBytes(estimate.sizeBytes), money(estimate)),
      );
    case 'changed':
      return notKnown(l10n.t('prices changed on {0} ({1})', formatDay(estimate.atMs), money(estimate)));
    case 'far':
      return notKnown(farText(estimate));
    case 'priority':
      return l10n.t(
        'At least {0} · priority costs extra unless your plan includes it',
        formatMoney(estimate.lowCents, estimate.currency),
      );
    case 'included':
      return notKnown(l10n.t('your nearest run was included in your plan'));
  }
}

/** @param reason why there is no estimate */
function notKnown(...reason: string[]): string {
  return [l10n.t('Not known until charged'), ...reason].join(' · ');
}

/** What a CodeLens and the last question add; undefined where there is nothing to say. */
export function likelyPrice(estimate: Estimate): string | undefined {
  return estimate.kind === 'range' ? l10n.t('likely {0}', rangeText(estimate)) : estimateText(estimate);
}

/** What was known of a price, beside it; undefined where nothing was. */
export function estimateText(estimate: Estimate): string | undefined {
  switch (estimate.kind) {
    case 'range':
      return rangeText(estimate);
    case 'same':
      return l10n.t('{0} last time', money(estimate));
    case 'priority':
      return l10n.t('at least {0}', formatMoney(estimate.lowCents, estimate.currency));
    default:
      return undefined;
  }
}

/** What a range rests on. @param ranges how well the last ones held */
export function rangeTooltip({ held, of }: { held: number; of: number }): string {
  const assumption = l10n.t(
    'Assumes that a larger dataset costs at least as much, and at most in proportion.',
  );
  // One run is no record.
  if (of < 2) return assumption;
  return [assumption, l10n.t('Such a range held for {0} of your last {1} runs.', held, of)].join(' ');
}

/** A price that is not what was expected of it; undefined for any other, and in another currency. */
export function unexpectedPrice(
  before: Estimate,
  priceCents: number,
  currency: string | undefined,
): string | undefined {
  if (!('currency' in before) || before.currency !== currency) return undefined;
  const price = formatMoney(priceCents, currency);
  if (before.kind === 'range' && !isWithin(before, priceCents))
    return l10n.t('{0}, outside the estimate of {1}', price, rangeText(before));
  if (before.kind === 'same' && before.priceCents !== priceCents)
    return l10n.t('{0} instead of {1} last time', price, money(before));
  return undefined;
}

function rangeText({ lowCents, highCents, currency }: PriceRange): string {
  return l10n.t('{0}–{1}', amountText(lowCents, env.language) ?? '', formatMoney(highCents, currency));
}

function farText({
  ratio,
  isLarger,
  measure,
  sizeBytes,
  ...nearest
}: Extract<Estimate, { kind: 'far' }>): string {
  const [size, price] = [formatBytes(sizeBytes), money(nearest)];
  return isLarger && measure === 'bytes'
    ? l10n.t('{0} times the size of your nearest run ({1}, {2})', formatCount(Math.round(ratio)), size, price)
    : l10n.t('your nearest run differs in size ({0}, {1})', size, price);
}

function money({ priceCents, currency }: { priceCents: number; currency: string }): string {
  return formatMoney(priceCents, currency);
}
