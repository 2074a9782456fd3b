import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import { FinalDetails } from '../../../../src/core/runs/finalDetails.ts';
import type { RunStore } from '../../../../src/core/runs/runStore.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row } from '../../../helpers/runs/support.ts';

describe('FinalDetails', () => {
  let bench: Bench;
  let file: string;
  let listed: unknown[];
  let details: Map<string, RunDetail>;
  let urls: string[];
  let url: string;
  let errors: unknown[];
  const open: FinalDetails[] = [];
  /** Sets the balance of the window that was opened last. */
  let setCurrency: (currency: string) => void;

  beforeEach(async () => {
    bench = await Bench.start();
    file = path.join(bench.folder, 'account', 'details.jsonl');
    [listed, urls, errors] = [[], [], []];
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
    const stored = new FinalDetails(runs, file, (error) => errors.push(error));
    open.push(stored);
    await stored.readShared();
    return runs;
  }
  /** Lets all windows exchange details, twice: one may append after another one has read. */
  const looks = async () => {
    for (const one of [...open, ...open]) await one.readShared();
  };
  /** Returns the detail that a new window provides after it has read the list. */
  async function detailAfterRestart(runId: string): Promise<RunDetail | undefined> {
    const runs = await window();
    await runs.refresh();
    await looks();
    return runs.detail(runId);
  }
  /** Returns the runs of the file's lines. */
  async function storedIds(): Promise<string[]> {
    await looks();
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { detail: RunDetail }).detail.run_id);
  }
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
  async function read(...runs: (readonly [row: unknown, detail: RunDetail])[]): Promise<RunStore> {
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
    await looks();
    assert.equal(other.label('a'), 'Läbel a');
    assert.equal((await detailAfterRestart('a'))?.price_cents, 120);
    assert.equal(urls.filter((one) => one.endsWith('/runs/a')).length, 1);
    assert.deepEqual(await storedIds(), ['a'], 'one line');
  });

  it('reads what other windows stored in a replaced file', async () => {
    const other = await window();
    const runs = await read(
      [row('a', 1, 'complete'), finished('a')],
      [row('b', 1, 'complete'), finished('b')],
    );
    await other.refresh();
    await looks();
    assert.deepEqual([other.detail('a')?.price_cents, other.detail('b')?.price_cents], [120, 120]);
    await rm(file);
    listed = [row('c', 3, 'complete'), ...listed];
    details.set('c', finished('c', { created_at: String(row('c', 3).created_at) }));
    await Promise.all([runs.refresh(), other.refresh()]);
    await runs.loadDetail('c');
    assert.deepEqual([await storedIds(), other.detail('c')?.price_cents], [['c'], 120]);
  });

  it('stores a detail only if list and detail both say that the run ended', async () => {
    await read(
      [row('a', 1, 'complete'), finished('a', { status: 'running' })],
      [row('b', 1, 'running'), finished('b')],
      [{ ...row('c', 1, 'archived'), artifacts_available: true }, finished('c', { status: 'archived' })],
    );
    assert.deepEqual(await storedIds(), ['c']);
  });

  it('stores only fields of the contract, and no detail that is too long', async () => {
    const odd = { ...finished('a'), url: 'https://storage.test/x?signature=secret' };
    await read(
      [row('a', 1, 'complete'), odd],
      [row('b', 1, 'complete'), finished('b', { model_id: 'm'.repeat(4_000) })],
      [row('c', 1, 'complete'), finished('c', { label: '\u0001'.repeat(255) })],
    );
    assert.deepEqual(await storedIds(), ['a', 'c']);
    assert.doesNotMatch(await readFile(file, 'utf8'), /secret|url/);
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
    await looks();
    const later = await window();
    setCurrency('JPY');
    // The page of a run can be restored before the list is read.
    await later.loadDetail('a');
    await later.refresh();
    await looks();
    assert.equal(later.detail('a')?.assumedCurrency, 'EUR');
    assert.equal((await detailAfterRestart('a'))?.price_cents, 120);
    const texts = (await readFile(file, 'utf8')).split('\n');
    assert.deepEqual([texts.some((text) => text.includes('JPY')), errors], [false, []]);
  });

  it('knows no currency of details that were stored without one', async () => {
    await read([row('a', 1, 'complete'), finished('a')]);
    const later = await window();
    await later.refresh();
    await looks();
    setCurrency('JPY');
    await later.loadDetail('a');
    assert.deepEqual([later.detail('a')?.price_cents, later.detail('a')?.assumedCurrency], [120, undefined]);
  });

  it('ignores a detail of another state, until the run has that state', async () => {
    const late = await window();
    const run = row('a', 1, 'complete');
    listed = [row('a', 1, 'running')];
    await late.refresh();
    await read([run, finished('a')]);
    late.addLabels([['a', 'Läbel a']]);
    await looks();
    assert.deepEqual([await storedIds(), late.detail('a')], [['a'], undefined]);
    await late.refresh();
    await looks();
    assert.equal(late.detail('a')?.price_cents, 120);
    assert.equal(urls.filter((one) => one.endsWith('/runs/a')).length, 1);
    for (const [other, label] of [
      [row('a', 1, 'evaluating'), undefined],
      [run, 'Läbel a'],
    ] as const) {
      listed = [other];
      assert.equal((await detailAfterRestart('a'))?.label, label);
    }
  });

  it('reads the last line of a run, and ignores damaged and torn lines', async () => {
    const lineOf = (detail: object) => JSON.stringify({ listed: 'complete', detail });
    listed = ['a', 'b', 'c', 'd'].map((id) => row(id, 1, 'complete'));
    await mkdir(path.dirname(file));
    const old = [finished('a', { price_cents: 1 }), finished('b'), { run_id: 'c' }].map(lineOf);
    await writeFile(
      file,
      [...old, 'x', '\0', lineOf(finished('a')), lineOf(finished('d'))].join('\n').slice(0, -9),
    );
    const runs = await window();
    await runs.refresh();
    await looks();
    const prices = () => ['a', 'b', 'c', 'd'].map((id) => runs.detail(id)?.price_cents);
    assert.deepEqual(prices(), [120, 120, undefined, undefined]);
    details.set('d', finished('d', { price_cents: 7 }));
    await (await read([row('d', 1, 'complete'), details.get('d')!])).refresh();
    await looks();
    assert.deepEqual([prices(), errors], [[120, 120, undefined, 7], []]);
    await appendFile(file, `${lineOf(finished('c'))}\n`);
    await looks();
    assert.deepEqual(prices(), [120, 120, 120, 7]);
  });

  it('keeps the newest 2,000 when there are more than 4,000', async () => {
    const fill = async (count: number) => {
      const ids = Array.from({ length: count }, (_, index) => `r${index}`);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, ids.map((run_id) => `${JSON.stringify({ detail: { run_id } })}\n`).join(''));
      await window();
      const left = await storedIds();
      return [left.length, left[0], left.at(-1)];
    };
    assert.deepEqual(await fill(4_000), [4_000, 'r0', 'r3999']);
    assert.deepEqual(await fill(4_001), [2_000, 'r2001', 'r4000']);
  });

  for (const [what, inTheWay] of [
    ['folder that can be written', () => writeFile(path.dirname(file), '')],
    ['file that can be read', () => mkdir(file, { recursive: true })],
  ] as const)
    it(`works without a ${what}, reports that once, and stores the details once there is one`, async () => {
      await inTheWay();
      const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
      const runs = await read(...ids.map((id) => [row(id, 1, 'complete'), finished(id)] as const));
      await looks();
      await runs.loadDetail('r1');
      await looks();
      assert.deepEqual([runs.detail('r0')?.price_cents, errors.length], [120, 1]);
      await rm(what.startsWith('file') ? file : path.dirname(file), { recursive: true });
      await runs.loadDetail('r1');
      assert.deepEqual([(await storedIds()).sort(), errors.length], [ids.sort(), 1]);
      await rm(path.dirname(file), { recursive: true });
      await inTheWay();
      details.set('r1', finished('r1', { price_cents: 7 }));
      await runs.loadDetail('r1');
      await looks();
      assert.equal(errors.length, 2, 'a later failure is said again');
    });

  it('doesn’t provide a detail again after its run went on', async () => {
    const runs = await read([row('a', 1, 'complete'), finished('a', { price_cents: 1 })]);
    const other = await window();
    for (const status of ['running', 'complete']) {
      listed = [row('a', 1, status)];
      for (const one of [runs, other]) await one.refresh();
      await looks();
    }
    assert.deepEqual([runs.detail('a'), await detailAfterRestart('a')], [undefined, undefined]);
    details.set('a', finished('a'));
    await runs.loadDetail('a');
    await looks();
    assert.equal((await detailAfterRestart('a'))?.price_cents, 120);
  });

  it('replaces a file that is too long to be its own', async () => {
    await mkdir(path.dirname(file));
    const line = JSON.stringify({ listed: 'complete', detail: finished('a', { price_cents: 1 }) });
    await writeFile(file, `${line}\n`.padEnd(16_000_001, '\n'));
    const runs = await read([row('a', 1, 'complete'), finished('a')]);
    assert.deepEqual([await storedIds(), runs.detail('a')?.price_cents, errors], [['a'], 120, []]);
  });

  it('removes temporary files of killed windows', async () => {
    await mkdir(path.dirname(file));
    for (const name of ['old', 'new']) await writeFile(`${file}.${name}.tmp`, '');
    await utimes(`${file}.old.tmp`, 1, 1);
    await window();
    assert.deepEqual(await readdir(path.dirname(file)), ['details.jsonl.new.tmp']);
  });
});
