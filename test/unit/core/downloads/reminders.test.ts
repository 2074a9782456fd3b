import assert from 'node:assert/strict';
import { dueReminders, type ExpiringRun } from '../../../../src/core/downloads/reminders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const EXPIRES = Date.UTC(2031, 4, 3, 12);

describe('dueReminders', () => {
  const run = (changes: Partial<ExpiringRun> = {}): ExpiringRun => ({
    runId: 'a',
    expiresAtMs: EXPIRES,
    completedAtMs: EXPIRES - 30 * DAY,
    ...changes,
  });
  const due = (runs: ExpiringRun[], leftMs: number, isSafe: (runId: string) => boolean = () => false) =>
    dueReminders(runs, EXPIRES - leftMs, isSafe).map(({ runId, what }) => `${runId} ${what}`);

  it('gives the latest reminder only, 7 days, 1 day and 2 hours before, and none too late', () => {
    for (const [leftMs, expected] of [
      [7 * DAY + 1, []],
      [7 * DAY, ['a expires-in-7-days']],
      [DAY + 1, ['a expires-in-7-days']],
      [DAY, ['a expires-in-1-day']],
      [2 * HOUR + 1, ['a expires-in-1-day']],
      [2 * HOUR, ['a expires-in-2-hours']],
      [1, ['a expires-in-2-hours']],
      [0, []],
      [-DAY, []],
    ] as const)
      assert.deepEqual(due([run()], leftMs), expected, String(leftMs));
  });

  it('gives none at or before the completion', () => {
    const week = run({ completedAtMs: EXPIRES - 7 * DAY });
    assert.deepEqual(due([week], 7 * DAY), []);
    assert.deepEqual(due([week], DAY + 1), []);
    assert.deepEqual(due([week], DAY), ['a expires-in-1-day']);
    assert.deepEqual(due([run({ completedAtMs: EXPIRES - HOUR })], HOUR / 2), []);
    assert.deepEqual(due([run({ completedAtMs: undefined })], DAY), ['a expires-in-1-day']);
  });

  it('leaves out what is safe, asking only of what would be due, and what has no time', () => {
    const asked: string[] = [];
    const runs = [
      run(),
      run({ runId: 'b', expiresAtMs: EXPIRES + 30 * DAY }),
      run({ runId: 'c' }),
      run({ runId: 'd', expiresAtMs: NaN }),
    ];
    assert.deepEqual(
      due(runs, DAY, (runId) => (asked.push(runId), runId === 'a')),
      ['c expires-in-1-day'],
    );
    assert.deepEqual(asked, ['a', 'c']);
  });

  it('gives the first to expire first', () => {
    const runs = [run({ runId: 'late' }), run({ runId: 'soon', expiresAtMs: EXPIRES - HOUR })];
    assert.deepEqual(due(runs, 2 * HOUR), ['soon expires-in-2-hours', 'late expires-in-2-hours']);
  });
});
