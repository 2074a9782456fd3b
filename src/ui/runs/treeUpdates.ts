import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { RunsNode } from './runRows.ts';

/** VS Code draws up to this many rows without a noticeable delay. */
const FEW_ROWS = 1_000;
/** How many rows VS Code draws per millisecond, roughly. */
const ROWS_PER_MS = 10;
/** How long VS Code may take to ask for the rows of a long list; a hidden view never asks. */
const LONGEST_MS = 10_000;
/** A row that is in no list. */
const NO_ROW: Readonly<RunsNode> = { kind: 'more' };

/**
 * Requests redraws from VS Code: of all rows only if some are added, removed, or moved. During a full refresh
 * VS Code forgets its rows; a pressed button then lacks its row. Full refreshes of a long list are rare.
 */
export class TreeUpdates implements Disposable {
  readonly #onDidChange = new vscode.EventEmitter<RunsNode[] | undefined>();
  /** The text of each run's row when it was last drawn. */
  readonly #drawn = new Map<string, string>();
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #release: NodeJS.Timeout | undefined;

  /** Fires with the rows to redraw, or with undefined for all. */
  readonly onDidChange = this.#onDidChange.event;

  drew(runId: string, text: string): void {
    this.#drawn.set(runId, text);
  }

  /** Whether a run's row was last drawn with another text. */
  isStale(runId: string, text: string): boolean {
    return this.#drawn.has(runId) && this.#drawn.get(runId) !== text;
  }

  /** Redraws all rows. A long list waits for the previous redraw; then VS Code asks for the newest rows. */
  list(count: number): void {
    const waitMs = this.#freeAtMs - performance.now();
    if (count <= FEW_ROWS || waitMs <= 0) this.#drawList(count);
    else this.#timer ??= setTimeout(() => this.#drawList(count), waitMs);
  }

  /** Called when VS Code asks for all rows. @param count their number */
  fetched(count: number): void {
    const waitMs = count / ROWS_PER_MS;
    this.#freeAtMs = performance.now() + waitMs;
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#drawList(count), waitMs);
    }
    clearTimeout(this.#release);
    // VS Code keeps the rows of the previous list until the next redraw: 2 KB each.
    if (count > FEW_ROWS) this.#release = setTimeout(() => this.#onDidChange.fire([NO_ROW]), waitMs);
  }

  /** Redraws rows whose text changed. */
  rows(nodes: readonly RunsNode[]): void {
    const drawn = nodes.filter((node) => node.kind !== 'run' || this.#drawn.has(node.runId));
    if (drawn.length > FEW_ROWS) this.list(drawn.length);
    else if (drawn.length > 0) this.#onDidChange.fire(drawn);
  }

  /** Forgets what was drawn, when the account changes. */
  forget(): void {
    this.#drawn.clear();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#release);
    this.#onDidChange.dispose();
  }

  #drawList(count: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (count > FEW_ROWS) this.#freeAtMs = performance.now() + LONGEST_MS;
    this.#onDidChange.fire(undefined);
  }
}
