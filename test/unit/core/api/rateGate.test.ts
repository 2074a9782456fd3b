import assert from 'node:assert/strict';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import { RateGate } from '../../../../src/core/api/rateGate.ts';

const DAY = 24 * 60 * 60_000;

describe('RateGate', () => {
  let nowMs: number;
  let gate: RateGate;

  beforeEach(() => {
    nowMs = 10 * DAY;
    gate = new RateGate(() => nowMs);
  });
  const refuse = (retryAfterMs?: number) =>
    gate.refused(new ServiceError('rate_limited', 429, '', retryAfterMs));

  it('is open at first, and never closed for less than before', () => {
    assert.deepEqual([gate.untilMs(), gate.remainingMs()], [undefined, 0]);
    refuse(5_000);
    refuse(0);
    gate.holdUntil(nowMs + 4_000);
    refuse();
    assert.deepEqual([gate.untilMs(), gate.remainingMs()], [nowMs + 5_000, 5_000]);
  });

  it('closes for longer and longer without a Retry-After, until a call passes', () => {
    const waits = Array.from({ length: 8 }, () => {
      refuse();
      const remainingMs = gate.remainingMs();
      nowMs += remainingMs;
      return remainingMs;
    });
    assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
    gate.passed();
    refuse();
    assert.equal(gate.remainingMs(), 500);
  });

  it('holds reads that somebody waits for ten minutes at most', () => {
    refuse(DAY);
    assert.deepEqual([gate.remainingMs(), gate.remainingMs(true)], [DAY, 600_000]);
    nowMs += 600_000;
    gate.assertOpen(true);
    assert.throws(() => gate.assertOpen(false), { retryAfterMs: DAY - 600_000 });
  });

  it('waits the remaining time again where the clock was set back', () => {
    refuse(5_000);
    nowMs -= DAY;
    assert.equal(gate.remainingMs(), 5_000);
    nowMs += 5_000;
    assert.equal(gate.remainingMs(), 0);
  });
});
