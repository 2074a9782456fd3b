import assert from 'node:assert/strict';
import { backoffMs, RETRIES, retryDelayMs } from '../../../../src/core/base/retry.ts';

describe('retryDelayMs', () => {
  it('adds jitter from 0 to a limit that doubles up to the maximum', () => {
    for (const [retries, limitMs] of [500, 1_000, 2_000].entries()) {
      assert.equal(retryDelayMs(RETRIES.read, retries, 0), 0);
      assert.equal(retryDelayMs(RETRIES.read, retries, 0.5), limitMs / 2);
    }
    assert.equal(backoffMs(RETRIES.read, 50), 20_000);
  });

  it('stops after the policy’s number of retries', () => {
    for (const [name, retries] of [
      ['read', 3],
      ['submission', 4],
      ['download', 8],
    ] as const) {
      assert.notEqual(retryDelayMs(RETRIES[name], retries - 1, 0), undefined, name);
      assert.equal(retryDelayMs(RETRIES[name], retries, 0), undefined, name);
    }
    assert.equal(retryDelayMs(RETRIES.watch, 50, 0.5), 150_000);
  });

  it('adds to Retry-After, and gives up if that is too long', () => {
    for (const [name, longestMs] of [
      ['read', 60_000],
      ['submission', 600_000],
      ['download', 300_000],
    ] as const) {
      assert.equal(retryDelayMs(RETRIES[name], 0, 0, longestMs), longestMs, name);
      assert.equal(retryDelayMs(RETRIES[name], 0, 0, longestMs + 1), undefined, name);
    }
    assert.equal(retryDelayMs(RETRIES.read, 1, 0.5, 2_000), 2_500);
  });
});
