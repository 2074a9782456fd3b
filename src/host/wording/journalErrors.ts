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
            'The file {0} of the journal of submissions cannot be read: the same may be under way already.',
            path.basename(error.file),
          )
        : l10n.t('The journal of submissions cannot be read: the same may be under way already.');
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
        'More than 23 hours have passed since it was first sent. It is not sent again: the service knows an Idempotency-Key for 24 hours only.',
      );
    case 'clocks-disagree':
      return l10n.t(
        'How long ago it was first sent is not certain: a clock was set, the machine slept, or the service tells no time. It is not sent again.',
      );
    case 'candidates':
      return l10n.t(
        'A run that could be this one is listed now. Say first whether it is; nothing was sent again.',
      );
    case 'too-early':
      return 'retryAfterMs' in error && typeof error.retryAfterMs === 'number'
        ? l10n.t('The service asked to wait. Try again in {0}.', formatDuration(error.retryAfterMs))
        : l10n.t('The service asked to wait. Try again later.');
    case 'digest-failed':
      return l10n.t(
        'That the dataset is still the one that was chosen could not be verified. The log says why.',
      );
    case 'storage-full':
      return l10n.t('There is no space left where the extension keeps its journal of submissions.');
    case 'storage-denied':
      return l10n.t(
        'The folder in which the extension keeps its journal of submissions may not be written to.',
      );
    case 'storage-failed':
      return l10n.t('The journal of submissions could not be written or read. The log says why.');
    default:
      return undefined;
  }
}
