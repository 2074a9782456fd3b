import assert from 'node:assert/strict';
import { dueReminders, type ExpiringRun } from '../../../../src/core/downloads/reminders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const EXPIRES = Date.UTC(2031, 4, 3, 12);

describe('dueReminders', () => {
  const run = (changes: Partial<ExpiringRun> = {}): ExpiringRun => ({
    runId: 'a',
    expiresAtMs: EXPIRES,
    ...changes,
  });
  const due = (runs: ExpiringRun[], leftMs: number, isSafe: (runId: string) => boolean = () => false) =>
    dueReminders(runs, EXPIRES - leftMs, isSafe).map(({ runId, what }) => `${runId} ${what}`);

  it('gives the latest reminder only, 1 day and 2 hours before', () => {
    for (const [leftMs, expected] of [
      [DAY + 1, []],
      [DAY, ['a expires-in-1-day']],
      [2 * HOUR + 1, ['a expires-in-1-day']],
      [2 * HOUR, ['a expires-in-2-hours']],
      [1, ['a expires-in-2-hours']],
      [0, []],
      [-DAY, []],
    ] as const)
      assert.deepEqual(due([run()], leftMs), expected, String(leftMs));
    assert.deepEqual(due([run({ expiresAtMs: NaN })], DAY), []);
  });

  it('leaves out what is safe, asking only of what would be due; the first to expire is first', () => {
    const asked: string[] = [];
    const runs = [
      run(),
      run({ runId: 'b', expiresAtMs: EXPIRES + 30 * DAY }),
      run({ runId: 'late' }),
      run({ runId: 'soon', expiresAtMs: EXPIRES - HOUR }),
    ];
    assert.deepEqual(
      due(runs, 2 * HOUR, (runId) => (asked.push(runId), runId === 'a')),
      ['soon expires-in-2-hours', 'late expires-in-2-hours'],
    );
    assert.deepEqual(asked, ['a', 'late', 'soon']);
  });
});
