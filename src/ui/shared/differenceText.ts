import { l10n } from 'vscode';
import type { Difference } from '../../core/datasets/fingerprints.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import { compact, formatCount, formatDay, formatRows } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

/** An earlier run as sentences name it. */
export interface NamedRun {
  label: string;
  day: string;
}

/** Names a run by the user's label, else by its model. */
export function namedRun(run: {
  label?: string | undefined;
  modelName: string;
  submittedAtMs: number;
}): NamedRun {
  return {
    label: sanitizeServiceText(userLabel(run.label) ?? run.modelName),
    day: formatDay(run.submittedAtMs),
  };
}

export function namedReceipt(
  { label, model_id, created }: Receipt,
  models: Pick<Session['models'], 'nameOf'>,
): NamedRun {
  return namedRun({ label, modelName: models.nameOf(model_id), submittedAtMs: created.localMs });
}

/** Says how the rows of a dataset differ from those of an earlier run, if its bytes do. */
export function differenceSentences(difference: Difference, { label, day }: NamedRun): string {
  const { added, removed, changed, equal, notCompared } = difference;
  const isSame = added + removed + changed === 0;
  const sentence =
    equal + changed === 0
      ? !isSame && l10n.t('No row in common with “{0}” ({1}).', label, day)
      : !isSame
        ? l10n.t('Since “{0}” ({1}): {2}.', label, day, changesOf(difference).join(', '))
        : equal === 1
          ? l10n.t('The same row as “{0}” ({1}), written otherwise.', label, day)
          : l10n.t(
              'The same {0} as “{1}” ({2}), written or ordered otherwise.',
              formatRows(equal),
              label,
              day,
            );
  const uncompared =
    notCompared === 1
      ? l10n.t('1 row with errors isn’t compared.')
      : l10n.t('{0} with errors aren’t compared.', formatRows(notCompared));
  return compact(sentence, notCompared > 0 && uncompared).join(' ');
}

/** The first count says that it is about rows. */
function changesOf({ added, removed, changed, equal }: Difference): string[] {
  const texts: readonly [count: number, text: (count: string) => string][] = [
    [added, (count) => l10n.t('{0} added', count)],
    [removed, (count) => l10n.t('{0} removed', count)],
    [changed, (count) => l10n.t('{0} changed', count)],
    [equal, (count) => l10n.t('{0} equal', count)],
  ];
  return texts
    .filter(([count]) => count > 0)
    .map(([count, text], index) => text(index === 0 ? formatRows(count) : formatCount(count)));
}
