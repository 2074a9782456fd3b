import assert from 'node:assert/strict';
import { MAX_DATASET_BYTES } from '../../../src/core/api/types.ts';
import { parseRange } from '../../../src/sandbox/artifacts.ts';
import { priceOf, STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';
import { planRun } from '../../../src/sandbox/lifecycle.ts';
import { MINUTE, SECOND, START } from '../../helpers/sandbox/stage.ts';

describe('the rules of the sandbox', () => {
  const priceCents = (bytes: number, priority: boolean) => priceOf('default', bytes, priority, 0).cents;

  it('price: 1.00 and a cent for each begun 10,000 bytes, half as much again for priority', () => {
    for (const [bytes, plain, priority] of [
      [1, 101, 152],
      [10_000, 101, 152],
      [10_001, 102, 153],
    ] as const)
      assert.deepEqual([priceCents(bytes, false), priceCents(bytes, true)], [plain, priority]);
    assert.ok(priceCents(MAX_DATASET_BYTES, true) <= STARTING_BALANCE_CENTS);
    assert.ok(2 * priceCents(MAX_DATASET_BYTES, false) > STARTING_BALANCE_CENTS);
  });

  it('time: 60 s of queue, or 10 s with priority, then 300 s and 1 s for each MB, divided by the speed', () => {
    const plain = planRun(START, 2_000_000, false, 1);
    assert.deepEqual([plain.starts_at, plain.completes_at], [START + MINUTE, START + MINUTE + 302 * SECOND]);
    const priority = planRun(START, 0, true, 10);
    assert.deepEqual([priority.starts_at, priority.completes_at], [START + SECOND, START + 31 * SECOND]);
  });

  it('byte ranges', () => {
    for (const [header, expected] of [
      [undefined, undefined],
      ['bytes=0-0', { first: 0, last: 0 }],
      ['bytes=10-19', { first: 10, last: 19 }],
      ['bytes=90-', { first: 90, last: 99 }],
      ['bytes=90-1000', { first: 90, last: 99 }],
      ['bytes=-1', { first: 99, last: 99 }],
      ['bytes=-1000', { first: 0, last: 99 }],
      ['bytes=-0', 'unsatisfiable'],
      ['bytes=100-', 'unsatisfiable'],
      ['bytes=100-200', 'unsatisfiable'],
      ['bytes=5-4', undefined],
      ['bytes=-', undefined],
      ['bytes=0-1,3-4', undefined],
      ['items=0-1', undefined],
      ['bytes=a-b', undefined],
    ] as const)
      assert.deepEqual(parseRange(header, 100), expected, header);
  });
});
