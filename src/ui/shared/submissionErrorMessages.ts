import path from 'node:path';
import * as vscode from 'vscode';
import { formatDuration } from './format.ts';

/** Why nothing is sent, or sent again, for the sake of the journal of submissions; undefined for other codes. */
export function journalSentence(code: string, error: Error): string | undefined {
  const { l10n } = vscode;
  switch (code) {
    case 'lease-unavailable':
      return l10n.t(
        'The folder of the extension cannot be locked, and without that two windows could submit or download the same.',
      );
    case 'journal-busy':
      return l10n.t('Other windows are writing to the journal of submissions. Try again in a moment.');
    case 'journal-unreadable':
      return 'file' in error && typeof error.file === 'string'
        ? l10n.t(
            'Can’t read the submission record {0}. Submitting now could charge you twice.',
            path.basename(error.file),
          )
        : l10n.t('Can’t read the submission records. Submitting now could charge you twice.');
    case 'later-version':
      return l10n.t(
        'A submission of the same dataset and model is open that a later version of this extension made. Update the extension to go on with it.',
      );
    case 'not-owner':
    case 'lease-lost':
      return l10n.t('Another window may have taken this submission over: this one sends no more of it.');
    case 'key-replaced':
      return l10n.t(
        'It was sent with another API key before. It is not sent again with this one, which may belong to another account of the service.',
      );
    case 'window-closed':
      return l10n.t(
        'Can’t resend: the first attempt was more than 23 hours ago, and the service only prevents double charges for 24 hours.',
      );
    case 'clocks-disagree':
      return l10n.t(
        'Can’t resend safely: the time of the first attempt is uncertain (clock change or sleep).',
      );
    case 'candidates':
      return l10n.t('A matching run has appeared. Confirm whether it’s yours before resending.');
    case 'too-early':
      return 'retryAfterMs' in error && typeof error.retryAfterMs === 'number'
        ? l10n.t('The service asked to wait. Try again in {0}.', formatDuration(error.retryAfterMs))
        : l10n.t('The service asked to wait. Try again later.');
    case 'digest-failed':
      return l10n.t('Couldn’t verify that the dataset is unchanged. See the log for details.');
    default:
      return undefined;
  }
}
