import * as vscode from 'vscode';
import type { RunsNode } from './runRows.ts';

/** So many rows are drawn in no time. */
const FEW_ROWS = 1_000;
/** VS Code takes longer, the more rows there are. */
const ROWS_PER_MS = 10;

/**
 * Has VS Code draw again what changed. All rows only where some come, go or move: until VS Code has asked for all of them it knows none,
 * and the button of a row that is pressed meanwhile calls its command without the row. A long list is drawn now and then.
 */
export class TreeUpdates implements vscode.Disposable {
  readonly #onDidChange = new vscode.EventEmitter<RunsNode[] | undefined>();
  /** What each run's row said when it was last drawn. */
  readonly #drawn = new Map<string, string>();
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  readonly onDidChange = this.#onDidChange.event;

  drew(runId: string, text: string): void {
    this.#drawn.set(runId, text);
  }

  /** Whether a run's row was drawn with another text. */
  isStale(runId: string, text: string): boolean {
    return this.#drawn.has(runId) && this.#drawn.get(runId) !== text;
  }

  /** Rows came, went or moved. @param count of all rows: a long list waits for the one before */
  list(count: number): void {
    const waitMs = this.#freeAtMs - performance.now();
    if (count <= FEW_ROWS || waitMs <= 0) this.#drawList(count);
    else this.#timer ??= setTimeout(() => this.#drawList(count), waitMs);
  }

  /** The texts of these rows changed. */
  rows(nodes: readonly RunsNode[]): void {
    const drawn = nodes.filter((node) => node.kind !== 'run' || this.#drawn.has(node.runId));
    if (drawn.length > FEW_ROWS) this.list(drawn.length);
    else if (drawn.length > 0) this.#onDidChange.fire(drawn);
  }

  /** Another account's runs come. */
  forget(): void {
    this.#drawn.clear();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#onDidChange.dispose();
  }

  #drawList(count: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#freeAtMs = performance.now() + count / ROWS_PER_MS;
    this.#onDidChange.fire(undefined);
  }
}
