import * as vscode from 'vscode';
import { formatBytes } from './format.ts';

export function downloadTitle(name: string): string {
  return vscode.l10n.t('Downloading the adapter of {0}', name);
}

export function downloadText(receivedBytes: number, totalBytes: number | undefined): string {
  return totalBytes === undefined
    ? formatBytes(receivedBytes)
    : vscode.l10n.t('{0} of {1}', formatBytes(receivedBytes), formatBytes(totalBytes));
}
