import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';

/** Provides the tools of agents, whose code is loaded at the first call, and the command that copies their skill. */
export function activateAgents(services: Services): void {
  const { agentTools, commands, context } = services;
  const tools = lazy(() =>
    import('./tools.ts').then(
      ({ Tools }) => new Tools(services),
      // VS Code logs a thrown error with the input, which contains paths of the machine.
      () => Promise.reject(new Error('fine-tuning-not-started')),
    ),
  );
  agentTools.provide({
    prepare: async (name, input) => (await tools()).prepare(name, input),
    invoke: async (name, input, token) => (await tools()).invoke(name, input, token),
  });
  commands.add('nothing', {
    [COMMANDS.copySkill]: async () => (await import('./copySkill.ts')).copySkill(context.extensionPath),
  });
}
