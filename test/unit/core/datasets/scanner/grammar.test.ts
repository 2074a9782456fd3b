import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Report } from '../../../../../src/core/datasets/report.ts';
import { codesOf, problemsOf, useChecker } from '../../../../helpers/checker.ts';

const SUITE = path.join(import.meta.dirname, '../../../../fixtures/jsonTestSuite/test_parsing');
/** What our rows must be beyond JSON, or what is said of rows that are JSON. */
const BESIDES_GRAMMAR = ['not-an-object'];

/** Cases of JSONTestSuite where implementations may choose, and what this one chose: to refuse bytes that are no UTF-8. */
const REFUSED_BY_CHOICE = [
  'i_string_UTF-16LE_with_BOM.json',
  'i_string_UTF-8_invalid_sequence.json',
  'i_string_UTF8_surrogate_U+D800.json',
  'i_string_invalid_utf-8.json',
  'i_string_iso_latin_1.json',
  'i_string_lone_utf8_continuation_byte.json',
  'i_string_not_in_unicode_range.json',
  'i_string_overlong_sequence_2_bytes.json',
  'i_string_overlong_sequence_6_bytes.json',
  'i_string_overlong_sequence_6_bytes_null.json',
  'i_string_truncated-utf-8.json',
  'i_string_utf16BE_no_BOM.json',
  'i_string_utf16LE_no_BOM.json',
  'i_structure_UTF-8_BOM_empty_object.json',
];

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

function isBlank(bytes: Buffer): boolean {
  return /^[ \t\r]*$/.test(bytes.toString('latin1'));
}

describe('the grammar of a row', () => {
  const { check } = useChecker();
  const cases = readdirSync(SUITE).map((name) => ({ name, bytes: readFileSync(path.join(SUITE, name)) }));
  /** Each line of each case is a row; a first row keeps these from standing at the file's start. */
  const rows = cases.flatMap(({ name, bytes }) => {
    const lines: Buffer[] = [];
    for (let at = 0; at <= bytes.length;) {
      const end = bytes.indexOf('\n', at);
      lines.push(bytes.subarray(at, end < 0 ? bytes.length : end));
      at = end < 0 ? bytes.length + 1 : end + 1;
    }
    // A line end that closes the text begins no row of it.
    if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
    return lines.map((line) => ({ name, line, isWhole: lines.length === 1 }));
  });
  let report: Report;
  let refused: Set<number>;

  before(async () => {
    const LF = Buffer.from('\n');
    report = await check(
      Buffer.concat([Buffer.from('{"text":""}'), ...rows.flatMap(({ line }) => [LF, line])]),
    );
    refused = new Set(
      problemsOf(report)
        .filter(({ severity, code }) => severity === 'error' && !BESIDES_GRAMMAR.includes(code))
        .map(({ row }) => row),
    );
  });

  it('has all the cases', () => {
    assert.equal(cases.length, 318);
    assert.equal(report.rows, rows.length + 1);
  });

  for (const kind of ['y', 'n'] as const) {
    it(`agrees with the cases ${kind}_ of JSONTestSuite that are one row`, () => {
      const whole = rows.map((row, index) => ({ ...row, index })).filter(({ isWhole }) => isWhole);
      const wrong = whole.filter(
        ({ name, line, index }) =>
          name.startsWith(`${kind}_`) && !isBlank(line) && refused.has(index + 2) !== (kind === 'n'),
      );
      assert.deepEqual(
        wrong.map(({ name }) => name),
        [],
      );
      assert.ok(whole.length > 300);
    });
  }

  it('agrees with JSON.parse on every row of the cases with line breaks', () => {
    const broken = rows.map((row, index) => ({ ...row, index })).filter(({ isWhole }) => !isWhole);
    assert.ok(broken.length > 10);
    for (const { name, line, index } of broken)
      assert.equal(refused.has(index + 2), !isBlank(line) && !isJson(line), `${name}, row ${index + 2}`);
  });

  it('chooses as it did where implementations may', () => {
    const chosen = rows.filter(({ name }, index) => name.startsWith('i_') && refused.has(index + 2));
    assert.deepEqual(
      chosen.map(({ name }) => name),
      REFUSED_BY_CHOICE,
    );
  });

  describe('reports what is wrong, and where', () => {
    // The caret is under the first unit of the place, the tildes are under the others.
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

    it('for each row of a table', async () => {
      const told = await check(`{}\n${table.map(([row]) => row).join('\n')}`);
      for (const [index, [row, caret, code]] of table.entries()) {
        const found = problemsOf(told).filter(
          (problem) => problem.row === index + 2 && problem.code === code,
        );
        const places = found.map(({ column, length, line }) => ({ column, length, line }));
        const expected = { column: caret.indexOf('^') + 1, length: caret.trim().length, line: index + 2 };
        assert.deepEqual(places, [expected], row);
        const hasOtherError = codesOf(told, index + 2).some(
          (other) => other !== code && found[0]?.class === 'grammar' && other === 'not-an-object',
        );
        assert.ok(!hasOtherError, row);
      }
    });

    it('of invalid bytes, in and outside of strings', async () => {
      const told = await check(Buffer.from('{"é":"\xff"}\n{"a":\xff}\n{"a":"\xe2\x82"}', 'latin1'));
      // "é" in Latin-1 is invalid itself.
      const places = problemsOf(told).filter(({ code }) => code === 'invalid-utf8');
      assert.deepEqual(
        places.map(({ row, column, offset, length }) => [row, column, offset, length]),
        [
          [1, 3, 2, 1],
          [2, 6, 15, 1],
          [3, 7, 24, 1],
        ],
      );
    });
  });

  it('reads any depth without an overflow, and reports where keys are not compared', async () => {
    for (const depth of [512, 513, 5000, 100_000]) {
      const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const codes = codesOf(await check(`${deep}\n${'['.repeat(depth)}`), 1);
      assert.ok(codes.includes('unknown-format'));
      assert.equal(codes.includes('too-deep'), depth > 512);
    }
  });

  it('knows what is open at any depth, whatever was open there in rows before', async () => {
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
