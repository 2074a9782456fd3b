import type * as vscode from 'vscode';
import { createServices, type AgentTools, type Services } from './services.ts';
import { activateAccounts } from './ui/accounts/feature.ts';
import { activateAdapters } from './ui/adapters/feature.ts';
import { activateAgents } from './ui/agents/feature.ts';
import { activateAnswers } from './ui/answers/feature.ts';
import { activateDatasets } from './ui/datasets/feature.ts';
import { activateDownloads } from './ui/downloads/feature.ts';
import { activateHelp } from './ui/help/feature.ts';
import { activateMoney } from './ui/money/feature.ts';
import { activateRuns } from './ui/runs/feature.ts';
import { activateSandbox } from './ui/sandbox/feature.ts';
import type { Commands } from './ui/shared/commands.ts';
import { activateSubmission } from './ui/submission/feature.ts';

/** Each feature registers its commands and views, and loads their code at first use. */
const FEATURES: readonly ((services: Services) => void)[] = [
  // Provides the connection to the sandbox.
  activateSandbox,
  activateAccounts,
  // Provides rows of the Runs view.
  activateSubmission,
  activateRuns,
  activateMoney,
  activateDownloads,
  activateDatasets,
  activateAdapters,
  activateAnswers,
  activateAgents,
  activateHelp,
];

/** Starts every feature, and returns what VS Code calls. */
export async function start(
  context: vscode.ExtensionContext,
): Promise<{ commands: Commands; agentTools: AgentTools }> {
  const services = await createServices(context);
  for (const activateFeature of FEATURES) activateFeature(services);
  return { commands: services.commands, agentTools: services.agentTools.get() };
}
