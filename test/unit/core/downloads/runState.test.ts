import assert from 'node:assert/strict';
import { reminderAt } from '../../../../src/core/downloads/runState.ts';

const HOUR = 3_600_000;
const EXPIRES = Date.UTC(2031, 4, 3, 12);

describe('reminderAt', () => {
  it('returns only the latest reminder, 1 day or 2 hours before', () => {
    for (const [leftMs, expected] of [
      [24 * HOUR + 1, undefined],
      [24 * HOUR, 'expires-in-1-day'],
      [2 * HOUR + 1, 'expires-in-1-day'],
      [2 * HOUR, 'expires-in-2-hours'],
      [1, 'expires-in-2-hours'],
      [0, undefined],
      [-24 * HOUR, undefined],
    ] as const)
      assert.equal(reminderAt(EXPIRES, EXPIRES - leftMs), expected, String(leftMs));
    assert.equal(reminderAt(NaN, EXPIRES), undefined);
  });
});
