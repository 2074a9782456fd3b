import assert from 'node:assert/strict';
import type { AdapterRequest } from '../../../../src/ui/adapters/protocol.ts';
import { adapterRequestOf, rememberedFile } from '../../../../src/ui/adapters/pageRequest.ts';

describe('a request of the adapter’s page', () => {
  it('is taken as it is, without what is not of the protocol', () => {
    const requests: AdapterRequest[] = [
      { type: 'ready' },
      { type: 'reload' },
      { type: 'measure' },
      { type: 'cancel' },
      { type: 'unpack', elsewhere: false },
      { type: 'unpack', elsewhere: true },
      { type: 'copy', id: 'vllm 0', text: 'x'.repeat(100_000) },
    ];
    for (const request of requests)
      assert.deepEqual(adapterRequestOf({ ...request, other: 1, folder: '/etc' }), request, request.type);
  });

  it('is left where it is none', () => {
    for (const message of [
      undefined,
      null,
      'measure',
      {},
      { type: 'other' },
      { type: 'unpack' },
      { type: 'unpack', elsewhere: '/home' },
      { type: 'copy', id: 'a' },
      { type: 'copy', text: 'a' },
      { type: 'copy', id: 1, text: 'a' },
      { type: 'copy', id: 'a', text: 'x'.repeat(100_001) },
    ])
      assert.equal(adapterRequestOf(message), undefined, typeof message);
  });

  it('remembers a file, or nothing', () => {
    assert.equal(rememberedFile({ file: '/a.zip', tool: 'vllm' }), '/a.zip');
    for (const state of [undefined, null, 'x', {}, { file: 1 }, { file: '' }])
      assert.equal(rememberedFile(state), undefined);
  });
});
