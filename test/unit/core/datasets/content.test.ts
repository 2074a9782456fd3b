import assert from 'node:assert/strict';
import { textRow } from '../../../../src/core/datasets/facts/textRow.ts';
import type { FactName } from '../../../../src/core/datasets/readFacts.ts';
import { escaped } from '../../../helpers/jsonWriters.ts';
import { a, c, chat, d, s, u } from '../../../helpers/messages.ts';
import { Random } from '../../../helpers/random.ts';
import { readingOf } from '../../../helpers/reading.ts';

/** Scripts, each with a sentence that is nearly all in it. */
const SENTENCES: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'All people are born free — and equal in dignity, café.'],
  ['cyrillic', 'Все люди рождаются свободными и равными'],
  ['han', '人人生而自由，在尊严和权利上一律平等'],
  ['kana', 'すべてのにんげんは、うまれながらにして'],
  ['hangul', '모든 인간은 태어날 때부터 자유로우며'],
  ['greek', 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι'],
  ['arabic', 'يولد جميع الناس أحرارا متساوين'],
  ['hebrew', 'כל בני האדם נולדו בני חורין'],
  ['indic', 'सभी मनुष्यों को गौरव और अधिकारों'],
  ['thai', 'มนุษย์ทั้งหลายเกิดมามีอิสระ'],
  ['other', 'ყველა ადამიანი იბადება თავისუფალი'],
];

/** The same row, once as usual and once with unnecessary escapes. */
const spellings = (row: string) => [
  row,
  escaped(row),
  row.replaceAll('/', String.raw`\/`).replaceAll(String.raw`\t`, String.raw`\u0009`),
];

describe('what the texts of a dataset say', () => {
  const rowsOf = (found: ReturnType<typeof readingOf>, name: FactName) => {
    const { total = 0, rows = [] } = found.findings.find((one) => one.name === name) ?? {};
    return { total, rows };
  };

  describe('its writing', () => {
    it('and its tokens are the same with characters and with escapes, in every script', () => {
      for (const [script, sentence] of SENTENCES) {
        const text = `${sentence} 😀 ${sentence}`.repeat(20);
        const row = JSON.stringify(chat(u(text), a('ok')));
        const [one, other] = [readingOf([row]), readingOf([escaped(row)])];
        assert.deepEqual(other.scripts, one.scripts);
        assert.deepEqual(other.tokens, one.tokens);
        const bytes = Buffer.byteLength(text) + 2;
        const cyrillic = script === 'cyrillic' ? (text.match(/\p{Script=Cyrillic}/gu) ?? []).length : 0;
        assert.equal(one.tokens.text, Math.round((bytes - Math.floor((cyrillic * 3) / 4)) / 4));
        for (const [name, share] of Object.entries(one.scripts))
          assert.ok(name === script ? share > 0.7 : share < 0.2, `${script}: ${name} ${share}`);
      }
    });

    it('has no escape after a backslash that is itself escaped', () => {
      const { tokens } = readingOf([{ text: '\\u0430 ж'.repeat(40) }]);
      assert.equal(tokens.text, Math.round((40 * 9 - (40 * 3) / 4) / 4));
    });

    it('is counted in shares of all texts, also of several rows', () => {
      const han = '自由'.repeat(100);
      const { scripts } = readingOf([{ text: han }, { text: 'x'.repeat(600) }, { id: han }]);
      assert.deepEqual([scripts.han, scripts.kana], [0.5, 0]);
    });
  });

  describe('its system messages', () => {
    const systemOf = (rows: readonly (object | string)[]) => {
      const { system } = readingOf(rows);
      return [system.conversations, system.without, system.texts, system.main?.row, system.main?.rows];
    };

    it('are compared: of several messages, of parts, of developers and of a field', () => {
      const same = [
        chat(s('Be brief.'), u(), a()),
        chat(d('Be brief.'), u(), a()),
        {
          conversations: [
            { from: 'system', value: 'Be brief.' },
            { from: 'human', value: 'x' },
          ],
        },
        { system: 'Be brief.', conversations: [{ from: 'human', value: 'x' }] },
        { conversations: [{ from: 'human', value: 'x' }], system: 'Be brief.' },
      ];
      assert.deepEqual(systemOf(same), [5, 0, 1, 1, 5]);
      assert.ok(same.every((row) => textRow(JSON.stringify(row))?.system === 'Be brief.'));
      const parts = chat(s([{ type: 'text', text: 'Be brief.' }]), u(), a());
      assert.deepEqual(systemOf([parts, parts]), [2, 0, 1, 1, 2]);
      assert.equal(textRow(JSON.stringify(parts))?.system, 'Be brief.');
      assert.deepEqual(systemOf([parts, same[0]!]), [2, 0, 1, 1, 2]);
      const two = chat(s('Be brief.'), s('Be kind.'), u(), a());
      assert.deepEqual(systemOf([two, same[0]!, two]), [3, 0, 2, 1, 2]);
      assert.equal(textRow(JSON.stringify(two))?.system, 'Be brief.Be kind.');
    });

    it('are one text however it is spelled, whatever the order of its keys', () => {
      for (const text of ['Sois bref, à l’été.', 'Yes/no.\t', `Zoë\n${'é'.repeat(500)}`]) {
        const rows = [
          ...[s(text), s([{ type: 'text', text }]), { content: text, role: 'system' }].map((system) =>
            chat(system, u(), a()),
          ),
          { system: text, conversations: [{ from: 'human', value: 'x' }] },
        ].flatMap((row) => spellings(JSON.stringify(row)));
        assert.deepEqual(systemOf(rows), [12, 0, 1, 1, 12]);
      }
    });

    it('are missing if there are none or only empty ones, and can’t be in strings or other formats', () => {
      assert.deepEqual(systemOf([chat(u(), a()), chat(s(''), u(), a()), chat(s('x'), u())]), [
        ...[3, 2, 1, 3, 1],
      ]);
      const others = [
        { conversations: ['a', 'b'] },
        { prompt: 'a', completion: 'b', system: 'x' },
        { prompt: [s('x')], chosen: 'b', rejected: 'c' },
        '{"messages":[{"role":"user","content":"x"}',
        chat(),
      ];
      assert.deepEqual(systemOf(others), [0, 0, 0, undefined, undefined]);
      assert.equal(textRow('{"messages":['), undefined);
    });

    it('are counted as by a simple implementation, with the rows that lack them', () => {
      const random = new Random(71);
      const texts = ['', 'a', 'b', 'c é', '自由'];
      const rows = Array.from({ length: 3_000 }, () => {
        const text = random.chance(0.4) ? 'main' : random.of(texts);
        return { text, row: chat(...(text === '' && random.chance(0.5) ? [] : [s(text)]), u(), a()) };
      });
      const counts = Map.groupBy(rows.entries(), ([, { text }]) => text);
      const found = readingOf(rows.map(({ row }) => row));
      const without = counts.get('')!.map(([index]) => index + 1);
      assert.deepEqual([found.system.conversations, found.system.texts], [3_000, 5]);
      assert.deepEqual(found.system.main, {
        row: counts.get('main')![0]![0] + 1,
        rows: counts.get('main')!.length,
      });
      assert.equal(found.system.without, without.length);
      assert.deepEqual(rowsOf(found, 'withoutSystem'), { total: without.length, rows: without });
    });
  });

  describe('its refusals', () => {
    const isRefusal = (...rows: readonly (object | string)[]) => rowsOf(readingOf(rows), 'refusals').rows;
    const REFUSALS = [
      'I cannot help with that.',
      '  \n I can’t help with that.',
      "I can't  assist you",
      'I’m unable to see images.',
      "I'm sorry, but I can't do that.",
      'I’m sorry, but as a model I don’t have access to this.',
      'As an AI language model, I am not able to.',
      'Unfortunately, that is not possible.',
      'SORRY. I CANNOT DO IT.',
      '抱歉，我无法回答这个问题。',
      '作为一个AI语言模型，我没有感情。',
      '我不能这样做',
    ];
    const ANSWERS = [
      'As an AI therapist, I would ask what you feel.',
      "I'm sorry to hear that. Tell me more.",
      'I can’t wait to see you!',
      'Unfortunately for him, the sky is blue.',
      'The answer is: I cannot.',
      '作为Airbnb的房东，您可以这样写。',
      `I'm sorry. ${'This is a long story of what happened to me. '.repeat(5)} I cannot say more.`,
      '',
      '\\',
      'i',
    ];

    it('begin so, however they are written, and in every format', () => {
      for (const [texts, isOne] of [
        [REFUSALS, true],
        [ANSWERS, false],
      ] as const)
        for (const text of texts) {
          const rows = [
            chat(s('I cannot'), u('I cannot'), a(text)),
            chat(u(), a('ok'), u(), a([{ type: 'text', text }])),
            {
              conversations: [
                { from: 'human', value: 'x' },
                { value: text, from: 'gpt' },
              ],
            },
            { conversations: ['I cannot', text] },
            { prompt: 'I cannot', completion: text },
            { prompt: 'x', completion: [a(text)] },
            { instruction: 'x', response: text },
            { question: 'x', answer: text },
          ];
          const all = rows.map((_, index) => index + 1);
          assert.deepEqual(isRefusal(...rows), isOne ? all : [], text);
          assert.deepEqual(isRefusal(...rows.map((row) => escaped(JSON.stringify(row)))), isOne ? all : []);
        }
    });

    it('are of the last answer alone, never of calls, compared answers, texts or broken rows', () => {
      const no = 'I cannot do that.';
      const rows = [
        chat(u(), a(no), u(), a('Fine.')),
        chat(u(), a(no), c()),
        { prompt: 'x', chosen: no, rejected: 'y' },
        { text: no },
        `${JSON.stringify(chat(u(), a(no)))}x`,
        chat(u(no)),
        '{"messages":[{"role":"assistant","content":"I cannot","content":"Fine."}]}',
      ];
      const found = readingOf(rows);
      assert.deepEqual([rowsOf(found, 'refusals').total, found.answers], [0, 2]);
    });

    it('are found by each phrase', () => {
      for (const one of [
        'I’m unable to see.',
        'I’m not able to.',
        'I’m not comfortable',
        'I won’t',
        'I can’t write',
      ])
        assert.deepEqual(isRefusal(chat(u(), a(one))), [1], one);
    });

    it('are all counted, and the first 5,000 of them listed', () => {
      const rows = Array.from({ length: 5_100 }, () => chat(u(), a('I cannot.')));
      const found = readingOf(rows);
      const { total, rows: shown } = rowsOf(found, 'refusals');
      assert.deepEqual([total, shown.length, found.answers], [5_100, 5_000, 5_100]);
    });
  });

  describe('its labels', () => {
    const labelsOf = (counts: Readonly<Record<string, number>>) => {
      const answers = Object.entries(counts).flatMap(([answer, rows]) =>
        Array.from({ length: rows }, () => answer),
      );
      const rows = answers.map((answer, index) => ({ prompt: String(index), completion: answer }));
      return readingOf(rows).labels;
    };

    it('are all answers, the most common first, if they are few with enough rows', () => {
      assert.deepEqual(labelsOf({ no: 12, yes: 20, 'yes ': 1 }), [
        { row: 13, rows: 20 },
        { row: 1, rows: 12 },
        { row: 33, rows: 1 },
      ]);
      assert.deepEqual(labelsOf({ no: 9, yes: 10 }), []);
      const twelve = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`label ${index}`, 10]));
      assert.equal(labelsOf(twelve).length, 12);
      assert.deepEqual(labelsOf({ ...twelve, another: 40 }), []);
    });
  });

  it('counts a label once however it is spelled', () => {
    for (const label of ['à vérifier', 'a/b\tc']) {
      const rows = Array.from({ length: 10 }, (_, at) => [
        { prompt: `${at}`, completion: label },
        { prompt: `${at}`, completion: [a(label)] },
        chat(u(`${at}`), a(label)),
        chat(u(`${at}`), a([{ type: 'text', text: label }])),
      ]).flat();
      const both = rows.map((row) => JSON.stringify(row)).flatMap(spellings);
      assert.deepEqual(readingOf(both).labels, [{ row: 1, rows: 120 }]);
    }
  });

  it('has conversations, and those in which the assistant speaks once', () => {
    const { conversations, singleExchanges } = readingOf([
      chat(u(), a()),
      chat(s(), u(), a()),
      chat(u(), a(), u(), a()),
      { conversations: ['x', 'y'] },
      { prompt: 'x', completion: [u(), a()] },
      chat(),
      chat(u()),
    ]);
    assert.deepEqual([conversations, singleExchanges], [5, 3]);
  });

  for (const [what, count, others, isCommon] of [
    ['ten rows', 10, 0, true],
    ['nine rows', 9, 0, false],
    ['five percent of the rows', 10, 190, true],
    ['less than five percent', 10, 191, false],
  ] as const)
    it(`${isCommon ? 'has' : 'has no'} common answer in ${what}`, () => {
      const rows = Array.from({ length: others + count }, (_, index) => ({
        prompt: String(index),
        completion: index < others ? String(index) : 'same',
      }));
      const share = count / (others + count);
      assert.deepEqual(
        readingOf(rows).answer,
        isCommon ? { row: others + 1, rows: count, share } : undefined,
      );
    });
});
