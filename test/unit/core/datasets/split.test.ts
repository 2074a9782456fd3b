import assert from 'node:assert/strict';
import type { Split } from '../../../../src/core/datasets/copyTypes.ts';
import { PromptSplit } from '../../../../src/core/datasets/split.ts';
import { Random } from '../../../helpers/random.ts';

/** The entries that the tables of this many prompts have room for. */
const PROMPTS = 300_000;
const ROOM = 2 ** 19;

describe('PromptSplit', () => {
  it('takes 20 bytes for each prompt that it has room for, without waiting for the garbage collector', () => {
    const random = new Random(1);
    const number = () => Math.trunc(random.fraction() * 2 ** 32);
    const memory = () => process.memoryUsage().arrayBuffers;
    const before = memory();
    const split = new PromptSplit({ holdOut: { share: 0.1 }, trial: undefined }, () => true);
    for (let prompt = 0; prompt < PROMPTS; prompt++) split.count(number(), number());
    const taken = memory() - before;
    assert.ok(taken <= 20 * ROOM, `${taken / ROOM} bytes`);
    assert.equal(split.decide(), undefined);
    // The table of hashes isn't needed any more.
    const left = memory() - before;
    assert.ok(left < taken, `${left} of ${taken} bytes`);
  });

  it('takes no prompt for a trial that another copy of the same rows holds out', () => {
    const takenBy = (split: Split, rows: readonly number[]) => {
      const made = new PromptSplit(split, () => true);
      const prompts = rows.map((hash) => made.count(hash, hash));
      assert.equal(made.decide(), undefined);
      const sides = prompts.map((prompt) => made.sideOf(prompt));
      return (side: string) => rows.filter((_, row) => sides[row] === side);
    };
    const hashes = [1, 2, 3].map((part) => part * 2 ** 30);
    for (const [a, b, c] of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ] as const) {
      const rows = [a, a, b, b, c].map((at) => hashes[at]!);
      for (const amount of [{ rows: 1 }, { share: 0.1 }, { share: 0.4 }]) {
        const heldOut = takenBy({ holdOut: amount, trial: undefined }, rows)('hold-out');
        for (let most = 1; most <= 2; most++) {
          const trial = takenBy({ holdOut: undefined, trial: { rows: most } }, rows)('main');
          assert.equal(trial.length, most);
          assert.deepEqual(
            trial.filter((hash) => heldOut.includes(hash)),
            [],
            `${rows.join()} ${most}`,
          );
        }
      }
      // One that is too large for that takes all.
      assert.equal(takenBy({ holdOut: undefined, trial: { rows: 5 } }, rows)('main').length, 5);
    }
  });
});
