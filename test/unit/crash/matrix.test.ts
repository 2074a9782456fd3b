import assert from 'node:assert/strict';
import { CellRuns } from '../../helpers/crash/cellRuns.ts';
import { FAULT_NAMES, matrixCells, secondWindowCells } from '../../helpers/crash/matrix.ts';
import { randomCell } from '../../helpers/crash/randomCell.ts';
import { CRASH_POINTS } from '../../helpers/crash/protocol.ts';
import { Stage } from '../../helpers/crash/stage.ts';
import { storyCells } from '../../helpers/crash/stories.ts';

/** A cell waits for those before it. */
const LIMIT_MS = 300_000;

const sections = {
  'Every crash point and fault': matrixCells(),
  'A second window at every crash point': secondWindowCells(),
  'Random combinations': Array.from({ length: 12 }, (_, index) => randomCell(index + 1)),
  'Clocks, windows, people, machines, services': storyCells(),
};

describe('At most one charge, and the truth', function () {
  this.timeout(LIMIT_MS);
  let stage: Stage;
  let runs: CellRuns;

  before(async () => {
    stage = await Stage.set();
    runs = new CellRuns(Object.values(sections).flat(), stage);
  });
  after(async () => {
    await runs.end;
    await stage.strike();
    process.stdout.write(`      ${runs.counts.toString()}\n`);
  });

  for (const [section, cells] of Object.entries(sections))
    describe(section, () => {
      for (const { name } of cells) it(name, () => runs.check(name));
    });

  it('killed a process at every crash point, and nearly always with every fault', async () => {
    await runs.end;
    const { pairs, cells } = runs.counts;
    for (const point of CRASH_POINTS)
      assert.ok(
        [...pairs].some((pair) => pair.startsWith(`${point} ×`)),
        `never killed at: ${point}`,
      );
    for (const fault of FAULT_NAMES)
      assert.ok(
        [...pairs].some((pair) => pair.endsWith(`× ${fault}`)),
        `never with: ${fault}`,
      );
    assert.ok(cells >= 150 && pairs.size >= 600, runs.counts.toString());
  });
});
