import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ReportBuilder } from '../../../../src/core/datasets/buildReport.ts';
import {
  findDuplicates,
  type Duplicates,
  type HashedSegment,
  FileRows,
} from '../../../../src/core/datasets/duplicates.ts';
import type { Segment } from '../../../../src/core/datasets/segments.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { Random } from '../../../helpers/random.ts';

const SEGMENT_BYTES = 4 * 1024 * 1024;

describe('duplicate rows', () => {
  const { check, folder } = useChecker();

  async function duplicatesIn(
    content: string | Uint8Array,
  ): Promise<[row: number, line: number, of: string][]> {
    const report = await check(content);
    return problemsOf(report)
      .filter(({ code }) => code === 'duplicate-row')
      .map(({ row, line, detail = '' }) => [row, line, detail]);
  }

  it('are not parts of rows that were broken into lines', async () => {
    const pretty = [1, 2, 3].map((n) => JSON.stringify({ text: String(n), more: [] }, null, 2)).join('\n');
    assert.deepEqual(await duplicatesIn(pretty), []);
    assert.deepEqual(await duplicatesIn(`${pretty}\n{"text":"a"}\n{"text":"a"}`), [[14, 14, '13']]);
  });

  it('are found, each with the first that is the same', async () => {
    const rows = ['{"text":"a"}', '{"text":"b"}', '{"text":"a"}', '{"text":"a"}', '{"text":"b"}'];
    assert.deepEqual(await duplicatesIn(rows.join('\n')), [
      [3, 3, '1'],
      [4, 4, '1'],
      [5, 5, '2'],
    ]);
  });

  it('are the same whatever ends them, and differ by a single byte', async () => {
    assert.deepEqual(await duplicatesIn('{"text":"a"}\r\n{"text":"a"}\n{"text":"a"}'), [
      [2, 2, '1'],
      [3, 3, '1'],
    ]);
    assert.deepEqual(
      await duplicatesIn('{"text":"a"}\n{"text":"a"} \n{"text":"A"}\n {"text":"a"}\n{"text":"a"}\r'),
      [],
    );
  });

  it('are none where rows are blank', async () => {
    assert.deepEqual(await duplicatesIn('\n\n  \n  \n\r\n\r\n'), []);
  });

  it('have the right row and line behind blank rows, lone CRs and a byte order mark', async () => {
    const content = '\ufeff\n{"text":\r"a"}\n\n \r\n{"text":"b"}\r\n\r\r\n{"text":\r"a"}\n\n{"text":"b"}';
    // The lone CRs are in the rows 2, 6 and 7.
    assert.deepEqual(await duplicatesIn(content), [
      [7, 9, '2'],
      [9, 12, '5'],
    ]);
  });

  it('are found across pieces of the file, with lone CRs in rows that go over their borders', async function () {
    this.timeout(30_000);
    const random = new Random(3);
    const rows: string[] = [];
    for (let bytes = 0; bytes < 3 * SEGMENT_BYTES; bytes += rows.at(-1)!.length + 1) {
      const kind = random.below(5);
      if (kind === 0) rows.push(random.of(['', ' ', '\r']));
      else if (kind === 1 && rows.length > 0) rows.push(random.of(rows));
      else rows.push(`{"id":${rows.length},"text":\r"${'x'.repeat(random.below(30_000))}"\r}`);
    }
    const seen = new Map<string, number>();
    const expected: [number, number, string][] = [];
    let line = 1;
    for (const [index, row] of rows.entries()) {
      const content = row.replace(/\r$/, '');
      const first = seen.get(content);
      if (content.trim() !== '' && first !== undefined) expected.push([index + 1, line, String(first)]);
      else seen.set(content, index + 1);
      line += 1 + content.split('\r').length - 1;
    }
    assert.ok(expected.length > 50);
    assert.deepEqual(await duplicatesIn(rows.join('\n')), expected);
  });

  it('are compared to the last byte, however long', async function () {
    this.timeout(30_000);
    const long = (bytes: number, end: string, eol = '\n') => `{"text":"${'x'.repeat(bytes)}${end}"}${eol}`;
    for (const bytes of [50, 8180, 8192, 262_130, 262_144, 1_000_000]) {
      for (let more = 0; more < 16; more++) {
        const length = bytes + more;
        const content = [
          long(length, 'a'),
          long(length, 'b', '\r\n'),
          long(length, 'a', '\r\n'),
          long(length, 'b', ''),
        ].join('');
        assert.deepEqual(await duplicatesIn(content), [
          [3, 3, '1'],
          [4, 4, '2'],
        ]);
        if (bytes > 262_144) break;
      }
    }
  });

  describe('where hashes are the same', () => {
    /** Searches rows, all with one hash, as if they were in one segment. */
    async function search(
      rows: readonly string[],
      options: { limit?: number; maxRows?: number; eol?: string } = {},
    ): Promise<Duplicates> {
      const { limit = 100, maxRows, eol = '\n' } = options;
      const file = path.join(folder(), 'collisions.jsonl');
      const content = Buffer.from(rows.join(eol));
      await writeFile(file, content);
      const starts = Uint32Array.from(rows, (_, index) =>
        Buffer.byteLength(
          rows
            .slice(0, index)
            .map((row) => row + eol)
            .join(''),
        ),
      );
      const hashes = new Uint32Array(rows.length).fill(1);
      const segment: HashedSegment = {
        number: 0,
        hashes,
        starts,
        rows: undefined,
        firstRow: 0,
        firstLine: 0,
        firstOffset: 0,
        lineBreaks: 0,
      };
      const fd = openSync(file, 'r');
      try {
        return findDuplicates([segment], new FileRows(fd, content.length), limit, () => true, maxRows);
      } finally {
        closeSync(fd);
      }
    }

    it('only the bytes decide', async () => {
      const rows = ['{"a":1}', '{"a":2}', '{"a":10}', '{"a":1}', '{"a":1} ', '{"a":10}', '{"a":1', ''];
      for (const eol of ['\n', '\r\n']) {
        const { total, details, places } = await search(rows, { eol });
        assert.equal(total, 2);
        assert.deepEqual(details, ['1', '3']);
        assert.deepEqual([places[0], places[5]], [4, 6]);
      }
    });

    it('all are counted, and some located', async () => {
      const { total, details } = await search(
        Array.from({ length: 50 }, () => '{}'),
        { limit: 7 },
      );
      assert.equal(total, 49);
      assert.equal(details.length, 7);
    });

    it('rows beyond a limit are not compared, and the result says so', async () => {
      const rows = ['{}', '[]', '1', '{}', '1', '{}'];
      assert.deepEqual(
        { ...(await search(rows, { maxRows: 4 })), places: undefined },
        { total: 1, places: undefined, details: ['1'], lastRow: 4 },
      );
      assert.equal((await search(rows, { maxRows: 6 })).lastRow, undefined);
    });
  });

  it('are searched in a bounded number of rows, whichever segment comes first', () => {
    const builder = new ReportBuilder(10, 5);
    const segment = (number: number, rows: number[]): Segment => ({
      ...{ number, rows: 10, blankRows: 10 - rows.length, lineBreaks: 0, characters: 0, places: [] },
      firstOffset: number * 100,
      hashed: {
        hashes: new Uint32Array(rows.length),
        starts: Uint32Array.from(rows),
        rows: Uint32Array.from(rows),
      },
    });
    for (const number of [3, 1, 0, 2, 4]) builder.addSegment(segment(number, [1, 5, 9]));
    const taken = builder.takeHashed();
    assert.deepEqual(
      taken.map(({ starts }) => starts.length),
      [3, 3, 0, 0, 0],
    );
    assert.deepEqual(taken.map(({ firstRow, firstOffset }) => [firstRow, firstOffset]).slice(0, 2), [
      [0, 0],
      [10, 100],
    ]);
    const nothing = { total: 0, places: new Float64Array(), details: [] };
    const file = { path: '', sizeBytes: 0, mtimeMs: 0, ctimeMs: 0 };
    assert.equal(builder.build(file, '', 'rows', { ...nothing, lastRow: 16 }).duplicatesLookedForRows, 16);
    assert.equal(
      builder.build(file, '', 'rows', { ...nothing, lastRow: undefined }).duplicatesLookedForRows,
      50,
    );
  });
});
