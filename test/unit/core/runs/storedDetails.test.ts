import assert from 'node:assert/strict';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import type { RunStore } from '../../../../src/core/runs/runStore.ts';
import { StoredDetails } from '../../../../src/core/runs/storedDetails.ts';
import type { StateStore } from '../../../../src/core/storage/state.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

describe('StoredDetails', () => {
  let bench: Bench;
  let listed: unknown[];
  let details: Map<string, RunDetail>;
  let urls: string[];
  let url: string;
  let state: StateStore;
  const open: StoredDetails[] = [];
  /** Sets the balance of the window that was opened last. */
  let setCurrency: (currency: string) => void;

  beforeEach(async () => {
    bench = await Bench.start();
    [listed, urls, state] = [[], [], bench.state()];
    details = new Map();
    ({ url } = await bench.serve((request, response) => {
      const { pathname } = new URL(String(request.url), 'http://x.test');
      urls.push(pathname);
      const run = details.get(pathname.split('/').at(-1) ?? '');
      sendJson(response, 200, pathname.endsWith('/runs') ? { data: listed, has_more: false } : { run });
    }));
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.dispose();
    await bench.end();
  });

  /** Opens another window, or the same one after a restart. */
  async function window(): Promise<RunStore> {
    const { balance, runs } = bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' });
    setCurrency = (currency) => balance.set({ balance_cents: 1, currency });
    const stored = new StoredDetails(runs, bench.state(), 'account-1', (error) => assert.fail(String(error)));
    open.push(stored);
    await stored.idle();
    return runs;
  }
  /** Returns the detail that a new window provides after it has read the list. */
  async function detailAfterRestart(runId: string): Promise<RunDetail | undefined> {
    const runs = await window();
    await runs.refresh();
    await open.at(-1)?.idle();
    return runs.detail(runId);
  }
  const inTable = () =>
    state.read((tables) =>
      tables.all<{ run_id: string; listed: string; detail: string }>(
        'SELECT run_id, listed, detail FROM run_detail',
      ),
    );
  const storedIds = async () => (await inTable()).map(({ run_id }) => run_id);
  const untilStored = async (...runIds: string[]) => {
    for (let turn = 0; (await storedIds()).join() !== runIds.join(); turn++) {
      assert.ok(turn < 200, `never stored: ${runIds.join()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const finished = (run_id: string, changes: Partial<RunDetail> = {}): RunDetail => ({
    run_id,
    status: 'completed',
    model_id: 'm',
    label: `Läbel ${run_id}`,
    price_cents: 120,
    created_at: String(row(run_id, 1).created_at),
    ...changes,
  });
  /** Lists runs, and reads their details in one window. */
  async function read(...runs: [row: unknown, detail: RunDetail][]): Promise<RunStore> {
    listed = runs.map(([one]) => one);
    details = new Map(runs.map(([, detail]) => [detail.run_id, detail]));
    const store = await window();
    await store.refresh();
    for (const runId of details.keys()) await store.loadDetail(runId);
    return store;
  }

  it('provides the detail of a finished run in other and later windows without a request', async () => {
    const other = await window();
    await read([row('a', 1, 'complete'), finished('a')]);
    await other.refresh();
    await until(() => other.label('a') === 'Läbel a');
    assert.equal((await detailAfterRestart('a'))?.price_cents, 120);
    assert.equal(urls.filter((one) => one.endsWith('/runs/a')).length, 1);
  });

  it('reads what other windows stored in a replaced file', async () => {
    const other = await window();
    const runs = await read(
      [row('a', 1, 'complete'), finished('a')],
      [row('b', 1, 'complete'), finished('b')],
    );
    await other.refresh();
    await until(() => other.detail('a') !== undefined && other.detail('b') !== undefined);
    await state.transaction((tables) => {
      tables.run('DELETE FROM run_detail');
      tables.run('DELETE FROM sqlite_sequence');
    });
    listed = [row('c', 3, 'complete'), ...listed];
    details.set('c', finished('c', { created_at: String(row('c', 3).created_at) }));
    await Promise.all([runs.refresh(), other.refresh()]);
    await runs.loadDetail('c');
    await until(() => other.detail('c') !== undefined);
  });

  it('stores only what both list and detail say is final', async () => {
    await read(
      [row('a', 1, 'complete'), finished('a', { status: 'running' })],
      [row('b', 1, 'running'), finished('b')],
      [{ ...row('c', 1, 'archived'), artifacts_available: true }, finished('c', { status: 'archived' })],
    );
    await untilStored('c');
  });

  it('stores only fields of the contract, and nothing that is too long for it', async () => {
    const odd = { ...finished('a'), url: 'https://storage.test/x?signature=secret' };
    await read(
      [row('a', 1, 'complete'), odd],
      [row('b', 1, 'complete'), finished('b', { status: 's'.repeat(4_000) })],
      [row('c', 1, 'complete'), finished('c', { label: '\u0001'.repeat(255) })],
    );
    await untilStored('a', 'c');
    assert.doesNotMatch(JSON.stringify(await inTable()), /secret|url/);
  });

  it('keeps the currency of the balance from when details were first read', async () => {
    const run = row('a', 1, 'complete');
    const first = await read([run, finished('a')]);
    assert.equal(first.detail('a')?.assumedCurrency, undefined);
    setCurrency('EUR');
    assert.equal(first.detail('a')?.assumedCurrency, 'EUR');
    setCurrency('JPY');
    await first.loadDetail('a');
    assert.equal(first.detail('a')?.assumedCurrency, 'EUR');
    await open.at(-1)?.idle();
    const later = await window();
    setCurrency('JPY');
    // The page of a run can be restored before the list is read.
    await later.loadDetail('a');
    await later.refresh();
    await until(() => later.detail('a')?.assumedCurrency === 'EUR');
  });

  it('knows no currency of details that were stored without one', async () => {
    await read([row('a', 1, 'complete'), finished('a')]);
    await untilStored('a');
    const later = await window();
    await later.refresh();
    await open.at(-1)?.idle();
    setCurrency('JPY');
    await later.loadDetail('a');
    assert.deepEqual([later.detail('a')?.price_cents, later.detail('a')?.assumedCurrency], [120, undefined]);
  });

  it('deletes the detail of a run that changes again', async () => {
    const runs = await read([row('a', 1, 'complete'), finished('a')]);
    await untilStored('a');
    listed = [row('a', 1, 'evaluating')];
    await runs.refresh();
    await untilStored();
    assert.equal(await detailAfterRestart('a'), undefined);
  });

  it('keeps the detail stored by another window that learned of the end earlier', async () => {
    const late = await window();
    listed = [row('a', 1, 'running')];
    await late.refresh();
    await read([row('a', 1, 'complete'), finished('a')]);
    await untilStored('a');
    late.addLabels([['a', 'Läbel a']]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([await storedIds(), late.detail('a')], [['a'], undefined]);
    await late.refresh();
    await until(() => late.detail('a')?.price_cents === 120);
    assert.equal(urls.filter((one) => one.endsWith('/runs/a')).length, 1);
  });

  it('ignores a detail of another state', async () => {
    const run = row('a', 1, 'complete');
    await read([run, finished('a')]);
    await untilStored('a');
    for (const [other, label] of [
      [row('a', 1, 'evaluating'), undefined],
      [run, 'Läbel a'],
    ] as const) {
      listed = [other];
      assert.equal((await detailAfterRestart('a'))?.label, label);
    }
  });

  it('stores the newest 2,000', async () => {
    const runs = await window();
    await state.transaction((tables) => {
      for (let index = 0; index < 2_000; index++)
        tables.run(
          "INSERT INTO run_detail (account, run_id, listed, detail) VALUES ('account-1', ?, 'complete', 'odd')",
          `r${index}`,
        );
    });
    listed = [row('a', 1, 'complete')];
    details.set('a', finished('a'));
    await runs.refresh();
    await runs.loadDetail('a');
    for (let turn = 0; turn < 100 && !(await storedIds()).includes('a'); turn++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    const ids = await storedIds();
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [2_000, 'r1', 'a']);
  });
});
