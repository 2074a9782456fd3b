import assert from 'node:assert/strict';
import { numberedFileName, safeFileName } from '../../../../src/core/downloads/downloadTarget.ts';

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
  ] as const)
    it(`${JSON.stringify(text)} → ${JSON.stringify(expected)}`, () => assert.equal(safe(text), expected));

  it('cuts to 240 UTF-8 bytes at whole characters and keeps the extension', () => {
    assert.equal(safe('a'.repeat(300) + '.zip'), 'a'.repeat(236) + '.zip');
    assert.equal(safe('ü'.repeat(150) + '.zip'), 'ü'.repeat(118) + '.zip');
    assert.equal(safe('😀'.repeat(75) + '.zip'), '😀'.repeat(59) + '.zip');
    assert.equal(safe('😀'.repeat(75)), '😀'.repeat(60));
    assert.equal(safe('CON.' + 'a'.repeat(300) + '.zip').slice(0, 14), 'adapter-1-CON.');
  });

  it('leaves no dot or blank at the end after it was cut', () => {
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
    for (let turn = 0; turn < 1000; turn++) {
      const text = Array.from({ length: random(90) }, () => pieces[random(pieces.length)]).join('');
      const name = safe(text);
      assert.ok(Buffer.byteLength(name) <= 240, text);
      assert.match(name, /^[^. /\\:\0](.*[^. ])?$/u, text);
      assert.doesNotMatch(name, /[/\\:\p{Cc}\p{Cf}\p{Cs}]/u, text);
      assert.doesNotMatch(name, /^(con|nul) *(\.|$)/i, text);
      assert.equal(safe(name), name, text);
    }
  });

  it('makes an unsafe fallback safe', () => {
    for (const runId of ['/../../etc', '..', 'a/b', 'con', ''])
      assert.doesNotMatch(safeFileName(undefined, safeFileName(`adapter-${runId}`, 'adapter')), /[/\\]|^\./);
  });

  it('numbers a name before its extension', () => {
    assert.equal(numberedFileName('adapter.zip', 2), 'adapter (2).zip');
    assert.equal(numberedFileName('adapter', 3), 'adapter (3)');
    assert.ok(Buffer.byteLength(numberedFileName(safe('ü'.repeat(200) + '.zip'), 99)) <= 255);
  });
});
