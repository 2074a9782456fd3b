import assert from 'node:assert/strict';
import { pages } from '../../../src/api/pagination.ts';
import type { RunPage } from '../../../src/api/types.ts';

/** A client whose answer to each cursor is given; it fails after 20,001 pages. */
function clientOf(answer: (cursor: string | undefined) => Partial<RunPage>) {
  const asked: { limit?: number; cursor?: string }[] = [];
  const listRuns = (page: { limit?: number; cursor?: string } = {}) => {
    asked.push(page);
    assert.ok(asked.length <= 20_000, 'it loops');
    return Promise.resolve({ data: [], has_more: false, skipped: 0, ...answer(page.cursor) });
  };
  return { asked, listRuns };
}

async function count(client: ReturnType<typeof clientOf>): Promise<number> {
  let pageCount = 0;
  const walk = pages(client, { limit: 7 });
  while (!(await walk.next()).done) pageCount++;
  return pageCount;
}

describe('pagination', () => {
  it('follows the cursors to the end', async () => {
    const next: Record<string, string> = { '': 'a', a: 'b' };
    const client = clientOf((cursor = '') => ({ has_more: cursor in next, next_cursor: next[cursor] }));
    assert.equal(await count(client), 3);
    assert.deepEqual(client.asked, [{ limit: 7 }, { limit: 7, cursor: 'a' }, { limit: 7, cursor: 'b' }]);
  });

  it('stops where there is no more, even with a cursor', async () => {
    assert.equal(await count(clientOf(() => ({ next_cursor: 'a' }))), 1);
  });

  for (const [name, page] of [
    ['no cursor', {}],
    ['an empty cursor', { next_cursor: '' }],
  ] as const) {
    it(`stops where more is claimed with ${name}`, async () => {
      assert.equal(await count(clientOf(() => ({ has_more: true, ...page }))), 1);
    });
  }

  it('stops at a cursor that comes again', async () => {
    assert.equal(await count(clientOf(() => ({ has_more: true, next_cursor: 'same' }))), 2);
    const ring: Record<string, string> = { '': 'a', a: 'b', b: 'a' };
    assert.equal(await count(clientOf((cursor = '') => ({ has_more: true, next_cursor: ring[cursor] }))), 3);
  });

  it('stops somewhere when the cursors never end', async () => {
    const client = clientOf((cursor = '0') => ({ has_more: true, next_cursor: String(Number(cursor) + 1) }));
    assert.equal(await count(client), 10_000);
  });

  it('asks for nothing that is not wanted', async () => {
    const client = clientOf(() => ({ has_more: true, next_cursor: 'a' }));
    for await (const page of pages(client)) {
      assert.ok(page.has_more);
      break;
    }
    assert.equal(client.asked.length, 1);
  });
});
