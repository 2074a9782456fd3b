import type { Fact } from './messages.ts';

/** A row of the Runs view. Commands take the `run` and `submission` rows as their argument. */
export type RunsNode =
  | { kind: 'submission'; id: string }
  | { kind: 'day'; key: string }
  | { kind: 'run'; runId: string }
  | { kind: 'fact'; runId: string; fact: Fact }
  | { kind: 'more' }
  | { kind: 'none' };

/** Owns one object for each row: `reveal` and the redraw of one row find it by identity. */
export class RunsNodes {
  readonly #runs = new Map<string, RunsNode & { kind: 'run' }>();
  readonly #days = new Map<string, RunsNode & { kind: 'day' }>();
  readonly #submissions = new Map<string, RunsNode & { kind: 'submission' }>();
  readonly more: RunsNode = { kind: 'more' };
  /** In the place of rows that a filter hides. */
  readonly none: RunsNode = { kind: 'none' };

  run(runId: string): RunsNode & { kind: 'run' } {
    return kept(this.#runs, runId, () => ({ kind: 'run', runId }));
  }

  day(key: string): RunsNode & { kind: 'day' } {
    return kept(this.#days, key, () => ({ kind: 'day', key }));
  }

  submission(id: string): RunsNode & { kind: 'submission' } {
    return kept(this.#submissions, id, () => ({ kind: 'submission', id }));
  }

  /** Another account's rows come. */
  forgetRuns(): void {
    this.#runs.clear();
    this.#days.clear();
  }
}

function kept<T>(nodes: Map<string, T>, key: string, make: () => T): T {
  const node = nodes.get(key) ?? make();
  nodes.set(key, node);
  return node;
}
