import { commands, l10n } from 'vscode';
import { showError } from './notifications.ts';

/** Reports that the extension doesn't work in this window: an update may have replaced files before they were loaded. */
export async function notifyNotStarted(): Promise<void> {
  const reload = l10n.t('Reload Window');
  const choice = await showError(l10n.t('Fine-Tuning couldn’t start.'), reload);
  if (choice === reload) await commands.executeCommand('workbench.action.reloadWindow');
}
