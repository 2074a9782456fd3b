import assert from 'node:assert/strict';
import type { Problem, ProblemCode } from '../../../../src/core/datasets/problems.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { walkJson, type Walked } from '../../../helpers/jsonWalker.ts';
import { Random } from '../../../helpers/random.ts';
import { mutated, randomJson } from '../../../helpers/randomRows.ts';

const SEGMENT_BYTES = 4 * 1024 * 1024;
const ROWS = 4000;
const LF = Buffer.from('\n');
const shown = new TextDecoder('utf-8', { ignoreBOM: true });

/** What a row is by another reading; offsets in bytes from its start. */
interface Expected {
  isBlank: boolean;
  hasError: boolean;
  text: string;
  walked: Walked | undefined;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function expectedOf(row: Buffer): Expected {
  const text = decoded(row);
  let value: unknown;
  let isJson = text !== undefined;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    isJson = false;
  }
  const isBlank = /^[ \t\r]*$/.test(row.toString('latin1'));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    isBlank,
    hasError: !isBlank && (!isJson || !isObject),
    text: shown.decode(row),
    walked: text === undefined ? undefined : walkJson(text),
  };
}

/** Whether a double cannot represent a number: by its exact value, or by more digits than any double has. */
function losesPrecision(text: string): boolean {
  const [mantissa = '', exponent = ''] = text.replace('-', '').toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const digits = (integer + fraction).replace(/^0+/, '').replace(/0+$/, '');
  const value = Math.abs(Number(text));
  if (digits === '') return false;
  if (value === 0 || value === Infinity) return true;
  const isInteger = (exponent === '' || Number(exponent) === 0) && /^0*$/.test(fraction);
  // Beyond, even the few that are exact are reported: more digits than any double needs.
  if (isInteger && digits.length <= 19) return BigInt(value) !== BigInt(integer);
  return digits.length > 17;
}

/** The editor's line and column, from 1, of a byte of a file. */
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

/** What the editor shows in a file that begins with a byte order mark: one U+FFFD for each byte that is no UTF-8. */
function shownByByte(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const lengths = [1, 2, 3, 4].filter((length) => isOneCharacter(bytes.subarray(at, at + length)));
    const length = lengths[0] ?? 1;
    text += lengths.length === 0 ? '\ufffd' : shown.decode(bytes.subarray(at, at + length));
    at += length;
  }
  return text;
}

function isOneCharacter(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('utf8');
  return Array.from(text).length === 1 && Buffer.from(text).equals(bytes);
}

function byRow(report: Report): Map<number, Problem[]> {
  return Map.groupBy(problemsOf(report), ({ row }) => row);
}

function offsetsOf(rows: readonly Buffer[], eol: Buffer): number[] {
  let offset = 0;
  return rows.map((row) => {
    const start = offset;
    offset += row.length + eol.length;
    return start;
  });
}

/** Compares all that is said of rows with another reading of them. */
function compare(report: Report, rows: readonly Buffer[], starts: readonly number[], hint: string): void {
  const found = byRow(report);
  assert.equal(report.rows, rows.length, hint);
  let blank = 0;
  for (const [index, row] of rows.entries()) {
    const expected = expectedOf(row);
    const problems = found.get(index + 1) ?? [];
    const why = `${hint}, row ${index + 1}: ${JSON.stringify(row.toString('latin1'))}`;
    const first = (code: ProblemCode) => problems.find((problem) => problem.code === code);
    const unitOf = ({ offset }: Problem) => shown.decode(row.subarray(0, offset - starts[index]!)).length;
    if (expected.isBlank) blank++;
    assert.equal(first('blank-line') !== undefined, expected.isBlank, why);
    assert.equal(
      problems.some(({ severity }) => severity === 'error'),
      expected.hasError,
      why,
    );
    for (const problem of problems) {
      assert.ok(problem.offset >= starts[index]! && problem.offset <= starts[index]! + row.length, why);
      assert.ok(problem.length >= 1, why);
    }
    const { walked } = expected;
    if (expected.isBlank || walked === undefined) continue;
    // Places: of a byte with which JSON cannot go on, the same; of a longer piece, it begins before.
    const failure = problems.find(
      ({ class: problemClass }) => problemClass === 'grammar' || problemClass === 'encoding',
    );
    if (walked.brokenAt !== undefined) {
      assert.ok(failure, why);
      const isExact = [
        'unexpected-character',
        'unexpected-end',
        'control-character',
        'comma-expected',
        'colon-expected',
        'extra-value',
      ];
      if (isExact.includes(failure.code))
        assert.equal(unitOf(failure), walked.brokenAt, `${why} ${failure.code}`);
      else assert.ok(unitOf(failure) <= walked.brokenAt, why);
      continue;
    }
    assert.equal(first('duplicate-key') && unitOf(first('duplicate-key')!), walked.repeatedKeys[0], why);
    assert.equal(first('lone-surrogate') && unitOf(first('lone-surrogate')!), walked.loneSurrogates[0], why);
    const lossy = walked.numbers.find(({ text }) => losesPrecision(text));
    const told = first('number-precision');
    assert.equal(told && unitOf(told), lossy?.at, why);
    assert.equal(told?.length, lossy?.text.length, why);
  }
  assert.equal(report.blankRows, blank, hint);
}

describe('the scanner, beside another reading of the same rows', () => {
  const { check } = useChecker();
  const seeds = [1, 2, Date.now() % 1e9];

  for (const seed of seeds) {
    it(`says the same of random rows (seed ${seed})`, async function () {
      this.timeout(30_000);
      const random = new Random(seed);
      const rows = Array.from({ length: ROWS }, () => Buffer.from(randomJson(random)));
      const report = await check(Buffer.concat(rows.flatMap((row) => [row, LF])));
      compare(report, rows, offsetsOf(rows, LF), `seed ${seed}`);
    });

    it(`says the same of rows with changed bytes (seed ${seed})`, async function () {
      this.timeout(30_000);
      const random = new Random(seed);
      // The first row keeps a byte order mark of another from standing at the file's start.
      const rows = Array.from({ length: ROWS }, () => mutated(random, Buffer.from(randomJson(random))));
      rows.unshift(Buffer.from('{"text":"first"}'));
      const withoutCr = rows.map((row) => Buffer.from(row.toString('latin1').replace(/\r+$/, ''), 'latin1'));
      const report = await check(Buffer.concat(withoutCr.flatMap((row) => [row, LF])));
      compare(report, withoutCr, offsetsOf(withoutCr, LF), `seed ${seed}`);
    });

    it(`counts lines and columns as the editor does (seed ${seed})`, async function () {
      this.timeout(30_000);
      const random = new Random(seed);
      for (let file = 0; file < 60; file++) {
        const rows = random.several(12, () =>
          random.chance(0.5)
            ? mutated(random, Buffer.from(randomJson(random)))
            : Buffer.from(randomJson(random)),
        );
        rows.push(Buffer.from('{"a":"\xe9\xff\xe2\x82","a":"some@one.test"} {', 'latin1'));
        const eol = Buffer.from(random.of(['\n', '\r\n']));
        const bytes = Buffer.concat([
          Buffer.from(random.of(['', '\ufeff'])),
          ...rows.flatMap((row, index) => (index === 0 ? [row] : [eol, row])),
        ]);
        const report = await check(bytes);
        for (const { code, offset, line, column } of problemsOf(report)) {
          assert.deepEqual(
            { line, column },
            placeOf(bytes, offset),
            `seed ${seed}, file ${file}, ${code} at ${offset} of ${JSON.stringify(bytes.toString('latin1'))}`,
          );
        }
      }
    });
  }

  it('sees the same at every place of a block of sixteen bytes', async () => {
    const faults = ['"', '\\', '\t', '\u00e9', '\ud83d\ude00', '\x80', '\r', '{', ' '];
    const rows: Buffer[] = [];
    for (const fault of faults) {
      for (let length = 0; length < 50; length++) {
        const filled = `{"text":"${'x'.repeat(length)}`;
        const bytes = fault === '\x80' ? Buffer.from([0x80]) : Buffer.from(fault);
        rows.push(Buffer.concat([Buffer.from(filled), bytes, Buffer.from('"}')]));
        rows.push(Buffer.concat([Buffer.from(filled), bytes]));
        rows.push(Buffer.from(filled));
      }
    }
    compare(
      await check(Buffer.concat(rows.flatMap((row) => [row, LF]))),
      rows,
      offsetsOf(rows, LF),
      'blocks',
    );
    // The last row has no line end: nothing of what stood in memory before may be seen.
    for (const row of rows.slice(0, 400)) {
      const report = await check(row);
      compare(report, [row], [0], 'the only row');
    }
  });

  it('sees nothing of what stood in memory before, behind a last row without a line end', async () => {
    const key = `service_${'a1'.repeat(12)}`;
    await check(`{"text":"${key}","a":123}`);
    const cut = problemsOf(await check(`{"text":"${key}`));
    assert.deepEqual(
      cut.map(({ code, column, length }) => [code, column, length]),
      [
        ['unterminated-string', 9, key.length + 1],
        ['api-key', 10, key.length],
      ],
    );
    await check(`${key}${key}`);
    assert.equal(problemsOf(await check(key)).find(({ code }) => code === 'api-key')?.length, key.length);
  });

  it('takes a CR without LF for a line end of the editor only, in the last row too', async () => {
    assert.deepEqual(problemsOf(await check('{"text":"a"}\n{"text":"b"}\r')), []);
    const [only] = problemsOf(await check('{"text":"a"}\r\r\n'));
    assert.deepEqual([only?.code, only?.line, only?.column], ['crlf', 2, 1]);
  });

  it('compares very many keys by what they are, not by their hashes', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":0`);
    // Among so many, some hashes of 32 bits are the same.
    const rows = Array.from({ length: 12 }, () => `{${names(60_000).join(',')}}`);
    for (const count of [2, 511, 512, 513, 1024, 60_000])
      rows.push(`{${names(count).join(',')},"\\u006b${count - 1}":1}`);
    rows.push(`{${names(65_536).join(',')}}`, `{${names(65_536).join(',')},"k0":1}`);
    const report = await check(rows.join('\n'));
    const of = (code: ProblemCode) =>
      problemsOf(report).flatMap((problem) => (problem.code === code ? [problem.row] : []));
    assert.deepEqual(of('duplicate-key'), [13, 14, 15, 16, 17, 18]);
    assert.deepEqual(of('too-many-keys'), [20]);
  });

  describe('across the border of two pieces of a file', () => {
    /** Rows around the border, the first of which begins so many bytes before it. */
    function around(before: number, tail: string): Buffer {
      const row = Buffer.from(`{"text":"${'z'.repeat(30_000)}"}\n`);
      const filler = SEGMENT_BYTES - before;
      const rows = Math.floor(filler / row.length) - 1;
      const rest = filler - rows * row.length;
      const last = Buffer.from(`{"text":"${'x'.repeat(rest - 12)}"}\n`);
      return Buffer.concat([...Array.from({ length: rows }, () => row), last, Buffer.from(tail)]);
    }

    it('judges each row once, wherever the border is in it', async function () {
      this.timeout(60_000);
      const tail = '{"text":\r"é😀",}\r\n{"text":5}\n\n{"text":"ä"} x\n{"text":"me@home.test"}';
      const at = (piece: string) => Buffer.from(tail.slice(0, tail.indexOf(piece))).length;
      for (const before of [0, 1, 2, 9, 10, 15, 16, 17, 19, 20, 21, 34, 36]) {
        const bytes = around(before, tail);
        const report = await check(bytes, { workers: 1 + (before & 1) });
        const start = SEGMENT_BYTES - before;
        const told = problemsOf(report).filter(
          ({ code }) => code !== 'duplicate-row' && code !== 'very-long-row',
        );
        const rows = report.rows;
        assert.deepEqual(
          told.map(({ code, row, offset }) => [code, rows - row, offset - start]),
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
        for (const { offset, line, column } of told)
          assert.deepEqual({ line, column }, placeOf(bytes, offset));
      }
    });

    it('follows a row through several pieces', async function () {
      this.timeout(30_000);
      const long = (bytes: number) => `{"text":"${'y'.repeat(bytes)}\r"}`;
      const bytes = Buffer.from(`${long(9_000_000)}\n{"text":1}\n${long(5_000_000)}\n\n${long(4_000_000)}x`);
      const report = await check(bytes);
      assert.equal(report.rows, 5);
      const told = problemsOf(report).filter(
        ({ severity, code }) => severity === 'error' || code === 'field-wrong-type',
      );
      assert.deepEqual(
        told.map(({ code, row, line }) => [code, row, line]),
        [
          ['control-character', 1, 1],
          ['field-wrong-type', 2, 3],
          ['control-character', 3, 4],
          ['control-character', 5, 7],
        ],
      );
      for (const { offset, line, column } of told) assert.deepEqual({ line, column }, placeOf(bytes, offset));
    });

    it('finds the same with one worker and with two', async function () {
      this.timeout(30_000);
      const random = new Random(7);
      const some = Array.from({ length: 3000 }, () => mutated(random, Buffer.from(randomJson(random))));
      const bytes = Buffer.concat(Array.from({ length: 200_000 }, () => [random.of(some), LF]).flat());
      assert.ok(bytes.length > 3 * SEGMENT_BYTES);
      const [one, two] = [await check(bytes, { workers: 1 }), await check(bytes, { workers: 2 })];
      assert.deepEqual(
        { ...one, path: '', mtimeMs: 0, ctimeMs: 0 },
        { ...two, path: '', mtimeMs: 0, ctimeMs: 0 },
      );
      assert.deepEqual(problemsOf(one), problemsOf(two));
      assert.ok(one.problems.some(({ total, located }) => total > located && located === 5000));
    });
  });
});
