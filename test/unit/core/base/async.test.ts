import assert from 'node:assert/strict';
import { shared } from '../../../../src/core/base/async.ts';

describe('shared', () => {
  /** Shared work that the test ends, and the results that were current. */
  function works() {
    const ends: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
    const recorded: string[] = [];
    const read = shared(async (isCurrent) => {
      const work = Promise.withResolvers<string>();
      ends.push(work);
      const value = await work.promise;
      if (isCurrent()) recorded.push(value);
      return value;
    });
    return { ends, kept: recorded, read };
  }

  it('shares one run among overlapping calls, and starts a later call again', async () => {
    const { ends, kept, read } = works();
    const [one, two] = [read(), read()];
    ends[0]?.resolve('a');
    assert.deepEqual([await one, await two], ['a', 'a']);
    const three = read();
    ends[1]?.resolve('b');
    assert.equal(await three, 'b');
    assert.deepEqual([ends.length, kept], [2, ['a', 'b']]);
  });

  it('starts again after an error, which overlapping calls share', async () => {
    const { ends, read } = works();
    const [one, two] = [read(), read()];
    ends[0]?.reject(new Error('no'));
    await assert.rejects(one, /no/);
    await assert.rejects(two, /no/);
    const three = read();
    ends[1]?.resolve('b');
    assert.equal(await three, 'b');
  });

  for (const end of ['resolve', 'reject'] as const)
    for (const first of ['old', 'new'] as const)
      it(`ignores dropped work, and settles all calls with the new result (${end}, ${first} first)`, async () => {
        const { ends, kept, read } = works();
        const old = read();
        read.drop();
        const next = read();
        assert.equal(ends.length, 2);
        const endOld = () =>
          end === 'resolve' ? ends[0]?.resolve('old') : ends[0]?.reject(new Error('old'));
        if (first === 'old') {
          endOld();
          await Promise.resolve();
        }
        ends[1]?.resolve('new');
        assert.equal(await next, 'new');
        if (first === 'new') {
          endOld();
          // The work that started after the drop has ended too, so it is repeated.
          await new Promise(setImmediate);
          ends[2]?.resolve('newest');
        }
        assert.equal(await old, first === 'old' ? 'new' : 'newest');
        assert.deepEqual(kept, first === 'old' ? ['new'] : ['new', 'newest']);
      });

  it('repeats dropped work for pending calls without a new call', async () => {
    const { ends, read } = works();
    const old = read();
    read.drop();
    ends[0]?.resolve('old');
    await new Promise(setImmediate);
    assert.equal(ends.length, 2);
    ends[1]?.resolve('new');
    assert.equal(await old, 'new');
  });
});
