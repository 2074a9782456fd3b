import assert from 'node:assert/strict';
import type { RunSummary } from '../../../../src/core/api/types.ts';
import { daysAgo, groupByDay } from '../../../../src/ui/runs/runDays.ts';
import { row } from '../../../helpers/runs/support.ts';

const ids = (rows: readonly RunSummary[]) => rows.map(({ run_id }) => run_id).join('');

describe('groupByDay', () => {
  const zone = process.env.TZ;
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  const at = (run_id: string, created_at: string | undefined) =>
    ({ ...row(run_id, undefined), ...(created_at !== undefined && { created_at }) }) satisfies RunSummary;
  const days = (rows: RunSummary[], now: string) =>
    groupByDay(rows, Date.parse(now)).map(
      ({ startMs, rows: of }) =>
        `${new Date(startMs).toLocaleDateString('sv')} ${daysAgo(startMs, Date.parse(now))} ${ids(of)}`,
    );

  it('uses the user’s calendar, and reads a time without a zone as UTC', () => {
    const rows = [at('a', '2026-05-04T03:59:59Z'), at('b', '2026-05-04T04:00:00')];
    for (const [timeZone, ...expected] of [
      ['America/New_York', '2026-05-04 0 b', '2026-05-03 1 a'],
      ['UTC', '2026-05-04 0 ab'],
      ['Pacific/Kiritimati', '2026-05-04 1 ab'],
    ] as const) {
      process.env.TZ = timeZone;
      assert.deepEqual(days(rows, '2026-05-04T12:00:00Z'), expected);
    }
  });

  it('recognizes yesterday across days of 23 and 25 hours', () => {
    process.env.TZ = 'Europe/Berlin';
    for (const [before, after] of [
      ['2026-03-29T12:00:00+02:00', '2026-03-30T12:00:00+02:00'],
      ['2026-10-25T12:00:00+01:00', '2026-10-26T12:00:00+01:00'],
    ] as const)
      assert.match(days([at('a', before)], after)[0] ?? '', / 1 a$/);
  });

  it('puts new submissions and invalid times into today', () => {
    process.env.TZ = 'UTC';
    const rows = [
      at('new', undefined),
      at('odd', 'yesterday'),
      at('a', '2026-05-04T01:00:00Z'),
      at('b', '2026-05-01T01:00:00Z'),
    ];
    assert.deepEqual(days(rows, '2026-05-04T12:00:00Z'), ['2026-05-04 0 newodda', '2026-05-01 3 b']);
  });

  it('groups 10,000 runs quickly', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) =>
      at(`r${index}`, new Date(Date.UTC(2026, 4, 4) - index * 3_600_000).toISOString()),
    );
    const started = performance.now();
    assert.equal(
      groupByDay(rows, Date.UTC(2026, 4, 4)).reduce((sum, day) => sum + day.rows.length, 0),
      10_000,
    );
    assert.ok(performance.now() - started < 3_000);
  });
});
