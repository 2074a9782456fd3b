import assert from 'node:assert/strict';
import { instantOf } from '../../../../src/core/base/clock.ts';

describe('instantOf', () => {
  const zone = process.env.TZ;
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  for (const here of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles']) {
    it(`reads a time without a zone as UTC in ${here}`, () => {
      process.env.TZ = here;
      for (const text of [
        '2026-05-04T10:20:30',
        '2026-05-04T10:20:30.000000',
        '2026-05-04 10:20:30',
        '2026-05-04T10:20:30Z',
        '2026-05-04T12:20:30+02:00',
        '2026-05-04 05:20:30.000-0500',
        '2026-05-04 12:20:30+02',
        '2026-05-04T10:20:30z',
        '2026-05-04 10:20:30 UTC',
        '2026-05-04 12:20:30 +02:00',
        'Mon, 04 May 2026 10:20:30 GMT',
        'Mon, 04 May 2026 05:20:30 -0500',
      ])
        assert.equal(instantOf(text), Date.UTC(2026, 4, 4, 10, 20, 30), text);
      assert.equal(instantOf('2026-05-04T10:20'), Date.UTC(2026, 4, 4, 10, 20));
      assert.equal(instantOf('2026-05-04'), Date.UTC(2026, 4, 4));
      assert.equal(instantOf('2026-05-04T10:20:30.123456'), Date.UTC(2026, 4, 4, 10, 20, 30, 123));
    });

    it(`examines a long text only once in ${here}`, () => {
      process.env.TZ = here;
      const startedMs = performance.now();
      for (const part of ['1', ':11', ' ', '+11:11', 'z'])
        assert.ok(Number.isNaN(instantOf(`${part.repeat(100_000)}!UTC`)));
      assert.ok(performance.now() - startedMs < 60_000);
    });

    it(`rejects everything else in ${here}`, () => {
      process.env.TZ = here;
      for (const text of [
        undefined,
        '',
        'yesterday',
        '-1',
        '5',
        '1777890030',
        'May 4, 2026 10:20',
        '05/04/2026',
        '05-04-2026',
        '4-May-2026',
        'zUTC',
        '2026-13-04T10:20:30',
        '2026-05-04T25:20:30',
        '2026-05-04T10:20:30+99:00',
        ' 2026-05-04T10:20:30',
      ])
        assert.ok(Number.isNaN(instantOf(text)), text);
    });
  }
});
