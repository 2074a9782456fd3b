import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

interface Memory {
  remember(state: () => number): void;
}

describe('what a page remembers', () => {
  let saved: number[];
  let create: new () => Memory;

  before(async () => {
    const setState = (state: number) => void saved.push(state);
    Object.assign(globalThis, { acquireVsCodeApi: () => ({ setState }) });
    const file = new URL('../../../../media/shared/client.ts', import.meta.url).href;
    ({ Client: create } = (await import(file)) as { Client: typeof create });
  });
  after(() => void Reflect.deleteProperty(globalThis, 'acquireVsCodeApi'));
  beforeEach(() => (saved = []));

  it('is saved at once, and of changes that come together once more, as it is at last', async () => {
    const page = new create();
    page.remember(() => 1);
    assert.deepEqual(saved, [1], 'the page may go at any time');
    for (const state of [2, 3]) page.remember(() => state);
    await sleep(250);
    assert.deepEqual(saved, [1, 3]);
    page.remember(() => 4);
    assert.deepEqual(saved, [1, 3, 4]);
    await sleep(250);
  });
});
