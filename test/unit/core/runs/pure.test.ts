import assert from 'node:assert/strict';
import { Budget } from '../../../../src/core/runs/pacing.ts';
import { numberedFileName, safeFileName } from '../../../../src/core/downloads/downloadTarget.ts';
import { pollEveryMs } from '../../../../src/core/runs/pacing.ts';
import { phaseOf } from '../../../../src/core/runs/phase.ts';
import { row } from '../../../helpers/runs/support.ts';

describe('phaseOf', () => {
  const detail = { run_id: 'r', status: 'running', model_id: 'm' };

  it('knows both spellings, artifacts and an end time as finished', () => {
    assert.equal(phaseOf(row('r', 0, 'complete')), 'finished');
    assert.equal(phaseOf(row('r', 0, 'completed')), 'finished');
    assert.equal(phaseOf({ ...row('r', 0, 'archived'), artifacts_available: true }), 'finished');
    assert.equal(phaseOf(row('r', 0, 'running'), { ...detail, status: 'completed' }), 'finished');
    assert.equal(phaseOf(row('r', 0, 'x'), { ...detail, completed_at: '2026-01-01T00:00:00Z' }), 'finished');
  });

  it('takes queued as waiting and any other status as active, as it came', () => {
    assert.equal(phaseOf(row('r', 0, 'queued')), 'waiting');
    for (const status of ['running', 'failed', 'Complete', 'COMPLETED', '', 'queued ', '__proto__'])
      assert.equal(phaseOf(row('r', 0, status), detail), 'active');
  });
});

describe('pollEveryMs', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const watched = { isSeen: true, isScarce: false };

  for (const [ageMs, expectedMs] of [
    [0, 5000],
    [MINUTE - 1, 5000],
    [MINUTE, 15_000],
    [5 * MINUTE, 45_000],
    [20 * MINUTE, 2 * MINUTE],
    [HOUR, 5 * MINUTE],
    [24 * HOUR, 30 * MINUTE],
    [1e12, 30 * MINUTE],
  ] as const)
    it(`slows down with age: ${ageMs} ms`, () =>
      assert.equal(pollEveryMs({ ageMs, ...watched }), expectedMs));

  it('sleeps when nothing is watched', () => {
    for (const isSeen of [true, false])
      assert.equal(pollEveryMs({ ageMs: undefined, isSeen, isScarce: false }), undefined);
  });

  it('is slow where no window is in use or few GETs are left, and no faster than its age', () => {
    assert.equal(pollEveryMs({ ageMs: 0, isSeen: false, isScarce: false }), 2 * MINUTE);
    assert.equal(pollEveryMs({ ageMs: 0, isSeen: true, isScarce: true }), 90_000);
    assert.equal(pollEveryMs({ ageMs: HOUR, isSeen: false, isScarce: true }), 5 * MINUTE);
  });
});

describe('Budget', () => {
  const HOUR = 60 * 60_000;

  function budgetAt() {
    let nowMs = 5;
    const budget = new Budget({ monotonicMs: () => nowMs });
    return { budget, pass: (ms: number) => (nowMs += ms) };
  }
  const drain = (take: () => boolean) => {
    let taken = 0;
    while (take()) taken++;
    return taken;
  };

  it('gives nothing where this window does not watch', () => {
    const { budget } = budgetAt();
    assert.deepEqual([budget.take(), budget.takeSpare()], [false, false]);
    budget.open(false);
    assert.equal(budget.take(), true);
    budget.close();
    assert.deepEqual([budget.take(), budget.takeSpare()], [false, false]);
  });

  it('gives at most 120 in any hour, however it is used', () => {
    const { budget, pass } = budgetAt();
    budget.open(false);
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
    budget.open(false);
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
    budget.open(false);
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
    budget.open(false);
    drain(() => budget.take());
    assert.equal(budget.waitMs, 48_000);
    pass(48_000);
    assert.deepEqual([budget.waitMs, budget.take(), budget.isScarce], [0, true, true]);
  });

  it('has what is owed paid before the next poll', () => {
    const { budget, pass } = budgetAt();
    budget.open(false);
    for (let page = 0; page < 100; page++) budget.owe();
    assert.equal(budget.waitMs, 61 * 48_000);
    pass(61 * 48_000 - 1000);
    assert.equal(budget.take(), false);
    pass(1001);
    assert.equal(budget.take(), true);
  });

  it('begins small after another window, and never gains by it', () => {
    const { budget } = budgetAt();
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

describe('safeFileName', () => {
  const safe = (text: string | undefined) => safeFileName(text, 'adapter-1');

  for (const [text, expected] of [
    ['adapter.zip', 'adapter.zip'],
    ['../x', 'x'],
    ['..\\..\\x.zip', 'x.zip'],
    ['a/b\\c', 'c'],
    ['/etc/passwd', 'passwd'],
    ['C:\\Windows\\x.zip', 'x.zip'],
    ['C:x.zip', 'Cx.zip'],
    ['x.zip:stream', 'x.zipstream'],
    ['', 'adapter-1'],
    [undefined, 'adapter-1'],
    ['.', 'adapter-1'],
    ['..', 'adapter-1'],
    ['...', 'adapter-1'],
    ['a/', 'adapter-1'],
    [' \t\n', 'adapter-1'],
    ['.hidden', 'hidden'],
    ['.zip', 'zip'],
    ['x.zip...', 'x.zip'],
    ['x.zip . .', 'x.zip'],
    ['con', 'adapter-1-con'],
    ['CON.zip', 'adapter-1-CON.zip'],
    ['Con .zip', 'adapter-1-Con.zip'],
    ['com¹.tar.gz', 'adapter-1-com¹.tar.gz'],
    ['LPT9', 'adapter-1-LPT9'],
    ['CONOUT$.zip', 'adapter-1-CONOUT$.zip'],
    ['c\u200bon.zip', 'adapter-1-con.zip'],
    ['console.zip', 'console.zip'],
    ['a\0b.zip', 'ab.zip'],
    ['a\r\nb.zip', 'ab.zip'],
    ['\u202egpj.zip', 'gpj.zip'],
    ['a\u2066b\u2069.zip', 'ab.zip'],
    ['<a>|"b"?*.zip', 'ab.zip'],
    ['\ud800a.zip', 'a.zip'],
    ['e\u0301.zip', 'é.zip'],
    ['--help', '--help'],
  ] as const) {
    it(`${JSON.stringify(text)} → ${JSON.stringify(expected)}`, () => assert.equal(safe(text), expected));
  }

  it('cuts to 240 UTF-8 bytes at whole characters and keeps the extension', () => {
    assert.equal(safe('a'.repeat(300) + '.zip'), 'a'.repeat(236) + '.zip');
    assert.equal(safe('ü'.repeat(150) + '.zip'), 'ü'.repeat(118) + '.zip');
    assert.equal(safe('😀'.repeat(75) + '.zip'), '😀'.repeat(59) + '.zip');
    assert.equal(safe('😀'.repeat(75)), '😀'.repeat(60));
    assert.equal(safe('CON.' + 'a'.repeat(300) + '.zip').slice(0, 14), 'adapter-1-CON.');
  });

  it('leaves no dot or blank at the end that the cut bared', () => {
    for (const text of [
      `${'a'.repeat(239)} ${'b'.repeat(50)}`,
      `${'a'.repeat(238)}. ${'b'.repeat(50)}`,
      `a..${'b'.repeat(50)}`,
      `con.${'b'.repeat(50)}`,
    ])
      assert.match(safe(text), /[^. ]$/);
  });

  it('holds for anything: a base name, not hidden, no device, stable, ≤ 240 bytes', () => {
    const pieces = [
      'a',
      'ü',
      '😀',
      '.',
      '..',
      '/',
      '\\',
      ' ',
      ':',
      '\0',
      '\u202e',
      'con',
      'NUL',
      '.zip',
      '\ud83d',
      'e\u0301',
    ];
    let seed = 1;
    const random = (limit: number) => (seed = (seed * 48_271) % 2_147_483_647) % limit;
    for (let turn = 0; turn < 3000; turn++) {
      const text = Array.from({ length: random(90) }, () => pieces[random(pieces.length)]).join('');
      const name = safe(text);
      assert.ok(Buffer.byteLength(name) <= 240, text);
      assert.match(name, /^[^. /\\:\0](.*[^. ])?$/u, text);
      assert.doesNotMatch(name, /[/\\:\p{Cc}\p{Cf}\p{Cs}]/u, text);
      assert.doesNotMatch(name, /^(con|nul) *(\.|$)/i, text);
      assert.equal(safe(name), name, text);
    }
  });

  it('makes an unsafe fallback of a stranger safe when it is asked to', () => {
    for (const runId of ['/../../etc', '..', 'a/b', 'con', ''])
      assert.doesNotMatch(safeFileName(undefined, safeFileName(`adapter-${runId}`, 'adapter')), /[/\\]|^\./);
  });

  it('numbers a name before its extension', () => {
    assert.equal(numberedFileName('adapter.zip', 2), 'adapter (2).zip');
    assert.equal(numberedFileName('adapter', 3), 'adapter (3)');
    assert.ok(Buffer.byteLength(numberedFileName(safe('ü'.repeat(200) + '.zip'), 99)) <= 255);
  });
});
