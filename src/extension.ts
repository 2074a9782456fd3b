import * as vscode from 'vscode';
import { AGENT_TOOLS, COMMANDS } from './ui/shared/ids.ts';
import { notifyNotStarted } from './ui/shared/notStarted.ts';

/**
 * Does only what VS Code must wait for: it runs commands and tools as soon as this returns. The features start in a
 * separate turn, so that neither windows nor other extensions wait for them.
 */
export function activate(context: vscode.ExtensionContext): void {
  let parts: ReturnType<typeof load> | undefined;
  const load = async () => {
    try {
      return await (await import('./start.ts')).start(context);
    } catch (error) {
      void notifyNotStarted();
      throw error;
    }
  };
  const started = () => (parts ??= load());
  for (const id of Object.values(COMMANDS))
    context.subscriptions.push(
      vscode.commands.registerCommand(id, async (...args: unknown[]) =>
        (await started()).commands.run(id, args),
      ),
    );
  // Some editors have no tools.
  const { lm } = vscode as Partial<typeof vscode>;
  const agentTools = () =>
    started().then(
      (loaded) => loaded.agentTools,
      // VS Code logs a thrown error with the input.
      () => Promise.reject(new Error('fine-tuning-not-started')),
    );
  for (const name of lm === undefined ? [] : AGENT_TOOLS)
    context.subscriptions.push(
      vscode.lm.registerTool<unknown>(name, {
        prepareInvocation: async ({ input }) => (await agentTools()).prepare(name, input),
        invoke: async ({ input }, token) => (await agentTools()).invoke(name, input, token),
      }),
    );
  // VS Code logs its rejection.
  const turn = setImmediate(() => void started());
  context.subscriptions.push({ dispose: () => clearImmediate(turn) });
}
