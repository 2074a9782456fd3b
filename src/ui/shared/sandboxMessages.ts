import * as vscode from 'vscode';

/** What is always true of the sandbox. */
export function sandboxNote(): string {
  return vscode.l10n.t('Sandbox: no training, no charges.');
}

/** A message, which in the sandbox says that it is the sandbox. */
export function withSandboxNote(text: string, isSandbox: boolean): string {
  return isSandbox ? `${text} ${sandboxNote()}` : text;
}
