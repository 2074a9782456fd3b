import assert from 'node:assert/strict';
import { parseRange } from '../../../src/sandbox/artifacts.ts';

describe('sandbox byte ranges', () => {
  const cases: [string | undefined, ReturnType<typeof parseRange>][] = [
    [undefined, undefined],
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=10-19', { first: 10, last: 19 }],
    ['bytes=90-', { first: 90, last: 99 }],
    ['bytes=90-1000', { first: 90, last: 99 }],
    ['bytes=-1', { first: 99, last: 99 }],
    ['bytes=-1000', { first: 0, last: 99 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=100-200', 'unsatisfiable'],
    ['bytes=5-4', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,3-4', undefined],
    ['items=0-1', undefined],
    ['bytes=a-b', undefined],
  ];
  for (const [header, expected] of cases) {
    it(`reads ${header ?? 'no header'}`, () => assert.deepEqual(parseRange(header, 100), expected));
  }
});
