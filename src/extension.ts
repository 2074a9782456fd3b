import * as vscode from 'vscode';
import { COMMANDS } from './ui/shared/ids.ts';
import { notifyNotStarted } from './ui/shared/notStarted.ts';

/**
 * Does only what VS Code must wait for: it runs commands as soon as this returns. The features start in a
 * separate turn, so that neither windows nor other extensions wait for them.
 */
export function activate(context: vscode.ExtensionContext): void {
  let commands: ReturnType<typeof load> | undefined;
  const load = async () => {
    try {
      return await (await import('./start.ts')).start(context);
    } catch (error) {
      void notifyNotStarted();
      throw error;
    }
  };
  const started = () => (commands ??= load());
  for (const id of Object.values(COMMANDS))
    context.subscriptions.push(
      vscode.commands.registerCommand(id, async (...args: unknown[]) => (await started()).run(id, args)),
    );
  // VS Code logs its rejection.
  const turn = setImmediate(() => void started());
  context.subscriptions.push({ dispose: () => clearImmediate(turn) });
}
