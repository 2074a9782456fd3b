import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { CheckError, type CheckFailure, verdictOf } from '../../../../src/core/datasets/report.ts';
import { MAX_ROW_BYTES } from '../../../../src/core/datasets/segments.ts';
import type { ChildJob, HardFile, HardResult } from '../../../helpers/checkChild.ts';
import { checkerFiles, problemsOf, useChecker } from '../../../helpers/checker.ts';

const MB = 1_000_000;
const child = path.join(import.meta.dirname, '../../../helpers/checkChild.ts');

function fails(code: CheckFailure): (error: unknown) => boolean {
  return (error) => error instanceof CheckError && error.code === code;
}

describe('bad input', () => {
  const { check, checker, folder } = useChecker();

  it('that is empty, or nothing but blank, cannot pass', async () => {
    for (const [content, rows] of [
      ['', 0],
      ['\n', 1],
      [' \r\n\t', 2],
      ['\ufeff', 0],
      ['\ufeff\n', 1],
    ] as const) {
      const report = await check(content);
      assert.equal(report.rows, rows, JSON.stringify(content));
      assert.equal(report.blankRows, rows);
      assert.equal(verdictOf(report), 'errors');
      assert.deepEqual(report.statistics.lengths.histogram, []);
    }
    assert.equal(
      (await check('')).sha256,
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  it('that is not text is detected', async () => {
    const row = '{"question":"1+1?","answer":"2"}\n';
    const chinese = '{"模型":"训练数据微调训练数据微调训练数据微调训练数据微调训练数据微调"}\n';
    const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();
    const kinds: [content: Uint8Array, kind: string][] = [
      [gzipSync(row.repeat(1000)), 'binary'],
      [Buffer.from('PK\x03\x04rest', 'latin1'), 'binary'],
      [Buffer.from('PAR1rest'), 'binary'],
      [Buffer.alloc(1000), 'binary'],
      [Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 37) & 255)), 'binary'],
      [Buffer.from(`\ufeff${row}`, 'utf16le'), 'utf-16'],
      [swapped(`\ufeff${row}`), 'utf-16'],
      [Buffer.from(row, 'utf16le'), 'utf-16'],
      [swapped(row), 'utf-16'],
      [Buffer.from(chinese, 'utf16le'), 'utf-16'],
      [swapped(chinese), 'utf-16'],
      [Buffer.from(`\ufeff${chinese}`, 'utf16le'), 'utf-16'],
      [Buffer.from(`[\n{"a":1},\n{"a":2}\n]\n`), 'json-array'],
      [Buffer.from(`\ufeff[{"a":1},\n{"a":2}]`), 'json-array'],
      [Buffer.from(`[{"a":1},{"a":2}]`), 'json-array'],
      [Buffer.from(`\n\n [{"a":1},{"a":2}]\n\n`), 'json-array'],
      [Buffer.from(`[1]\n[2]\n`), 'rows'],
      [Buffer.from(`[1]\n{"a":1},\n[2]\n`), 'rows'],
      [Buffer.from(`{"a":"\0"}\n`), 'rows'],
      [Buffer.from(`\ufeff${row}`), 'rows'],
      [Buffer.from('é\xff\xfe', 'latin1'), 'rows'],
    ];
    for (const [content, kind] of kinds) {
      const report = await check(content);
      const hint = Buffer.from(content.subarray(0, 12)).toString('latin1');
      assert.equal(report.kind, kind, hint);
      if (kind !== 'rows') assert.equal(verdictOf(report), 'errors');
      assert.match(report.sha256, /^[0-9a-f]{64}$/);
    }
  });

  it('that is a folder, or not there, comes to no verdict', async () => {
    const sub = path.join(folder(), 'folder.jsonl');
    await mkdir(sub);
    await assert.rejects(checker().check(sub), fails('unreadable'));
    await assert.rejects(checker().check(path.join(folder(), 'none.jsonl')), fails('missing'));
    await assert.rejects(checker().check(path.join(sub, '\0')), fails('unreadable'));
  });

  it('that may not be read comes to no verdict', async function () {
    // A folder's file below a file: as unreadable to root as to anybody.
    const file = path.join(folder(), 'file');
    await writeFile(file, 'x');
    await assert.rejects(checker().check(path.join(file, 'x.jsonl')), fails('unreadable'));
  });

  for (const [what, change] of Object.entries({
    grows: (file: string) => appendFile(file, '{"text":"more"}\n'),
    shrinks: (file: string) => truncate(file, 1000),
    'is emptied': (file: string) => truncate(file, 0),
    'is written anew': (file: string) => writeFile(file, '{"text":"b"}\n'.repeat(2 * MB)),
  })) {
    it(`that ${what} while it is read comes to no verdict`, async function () {
      this.timeout(30_000);
      const file = path.join(folder(), 'changing.jsonl');
      await writeFile(file, '{"text":"a"}\n'.repeat(2 * MB));
      let changed: Promise<void> | undefined;
      const checked = checker().check(file, { onProgress: () => void (changed ??= change(file)) });
      await assert.rejects(checked, fails('changing'));
      await changed;
    });
  }

  it('with a row of exactly what is checked, and of a byte more', async function () {
    this.timeout(60_000);
    const row = (bytes: number) =>
      Buffer.concat([Buffer.from('{"text":"'), Buffer.alloc(bytes - 11, 'x'), Buffer.from('"}')]);
    const rest = Buffer.from('\n{"text":1}\n');
    const fits = await check(Buffer.concat([row(MAX_ROW_BYTES), rest]));
    assert.deepEqual(
      problemsOf(fits).map(({ code, row }) => [code, row]),
      [
        ['very-long-row', 1],
        ['field-wrong-type', 2],
      ],
    );
    const tooLong = await check(Buffer.concat([Buffer.from('{"text":2}\n'), row(MAX_ROW_BYTES + 1), rest]));
    assert.deepEqual(
      problemsOf(tooLong).map(({ code, row }) => [code, row]),
      [
        ['field-wrong-type', 1],
        ['row-too-long', 2],
        ['field-wrong-type', 3],
      ],
    );
    assert.equal(tooLong.rows, 3);
  });

  describe('that is hard', () => {
    const SIZE = 60 * MB;
    const cases: (HardFile & { rows: number; problems: Record<string, number> })[] = [
      {
        name: 'one line of 200 MB',
        sizeBytes: 200 * MB,
        repeat: 'x',
        before: '{"text":"',
        after: '"}\n{}',
        rows: 2,
        problems: { 'row-too-long': 1, 'unknown-format': 1 },
      },
      { name: 'newlines', sizeBytes: SIZE, repeat: '\n', rows: SIZE, problems: { 'blank-line': SIZE } },
      { name: '[', sizeBytes: SIZE, repeat: '[', rows: 1, problems: { 'unexpected-end': 1, 'too-deep': 1 } },
      {
        name: 'objects in objects',
        sizeBytes: SIZE,
        repeat: '{"a":',
        rows: 1,
        problems: { 'unexpected-end': 1, 'too-deep': 1 },
      },
      { name: '"', sizeBytes: SIZE, repeat: '"', rows: 1, problems: { 'extra-value': 1 } },
      { name: '@', sizeBytes: SIZE, repeat: '@', rows: 1, problems: { 'unexpected-character': 1 } },
      {
        name: 'digits',
        sizeBytes: SIZE,
        repeat: '4111111111111111',
        rows: 1,
        problems: { 'not-an-object': 1, 'number-precision': 1, 'very-long-row': 1 },
      },
      {
        name: 'duplicate keys',
        sizeBytes: SIZE,
        repeat: '"a":1,',
        before: '{',
        after: '"a":1}',
        rows: 1,
        problems: { 'duplicate-key': 1, 'very-long-row': 1, 'unknown-format': 1 },
      },
      {
        name: 'beginnings of keys',
        sizeBytes: SIZE,
        repeat: 'sk-.',
        rows: 1,
        problems: { 'bad-literal': 1 },
      },
      {
        name: 'beginnings of base64 keys',
        sizeBytes: SIZE,
        repeat: 'AccountKey=',
        rows: 1,
        problems: { 'bad-literal': 1 },
      },
      {
        name: 'secrets and lone CRs',
        sizeBytes: SIZE,
        repeat: `ghp_${'a1'.repeat(18)} a@b.test \r`,
        rows: 1,
        problems: {
          'bad-literal': 1,
          'api-key': Math.floor(SIZE / 51),
          'email-address': Math.floor(SIZE / 51),
        },
      },
      {
        name: 'the same row',
        sizeBytes: SIZE,
        repeat: '{}\n',
        rows: SIZE / 3,
        problems: { 'unknown-format': SIZE / 3, 'duplicate-row': 7_999_999 },
      },
    ];
    let results: HardResult[];

    before(async function () {
      this.timeout(180_000);
      const own = await mkdtemp(path.join(tmpdir(), 'dataset-test-'));
      try {
        const job: ChildJob = { folder: own, files: await checkerFiles(), hard: cases };
        const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(job)]);
        results = JSON.parse(stdout) as HardResult[];
        if (process.env['SHOW_HARD'])
          console.table(results.map(({ name, ms, grownMb }) => ({ name, ms, grownMb })));
      } finally {
        await rm(own, { recursive: true });
      }
    });

    for (const [index, { name, rows, problems }] of cases.entries()) {
      it(`has a verdict in bounded time: ${name}`, () => {
        const result = results[index]!;
        assert.equal(result.name, name);
        assert.equal(result.rows, rows);
        assert.deepEqual(result.problems, problems);
        assert.ok(result.ms < 30_000, `${result.ms} ms`);
      });
    }

    it('takes 256 MB at most', () => {
      for (const { name, grownMb } of results) assert.ok(grownMb <= 256, `${name}: ${grownMb} MB`);
    });
  });
});
