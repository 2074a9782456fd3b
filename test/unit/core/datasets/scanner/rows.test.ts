import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { FORMATS } from '../../../../../src/core/datasets/formats.ts';
import { UNTRAINABLE } from '../../../../../src/core/datasets/problems.ts';
import { Scanner } from '../../../../../src/core/datasets/scanner.ts';
import {
  HASH_NONE,
  HASH_NORMALIZED,
  HASH_WRITTEN,
  ROW_BLANK,
  ROW_ERROR,
  ROW_FORMAT_SHIFT,
  ROW_PERSONAL,
  ROW_SECRET,
  ROW_UNTRAINABLE_SHIFT,
} from '../../../../../src/core/datasets/scanner/codes.ts';
import { checkerFiles } from '../../../../helpers/checker.ts';
import { Random } from '../../../../helpers/random.ts';

interface Row {
  flags: number;
  prompt: bigint;
  answer: bigint;
}

describe('what the scanner says of each row', () => {
  let scanner: Scanner;

  before(async function () {
    const { scanner: file } = await checkerFiles();
    scanner = new Scanner(await WebAssembly.compile(await readFile(file)));
  });

  const scan = (rows: readonly (string | object)[], prompts = HASH_WRITTEN): Row[] => {
    const text = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
    const bytes = Buffer.from(text);
    scanner.input(bytes.length).set(bytes);
    scanner.begin(false, prompts);
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
  const [user, assistant] = ['user', 'assistant'].map((role) => (content: unknown) => ({ role, content }));
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
        // A byte order mark is blank.
        (UNTRAINABLE.indexOf('content') + 1) << ROW_UNTRAINABLE_SHIFT,
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

  it('of two answers without a prompt has what both ask before their last one', () => {
    const pair = (chosen: unknown, rejected: unknown, more: object = {}) => ({ ...more, chosen, rejected });
    const asked = Array.from({ length: 20 }, (_, at) => user!(`q${at}`));
    const rows = [
      chat(['user', 'a'], ['assistant', 'x']),
      pair([user!('a'), assistant!('x')], [user!('a'), assistant!('y')]),
      pair({ messages: [user!('a'), assistant!('p')] }, [user!('a'), assistant!('q')], { id: 1 }),
      pair([user!('a'), assistant!('x'), user!('b'), assistant!('y')], [user!('a'), assistant!('z')]),
      pair(
        [user!('a'), assistant!('x'), user!('b'), assistant!('y')],
        [user!('a'), user!('c'), assistant!('y')],
      ),
      pair([user!('a')], [user!('a')], { prompt: '' }),
      pair([user!('b'), assistant!('x')], [user!('b'), assistant!('y')], { prompt: 'a' }),
      chat(['user', 'a'], ['assistant', 'x'], ['user', 'b'], ['assistant', 'y']),
      pair(
        [user!('a'), assistant!('x'), user!('b'), assistant!('y')],
        [user!('a'), assistant!('z'), user!('b'), assistant!('z')],
      ),
      pair([...asked, user!('1'), assistant!('x')], [...asked, user!('2'), assistant!('x')]),
      pair([...asked, assistant!('x')], [...asked, assistant!('y')]),
      pair(
        [{ role: 'system', content: 's' }, assistant!('x')],
        [{ role: 'system', content: 's' }, assistant!('y')],
      ),
      chat(['system', 's'], ['assistant', 'x']),
    ];
    const found = scan(rows).map(({ prompt }) => prompt);
    assert.deepEqual(
      found.map((prompt) => found.indexOf(prompt)),
      [0, 0, 0, 0, 0, 0, 0, 7, 7, 9, 9, 11, 11],
    );
    assert.ok(found.every((prompt) => prompt !== 0n));
    const without = [
      pair([user!('a'), assistant!('x')], [user!('b'), assistant!('y')]),
      pair('a x', 'a y'),
      pair([user!('a'), assistant!('x')], 'a'),
      pair([assistant!('x')], [assistant!('y')]),
      { id: 1, chosen: [user!('a'), assistant!('x')] },
    ];
    assert.deepEqual(new Set(scan(without).map(({ prompt }) => prompt)), new Set([0n]));
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
    const [first, second, , , , ...others] = found.map(({ prompt }) => prompt);
    assert.ok(first !== 0n && first === second);
    assert.deepEqual(
      found.map(({ prompt }) => found.findIndex((row) => row.prompt === prompt)),
      [0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 10, 11, 12, 0],
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

  it('has the prompt of a list of messages also if it is in an object, as OpenAI has it', () => {
    const messages = [{ role: 'user', content: 'a' }];
    const found = scan([
      { prompt: messages, chosen: 'c', rejected: 'd' },
      { prompt: { messages }, chosen: 'c', rejected: 'd' },
      { input: { messages }, preferred_output: 'c', non_preferred_output: 'd' },
      { input: 'a', chosen: 'c', rejected: 'd' },
    ]);
    assert.deepEqual(
      found.map(({ prompt }) => (prompt === 0n ? -1 : found.findIndex((row) => row.prompt === prompt))),
      [0, 0, 0, -1],
    );
  });

  it('has no hashes unless they are asked for', () => {
    const [row] = scan([chat(['user', 'a'], ['assistant', 'b'])], HASH_NONE);
    assert.deepEqual([row?.prompt, row?.answer], [0n, 0n]);
  });

  it('has a normalized prompt, which is equal exactly if a simple rule says so, however it is written', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = new Random(seed);
      const pieces = [
        'a',
        'B',
        'é',
        'É',
        '模',
        '😀',
        '"',
        '\\',
        '/',
        '.',
        '?',
        '\u0000',
        '\u00a0',
        '\u2028',
        'word Word',
      ];
      const spaces = ['', '', ' ', '  ', '\n', '\t \r\n', '\b', '\u001f'];
      const bases = Array.from({ length: 40 }, () => [
        'x',
        ...random.several(random.chance(0.1) ? 900 : 12, () => random.of(pieces)),
      ]);
      const rows = Array.from({ length: 1_000 }, () => {
        const text = random
          .of(bases)
          .map((piece) => (random.chance(0.1) ? piece.toUpperCase() : piece) + random.of(spaces))
          .join('');
        return { text, row: random.of(SPELLINGS)(written(text, random)) };
      });
      const found = scan(
        rows.map(({ row }) => row),
        HASH_NORMALIZED,
      );
      const firsts = new Map<string, bigint>();
      for (const [index, { text, row }] of rows.entries()) {
        const said = normalized(text);
        const prompt = found[index]?.prompt ?? -1n;
        if (!firsts.has(said)) firsts.set(said, prompt);
        assert.equal(prompt, firsts.get(said), `seed ${seed}: ${row.slice(0, 500)}`);
      }
      assert.equal(new Set(firsts.values()).size, firsts.size, `seed ${seed}`);
    }
  });

  it('has a normalized prompt of any length, also where a chunk of 4,096 bytes ends', () => {
    const random = new Random(13);
    for (let length = 4_070; length <= 4_110; length++)
      for (const last of ['x', 'é', '模', '😀']) {
        const text = 'aB?'.repeat(length).slice(0, length) + last;
        const texts = [text, ` ${text}\n`, text.replaceAll('?', ' ? '), `${text}y`];
        const [plain, ...others] = scan(
          [texts[0]!, ...texts].map((one, index) =>
            spellRow(index === 0 ? JSON.stringify(one) : written(one, random)),
          ),
          HASH_NORMALIZED,
        ).map(({ prompt }) => prompt);
        assert.deepEqual(
          others.map((prompt) => prompt === plain),
          [true, true, true, false],
          `${length} ${last}`,
        );
      }
  });

  it('has another normalized prompt if one word, a question mark, a turn, a part or the case beyond ASCII differs', () => {
    const [first, ...others] = scan(
      [
        chat(['user', 'What is é?'], ['assistant', 'b']),
        chat(['user', 'What was é?'], ['assistant', 'b']),
        chat(['user', 'What is é'], ['assistant', 'b']),
        chat(['user', 'What is É?'], ['assistant', 'b']),
        chat(['user', 'What is e\u0301?'], ['assistant', 'b']),
        chat(['user', 'What\u00a0is é?'], ['assistant', 'b']),
        chat(['user', 'What is é?'], ['assistant', 'b'], ['user', 'Why?'], ['assistant', 'c']),
        chat(['user', ['What is ', 'é?']], ['assistant', 'b']),
        chat(['User', 'What is é?'], ['Assistant', 'b']),
      ],
      HASH_NORMALIZED,
    ).map(({ prompt }) => prompt);
    assert.ok(!others.includes(first ?? 0n));
    const same = scan(
      [
        chat(['system', 's'], ['user', 'What is é?'], ['assistant', 'other']),
        {
          prompt: [
            { role: 'system', content: 's' },
            { role: 'user', content: 'What is é?' },
          ],
          completion: 'c',
        },
        { prompt: 'What is é?', completion: [{ role: 'assistant', content: 'c' }] },
        '{"prompt":[{"role":"user","content":"x"}],"prompt":"What is é?","completion":"c"}',
      ],
      HASH_NORMALIZED,
    ).map(({ prompt }) => prompt);
    assert.deepEqual(new Set(same), new Set([first]));
    assert.equal(scan([{ prompt: ' \n\u0000', completion: 'c' }], HASH_NORMALIZED)[0]?.prompt, 0n);
    const listed = scan(
      [
        { prompt: chat(['user', 'a'], ['assistant', 'x'], ['user', 'b']).messages, completion: 'y' },
        {
          prompt: chat(['system', 's'], ['user', 'A'], ['assistant', 'z'], ['user', ['B']]).messages,
          completion: 'y',
        },
        { prompt: chat(['user', 'a'], ['user', 'c']).messages, completion: 'y' },
      ],
      HASH_NORMALIZED,
    ).map(({ prompt }) => prompt);
    assert.deepEqual([listed[0] === listed[1], listed[0] === listed[2]], [true, false]);
  });
});

/** The rule: what stays of a prompt. */
function normalized(text: string): string {
  return text.replace(/[\0- ]/g, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Writes a text as JSON, with escapes where any writer may have some. */
function written(text: string, random: Random): string {
  const style = random.below(3);
  const one = (unit: string): string => {
    const code = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    if (style === 0 || (style === 1 && unit < '\u0080')) return JSON.stringify(unit).slice(1, -1);
    if (style === 1 || random.chance(0.2))
      return random.chance(0.5)
        ? code
        : code.replace(/[a-f]/g, (digit) => digit.toUpperCase()).replace('\\U', '\\u');
    return unit === '/' ? '\\/' : JSON.stringify(unit).slice(1, -1);
  };
  // The halves of a surrogate pair are escaped together.
  const units = style === 1 ? text.split('') : Array.from(text);
  return `"${units.map((unit) => (unit.length > 1 ? unit : one(unit))).join('')}"`;
}

const ANSWER = '{"role":"assistant","content":"ok"}';
const spellRow = (text: string) => `{"messages":[{"role":"user","content":${text}},${ANSWER}]}`;
/** Rows with one prompt, given as JSON. */
const SPELLINGS: readonly ((text: string) => string)[] = [
  spellRow,
  (text) => `{"messages":[{"content":[{"text":${text},"type":"text"}],"role":"user"},${ANSWER}]}`,
  (text) => `{"messages":[{"role":"system","content":"S"},{"role":"user","content":[${text}]},${ANSWER}]}`,
  (text) => `{"conversations":[{"from":"human","value":${text}},{"from":"gpt","value":"ok"}]}`,
  (text) => `{"conversations":[${text},"ok"]}`,
  (text) => `{"completion":"ok", "prompt": ${text}}`,
  (text) => `{"prompt":[{"role":"user","content":${text}}],"completion":[${ANSWER}]}`,
  (text) => `{"prompt":${text},"chosen":"a","rejected":"b"}`,
  (text) => `{"instruction":${text},"input":" ","output":"ok"}`,
  (text) => `{"question":${text},"answer":"ok"}`,
];
