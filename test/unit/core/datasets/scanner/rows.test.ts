import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Scanner } from '../../../../../src/core/datasets/scanner.ts';
import { FORMATS } from '../../../../../src/core/datasets/report.ts';
import {
  ROW_BLANK,
  ROW_ERROR,
  ROW_FORMAT_SHIFT,
  ROW_PERSONAL,
  ROW_SECRET,
} from '../../../../../src/core/datasets/scanner/codes.ts';
import { checkerFiles } from '../../../../helpers/checker.ts';

interface Row {
  flags: number;
  prompt: bigint;
  answer: bigint;
}

describe('what the scanner says of each row', () => {
  let scanner: Scanner;

  before(async function () {
    this.timeout(60_000);
    const { scanner: file } = await checkerFiles();
    scanner = new Scanner(await WebAssembly.compile(await readFile(file)));
  });

  const scan = (rows: readonly (string | object)[], withPrompts = true): Row[] => {
    const text = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
    const bytes = Buffer.from(text);
    scanner.input(bytes.length).set(bytes);
    scanner.begin(false, withPrompts);
    const { rowFlags, promptHashes, answerHashes } = scanner.scan(0, bytes.length, true, true);
    const hash = (all: Uint32Array, row: number) =>
      (BigInt(all[2 * row + 1] ?? 0) << 32n) | BigInt(all[2 * row] ?? 0);
    return Array.from(rowFlags, (flags, row) => ({
      flags,
      prompt: hash(promptHashes, row),
      answer: hash(answerHashes, row),
    }));
  };
  const chat = (...texts: readonly (readonly [string, unknown])[]) => ({
    messages: texts.map(([role, content]) => ({ role, content })),
  });
  const format = (flags: number) => FORMATS[flags >> ROW_FORMAT_SHIFT];

  it('is blank, has errors, secrets or personal data, and a format', () => {
    const found = scan([
      '',
      ' \t',
      '{"prompt":"a","completion":"b",}',
      { prompt: 'a', completion: 'sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD' },
      { prompt: 'mail jane.doe@corp.org', completion: 'b' },
      '[1]',
      { prompt: '4000 1234 5678 9017 or 4012888888881881', completion: 'jane@corp.org' },
      '{"text":"a"},',
      '{"text":"\u{FEFF}"}',
      '\u{FEFF}{"text":"a"}',
      chat(['user', 'a'], ['assistant', 'b']),
    ]).map(({ flags }) => flags);
    assert.deepEqual(
      found.map((flags) => flags & 0xff),
      [
        ROW_BLANK,
        ROW_BLANK,
        ROW_ERROR,
        ROW_SECRET,
        ROW_PERSONAL,
        ROW_ERROR,
        ROW_PERSONAL,
        ROW_ERROR,
        0,
        ROW_ERROR,
        0,
      ],
    );
    assert.deepEqual(
      [3, 7, 10].map((row) => format(found[row] ?? 0)),
      ['prompt-completion', 'text', 'chat'],
    );
    assert.equal(scanner.counts().errorRows, 4);
  });

  it('has the prompt before the last answer, whatever the order of keys, and the system only if there is nothing else', () => {
    const same = [
      chat(['user', 'a'], ['assistant', 'one']),
      chat(['user', 'a'], ['assistant', 'two']),
      chat(['system', 's'], ['user', 'a'], ['assistant', 'one']),
      {
        messages: [
          { content: 'a', role: 'user' },
          { content: 'one', role: 'assistant' },
        ],
      },
      chat(['user', [{ type: 'text', text: 'a' }]], ['assistant', 'one']),
      {
        conversations: [
          { from: 'human', value: 'a' },
          { from: 'gpt', value: 'one' },
        ],
      },
      { conversations: ['a', 'one'] },
      chat(['user', 'a'], ['assistant', 'one'], ['user', 'b'], ['assistant', 'three']),
      chat(['user', 'a'], ['assistant', 'other'], ['user', 'b'], ['assistant', 'three']),
      chat(['user', 'a'], ['user', 'b'], ['assistant', 'three']),
      chat(['system', 's'], ['assistant', 'x']),
      chat(['system', 't'], ['assistant', 'x']),
      chat(['assistant', 'x']),
      chat(['user', 'a']),
    ];
    const found = scan(same);
    const [first, second, , , parts, ...others] = found.map(({ prompt }) => prompt);
    assert.ok(first !== 0n && first === second);
    // With a list of parts, their type is a string of the prompt too.
    assert.notEqual(parts, first);
    assert.deepEqual(
      found.map(({ prompt }) => found.findIndex((row) => row.prompt === prompt)),
      [0, 0, 0, 0, 4, 0, 0, 7, 7, 7, 10, 11, 12, 0],
    );
    assert.equal(others[7], 0n);
    assert.deepEqual(
      found.map(({ answer }) => found.findIndex((row) => row.answer === answer)),
      [0, 1, 0, 0, 0, 0, 0, 7, 7, 7, 10, 10, 10, 13],
    );
  });

  it('has the prompt of pairs of fields, of which an empty one changes nothing', () => {
    const found = scan([
      { prompt: 'a', completion: 'b' },
      { completion: 'c', prompt: 'a', id: 'x' },
      { prompt: 'a', chosen: 'c', rejected: 'd' },
      { instruction: 'i', output: 'b' },
      { instruction: 'i', input: '', output: 'c' },
      { instruction: 'i', input: 'x', output: 'c' },
      { instruction: 'i', context: 'x', response: 'b' },
      { question: 'q', answer: 'b' },
      { prompt: '', completion: 'b' },
      { text: 'a' },
      { other: 'a' },
      { chosen: 'c', rejected: 'd' },
      '{"prompt":"z","prompt":"a","completion":"b"}',
      chat(['user', 'i'], ['assistant', 'b']),
      chat(['user', 'a'], ['assistant', 'b']),
    ]);
    assert.deepEqual(
      found.map(({ prompt }) => (prompt === 0n ? -1 : found.findIndex((row) => row.prompt === prompt))),
      [0, 0, 0, 3, 3, 5, 5, 7, -1, -1, -1, -1, 0, 3, 0],
    );
    assert.deepEqual(
      found.map(({ answer }) => (answer === 0n ? -1 : found.findIndex((row) => row.answer === answer))),
      [0, 1, -1, 0, 1, 1, 0, 0, 0, -1, -1, -1, 0, 0, 0],
    );
  });

  it('has no hashes unless they are asked for', () => {
    const [row] = scan([chat(['user', 'a'], ['assistant', 'b'])], false);
    assert.deepEqual([row?.prompt, row?.answer], [0n, 0n]);
  });
});
