import * as vscode from 'vscode';

/** Returns the tabs that show a file: as text, in a custom editor, or on one side of a diff. */
export function tabsOf(uri: vscode.Uri): vscode.Tab[] {
  const wanted = uri.toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter((tab) => urisOf(tab).some((shown) => shown.toString() === wanted));
}

export function urisOf({ input }: vscode.Tab): vscode.Uri[] {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) return [input.uri];
  return input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : [];
}
