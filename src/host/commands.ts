import * as vscode from 'vscode';
import type { CommandId } from './ids.ts';
import type { ErrorReporter } from './reportError.ts';

/** Registers commands by id; an error that ends one is told to the person, in one place. */
export function registerCommands(
  commands: Record<CommandId, (...args: unknown[]) => Promise<void> | void>,
  reporter: ErrorReporter,
): vscode.Disposable {
  const registrations = Object.entries(commands).map(([id, run]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        await run(...args);
      } catch (error) {
        reporter.report(error);
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}
