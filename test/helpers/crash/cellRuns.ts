import assert from 'node:assert/strict';
import type { CellResult, CellSpec } from './cellSpec.ts';
import { runCells } from './runCell.ts';
import type { Stage } from './stage.ts';

/** Cells that run at the same time: each waits half of its time, for the disk or for its processes. */
const AT_ONCE = 3;

/** What many cells came to together. */
export class Counts {
  cells = 0;
  windows = 0;
  kills = 0;
  attempts = 0;
  charges = 0;
  failed = 0;
  /** Crash points at which a process was killed, each with the faults of its cell. */
  readonly pairs = new Set<string>();

  add({ windows, kills, attempts, charges, killedAt, faults, violations }: CellResult): void {
    this.cells += 1;
    this.windows += windows;
    this.kills += kills;
    this.attempts += attempts;
    this.charges += charges;
    if (violations.length > 0) this.failed += 1;
    for (const point of killedAt) for (const fault of faults) this.pairs.add(`${point} × ${fault}`);
  }

  toString(): string {
    const { cells, windows, kills, attempts, charges, pairs, failed } = this;
    return (
      `${cells} cells, ${windows} windows, ${kills} kills, ${attempts} attempts, ${charges} charges, ` +
      `${pairs.size} pairs of crash point and fault, ${failed} cells failed`
    );
  }
}

/** What to read where a cell failed: what is wrong, how to repeat it, what happened. */
export function reportOf({ spec, violations, story }: CellResult): string {
  return [
    ...violations,
    `cell: ${spec.name} (npm run test:soak -- --cell ${JSON.stringify(spec.name)})`,
    JSON.stringify(spec),
    ...story,
  ].join('\n');
}

/** Runs cells in the background, while tests wait for theirs one after the other. */
export class CellRuns {
  readonly counts = new Counts();
  readonly #results = new Map<string, Promise<CellResult>>();
  readonly #end: Promise<void>;

  constructor(specs: readonly CellSpec[], stage: Stage) {
    const settle = new Map<string, (result: CellResult) => void>();
    for (const { name } of specs)
      this.#results.set(name, new Promise((resolve) => settle.set(name, resolve)));
    this.#end = runCells(specs, stage, AT_ONCE, (result) => {
      this.counts.add(result);
      settle.get(result.spec.name)?.(result);
    });
  }

  /** @throws AssertionError where the cell violates an invariant */
  async check(name: string): Promise<void> {
    const result = await this.#results.get(name)!;
    assert.equal(result.violations.length, 0, reportOf(result));
  }

  get end(): Promise<void> {
    return this.#end;
  }
}
