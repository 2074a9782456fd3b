import assert from 'node:assert/strict';
import { useFolder } from '../../../helpers/folder.ts';
import { stressVersions, type Variant } from '../../../helpers/storage/versionsStress.ts';
import { isFull } from '../../../helpers/weekly.ts';

const ROUNDS = isFull ? 500 : 120;

describe('three windows that submit the same bytes, and are killed and stopped at any time', function () {
  this.timeout(300_000);
  const folder = useFolder();
  const stress = async (variant: Variant) => {
    const result = await stressVersions(folder(), { rounds: ROUNDS, variant, seed: Date.now() });
    assert.ok(result.claimed > 0 && result.sent > 0 && result.kills > 0 && result.stops > 0);
    return result.violations;
  };

  for (const variant of ['hard links', 'no hard links'] as const)
    it(`claim each name once, and are charged once: ${variant}`, async () =>
      assert.deepEqual(await stress(variant), []));

  // These variants break the rules, which shows that the stress test finds violations.
  for (const [variant, found] of [
    ['replaced names', 'fork'],
    ['list read again', 'claimed, and the user was told of'],
  ] as const)
    it(`are not: ${variant}`, async () =>
      assert.ok((await stress(variant)).some((violation) => violation.startsWith(found))));
});
