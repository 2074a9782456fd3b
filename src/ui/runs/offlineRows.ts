import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';

/** Of no file: it only carries the color of rows that may be out of date. */
const SCHEME = 'fine-tuning-offline';

/** The address of a row that is shown while the service is out of reach: VS Code colors no label without one. */
export function offlineRow(id: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${encodeURIComponent(id)}` });
}

/** Dims the labels of such rows. */
export function dimOfflineRows(): Disposable {
  const color = new vscode.ThemeColor('disabledForeground');
  const dimmed = new vscode.FileDecoration(undefined, undefined, color);
  return vscode.window.registerFileDecorationProvider({
    provideFileDecoration: ({ scheme }) => (scheme === SCHEME ? dimmed : undefined),
  });
}
