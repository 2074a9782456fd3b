import path from 'node:path';
import { l10n, Uri } from 'vscode';
import { formatCount } from './format.ts';
import { notify, showWarning } from './notifications.ts';
import { revealOf } from './open.ts';

/** What the unreadable files contain, and the consequences. Nothing was deleted. */
const SENTENCES = {
  accounts: (file: string) =>
    l10n.t(
      'You may have been charged for open submissions. Your accounts file couldn’t be read and was moved to {0}; sign in again.',
      file,
    ),
  /** The files were moved or left in place. */
  submission: (file: string, count: number) =>
    count === 1
      ? l10n.t(
          'You may have been charged: the submission record {0} can’t be read. Compare your balance with your runs.',
          file,
        )
      : l10n.t(
          'You may have been charged: {0} submission records can’t be read. Compare your balance with your runs.',
          formatCount(count),
        ),
};

export type UnreadableFile = keyof typeof SENTENCES;

/** Reports files of one kind that could not be read, by their current paths, and offers their folder; there is at least one. */
export function notifyUnreadable(what: UnreadableFile, files: readonly string[]): void {
  const file = files.at(-1) ?? '';
  const { title, show } = revealOf(Uri.file(file));
  notify(showWarning, SENTENCES[what](path.basename(file), files.length), { [title]: show });
}
