import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Scanner } from '../../../../src/core/datasets/scanner.ts';
import { HASH_NORMALIZED } from '../../../../src/core/datasets/scanner/codes.ts';
import { toChat, type ConvertedRow } from '../../../../src/core/datasets/toChat.ts';
import { checkerFiles, problemsOf, useChecker } from '../../../helpers/checker.ts';
import { golden } from '../../../helpers/golden.ts';
import { Random } from '../../../helpers/random.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../fixtures/jsonl/conversions');

/** Makes rows of each format from texts, with the texts that the messages must have. */
const MAKERS: Record<string, (text: () => string, random: Random) => { row: object; texts: string[] }> = {
  sharegpt: (text, random) => {
    const texts = [text(), text(), ...random.several(2, () => [text(), text()]).flat()];
    const conversations = texts.map((value, index) => ({ from: index % 2 === 0 ? 'human' : 'gpt', value }));
    if (random.chance(0.5)) return { row: { conversations }, texts };
    const system = text();
    return { row: { conversations, system, id: 7 }, texts: [system, ...texts] };
  },
  lima: (text, random) => {
    const texts = [text(), text(), ...random.several(2, () => [text(), text()]).flat()];
    return { row: { conversations: texts }, texts };
  },
  instruction: (text, random) => {
    const [instruction, input, output, system] = [text(), text(), text(), text()];
    const history = random.several(3, () => [text(), text()]);
    return {
      row: { instruction, input, output, system, history },
      texts: [system, ...history.flat(), `${instruction}\n\n${input}`, output],
    };
  },
  dolly: (text) => {
    const [instruction, context, response] = [text(), text(), text()];
    return {
      row: { instruction, context, response, category: text() },
      texts: [`${instruction}\n\n${context}`, response],
    };
  },
  prompt: (text) => {
    const [prompt, completion] = [text(), text()];
    return { row: { completion, prompt }, texts: [prompt, completion] };
  },
  lists: (text, random) => {
    const [system, completion] = [text(), text()];
    const prompts = [text(), ...random.several(3, text)];
    const turn = (content: string, at: number) => ({
      ...{ role: at % 2 === 0 ? 'user' : 'assistant', content },
      weight: random.below(2),
    });
    return {
      row: {
        prompt: [{ role: 'developer', content: system }, ...prompts.map(turn)],
        completion: [{ role: 'assistant', content: completion, extra: [[[]]] }],
      },
      texts: [system, ...prompts, completion],
    };
  },
  question: (text) => {
    const [question, answer] = [text(), text()];
    return { row: { question, answer, text: text() }, texts: [question, answer] };
  },
};

/** Values that tables have for missing texts. */
const ABSENT = [undefined, null, '', ' \n', '\u3000', []];

/** Rows of each form that is converted, also with fields that are empty or that a chat row leaves out. */
const FORMS: readonly ((text: () => string, random: Random) => object)[] = [
  ...Object.values(MAKERS).map((make) => (text: () => string, random: Random) => make(text, random).row),
  (text, random) => {
    const optional = () => (random.chance(0.5) ? text() : random.of(ABSENT));
    const [question, further] = [optional(), random.of(['input', 'context'])];
    const row = { instruction: question, [further]: optional(), [random.of(['output', 'response'])]: text() };
    return {
      ...row,
      context: optional(),
      history: random.of([null, [], [[text(), text()]]]),
      system: optional(),
    };
  },
  (text, random) => {
    const message = (role: string) => ({ role, content: random.chance(0.1) ? ' ' : text() });
    const list = (most: number) =>
      random.several(most, () => message(random.of(['user', 'assistant', 'system', 'developer'])));
    return {
      prompt: random.chance(0.3) ? text() : [message('user'), ...list(4)],
      completion: random.chance(0.3) ? text() : list(4),
      ...(random.chance(0.5) && { system: text(), history: [[text(), text()]] }),
    };
  },
  (text, random) => {
    const roles = ['human', 'gpt', 'system', 'user', 'assistant'];
    const conversations = random.several(5, () => ({ from: random.of(roles), value: text() }));
    return {
      conversations: [{ from: 'gpt', value: text() }, ...conversations],
      system: random.of([text(), null]),
    };
  },
];

/** Returns the object with all keys, also those inside, in a random order. */
function shuffled(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((one) => shuffled(one, random));
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.entries(value).map(
    ([key, one]) => [random.fraction(), key, shuffled(one, random)] as const,
  );
  return Object.fromEntries(keys.sort(([one], [other]) => one - other).map(([, key, one]) => [key, one]));
}

function converted(row: string): ConvertedRow {
  const result = toChat(row);
  assert.ok(typeof result === 'object', row.slice(0, 500));
  return result;
}

const contentsOf = (text: string) =>
  (JSON.parse(text) as { messages: { content: string }[] }).messages.map(({ content }) => content);

describe('toChat', () => {
  const { check } = useChecker();

  it('converts each row of the fixtures, or says why not', () => {
    const rows = readdirSync(FIXTURES).flatMap((file) =>
      readFileSync(path.join(FIXTURES, file), 'utf8').replace(/\n$/, '').split('\n'),
    );
    const shown = rows.map((row): [string, string] => {
      const result = toChat(row);
      if (typeof result === 'string') return [row, result];
      const dropped = result.dropped.length === 0 ? '' : ` without ${result.dropped.join(', ')}`;
      return [row, result.text + dropped];
    });
    golden('to-chat', Object.fromEntries(shown));
  });

  it('keeps every text of a row, exactly and in order, and gives chat rows without problems', async () => {
    const random = new Random(11);
    const piece = () =>
      random.of([
        'a',
        ' ',
        '\n',
        'é',
        '模型',
        '😀',
        '\ud800',
        '\udc00',
        '\u0000',
        '\u2028',
        '"',
        '\\',
        '<|',
        '[I',
      ]);
    const text = () => `${piece()}x${random.several(random.chance(0.02) ? 3000 : 12, piece).join('')}`;
    const results = Array.from({ length: 2000 }, () => {
      const make = MAKERS[random.of(Object.keys(MAKERS))]!;
      const { row, texts } = make(text, random);
      const json = JSON.stringify(row, undefined, random.of([0, 1])).replaceAll('\n', ' ');
      const result = converted(json);
      assert.deepEqual(contentsOf(result.text), texts);
      assert.ok(!/[\n\r]/.test(result.text));
      assert.deepEqual(toChat(json), result);
      return result.text;
    });
    const report = await check(results.join('\n'));
    assert.equal(report.formats.chat, results.length);
    assert.equal(report.datasetRows, results.length);
    const codes = new Set(problemsOf(report).map(({ code }) => code));
    // Whatever the texts have stays, with the same problems as before.
    for (const code of ['lone-surrogate', 'duplicate-row', 'very-long-row'] as const) codes.delete(code);
    assert.deepEqual([...codes], []);
  });

  it('keeps the prompt of every form, as the scanner compares it', async () => {
    const scanner = new Scanner(new WebAssembly.Module(readFileSync((await checkerFiles()).scanner)));
    const promptOf = (row: string) => {
      const bytes = Buffer.from(row);
      scanner.input(bytes.length).set(bytes);
      scanner.begin(false, HASH_NORMALIZED);
      return scanner.scan(0, bytes.length, false, true).promptHashes.slice(0, 2).join();
    };
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = new Random(seed);
    const piece = () =>
      random.of(['a', 'B', ' ', '\n', 'é', '模', '😀', '\ud800', '\u0000', '"', '\\', '/', '\u3000']);
    const text = () => random.several(random.chance(0.02) ? 6000 : 12, piece).join('');
    const seen = new Set<string>();
    let same = 0;
    for (let turn = 0; turn < 6000; turn++) {
      const row = JSON.stringify(shuffled(random.of(FORMS)(text, random), random));
      const result = toChat(row);
      if (typeof result === 'string') continue;
      const prompt = promptOf(row);
      assert.equal(promptOf(result.text), prompt, `with the seed ${seed}: ${row.slice(0, 1000)}`);
      seen.add(prompt);
      same++;
    }
    assert.ok(same > 4000 && seen.size > same / 2, `${seen.size} of ${same}`);
  });

  it('converts a conversation in the order of its turns, whoever begins', () => {
    const random = new Random(12);
    const names = { human: 'user', gpt: 'assistant', bot: 'assistant', system: 'system', user: 'user' };
    for (let times = 0; times < 200; times++) {
      const turns = Array.from({ length: 1 + random.below(9) }, (_, index) => ({
        from: random.of(Object.keys(names)),
        value: String(index),
      }));
      const { messages } = JSON.parse(converted(JSON.stringify({ conversations: turns })).text) as {
        messages: object[];
      };
      const expected = turns.map(({ from, value }) => ({
        role: names[from as keyof typeof names],
        content: value,
      }));
      assert.deepEqual(messages, expected);
    }
  });

  it('carries the numbers of tools and weights as they are written', () => {
    for (const number of [
      '1',
      '1.0',
      '-0',
      '0.10',
      '1e2',
      '1E+400',
      '12345678901234567',
      '9007199254740993',
    ]) {
      const tools = `[{"a":${number},"b":[${number}]},"c 1.0"]`;
      assert.equal(
        converted(
          `{"prompt":"p","completion":"c","tools":${tools.replaceAll(':', ' : ')},"weight": ${number}}`,
        ).text,
        `{"messages":[{"role":"user","content":"p"},{"role":"assistant","content":"c"}],` +
          `"tools":${tools},"weight":${number}}`,
      );
      assert.equal(
        converted(`{"conversations":[{"from":"gpt","value":"a","weight": ${number}}]}`).text,
        `{"messages":[{"role":"assistant","content":"a","weight":${number}}]}`,
      );
      assert.equal(
        converted(`{"weight":${number},"conversations":["a"]}`).text,
        `{"messages":[{"role":"user","content":"a"}],"weight":${number}}`,
      );
    }
  });

  it('leaves out a weight that is no number, and says so', () => {
    const row = { conversations: [{ from: 'gpt', value: 'a', weight: null }], weight: '1' };
    assert.deepEqual(toChat(JSON.stringify(row)), {
      text: '{"messages":[{"role":"assistant","content":"a"}]}',
      dropped: ['weight'],
    });
  });

  it('gives a message a weight of 0 that is not to be learned', () => {
    const rowOf = (more: object) =>
      JSON.stringify({
        conversations: [
          { from: 'human', value: 'a' },
          { from: 'gpt', value: 'b', ...more },
        ],
      });
    const messages = (more: object) => [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', ...more },
    ];
    for (const [more, expected, dropped] of [
      [{ train: false }, { weight: 0 }, []],
      [{ loss: false }, { weight: 0 }, []],
      [{ train: false, loss: true, weight: 1 }, { weight: 0 }, ['loss']],
      [{ train: true }, {}, ['train']],
      [{ loss: null, weight: 1 }, { weight: 1 }, ['loss']],
    ] as const)
      assert.deepEqual(toChat(rowOf(more)), {
        text: JSON.stringify({ messages: messages(expected) }),
        dropped,
      });
    // Only what the assistant says is learned.
    const asked = { from: 'human', value: 'a', loss: false, weight: 1 };
    assert.deepEqual(toChat(JSON.stringify({ conversations: [asked, { from: 'gpt', value: 'b' }] })), {
      text: JSON.stringify({ messages: messages({}) }),
      dropped: ['weight'],
    });
  });

  it('survives texts of megabytes, and nesting of a hundred thousand levels', () => {
    const long = 'é'.repeat(4_000_000);
    assert.deepEqual(contentsOf(converted(JSON.stringify({ prompt: long, completion: long })).text), [
      long,
      long,
    ]);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const row = (field: string) => `{"question":"a","answer":"b","${field}":${deep}}`;
    assert.deepEqual(converted(row('other')).dropped, ['other']);
    assert.equal(toChat(row('tools')), 'nested');
    assert.equal(toChat(`{"conversations":${deep}}`), 'incomplete');
    assert.equal(toChat(deep), 'unknown');
  });

  it('leaves out texts with the marks of a template, but not what is only like one', () => {
    const file = path.join(
      import.meta.dirname,
      '../../../fixtures/datasets/reports/d26-template-marks.jsonl',
    );
    const rows = readFileSync(file, 'utf8').trimEnd().split('\n');
    const isRefused = (row: string) => toChat(row) === 'template';
    // An end-of-text mark alone is shown, not refused.
    assert.deepEqual(rows.map(isRefused), [true, true, true, true, false, false, true, true, false]);
    const ofPrompt = (prompt: string) => isRefused(JSON.stringify({ prompt, completion: 'a' }));
    for (const mark of [
      '<|im_start|>',
      '<|start_header_id|>',
      '[INST]',
      '<start_of_turn>',
      '### Response:',
      '\n\nHuman:',
    ])
      assert.ok(ofPrompt(`a${mark}b`), mark);
    for (const text of [
      '<|user',
      'a <｜b',
      '<|end_of_file|>',
      '[INSTALL]',
      '### Responses',
      '<br>',
      'Human:',
    ])
      assert.ok(!ofPrompt(text), text);
  });
});
