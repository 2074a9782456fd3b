import assert from 'node:assert/strict';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import { answerRow } from '../../../helpers/answers.ts';

describe('scoreRow', () => {
  it('scores each answer by the expected one, without thinking', () => {
    const { base, adapter, expected, isSame, isShortened } = scoreRow(
      answerRow({
        expected: '<think>Hm.</think>{"sum": "é", "of": [2, 3]}',
        base: '```json\n{"of": [3, 3]}\n```',
        adapter: '<think>👩 </think>\n{"sum":  "e\u0301", "of": [2, 3]} ',
        ends: { base: 'length', adapter: 'error' },
      }),
    );
    const { chrf, ...others } = base;
    assert.ok(chrf > 10 && chrf < 60);
    assert.deepEqual(others, {
      ...{ isExact: false, fieldsRight: 1, hasSameFields: false, isJson: false, characters: 26 },
      ...{ isCutOff: true, hasFailed: false, thinkingCharacters: 0 },
    });
    assert.deepEqual(adapter, {
      ...{ isExact: true, chrf: 100, fieldsRight: 3, hasSameFields: true, isJson: true, characters: 28 },
      ...{ isCutOff: false, hasFailed: true, thinkingCharacters: 1 },
    });
    assert.deepEqual(expected, { characters: 26, fields: 3 });
    assert.deepEqual([isSame, isShortened], [false, false]);
  });

  it('says that answers are the same without white space, composition and thinking', () => {
    const isSame = (base: string, adapter: string) => scoreRow(answerRow({ base, adapter })).isSame;
    assert.ok(isSame(' é\n 5', '<think>x</think>e\u0301 5'));
    assert.ok(isSame('', '<think>x'));
    assert.ok(!isSame('a', 'A'));
    assert.ok(!isSame('a b', 'ab'));
  });

  it('says that an answer has the same fields as the expected one, and no others', () => {
    const expected = '{"a":1,"b":[{},"é"]}';
    for (const [answer, hasSame] of [
      ['{ "b": [{}, "e\u0301 "], "a": 1.0 }', true],
      [`Here:\n\`\`\`json\n${expected}\n\`\`\``, true],
      ['{"a":1,"b":[{},"é"],"c":2}', false],
      ['{"a":1,"b":[{},"é",3]}', false],
      ['{"a":"1","b":[{},"é"]}', false],
      ['{"a":1}', false],
      ['none', false],
    ] as const)
      assert.equal(scoreRow(answerRow({ expected, base: answer })).base.hasSameFields, hasSame, answer);
    assert.ok(!scoreRow(answerRow({ expected: 'text', base: '{}' })).base.hasSameFields);
  });

  it('says that an answer was cut off at the limit, or in its thinking', () => {
    const cut = (base: string, end?: 'length') =>
      scoreRow(answerRow({ base, ends: { base: end } })).base.isCutOff;
    assert.deepEqual(
      [cut('5', 'length'), cut('<think>5'), cut('<think>x</think>5'), cut('5')],
      [true, true, false, false],
    );
  });
});
