import * as vscode from 'vscode';

/** Above this many UTF-16 units VS Code keeps a document from extensions, and shows nothing of theirs in it. */
export const MAX_SYNCED_UNITS = 50 * 1024 * 1024;

/** The open text document of a file, if VS Code tells extensions of it. */
export function openDocument(path: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
}

/** Whether problems of a file can stand in its editor: it is open and synced, or small enough to become so. */
export function canShowProblems(path: string, sizeBytes: number): boolean {
  // A file has at least as many bytes as UTF-16 units.
  return sizeBytes <= MAX_SYNCED_UNITS || openDocument(path) !== undefined;
}
