import { l10n } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import { formatDuration, formatPrice, formatTime } from '../shared/format.ts';
import { runStatus, serviceText, type RunView } from '../shared/runMessages.ts';

/**
 * What the tooltip of a run's row says: everything that is known, uncut.
 * @param currency of the account's balance, which is assumed for the price
 */
export function runTooltip(
  { run, phase, modelName, label }: RunView,
  detail: RunDetail | undefined,
  currency: string | undefined,
): string {
  const { run_id, model_id, artifacts_available, artifacts_expires_at: expiresAt } = run;
  const { price_cents, plan, started_at, completed_at } = detail ?? {};
  const createdAt = run.created_at ?? detail?.created_at;
  const lines = [
    label === undefined ? '' : l10n.t('Label: {0}', label),
    l10n.t('Model: {0}', modelName === model_id ? modelName : `${modelName} (${serviceText(model_id)})`),
    l10n.t('Status: {0}', runStatus(run.status, phase)),
    price_cents === undefined ? '' : l10n.t('Price: {0}', formatPrice(price_cents, currency)),
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
