import assert from 'node:assert/strict';
import type { RunDetail, RunPage, RunSummary } from '../../../../src/core/api/types.ts';
import { mergeFirstPage } from '../../../../src/core/runs/runPages.ts';
import type { RunChange, RunStore } from '../../../../src/core/runs/runStore.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

const ids = (rows: readonly RunSummary[] | undefined) => rows?.map(({ run_id }) => run_id);
const page = (data: RunSummary[], has_more: boolean): RunPage => ({ data, has_more, skipped: 0 });

describe('mergeFirstPage', () => {
  const at = (text: string) =>
    text
      .split(' ')
      .filter(Boolean)
      .map((id) => row(id, id < 'e' ? 'abcd'.indexOf(id) * 10 : id === 'new' ? undefined : 50));

  for (const [name, loaded, listed, hasMore, rows, restarted] of [
    ['puts new runs first and leaves the rows of other pages', 'd c b a', 'e d c', true, 'e d c b a', false],
    ['drops a row that should be on the page', 'd c b a', 'd b', true, 'd b a', false],
    ['starts again where runs may be missing before the loaded rows', 'd c b a', 'z y', true, 'z y', true],
    ['continues at the cursor of the page where nothing older is loaded', 'd', 'd c b', true, 'd c b', true],
    ['drops all that a complete list does not have', 'd c b a', 'd', false, 'd', true],
    ['drops all where the complete list is empty', 'd c b a', '', false, '', true],
    ['shows a run that was just submitted, on a page that touches', 'new d c', 'd', true, 'new d c', false],
    ['shows a run that was just submitted, on one that does not', 'new d c', 'z', true, 'new z', true],
    ['leaves the order of the service among equal times', '', 'x z y', true, 'x z y', true],
  ] as const)
    it(name, () => {
      const merged = mergeFirstPage(at(loaded), page(at(listed), hasMore));
      assert.deepEqual([ids(merged.rows)?.join(' '), merged.isRestarted], [rows, restarted]);
    });

  it('adopts the page’s version of its rows, and treats an invalid time as missing', () => {
    const odd = { ...row('odd', 0), created_at: 'yesterday' };
    const { rows } = mergeFirstPage(at('d c'), page([odd, row('d', 40, 'complete')], true));
    assert.deepEqual([ids(rows), rows[1]?.status], [['odd', 'd', 'c'], 'complete']);
  });

  it('lists each run once if the service provides no times', () => {
    let rows: readonly RunSummary[] = ['d', 'c', 'b', 'a'].map((id) => row(id, undefined));
    for (let turn = 0; turn < 3; turn++)
      rows = mergeFirstPage(rows, page([row('d', undefined), row('c', undefined)], true)).rows;
    assert.deepEqual(ids(rows)?.toSorted(), ['a', 'b', 'c', 'd']);
  });
});

describe('RunStore', () => {
  let bench: Bench;
  let store: RunStore;
  let changes: RunChange[];
  /** The service's list, newest first, including invalid rows. */
  let listed: unknown[];
  let details: Map<string, RunDetail>;
  let urls: string[];
  /** While set, responses wait for it; their content is fixed when the request arrives. */
  let gate: Promise<unknown> | undefined;
  let pageChanges: object;
  /** Like `pageChanges`, but called for each page. */
  let pageChangesEach: () => object;

  beforeEach(async () => {
    bench = await Bench.start();
    listed = [];
    details = new Map();
    urls = [];
    changes = [];
    gate = undefined;
    pageChanges = {};
    pageChangesEach = () => ({});
    const server = await bench.serve((request, response) => {
      const { pathname, searchParams } = new URL(String(request.url), 'http://x.test');
      urls.push(String(request.url));
      const detail = details.get(pathname.split('/').at(-1) ?? '');
      const start = Number(searchParams.get('cursor') ?? 0);
      const end = start + Number(searchParams.get('limit'));
      const has_more = end < listed.length;
      const body = pathname.endsWith('/runs')
        ? {
            data: listed.slice(start, end),
            has_more,
            next_cursor: has_more ? String(end) : null,
            ...pageChanges,
            ...pageChangesEach(),
          }
        : { run: detail };
      const held = gate ?? Promise.resolve();
      void held.then(() => sendJson(response, 200, body));
    });
    store = bench.session({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' }).runs;
    store.onDidChange((change) => changes.push(change));
  });
  afterEach(() => bench.end());

  /** Starts a read whose response, fixed now, is sent when the returned function is called. */
  async function late<T>(read: () => Promise<T>) {
    const opened = Promise.withResolvers<undefined>();
    gate = opened.promise;
    const before = urls.length;
    const answer = read();
    await until(() => urls.length === before + 1);
    gate = undefined;
    return () => (opened.resolve(undefined), answer);
  }
  const detail = (run_id: string, status: string, more: Partial<RunDetail> = {}) =>
    details.set(run_id, { run_id, status, model_id: 'm', ...more });

  /** Returns `count` runs, newest first, named by their minute. */
  const many = (count: number, status = 'complete') =>
    Array.from({ length: count }, (_, index) => row(`r${count - index}`, count - index, status));

  it('reads pages of 100 until the end, once for overlapping calls', async () => {
    assert.deepEqual([store.rows, store.hasMore], [undefined, false]);
    listed = many(220);
    await Promise.all([store.refresh(), store.refresh(), store.refresh()]);
    assert.deepEqual([store.rows?.length, store.hasMore], [100, true]);
    await Promise.all([store.loadMore(), store.loadMore()]);
    await store.loadMore();
    assert.deepEqual([ids(store.rows), store.hasMore], [ids(many(220)), false]);
    await store.loadMore();
    assert.equal(urls.length, 3);
    assert.match(urls[0] ?? '', /\/api\/v1\/runs\?limit=100$/);
  });

  it('reports what was added and changed, and nothing without a change', async () => {
    await store.refresh();
    listed = [row('b', 2), row('a', 1)];
    await store.refresh();
    await store.refresh();
    listed = [row('c', 3), row('b', 2, 'running'), row('a', 1)];
    await store.refresh();
    listed = [row('c', 3)];
    await store.refresh();
    assert.deepEqual(changes, [
      { added: [], changed: [], moved: [] },
      { added: ['b', 'a'], changed: [], moved: [] },
      {
        added: ['c'],
        changed: ['b'],
        moved: [{ runId: 'b', before: row('b', 2), after: row('b', 2, 'running') }],
      },
      { added: [], changed: [], moved: [] },
    ]);
  });

  it('keeps later pages and their cursor on refresh', async () => {
    listed = many(220);
    await store.refresh();
    await store.loadMore();
    listed.unshift(row('new', 250));
    await store.refresh();
    assert.deepEqual([urls.length, store.rows?.length, ids(store.rows)?.[0]], [3, 201, 'new']);
    await store.loadMore();
    assert.equal(new Set(ids(store.rows)).size, 221);
  });

  it('reads until new runs touch the loaded ones, and shows each page as it arrives', async () => {
    listed = many(150);
    await store.refresh();
    await store.loadMore();
    changes.length = 0;
    listed = many(550);
    await store.refresh();
    assert.deepEqual([urls.length - 2, ids(store.rows)], [5, ids(many(550))]);
    assert.deepEqual(
      changes.map(({ added, changed }) => [added.length, changed.length]),
      [100, 100, 100, 100].map((count) => [count, 0]),
    );
    await store.loadMore();
    assert.equal(urls.length, 7);
  });

  it('starts over after more than ten pages of new runs, so that a gap is never hidden', async () => {
    listed = many(60);
    await store.refresh();
    listed = many(1_200);
    await store.refresh();
    assert.deepEqual([urls.length, ids(store.rows)], [11, ids(many(1_200).slice(0, 1_000))]);
    await store.loadMore();
    assert.deepEqual(ids(store.rows), ids(many(1_200).slice(0, 1_100)));
  });

  it('starts over if a page between the new and the loaded runs cannot be read', async () => {
    listed = many(60);
    await store.refresh();
    listed = many(600);
    const unreadable = 'data' as string;
    store.onDidChange(() =>
      store.rows?.length === 360 ? (pageChanges = { [unreadable]: 'none' }) : undefined,
    );
    await assert.rejects(store.refresh(), { code: 'unexpected-response' });
    assert.deepEqual([ids(store.rows), store.hasMore], [ids(many(600).slice(0, 300)), true]);
    pageChanges = {};
    await store.loadMore();
    assert.deepEqual(ids(store.rows), ids(many(600).slice(0, 400)));
  });

  it('reads until all active runs were seen, and no further', async () => {
    listed = many(900);
    listed[349] = row('r551', 551);
    await store.refresh();
    for (let page = 0; page < 4; page++) await store.loadMore();
    urls.length = 0;
    await store.refresh();
    assert.equal(urls.length, 4);
    const after = { ...row('r551', 551, 'complete'), artifacts_available: true };
    listed[349] = after;
    changes.length = 0;
    await store.refresh();
    assert.deepEqual(changes, [
      {
        added: [],
        changed: ['r551'],
        moved: [{ runId: 'r551', before: row('r551', 551), after }],
      },
    ]);
    urls.length = 0;
    await store.refresh();
    assert.equal(urls.length, 1);
  });

  it('shows the newest of 10,000 runs after one response, and compares only what was read', async () => {
    listed = many(10_000);
    await store.refresh();
    assert.deepEqual([urls.length, store.rows?.length, changes.length], [1, 100, 1]);
    while (store.hasMore) await store.loadMore();
    assert.deepEqual([urls.length, store.rows?.length, changes.length], [100, 10_000, 100]);
    let compared = 0;
    for (const one of store.rows ?? [])
      Object.defineProperty(one, 'toJSON', {
        value: () => {
          compared++;
          return { ...one };
        },
      });
    listed[3] = row('r9997', 9_997, 'archived');
    await store.refresh();
    assert.deepEqual([urls.length, compared, changes.at(-1)?.changed], [101, 99, ['r9997']]);
  });

  it('is complete since a time if an older run is listed, unless that run was added individually', async () => {
    const minute = (count: number) => Date.UTC(2026, 0, 5, 12, count);
    listed = many(120);
    assert.ok(!store.isCompleteSince(minute(500)));
    await store.refresh();
    detail('r5', 'complete', { created_at: new Date(minute(5)).toISOString() });
    await store.loadDetail('r5');
    assert.deepEqual([store.isCompleteSince(minute(22)), store.isCompleteSince(minute(21))], [true, false]);
    await store.loadMore();
    assert.ok(store.isCompleteSince(0));
    listed = [{ odd: true }];
    await store.refresh();
    assert.ok(!store.isCompleteSince(0));
  });

  it('ends when the service says so, even if it sends a cursor', async () => {
    listed = many(100);
    pageChanges = { has_more: false, next_cursor: '50' };
    await store.refresh();
    assert.deepEqual([store.hasMore, store.isIncomplete], [false, false]);
  });

  for (const [name, next_cursor, pages] of [
    ['a cursor repeats', '100', 2],
    ['the service says that there is more, and not where', null, 1],
  ] as const)
    it(`may be incomplete if ${name}, and continues once the service provides more`, async () => {
      listed = many(320);
      if (pages === 2) await store.refresh();
      pageChanges = { next_cursor };
      await (pages === 2 ? store.loadMore() : store.refresh());
      assert.deepEqual([store.rows?.length, store.hasMore, store.isIncomplete], [pages * 100, true, true]);
      await store.loadMore();
      assert.equal(store.isIncomplete, true);
      await store.refresh();
      pageChanges = {};
      await store.loadMore();
      assert.deepEqual([store.rows?.length, store.isIncomplete], [(pages + 1) * 100, false]);
      while (store.hasMore) await store.loadMore();
      assert.deepEqual([store.rows?.length, store.isIncomplete], [320, false]);
    });

  for (const [name, count, odd] of [
    ['whose cursors go round in a circle', 200, () => ({ next_cursor: urls.length % 2 === 0 ? '0' : '100' })],
    [
      'whose empty pages never end',
      100,
      () => ({ data: [], has_more: true, next_cursor: `empty${urls.length}` }),
    ],
  ] as const)
    it(`stops after a few pages without a new run in a list ${name}`, async () => {
      listed = many(320);
      await store.refresh();
      pageChangesEach = odd;
      for (let more = 0; more < count / 100 - 1; more++) await store.loadMore();
      urls = [];
      changes = [];
      await store.loadMore();
      assert.deepEqual([store.rows?.length, store.hasMore, store.isIncomplete], [count, true, true]);
      assert.equal(urls.length, 10);
      assert.equal(changes.length, 1, 'what the view says of it is drawn');
    });

  it('counts unreadable rows', async () => {
    listed = [row('b', 2), { run_id: 7 }, 'x', row('a', 1)];
    await store.refresh();
    assert.deepEqual([ids(store.rows), store.skipped], [['b', 'a'], 2]);
    listed = [row('b', 2)];
    await store.refresh();
    assert.equal(store.skipped, 0);
  });

  it('shows a new submission, and then what the list says about it, with its label', async () => {
    listed = [row('a', 1)];
    await store.refresh();
    store.insertCreated({ run_id: 'new' }, 'm', 'Läbel');
    const shown = () => [ids(store.rows), store.get('new')?.status, store.label('new'), store.activeCount];
    assert.deepEqual(shown(), [['new', 'a'], 'queued', 'Läbel', 2]);
    await store.refresh();
    assert.deepEqual(ids(store.rows), ['new', 'a']);
    listed = [row('new', 2, 'running'), row('a', 1)];
    await store.refresh();
    changes.length = 0;
    store.insertCreated({ run_id: 'new', status: 'queued' }, 'm', 'other');
    assert.deepEqual(shown(), [['new', 'a'], 'running', 'other', 2]);
    assert.deepEqual(changes, [{ added: [], changed: ['new'], moved: [] }]);
  });

  it('keeps details until the run changes, and the label permanently', async () => {
    listed = [row('a', 1, 'running')];
    detail('a', 'running', { label: 'Läbel' });
    await store.refresh();
    assert.deepEqual([store.detail('a'), store.label('a')], [undefined, undefined]);
    assert.equal((await store.loadDetail('a')).status, 'running');
    await store.refresh();
    assert.equal(store.detail('a')?.status, 'running');
    listed = [row('a', 1, 'complete')];
    await store.refresh();
    assert.deepEqual([store.detail('a'), store.label('a'), store.activeCount], [undefined, 'Läbel', 0]);
  });

  it('remembers why a detail could not be read until the run changes or the user retries', async () => {
    listed = [row('a', 1, 'running'), row('b', 0)];
    await store.refresh();
    const detailReads = () => urls.filter((url) => url.endsWith('/runs/a')).length;
    await Promise.allSettled([store.loadDetail('a'), store.loadDetail('a'), store.loadDetail('a')]);
    assert.equal(detailReads(), 1);
    changes.length = 0;
    await store.refresh();
    assert.deepEqual([store.detailFailure('a') instanceof Error, store.detail('a')], [true, undefined]);
    assert.deepEqual([store.detailFailure('b'), changes], [undefined, []]);
    store.retryDetails();
    store.retryDetails();
    assert.equal(store.detailFailure('a'), undefined);
    assert.deepEqual(changes, [{ added: [], changed: ['a'], moved: [] }]);
    await assert.rejects(store.loadDetail('a'), { code: 'unexpected-response' });
    listed = [row('a', 1, 'complete'), row('b', 0)];
    await store.refresh();
    assert.equal(store.detailFailure('a'), undefined);
    detail('a', 'completed');
    await store.loadDetail('a');
    assert.deepEqual([store.detailFailure('a'), store.detail('a')?.status], [undefined, 'completed']);
  });

  it('reads a detail once in the background, and retries in the foreground', async () => {
    let reads = 0;
    const server = await bench.serve((request, response) => {
      if (++reads < 3) request.socket.destroy();
      else sendJson(response, 200, { run: { run_id: 'a', status: 'running', model_id: 'm', label: 'L' } });
    });
    const { runs } = bench.session({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' });
    await assert.rejects(runs.loadDetail('a', { isBackground: true }), { code: 'network' });
    assert.equal(reads, 1);
    const { label } = await runs.loadDetail('a');
    assert.deepEqual([label, reads, runs.detailFailure('a')], ['L', 3, undefined]);
  });

  it('ignores a detail that was requested before the run changed', async () => {
    listed = [row('a', 1, 'running')];
    detail('a', 'running');
    await store.refresh();
    const arrive = await late(() => store.loadDetail('a'));
    listed = [row('a', 1, 'complete')];
    detail('a', 'completed');
    await store.refresh();
    assert.equal((await arrive()).status, 'completed');
    assert.equal(store.detail('a')?.status, 'completed');
  });

  it('keeps a foreground detail when an older background read ends', async () => {
    detail('a', 'running');
    const arrive = await late(() => store.loadDetail('a', { isBackground: true }));
    detail('a', 'completed');
    await store.loadDetail('a');
    assert.equal((await arrive()).status, 'running');
    assert.equal(store.detail('a')?.status, 'completed');
  });

  it('adds a row in order for a run that no page contained', async () => {
    listed = many(220);
    await store.refresh();
    detail('r5', 'completed', { created_at: String(row('r5', 5).created_at) });
    await store.loadDetail('r5');
    assert.deepEqual(
      [store.rows?.length, ids(store.rows)?.at(-1), store.get('r5')?.status],
      [101, 'r5', 'completed'],
    );
    await store.refresh();
    assert.equal(store.get('r5')?.model_id, 'm');
  });

  it('clears everything, including reads in progress', async () => {
    listed = many(60);
    detail('r1', 'complete');
    await store.refresh();
    store.insertCreated({ run_id: 'new' }, 'm', 'Läbel');
    const arrive = await late(() => store.loadDetail('r1'));
    const arriveToo = await late(() => store.refresh());
    listed = [];
    details.clear();
    store.clear();
    await assert.rejects(arrive());
    const known = [store.rows, store.hasMore, store.label('new'), store.detail('r1')];
    assert.deepEqual(known, [undefined, false, undefined, undefined]);
    // Another run may get the same ID.
    assert.equal(store.detailFailure('r1'), undefined);
    await Promise.all([store.refresh(), arriveToo()]);
    assert.deepEqual(store.rows, []);
  });

  it('shows the rows that it has when a read fails', async () => {
    listed = [row('a', 1)];
    await store.refresh();
    pageChanges = { data: 'none' };
    await assert.rejects(store.refresh(), { code: 'unexpected-response' });
    assert.deepEqual([ids(store.rows), store.hasFailed], [['a'], true]);
    pageChanges = {};
    changes.length = 0;
    await store.refresh();
    // Views that show the failure are notified that it is over.
    assert.deepEqual([store.hasFailed, changes], [false, [{ added: [], changed: [], moved: [] }]]);
  });
});
