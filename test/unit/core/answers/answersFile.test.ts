import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isAnswersFile, MAX_BYTES, readAnswers } from '../../../../src/core/answers/answersFile.ts';
import { writtenAnswer } from '../../../helpers/answers.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { itOnPosix } from '../../../helpers/platform.ts';

const ROW = writtenAnswer();

describe('readAnswers', function () {
  this.timeout(30_000);
  const folder = useFolder();
  const file = () => path.join(folder(), 'train.answers.jsonl');
  const read = async (content: string | Buffer) => {
    await writeFile(file(), content);
    return readAnswers(file());
  };
  const linesOf = async (content: string | Buffer) => (await read(content)).rows.map(({ line }) => line);

  it('reads rows with their lines, between LF, CRLF and blank lines, after a byte order mark', async () => {
    assert.deepEqual(await linesOf(`\uFEFF${ROW}\n\r\n${ROW}\r\n \n${ROW}`), [1, 3, 5]);
    // A lone CR ends no line.
    assert.deepEqual(await linesOf(`${ROW}\r${ROW}\n${ROW}`), [2]);
    const { rows, leftOut, cutBy, isBeingWritten } = await read('');
    assert.deepEqual([rows, leftOut, cutBy, isBeingWritten], [[], {}, undefined, false]);
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

  it('says that a line is being written, if it is the last one and not complete', async () => {
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
    const most = `${ROW}\n`.repeat(2_000);
    for (const [content, rows, cutBy] of [
      [`no JSON\n${most}\n\n`, 2_000, undefined],
      [`${most}${ROW}\n`, 2_000, 'rows'],
      [`${most}{`, 2_000, 'rows'],
      // Lines that aren't answers have a limit of their own.
      ['{\n'.repeat(3_000_000), 0, 'lines'],
    ] as const) {
      const found = await read(content);
      assert.deepEqual([found.rows.length, found.cutBy, found.isBeingWritten], [rows, cutBy, false]);
    }
  });

  it('reads 32 MB, without the row that is cut there', async () => {
    const row = writtenAnswer({ base: 'x'.repeat(1_000_000) });
    const content = `${row}\n`.repeat(34);
    assert.ok(content.length > MAX_BYTES);
    const { rows, leftOut, cutBy, isBeingWritten, sha256 } = await read(content);
    assert.deepEqual([rows.length, leftOut, cutBy, isBeingWritten], [33, {}, 'bytes', false]);
    assert.equal(sha256, createHash('sha256').update(content.slice(0, MAX_BYTES)).digest('hex'));
    const fitting = content.slice(0, MAX_BYTES - 1) + '\n';
    assert.equal((await read(fitting)).cutBy, undefined);
  });

  it('needs little memory for a file of one row', async () => {
    const before = process.memoryUsage().rss;
    const long = await read(`${writtenAnswer({ base: 'x'.repeat(8_000_000) })}\n${ROW}\n`);
    assert.deepEqual([long.rows.length, long.leftOut], [1, { 'too-long': 1 }]);
    // Holes, which are read as zeros.
    await truncate(file(), 200_000_000);
    assert.equal((await readAnswers(file())).cutBy, 'bytes');
    const nested = await read(Buffer.alloc(60_000_000, '['));
    assert.deepEqual([nested.rows, nested.leftOut, nested.cutBy], [[], {}, 'bytes']);
    const closed = `{"messages":${'['.repeat(2_000_000)}${']'.repeat(2_000_000)},`;
    assert.deepEqual((await read(`${ROW.replace('{"messages":[', `${closed}"m":[`)}\n`)).leftOut, {
      'no-messages': 1,
    });
    assert.ok(process.memoryUsage().rss - before < 600_000_000);
  });

  it('keeps hostile text as it is, and replaces bytes that are no UTF-8', async () => {
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

  it('rejects what is no file', async () => {
    await assert.rejects(readAnswers(file()), { code: 'missing' });
    await assert.rejects(readAnswers(path.join(folder(), 'none', 'x')), { code: 'missing' });
    await mkdir(file());
    await assert.rejects(readAnswers(file()), { code: 'folder' });
    assert.ok(!(await isAnswersFile(file())));
  });

  itOnPosix('does not wait for the writer of a pipe', async () => {
    execFileSync('mkfifo', [file()]);
    await assert.rejects(readAnswers(file()), { code: 'not-a-file' });
    assert.ok(!(await isAnswersFile(file())));
    const link = path.join(folder(), 'link');
    await symlink('/dev/zero', link);
    await assert.rejects(readAnswers(link), { code: 'not-a-file' });
  });
});

describe('isAnswersFile', () => {
  const folder = useFolder();
  const isAnswers = async (content: string) => {
    const file = path.join(folder(), 'data.jsonl');
    await writeFile(file, content);
    return isAnswersFile(file);
  };

  it('is true if the first line that is not blank is an answer, however long it is', async () => {
    const long = writtenAnswer({ base: 'é'.repeat(200_000) });
    const [bom, blank] = ['\uFEFF', ' \r\n'.repeat(50_000)];
    const begun = [`\n${ROW}`, `\r\n \t\n${ROW}\n`, `${bom}\n${ROW}`, `${blank}${long}\n${ROW}`];
    for (const content of [ROW, `${ROW}\nno JSON`, `${bom}${ROW}\r\n`, `${long}\n${ROW}`, long, ...begun])
      assert.ok(await isAnswers(content), content.slice(0, 20));
    const tooLong = `${writtenAnswer({ base: 'x'.repeat(5_000_000) })}\n`;
    const dataset = '{"messages":[{"role":"user","content":"Hi"}]}';
    const others = [`\n${dataset}\n${ROW}`, '\n'.repeat(5_000_000)];
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
