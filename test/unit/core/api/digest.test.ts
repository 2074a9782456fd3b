import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, renameSync, utimesSync } from 'node:fs';
import { appendFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sha256OfFile } from '../../../../src/core/api/dataset.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { DIGEST_WORKER as worker } from '../../../helpers/digestWorker.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import { MIB, sha256Of, UploadBench } from '../../../helpers/api/support.ts';

const CHANGED = { code: 'dataset-changed', change: 'changed' };

const threads = () => readdirSync('/proc/self/task').length;

describe('sha256OfFile', function () {
  this.timeout(10_000);

  let bench: UploadBench;
  beforeEach(async () => (bench = await UploadBench.start()));
  afterEach(() => bench.end());
  /** Returns a file with its current stamp. */
  const fileNow = async (file = bench.file) => ({
    path: file,
    ...stampOf(await stat(file, { bigint: true })),
  });

  for (const sizeBytes of [0, 5 * MIB + 3])
    it(`hashes ${sizeBytes} bytes and reports progress`, async () => {
      const bytes = await bench.dataset(sizeBytes);
      const reported: number[][] = [];
      const onProgress = (...both: [number, number]) => void reported.push(both);
      assert.equal(await sha256OfFile(await fileNow(), { worker, onProgress }), sha256Of(bytes));
      assert.equal(reported.length, Math.ceil(sizeBytes / MIB));
      if (sizeBytes > 0) assert.deepEqual(reported.at(-1), [sizeBytes, sizeBytes]);
      assert.equal(bench.openDescriptors(), 0);
    });

  it('throws for anything but a file, for a change meanwhile, or without its thread', async () => {
    const missing = { code: 'dataset-changed', change: 'unreadable', causeCode: 'ENOENT' };
    const gone = { path: bench.file, sizeBytes: 1, mtimeMs: 1, ctimeMs: 1 };
    await assert.rejects(sha256OfFile(gone, { worker }), missing);
    await assert.rejects(sha256OfFile(await fileNow(bench.folder), { worker }), CHANGED);
    const pipe = path.join(bench.folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await assert.rejects(sha256OfFile(await fileNow(pipe), { worker }), CHANGED);
    await bench.dataset(8 * MIB);
    let changed: Promise<void> | undefined;
    const onProgress = () => void (changed ??= appendFile(bench.file, 'x'));
    await assert.rejects(sha256OfFile(await fileNow(), { worker, onProgress }), CHANGED);
    await changed;
    const noWorker = path.join(bench.folder, 'missing.mjs');
    await assert.rejects(sha256OfFile(await fileNow(), { worker: noWorker }), { code: 'digest-failed' });
    assert.equal(bench.openDescriptors(), 0);
  });

  it('throws if the file does not match the stamp before or after, whatever its bytes', async () => {
    await bench.dataset(2 * MIB);
    const setTimes = () => utimesSync(bench.file, 1_700_000_000, 1_700_000_000);
    setTimes();
    const now = await fileNow();
    for (const [other, change] of [
      [{ sizeBytes: now.sizeBytes + 1 }, 'shrank'],
      [{ mtimeMs: now.mtimeMs - 1 }, 'changed'],
      [{ ctimeMs: now.ctimeMs - 1 }, 'changed'],
    ] as const) {
      let reported = 0;
      const onProgress = () => (reported += 1);
      await assert.rejects(sha256OfFile({ ...now, ...other }, { worker, onProgress }), { change });
      assert.equal(reported, 0, 'not hashed for nothing');
    }
    // While it is hashed, its times are set to the same values, or a copy with the same bytes replaces it.
    const copy = path.join(bench.folder, 'copy');
    const replace = () => {
      copyFileSync(bench.file, copy);
      renameSync(copy, bench.file);
    };
    for (const change of [setTimes, replace]) {
      let isChanged = false;
      const onProgress = () => {
        if (!isChanged) change();
        isChanged = true;
      };
      await assert.rejects(sha256OfFile(await fileNow(), { worker, onProgress }), CHANGED);
    }
  });

  it('stops when canceled: before, in the middle, at the end, and while its thread hangs', async () => {
    const before = threads();
    await bench.dataset(8 * MIB);
    const file = await fileNow();
    await assert.rejects(sha256OfFile(file, { worker, signal: AbortSignal.abort() }), CancelledError);
    for (const limit of [MIB, 8 * MIB]) {
      const stop = new AbortController();
      const onProgress = (hashedBytes: number) => {
        if (hashedBytes === limit) stop.abort();
      };
      const hashing = sha256OfFile(file, { worker, signal: stop.signal, onProgress });
      await assert.rejects(hashing, CancelledError);
    }
    const hangs = path.join(bench.folder, 'worker.mjs');
    await writeFile(hangs, 'setInterval(() => undefined, 1000);');
    const signal = AbortSignal.timeout(100);
    await assert.rejects(sha256OfFile(file, { worker: hangs, signal }), CancelledError);
    assert.deepEqual([bench.openDescriptors(), threads()], [0, before]);
  });
});
