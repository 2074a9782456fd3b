import assert from 'node:assert/strict';
import {
  dueReminders,
  nextReminderInMs,
  type ExpiringRun,
} from '../../../../src/core/downloads/reminders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const EXPIRES = Date.UTC(2031, 4, 3, 12);

describe('reminders of adapters that expire', () => {
  const run = (changes: Partial<ExpiringRun> = {}): ExpiringRun => ({
    runId: 'a',
    expiresAtMs: EXPIRES,
    completedAtMs: EXPIRES - 30 * DAY,
    ...changes,
  });
  const never = () => false;
  const due = (runs: ExpiringRun[], leftMs: number, isSafe: (runId: string) => boolean = never) =>
    dueReminders(runs, EXPIRES - leftMs, isSafe).map(({ runId, what }) => `${runId} ${what}`);

  it('are due 7 days, 1 day and 2 hours before, to the millisecond', () => {
    for (const [beforeMs, what, earlier] of [
      [7 * DAY, 'a expires-in-7-days', []],
      [DAY, 'a expires-in-1-day', ['a expires-in-7-days']],
      [2 * HOUR, 'a expires-in-2-hours', ['a expires-in-1-day']],
    ] as const) {
      assert.deepEqual(due([run()], beforeMs + 1), earlier);
      assert.deepEqual(due([run()], beforeMs), [what]);
    }
  });

  it('are not due when it is too late', () => {
    assert.deepEqual(due([run()], 1), ['a expires-in-2-hours']);
    assert.deepEqual(due([run()], 0), []);
    assert.deepEqual(due([run()], -DAY), []);
  });

  it('of several that passed unseen only the latest is told', () => {
    assert.deepEqual(due([run()], 3 * DAY), ['a expires-in-7-days']);
    assert.deepEqual(due([run()], HOUR), ['a expires-in-2-hours']);
  });

  it('are only those that lie after the completion', () => {
    // Kept for 7 days: the first would come with the end of the run.
    const week = run({ completedAtMs: EXPIRES - 7 * DAY });
    assert.deepEqual(due([week], 7 * DAY), []);
    assert.deepEqual(due([week], DAY + 1), []);
    assert.deepEqual(due([week], DAY), ['a expires-in-1-day']);
    const hour = run({ completedAtMs: EXPIRES - HOUR });
    assert.deepEqual(due([hour], HOUR / 2), []);
    assert.deepEqual(due([run({ completedAtMs: EXPIRES - 7 * DAY - 1 })], 7 * DAY), ['a expires-in-7-days']);
  });

  it('come also where nobody knows when it was completed, and not where the time is none', () => {
    assert.deepEqual(due([run({ completedAtMs: undefined })], DAY), ['a expires-in-1-day']);
    assert.deepEqual(due([run({ expiresAtMs: NaN })], DAY), []);
    assert.equal(nextReminderInMs([run({ expiresAtMs: NaN })], EXPIRES), undefined);
  });

  it('leave out what is on the disk, and ask of nothing else', () => {
    const asked: string[] = [];
    const runs = [run(), run({ runId: 'b', expiresAtMs: EXPIRES + 30 * DAY }), run({ runId: 'c' })];
    const isSafe = (runId: string) => (asked.push(runId), runId === 'a');
    assert.deepEqual(due(runs, DAY, isSafe), ['c expires-in-1-day']);
    assert.deepEqual(asked, ['a', 'c']);
  });

  it('name first what goes first', () => {
    const runs = [run({ runId: 'late' }), run({ runId: 'soon', expiresAtMs: EXPIRES - HOUR })];
    assert.deepEqual(due(runs, 2 * HOUR), ['soon expires-in-2-hours', 'late expires-in-2-hours']);
  });

  it('say when the next one comes', () => {
    const next = (leftMs: number, runs = [run()]) => nextReminderInMs(runs, EXPIRES - leftMs);
    assert.equal(next(8 * DAY), DAY);
    assert.equal(next(7 * DAY), 6 * DAY);
    assert.equal(next(DAY), 22 * HOUR);
    assert.equal(next(2 * HOUR), undefined);
    assert.equal(next(8 * DAY, [run(), run({ runId: 'b', expiresAtMs: EXPIRES - HOUR })]), 23 * HOUR);
    assert.equal(nextReminderInMs([], EXPIRES), undefined);
  });

  it('are quick to find among 10,000 runs', () => {
    const runs = Array.from({ length: 10_000 }, (_, index) =>
      run({ runId: String(index), expiresAtMs: EXPIRES + index * HOUR }),
    );
    // Other processes take the core now and then.
    const quickest = Math.min(
      ...Array.from({ length: 5 }, () => {
        const startedMs = performance.now();
        dueReminders(runs, EXPIRES - DAY, never);
        nextReminderInMs(runs, EXPIRES - DAY);
        return performance.now() - startedMs;
      }),
    );
    assert.ok(quickest < 500, `${quickest} ms`);
  });
});
