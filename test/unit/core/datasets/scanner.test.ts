import assert from 'node:assert/strict';
import type { Problem, ProblemCode } from '../../../../src/core/datasets/problems.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { walkJson, type Walked } from '../../../helpers/jsonWalker.ts';
import { Random } from '../../../helpers/random.ts';
import { mutated, randomJson } from '../../../helpers/randomRows.ts';

const SEGMENT_BYTES = 4 * 1024 * 1024;
const ROWS = 3000;
const LF = Buffer.from('\n');
const shown = new TextDecoder('utf-8', { ignoreBOM: true });

/** Classifies a row with an independent parser. */
function expectedOf(row: Buffer): { isBlank: boolean; hasError: boolean; walked: Walked | undefined } {
  const isBlank = /^[ \t\r]*$/.test(row.toString('latin1'));
  let value: unknown;
  let walked: Walked | undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(row);
    walked = walkJson(text);
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return { isBlank, hasError: !isBlank && !isObject, walked };
}

/** Whether a double cannot represent a number: it changes the value, or the number has more digits than any double. */
function losesPrecision(text: string): boolean {
  const [mantissa = '', exponent = ''] = text.replace('-', '').toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const digits = (integer + fraction).replace(/^0+/, '').replace(/0+$/, '');
  const value = Math.abs(Number(text));
  if (digits === '') return false;
  if (value === 0 || value === Infinity) return true;
  const isInteger = (exponent === '' || Number(exponent) === 0) && /^0*$/.test(fraction);
  // Longer integers are reported even if exact: they have more digits than a double needs.
  if (isInteger && digits.length <= 19) return BigInt(value) !== BigInt(integer);
  return digits.length > 17;
}

/** Returns the editor's line and column, from 1, of a byte. */
function placeOf(file: Buffer, offset: number): { line: number; column: number } {
  const before = file.subarray(0, offset);
  let line = 1;
  const hasMark = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf;
  let start = hasMark ? 3 : 0;
  for (let at = 0; at < before.length; at++) {
    if (file[at] === 0x0a || (file[at] === 0x0d && file[at + 1] !== 0x0a)) {
      line++;
      start = at + 1;
    }
  }
  const text = file.subarray(Math.min(start, offset), offset);
  return { line, column: (hasMark ? shownByByte(text) : shown.decode(text)).length + 1 };
}

/** Decodes as the editor does for a file with a byte order mark: one U+FFFD for each invalid byte. */
function shownByByte(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const parts = [1, 2, 3, 4].map((length) => Buffer.from(bytes.subarray(at, at + length)));
    const part = parts.find(
      (one) => Array.from(one.toString()).length === 1 && Buffer.from(one.toString()).equals(one),
    );
    text += part?.toString() ?? '\ufffd';
    at += part?.length ?? 1;
  }
  return text;
}

const joined = (rows: readonly Buffer[]) => Buffer.concat(rows.flatMap((row) => [row, LF]));

/** Errors located exactly where JSON cannot continue; others start earlier. */
const EXACT =
  'unexpected-character unexpected-end control-character comma-expected colon-expected extra-value'.split(
    ' ',
  );

/** Compares a report with the independent parser. */
function compare(report: Report, rows: readonly Buffer[], hint: string): void {
  const found = Map.groupBy(problemsOf(report), ({ row }) => row);
  assert.equal(report.rows, rows.length, hint);
  let blank = 0;
  let start = 0;
  for (const [index, row] of rows.entries()) {
    const { isBlank, hasError, walked } = expectedOf(row);
    const problems = found.get(index + 1) ?? [];
    const why = `${hint}, row ${index + 1}: ${JSON.stringify(row.toString('latin1'))}`;
    const rowStart = start;
    const first = (code: ProblemCode) => problems.find((problem) => problem.code === code);
    const unitOf = (problem: Problem | undefined) =>
      problem && shown.decode(row.subarray(0, problem.offset - rowStart)).length;
    start += row.length + 1;
    if (isBlank) blank++;
    assert.equal(first('blank-line') !== undefined, isBlank, why);
    assert.equal(
      problems.some(({ severity }) => severity === 'error'),
      hasError,
      why,
    );
    for (const { offset, length } of problems)
      assert.ok(offset >= rowStart && offset <= rowStart + row.length && length >= 1, why);
    if (isBlank || walked === undefined) continue;
    if (walked.brokenAt !== undefined) {
      const failure = problems.find((problem) => ['grammar', 'encoding'].includes(problem.class));
      const unit = unitOf(failure) ?? Infinity;
      assert.ok(unit <= walked.brokenAt, why);
      if (EXACT.includes(failure!.code)) assert.equal(unit, walked.brokenAt, `${why} ${failure!.code}`);
      continue;
    }
    assert.equal(unitOf(first('duplicate-key')), walked.repeatedKeys[0], why);
    assert.equal(unitOf(first('lone-surrogate')), walked.loneSurrogates[0], why);
    const lossy = walked.numbers.find(({ text }) => losesPrecision(text));
    const number = first('number-precision');
    assert.deepEqual([unitOf(number), number?.length], [lossy?.at, lossy?.text.length], why);
  }
  assert.equal(report.blankRows, blank, hint);
}

describe('the scanner, compared with an independent parser', () => {
  const { check } = useChecker();

  for (const seed of [1, Date.now() % 1e9]) {
    it(`agrees on random rows (seed ${seed})`, async () => {
      const random = new Random(seed);
      const rows = Array.from({ length: ROWS }, () => Buffer.from(randomJson(random)));
      compare(await check(joined(rows)), rows, `seed ${seed}`);
    });

    it(`agrees on rows with changed bytes (seed ${seed})`, async () => {
      const random = new Random(seed);
      const rows = Array.from({ length: ROWS }, () => {
        const row = mutated(random, Buffer.from(randomJson(random)));
        return Buffer.from(row.toString('latin1').replace(/\r+$/, ''), 'latin1');
      });
      // A byte order mark in the next row must not be at the start of the file.
      rows.unshift(Buffer.from('{"text":"first"}'));
      compare(await check(joined(rows)), rows, `seed ${seed}`);
    });

    it(`counts lines and columns as the editor does (seed ${seed})`, async () => {
      const random = new Random(seed);
      for (let file = 0; file < 40; file++) {
        const rows = random.several(12, () => {
          const row = Buffer.from(randomJson(random));
          return random.chance(0.5) ? mutated(random, row) : row;
        });
        rows.push(Buffer.from('{"a":"\xe9\xff\xe2\x82","a":"some@one.test"} {', 'latin1'));
        const eol = Buffer.from(random.of(['\n', '\r\n']));
        const mark = Buffer.from(random.of(['', '\ufeff']));
        const bytes = Buffer.concat([
          mark,
          ...rows.flatMap((row, index) => (index === 0 ? [row] : [eol, row])),
        ]);
        for (const { code, offset, line, column } of problemsOf(await check(bytes))) {
          const hint = `seed ${seed}, ${code} at ${offset} of ${JSON.stringify(bytes.toString('latin1'))}`;
          assert.deepEqual({ line, column }, placeOf(bytes, offset), hint);
        }
      }
    });
  }

  it('finds the same at every position in a block of 16 bytes', async () => {
    const faults = ['"', '\\', '\t', 'é', '😀', '\r', '{', ' '].map((text) => Buffer.from(text));
    const rows = [...faults, Buffer.from([0x80])].flatMap((fault) =>
      Array.from({ length: 50 }, (_, length) => Buffer.from(`{"text":"${'x'.repeat(length)}`)).flatMap(
        (filled) => [
          Buffer.concat([filled, fault, Buffer.from('"}')]),
          Buffer.concat([filled, fault]),
          filled,
        ],
      ),
    );
    compare(await check(joined(rows)), rows, 'blocks');
    // The last row has no line end: the scanner must not read old memory after it.
    for (const [index, row] of rows.entries())
      if (index % 10 === 0) compare(await check(row), [row], 'the only row');
  });

  it('reads no old memory after a last row without a line end', async () => {
    const key = `service_${'a1'.repeat(12)}`;
    await check(`{"text":"${key}","a":123}`);
    const cut = problemsOf(await check(`{"text":"${key}`));
    assert.deepEqual(
      cut.map(({ code, column, length }) => [code, column, length]),
      [
        ['cut-off', 9, key.length + 1],
        ['api-key', 10, key.length],
      ],
    );
    await check(`${key}${key}`);
    assert.equal(problemsOf(await check(key)).find(({ code }) => code === 'api-key')?.length, key.length);
  });

  it('counts a CR without LF as a line end of the editor only, also in the last row', async () => {
    assert.deepEqual(problemsOf(await check('{"text":"a"}\n{"text":"b"}\r')), []);
    const [only] = problemsOf(await check('{"text":"a"}\r\r\n'));
    assert.deepEqual([only?.code, only?.line, only?.column], ['crlf', 2, 1]);
  });

  it('compares many keys by content, not only by hash', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":0`);
    // So many keys that some 32-bit hashes collide.
    const rows = Array.from({ length: 6 }, () => `{${names(60_000).join(',')}}`);
    for (const count of [2, 511, 512, 513, 1024, 60_000])
      rows.push(`{${names(count).join(',')},"\\u006b${count - 1}":1}`);
    rows.push(`{${names(65_536).join(',')}}`, `{${names(65_536).join(',')},"k0":1}`);
    const report = await check(rows.join('\n'));
    const of = (code: ProblemCode) =>
      problemsOf(report).flatMap((problem) => (problem.code === code ? [problem.row] : []));
    assert.deepEqual(of('duplicate-key'), [7, 8, 9, 10, 11, 12]);
    assert.deepEqual(of('too-many-keys'), [14]);
  });

  describe('across the border of two segments', () => {
    /** A file in which `tail` begins `before` bytes before the border. */
    function around(before: number, tail: string): Buffer {
      const row = Buffer.from(`{"text":"${'z'.repeat(30_000)}"}\n`);
      const filler = SEGMENT_BYTES - before;
      const rows = Math.floor(filler / row.length) - 1;
      const rest = filler - rows * row.length;
      const last = Buffer.from(`{"text":"${'x'.repeat(rest - 12)}"}\n`);
      return Buffer.concat([...Array.from({ length: rows }, () => row), last, Buffer.from(tail)]);
    }

    it('checks each row once, wherever the border is', async () => {
      const tail = '{"text":\r"é😀",}\r\n{"text":5}\n\n{"text":"ä"} x\n{"text":"me@home.test"}';
      const at = (piece: string) => Buffer.from(tail.slice(0, tail.indexOf(piece))).length;
      for (const before of [0, 1, 9, 10, 17, 20, 21, 36]) {
        const bytes = around(before, tail);
        const report = await check(bytes, { workers: 1 + (before & 1) });
        const start = SEGMENT_BYTES - before;
        const found = problemsOf(report).filter(
          ({ code }) => code !== 'duplicate-row' && code !== 'very-long-row',
        );
        const rows = report.rows;
        assert.deepEqual(
          found.map(({ code, row, offset }) => [code, rows - row, offset - start]),
          [
            ['trailing-comma', 4, at(',}')],
            ['crlf', 4, at('\r\n')],
            ['field-wrong-type', 3, at('5')],
            ['blank-line', 2, at('\n\n') + 1],
            ['extra-value', 1, at('x\n')],
            ['email-address', 0, at('me@')],
          ],
          `${before} bytes before the border`,
        );
        for (const { offset, line, column } of found)
          assert.deepEqual({ line, column }, placeOf(bytes, offset));
      }
    });
  });
});
