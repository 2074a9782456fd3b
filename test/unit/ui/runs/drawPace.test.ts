import assert from 'node:assert/strict';
import { DrawPace } from '../../../../src/ui/runs/drawPace.ts';
import { until } from '../../../helpers/runs/support.ts';

describe('DrawPace', () => {
  const now = Date.now.bind(Date);
  let drawn: number;
  let pace: DrawPace;

  beforeEach(() => {
    drawn = 0;
    pace = new DrawPace(() => drawn++);
  });
  afterEach(() => {
    Date.now = now;
    pace.dispose();
  });

  it('draws a long list at once, then together what changes soon after, and a short one always', async () => {
    for (let turn = 0; turn < 5; turn++) pace.draw(1_500);
    assert.equal(drawn, 1);
    await until(() => drawn === 2);
    for (let turn = 0; turn < 5; turn++) pace.draw(1_000);
    assert.equal(drawn, 7);
  });

  it('does not wait for a clock that was set back', async () => {
    pace.draw(1_500);
    Date.now = () => now() - 3_600_000;
    pace.draw(1_500);
    await until(() => drawn === 2);
  });

  it('draws nothing after its end', async () => {
    pace.draw(1_500);
    pace.draw(1_500);
    pace.dispose();
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal(drawn, 1);
  });
});
