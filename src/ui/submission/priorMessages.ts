import * as vscode from 'vscode';
import { formatAgo, formatCount, formatDay } from '../shared/format.ts';

/** An earlier submission of the very same bytes by the same account. */
export interface Prior {
  /** The run that it was charged for; undefined where it was given up without knowing whether it was charged. */
  runId: string | undefined;
  modelId: string;
  modelName: string;
  priority: boolean;
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
}

/** So long the same again is most likely a mistake. */
const RECENT_MS = 24 * 60 * 60_000;
/** The others are counted. */
const MAX_ROWS = 3;

/** What the summary of a submission says of earlier ones of the same dataset, newest first: told, never a reason to stop. */
export function priorRows(
  priors: readonly Prior[],
  chosen: { modelId: string | undefined; priority: boolean },
  nowMs: number,
): { icon: string; name: string; value: string }[] {
  const { l10n } = vscode;
  const isSame = ({ modelId, priority, submittedAtMs }: Prior) =>
    modelId === chosen.modelId && priority === chosen.priority && nowMs - submittedAtMs < RECENT_MS;
  const newestFirst = [...priors].sort((a, b) => b.submittedAtMs - a.submittedAtMs);
  const shown = [...newestFirst.filter(isSame), ...newestFirst.filter((prior) => !isSame(prior))];
  const rows = shown.slice(0, MAX_ROWS).map((prior) => ({
    icon: isSame(prior) ? 'warning' : 'history',
    name: isSame(prior) ? l10n.t('The same again') : l10n.t('Trained before'),
    value: isSame(prior) ? againText(prior, nowMs) : beforeText(prior),
  }));
  const left = shown.length - rows.length;
  return left === 0
    ? rows
    : [...rows, { icon: 'history', name: l10n.t('Trained before'), value: moreText(left) }];
}

function againText({ runId, submittedAtMs }: Prior, nowMs: number): string {
  const { l10n } = vscode;
  const ago = formatAgo(submittedAtMs, nowMs);
  return runId === undefined
    ? l10n.t(
        'You submitted this very dataset with this model {0} and discarded that: it may have been charged',
        ago,
      )
    : l10n.t('You submitted this very dataset with this model {0}: run {1}', ago, runId);
}

function beforeText({ runId, modelName, submittedAtMs }: Prior): string {
  const { l10n } = vscode;
  const day = formatDay(submittedAtMs);
  return runId === undefined
    ? l10n.t(
        'You submitted this dataset on {0} and discarded that ({1}): it may have been charged',
        day,
        modelName,
      )
    : l10n.t('You trained this dataset on {0}: run {1} ({2})', day, runId, modelName);
}

function moreText(count: number): string {
  return count === 1
    ? vscode.l10n.t('and once more')
    : vscode.l10n.t('and {0} more times', formatCount(count));
}
