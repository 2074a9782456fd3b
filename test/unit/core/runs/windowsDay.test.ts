import assert from 'node:assert/strict';
import { WindowsDay } from '../../../helpers/runs/windowsDay.ts';

// `npm run test:soak -- --windows` simulates whole days, with up to eight windows.
describe('several windows in some simulated hours', () => {
  for (const [kind, windows, hours] of [
    ['day', 3, 4],
    ['hang', 3, 2],
    ['start', 8, 1.3],
  ] as const)
    it(`notify once of each run that was seen active, within the requests of the goal: ${kind}`, async () => {
      const { problems, notified, requests } = await WindowsDay.simulate({ seed: 102, windows, hours, kind });
      assert.deepEqual([problems, kind === 'start' || notified > 0, requests > 50], [[], true, true]);
    });
});
