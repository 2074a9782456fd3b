import {
  workspace,
  type CancellationToken,
  type LanguageModelToolResult,
  type PreparedToolInvocation,
} from 'vscode';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import type { AgentTools, Services } from '../../services.ts';
import type { AgentTool } from '../shared/ids.ts';
import { setting } from '../shared/settings.ts';
import { data, Refusal, resultOf, type ToolResult } from './answer.ts';
import {
  checkDatasetTool,
  estimatePriceTool,
  ONE_DATASET,
  PREPARATION,
  prepareDatasetTool,
  PRICE,
} from './datasetTools.ts';
import { parseInput, type Input, type InputSchema } from './input.ts';
import { savedDataset } from './places.ts';
import { proposeRun, PROPOSAL } from './proposeRun.ts';
import { ADAPTER, getRunTool, inspectAdapterTool, listRunsTool, ONE_RUN, RUNS } from './runTools.ts';

/** A tool: its input, whether it writes or asks something, what VS Code shows while it runs, and its function. */
interface Tool {
  schema: InputSchema;
  isReadOnly: boolean;
  doing: string;
  run(services: Services, given: unknown, signal: AbortSignal): Promise<ToolResult>;
}

function tool<S extends InputSchema>(
  schema: S,
  doing: string,
  work: (services: Services, input: Input<S>, signal: AbortSignal) => Promise<ToolResult>,
  isReadOnly = true,
): Tool {
  return {
    ...{ schema, doing, isReadOnly },
    run: (services, given, signal) => work(services, parseInput(schema, given), signal),
  };
}

/** Every tool; package.json has their descriptions, and the same schemas. */
export const TOOLS: Readonly<Record<AgentTool, Tool>> = {
  fineTuning_checkDataset: tool(ONE_DATASET, 'Checking a dataset', checkDatasetTool),
  fineTuning_prepareDataset: tool(PREPARATION, 'Preparing a copy of a dataset', prepareDatasetTool, false),
  fineTuning_listRuns: tool(RUNS, 'Listing runs', listRunsTool),
  fineTuning_getRun: tool(ONE_RUN, 'Reading a run', getRunTool),
  fineTuning_estimatePrice: tool(PRICE, 'Estimating a price', estimatePriceTool),
  fineTuning_inspectAdapter: tool(ADAPTER, 'Inspecting an adapter', inspectAdapterTool),
  fineTuning_proposeRun: tool(PROPOSAL, 'Proposing a run to you', proposeRun, false),
};

/** Handles the calls of agents: checks what they may do, and returns nothing but results. */
export class Tools implements AgentTools {
  readonly #services: Services;
  /** Paths whose copy was refused before the user was asked about it. */
  readonly #unasked = new Set<string>();

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * VS Code may ask the user before a tool writes. A refusal here skips that, so the call must refuse, too.
   */
  async prepare(name: AgentTool, given: unknown): Promise<PreparedToolInvocation> {
    const invocationMessage = TOOLS[name].doing;
    if (name !== 'fineTuning_prepareDataset') return { invocationMessage };
    let path = '';
    try {
      ({ path } = parseInput(PREPARATION, given));
      assertAllowed(TOOLS[name]);
      const { shown } = await savedDataset(path);
      this.#unasked.delete(path);
      const message = `It adds files next to ${data(shown).data} and changes none.`;
      const confirmationMessages = { title: 'Prepare a copy of a dataset?', message };
      return { invocationMessage, confirmationMessages };
    } catch {
      this.#unasked.add(path);
      return { invocationMessage };
    }
  }

  async invoke(name: AgentTool, given: unknown, token: CancellationToken): Promise<LanguageModelToolResult> {
    const stop = new AbortController();
    if (token.isCancellationRequested) stop.abort();
    const subscription = token.onCancellationRequested(() => stop.abort());
    try {
      assertAllowed(TOOLS[name]);
      if (name === 'fineTuning_prepareDataset') await this.#assertAsked(parseInput(PREPARATION, given).path);
      return resultOf(await TOOLS[name].run(this.#services, given, stop.signal));
    } catch (error) {
      return resultOf({ error: this.#failureOf(name, error), ...(error instanceof Refusal && error.more) });
    } finally {
      subscription.dispose();
    }
  }

  /** @throws Refusal if the file was refused before this call, so that the user wasn't asked about it */
  async #assertAsked(path: string): Promise<void> {
    if (!this.#unasked.has(path)) return;
    await savedDataset(path);
    throw new Refusal(UNASKED);
  }

  #failureOf(name: AgentTool, error: unknown): string {
    if (error instanceof Refusal) return error.message;
    if (error instanceof CancelledError) return 'The call was canceled. Nothing was sent.';
    this.#services.log.error(name, error);
    if (!(error instanceof ExpectedError))
      return 'It failed unexpectedly. Don’t retry; ask the user to check the log.';
    return `It failed: ${/^[\w-]{1,60}$/.test(error.code) ? error.code : 'other'}. Retry at most once, then ask the user.`;
  }
}

const UNASKED =
  'A copy was refused before the user could be asked about it. Nothing was written. Call this once more.';
const TURNED_OFF =
  'The user turned this off with the setting "fineTuning.agents". Don’t change the setting or try another way; ask.';
const UNTRUSTED =
  'The user doesn’t trust this workspace. Nothing was read or written. Don’t try another way; ask the user.';

/** @throws Refusal */
function assertAllowed({ isReadOnly }: Tool): void {
  const allowed = setting('agents');
  if (allowed === 'off' || (allowed !== 'on' && !isReadOnly)) throw new Refusal(TURNED_OFF);
  if (!workspace.isTrusted) throw new Refusal(UNTRUSTED);
}
