import { l10n } from 'vscode';
import { instantOf } from '../../core/base/clock.ts';
import { currencyOf, estimateBefore } from '../../core/money/estimate.ts';
import type { KnownDetail } from '../../core/runs/run.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import { compact, formatDuration, formatMoney, formatPrice, formatTime } from '../shared/format.ts';
import { estimateText, unexpectedPrice } from '../shared/priceText.ts';
import { runStatus, type RunView, serviceText } from '../shared/runText.ts';
import { factLine, TERMS } from '../shared/terms.ts';

export function queuedFor(ms: number): string {
  return l10n.t('after {0} in the queue', formatDuration(ms));
}

export function trainedFor(ms: number): string {
  return l10n.t('after {0} of training', formatDuration(ms));
}

/** The price of a run by its receipt or details; undefined if unknown. */
export function runPriceText(
  receipt: ChargedReceipt | undefined,
  detail: KnownDetail | undefined,
): string | undefined {
  const charged = receipt?.charge.run;
  const cents = charged?.price_cents ?? detail?.price_cents;
  if (cents === undefined) return undefined;
  return charged?.currency === undefined
    ? formatPrice(cents, (receipt && currencyOf(receipt)) ?? detail?.assumedCurrency)
    : formatMoney(cents, charged.currency);
}

/**
 * The tooltip of a run's row: everything that is known, in full.
 * @param receipts the receipts of the run's account
 */
export function runTooltip(
  { run, phase, modelName, label }: RunView,
  detail: KnownDetail | undefined,
  receipts: readonly ChargedReceipt[],
): string {
  const { run_id, model_id, artifacts_available, artifacts_expires_at: expiresAt } = run;
  const { assumedCurrency, price_cents, plan, started_at, completed_at } = detail ?? {};
  const createdAt = run.created_at ?? detail?.created_at;
  const prices = priceLines(receipts, run_id);
  if (prices.length === 0 && price_cents !== undefined)
    prices.push(factLine(TERMS.price, formatPrice(price_cents, assumedCurrency)));
  const event = (name: string, time: string, after: string | undefined, say: (ms: number) => string) => {
    const ms = instantOf(time) - instantOf(after);
    return factLine(name, compact(formatTime(time), ms >= 0 && say(ms)).join(', '));
  };
  return compact(
    label !== undefined && factLine(TERMS.label, label),
    factLine(TERMS.model, modelName === model_id ? modelName : `${modelName} (${serviceText(model_id)})`),
    factLine(TERMS.status, runStatus(run.status, phase)),
    ...prices,
    plan !== undefined && factLine(TERMS.plan, serviceText(plan)),
    createdAt !== undefined && l10n.t('Created: {0}', formatTime(createdAt)),
    started_at !== undefined && event(TERMS.started, started_at, createdAt, queuedFor),
    completed_at !== undefined && event(TERMS.completed, completed_at, started_at, trainedFor),
    artifacts_available && expiresAt !== undefined && factLine(TERMS.adapterExpires, formatTime(expiresAt)),
    factLine(TERMS.runId, serviceText(run_id)),
  ).join('\n');
}

/** The price on the receipt, and the estimate before the charge. */
function priceLines(receipts: readonly ChargedReceipt[], runId: string): string[] {
  const receipt = receipts.find(({ charge }) => charge.run.run_id === runId);
  const priceCents = receipt?.charge.run.price_cents;
  if (receipt === undefined || priceCents === undefined) return [];
  const before = estimateBefore(receipts, receipt);
  const currency = currencyOf(receipt);
  const price = runPriceText(receipt, undefined);
  const unexpected = unexpectedPrice(before, priceCents, currency, price);
  if (unexpected !== undefined) return [factLine(TERMS.price, unexpected)];
  const expected = estimateText(before);
  return compact(price && factLine(TERMS.price, price), expected && factLine(TERMS.estimate, expected));
}
