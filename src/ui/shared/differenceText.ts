import { l10n } from 'vscode';
import type { RowDifference } from '../../core/datasets/fingerprints.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/submission.ts';
import { compact, formatCount, formatDay, formatRows, formatShortDay } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

/** An earlier run as sentences name it. */
export type NamedRun = ReturnType<typeof namedReceipt>;

/** Names a run by the user's label, else by its model. */
export function namedReceipt(
  { label, model_id, created }: Pick<Receipt, 'label' | 'model_id' | 'created'>,
  { models }: { models: Pick<Session['models'], 'nameOf'> },
) {
  const name = sanitizeServiceText(userLabel(label) ?? models.nameOf(model_id));
  return { label: name, day: formatDay(created.localMs) };
}

/** Says how the rows of a dataset differ from those of an earlier run, if its bytes do. */
export function differenceSentences(difference: RowDifference, { label, day }: NamedRun): string {
  const { added, removed, changed, equal, notCompared } = difference;
  const uncompared =
    notCompared === 1
      ? l10n.t('1 row with errors isn’t compared.')
      : l10n.t('{0} with errors aren’t compared.', formatRows(notCompared));
  return compact(
    equal + changed === 0 && added + removed > 0 && l10n.t('No rows in common with “{0}” ({1}).', label, day),
    equal + changed > 0 && sinceText(difference, label, day),
    equal > 0 && added + removed + changed === 0 && l10n.t('Only text and roles are compared.'),
    notCompared > 0 && uncompared,
  ).join(' ');
}

/** A short form for lines that may be cut: `+21 −9 ~17 since Nov 28`; undefined if rows with errors hide whether anything changed. */
export function differenceNumbers(
  { added, removed, changed, notCompared }: RowDifference,
  submittedAtMs: number,
): string | undefined {
  const day = formatShortDay(submittedAtMs, Date.now());
  const numbers = compact(
    added > 0 && `+${formatCount(added)}`,
    removed > 0 && `−${formatCount(removed)}`,
    changed > 0 && `~${formatCount(changed)}`,
  ).join(' ');
  if (numbers === '') return notCompared > 0 ? undefined : l10n.t('same rows since {0}', day);
  return notCompared > 0
    ? l10n.t('{0} since {1} ({2} not compared)', numbers, day, formatCount(notCompared))
    : l10n.t('{0} since {1}', numbers, day);
}

function sinceText({ added, removed, changed, equal }: RowDifference, label: string, day: string): string {
  // The first count says that it is about rows.
  const counts = [added, removed, changed, equal];
  const first = counts.findIndex((count) => count > 0);
  const texts = counts.map((count, at) => (at === first ? formatRows(count) : formatCount(count)));
  const [more = '', fewer = '', other = '', same = ''] = texts;
  if (added + removed + changed === 0)
    return equal === 1
      ? l10n.t('The same row as in “{0}” ({1}), written differently.', label, day)
      : l10n.t('The same {0} as in “{1}” ({2}), written or ordered differently.', same, label, day);
  const changes = compact(
    added > 0 && l10n.t('{0} added', more),
    removed > 0 && l10n.t('{0} removed', fewer),
    changed > 0 && l10n.t('{0} changed', other),
    equal > 0 && l10n.t('{0} unchanged', same),
  );
  return l10n.t('Since “{0}” ({1}): {2}.', label, day, changes.join(', '));
}
