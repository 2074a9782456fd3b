import { existsSync } from 'node:fs';
import path from 'node:path';
import { l10n, window, workspace } from 'vscode';
import { modelCard } from '../../core/adapters/modelCard.ts';
import type { AdapterReport } from '../../core/adapters/report.ts';
import { showInformation } from '../shared/notifications.ts';

/**
 * Opens the draft of an adapter's model card in an unsaved editor; nothing is written.
 * @param folder the unpacked adapter, or where it would be unpacked
 */
export async function draftModelCard(
  report: AdapterReport,
  folder: string,
  termsUrls: readonly string[],
): Promise<void> {
  const content = modelCard(report, { folder, termsUrls });
  await window.showTextDocument(await workspace.openTextDocument({ language: 'markdown', content }));
  if (existsSync(path.join(folder, 'README.md')))
    void showInformation(l10n.t('The folder has a README.md. Save this draft over it if you want.'));
}
