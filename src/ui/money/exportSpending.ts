import { homedir } from 'node:os';
import { l10n, Uri, window, workspace } from 'vscode';
import { safeFileName } from '../../core/base/fileNames.ts';
import { toCsv } from '../../core/money/exports.ts';
import type { ChargedRun } from '../../core/money/spending.ts';
import { formatRuns } from '../shared/format.ts';
import type { Log } from '../shared/log.ts';
import { notify, showError, showInformation } from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';

interface Exported {
  /** The name of the account. */
  account: string;
  nowMs: number;
  runs: () => readonly ChargedRun[];
  areAllLoaded: () => boolean;
  log: Pick<Log, 'error'>;
}

/** Writes an account's runs to the file that the user chooses. */
export async function exportSpending(exported: Exported): Promise<void> {
  const day = new Date(exported.nowMs).toISOString().slice(0, 10);
  const name = safeFileName(l10n.t('spending {0} {1}', exported.account, day), 'spending');
  const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.file(homedir());
  const file = await window.showSaveDialog({
    title: l10n.t('Export Spending'),
    defaultUri: Uri.joinPath(folder, `${name}.csv`),
    filters: { CSV: ['csv'] },
  });
  if (file === undefined) return;
  const runs = exported.runs();
  try {
    await workspace.fs.writeFile(file, Buffer.from(toCsv(runs)));
  } catch (error) {
    exported.log.error('spend-export', error);
    void showError(l10n.t('Couldn’t write {0}. Choose another folder.', file.fsPath));
    return;
  }
  const isComplete = exported.areAllLoaded() && runs.every(({ priceCents }) => priceCents !== undefined);
  const sentence = l10n.t('Exported {0} to {1}.', formatRuns(runs.length), file.fsPath);
  const reveal = revealOf(file);
  const text = isComplete ? sentence : l10n.t('{0} Some runs or prices may be missing.', sentence);
  notify(showInformation, text, { [reveal.title]: () => reveal.show() });
}
