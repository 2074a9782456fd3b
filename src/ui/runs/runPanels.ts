import type * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { PANELS } from '../shared/ids.ts';
import { isRecord, WebviewPanels } from '../shared/webview.ts';
import type { RunPageMemory } from './protocol.ts';
import { RunPage } from './runPage.ts';
import type { RunPageParts } from './runPageView.ts';

/** IDs of accounts and runs are short: what a page remembered may be anything. */
const MAX_ID_LENGTH = 400;

/** Owns the open run pages: one for each run of an account. */
export class RunPanels implements Disposable {
  readonly #panels: WebviewPanels<RunPageMemory, RunPage>;

  constructor(extensionUri: vscode.Uri, parts: Omit<RunPageParts, 'extensionUri'>) {
    this.#panels = new WebviewPanels({
      viewType: PANELS.run,
      memoryOf: runPageMemoryOf,
      keyOf: ({ accountId, runId }) => JSON.stringify([accountId, runId]),
      create: (panel, memory) => new RunPage(memory, panel, { ...parts, extensionUri }),
    });
  }

  show(accountId: string, runId: string): void {
    this.#panels.show({ accountId, runId });
  }

  dispose(): void {
    this.#panels.dispose();
  }
}

function runPageMemoryOf(state: unknown): RunPageMemory | undefined {
  if (!isRecord(state)) return undefined;
  const { accountId, runId } = state;
  return isId(accountId) && isId(runId) ? { accountId, runId } : undefined;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH;
}
