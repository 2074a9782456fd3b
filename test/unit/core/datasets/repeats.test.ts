import assert from 'node:assert/strict';
import { textRow } from '../../../../src/core/datasets/facts/textRow.ts';
import type { RepeatedTexts } from '../../../../src/core/datasets/report.ts';
import { MAX_COMPARED_PROMPTS } from '../../../../src/core/datasets/sameRows.ts';
import { useChecker } from '../../../helpers/checker.ts';
import { Random } from '../../../helpers/random.ts';

interface Row {
  prompt: string;
  answer: string;
}

describe('repeated prompts and answers', () => {
  const { check } = useChecker();
  const repeatsOf = async (rows: readonly string[], workers = 2) =>
    (await check(rows.join('\n'), { workers })).repeats;

  /** Counts repeated prompts in a simple way. An empty prompt or answer doesn't count. */
  function expectedOf(rows: readonly (Row | undefined)[]): RepeatedTexts {
    const answersOf = new Map<string, string[]>();
    for (const row of rows) {
      if (row === undefined) continue;
      if (row.prompt !== '') answersOf.set(row.prompt, [...(answersOf.get(row.prompt) ?? []), row.answer]);
    }
    const repeated = [...answersOf.values()].filter((answers) => answers.length > 1);
    return {
      comparedRows: rows.length,
      prompts: repeated.length,
      withOtherAnswers: repeated.filter((answers) => new Set(answers).size > 1).length,
    };
  }

  it('are counted as by a simple implementation, in every format, on one thread or several', async () => {
    for (const seed of [41, 42, 43]) {
      const random = new Random(seed);
      const prompts = Array.from({ length: 60 * (seed - 40) ** 3 }, (_, index) => `prompt ${index} \u2028é`);
      const rows = Array.from({ length: 800 }, () => {
        if (random.chance(0.05)) return undefined;
        const format = random.below(FORMATS.length);
        // The same text in two formats is one prompt.
        const prompt = random.chance(0.02) ? '' : random.of(prompts);
        const answer = random.chance(0.3)
          ? 'I don’t know.'
          : random.of(['', 'a', 'b', `${random.fraction()}`]);
        const row = { id: random.fraction(), ...FORMATS[format]!(prompt, answer) };
        return { prompt, answer, text: JSON.stringify(row) };
      });
      const texts = rows.map((row) => row?.text ?? random.of(['', ' ', '{"broken":', '\t']));
      for (const workers of [1, 3]) {
        assert.deepEqual(await repeatsOf(texts, workers), expectedOf(rows), String(seed));
      }
    }
  });

  it('have the text that the row shows as its answer', () => {
    for (const [index, format] of FORMATS.entries())
      assert.equal(textRow(JSON.stringify(format('a', ' b\n')))?.answer, ' b\n', String(index));
    for (const [row, answer] of [
      ['{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}', 'a'],
      ['{"messages":[{"role":"assistant","content":"a"},{"role":"assistant","content":null}]}', ''],
      ['{"conversations":[{"from":"gpt","value":"a"},{"from":"function_call","value":"b"}]}', 'b'],
      ['{"prompt":"a","completion":[{"role":"assistant","content":[{"text":"b"},{"text":"c"}]}]}', 'bc'],
      ['{"messages":[]}', ''],
      ['{"question":"q","answer":"yes","response":"R1"}', 'yes'],
      ['{"messages":[{"role":"assistant","content":"a"}],"completion":"b"}', 'a'],
      ['{"messages":"a"}', ''],
      ['{"text":"a"}', ''],
      ['["a","b"]', ''],
      ['{"answer":"a",}', ''],
    ] as const)
      assert.equal(textRow(row)?.answer ?? '', answer, row);
  });

  it('are compared in the first million rows, which is said', async () => {
    const rows = Array.from({ length: MAX_COMPARED_PROMPTS + 20 }, (_, index) =>
      index < MAX_COMPARED_PROMPTS - 1 ? `{"question":"${index}"}` : '{"question":"last","answer":"a"}',
    );
    assert.deepEqual(await repeatsOf(['', ...rows]), {
      comparedRows: MAX_COMPARED_PROMPTS + 1,
      prompts: 0,
      withOtherAnswers: 0,
    });
  });
});

/** Rows of each format with a prompt and an answer. */
const FORMATS: readonly ((prompt: string, answer: string) => object)[] = [
  (prompt, answer) => ({
    messages: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: answer },
    ],
  }),
  (prompt, answer) => ({
    messages: [
      { role: 'user', content: [{ text: prompt }] },
      { content: [answer], role: 'assistant' },
    ],
  }),
  (prompt, answer) => ({
    conversations: [
      { from: 'human', value: prompt },
      { from: 'gpt', value: answer },
    ],
  }),
  (prompt, answer) => ({ conversations: [prompt, answer] }),
  (prompt, completion) => ({ prompt, completion }),
  (instruction, output) => ({ instruction, input: '', output }),
  (instruction, response) => ({ response, instruction, context: '' }),
  (question, answer) => ({ question, answer }),
];
