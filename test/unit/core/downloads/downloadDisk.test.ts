import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { link, open, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { downloadId } from '../../../../src/core/downloads/download.ts';
import type { Downloads } from '../../../../src/core/downloads/downloads.ts';
import type { DownloadRecord } from '../../../../src/core/downloads/types.ts';
import { killWhileNaming } from '../../../helpers/killedNaming.ts';
import { ACCOUNT, DownloadBench, RUN } from '../../../helpers/runs/downloadBench.ts';
import { until } from '../../../helpers/runs/support.ts';
import { itOnPosix } from '../../../helpers/platform.ts';

const KIB = 1024;
const CHILD = path.join(import.meta.dirname, '../../../helpers/downloadChild.ts');

describe('Downloads to a disk that fails', () => {
  let bench: DownloadBench;
  let window: Downloads;

  beforeEach(async () => {
    bench = await DownloadBench.start(3_000 * KIB);
    window = bench.window();
  });
  afterEach(() => bench.end());

  const assertRefused = (code: string, target?: string) => bench.assertRefused(window, code, target);

  /** An `open` that modifies each handle. */
  const opening =
    (change: (handle: Awaited<ReturnType<typeof open>>, file: string) => void): typeof open =>
    async (...args) => {
      const handle = await open(...args);
      change(handle, String(args[0]));
      return handle;
    };
  const failure = (code: string) => Object.assign(new Error(code), { code });

  /** A disk that accepts `atOnceBytes` per write, and fails with `code` after `allBytes`. */
  const diskOf = (atOnceBytes: number, allBytes = Infinity, code = '') =>
    opening((handle) => {
      const writev = handle.writev.bind(handle);
      let left = allBytes;
      handle.writev = async (pieces, position) => {
        if (left === 0) throw failure(code);
        const first = Buffer.concat(pieces as readonly Uint8Array[]).subarray(0, Math.min(left, atOnceBytes));
        left -= first.length;
        const { bytesWritten } = await writev([first], position);
        return { bytesWritten, buffers: pieces };
      };
    });

  for (const [cause, code, bytes] of [
    ['ENOSPC', 'disk-full', 0],
    ['ENOSPC', 'disk-full', 100 * KIB],
    ['EDQUOT', 'disk-full', 2_500 * KIB],
    ['EIO', 'disk', 2_500 * KIB],
  ] as const)
    it(`leaves nothing if the disk fails with ${cause} after ${bytes} bytes`, async () => {
      window = bench.window({ openFile: diskOf(Infinity, bytes, cause) });
      await assertRefused(code);
      assert.deepEqual(await bench.left(), []);
    });

  it('continues if the disk accepts only a part of a write', async () => {
    await bench.window({ openFile: diskOf(100_000) }).start(bench.request());
    assert.deepEqual(await readFile(bench.target), bench.server.bytes);
  });

  for (const ending of ['.part', '.part.json'])
    it(`leaves nothing if its ${ending} cannot be made durable`, async () => {
      window = bench.window({
        openFile: opening((handle, file) => {
          if (file.endsWith(ending)) handle.datasync = () => Promise.reject(failure('EIO'));
        }),
      });
      await assertRefused('disk');
      assert.deepEqual(await bench.left(), []);
    });

  it('leaves nothing if the process reaches its file size limit', async function () {
    if (process.platform === 'win32') this.skip();
    const task = { url: bench.server.url, runsFolder: path.join(bench.folder, 'runs'), target: bench.target };
    // The limit is in KiB: the files of SQLite and the store are smaller, the part is larger.
    const { stdout } = await promisify(execFile)('bash', [
      '-c',
      'ulimit -f 1000; exec "$0" "$@"',
      process.execPath,
      CHILD,
      JSON.stringify(task),
    ]);
    assert.deepEqual(JSON.parse(stdout), { code: 'disk-full' });
    assert.deepEqual(await bench.left(), []);
    assert.deepEqual((await bench.stored()).unfinished, []);
  });

  it('sends no request to the storage if the folder is not writable', async () => {
    await writeFile(path.join(bench.folder, 'plain'), 'a file, no folder');
    await assertRefused('folder-missing', path.join(bench.folder, 'missing', 'a.zip'));
    await assertRefused('folder-missing', path.join(bench.folder, 'plain', 'a.zip'));
    for (const code of ['EACCES', 'EPERM', 'EROFS']) {
      const openFile = () => Promise.reject(failure(code));
      window = bench.window({ openFile });
      await assertRefused('no-permission');
    }
    assert.deepEqual([bench.server.requests, bench.server.asked], [[], []]);
    assert.deepEqual(await bench.left(), []);
  });

  it('still offers a download whose folder vanished, because it may come back', async () => {
    const away = `${bench.out}-away`;
    bench.server.faults.push({ beforeEnd: () => rename(bench.out, away) });
    await assert.rejects(window.start(bench.request()), { code: 'folder-missing' });
    assert.equal(existsSync(bench.out), false);
    assert.deepEqual(bench.openFiles(), []);
    const [one] = window.active;
    assert.deepEqual([one?.state, one?.code], ['interrupted', 'folder-missing']);
    // Resuming while the folder is missing does not drop the download.
    await assert.rejects(window.resume(one?.id ?? ''), { code: 'folder-missing' });
    assert.deepEqual(
      window.active.map(({ id }) => id),
      [one?.id],
    );
    await rename(away, bench.out);
    await window.resume(one?.id ?? '');
    assert.deepEqual(await readFile(bench.target), bench.server.bytes);
    assert.equal(bench.server.requests.length, 1);
    assert.deepEqual(await bench.left(), ['adapter.zip']);
  });

  it('never overwrites a file or a dangling link, and then downloads nothing', async () => {
    const [file, link] = [path.join(bench.out, 'file'), path.join(bench.out, 'link')];
    await writeFile(file, 'mine');
    await symlink('nowhere', link);
    for (const target of [file, link]) await assertRefused('file-exists', target);
    assert.equal(await readFile(file, 'utf8'), 'mine');
    assert.deepEqual((await bench.left()).sort(), ['file', 'link']);
    assert.deepEqual(bench.server.requests, []);
  });

  describe('if a file of that name appears meanwhile', () => {
    let id: string;

    beforeEach(async () => {
      bench.server.faults.push({ beforeEnd: () => writeFile(bench.target, 'mine') });
      await assert.rejects(window.start(bench.request()), { code: 'file-exists' });
      assert.equal(await readFile(bench.target, 'utf8'), 'mine');
      assert.deepEqual(
        window.active.map((one) => [one.state, one.code, one.receivedBytes === one.totalBytes]),
        [['interrupted', 'file-exists', true]],
      );
      assert.deepEqual(bench.openFiles(), []);
      id = window.active[0]?.id ?? '';
    });

    it('keeps the received bytes until that file is gone', async () => {
      await assert.rejects(window.resume(id), { code: 'file-exists' });
      await rename(bench.target, `${bench.target}.mine`);
      await window.resume(id);
      await rm(`${bench.target}.mine`);
      assert.equal(bench.server.requests.length, 1);
      assert.deepEqual(await readFile(bench.target), bench.server.bytes);
      assert.deepEqual(await bench.left(), ['adapter.zip']);
    });

    it('takes the name that a killed process claimed with an empty file, where hard links don’t exist', async () => {
      await rm(bench.target);
      await killWhileNaming(path.join(bench.out, `.${id}.part`), bench.target);
      assert.equal((await stat(bench.target)).size, 0);
      await window.resume(id);
      assert.deepEqual(await readFile(bench.target), bench.server.bytes);
      assert.equal(bench.server.requests.length, 1);
      assert.deepEqual(await bench.left(), ['adapter.zip']);
    });

    it('keeps an empty file of the user, older or younger than the download', async () => {
      for (const atMs of [1_000, Date.now()]) {
        await writeFile(bench.target, '');
        await utimes(bench.target, atMs / 1_000, atMs / 1_000);
        await assert.rejects(window.resume(id), /file-exists/);
        assert.equal((await stat(bench.target)).size, 0);
      }
    });

    it('completes what a crash interrupted between naming and storing', async () => {
      const part = path.join(bench.out, `.${id}.part`);
      await rm(bench.target);
      await link(part, bench.target);
      const record = await window.resume(id);
      assert.deepEqual(window.records(ACCOUNT), [record]);
      assert.deepEqual(await bench.left(), ['adapter.zip']);
      assert.deepEqual(await readFile(bench.target), bench.server.bytes);
      assert.equal(bench.server.requests.length, 1);
    });

    it('never writes to a part that got another name', async () => {
      const part = path.join(bench.out, `.${id}.part`);
      const moved = path.join(bench.out, 'moved.zip');
      await rm(bench.target);
      await link(part, moved);
      const mine = bench.server.bytes;
      bench.server.bytes = Buffer.alloc(100 * KIB, 1);
      bench.server.etag = '"two"';
      await rm(`${part}.json`);
      await window.resume(id);
      assert.deepEqual(await readFile(moved), mine);
      assert.deepEqual(await readFile(bench.target), bench.server.bytes);
    });
  });

  it('removes the leftovers of a crash after the download was stored', async () => {
    const record = await window.start(bench.request());
    const id = downloadId(ACCOUNT, { ...record, filename: record.filename, target: bench.target });
    const unfinished = { ...record, id, filename: record.filename, target: bench.target };
    const store = bench.store();
    await store.begin(unfinished);
    await store.discard(unfinished);
    await writeFile(path.join(bench.out, `.${id}.part.json`), '{}');
    const next = bench.window();
    await next.open(ACCOUNT);
    assert.deepEqual([next.active, next.records(ACCOUNT)], [[], [record]]);
    assert.deepEqual(await bench.left(), ['adapter.zip']);
    assert.deepEqual(await bench.stored(), { unfinished: [], discarded: [] });
  });

  itOnPosix('follows no link planted in place of its own files', async () => {
    const victim = path.join(bench.folder, 'victim');
    await writeFile(victim, 'mine');
    const { id, cancelled } = await bench.stall(window, 100 * KIB);
    const names = await bench.left();
    await window.discard(id);
    await cancelled;
    for (const name of names) await symlink(victim, path.join(bench.out, name));
    await window.start(bench.request());
    assert.equal(await readFile(victim, 'utf8'), 'mine');
    assert.deepEqual(await bench.left(), ['adapter.zip']);
  });

  itOnPosix('follows no link planted just before it opens its own files', async () => {
    const victim = path.join(bench.folder, 'victim');
    await writeFile(victim, 'mine');
    const planting: typeof open = async (file, ...how) => {
      await symlink(victim, String(file));
      return open(file, ...how);
    };
    await assert.rejects(bench.window({ openFile: planting }).start(bench.request()));
    assert.equal(await readFile(victim, 'utf8'), 'mine');
  });

  describe('if the completed download cannot be stored', () => {
    let record: DownloadRecord;

    const setUp = async (framing?: 'chunked') => {
      if (framing !== undefined) bench.server.always = { framing };
      const state = bench.state();
      window = bench.window({
        state,
        verify: () => {
          state.transaction = () => Promise.reject(new Error('disk full'));
          return Promise.resolve('zip');
        },
      });
      await window.open(ACCOUNT);
      record = await window.start(bench.request());
      assert.deepEqual(await readFile(bench.target), bench.server.bytes);
      return state;
    };

    it('is downloaded for this window', async () => {
      await setUp();
      assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [record]]);
      assert.equal(window.records(ACCOUNT), window.records(ACCOUNT));
    });

    it('stays downloaded, and is stored with the next change', async () => {
      const state = await setUp();
      const other = await bench.window().start(bench.request(`${bench.target}2`));
      await state.check();
      await until(() => window.records(ACCOUNT).length === 2);
      assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [record, other]]);
      Reflect.deleteProperty(state, 'transaction');
      const third = await window.start(bench.request(`${bench.target}3`));
      assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [third, record, other]]);
      const { downloads } = await bench.rows();
      assert.deepEqual(
        downloads.map((row) => row['path']),
        [other.path, record.path],
      );
    });

    for (const framing of [undefined, 'chunked'] as const)
      it(`is found complete by the next window without fetching a byte (${framing ?? 'known length'})`, async () => {
        await setUp(framing);
        const next = bench.window({ verify: () => Promise.resolve('zip') });
        await next.open(ACCOUNT);
        const [one] = next.active;
        assert.deepEqual([one?.state, one?.receivedBytes], ['interrupted', bench.server.bytes.length]);
        const { completedAtMs } = await next.resume(one?.id ?? '');
        assert.deepEqual(next.records(ACCOUNT), [{ ...record, completedAtMs }]);
        assert.equal(bench.server.requests.length, 1);
        assert.deepEqual(await bench.left(), ['adapter.zip']);
        assert.deepEqual((await bench.stored()).unfinished, []);
      });

    it('is never written to by the next window, whether resumed or canceled', async () => {
      await setUp('chunked');
      const next = bench.window();
      await next.open(ACCOUNT);
      bench.server.always = { stallAfterBytes: 100 * KIB };
      const stop = new AbortController();
      const resumed = next.resume(next.active[0]?.id ?? '', stop.signal).catch(() => undefined);
      await until(() => next.active.every(({ state }) => state === 'downloading'));
      stop.abort();
      await resumed;
      assert.ok(bench.server.bytes.equals(await readFile(bench.target)));
      assert.deepEqual(await bench.left(), ['adapter.zip']);
    });
  });

  it('lists unfinished downloads even if a module of the extension cannot be loaded', async () => {
    const unfinished = { id: 'one', runId: 'run', artifactType: 'model', filename: undefined };
    await bench.store().begin({ ...unfinished, target: bench.target });
    const specifier = '../../../../src/core/downloads/downloadStore.ts?incomplete';
    const { DownloadStore } = (await import(
      specifier
    )) as typeof import('../../../../src/core/downloads/downloadStore.ts');
    const hooks = registerHooks({
      resolve: (name, context, next) => {
        if (context.parentURL?.endsWith('?incomplete')) throw new Error('no such file');
        return next(name, context);
      },
    });
    const store = new DownloadStore({
      accountId: ACCOUNT,
      state: bench.state(),
      locks: path.join(bench.folder, 'locks'),
      isRunning: () => false,
      onChange: () => undefined,
    });
    await store.open().finally(() => hooks.deregister());
    assert.deepEqual([store.unfinished.length, store.interrupted.length], [1, 0]);
    await store.checkOne('one');
    assert.equal(store.interrupted.length, 1);
    store.dispose();
  });

  it('stores one download per path, and notices when its file is gone or back', async () => {
    await window.start(bench.request());
    await rename(bench.target, `${bench.target}.moved`);
    const record = await window.start(bench.request());
    const changed: string[] = [];
    window.onDidChange(({ runId }) => changed.push(runId));
    await rm(bench.target);
    await window.check(ACCOUNT);
    const next = bench.window();
    for (const one of [window, next]) {
      await until(() => one.records(ACCOUNT)[0]?.isGone === true);
      assert.deepEqual(one.records(ACCOUNT), [{ ...record, isGone: true }]);
    }
    assert.deepEqual(changed, [RUN]);
    await rename(`${bench.target}.moved`, bench.target);
    await window.check(ACCOUNT);
    await until(() => window.records(ACCOUNT)[0]?.isGone === undefined);
    assert.deepEqual(window.records(ACCOUNT), [record]);
  });
});
