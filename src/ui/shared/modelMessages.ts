import * as vscode from 'vscode';
import { isOpenableUrl } from '../../core/api/address.ts';
import { showInformation } from './notifications.ts';

/** Opens a link that the service returned, if it is an https address; says whether it did. */
export async function openServiceLink(url: string): Promise<boolean> {
  return isOpenableUrl(url) && vscode.env.openExternal(vscode.Uri.parse(url, true));
}

export function notifyNoLink(): void {
  void showInformation(vscode.l10n.t('The service didn’t provide an https link for this.'));
}
