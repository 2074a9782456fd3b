import * as vscode from 'vscode';
import { COMMANDS } from './ui/shared/ids.ts';
import { notifyNotStarted } from './ui/shared/startMessages.ts';

/**
 * Does only what VS Code has to wait for: it calls commands as soon as this returns. The features start in a turn of their own, so
 * that windows and other extensions wait for none of it.
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
  // VS Code logs what it rejects with.
  const turn = setImmediate(() => void started());
  context.subscriptions.push({ dispose: () => clearImmediate(turn) });
}
