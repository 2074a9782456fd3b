import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import { DetailFile } from '../../../../src/core/runs/detailFile.ts';
import { KeptDetails } from '../../../../src/core/runs/keptDetails.ts';
import type { RunStore } from '../../../../src/core/runs/runStore.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

const detailOf = (run_id: string, changes: Partial<RunDetail> = {}): RunDetail => ({
  run_id,
  status: 'completed',
  model_id: 'm',
  label: `Läbel ${run_id}`,
  price_cents: 120,
  ...changes,
});

describe('DetailFile', () => {
  let folder: string;

  beforeEach(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), 'details-test-')), 'details');
  });
  afterEach(() => rm(path.dirname(folder), { recursive: true, force: true }));

  const file = () => path.join(folder, 'final.jsonl');
  const kept = (runId: string) => ({ listed: 'complete', detail: detailOf(runId) });

  it('tells another window, and the next start, what was kept and what was let go', async () => {
    const [one, two] = [new DetailFile(folder), new DetailFile(folder)];
    assert.deepEqual(await one.refresh(), []);
    await one.keep(kept('a'));
    await one.keep(kept('b'));
    assert.deepEqual(await two.refresh(), ['a', 'b']);
    assert.deepEqual(two.get('a'), kept('a'));
    await two.drop('a');
    assert.deepEqual(await one.refresh(), ['a', 'b']);
    assert.deepEqual([one.get('a'), one.get('b')?.detail.label], [undefined, 'Läbel b']);
    const next = new DetailFile(folder);
    await next.refresh();
    assert.deepEqual([next.get('a'), next.get('b')], [undefined, kept('b')]);
    assert.deepEqual(await next.refresh(), []);
  });

  it('writes what the contract names, and nothing else that the service said', async () => {
    const one = new DetailFile(folder);
    const odd = { ...detailOf('a'), url: 'https://storage.test/x?signature=secret', started_at: undefined };
    await one.keep({ listed: 'complete', detail: odd });
    assert.doesNotMatch(await readFile(file(), 'utf8'), /secret|url|started_at/);
    const next = new DetailFile(folder);
    await next.refresh();
    assert.equal(next.get('a')?.detail.price_cents, 120);
  });

  it('keeps nothing that is too long to be of the contract, and so stays small enough to be read', async () => {
    const [one, next] = [new DetailFile(folder), new DetailFile(folder)];
    await one.keep({ listed: 'complete', detail: detailOf('long', { label: 'ä'.repeat(2_000) }) });
    await one.keep({ listed: 'complete', detail: detailOf('a', { label: '\u0001'.repeat(255) }) });
    assert.deepEqual([one.get('long'), await next.refresh()], [undefined, ['a']]);
  });

  it('skips what is torn or not ours, and keeps what comes behind it', async () => {
    const one = new DetailFile(folder);
    await one.keep(kept('a'));
    await appendFile(file(), '{"listed":"complete","detail":{"run_id":"torn","sta');
    await one.keep(kept('b'));
    await appendFile(file(), '\n[1]\nnull\n{"listed":1,"detail":{}}\n\0\0\0\n"x"\n');
    await one.keep(kept('c'));
    const next = new DetailFile(folder);
    assert.deepEqual(await next.refresh(), ['a', 'b', 'c']);
  });

  it('waits for the end of a line that is being written', async () => {
    await mkdir(folder);
    const line = JSON.stringify(kept('a'));
    await writeFile(file(), line.slice(0, 20));
    const one = new DetailFile(folder);
    assert.deepEqual(await one.refresh(), []);
    await appendFile(file(), `${line.slice(20)}\n`);
    assert.deepEqual(await one.refresh(), ['a']);
  });

  it('keeps so many, lets the oldest go, and does not grow for ever', async () => {
    const [one, two] = [new DetailFile(folder, 10), new DetailFile(folder, 10)];
    for (let run = 0; run < 15; run++) await one.keep(kept(`r${run}`));
    await two.refresh();
    assert.deepEqual([one.get('r4'), two.get('r4')], [undefined, undefined]);
    assert.equal(two.get('r5')?.detail.run_id, 'r5');
    for (let run = 15; run < 30; run++) await one.keep(kept(`r${run}`));
    const before = (await stat(file())).size;
    await one.refresh();
    assert.ok((await stat(file())).size < before / 2);
    // The other window finds another file, and goes on with it.
    await two.refresh();
    assert.equal(two.get('r29')?.detail.run_id, 'r29');
    await two.keep(kept('last'));
    await one.refresh();
    assert.equal(one.get('last')?.detail.run_id, 'last');
  });

  it('reads a shortened file from its beginning, also one that is longer than what was read', async () => {
    const [one, two] = [new DetailFile(folder, 10), new DetailFile(folder, 10)];
    await one.keep(kept('r0'));
    await two.refresh();
    for (let run = 1; run < 30; run++) await one.keep(kept(`r${run}`));
    await one.refresh();
    await two.refresh();
    for (let run = 20; run < 30; run++) assert.equal(two.get(`r${run}`)?.detail.run_id, `r${run}`);
  });

  it('replaces a file that is too large to be ours, and does without one that cannot be read', async () => {
    await mkdir(folder);
    await writeFile(file(), 'x'.repeat(17_000_000));
    const one = new DetailFile(folder);
    assert.deepEqual(await one.refresh(), []);
    await one.keep(kept('a'));
    assert.ok((await stat(file())).size < 1_000);
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    const two = new DetailFile(folder);
    assert.deepEqual(await two.refresh(), []);
    await assert.rejects(two.keep(kept('b')));
    assert.equal(two.get('b')?.detail.run_id, 'b');
  });
});

describe('KeptDetails', () => {
  let bench: Bench;
  let runs: RunStore;
  let listed: unknown[];
  let details: Map<string, RunDetail>;
  let urls: string[];
  let url: string;
  const open: KeptDetails[] = [];

  beforeEach(async () => {
    bench = await Bench.start();
    listed = [];
    details = new Map();
    urls = [];
    const server = await bench.serve((request, response) => {
      const { pathname } = new URL(String(request.url), 'http://x.test');
      urls.push(pathname);
      const body = pathname.endsWith('/runs')
        ? { data: listed, has_more: false }
        : { run: details.get(pathname.split('/').at(-1) ?? '') };
      sendJson(response, 200, body);
    });
    ({ url } = server);
    runs = store();
  });
  afterEach(async () => {
    for (const kept of open.splice(0)) kept.dispose();
    await bench.end();
  });

  const store = () => bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' }).runs;
  const keep = async (of: RunStore) => {
    const file = new DetailFile(path.join(bench.folder, 'details'));
    const kept = new KeptDetails(of, file, (error) => assert.fail(String(error)));
    open.push(kept);
    await kept.open();
    return file;
  };
  const reads = (runId: string) => urls.filter((one) => one.endsWith(`/runs/${runId}`)).length;
  const made = (runId: string) => row(runId, 1).created_at;
  const finished = (runId: string) => detailOf(runId, { created_at: String(made(runId)) });

  /** What the next start shows without asking. */
  async function labelAfterRestart(runId: string): Promise<string | undefined> {
    const next = store();
    await keep(next);
    await next.refresh();
    return next.label(runId);
  }

  /** Once the file knows, too. */
  async function dropped(file: DetailFile, runId: string): Promise<void> {
    while (file.get(runId) !== undefined) {
      await file.refresh();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  it('shows the label of a finished run after a restart, without asking', async () => {
    listed = [row('a', 1, 'complete'), row('b', 1, 'running')];
    details = new Map([
      ['a', finished('a')],
      ['b', { ...finished('b'), status: 'running' }],
    ]);
    const file = await keep(runs);
    await runs.refresh();
    await runs.loadDetail('a');
    await runs.loadDetail('b');
    await file.refresh();
    const next = store();
    await keep(next);
    await next.refresh();
    assert.deepEqual([next.label('a'), next.detail('a')?.price_cents], ['Läbel a', 120]);
    // What goes on is not final: its detail is read again.
    assert.deepEqual([next.detail('b'), reads('a')], [undefined, 1]);
  });

  it('shows another window what was read in one', async () => {
    listed = [row('a', 1, 'complete')];
    details = new Map([['a', finished('a')]]);
    await keep(runs);
    const other = store();
    await keep(other);
    await runs.refresh();
    await other.refresh();
    await runs.loadDetail('a');
    await until(() => other.label('a') === 'Läbel a');
    assert.equal(reads('a'), 1);
  });

  it('lets the detail of a run go that moves again', async () => {
    listed = [row('a', 1, 'complete')];
    details = new Map([['a', finished('a')]]);
    const file = await keep(runs);
    await runs.refresh();
    await runs.loadDetail('a');
    assert.equal(file.get('a')?.listed, 'complete');
    listed = [row('a', 1, 'evaluating')];
    await runs.refresh();
    assert.deepEqual([file.get('a'), runs.detail('a')], [undefined, undefined]);
    await file.refresh();
    assert.equal(await labelAfterRestart('a'), undefined);
  });

  it('takes no detail for final that says less than the list', async () => {
    listed = [
      row('a', 1, 'complete'),
      row('b', 1, 'running'),
      { ...row('c', 1, 'archived'), artifacts_available: true },
    ];
    details = new Map([
      ['a', { ...finished('a'), status: 'running' }],
      ['b', finished('b')],
      ['c', { ...finished('c'), status: 'archived' }],
    ]);
    const file = await keep(runs);
    await runs.refresh();
    for (const runId of ['a', 'b', 'c']) await runs.loadDetail(runId);
    assert.deepEqual(
      ['a', 'b', 'c'].map((runId) => file.get(runId)?.listed),
      [undefined, undefined, 'archived'],
    );
  });

  it('leaves what another window kept that has heard of the end of the run before', async () => {
    listed = [row('a', 1, 'running')];
    const file = await keep(runs);
    await runs.refresh();
    const other = new DetailFile(file.folder);
    await other.keep({ listed: 'complete', detail: finished('a') });
    await until(() => file.get('a') !== undefined);
    // Something else of the run becomes known here meanwhile.
    runs.knowLabels([['a', 'Läbel a']]);
    assert.deepEqual([file.get('a')?.listed, runs.detail('a')], ['complete', undefined]);
    listed = [row('a', 1, 'complete')];
    await runs.refresh();
    assert.deepEqual([runs.detail('a')?.price_cents, reads('a')], [120, 0]);
  });

  it('takes nothing of another state, or of another run that has the same id', async () => {
    listed = [row('a', 1, 'complete')];
    details = new Map([['a', finished('a')]]);
    const file = await keep(runs);
    await runs.refresh();
    await runs.loadDetail('a');
    await file.refresh();
    for (const other of [row('a', 1, 'evaluating'), row('a', 30, 'complete')]) {
      await file.keep({ listed: 'complete', detail: finished('a') });
      listed = [other];
      assert.equal(await labelAfterRestart('a'), undefined);
      await dropped(file, 'a');
    }
    await file.keep({ listed: 'complete', detail: finished('a') });
    // Written in whole seconds, it is the same time.
    listed = [{ ...row('a', 1, 'complete'), created_at: String(made('a')).replace('.000Z', '.900Z') }];
    assert.equal(await labelAfterRestart('a'), 'Läbel a');
  });

  it('keeps the detail of a finished run whose adapter expires', async () => {
    listed = [{ ...row('a', 1, 'complete'), artifacts_available: true }];
    details = new Map([['a', finished('a')]]);
    await keep(runs);
    await runs.refresh();
    await runs.loadDetail('a');
    listed = [row('a', 1, 'complete')];
    await runs.refresh();
    assert.equal(runs.detail('a')?.price_cents, 120);
  });
});
