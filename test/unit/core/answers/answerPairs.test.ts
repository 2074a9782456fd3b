import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pairAnswers } from '../../../../src/core/answers/answerPairs.ts';
import { readAnswers, type ScoredAnswers } from '../../../../src/core/answers/answersFile.ts';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import { writtenAnswer, type WrittenAnswer } from '../../../helpers/answers.ts';
import { Random } from '../../../helpers/random.ts';

describe('two files of answers', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(path.join(tmpdir(), 'pairs-'))));
  after(() => rm(folder, { recursive: true }));

  async function scored(lines: readonly string[]): Promise<ScoredAnswers> {
    const file = path.join(folder, 'a.jsonl');
    await writeFile(file, lines.map((one) => `${one}\n`).join(''));
    const read = await readAnswers(file);
    assert.ok(typeof read === 'object');
    return { file: read, scores: read.rows.map(scoreRow) };
  }
  const asked = (prompt: string, more: WrittenAnswer = {}) =>
    writtenAnswer({ messages: [{ role: 'user', content: prompt }], ...more });
  const pair = async (one: readonly string[], other: readonly string[]) =>
    pairAnswers(await scored(one), await scored(other));

  it('share the rows with the same messages and expected answer', async () => {
    const { file, pairs } = await pair(
      [asked('a  é'), asked('b'), asked('b', { adapter: 'again' }), asked('c'), 'x', asked('only here')],
      [asked('c', { expected: '6' }), asked(' b\n'), asked('a e\u0301', { base: '<think>Hm.</think>6' })],
    );
    assert.deepEqual(
      file.rows.map(({ line, messages }) => [line, messages[0]?.text]),
      [
        [1, 'a  é'],
        [2, 'b'],
      ],
    );
    assert.deepEqual(pairs, { only: { base: 3, adapter: 1 }, baseDiffers: 0 });
    assert.deepEqual(file.leftOut, { 'not-json': 1 });
    // A line for each row, with which prompts are searched.
    const prompts = Buffer.from(file.chat).toString().split('\n').slice(0, -1);
    assert.deepEqual(
      prompts.map((one) => (JSON.parse(one) as { messages: { content: string }[] }).messages[0]?.content),
      ['a  é', 'b'],
    );
  });

  it('have the adapters as their sides', async () => {
    const { file, scores } = await pair(
      [asked('a', { adapter: '5', adapter_end: 'length', base: 'x', base_end: 'error' })],
      [asked('a', { adapter: '7', adapter_end: 'error', base: 'y' })],
    );
    const [row] = file.rows;
    assert.deepEqual([row?.base, row?.adapter, row?.ends], ['5', '7', { base: 'length', adapter: 'error' }]);
    assert.deepEqual(scores, file.rows.map(scoreRow));
  });

  it('are paired exactly, whatever their order', async () => {
    const random = new Random(13);
    for (let round = 0; round < 50; round++) {
      const rows = Array.from({ length: 30 }, (_, index) => ({
        prompt: `p${index}`,
        flips: random.chance(0.3),
        differs: random.chance(0.1),
        where: random.of(['both', 'both', 'both', 'one', 'other'] as const),
      }));
      const one = rows.filter(({ where }) => where !== 'other').map(({ prompt }) => asked(prompt));
      const other = rows
        .filter(({ where }) => where !== 'one')
        .map(({ prompt, flips, differs }) =>
          asked(prompt, { adapter: flips ? '6' : ' 5', base: differs ? '7' : '6' }),
        );
      const { file, scores, pairs } = await pair(one, other.toReversed());
      const both = rows.filter(({ where }) => where === 'both');
      assert.deepEqual(
        file.rows.map(({ messages }, index) => [messages[0]?.text, scores[index]?.isSame]),
        both.map(({ prompt, flips }) => [prompt, !flips]),
      );
      const only = { base: one.length - both.length, adapter: other.length - both.length };
      assert.deepEqual(pairs, { only, baseDiffers: both.filter(({ differs }) => differs).length });
    }
  });
});
