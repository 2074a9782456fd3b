import * as vscode from 'vscode';
import { formatCount, formatDuration } from '../shared/format.ts';
import { missingText, type DetailsState } from './pageMessages.ts';

/** A part of a run beside that part of other runs, as `runs/` compares them. */
interface ComparisonView {
  othersMs: readonly number[];
  medianMs: number;
  longer: number;
  shorter: number;
  isSameModel: boolean;
}

export function spanName(span: 'queue' | 'training'): string {
  return span === 'queue' ? vscode.l10n.t('In the queue') : vscode.l10n.t('Training');
}

/**
 * How long a part took.
 * @param isRunning a clock tells it
 * @param training the run's phase, where the part is its training
 */
export function spanText(
  ms: number | undefined,
  isRunning: boolean,
  training: 'waiting' | 'active' | 'finished' | undefined,
  details: DetailsState,
): string {
  if (isRunning) return '';
  if (ms !== undefined) return formatDuration(ms);
  return training === 'waiting' ? vscode.l10n.t('not yet') : missingText(details, training === 'active');
}

/** How a part compares: `Shorter than 8 of your 10 other runs. Their median is 40 s.` */
export function comparisonText(ms: number | undefined, comparison: ComparisonView | undefined): string {
  const { l10n } = vscode;
  if (comparison === undefined) return l10n.t('No other run is loaded to compare it with.');
  const { othersMs, medianMs, longer, shorter } = comparison;
  const median =
    othersMs.length === 1
      ? l10n.t('That took {0}.', formatDuration(medianMs))
      : l10n.t('Their median is {0}.', formatDuration(medianMs));
  const others = othersText(comparison);
  if (ms === undefined) return l10n.t('To compare: {0}. {1}', others, median);
  if (longer === 0 && shorter === 0) return l10n.t('As long as {0}.', others);
  const text =
    longer >= shorter
      ? countText(longer, comparison, (of) => l10n.t('Shorter than {0}.', of))
      : countText(shorter, comparison, (of) => l10n.t('Longer than {0}.', of));
  return `${text} ${median}`;
}

/** The bars of a comparison, said. */
export function pictureText(
  name: string,
  ms: number | undefined,
  comparison: ComparisonView | undefined,
): string {
  const { l10n } = vscode;
  if (comparison === undefined) return '';
  const shortest = formatDuration(comparison.othersMs[0] ?? 0);
  const longest = formatDuration(comparison.othersMs.at(-1) ?? 0);
  const count = formatCount(comparison.othersMs.length);
  return ms === undefined
    ? l10n.t('{0}: {1} other runs from {2} to {3}', name, count, shortest, longest)
    : l10n.t(
        '{0}: this run {1}, {2} other runs from {3} to {4}',
        name,
        formatDuration(ms),
        count,
        shortest,
        longest,
      );
}

/** What the comparison goes by. */
export function comparedNote(canReadMore: boolean): string {
  const { l10n } = vscode;
  return canReadMore
    ? l10n.t('Compared with runs whose details are loaded; the service’s list tells no durations.')
    : l10n.t('Compared with every finished run that is loaded.');
}

export function readMoreWords(count: number): string {
  return count === 1
    ? vscode.l10n.t('Read 1 More Run to Compare')
    : vscode.l10n.t('Read {0} More Runs to Compare', formatCount(count));
}

function countText(count: number, comparison: ComparisonView, say: (of: string) => string): string {
  const { l10n } = vscode;
  const { length } = comparison.othersMs;
  if (length === 1) return say(othersText(comparison));
  if (count === length && length === 2)
    return say(
      comparison.isSameModel
        ? l10n.t('both of your other runs with this model')
        : l10n.t('both of your other runs'),
    );
  if (count === length)
    return say(
      comparison.isSameModel
        ? l10n.t('all {0} of your other runs with this model', formatCount(length))
        : l10n.t('all {0} of your other runs', formatCount(length)),
    );
  return say(
    comparison.isSameModel
      ? l10n.t('{0} of your {1} other runs with this model', formatCount(count), formatCount(length))
      : l10n.t('{0} of your {1} other runs', formatCount(count), formatCount(length)),
  );
}

function othersText({ othersMs: { length }, isSameModel }: ComparisonView): string {
  const { l10n } = vscode;
  if (length === 1) return isSameModel ? l10n.t('your other run with this model') : l10n.t('your other run');
  return isSameModel
    ? l10n.t('your {0} other runs with this model', formatCount(length))
    : l10n.t('your {0} other runs', formatCount(length));
}
