import assert from 'node:assert/strict';
import { Budget, pollEveryMs } from '../../../../src/core/runs/pacing.ts';
import { phaseOf } from '../../../../src/core/runs/phase.ts';
import { row } from '../../../helpers/runs/support.ts';

describe('phaseOf', () => {
  const detail = { run_id: 'r', status: 'running', model_id: 'm' };

  it('knows both spellings, artifacts and an end time as finished', () => {
    for (const status of ['complete', 'completed']) assert.equal(phaseOf(row('r', 0, status)), 'finished');
    assert.equal(phaseOf({ ...row('r', 0, 'archived'), artifacts_available: true }), 'finished');
    for (const more of [{ status: 'completed' }, { completed_at: '2026-01-01T00:00:00Z' }])
      assert.equal(phaseOf(row('r', 0, 'running'), { ...detail, ...more }), 'finished');
  });

  it('takes queued as waiting, what reads as an end as ended, and any other status as active, as it came', () => {
    assert.equal(phaseOf(row('r', 0, 'queued')), 'waiting');
    for (const status of ['running', 'Complete', 'COMPLETED', '', 'queued ', '__proto__'])
      assert.equal(phaseOf(row('r', 0, status), detail), 'active');
    for (const status of [
      'failed',
      'ERROR: oom',
      'cancelled',
      'Canceled',
      'rejected',
      'expired',
      'aborted_by_user',
    ])
      assert.equal(phaseOf(row('r', 0, status), detail), 'ended');
  });
});

describe('pollEveryMs', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;

  it('slows down with age, and more where no window is in use or few GETs are left; sleeps when nothing is watched', () => {
    for (const [ageMs, isSeen, isScarce, expectedMs] of [
      [0, true, false, 5000],
      [MINUTE - 1, true, false, 5000],
      [MINUTE, true, false, 15_000],
      [5 * MINUTE, true, false, 45_000],
      [20 * MINUTE, true, false, 2 * MINUTE],
      [HOUR, true, false, 5 * MINUTE],
      [24 * HOUR, true, false, 30 * MINUTE],
      [1e12, true, false, 30 * MINUTE],
      [0, false, false, 2 * MINUTE],
      [0, true, true, 90_000],
      [HOUR, false, true, 5 * MINUTE],
      [undefined, true, false, undefined],
      [undefined, false, false, undefined],
    ] as const)
      assert.equal(pollEveryMs({ ageMs, isSeen, isScarce }), expectedMs, `${ageMs} ${isSeen} ${isScarce}`);
  });
});

describe('Budget', () => {
  const HOUR = 60 * 60_000;

  function budgetAt(isOpen = true) {
    let nowMs = 5;
    const budget = new Budget({ monotonicMs: () => nowMs });
    if (isOpen) budget.open(false);
    return { budget, pass: (ms: number) => (nowMs += ms) };
  }
  const drain = (take: () => boolean) => {
    let taken = 0;
    while (take()) taken++;
    return taken;
  };

  it('gives nothing where this window does not watch', () => {
    const { budget } = budgetAt(false);
    assert.deepEqual([budget.take(), budget.takeSpare()], [false, false]);
    budget.open(false);
    assert.equal(budget.take(), true);
    budget.close();
    assert.deepEqual([budget.take(), budget.takeSpare()], [false, false]);
  });

  it('gives at most 120 in any hour, however it is used', () => {
    const { budget, pass } = budgetAt();
    pass(10 * HOUR);
    let taken = drain(() => budget.take());
    for (let minute = 0; minute < 60; minute++) {
      pass(HOUR / 60);
      taken += drain(() => budget.take());
    }
    assert.ok(taken > 100 && taken <= 115, String(taken));
  });

  it('leaves some for polls', () => {
    const { budget, pass } = budgetAt();
    drain(() => budget.takeSpare());
    assert.equal(
      drain(() => budget.take()),
      3,
    );
    pass(HOUR / 75);
    assert.deepEqual([budget.takeSpare(), budget.take()], [false, true]);
  });

  it('knows whether there is plenty: polls stay frequent, and a full store is always enough', () => {
    const { budget } = budgetAt();
    assert.deepEqual(
      [budget.hasPlenty(0), budget.hasPlenty(32), budget.hasPlenty(1_000)],
      [true, true, true],
    );
    for (let taken = 0; taken < 10; taken++) budget.take();
    assert.deepEqual(
      [budget.hasPlenty(10), budget.hasPlenty(11), budget.hasPlenty(1_000)],
      [true, false, false],
    );
  });

  it('is larger where the service is on this machine', () => {
    const budget = new Budget({ monotonicMs: () => 0 }, true);
    budget.open(false);
    const taken = drain(() => budget.take());
    assert.ok(taken >= 400, String(taken));
  });

  it('knows how long until there is one', () => {
    const { budget, pass } = budgetAt();
    drain(() => budget.take());
    assert.equal(budget.waitMs, 48_000);
    pass(48_000);
    assert.deepEqual([budget.waitMs, budget.take(), budget.isScarce], [0, true, true]);
  });

  it('has what is owed paid before the next poll', () => {
    const { budget, pass } = budgetAt();
    for (let page = 0; page < 100; page++) budget.owe();
    assert.equal(budget.waitMs, 61 * 48_000);
    pass(61 * 48_000 - 1000);
    assert.equal(budget.take(), false);
    pass(1001);
    assert.equal(budget.take(), true);
  });

  it('begins small after another window, and never gains by it', () => {
    const { budget } = budgetAt(false);
    budget.open(true);
    assert.equal(
      drain(() => budget.take()),
      2,
    );
    budget.open(false);
    budget.open(true);
    assert.equal(budget.take(), false);
  });
});
