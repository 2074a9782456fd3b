import { l10n } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import { currencyOf, estimateBefore } from '../../core/money/estimate.ts';
import type { Session } from '../../core/runs/session.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import { formatDuration, formatMoney, formatPrice, formatTime } from '../shared/format.ts';
import { estimateText, unexpectedPrice } from '../shared/priceMessages.ts';
import { runStatus, serviceText, type RunView } from '../shared/runMessages.ts';
import { asText, explain } from '../shared/serviceErrors.ts';

/** One of the details of a run. */
export interface Fact {
  icon: string;
  name: string;
  value: string;
}

/** What the tooltip of a run's row says. @param receipts of its account */
export function runTooltip(
  { run, phase, modelName, label }: RunView,
  receipts: readonly ChargedReceipt[],
): string {
  const expiresAt = run.artifacts_available ? run.artifacts_expires_at : undefined;
  return [
    ...(label === undefined ? [] : [l10n.t('Label: {0}', label)]),
    l10n.t('Model: {0}', modelName),
    l10n.t('Status: {0}', runStatus(run.status, phase)),
    ...(run.created_at === undefined ? [] : [l10n.t('Created: {0}', formatTime(run.created_at))]),
    ...priceLines(receipts, run.run_id),
    ...(expiresAt === undefined ? [] : [l10n.t('Adapter expires: {0}', formatTime(expiresAt))]),
    l10n.t('Run ID: {0}', serviceText(run.run_id)),
  ].join('\n');
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

/** The details of a run, which are read where they are not known, or why they could not be. Never rejects. */
export async function readFacts({ runs, models, balance }: Session, runId: string): Promise<Fact[]> {
  const failed = (error: unknown): Fact[] => {
    const name = l10n.t('Couldn’t load the details. {0}', asText(explain(error)));
    return [{ icon: 'warning', name, value: '' }];
  };
  const known = runs.detail(runId);
  const failure = known === undefined ? runs.detailFailure(runId) : undefined;
  if (failure !== undefined) return failed(failure);
  try {
    const detail = known ?? (await runs.loadDetail(runId));
    return runFacts(detail, models.nameOf(detail.model_id), balance.current?.currency);
  } catch (error) {
    return failed(error);
  }
}

/** @param currency of the account's balance, which is assumed for the price */
export function runFacts(detail: RunDetail, modelName: string, currency: string | undefined): Fact[] {
  const { model_id, price_cents, plan, created_at, started_at, completed_at } = detail;
  const missing = l10n.t('not provided');
  const time = (text: string | undefined) => (text === undefined ? missing : formatTime(text));
  const model = modelName === model_id ? '' : ` (${serviceText(model_id)})`;
  const price = price_cents === undefined ? missing : formatPrice(price_cents, currency);
  const facts: Fact[] = [
    { icon: 'tag', name: l10n.t('Label'), value: serviceText(detail.label ?? '') || l10n.t('none') },
    { icon: 'symbol-misc', name: l10n.t('Model'), value: `${serviceText(modelName)}${model}` },
    { icon: 'info', name: l10n.t('Status'), value: serviceText(detail.status) || l10n.t('unknown') },
    { icon: 'credit-card', name: l10n.t('Price'), value: price },
    { icon: 'bookmark', name: l10n.t('Plan'), value: plan === undefined ? missing : serviceText(plan) },
    { icon: 'calendar', name: l10n.t('Created'), value: time(created_at) },
  ];
  if (started_at !== undefined) {
    const queueMs = instantOf(started_at) - instantOf(created_at);
    const after = queueMs >= 0 ? `, ${l10n.t('after {0} in the queue', formatDuration(queueMs))}` : '';
    facts.push({ icon: 'play', name: l10n.t('Started'), value: time(started_at) + after });
  }
  if (completed_at !== undefined) {
    const trainingMs = instantOf(completed_at) - instantOf(started_at);
    const after = trainingMs >= 0 ? `, ${l10n.t('after {0} of training', formatDuration(trainingMs))}` : '';
    facts.push({ icon: 'pass', name: l10n.t('Completed'), value: time(completed_at) + after });
  }
  return [...facts, { icon: 'symbol-numeric', name: l10n.t('Run ID'), value: serviceText(detail.run_id) }];
}
