import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { promisify } from 'node:util';
import { downloadId } from '../../../../src/core/downloads/download.ts';
import type { Downloads } from '../../../../src/core/downloads/downloads.ts';
import { DownloadStore } from '../../../../src/core/downloads/downloadStore.ts';
import type { DownloadRecord } from '../../../../src/core/downloads/types.ts';
import { killWhileNaming } from '../../../helpers/killedNaming.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { ACCOUNT, DownloadBench, RUN } from '../../../helpers/runs/downloadBench.ts';
import { until } from '../../../helpers/runs/support.ts';

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
  const hashOf = (file: string) => createHash('sha256').update(file).digest('hex').slice(0, 32);

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
    assert.equal(await bench.begun(), 0);
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

    it('completes a download that a crash interrupted between naming and storing', async () => {
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
    const begun = path.join(bench.stored, `${id}.begun.json`);
    await writeFile(begun, JSON.stringify({ ...unfinished, isDiscarded: true }));
    await writeFile(path.join(bench.out, `.${id}.part.json`), '{}');
    const next = bench.window();
    await next.open(ACCOUNT);
    assert.deepEqual([next.active, next.records(ACCOUNT)], [[], [record]]);
    assert.deepEqual(await bench.left(), ['adapter.zip']);
    assert.equal(await bench.begun(), 0);
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
      const away = `${bench.stored}-away`;
      let isFull = true;
      window = bench.window({
        verify: async () => {
          if (!isFull) return 'zip';
          isFull = false;
          await rename(bench.stored, away);
          await writeFile(bench.stored, 'a file in place of the folder');
          return 'zip';
        },
      });
      await window.open(ACCOUNT);
      record = await window.start(bench.request());
      assert.deepEqual(await readFile(bench.target), bench.server.bytes);
      assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [record]]);
      await rm(bench.stored);
      await rename(away, bench.stored);
      bench.clock.pass(1_000);
    };

    it('counts as downloaded in this window', async () => {
      await setUp();
      assert.equal(window.records(ACCOUNT), window.records(ACCOUNT));
    });

    it('stays downloaded, and is stored with the next change', async () => {
      await setUp();
      const other = await bench.window().start(bench.request(`${bench.target}2`));
      await window.check(ACCOUNT);
      assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [record, other]]);
      bench.clock.pass(1_000);
      const third = await window.start(bench.request(`${bench.target}3`));
      assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [third, other, record]]);
      assert.equal((await bench.rows('.done.json')).length, 3);
      // Its part is removed then.
      while ((await bench.begun()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal((await bench.left()).length, 3);
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
        assert.equal(await bench.begun(), 0);
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
      folder: bench.stored,
      isRunning: () => false,
      onChange: () => undefined,
    });
    await store.open().finally(() => hooks.deregister());
    assert.deepEqual([store.unfinished.length, store.interrupted.length], [1, 0]);
    await store.checkOne('one');
    assert.equal(store.interrupted.length, 1);
    store.dispose();
  });

  it('a completed download whose part can’t be removed isn’t offered again; a later start removes the part', async () => {
    const sidecar = () =>
      bench.left().then((names) => path.join(bench.out, names.find((name) => name.endsWith('json')) ?? ''));
    window = bench.window({
      verify: async () => {
        const file = await sidecar();
        await rm(file);
        await mkdir(file);
        return 'zip';
      },
    });
    const record = await window.start(bench.request());
    assert.deepEqual([window.active, window.records(ACCOUNT)], [[], [record]]);
    const next = bench.window();
    await next.open(ACCOUNT);
    assert.deepEqual([next.active, next.records(ACCOUNT), await bench.begun()], [[], [record], 1]);
    const file = await sidecar();
    await rmdir(file);
    await writeFile(file, '');
    await bench.window().open(ACCOUNT);
    await bench.assertComplete(next);
  });

  it('keeps the newest 2,000 records, and ignores damaged files', async () => {
    const about = { runId: 'r', artifactType: 'model', sizeBytes: 1, sha256: 'x', verified: 'zip' } as const;
    await mkdir(bench.stored, { recursive: true });
    const write = (name: string, text: string) => writeFile(path.join(bench.stored, name), text);
    const records = Array.from({ length: 2_001 }, (_, n) => ({ ...about, path: `/${n}`, completedAtMs: n }));
    await Promise.all(
      records.slice(0, 2_000).map((one) => write(`${hashOf(one.path)}.done.json`, JSON.stringify(one))),
    );
    await write('torn.done.json', JSON.stringify(about).slice(0, -1));
    await write('odd.begun.json', JSON.stringify({ ...about, target: 1 }));
    const store = bench.store();
    await store.open();
    assert.deepEqual([store.unfinished, store.records.length], [[], 2_000]);
    const unfinished = {
      id: 'u',
      runId: 'r',
      artifactType: 'model',
      filename: undefined,
      target: bench.target,
    };
    await store.complete(unfinished, records[2_000]!);
    await store.check();
    const paths = store.records.map((one) => one.path);
    assert.deepEqual([paths.length, paths[0], paths.at(-1)], [2_000, '/2000', '/1']);
  });

  describe('if only the disk of the extension is full', () => {
    beforeEach(() => mock.method(DownloadStore.prototype, 'begin', () => Promise.reject(failure('ENOSPC'))));
    afterEach(() => mock.restoreAll());

    it('downloads all the same', async () => {
      const record = await window.start(bench.request());
      assert.deepEqual(window.records(ACCOUNT), [record]);
      await bench.assertComplete(window);
    });

    it('leaves only the file if that can’t be recorded either', async () => {
      const blocker = `${path.join(bench.stored, hashOf(bench.target))}.done.json`;
      await mkdir(path.join(blocker, 'in the way'), { recursive: true });
      const record = await window.start(bench.request());
      assert.deepEqual(window.records(ACCOUNT), [record]);
      assert.deepEqual([await bench.left(), window.active], [['adapter.zip'], []]);
      await rm(blocker, { recursive: true });
      await window.start(bench.request(`${bench.target}2`));
      assert.equal((await bench.rows('.done.json')).length, 2);
    });

    it('leaves nothing if it ends early', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB }, { status: 418 });
      await assertRefused('signed-url-refused');
      assert.deepEqual(await bench.left(), []);
      const { cancelled } = await bench.stall(window, 200 * KIB);
      await window.dispose();
      await cancelled;
      assert.deepEqual(await bench.left(), []);
    });

    it('overwrites no file', async () => {
      bench.server.faults.push({ beforeEnd: () => writeFile(bench.target, 'mine') });
      await assertRefused('file-exists');
      assert.equal(await readFile(bench.target, 'utf8'), 'mine');
      assert.deepEqual(await bench.left(), ['adapter.zip']);
    });
  });

  it('keeps a record that can’t be read for a moment, but not one that is damaged or gone', async () => {
    const record = await window.start(bench.request(`${bench.target}2`));
    const { cancelled } = await bench.stall(window, 200 * KIB);
    await window.dispose();
    await cancelled;
    const store = bench.store();
    await store.open();
    const known = () => [store.records.length, store.unfinished.length];
    assert.deepEqual(known(), [1, 1]);
    const names = [`${hashOf(record.path)}.done.json`, `${store.unfinished[0]?.id}.begun.json`];
    const files = names.map((name) => path.join(bench.stored, name));
    for (const [change, left] of [
      // A folder can't be read as a file.
      [async (file: string) => rm(file).then(() => mkdir(file)), 1],
      [async (file: string) => rmdir(file).then(() => writeFile(file, '{')), 0],
      [(file: string) => rm(file), 0],
    ] as const) {
      for (const file of files) await change(file);
      await store.check();
      assert.deepEqual(known(), [left, left]);
    }
  });

  it('forgets a discarded download whose part is gone, and removes temporary files of killed windows', async () => {
    const { cancelled } = await bench.stall(window, 200 * KIB);
    await window.dispose();
    await cancelled;
    await rename(bench.out, `${bench.out}-away`);
    window = bench.window();
    await window.open(ACCOUNT);
    await window.discard(window.active[0]?.id ?? '');
    await bench.window().open(ACCOUNT);
    assert.equal(await bench.begun(), 1);
    await mkdir(bench.out);
    const temporary = path.join(bench.stored, 'x.begun.json.y.tmp');
    await writeFile(temporary, '');
    await utimes(temporary, 1, 1);
    await bench.window().open(ACCOUNT);
    assert.deepEqual([await bench.begun(), existsSync(temporary)], [0, false]);
  });

  it('follows other windows after its own folder was replaced', async () => {
    const other = bench.window();
    await other.open(ACCOUNT);
    await rename(bench.stored, `${bench.stored}-away`);
    await mkdir(bench.stored);
    await other.check(ACCOUNT);
    await window.start(bench.request());
    await until(() => other.records(ACCOUNT).length === 1);
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
