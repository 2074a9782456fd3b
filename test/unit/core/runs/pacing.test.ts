import assert from 'node:assert/strict';
import { RequestQuota, pollEveryMs } from '../../../../src/core/runs/pacing.ts';
import { phaseOf } from '../../../../src/core/runs/run.ts';
import { row } from '../../../helpers/runs/support.ts';

describe('phaseOf', () => {
  it('recognizes contract statuses, artifacts, end times, and likely ends; all else is active', () => {
    const detail = { run_id: 'r', status: 'running', model_id: 'm' };
    for (const [phase, statuses] of [
      ['waiting', ['queued']],
      ['finished', ['complete', 'completed']],
      ['ended', ['failed', 'ERROR: oom', 'cancelled', 'Canceled', 'rejected', 'expired', 'aborted_by_user']],
      ['active', ['running', 'Complete', 'COMPLETED', '', 'queued ', '__proto__']],
    ] as const)
      for (const status of statuses) assert.equal(phaseOf(row('r', 0, status), detail), phase, status);
    assert.equal(phaseOf({ ...row('r', 0, 'archived'), artifacts_available: true }), 'finished');
    for (const more of [{ status: 'completed' }, { completed_at: '2026-01-01T00:00:00Z' }])
      assert.equal(phaseOf(row('r', 0, 'running'), { ...detail, ...more }), 'finished');
  });
});

describe('pollEveryMs', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;

  it('increases with age, or with few GETs left; Infinity with nothing to watch', () => {
    for (const [ageMs, isScarce, expectedMs] of [
      [0, false, 5000],
      [MINUTE - 1, false, 5000],
      [MINUTE, false, 15_000],
      [5 * MINUTE, false, 45_000],
      [20 * MINUTE, false, 2 * MINUTE],
      [HOUR, false, 5 * MINUTE],
      [24 * HOUR, false, 30 * MINUTE],
      [1e12, false, 30 * MINUTE],
      [0, true, 90_000],
      [HOUR, true, 5 * MINUTE],
      [Infinity, false, Infinity],
    ] as const)
      assert.equal(pollEveryMs(ageMs, isScarce), expectedMs, `${ageMs} ${isScarce}`);
  });
});

describe('RequestQuota', () => {
  const HOUR = 60 * 60_000;
  let nowMs: number;
  let quota: RequestQuota;

  beforeEach(() => {
    nowMs = 5;
    quota = new RequestQuota({ monotonicMs: () => nowMs });
  });
  const drain = (take = () => quota.take()) => {
    let taken = 0;
    while (take()) taken++;
    return taken;
  };

  it('gives tokens for extras only to the reader, except for data that the user sees in another window', () => {
    quota.isReader = false;
    assert.deepEqual([quota.takeForExtras(), quota.takeForExtras(true), quota.take()], [false, true, true]);
  });

  it('allows at most 120 GETs in any hour, however it is used', () => {
    nowMs += 10 * HOUR;
    let taken = drain();
    for (let minute = 0; minute < 60; minute++) {
      nowMs += HOUR / 60;
      taken += drain();
    }
    assert.ok(taken > 100 && taken <= 115, String(taken));
  });

  it('leaves some tokens for polls, and returns the wait until the next one', () => {
    drain(() => quota.takeForExtras());
    assert.deepEqual([drain(), quota.waitMs], [3, 48_000]);
    nowMs += 48_000;
    assert.deepEqual(
      [quota.waitMs, quota.takeForExtras(), quota.take(), quota.isScarce],
      [0, false, true, true],
    );
  });

  it('leaves enough for polls if they can stay frequent, and always when full', () => {
    const plenty = (...counts: number[]) => counts.map((count) => quota.leavesForPolls(count));
    assert.deepEqual(plenty(0, 32, 1_000), [true, true, true]);
    for (let taken = 0; taken < 10; taken++) quota.take();
    assert.deepEqual(plenty(10, 11, 1_000), [true, false, false]);
  });

  it('is larger for a service on this machine', () => {
    quota = new RequestQuota({ monotonicMs: () => 0 }, true);
    assert.ok(drain() >= 400);
  });

  it('pays debts before the next poll', () => {
    for (let page = 0; page < 100; page++) quota.recordExtra();
    assert.equal(quota.waitMs, 61 * 48_000);
    nowMs += 61 * 48_000 - 1000;
    assert.equal(quota.take(), false);
    nowMs += 1001;
    assert.equal(quota.take(), true);
  });

  it('counts the tokens that all windows take, whichever stores its own first', () => {
    const other = new RequestQuota({ monotonicMs: () => nowMs });
    for (let taken = 0; taken < 10; taken++) quota.take();
    for (let taken = 0; taken < 5; taken++) other.take();
    other.adopt(quota.share(), 0);
    assert.deepEqual([quota.unshared, other.unshared], [0, 5]);
    quota.adopt(other.share(), 0);
    assert.deepEqual([drain(), drain(() => other.take())], [25, 25]);
  });

  it('gains only what time adds to the tokens that others left, even if the clock was set', () => {
    drain();
    for (const [agoMs, left] of [
      [96_000, 2],
      [-HOUR, 0],
      [1_000 * HOUR, 40],
    ] as const) {
      quota.share();
      quota.adopt(0, agoMs);
      assert.equal(drain(), left, String(agoMs));
    }
  });
});
