import assert from 'node:assert/strict';
import path from 'node:path';
import {
  CRASH_POINTS,
  crashCells,
  FAULT_NAMES,
  randomCell,
  secondWindowCells,
  storyCells,
  cellOf,
  type Cell,
} from '../../helpers/crash/cells.ts';
import { ProcessClock, SimulatedClock } from '../../helpers/crash/clock.ts';
import { LIES, type LieName } from '../../helpers/crash/lies.ts';
import { REPEATS } from '../../helpers/crash/service.ts';
import { reportOf, runCells, type CellResult } from '../../helpers/crash/simulation.ts';
import { Stage } from '../../helpers/crash/stage.ts';
import { isFull } from '../../helpers/weekly.ts';

/** Concurrent cells: each spends half of its time waiting for the disk or for its processes. */
const AT_ONCE = 3;
/** Timeout of a test, which includes waiting for earlier cells. */
const LIMIT_MS = 60 * 60_000;
const RANDOM_CELLS = 40;

/**
 * Always run: every crash point (a real SIGKILL), every fault, a second window at every crash point, all lies.
 * A seed that changes with each run samples: the crash points before a group of faults, half of the stories, and random
 * combinations of everything. TESTS=full combines every point with every fault and runs all stories, as CI does
 * once a week. CRASH_SEED=n repeats a run. `npm run test:soak` runs a thousand random cells, or repeats one.
 */
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000_000);
process.stdout.write(`Crash matrix: CRASH_SEED=${seed}\n`);
const sections = {
  'Every crash point and fault': crashCells(seed, isFull),
  'A second window at every crash point': secondWindowCells(),
  'Random combinations': Array.from({ length: RANDOM_CELLS }, (_, index) => randomCell(seed + index)),
  'Clocks, windows, users, machines, services': storyCells().filter(isChosen),
};
const lies = Object.entries(LIES).map(([name, { cell }], index) =>
  cellOf({ mode: 'replays 2xx', ...cell, name }, 300_000 + index),
);
/** Half of the stories, and all that alone reach a crash point. Four in a row, since each has another service. */
function isChosen({ crashes }: Cell, index: number): boolean {
  return (
    isFull ||
    (Math.floor(index / 4) + seed) % 2 === 0 ||
    crashes.some(({ point }) => point === 'claim written')
  );
}

/** The cells of the lies, without the lies: they must have no violation. Several lies share one. */
const withoutLie = new Map(lies.map((cell) => [contentOf(cell), { ...cell, name: `without: ${cell.name}` }]));

function contentOf({ faults, crashes, second, taker }: Cell): string {
  return JSON.stringify([faults, crashes, second, taker]);
}

describe('At most one charge, and a true result', function () {
  this.timeout(LIMIT_MS);
  let stage: Stage;
  let end: Promise<void>;
  const ends = new Map<string, PromiseWithResolvers<CellResult>>();
  const results: CellResult[] = [];

  before(async () => {
    stage = await new Stage().start();
    const lyingCells = lies.map((cell) => ({ ...cell, lie: cell.name as LieName }));
    const cells = [...Object.values(sections).flat(), ...withoutLie.values(), ...lyingCells];
    for (const { name } of cells) ends.set(name, Promise.withResolvers());
    end = runCells(cells, stage, AT_ONCE, (result) => {
      results.push(result);
      ends.get(result.cell.name)?.resolve(result);
    });
  });
  after(async () => {
    await end;
    await stage.end();
  });

  const resultOf = (name: string) => ends.get(name)!.promise;
  async function assertSound(name: string): Promise<void> {
    const result = await resultOf(name);
    assert.equal(result.violations.length, 0, `CRASH_SEED=${seed}\n${reportOf(result)}`);
  }

  for (const [section, cells] of Object.entries(sections))
    describe(section, () => {
      for (const { name } of cells) it(name, () => assertSound(name));
    });

  describe('is violated if storage or network lie, and the violation is detected', () => {
    for (const cell of lies)
      it(cell.name, async () => {
        await assertSound(withoutLie.get(contentOf(cell))!.name);
        const broken = await resultOf(cell.name);
        const { expected } = LIES[cell.name as LieName];
        assert.ok(
          broken.violations.some((text) => expected.test(text)),
          reportOf(broken),
        );
      });
  });

  it('covers a kill at every crash point, every fault, and every way a service treats a repeat', async () => {
    await end;
    const killedAt = new Set<string>(results.flatMap((result) => result.killedAt));
    const faults = new Set(results.flatMap((result) => result.faults));
    assert.deepEqual(
      [...CRASH_POINTS, 'claim written'].filter((point) => !killedAt.has(point)),
      [],
    );
    assert.deepEqual(
      FAULT_NAMES.filter((name) => !faults.has(name)),
      [],
    );
    // If the simulated service behaved better, the matrix would prove less.
    const repeats = new Set(results.flatMap((result) => result.repeats));
    assert.deepEqual([...repeats].sort(), [...REPEATS].sort());
    const pairs = new Set(
      results.flatMap((result) =>
        result.killedAt.flatMap((point) => result.faults.map((fault) => `${point} × ${fault}`)),
      ),
    );
    assert.ok(pairs.size >= (isFull ? 600 : 170), `${pairs.size} pairs of crash point and fault`);
  });

  it('simulates wrong and sleeping clocks for its processes', async () => {
    const clock = new SimulatedClock(path.join(stage.folder, 'time'));
    const shared = new ProcessClock(clock.file, (ms) => {
      clock.pass(ms);
      return Promise.resolve();
    });
    const [wallMs, monotonicMs] = [shared.nowMs(), shared.monotonicMs()];
    await shared.sleep(1000);
    clock.setWall(3_600_000);
    clock.sleepMachine(5000);
    assert.deepEqual([shared.nowMs() - wallMs, shared.monotonicMs() - monotonicMs], [3_606_000, 1000]);
    for (const one of [shared, clock]) one.dispose();
  });
});
