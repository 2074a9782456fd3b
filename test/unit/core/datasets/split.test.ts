import assert from 'node:assert/strict';
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
});
