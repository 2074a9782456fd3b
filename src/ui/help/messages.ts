import { l10n } from 'vscode';
import { showInformation } from '../shared/notifications.ts';

/** For the copy of the sample dataset. */
export const sampleWords = { title: () => l10n.t('Save the Sample Dataset') };

export function notifySupportInfoCopied(): void {
  void showInformation(
    l10n.t('Support info copied. It contains no API keys, addresses, file names or labels.'),
  );
}

/** Reports that there is no issue reporter. */
export function notifyNoReporter(): void {
  void showInformation(l10n.t('Issue reporting isn’t available here. Support info was copied.'));
}
