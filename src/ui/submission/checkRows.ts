import { l10n } from 'vscode';
import { verdictOf, type Report } from '../../core/datasets/report.ts';
import { privacyPhrase, verdictPhrase } from '../shared/datasetTexts.ts';
import { compact } from '../shared/format.ts';

/** An informational row in a list of choices. */
export interface Fact {
  icon: string;
  label: string;
  description: string;
}

/** Returns what a check adds to the summary of a submission: problems and possible personal data. */
export function checkRows(check: Report | 'unchecked'): Fact[] {
  const label = l10n.t('Check');
  if (check === 'unchecked')
    return [{ icon: 'warning', label, description: l10n.t('skipped, the check failed') }];
  const privacy = privacyPhrase(check);
  const verdict = verdictOf(check);
  const icon = verdict === 'errors' ? 'error' : 'warning';
  return compact(
    verdict !== 'clean' && { icon, label, description: verdictPhrase(check) },
    privacy !== '' && { icon: 'eye', label: l10n.t('Personal data'), description: privacy },
  );
}
