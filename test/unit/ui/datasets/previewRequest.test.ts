import assert from 'node:assert/strict';
import type { PreviewRequest } from '../../../../src/ui/datasets/protocol.ts';
import { previewRequestOf } from '../../../../src/ui/datasets/pageRequest.ts';

const filter = { text: 'a', matchCase: false, problems: undefined };

describe('a request of the preview’s page', () => {
  it('is taken as it is, without what is not of the protocol', () => {
    const requests: PreviewRequest[] = [
      { type: 'ready', memory: undefined },
      { type: 'ready', memory: { filter, row: 7 } },
      { type: 'need', generation: 0, from: 0, count: 1 },
      { type: 'filter', filter: { ...filter, problems: 'grammar' } },
      { type: 'more' },
      { type: 'goTo', row: 1e30 },
      { type: 'reload', row: 1 },
      { type: 'openSource', row: 1, problem: undefined },
      { type: 'openSource', row: 1, problem: 0 },
      { type: 'copy', text: '' },
    ];
    for (const request of requests)
      assert.deepEqual(previewRequestOf({ ...request, other: 1 }), request, request.type);
  });

  it('is left where it is none', () => {
    for (const message of [
      undefined,
      null,
      'more',
      {},
      { type: 'other' },
      { type: 'need', generation: 0, from: -1, count: 1 },
      { type: 'need', generation: 0, from: 0, count: NaN },
      { type: 'need', generation: 0, from: '0', count: 1 },
      { type: 'filter' },
      { type: 'filter', filter: { ...filter, text: 1 } },
      { type: 'filter', filter: { ...filter, matchCase: 'yes' } },
      { type: 'filter', filter: { ...filter, problems: null } },
      { type: 'goTo', row: 0 },
      { type: 'goTo', row: 1.5 },
      { type: 'goTo', row: Infinity },
      { type: 'reload' },
      { type: 'openSource', row: 1, problem: -1 },
      { type: 'openSource', problem: 1 },
      { type: 'copy', text: 1 },
    ])
      assert.equal(previewRequestOf(message), undefined, JSON.stringify(message));
  });

  it('forgets a memory that is none, and begins all the same', () => {
    for (const memory of [null, 1, {}, { filter }, { row: 1 }, { filter: {}, row: 1 }, { filter, row: '1' }])
      assert.deepEqual(previewRequestOf({ type: 'ready', memory }), { type: 'ready', memory: undefined });
  });
});
