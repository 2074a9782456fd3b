import assert from 'node:assert/strict';
import { compareScores } from '../../../../src/core/answers/comparison.ts';
import { scoreRow, type RowScores } from '../../../../src/core/answers/scores.ts';
import { leftSide, tallyVotes, voteOf, voteOrder } from '../../../../src/core/answers/votes.ts';
import { answerRow, randomRows } from '../../../helpers/answers.ts';
import { Random } from '../../../helpers/random.ts';

const SHA = 'ab'.repeat(32);
const lines = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('voteOrder', () => {
  const orderOf = (
    sha256: string,
    rows: readonly Parameters<typeof scoreRow>[0][],
    trained = new Set<number>(),
  ) => voteOrder(sha256, rows, rows.map(scoreRow), trained).map((index) => rows[index]!.line);

  it('has each row whose answers differ once, in an order of the file', () => {
    const rows = lines(200).map((line) => answerRow({ line }));
    const order = orderOf(SHA, rows);
    assert.deepEqual(
      order.toSorted((one, other) => one - other),
      lines(200),
    );
    assert.notDeepEqual(order, lines(200));
    assert.notDeepEqual(orderOf('cd'.repeat(32), rows), order);
    // The order is that of lines, not of indexes.
    assert.deepEqual(orderOf(SHA, rows.toReversed()), order);
  });

  it('has no row with the same answers, or in which a program failed', () => {
    const rows = [
      answerRow({ line: 1, base: 'é  a', adapter: '<think>x</think>e\u0301 a' }),
      answerRow({ line: 2, ends: { base: 'error' } }),
      answerRow({ line: 3, ends: { adapter: 'error' } }),
      answerRow({ line: 4, ends: { base: 'length' } }),
    ];
    assert.deepEqual(orderOf(SHA, rows), [4]);
    const random = new Random(4);
    for (let time = 0; time < 50; time++) {
      const some = randomRows(random);
      const { same, failed } = compareScores(some.map(scoreRow), new Set());
      const order = orderOf(SHA, some);
      assert.equal(order.length, some.length - same - failed);
      const trained = new Set(Array.from(some.keys()).filter(() => random.chance(0.5)));
      // The others keep their order.
      assert.deepEqual(
        orderOf(SHA, some, trained),
        order.filter((line) => !trained.has(line - 1)),
      );
    }
  });
});

describe('leftSide', () => {
  it('is either, as often, and independent of the order', () => {
    const rows = lines(2_000).map((line) => answerRow({ line }));
    const scores = Array(2_000).fill(scoreRow(rows[0]!)) as RowScores[];
    const isLeft = (sha256: string) => (line: number) => leftSide(sha256, line) === 'adapter';
    const left = rows.filter(({ line }) => isLeft(SHA)(line)).length;
    assert.ok(Math.abs(left - 1_000) < 150, String(left));
    const firstOf = (sha256: string) => voteOrder(sha256, rows, scores, new Set()).slice(0, 7);
    const first = lines(20).map((number) => {
      const sha256 = String(number);
      return firstOf(sha256).filter((index) => isLeft(sha256)(index + 1)).length;
    });
    const sum = first.reduce((one, other) => one + other);
    assert.ok(Math.abs(sum - 70) < 35, first.join());
  });
});

describe('a vote', () => {
  it('is for the side that was chosen', () => {
    assert.deepEqual(
      (['left', 'right', 'equal'] as const).map((choice) => voteOf(choice, 'adapter')),
      ['a', 'b', 'e'],
    );
    assert.deepEqual(
      (['left', 'right', 'equal'] as const).map((choice) => voteOf(choice, 'base')),
      ['b', 'a', 'e'],
    );
  });

  it('is counted, and mirrored if all chose the other side', () => {
    const choices = lines(20).map((line) => (line <= 4 ? 'equal' : line % 5 === 0 ? 'left' : 'right'));
    const tally = (mirror: boolean) =>
      tallyVotes(
        choices.map((choice, index) => {
          const other = { left: 'right', right: 'left', equal: 'equal' } as const;
          return voteOf(mirror ? other[choice] : choice, leftSide(SHA, index));
        }),
      );
    const [{ adapter, base, equal, chance }, other] = [tally(false), tally(true)];
    assert.deepEqual([adapter + base, equal], [16, 4]);
    assert.deepEqual(other, { adapter: base, base: adapter, equal, chance });
    const votes = Array.from('aaaaaaaaaaaabbbbeeee') as ('a' | 'b' | 'e')[];
    const { chance: known, ...counts } = tallyVotes(votes);
    assert.deepEqual(counts, { adapter: 12, base: 4, equal: 4 });
    assert.equal(known.kind === 'likely' && known.p.toFixed(2), '0.08');
    assert.deepEqual(tallyVotes('aaaaa' as unknown as Iterable<'a'>).chance, { kind: 'too-few' });
  });
});
