import assert from 'node:assert/strict';
import { numberedFileName, safeFileName } from '../../../../src/core/base/fileNames.ts';

describe('safeFileName', () => {
  const safe = (text: string | undefined) => safeFileName(text, 'adapter-1');

  it('is a base name that no platform rejects, hides, or treats as a device', () => {
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
      assert.equal(safe(text), expected);
    for (const runId of ['/../../etc', '..', 'a/b', 'con', ''])
      assert.doesNotMatch(safeFileName(undefined, safeFileName(`adapter-${runId}`, 'adapter')), /[/\\]|^\./);
  });

  it('is cut to 240 UTF-8 bytes between characters, keeps its extension, and ends in no dot or blank', () => {
    const [a, b] = ['a'.repeat(238), 'b'.repeat(50)];
    for (const [text, expected] of [
      [`${'a'.repeat(300)}.zip`, `${'a'.repeat(236)}.zip`],
      [`${'ü'.repeat(150)}.zip`, `${'ü'.repeat(118)}.zip`],
      [`${'😀'.repeat(75)}.zip`, `${'😀'.repeat(59)}.zip`],
      ['😀'.repeat(75), '😀'.repeat(60)],
      [`${a}a ${b}`, `${a}a`],
      [`${a}. ${b}`, a],
      [`a..${b}`, 'a'],
      [`con.${b}`, 'adapter-1-con'],
    ] as const)
      assert.equal(safe(text), expected);
    assert.equal(safe(`CON.${a}.zip`).slice(0, 14), 'adapter-1-CON.');
  });

  it('gets a number before its extension', () => {
    assert.equal(numberedFileName('adapter.zip', 2), 'adapter (2).zip');
    assert.equal(numberedFileName('adapter', 3), 'adapter (3)');
    assert.ok(Buffer.byteLength(numberedFileName(safe(`${'ü'.repeat(200)}.zip`), 99)) <= 255);
  });
});
