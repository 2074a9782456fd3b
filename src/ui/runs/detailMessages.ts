import { l10n } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import { currencyOf, estimateBefore } from '../../core/money/estimate.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import { formatDuration, formatMoney, formatPrice, formatTime } from '../shared/format.ts';
import { estimateText, unexpectedPrice } from '../shared/priceMessages.ts';
import { runStatus, serviceText, type RunView } from '../shared/runMessages.ts';

/**
 * What the tooltip of a run's row says: everything that is known, uncut.
 * @param receipts of its account
 * @param currency of the account's balance, which is assumed for a price without a receipt
 */
export function runTooltip(
  { run, phase, modelName, label }: RunView,
  detail: RunDetail | undefined,
  receipts: readonly ChargedReceipt[],
  currency: string | undefined,
): string {
  const { run_id, model_id, artifacts_available, artifacts_expires_at: expiresAt } = run;
  const { price_cents, plan, started_at, completed_at } = detail ?? {};
  const createdAt = run.created_at ?? detail?.created_at;
  const prices = priceLines(receipts, run_id);
  if (prices.length === 0 && price_cents !== undefined)
    prices.push(l10n.t('Price: {0}', formatPrice(price_cents, currency)));
  const lines = [
    label === undefined ? '' : l10n.t('Label: {0}', label),
    l10n.t('Model: {0}', modelName === model_id ? modelName : `${modelName} (${serviceText(model_id)})`),
    l10n.t('Status: {0}', runStatus(run.status, phase)),
    ...prices,
    plan === undefined ? '' : l10n.t('Plan: {0}', serviceText(plan)),
    createdAt === undefined ? '' : l10n.t('Created: {0}', formatTime(createdAt)),
  ];
  if (started_at !== undefined) {
    const [time, queueMs] = [formatTime(started_at), instantOf(started_at) - instantOf(createdAt)];
    lines.push(
      queueMs >= 0
        ? l10n.t('Started: {0}, after {1} in the queue', time, formatDuration(queueMs))
        : l10n.t('Started: {0}', time),
    );
  }
  if (completed_at !== undefined) {
    const [time, trainingMs] = [formatTime(completed_at), instantOf(completed_at) - instantOf(started_at)];
    lines.push(
      trainingMs >= 0
        ? l10n.t('Completed: {0}, after {1} of training', time, formatDuration(trainingMs))
        : l10n.t('Completed: {0}', time),
    );
  }
  if (artifacts_available && expiresAt !== undefined)
    lines.push(l10n.t('Adapter expires: {0}', formatTime(expiresAt)));
  return [...lines.filter((line) => line !== ''), l10n.t('Run ID: {0}', serviceText(run_id))].join('\n');
}

/** What was charged, and what was known of it before. */
function priceLines(receipts: readonly ChargedReceipt[], runId: string): string[] {
  const receipt = receipts.find(({ settled }) => settled.run.run_id === runId);
  const priceCents = receipt?.settled.run.price_cents;
  if (receipt === undefined || priceCents === undefined) return [];
  const before = estimateBefore(receipts, receipt);
  const currency = currencyOf(receipt);
  const unexpected = unexpectedPrice(before, priceCents, currency);
  if (unexpected !== undefined) return [l10n.t('Price: {0}', unexpected)];
  const expected = estimateText(before);
  return [
    l10n.t('Price: {0}', formatMoney(priceCents, currency)),
    ...(expected === undefined ? [] : [l10n.t('Estimate: {0}', expected)]),
  ];
}
