import * as vscode from 'vscode';
import { showError, showInformation } from '../shared/notifications.ts';

/** What quick fixes are called. */
export const fixWords = {
  removeBlankLine: () => vscode.l10n.t('Remove this blank line'),
  removeBlankLines: () => vscode.l10n.t('Remove all blank lines'),
  removeBom: () => vscode.l10n.t('Remove this byte order mark'),
  removeBoms: () => vscode.l10n.t('Remove the byte order marks before all rows'),
  removeDuplicates: () => vscode.l10n.t('Remove all repeated rows (the first of each stays)'),
  lineFeeds: () => vscode.l10n.t('End all lines with LF'),
  arrayToLines: () => vscode.l10n.t('Write the elements as lines into a new file'),
  withoutBom: () => vscode.l10n.t('Write a copy without the byte order mark'),
};

export const rewriteWords = {
  title: (name: string) => vscode.l10n.t('Writing a copy of {0}', name),
};

/** Tells which file is new, and that the other one is as it was. */
export function tellRewritten(newName: string, oldName: string): void {
  void showInformation(vscode.l10n.t('{0} was written beside {1}, which stays as it is.', newName, oldName));
}

/** Tells why there is no new file. */
export function tellNotRewritten(name: string, why: 'not-an-array' | 'file-system'): void {
  const { l10n } = vscode;
  void showError(
    why === 'not-an-array'
      ? l10n.t(
          '{0} is no whole JSON array: it is cut off, has something beside the array, or a line break inside a text. Nothing was written.',
          name,
        )
      : l10n.t(
          'No copy of {0} could be written beside it. Check the permissions of the folder and its space.',
          name,
        ),
  );
}
