import assert from 'node:assert/strict';
import { useFolder } from '../../../helpers/folder.ts';
import { isFull } from '../../../helpers/weekly.ts';
import { stressVersions, type Variant } from '../../../helpers/storage/versionsStress.ts';

const ROUNDS = isFull ? 500 : 120;
const ROUNDS_UNTIL_FORKED = 200;

describe('three windows that are killed and stopped at any time', function () {
  this.timeout(300_000);
  const folder = useFolder();
  const stress = async (variant: Variant, rounds = ROUNDS) => {
    const seed = Date.now();
    const result = await stressVersions(folder(), { rounds, variant, seed });
    assert.ok(result.acknowledged > 0 && result.kills > 0 && result.stops > 0);
    return result.violations;
  };

  for (const variant of ['hard links', 'no hard links'] as const)
    it(`leave each record one history: ${variant}`, async () => assert.deepEqual(await stress(variant), []));

  it('leave two if names are freed', async () => {
    const violations = await stress('freed names', ROUNDS_UNTIL_FORKED);
    assert.ok(violations.some((violation) => violation.startsWith('fork')));
  });
});
