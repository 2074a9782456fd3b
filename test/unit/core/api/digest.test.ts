import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, renameSync, utimesSync } from 'node:fs';
import { appendFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { sha256OfFile } from '../../../../src/core/api/dataset.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import { MIB, sha256Of, UploadBench } from '../../../helpers/api/support.ts';
import { useFileReads } from '../../../helpers/fileReads.ts';
import { itOnPosix } from '../../../helpers/platform.ts';

const CHANGED = { code: 'dataset-changed', change: 'changed' };

describe('sha256OfFile', function () {
  let bench: UploadBench;
  beforeEach(async () => (bench = await UploadBench.start()));
  afterEach(() => bench.end());
  const beforeReads = useFileReads();
  /** Returns a file with its current stamp. */
  const fileNow = async (file = bench.file) => ({
    path: file,
    ...stampOf(await stat(file, { bigint: true })),
  });

  for (const sizeBytes of [0, 1, 24 * MIB + 3])
    it(`hashes ${sizeBytes} bytes and yields to the event loop after each MiB`, async () => {
      const bytes = await bench.dataset(sizeBytes);
      const file = await fileNow();
      let turns = 0;
      let next = setImmediate(function turn() {
        turns++;
        next = setImmediate(turn);
      });
      assert.equal(await sha256OfFile(file), sha256Of(bytes));
      clearImmediate(next);
      assert.ok(turns >= sizeBytes / MIB, `${turns} turns`);
      assert.equal(bench.openDescriptors(), 0);
    });

  itOnPosix('throws for anything but a file, and for a change meanwhile', async () => {
    const missing = { code: 'dataset-changed', change: 'unreadable', causeCode: 'ENOENT' };
    const gone = { path: bench.file, sizeBytes: 1, mtimeMs: 1, ctimeMs: 1 };
    await assert.rejects(sha256OfFile(gone), missing);
    await assert.rejects(sha256OfFile(await fileNow(bench.folder)), CHANGED);
    const pipe = path.join(bench.folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await assert.rejects(sha256OfFile(await fileNow(pipe)), CHANGED);
    await bench.dataset(8 * MIB);
    let changed: Promise<void> | undefined;
    beforeReads(() => (changed ??= appendFile(bench.file, 'x')));
    await assert.rejects(sha256OfFile(await fileNow()), CHANGED);
    assert.equal(bench.openDescriptors(), 0);
  });

  it('throws if the file does not match the stamp before or after, whatever its bytes', async () => {
    await bench.dataset(2 * MIB);
    const setTimes = () => utimesSync(bench.file, 1_700_000_000, 1_700_000_000);
    setTimes();
    const now = await fileNow();
    let reads = 0;
    beforeReads(() => reads++);
    for (const [other, change] of [
      [{ sizeBytes: now.sizeBytes + 1 }, 'shrank'],
      [{ mtimeMs: now.mtimeMs - 1 }, 'changed'],
      [{ ctimeMs: now.ctimeMs - 1 }, 'changed'],
    ] as const) {
      await assert.rejects(sha256OfFile({ ...now, ...other }), { change });
      assert.equal(reads, 0, 'not hashed for nothing');
    }
    // While it is hashed, its times are set to the same values, or a copy with the same bytes replaces it.
    const copy = path.join(bench.folder, 'copy');
    const replace = () => {
      copyFileSync(bench.file, copy);
      renameSync(copy, bench.file);
    };
    for (const change of [setTimes, replace]) {
      let isChanged = false;
      beforeReads(() => {
        if (!isChanged) change();
        isChanged = true;
      });
      await assert.rejects(sha256OfFile(await fileNow()), CHANGED);
      assert.ok(isChanged);
    }
  });

  it('stops when canceled: before, in the middle, and at the end', async () => {
    await bench.dataset(8 * MIB);
    const file = await fileNow();
    for (const last of [0, 3, 8]) {
      const stop = new AbortController();
      if (last === 0) stop.abort();
      let reads = 0;
      beforeReads(() => {
        if (++reads === last) stop.abort();
      });
      await assert.rejects(sha256OfFile(file, stop.signal), CancelledError);
      assert.ok(reads <= last + 1, `${reads} reads`);
      assert.equal(bench.openDescriptors(), 0);
    }
  });
});
