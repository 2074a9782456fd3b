import { commands, l10n } from 'vscode';
import { showError } from './notifications.ts';

/** Reports that nothing works in this window: an update may have replaced the files that it was about to load. */
export async function notifyNotStarted(): Promise<void> {
  const reload = l10n.t('Reload Window');
  const choice = await showError(l10n.t('Fine-Tuning couldn’t start.'), reload);
  if (choice === reload) await commands.executeCommand('workbench.action.reloadWindow');
}
