import assert from 'node:assert/strict';
import { readFile, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { Downloads } from '../../../../src/core/downloads/downloads.ts';
import { Lease } from '../../../../src/core/storage/lease.ts';
import { sha256Of } from '../../../helpers/api/support.ts';
import { onPlatform } from '../../../helpers/platform.ts';
import { ACCOUNT, DownloadBench, RUN } from '../../../helpers/runs/downloadBench.ts';
import { until } from '../../../helpers/runs/support.ts';

const KIB = 1024;

describe('Downloads', () => {
  let bench: DownloadBench;
  let window: Downloads;

  beforeEach(async () => {
    bench = await DownloadBench.start();
    window = bench.window();
  });
  afterEach(() => bench.end());

  it('downloads an artifact and shows it in all windows', async () => {
    const other = bench.window();
    await other.open(ACCOUNT);
    const shown = Promise.withResolvers<unknown>();
    other.onDidChange(() => {
      if (other.records(ACCOUNT).length > 0) shown.resolve(undefined);
    });
    const record = await window.start(bench.request());
    await shown.promise;
    await bench.assertComplete(window);
    assert.deepEqual(record, {
      runId: RUN,
      artifactType: 'model',
      filename: 'adapter.zip',
      path: bench.target,
      sizeBytes: bench.server.bytes.length,
      sha256: sha256Of(bench.server.bytes),
      verified: 'length',
      completedAtMs: bench.clock.nowMs(),
    });
    assert.deepEqual(window.records(ACCOUNT), [record]);
    assert.deepEqual(other.records(ACCOUNT), [record]);
  });

  it('writes no signed URL or API key to the disk, and sends the storage no identifying data', async () => {
    bench.server.faults.push({ redirect: true }, { cutAfterBytes: 200 * KIB }, { status: 500 });
    const texts: string[] = [];
    window.onDidChange(() => texts.push(JSON.stringify(window.active)));
    bench.clock.isHeld = true;
    const cancelled = assert.rejects(window.start(bench.request()), CancelledError);
    await until(() => bench.clock.sleeps.length === 1);
    texts.push(JSON.stringify(await bench.rows()));
    for (const name of await readdir(bench.out))
      if (name.includes('json')) texts.push(await readFile(path.join(bench.out, name), 'utf8'));
    assert.ok(texts.length > 3);
    assert.doesNotMatch(texts.join(), /secret|CaNaRy|blob/);
    await window.dispose();
    await cancelled;
    for (const { headers } of bench.server.requests)
      assert.deepEqual(Object.keys(headers).sort(), ['accept-encoding', 'connection', 'host']);
  });

  it('marks a file for Windows as coming from the internet before it gets its name', async () => {
    await onPlatform('win32', () => window.start(bench.request()));
    // On other systems, the stream is a separate file.
    const mark = (await bench.left()).find((name) => name.endsWith('.part:Zone.Identifier')) ?? '';
    assert.match(await readFile(path.join(bench.out, mark), 'utf8'), /^\[ZoneTransfer\]\r\nZoneId=3\r\n$/);
  });

  it('reports progress', async () => {
    bench.server.faults.push({ cutAfterBytes: 100 * KIB });
    const states: string[] = [];
    let ended = false;
    window.onDidChange(({ accountId, runId }) => {
      assert.deepEqual([accountId, runId], [ACCOUNT, RUN]);
      bench.clock.pass(1_000); // otherwise progress is reported less often
      const [one] = window.active;
      states.push(one === undefined ? 'none' : one.state);
      if (one?.totalBytes !== undefined) assert.equal(one.totalBytes, bench.server.bytes.length);
      ended = one === undefined;
    });
    await window.start(bench.request());
    assert.ok(ended);
    const changes = states.filter((state, index) => state !== states[index - 1]);
    assert.deepEqual(changes, ['waiting', 'downloading', 'waiting', 'downloading', 'verifying', 'none']);
    assert.ok(states.length > changes.length);
  });

  describe('the same artifact to the same target', () => {
    it('is joined in one window; cancelling a joined call does not stop the download', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      bench.server.always = { beforeEnd: () => promise };
      const first = window.start(bench.request());
      const second = window.start(bench.request());
      const stop = new AbortController();
      const third = window.start(bench.request(), stop.signal);
      stop.abort();
      await assert.rejects(third, CancelledError);
      assert.equal(window.active.length, 1);
      resolve(undefined);
      assert.deepEqual(await first, await second);
      assert.equal(bench.server.requests.length, 1);
      await bench.assertComplete(window);
    });

    it('is busy in another window and not offered there', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      bench.server.always = { beforeEnd: () => promise };
      const done = window.start(bench.request());
      await until(() => bench.server.requests.length === 1);
      const other = bench.window();
      await other.open(ACCOUNT);
      assert.deepEqual(other.active, []);
      await assert.rejects(other.start(bench.request()), { code: 'download-busy' });
      const id = window.active[0]?.id ?? '';
      await assert.rejects(other.discard(id), { code: 'download-busy' });
      resolve(undefined);
      await done;
      await bench.assertComplete(window);
    });
  });

  describe('when it is canceled', () => {
    for (const where of ['before', 'in the middle', 'while it waits', 'while it is verified'])
      it(`leaves nothing, ${where}`, async () => {
        const stop = new AbortController();
        const verifying = Promise.withResolvers<undefined>();
        window = bench.window({
          verify: (_file, { signal }) =>
            new Promise((_, reject) => {
              verifying.resolve(undefined);
              signal.addEventListener('abort', () => reject(new CancelledError()));
            }),
        });
        if (where === 'before') stop.abort();
        if (where === 'in the middle') bench.server.faults.push({ stallAfterBytes: 200 * KIB });
        if (where === 'while it waits') {
          bench.server.faults.push({ cutAfterBytes: 200 * KIB });
          bench.clock.isHeld = true;
        }
        const done = window.start(bench.request(), stop.signal);
        if (where === 'in the middle') await until(() => (window.active[0]?.receivedBytes ?? 0) > 0);
        if (where === 'while it waits') await until(() => bench.clock.sleeps.length > 0);
        if (where === 'while it is verified') await verifying.promise;
        stop.abort();
        await assert.rejects(done, CancelledError);
        if (where === 'before') assert.deepEqual(await bench.left(), []);
        else await bench.assertNothingLeft(window);
      });

    it('leaves nothing when discarded', async () => {
      const { id, cancelled } = await bench.stall(window, 200 * KIB);
      await window.discard(id);
      await cancelled;
      await bench.assertNothingLeft(window);
      await window.discard('nothing');
    });
  });

  describe('when its window closes', () => {
    beforeEach(async () => {
      const { cancelled } = await bench.stall(window, 200 * KIB);
      await window.dispose();
      await cancelled;
      assert.deepEqual(bench.openFiles(), []);
      window = bench.window();
      await window.open(ACCOUNT);
    });

    it('is offered in the next window and resumes', async () => {
      const [one] = window.active;
      assert.ok(one);
      const { id, ...offered } = one;
      assert.deepEqual(offered, {
        accountId: ACCOUNT,
        runId: RUN,
        artifactType: 'model',
        filename: 'adapter.zip',
        target: bench.target,
        receivedBytes: 200 * KIB,
        totalBytes: 400 * KIB,
        state: 'interrupted',
      });
      const record = await window.resume(id);
      assert.equal(record.sha256, sha256Of(bench.server.bytes));
      assert.deepEqual(bench.starts(), [0, 200 * KIB]);
      assert.deepEqual(bench.server.requests[1]?.headers['if-range'], '"one"');
      await bench.assertComplete(window);
      await assert.rejects(window.resume(id), { code: 'download-gone' });
    });

    it('leaves nothing when it is discarded, alone or with its account, whose downloaded files stay', async () => {
      const other = path.join(bench.out, 'other.zip');
      const record = await window.start(bench.request(path.join(bench.folder, 'done.zip')));
      bench.server.faults.push({ cutAfterBytes: 100 * KIB }, { status: 418 });
      await assert.rejects(window.start(bench.request(other)), { code: 'signed-url-refused' });
      assert.equal(window.active.length, 2);
      await window.discard(window.active.find(({ target }) => target === other)?.id ?? '');
      assert.equal((await bench.left()).length, 2);
      await window.discardAll(ACCOUNT);
      assert.deepEqual(window.records(ACCOUNT), [record]);
      assert.deepEqual([window.active, await bench.left()], [[], []]);
      assert.equal(await bench.begun(), 0);
    });

    /** Discards the download while its disk is missing, and then brings the disk back. */
    async function discardWithoutDisk(meanwhile?: () => Promise<void>): Promise<void> {
      const away = `${bench.out}-away`;
      await rename(bench.out, away);
      await window.discard(window.active[0]?.id ?? '');
      await meanwhile?.();
      await rename(away, bench.out);
    }

    it('is removed once its disk is back, if the disk was missing when it was discarded', async () => {
      await discardWithoutDisk(async () => {
        assert.deepEqual(window.active, []);
        const other = bench.window();
        await other.open(ACCOUNT);
        assert.deepEqual(other.active, []);
      });
      assert.equal((await bench.left()).length, 2);
      window = bench.window();
      await window.open(ACCOUNT);
      await bench.assertNothingLeft(window);
    });

    it('is not removed if it was restarted after that', async () => {
      await discardWithoutDisk();
      bench.server.faults.push({ status: 418 });
      await assert.rejects(window.start(bench.request()), { code: 'signed-url-refused' });
      window = bench.window();
      await window.open(ACCOUNT);
      assert.equal(window.active[0]?.receivedBytes, 200 * KIB);
      assert.equal((await bench.left()).length, 2);
    });

    it('is not removed if another window restarts it just before it would be', async () => {
      await discardWithoutDisk();
      bench.server.faults.push({ status: 418 });
      const take = Lease.take.bind(Lease);
      let isRestarted = false;
      Lease.take = async (file, tries) => {
        Lease.take = take;
        isRestarted = true;
        await assert.rejects(window.start(bench.request()), { code: 'signed-url-refused' });
        return take(file, tries);
      };
      await bench.window().open(ACCOUNT);
      assert.deepEqual([isRestarted, (await bench.left()).length], [true, 2]);
      window = bench.window();
      await window.open(ACCOUNT);
      assert.equal(window.active[0]?.receivedBytes, 200 * KIB);
    });
  });
});
