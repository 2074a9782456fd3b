import assert from 'node:assert/strict';
import { runPageMemoryOf, runPageRequestOf } from '../../../../src/ui/runs/pageRequest.ts';

describe('runPageRequestOf', () => {
  it('takes what the protocol has, and nothing beside it', () => {
    assert.deepEqual(runPageRequestOf({ type: 'ready', more: 1 }), { type: 'ready' });
    assert.deepEqual(runPageRequestOf({ type: 'act', action: 'copy', key: 'k', path: '/etc' }), {
      type: 'act',
      action: 'copy',
      key: 'k',
    });
  });

  it('takes nothing else', () => {
    for (const message of [
      undefined,
      null,
      'ready',
      [],
      {},
      { type: 'go' },
      { type: 'act' },
      { type: 'act', action: 'copy' },
      { type: 'act', action: 'copy', key: 7 },
      { type: 'act', action: 'copy', key: 'k'.repeat(201) },
      { type: 'act', action: 'submitDataset', key: 'k' },
      { type: 'act', action: 'toString', key: 'k' },
      { type: 'act', action: '__proto__', key: 'k' },
      { type: 'act', action: ['copy'], key: 'k' },
    ])
      assert.equal(runPageRequestOf(message), undefined, JSON.stringify(message));
  });
});

describe('runPageMemoryOf', () => {
  it('takes the two ids alone', () =>
    assert.deepEqual(runPageMemoryOf({ accountId: 'a', runId: 'r', apiKey: 'service_x' }), {
      accountId: 'a',
      runId: 'r',
    }));

  it('takes nothing that is no memory of a run', () => {
    for (const state of [
      undefined,
      null,
      7,
      {},
      { accountId: 'a' },
      { accountId: 'a', runId: '' },
      { accountId: 1, runId: 'r' },
      { accountId: 'a', runId: 'r'.repeat(401) },
    ])
      assert.equal(runPageMemoryOf(state), undefined, JSON.stringify(state));
  });
});
