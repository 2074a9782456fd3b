import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Digest, sha256OfFile } from '../../../../src/core/api/dataset.ts';
import { DigestError } from '../../../../src/core/api/errors.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { DIGEST_WORKER } from '../../../helpers/digestWorker.ts';
import { MIB, sha256Of, UploadBench } from '../../../helpers/api/support.ts';

const threads = () => readdirSync('/proc/self/task').length;

describe('a digest', function () {
  this.timeout(10_000);

  it('is that of all pieces, in their order, of any kind of memory', async () => {
    const bytes = randomBytes(MIB + 3);
    const shared = Buffer.from(new SharedArrayBuffer(bytes.byteLength));
    shared.set(bytes);
    const digest = new Digest(DIGEST_WORKER);
    const added = [
      digest.add(shared.subarray(0, 5)),
      digest.add(bytes.subarray(5, MIB)),
      digest.add(new Uint8Array()),
    ];
    void digest.add(shared.subarray(MIB));
    assert.equal(await digest.read(), sha256Of(bytes));
    await Promise.all(added);
    await digest.dispose();
  });

  it('answers a piece only when it was hashed: its memory may then be another', async () => {
    const shared = Buffer.from(new SharedArrayBuffer(MIB));
    const digest = new Digest(DIGEST_WORKER);
    const pieces = Array.from({ length: 20 }, (_, index) => Buffer.alloc(MIB, index + 1));
    for (const piece of pieces) {
      shared.set(piece);
      await digest.add(shared);
    }
    assert.equal(await digest.read(), sha256Of(Buffer.concat(pieces)));
    await digest.dispose();
  });

  it('ends its thread with what it told, and what is asked later fails', async () => {
    const before = threads();
    const digest = new Digest(DIGEST_WORKER);
    await digest.read();
    while (threads() > before) await new Promise((resolve) => setTimeout(resolve, 1));
    await assert.rejects(digest.add(new Uint8Array(1)), DigestError);
    await digest.dispose();
  });

  it('ends with what it waits for when it is disposed, twice too', async () => {
    const before = threads();
    const digest = new Digest(DIGEST_WORKER);
    const waiting = [digest.add(new Uint8Array(1)), digest.read()];
    const disposed = digest.dispose();
    for (const one of waiting) await assert.rejects(one, CancelledError);
    await disposed;
    assert.equal(threads(), before);
    await assert.rejects(digest.read(), CancelledError);
    await digest.dispose();
  });

  it('knows why its thread did not start', async () => {
    const digest = new Digest('/missing/worker.mjs');
    await assert.rejects(digest.read(), (error) => error instanceof DigestError && error.cause !== undefined);
    await digest.dispose();
    assert.throws(() => new Digest('relative.mjs'), DigestError);
  });
});

describe('the SHA-256 of a file', function () {
  this.timeout(10_000);

  let bench: UploadBench;
  beforeEach(async () => (bench = await UploadBench.start()));
  afterEach(() => bench.end());

  const worker = DIGEST_WORKER;

  for (const sizeBytes of [0, 1, MIB, 5 * MIB + 3])
    it(`of ${sizeBytes} bytes`, async () => {
      const bytes = await bench.dataset(sizeBytes);
      const told: number[][] = [];
      const sha256 = await sha256OfFile(bench.file, {
        worker,
        onProgress: (...both) => void told.push(both),
      });
      assert.equal(sha256, sha256Of(bytes));
      assert.equal(told.length, Math.ceil(sizeBytes / MIB));
      if (sizeBytes > 0) assert.deepEqual(told.at(-1), [sizeBytes, sizeBytes]);
      assert.equal(bench.openDescriptors(), 0);
    });

  it('is not read of what is no file', async () => {
    await assert.rejects(sha256OfFile(bench.file, { worker }), {
      code: 'dataset-changed',
      change: 'unreadable',
      causeCode: 'ENOENT',
    });
    await assert.rejects(sha256OfFile(bench.folder, { worker }), { change: 'changed' });
    execFileSync('mkfifo', [bench.file]);
    await assert.rejects(sha256OfFile(bench.file, { worker }), { change: 'changed' });
    assert.equal(bench.openDescriptors(), 0);
  });

  it('is not told of a file that changes meanwhile', async () => {
    await bench.dataset(8 * MIB);
    let changed: Promise<void> | undefined;
    const onProgress = () => void (changed ??= appendFile(bench.file, 'x'));
    await assert.rejects(sha256OfFile(bench.file, { worker, onProgress }), { change: 'grew' });
    await changed;
  });

  it('stops when it is cancelled, before, in the middle and at the end', async () => {
    const before = threads();
    await bench.dataset(8 * MIB);
    await assert.rejects(sha256OfFile(bench.file, { worker, signal: AbortSignal.abort() }), CancelledError);
    for (const limit of [MIB, 8 * MIB]) {
      const stop = new AbortController();
      const onProgress = (hashedBytes: number) => {
        if (hashedBytes === limit) stop.abort();
      };
      await assert.rejects(
        sha256OfFile(bench.file, { worker, signal: stop.signal, onProgress }),
        CancelledError,
      );
    }
    assert.deepEqual([bench.openDescriptors(), threads()], [0, before]);
  });

  it('stops at once when it is cancelled while its thread hangs', async () => {
    await bench.dataset(8 * MIB);
    const hangs = path.join(bench.folder, 'worker.mjs');
    await writeFile(hangs, 'setInterval(() => undefined, 1000);');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    const startedMs = performance.now();
    const empty = path.join(bench.folder, 'empty.jsonl');
    await writeFile(empty, '');
    await assert.rejects(sha256OfFile(empty, { worker: hangs, signal: AbortSignal.abort() }), CancelledError);
    await assert.rejects(sha256OfFile(bench.file, { worker: hangs, signal: stop.signal }), CancelledError);
    assert.ok(performance.now() - startedMs < 5_000);
    assert.equal(bench.openDescriptors(), 0);
  });

  it('fails with its thread', async () => {
    await bench.dataset(MIB);
    await assert.rejects(sha256OfFile(bench.file, { worker: path.join(bench.folder, 'missing.mjs') }), {
      code: 'digest-failed',
    });
    await rm(bench.file);
    assert.equal(bench.openDescriptors(), 0);
  });
});
