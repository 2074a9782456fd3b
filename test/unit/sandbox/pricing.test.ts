import assert from 'node:assert/strict';
import { MAX_DATASET_BYTES } from '../../../src/core/api/types.ts';
import { priceCents, STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';

describe('sandbox pricing', () => {
  it('asks 1.00 and a cent for each begun 10,000 bytes', () => {
    assert.equal(priceCents(1, false), 101);
    assert.equal(priceCents(10_000, false), 101);
    assert.equal(priceCents(10_001, false), 102);
  });

  it('asks half as much again for priority, rounded up', () => {
    assert.equal(priceCents(1, true), 152);
    assert.equal(priceCents(10_001, true), 153);
  });

  it('lets the starting balance pay the largest dataset once, with priority too, and not twice', () => {
    assert.ok(priceCents(MAX_DATASET_BYTES, true) <= STARTING_BALANCE_CENTS);
    assert.ok(2 * priceCents(MAX_DATASET_BYTES, false) > STARTING_BALANCE_CENTS);
  });
});
