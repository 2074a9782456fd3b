import { l10n } from 'vscode';
import { showWarning } from './notifications.ts';

/** What each unreadable file contained, and the consequences. Nothing was deleted. */
const SENTENCES = {
  state: (file: string) => l10n.t('Damaged run lists and download history were moved to {0}.', file),
  accounts: (file: string) =>
    l10n.t(
      'Your accounts couldn’t be read and were moved to {0}. Sign in again: open submissions may have been charged.',
      file,
    ),
  /** The file was moved or left in place. */
  submission: (file: string) =>
    l10n.t(
      'You may have been charged: the submission record {0} can’t be read. Compare your balance and runs.',
      file,
    ),
};

export type UnreadableFile = keyof typeof SENTENCES;

/** Reports that a file of the extension could not be read, with its current path. */
export function notifyUnreadable(what: UnreadableFile, file: string): void {
  void showWarning(SENTENCES[what](file));
}
