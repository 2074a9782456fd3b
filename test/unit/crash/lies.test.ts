import assert from 'node:assert/strict';
import { reportOf } from '../../helpers/crash/cellRuns.ts';
import { LIES, type LieName } from '../../helpers/crash/lies.ts';
import { runCell } from '../../helpers/crash/runCell.ts';
import { Stage } from '../../helpers/crash/stage.ts';
import { cellOf } from '../../helpers/crash/stories.ts';

describe('The harness notices that', function () {
  this.timeout(30_000);
  let stage: Stage;

  before(async () => {
    stage = await Stage.set();
  });
  after(() => stage.strike());

  for (const [index, lie] of (Object.keys(LIES) as LieName[]).entries())
    it(lie, async () => {
      const { cell, expected } = LIES[lie];
      const spec = cellOf({ mode: 'replays 2xx', ...cell, name: lie }, 300_000 + index);
      const sound = await runCell(spec, stage);
      assert.equal(sound.violations.length, 0, reportOf(sound));
      const broken = await runCell({ ...spec, lie }, stage);
      assert.ok(
        broken.violations.some((text) => expected.test(text)),
        reportOf(broken),
      );
    });
});
