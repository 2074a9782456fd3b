import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { RunPageAction, RunPageMemory } from './protocol.ts';
import type { Session } from '../../core/runs/session.ts';
import { hasFileManager } from './runPageArtifacts.ts';
import type { RunPageParts } from './runPageView.ts';
import { comparableRuns, MORE_TO_COMPARE } from './runPageSections.ts';

/** Does what the buttons of a run's page ask for: mostly by the commands that a person has anywhere else, too. */
export class RunPageActions {
  readonly #memory: RunPageMemory;
  readonly #parts: Pick<RunPageParts, 'accounts' | 'beActive'>;
  readonly #session: () => Session | undefined;

  /** @param session of the page's account; undefined where that is not on this machine any more */
  constructor(
    memory: RunPageMemory,
    parts: Pick<RunPageParts, 'accounts' | 'beActive'>,
    session: () => Session | undefined,
  ) {
    this.#memory = memory;
    this.#parts = parts;
    this.#session = session;
  }

  /** @param target a path, an id or a text, as the button has it */
  async do(action: RunPageAction, target: string | undefined): Promise<void> {
    const { accountId, runId } = this.#memory;
    switch (action) {
      case 'download':
        return this.#ofAccount(COMMANDS.downloadAdapter, runId);
      case 'submitAgain':
        return this.#ofAccount(COMMANDS.submitAgain, runId);
      case 'switchAccount':
        return run(COMMANDS.switchAccount);
      case 'replaceKey':
        return run(COMMANDS.replaceKey, accountId);
      case 'useAccount':
        return this.#parts.accounts.activate(accountId);
      case 'refresh':
        return this.#refresh();
      case 'compare':
        return this.#readMore();
    }
    if (target !== undefined) await doWith(action, target);
  }

  async #ofAccount(command: CommandId, argument: string): Promise<void> {
    if (await this.#parts.beActive(this.#memory.accountId)) await run(command, argument);
  }

  /** What fails shows on the page, as the session's state or the details' failure. */
  async #refresh(): Promise<void> {
    const session = this.#session();
    if (session === undefined) return;
    await Promise.allSettled([
      session.runs.loadDetail(this.#memory.runId),
      session.runs.refresh(),
      session.models.refresh(),
      session.balance.refresh(),
    ]);
  }

  /** Reads some more runs to compare with, one after the other; the first that cannot be read ends it. */
  async #readMore(): Promise<void> {
    const session = this.#session();
    const { runId } = this.#memory;
    const modelId = session?.runs.get(runId)?.model_id;
    if (session === undefined || modelId === undefined) return;
    for (const other of comparableRuns(session, runId, modelId).slice(0, MORE_TO_COMPARE))
      await session.runs.loadDetail(other);
  }
}

async function doWith(action: RunPageAction, target: string): Promise<void> {
  switch (action) {
    case 'cancelDownload':
      return run(COMMANDS.cancelDownload, target);
    case 'inspect':
      return run(COMMANDS.inspectAdapter, vscode.Uri.file(target));
    case 'openDataset':
      return run(COMMANDS.previewDataset, vscode.Uri.file(target));
    case 'reveal':
      return run(hasFileManager() ? 'revealFileInOS' : 'revealInExplorer', vscode.Uri.file(target));
  }
}

async function run(command: string, ...args: unknown[]): Promise<void> {
  await vscode.commands.executeCommand(command, ...args);
}
