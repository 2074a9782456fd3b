import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import {
  isAnswersFile,
  MAX_BYTES,
  openAnswers,
  readAnswers,
} from '../../../../src/core/answers/answersFile.ts';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import { writtenAnswer } from '../../../helpers/answers.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { itOnPosix } from '../../../helpers/platform.ts';

const ROW = writtenAnswer();

describe('readAnswers', function () {
  const folder = useFolder();
  const file = () => path.join(folder(), 'train.answers.jsonl');
  const read = async (content: string | Buffer) => {
    await writeFile(file(), content);
    const found = await readAnswers(file());
    assert.ok(typeof found === 'object');
    return found;
  };
  const linesOf = async (content: string | Buffer) => (await read(content)).rows.map(({ line }) => line);

  it('reads rows with their lines, between LF, CRLF and blank lines, after a byte order mark', async () => {
    assert.deepEqual(await linesOf(`\uFEFF${ROW}\n\r\n${ROW}\r\n \n${ROW}`), [1, 3, 5]);
    // A lone CR ends no line.
    assert.deepEqual(await linesOf(`${ROW}\r${ROW}\n${ROW}`), [2]);
    const { rows, leftOut, isCut, isBeingWritten } = await read('\n');
    assert.deepEqual([rows, leftOut, isCut, isBeingWritten], [[], {}, false, false]);
  });

  it('counts what it leaves out by reason', async () => {
    const { rows, leftOut } = await read(
      [
        ...[ROW, 'no JSON', '[1]', '{"messages":', ''],
        ...[writtenAnswer({ messages: [] }), writtenAnswer({ expected: '' }), writtenAnswer({ expected: 5 })],
        ...[writtenAnswer({ base: null }), writtenAnswer({ adapter: undefined }), ROW, ''],
      ].join('\n'),
    );
    assert.deepEqual(
      rows.map(({ line }) => line),
      [1, 11],
    );
    assert.deepEqual(leftOut, {
      ...{ 'not-json': 3, 'no-messages': 1, 'no-expected': 2, 'no-base': 1, 'no-adapter': 1 },
    });
  });

  it('says that the last line is being written if it isn’t complete', async () => {
    for (const [end, isBeingWritten, rows, leftOut] of [
      [ROW.slice(0, -1), true, 1, {}],
      ['{', true, 1, {}],
      [ROW, false, 2, {}],
      [`${ROW.slice(0, -1)}\n`, false, 1, { 'not-json': 1 }],
      ['no JSON', false, 1, { 'not-json': 1 }],
      [writtenAnswer({ base: null }), false, 1, { 'no-base': 1 }],
      [' ', false, 1, {}],
    ] as const) {
      const found = await read(`${ROW}\n${end}`);
      assert.deepEqual(
        [found.isBeingWritten, found.rows.length, found.leftOut],
        [isBeingWritten, rows, leftOut],
      );
    }
  });

  it('has the SHA-256 of the file', async () => {
    const content = `${ROW}\nno JSON\n`;
    const { sha256, stamp } = await read(content);
    assert.equal(sha256, createHash('sha256').update(content).digest('hex'));
    assert.equal(stamp.sizeBytes, content.length);
  });

  it('reads 2,000 rows, and says if there are more', async () => {
    const most = `${ROW}\n`.repeat(1_999);
    for (const [content, rows, isCut] of [
      [`no JSON\n${most}\n\n`, 1_999, false],
      [`${most}${ROW}`, 2_000, false],
      [`${most}${ROW}\n{`, 2_000, true],
      [`no JSON\n${most}${ROW}\n`, 1_999, true],
      ['{\n'.repeat(3_000_000), 0, true],
    ] as const) {
      const found = await read(content);
      assert.deepEqual([found.rows.length, found.isCut, found.isBeingWritten], [rows, isCut, false]);
    }
  });

  it('reads 8 MB, without the row that is cut there', async () => {
    const row = writtenAnswer({ base: 'x'.repeat(1_000_000) });
    const content = `${row}\n`.repeat(9);
    assert.ok(content.length > MAX_BYTES);
    const { rows, leftOut, isCut, isBeingWritten, sha256 } = await read(content);
    assert.deepEqual([rows.length, leftOut, isCut, isBeingWritten], [8, {}, true, false]);
    assert.equal(sha256, createHash('sha256').update(content.slice(0, MAX_BYTES)).digest('hex'));
    const fitting = content.slice(0, MAX_BYTES - 1) + '\n';
    assert.equal((await read(fitting)).isCut, false);
  });

  it('needs little memory for a large file, and for a row of nothing but brackets', async () => {
    const before = process.memoryUsage().rss;
    // Holes, which are read as zeros.
    await writeFile(file(), '');
    await truncate(file(), 200_000_000);
    const holes = await readAnswers(file());
    assert.ok(typeof holes === 'object' && holes.isCut);
    const nested = await read(Buffer.alloc(60_000_000, '['));
    assert.deepEqual([nested.rows, nested.leftOut, nested.isCut], [[], {}, true]);
    const closed = `{"messages":${'['.repeat(2_000_000)}${']'.repeat(2_000_000)},`;
    assert.deepEqual((await read(`${ROW.replace('{"messages":[', `${closed}"m":[`)}\n`)).leftOut, {
      'no-messages': 1,
    });
    assert.ok(process.memoryUsage().rss - before < 600_000_000);
  });

  it('keeps hostile text as it is, and replaces bytes that aren’t UTF-8', async () => {
    const text = '<script>alert(1)</script> \u202Emoc \u0000 \u2028 [x](command:y)';
    const { rows } = await read(
      Buffer.concat([
        Buffer.from(`${writtenAnswer({ base: text })}\n`),
        Buffer.from(`${writtenAnswer({ base: '#' }).replace('"#"', '"\xff\\ud800"')}\n`, 'latin1'),
      ]),
    );
    assert.deepEqual(
      rows.map(({ base }) => base),
      [text, '\ufffd\ud800'],
    );
  });

  it('returns its rows as lines of chat, with the values as written', async () => {
    const parts = [
      { type: 'text', text: 'a\ud800"' },
      { type: 'image_url', image_url: { url: 'x' } },
    ];
    const messages = [
      { role: 'system', content: 'Be\u2028brief\n.' },
      { role: 'user', content: parts, name: 'é', __proto__: 1 },
      { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
      { from: 'human', value: 7 },
    ];
    const answerOf = (content: unknown) => ({ role: 'assistant', content });
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const { chat, rows } = await read(
      [
        writtenAnswer({ messages, expected: parts }),
        writtenAnswer({ expected: 5 }),
        writtenAnswer({ messages, expected: { role: 'assistant', content: '5' }, base: 'b', adapter: '' }),
        // No one can write it again.
        ROW.replace('"role":', `"deep":${deep},"role":`),
        ROW,
      ].join('\n'),
    );
    const written = Buffer.from(chat).toString().split('\n');
    assert.deepEqual(
      written.slice(0, -1).map((line) => JSON.parse(line) as unknown),
      [
        { messages: [...(JSON.parse(JSON.stringify(messages)) as object[]), answerOf(parts)] },
        { messages: [...(JSON.parse(JSON.stringify(messages)) as object[]), answerOf('5')] },
        {},
        { messages: [{ role: 'user', content: '2+3?' }, answerOf('5')] },
      ],
    );
    assert.deepEqual([written.length, written.at(-1), rows.length], [5, '', 4]);
  });

  it('has the runs that its rows name, each once, and few', async () => {
    const runsOf = async (...runs: unknown[]) =>
      (await read(runs.map((run) => ROW.replace('{', `{"run":${JSON.stringify(run)},`)).join('\n'))).runs;
    assert.deepEqual((await read(ROW)).runs, []);
    assert.deepEqual(await runsOf('b', 'a', 'b', 7, null, {}, 'x'.repeat(200)), ['b', 'a', 'x'.repeat(200)]);
    assert.deepEqual(await runsOf('x'.repeat(201), ['a']), []);
    assert.equal((await runsOf(...Array.from({ length: 100 }, (_, index) => `run ${index}`))).length, 8);
    // Only rows of answers count.
    assert.deepEqual((await read(`{"run":"a"}\n${ROW}`)).runs, []);
  });

  it('says why it can’t read a path that isn’t a file', async () => {
    const none = path.join(folder(), 'none', 'x');
    assert.deepEqual([await readAnswers(file()), await readAnswers(none)], ['missing', 'missing']);
    await writeFile(file(), '');
    assert.equal(await readAnswers(file()), 'empty');
    assert.equal(await readAnswers(folder()), 'folder');
    assert.ok(!(await isAnswersFile(folder())));
  });

  itOnPosix('does not wait for the writer of a pipe', async () => {
    execFileSync('mkfifo', [file()]);
    assert.equal(await readAnswers(file()), 'not-a-file');
    assert.ok(!(await isAnswersFile(file())));
    const link = path.join(folder(), 'link');
    await symlink('/dev/zero', link);
    assert.equal(await readAnswers(link), 'not-a-file');
  });
});

describe('openAnswers', function () {
  const folder = useFolder();
  const file = () => path.join(folder(), 'train.answers.jsonl');
  const open = (signal = new AbortController().signal) => openAnswers(file(), signal);

  it('has the rows, and their scores in order', async () => {
    const rows = Array.from({ length: 300 }, (_, index) =>
      writtenAnswer({ base: `${'x'.repeat(20_000)}${index}`, adapter: String(index) }),
    );
    await writeFile(file(), `${rows.join('\n')}\nno JSON\n`);
    const read = await readAnswers(file());
    assert.ok(typeof read === 'object');
    assert.deepEqual(await open(), { file: read, scores: read.rows.map(scoreRow) });
  });

  it('ends when it is canceled', async () => {
    await writeFile(file(), `${writtenAnswer({ base: 'x'.repeat(20_000) })}\n`.repeat(100));
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    await assert.rejects(open(stop.signal), { code: 'cancelled' });
  });

  it('scores texts with stacked accents at once', async () => {
    // To order them takes minutes.
    const stacked = (marks: string) => `a${marks.repeat(400_000)}`;
    const texts = { base: stacked('\u0301\u0316'), adapter: stacked('\u0316\u0301') };
    await writeFile(file(), `${writtenAnswer(texts)}\n`);
    const opened = await open();
    assert.equal(typeof opened === 'object' && opened.scores.length, 1);
  });

  it('says why it can’t read a path that isn’t a file', async () => assert.equal(await open(), 'missing'));
});

describe('isAnswersFile', function () {
  const folder = useFolder();
  const isAnswers = async (content: string) => {
    const file = path.join(folder(), 'data.jsonl');
    await writeFile(file, content);
    return isAnswersFile(file);
  };

  it('parses at most 256 KB of a first row in this thread, once, and says the same of a longer one', async () => {
    const parse = mock.method(JSON, 'parse');
    assert.ok(await isAnswers(`${writtenAnswer({ base: 'x'.repeat(200_000) })}\n`));
    parse.mock.restore();
    assert.equal(parse.mock.callCount(), 1);
    const none = mock.method(JSON, 'parse', () => assert.fail());
    try {
      for (const size of [300_000, 7_000_000]) {
        const base = 'x'.repeat(size);
        assert.ok(
          await isAnswers(
            `{"messages":[{"role":"user","content":"a"}],"expected":"b","base":"${base}","adapter":"c"}\n`,
          ),
        );
        assert.ok(!(await isAnswers(`{"messages":[{"role":"user","content":"${base}"}]}\n`)));
      }
      assert.ok(!(await isAnswers(`[${'1,'.repeat(300_000)}1]\n`)));
    } finally {
      none.mock.restore();
    }
  });

  it('is true if the first line that is not blank is an answer, however long it is', async () => {
    const long = writtenAnswer({ base: 'é'.repeat(200_000) });
    const [bom, blank] = ['\uFEFF', ' \r\n'.repeat(50_000)];
    const begun = [`\n${ROW}`, `\r\n \t\n${ROW}\n`, `${bom}\n${ROW}`, `${blank}${long}\n${ROW}`];
    for (const content of [ROW, `${ROW}\nno JSON`, `${bom}${ROW}\r\n`, `${long}\n${ROW}`, long, ...begun])
      assert.ok(await isAnswers(content), content.slice(0, 20));
    const tooLong = `${writtenAnswer({ base: 'x'.repeat(9_000_000) })}\n`;
    const dataset = '{"messages":[{"role":"user","content":"Hi"}]}';
    const others = [`\n${dataset}\n${ROW}`, '\n'.repeat(9_000_000)];
    for (const content of [
      '',
      '\n',
      `no JSON\n${ROW}`,
      `${dataset}\n${ROW}`,
      ROW.slice(0, -1),
      tooLong,
      ...others,
    ])
      assert.ok(!(await isAnswers(content)));
  });
});
