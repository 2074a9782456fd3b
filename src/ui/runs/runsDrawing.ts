import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { AT_ONCE, DrawPace } from './drawPace.ts';
import type { RunsNode } from './runsNodes.ts';

/**
 * Owns what VS Code is told to draw anew. All rows only where some come, go or move: until it has asked for all of them again
 * it knows none, and the button of a row that is pressed meanwhile calls its command without the row.
 */
export class RunsDrawing implements Disposable {
  readonly #onDidChange = new vscode.EventEmitter<RunsNode[] | undefined>();
  readonly #pace = new DrawPace(() => this.#onDidChange.fire(undefined));
  /** What VS Code was given for the top level. */
  #roots: readonly RunsNode[] = [];
  /** What each run's row said when it was drawn last, by id. */
  readonly #said = new Map<string, string>();

  readonly onDidChange = this.#onDidChange.event;

  given(roots: RunsNode[]): RunsNode[] {
    this.#roots = roots;
    return roots;
  }

  drew(runId: string, said: string): void {
    this.#said.set(runId, said);
  }

  /** Whether a run's row was drawn, and said something else then. */
  isStale(runId: string, said: string): boolean {
    return this.#said.has(runId) && this.#said.get(runId) !== said;
  }

  /** Other rows than before, or in another order. @param count of the runs among them, for the pace */
  list(count: number): void {
    this.#pace.draw(count);
  }

  /** What all rows say; the rows as well where the top level is another than before, or where they are many. */
  all(roots: readonly RunsNode[], runs: readonly RunsNode[]): void {
    const isSame =
      runs.length <= AT_ONCE &&
      roots.length === this.#roots.length &&
      roots.every((node, at) => node === this.#roots[at]);
    if (isSame) this.rows([...roots.filter(({ kind }) => kind === 'submission'), ...runs]);
    else this.list(runs.length);
  }

  /** What these rows say, as far as they were drawn. */
  rows(nodes: readonly RunsNode[]): void {
    const drawn = nodes.filter((node) => node.kind !== 'run' || this.#said.has(node.runId));
    if (drawn.length > 0) this.#onDidChange.fire(drawn);
  }

  /** Other runs come. */
  forget(): void {
    this.#said.clear();
  }

  dispose(): void {
    this.#pace.dispose();
    this.#onDidChange.dispose();
  }
}
