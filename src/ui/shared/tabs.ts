import * as vscode from 'vscode';

/** Whether a tab shows a file: as text, in a custom editor, or as a side of a comparison. */
export function isInTab(uri: vscode.Uri): boolean {
  const wanted = uri.toString();
  return vscode.window.tabGroups.all.some(({ tabs }) =>
    tabs.some((tab) => urisOf(tab).some((shown) => shown.toString() === wanted)),
  );
}

/** The files that a tab shows. */
export function urisOf({ input }: vscode.Tab): vscode.Uri[] {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) return [input.uri];
  return input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : [];
}
