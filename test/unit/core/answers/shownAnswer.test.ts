import assert from 'node:assert/strict';
import { differences } from '../../../../src/core/answers/shownAnswer.ts';
import { Random } from '../../../helpers/random.ts';

/** What only the answer has in braces, what only the expected one has in brackets. */
function marked(answer: string, expected: string): string | undefined {
  return differences(answer, expected)
    ?.map((part) => ({ both: part.text, answer: `{${part.text}}`, expected: `[${part.text}]` })[part.in])
    .join('');
}

describe('differences', () => {
  it('are of words, numbers and characters between them', () => {
    for (const [answer, expected, result] of [
      ['', '', ''],
      ['same', 'same', 'same'],
      ['The sum is 7.', 'The sum is 8.', 'The sum is [8]{7}.'],
      ['a cat', '', '{a cat}'],
      ['', 'a cat', '[a cat]'],
      ['Your order is late', 'Your order late', 'Your order {is }late'],
      ['"intent":"order"', '"intent":"refund"', '"intent":"[refund]{order}"'],
      ['今日は雨です', '今日は晴れです', '今日は[晴れ]{雨}です'],
      ['👩‍🚀', '👩', '[👩]{👩‍🚀}'],
    ] as const)
      assert.equal(marked(answer, expected), result);
  });

  it('make up both texts, and mirror if these are swapped', () => {
    const random = new Random(5);
    const words = ['a', 'b', 'c ', ' ', '\n', '. ', '<b>', '\ud800', '__proto__'];
    for (let time = 0; time < 200; time++) {
      const [answer, expected] = [0, 1].map(() => random.several(40, () => random.of(words)).join('')) as [
        string,
        string,
      ];
      const parts = differences(answer, expected)!;
      const without = (name: string) => parts.map((part) => (part.in === name ? '' : part.text)).join('');
      assert.deepEqual([without('expected'), without('answer')], [answer, expected]);
      const units = (some: typeof parts) =>
        some.reduce((sum, part) => sum + (part.in === 'both' ? part.text.length : 0), 0);
      assert.ok(parts.every((part, index) => part.in !== parts[index + 1]?.in && part.text !== ''));
      if (answer === expected) assert.equal(units(parts), answer.length);
    }
  });

  it('are those of a longest common part', () => {
    assert.equal(marked('x a b c y', 'a b c x y'), '{x }a b c [x ]y');
  });

  it('are not sought in longer texts', () => {
    const long = '.'.repeat(2_001);
    assert.deepEqual([differences(long, ''), differences('', long)], [undefined, undefined]);
    // All are words, and none is in both.
    const parts = differences('.'.repeat(2_000), ','.repeat(2_000));
    assert.deepEqual(
      parts?.map((part) => [part.in, part.text.length]),
      [
        ['expected', 2_000],
        ['answer', 2_000],
      ],
    );
  });
});
