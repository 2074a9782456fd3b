import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { appendFile, mkdir, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { verdictOf } from '../../../../src/core/datasets/report.ts';
import { MAX_ROW_BYTES } from '../../../../src/core/datasets/scanner/codes.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { weekly } from '../../../helpers/weekly.ts';

const MB = 1_000_000;

describe('DatasetChecker with bad input', () => {
  const { check, checker, folder } = useChecker();

  it('reports errors for a file without content', async () => {
    for (const [content, rows] of [
      ['', 0],
      ['\n', 1],
      [' \r\n\t', 2],
      ['\ufeff', 0],
      ['\ufeff\n', 1],
    ] as const) {
      const report = await check(content);
      assert.deepEqual([report.rows, report.blankRows], [rows, rows], JSON.stringify(content));
      assert.equal(verdictOf(report), 'errors');
    }
  });

  it('throws for a file that is missing or cannot be read', async () => {
    const sub = path.join(folder(), 'folder.jsonl');
    const file = path.join(folder(), 'file');
    await mkdir(sub);
    await writeFile(file, 'x');
    await assert.rejects(checker().check(path.join(folder(), 'none.jsonl')), { code: 'missing' });
    // Even root cannot read a path below a file.
    for (const name of [sub, path.join(sub, '\0'), path.join(file, 'x.jsonl')])
      await assert.rejects(checker().check(name), { code: 'unreadable' });
  });

  for (const [what, change] of Object.entries({
    grows: (file: string) => appendFile(file, '{"text":"more"}\n'),
    shrinks: (file: string) => truncate(file, 1000),
    'is emptied': (file: string) => truncate(file, 0),
    'is rewritten': (file: string) => writeFile(file, '{"text":"b"}\n'.repeat(MB)),
    'is rewritten and gets its former time': (file: string) => {
      writeFileSync(file, '{"text":"b"}\n'.repeat(MB));
      return utimes(file, 1, 1);
    },
  }))
    it(`throws for a file that ${what} while it is read`, async () => {
      const file = path.join(folder(), 'changing.jsonl');
      await writeFile(file, '{"text":"a"}\n'.repeat(MB));
      await utimes(file, 1, 1);
      let changed: Promise<void> | undefined;
      const checked = checker().check(file, { onProgress: () => void (changed ??= change(file)) });
      await assert.rejects(checked, { code: 'changing' });
      await changed;
    });

  it('checks a row of exactly the maximum length, and reports one that is a byte longer', async () => {
    const found = async (bytes: number) => {
      const row = Buffer.alloc(bytes, 'x');
      row.write('{"text":"');
      row.write('"}', bytes - 2);
      const report = await check(
        Buffer.concat([Buffer.from('{"text":2}\n'), row, Buffer.from('\n{"text":1}\n')]),
      );
      assert.equal(report.rows, 3);
      const characters = bytes <= MAX_ROW_BYTES ? report.sizeBytes : undefined;
      assert.equal(report.statistics.characters, characters);
      return problemsOf(report).map(({ code, row }) => `${row} ${code}`);
    };
    const around = (code: string) => ['1 field-wrong-type', `2 ${code}`, '3 field-wrong-type'];
    assert.deepEqual(await found(MAX_ROW_BYTES), around('very-long-row'));
    assert.deepEqual(await found(MAX_ROW_BYTES + 1), around('row-too-long'));
  });

  weekly(() =>
    it('checks the worst cases within the limit of a test', async () => {
      const SIZE = 9 * MB;
      // More rows than are compared for duplicates, and one row above the maximum length.
      const sizes: Record<string, number> = { '{}\n': 27 * MB, x: 200 * MB };
      const secrets = Math.floor(SIZE / 51);
      const cases: [
        repeat: string,
        rows: number,
        problems: Record<string, number>,
        around?: [string, string],
      ][] = [
        ['x', 2, { 'row-too-long': 1, 'unknown-format': 1 }, ['{"text":"', '"}\n{}']],
        ['\n', SIZE, { 'blank-line': SIZE }],
        ['[', 1, { 'cut-off': 1, 'too-deep': 1 }],
        ['{"a":', 1, { 'cut-off': 1, 'too-deep': 1 }],
        ['"', 1, { 'extra-value': 1 }],
        ['@', 1, { 'unexpected-character': 1 }],
        ['4111111111111111', 1, { 'not-an-object': 1, 'number-precision': 1, 'very-long-row': 1 }],
        ['"a":1,', 1, { 'duplicate-key': 1, 'very-long-row': 1, 'unknown-format': 1 }, ['{', '"a":1}']],
        ['sk-.', 1, { 'bad-literal': 1 }],
        ['AccountKey=ABC', 1, { 'bad-literal': 1 }],
        // Keys of several kinds that reach to the end, headers without a key, URLs without an end.
        ['.eyJ.ghp_SG.=ecretAccessKey=AccountKey=sk-', 1, { 'bad-number': 1 }],
        ['-----BEGIN PRIVATE KEY', 1, { 'bad-number': 1 }],
        [`://${'a1'.repeat(32)}:`, 1, { 'unexpected-character': 1 }],
        // Escapes: each can have any number of backslashes.
        ['@AccountKey\\\\u003dAKIA\\', 1, { 'unexpected-character': 1 }],
        [
          `ghp_${'a1'.repeat(18)} a@b.test \r`,
          1,
          { 'bad-literal': 1, 'api-key': secrets, 'email-address': secrets },
        ],
        ['{}\n', 9 * MB, { 'unknown-format': 9 * MB, 'duplicate-row': 7_999_999 }],
      ];
      for (const [repeat, rows, problems, [before, after] = ['', '']] of cases) {
        const body = Buffer.alloc(sizes[repeat] ?? SIZE, repeat, 'latin1');
        const content = Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
        const report = await check(content);
        const found = Object.fromEntries(report.problems.map(({ code, total }) => [code, total]));
        assert.deepEqual([report.rows, found], [rows, problems], repeat);
      }
    }),
  );
});
