import assert from 'node:assert/strict';
import { reportOf } from '../../helpers/crash/cellRuns.ts';
import { runCell } from '../../helpers/crash/runCell.ts';
import { TRIALS } from '../../helpers/crash/sabotages.ts';
import { Stage } from '../../helpers/crash/stage.ts';
import { cellOf } from '../../helpers/crash/stories.ts';

describe('The harness notices', function () {
  this.timeout(30_000);
  let sound: Stage;

  before(async () => {
    sound = await Stage.set();
  });
  after(() => sound.strike());

  for (const [index, { name, sabotages, cell, expected }] of TRIALS.entries())
    it(name, async () => {
      const spec = cellOf({ mode: 'replays 2xx', ...cell, name }, 300_000 + index);
      const asItIs = await runCell(spec, sound);
      assert.equal(asItIs.violations.length, 0, reportOf(asItIs));
      const stage = await Stage.set(sabotages);
      try {
        const broken = await runCell(spec, stage);
        assert.ok(
          broken.violations.some((text) => expected.test(text)),
          reportOf(broken),
        );
      } finally {
        await stage.strike();
      }
    });

  it('that a sabotage has nothing to break any more', async () => {
    const gone = { file: 'src/core/submission/series.ts', from: 'no such line', to: '' };
    await assert.rejects(Stage.set([gone]), /does not find its one place/);
    const unused = { file: 'src/extension.ts', from: 'import', to: '' };
    await assert.rejects(Stage.set([unused]), /is not bundled/);
  });
});
