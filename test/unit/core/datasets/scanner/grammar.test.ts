import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codesOf, problemsOf, useChecker } from '../../../../helpers/checker.ts';

const SUITE = path.join(import.meta.dirname, '../../../../fixtures/jsonTestSuite/test_parsing');
/** JSONTestSuite cases that parsers may accept or reject: the scanner rejects invalid UTF-8 and a byte order mark. */
const REFUSED_BY_CHOICE =
  'string_UTF-16LE_with_BOM string_UTF-8_invalid_sequence string_UTF8_surrogate_U+D800 string_invalid_utf-8 ' +
  'string_iso_latin_1 string_lone_utf8_continuation_byte string_not_in_unicode_range ' +
  'string_overlong_sequence_2_bytes string_overlong_sequence_6_bytes string_overlong_sequence_6_bytes_null ' +
  'string_truncated-utf-8 string_utf16BE_no_BOM string_utf16LE_no_BOM structure_UTF-8_BOM_empty_object';

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

const isBlank = (bytes: Buffer) => /^[ \t\r]*$/.test(bytes.toString('latin1'));

describe('the grammar of a row', () => {
  const { check } = useChecker();
  const cases = readdirSync(SUITE).map((name) => ({ name, bytes: readFileSync(path.join(SUITE, name)) }));
  /** Each line of each case is a row. */
  const rows = cases.flatMap(({ name, bytes }) => {
    const lines = bytes
      .toString('latin1')
      .split('\n')
      .map((line) => Buffer.from(line, 'latin1'));
    // Nothing follows a final line end.
    if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
    return lines.map((line) => ({ name, line, isComplete: lines.length === 1, isRefused: false }));
  });

  before(async () => {
    // A row before them, so that no case is at the start of the file.
    const first = Buffer.from('{"text":""}');
    const LF = Buffer.from('\n');
    const report = await check(Buffer.concat([first, ...rows.flatMap(({ line }) => [LF, line])]));
    assert.deepEqual([cases.length, report.rows], [318, rows.length + 1]);
    for (const { severity, code, row } of problemsOf(report))
      if (severity === 'error' && code !== 'not-an-object') rows[row - 2]!.isRefused = true;
  });

  it('agrees with the JSONTestSuite cases that are one row', () => {
    const complete = rows.filter(({ isComplete, line }) => isComplete && !isBlank(line));
    assert.ok(complete.length > 300);
    for (const { name, isRefused } of complete)
      if (!name.startsWith('i_')) assert.equal(isRefused, name.startsWith('n_'), name);
  });

  it('agrees with JSON.parse on each row of the cases with line breaks', () => {
    const broken = rows.filter(({ isComplete }) => !isComplete);
    assert.ok(broken.length > 10);
    for (const { name, line, isRefused } of broken)
      assert.equal(isRefused, !isBlank(line) && !isJson(line), name);
  });

  it('rejects the expected cases among those that parsers may accept or reject', () => {
    const chosen = rows.filter(({ name, isRefused }) => name.startsWith('i_') && isRefused);
    assert.equal(chosen.map(({ name }) => name.slice(2, -'.json'.length)).join(' '), REFUSED_BY_CHOICE);
  });

  describe('reports each problem and its location', () => {
    // The caret is under the first UTF-16 unit of the location, the tildes under the others.
    const table: readonly [row: string, caret: string, code: string][] = [
      ['{"a":1,}', '      ^', 'trailing-comma'],
      ['{"a":[1,2,]}', '         ^', 'trailing-comma'],
      ['{"a":1', '      ^', 'unexpected-end'],
      ['{"a":"b', '     ^~', 'unterminated-string'],
      ['{"a":"b\\', '       ^', 'unterminated-string'],
      ['{"é":"b\tc"}', '       ^', 'control-character'],
      ['{"a":"\\x"}', '      ^~', 'bad-escape'],
      ['{"a":"\\u12g4"}', '      ^~', 'bad-escape'],
      ['{"😀":01}', '      ^~', 'bad-number'],
      ['{"a":-}', '     ^~', 'bad-number'],
      ['{"a":1.}', '     ^~~', 'bad-number'],
      ['{"a":+1}', '     ^', 'bad-number'],
      ['{"a":.5}', '     ^', 'bad-number'],
      ['{"a":1e}', '     ^~~', 'bad-number'],
      ['{"a":NaN}', '     ^~~', 'bad-literal'],
      ['{"a":nulls}', '     ^~~~~', 'bad-literal'],
      ['{"a":True}', '     ^~~~', 'bad-literal'],
      ['{"a":1} {}', '        ^~', 'extra-value'],
      ['{"é":1},', '       ^', 'comma-after-object'],
      ['{"a":1} , \t', '        ^', 'comma-after-object'],
      ['{"a":1},,', '       ^~', 'extra-value'],
      ['{"a":1},{}', '       ^~~', 'extra-value'],
      [' {"a":1},', '        ^', 'extra-value'],
      ['[1],', '   ^', 'extra-value'],
      ['{“a”:1}', ' ^', 'typographic-quotes'],
      ['{"a":„b“}', '     ^', 'typographic-quotes'],
      ['{"a":[’b’]}', '      ^', 'typographic-quotes'],
      ['{"a":1, ‘b’:2}', '        ^', 'typographic-quotes'],
      ['{"a":…}', '     ^', 'unexpected-character'],
      ["{'a':1}", ' ^', 'single-quote'],
      ['{"a":\'b\'}', '     ^', 'single-quote'],
      ['{a:1}', ' ^', 'key-expected'],
      ['{1:1}', ' ^', 'key-expected'],
      ['{"a" 1}', '     ^', 'colon-expected'],
      ['{"a":1 "b":2}', '       ^', 'comma-expected'],
      ['{"a":[1 2]}', '        ^', 'comma-expected'],
      ['{"a":[1}', '       ^', 'unexpected-character'],
      ['{"a":,}', '     ^', 'unexpected-character'],
      ['{"a":}', '     ^', 'unexpected-character'],
      ['\ufeff{"a":1}', '^', 'bom-inside'],
      ['{"a":\ufeff1}', '     ^', 'bom-inside'],
      ['[1]', '^', 'not-an-object'],
      ['"a"', '^', 'not-an-object'],
      ['{"a":1,"a":2}', '       ^~~', 'duplicate-key'],
      ['{"a":1,"\\u0061":2}', '       ^~~~~~~~', 'duplicate-key'],
      ['{"a":"é\\ud800"}', '       ^~~~~~', 'lone-surrogate'],
      ['{"a":"\\udc00\\ud800"}', '      ^~~~~~', 'lone-surrogate'],
      ['{"a":9007199254740993}', '     ^~~~~~~~~~~~~~~~', 'number-precision'],
    ];

    it('in a table of rows', async () => {
      const report = await check(`{}\n${table.map(([row]) => row).join('\n')}`);
      for (const [index, [row, caret, code]] of table.entries()) {
        const found = problemsOf(report).filter((problem) => problem.row === index + 2);
        const expected = { column: caret.indexOf('^') + 1, length: caret.trim().length, line: index + 2 };
        assert.deepEqual(
          found.flatMap(({ column, length, line, ...one }) =>
            one.code === code ? [{ column, length, line }] : [],
          ),
          [expected],
          row,
        );
        if (found[0]?.class === 'grammar')
          assert.ok(!codesOf(report, index + 2).includes('not-an-object'), row);
      }
    });

    it('for invalid bytes, inside and outside strings', async () => {
      // The key "é" in Latin-1 is also invalid UTF-8.
      const report = await check(Buffer.from('{"é":"\xff"}\n{"a":\xff}\n{"a":"\xe2\x82"}', 'latin1'));
      const places = problemsOf(report).filter(({ code }) => code === 'invalid-utf8');
      assert.deepEqual(
        places.map(({ row, column, offset, length }) => [row, column, offset, length].join(' ')),
        ['1 3 2 1', '2 6 15 1', '3 7 24 1'],
      );
    });
  });

  it('reads any depth without overflow, and reports beyond 512 that keys are not compared', async () => {
    for (const depth of [512, 513, 5000, 100_000]) {
      const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const codes = codesOf(await check(`${deep}\n${'['.repeat(depth)}`), 1);
      assert.ok(codes.includes('unknown-format'));
      assert.equal(codes.includes('too-deep'), depth > 512);
    }
  });

  it('tracks open brackets at any depth, regardless of earlier rows', async () => {
    const objects = (depth: number, inside: string) =>
      `${'{"a":'.repeat(depth)}${inside}${'}'.repeat(depth)}`;
    const arrays = (depth: number, inside: string) => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;
    for (const depth of [510, 520, 521, 530, 1000]) {
      const rows = [
        objects(depth + 40, '1'),
        arrays(depth, ''),
        arrays(depth, objects(3, arrays(21, '1,{}'))),
        `${'['.repeat(depth)}${'}'.repeat(depth)}`,
        `${'['.repeat(depth)}${']'.repeat(depth - 1)}}`,
      ];
      const report = await check(rows.join('\n'));
      const broken = (row: number) => codesOf(report, row).includes('unexpected-character');
      assert.deepEqual([1, 2, 3, 4, 5].map(broken), [false, false, false, true, true], `depth ${depth}`);
      assert.equal(codesOf(report, 2).includes('not-an-object'), true);
    }
  });
});
