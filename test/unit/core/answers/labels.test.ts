import assert from 'node:assert/strict';
import type { AnswerRow } from '../../../../src/core/answers/answerRow.ts';
import { compareScores } from '../../../../src/core/answers/comparison.ts';
import { labelsOf } from '../../../../src/core/answers/labels.ts';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import { answerRow } from '../../../helpers/answers.ts';

describe('labelsOf', () => {
  /** @param trained indexes of rows that don't count */
  const labels = (rows: readonly AnswerRow[], ...trained: number[]) => {
    const scores = rows.map(scoreRow);
    const found = labelsOf(rows, scores, compareScores(scores, new Set(trained)));
    return found.map(({ label, rows: of, base, adapter }) => [label, of, base, adapter]);
  };
  const row = (expected: string, base: string, adapter: string, more: Partial<AnswerRow> = {}) =>
    answerRow({ expected, base, adapter, ...more });
  const many = (distinct: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      row(`label ${index % distinct}`, 'x', `label ${index % distinct}`),
    );

  it('counts the compared rows, most frequent first', () => {
    const rows = [
      row('no', 'no', 'yes'),
      row('yes', 'no', 'yes'),
      row(' yes\n', 'yes', 'yes'),
      row('<think>Hm.</think>yes', '', 'Yes'),
      row('no', 'no', 'no'),
      row('yes', 'yes', 'no', { ends: { base: 'error' } }),
      row('trained', 'no', 'no'),
    ];
    assert.deepEqual(labels(rows, 6), [
      ['yes', 3, 1, 2],
      ['no', 2, 2, 1],
    ]);
  });

  it('compares JSON by its fields, without further ones', () => {
    const json = (intent: string, more: string) =>
      `{"intent":"${intent}","why":"${'long '.repeat(9)}"${more}}`;
    const rows = ['a', 'b', 'a', 'b'].map((one) =>
      row(json(one, ''), json('b', ',"x":1'), `\`\`\`json\n${json(one, '')}\n\`\`\``),
    );
    assert.deepEqual(
      labels(rows).map(([, ...counts]) => counts),
      [
        [2, 0, 2],
        [2, 0, 2],
      ],
    );
  });

  it('returns none if a table would say nothing', () => {
    const counts = ([...of]: [distinct: number, count: number]) => labels(many(...of)).length;
    assert.deepEqual(
      [
        [2, 4],
        [12, 24],
        [12, 50],
      ].map((of) => counts(of as [number, number])),
      [2, 12, 12],
    );
    assert.deepEqual(
      [
        [1, 50],
        [13, 50],
        [12, 23],
        [2, 3],
        [4, 4],
        [0, 0],
      ].map((of) => counts(of as [number, number])),
      [0, 0, 0, 0, 0, 0],
    );
  });
});
