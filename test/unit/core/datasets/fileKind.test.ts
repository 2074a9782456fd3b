import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, mkdir, readdir, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { MAX_DATASET_BYTES } from '../../../../src/core/api/types.ts';
import { inspectDataset, hasDatasetRows } from '../../../../src/core/datasets/fileKind.ts';
import { verdictOf } from '../../../../src/core/datasets/report.ts';
import { MAX_ROW_BYTES } from '../../../../src/core/datasets/scanner/codes.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { itOnPosix } from '../../../helpers/platform.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../fixtures/jsonl');

describe('inspectDataset', () => {
  let folder: string;
  let file: string;
  let link: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'inspect-'));
    file = path.join(folder, 'dätaset "1".jsonl');
    link = path.join(folder, 'link.jsonl');
    await symlink(file, link);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const inspect = (name: string) => inspectDataset(name, MAX_DATASET_BYTES);

  it('returns path, size, and times of a file or of a link’s target', async () => {
    await writeFile(file, '{}');
    await utimes(file, 1, 1_767_614_400.125);
    const ctimeMs = Number((await stat(file, { bigint: true })).ctimeMs);
    for (const name of [file, link])
      assert.deepEqual(await inspect(name), {
        path: name,
        sizeBytes: 2,
        mtimeMs: 1_767_614_400_125,
        ctimeMs,
      });
  });

  itOnPosix('rounds the modification time down to milliseconds', async () => {
    await writeFile(file, '{}');
    // As a floating-point number of milliseconds, this time would round up.
    execFileSync('touch', ['-d', '2026-01-05T12:00:00.122999999Z', file]);
    const found = await inspect(file);
    assert.equal(typeof found === 'object' && found.mtimeMs, Date.parse('2026-01-05T12:00:00.122Z'));
  });

  it('rejects empty files and files above 629,145,600 bytes', async () => {
    await writeFile(file, '');
    for (const [sizeBytes, expected] of [
      [0, 'empty'],
      [629_145_600, undefined],
      [629_145_601, 'too-large'],
      [2 ** 40, 'too-large'],
    ] as const) {
      await truncate(file, sizeBytes); // sparse
      const found = await inspect(file);
      assert.equal(typeof found === 'string' ? found : undefined, expected, String(sizeBytes));
    }
  });

  it('rejects a missing file and a folder, also behind a link', async () => {
    for (const name of [file, link]) assert.equal(await inspect(name), 'missing');
    await mkdir(file);
    for (const name of [file, link]) assert.equal(await inspect(name), 'folder');
  });

  itOnPosix('rejects a device, and a pipe without waiting for a writer', async function () {
    execFileSync('mkfifo', [file]);
    for (const name of [file, '/dev/null']) assert.equal(await inspect(name), 'not-a-file');
  });

  itOnPosix('rejects unreadable paths: a loop of links, an invalid name', async () => {
    await symlink(link, file);
    for (const name of [file, path.join(folder, 'x'.repeat(5000)), 'a\0b'])
      assert.equal(await inspect(name), 'unreadable');
  });
});

describe('a checked file', () => {
  const { check, checker, folder } = useChecker();

  for (const [folder, expected, count] of [
    ['datasets', true, 21],
    ['others', false, 15],
  ] as const)
    it(`is recognized from its rows: fixtures in ${folder}`, async () => {
      const files = await readdir(path.join(FIXTURES, folder));
      assert.equal(files.length, count);
      for (const file of files) {
        const report = await checker().check(path.join(FIXTURES, folder, file));
        assert.equal(hasDatasetRows(report), expected, file);
      }
    });

  it('is a dataset if half of its rows are objects, 80 % of them in one complete format', async () => {
    const rows = (count: number, row: string) => `${row}\n`.repeat(count);
    const chat = '{"messages":[{"role":"user","content":"a"}]}';
    for (const [content, expected] of [
      [rows(5, chat) + rows(5, 'x'), true],
      [rows(5, `${chat} , `), true],
      [rows(5, `${chat},,`), false],
      [rows(5, chat) + rows(6, 'x'), false],
      [rows(4, chat) + rows(1, '{"text":"a"}') + rows(9, ' '), true],
      [rows(4, chat) + rows(1, '{"conversations":["a"]}') + rows(5, '[]'), true],
      [rows(7, chat) + rows(2, '{}'), false],
      [rows(7, chat) + rows(2, '{"messages":{}}'), false],
      [rows(7, chat) + rows(2, '{"messages":[]}'), false],
      [rows(2, '{"conversations":["a"]}') + rows(1, '{"conversations":1}'), false],
      [rows(9, '{"instruction":"a","output":"b"}') + rows(2, '{"instruction":"a"}'), true],
      [rows(7, '{"chosen":"a","rejected":"b"}') + rows(2, '{"rejected":"b"}'), false],
      [rows(2, '{"prompt":"a","completion":"b"}') + rows(2, '{"instruction":"a","output":"b"}'), false],
      ['\n\n', false],
    ] as const)
      assert.equal(hasDatasetRows(await check(content)), expected, content);
  });

  it('is a dataset by the types of fields, not only by their names', async () => {
    const message = '{"role":"user","content":"a"}';
    for (const [row, expected] of [
      [`{"messages":[${message},5]}`, true],
      ['{"messages":[{"content":null,"name":1,"role":"assistant"}]}', true],
      ['{"messages":[{"role":"assistant","tool_calls":[{}]}]}', true],
      ['{"messages":[{"role":"assistant","function_call":{}}]}', true],
      ['{"messages":[{"from":"human","value":"a"}]}', true],
      ['{"messages":[{"role":"user"}]}', false],
      ['{"messages":[{"content":"a"}]}', false],
      ['{"messages":[{"role":1,"content":"a"}]}', false],
      ['{"messages":[{"role":{"role":"user"},"content":"a"}]}', false],
      [`{"messages":[5,${message}]}`, false],
      [`{"messages":[{"a":1},${message}]}`, false],
      [`{"messages":[[${message}]]}`, false],
      [`{"messages":{"a":${message}}}`, false],
      ['{"messages":["a"]}', false],
      [`{"messages":[${message}],"messages":1}`, false],
      ['{"conversations":["a","b"]}', true],
      ['{"conversations":[{"from":"gpt","value":[]}]}', true],
      ['{"conversations":[{"from":1,"value":"a"}]}', false],
      ['{"conversations":[["a"]]}', false],
      ['{"conversations":["a"],"messages":["a"]}', false],
      ['{"prompt":"a","completion":"b"}', true],
      [`{"prompt":[${message}],"completion":[${message}]}`, true],
      ['{"prompt":"a","completion":1}', false],
      ['{"prompt":"a","completion":null}', false],
      ['{"prompt":"a","completion":[]}', false],
      ['{"prompt":["a"],"completion":"b"}', false],
      [`{"prompt":${message},"completion":"b"}`, false],
      ['{"instruction":"a","output":""}', true],
      ['{"instruction":"a","input":5,"output":"b"}', true],
      ['{"instruction":"a","output":["b"]}', false],
      ['{"instruction":"a","response":"b"}', true],
      ['{"instruction":"a","response":5}', false],
      ['{"instruction":"a","response":5,"output":"b"}', true],
      [`{"chosen":[${message}],"rejected":"b"}`, true],
      ['{"chosen":1,"rejected":2}', false],
      ['{"question":"a","answer":"b"}', false],
      ['{"text":"a"}', false],
    ] as const) {
      // After another row, nothing of it may count twice.
      const report = await check(`{"x":[${message}],"text":"a"}\n${`${row}\n`.repeat(4)}`);
      assert.equal(hasDatasetRows(report), expected, row);
    }
  });

  const row = '{"question":"1+1?","answer":"2"}\n';
  const chinese = `{"${'模型训练数据微调'.repeat(5)}"}\n`;
  const pretty = JSON.stringify({ a: [1, { b: 2 }], c: 'x' }, null, 2);
  const utf16 = [row, chinese, `\ufeff${row}`, `\ufeff${chinese}`].map((text) =>
    Buffer.from(text, 'utf16le'),
  );
  const utf32 = [row, `\ufeff${row}`].map((text) =>
    Buffer.concat(Array.from(text, (one) => Buffer.from(Uint32Array.of(one.codePointAt(0)!).buffer))),
  );
  for (const [kind, contents] of Object.entries({
    binary: [
      ...['%PDF-1.7\n1 0 obj\n<<>>\nendobj\n', '\x80\x04\x95\x05\x01text', '\x80\x02}q.'].map((text) =>
        Buffer.from(text, 'latin1'),
      ),
      ...['PK\x03\x04rest', 'PAR1rest', '\x28\xb5\x2f\xfd\x04'].map((text) => Buffer.from(text, 'latin1')),
      ...[Buffer.alloc(1000), Uint8Array.from({ length: 5000 }, (_, index) => (index * 37) & 255)],
    ],
    gzip: [gzipSync(row.repeat(1000))],
    'utf-16': utf16.flatMap((bytes) => [bytes, Buffer.from(bytes).swap16()]),
    'utf-32': utf32.flatMap((bytes) => [bytes, Buffer.from(bytes).swap32()]),
    'git-lfs': ['version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 600000000\n'],
    html: ['<!DOCTYPE html>\n<p>Sign in', ' \n<html lang="en">', '<?xml version="1.0"?><Error/>'],
    csv: [
      ...['id,prompt\n1,a', 'question;answer\r\n"a;\nb";c\r\n', 'prompt\tcompletion\na\tb\n'],
      '\ufeff"first name","x"\n"He said ""no"", twice","a\nb"\n',
      ...['sep=;\r\nprompt;completion\r\na;b\r\n', ',prompt\n0,a\n', 'prompt;;\r\na;;\r\n'],
    ],
    python: ["{'text': 'a'}\n{'text': \"it's\"}\n", `${row}{'a': None}\n{'a': True}\n`],
    'cr-only': [
      ...[`${row}${row}`, `\ufeff${row}\n\n${row.trim()}`, `${row}${row}`.replaceAll('}', '} \t')].map(
        (text) => text.replaceAll('\n', '\r'),
      ),
      Buffer.alloc(MAX_ROW_BYTES + 2 * row.length, row.replace('\n', '\r')),
    ],
    'json-array': [
      ...['[\n{"a":1},\n{"a":2}\n]\n', '\ufeff[{"a":1},\n{"a":2}]', '[{"a":1},{"a":2}]'],
      ...['\n\n [{"a":1},{"a":2}]\n\n', JSON.stringify([{ a: [1] }, { a: 2 }], null, 2)],
      ...[
        '[[{"a":1}],[{"a":2}]]',
        JSON.stringify([[{ a: 1 }], [{ a: 2 }]], null, 2),
        '[{"a":1}]\n[{"a":2}]\n',
      ],
    ],
    array: [...['["a"]', '\ufeff[1,2]\n', '\n [ "a",\n{"a":1}\n]\n']],
    'pretty-json': [pretty, `\n${pretty}\n${pretty}\n`, `\ufeff${pretty}\r\n`],
    rows: [
      ...['{"a":1}\r', '{"a":[{}\r,{}]}', '{}\r{}\n{}', '{"a":1}\r\n\r{"a":1}', 'a}\rb}\r'],
      ...[
        '{"a":1},\n{"a":2},\n',
        '[1\n{"a":2}\n{"a":3}\n',
        '[1]\n[2]\n',
        '[1]\n{"a":1},\n[2]\n',
        '{"a":"\0"}\n',
        `\ufeff${row}`,
        `{"a":\n${row}${row}`,
      ],
      ...['Hello, world\nHow, are you', '2026-05-03,INFO\n2026-05-03,INFO\n', '[12:01] a\n[12:02] b\n'],
      ...['a <html>', 'version https://example.test', "it's\nit's\n", Buffer.from('é\xff\xfe', 'latin1')],
    ],
  }))
    it(`is recognized from its bytes: ${kind}`, async () => {
      for (const content of contents) {
        const report = await check(content);
        assert.equal(report.kind, kind, Buffer.from(content.slice(0, 12)).toString('latin1'));
        assert.ok(kind === 'rows' || (verdictOf(report) === 'errors' && !hasDatasetRows(report)));
      }
    });

  it('is a table by its ending if no row is an object', async () => {
    for (const [name, content, expected] of [
      ['a.csv', 'What is it?\nThis.\n', 'csv'],
      ['a.TSV', 'text\na\n', 'csv'],
      ['b.csv', row, 'rows'],
      ['a.txt', 'What is it?\nThis.\n', 'rows'],
    ] as const) {
      await writeFile(path.join(folder(), name), content);
      assert.equal((await checker().check(path.join(folder(), name))).kind, expected, name);
    }
  });

  it('is reported as cut off if its last row is incomplete, wherever that ends', async () => {
    const whole = `{"a":"é\\u00e9","b":[true,-1.5e3,null],"c":{}}`;
    for (let length = 2; length < whole.length; length++)
      for (const before of [row.repeat(3), '']) {
        const content = before + whole.slice(0, length);
        // A cut after a key or a number leaves what looks like a complete value.
        const report = await check(content);
        const errors = problemsOf(report).filter(({ severity }) => severity === 'error');
        assert.deepEqual(
          errors.map((problem) => [problem.code, problem.row, problem.detail]),
          [['cut-off', before === '' ? 1 : 4, before === '' ? '1' : '4']],
          content,
        );
      }
    for (const [content, expected] of [
      [`[\n${row.trim()},\n{"a":`, 3],
      [`[\n${`${row.trim()},\n`.repeat(5)}`, 6],
      [`${`${row.trim()},\n`.repeat(5)}{"a":`, 6],
      [`${row.trim()},\n${row.trim()},`, undefined],
      [pretty.slice(0, -3), 8],
      [`${row}\n{"a":"b`, 3],
      [`${row}{"a":"b\n`, undefined],
      [`${row}{"a":nope}`, undefined],
      [`${row}{"a":"\\q`, undefined],
      [`${row}"a`, undefined],
      ['a log\nof lines, the last "quoted', undefined],
      [`x\ny\n${row}{"a":"b`, undefined],
    ] as const) {
      const found = problemsOf(await check(content)).find(({ code }) => code === 'cut-off');
      assert.equal(found?.row, expected, content);
    }
  });
});
