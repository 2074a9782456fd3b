import * as vscode from 'vscode';
import type { CommandId } from './ids.ts';

/** Registers commands by id. @param onError gets the error that ended one, and what calls it again with its arguments */
export function registerCommands(
  commands: Record<CommandId, (...args: unknown[]) => Promise<void> | void>,
  onError: (error: unknown, again: () => void) => void,
): vscode.Disposable {
  const registrations = Object.entries(commands).map(([id, run]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        await run(...args);
      } catch (error) {
        onError(error, () => void vscode.commands.executeCommand(id, ...args));
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}
