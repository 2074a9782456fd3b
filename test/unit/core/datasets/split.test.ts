import assert from 'node:assert/strict';
import type { Split } from '../../../../src/core/datasets/copyTypes.ts';
import { PromptSplit } from '../../../../src/core/datasets/split.ts';
import { Random } from '../../../helpers/random.ts';

/** How many prompts are added, and for how many the tables have room then. */
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
    // The table of hashes is no longer needed.
    const left = memory() - before;
    assert.ok(left < taken, `${left} of ${taken} bytes`);
  });

  const takenBy = (split: Split, rows: readonly number[]) => {
    const made = new PromptSplit(split, () => true);
    const prompts = rows.map((hash) => made.count(hash, hash));
    const failure = made.decide();
    const sides = prompts.map((prompt) => made.sideOf(prompt));
    return (side: string) => (failure === undefined ? rows.filter((_, row) => sides[row] === side) : []);
  };

  it('takes no prompt for a trial that a hold-out of any size takes, in another copy or in the same', () => {
    const random = new Random(12);
    let met = 0;
    for (let set = 0; set < 1000; set++) {
      const hashes = Array.from({ length: 1 + random.below(12) }, () => random.below(2 ** 32));
      const rows = hashes.flatMap((hash) =>
        Array<number>(1 + random.below(set % 2 === 0 ? 3 : 20)).fill(hash),
      );
      for (const share of [0.05, 0.1, 0.2, 0.35, 0.5, 0.8]) {
        const heldOut = takenBy({ holdOut: { share }, trial: undefined }, rows)('hold-out');
        for (const trial of [{ share: 0.1 }, { rows: Math.min(10, Math.floor(rows.length / 2)) }]) {
          if (Math.ceil(share * rows.length) > rows.length / 2) continue;
          const tried = takenBy({ holdOut: undefined, trial }, rows)('main');
          const both = takenBy({ holdOut: { share }, trial }, rows);
          if (new Set(rows).size > 1 && tried.some((hash) => heldOut.includes(hash))) met++;
          assert.ok(both('main').every((hash) => !both('hold-out').includes(hash)));
        }
      }
    }
    assert.equal(met, 0);
  });

  it('takes no prompt for a trial that another copy of the same rows holds out', () => {
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
      // A hold-out that is too large for that takes all.
      assert.equal(takenBy({ holdOut: undefined, trial: { rows: 5 } }, rows)('main').length, 5);
    }
  });
});
