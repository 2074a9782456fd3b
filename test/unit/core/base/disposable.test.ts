import assert from 'node:assert/strict';
import { DisposableStore } from '../../../../src/core/base/disposable.ts';

describe('DisposableStore', () => {
  const noting = (into: string[], name: string) => ({ dispose: () => void into.push(name) });

  it('disposes the newest item first, and each once', () => {
    const store = new DisposableStore();
    const ended: string[] = [];
    for (const name of ['a', 'b', 'c']) store.add(noting(ended, name));
    assert.equal(store.disposed, false);
    store.dispose();
    store.dispose();
    assert.deepEqual([ended, store.disposed], [['c', 'b', 'a'], true]);
  });

  it('disposes later items at once, even during its disposal', () => {
    const store = new DisposableStore();
    const ended: string[] = [];
    store.add(noting(ended, 'first'));
    store.add({ dispose: () => void store.add(noting(ended, 'late')) });
    store.dispose();
    const item = noting(ended, 'after');
    assert.equal(store.add(item), item);
    assert.deepEqual(ended, ['late', 'first', 'after']);
  });

  it('disposes the other items if one throws, and throws', () => {
    const store = new DisposableStore();
    const ended: string[] = [];
    store.add(noting(ended, 'a'));
    store.add({
      dispose: () => {
        throw new Error('stuck');
      },
    });
    store.add(noting(ended, 'b'));
    assert.throws(() => store.dispose(), /stuck/);
    assert.deepEqual(ended, ['b', 'a']);
  });
});
