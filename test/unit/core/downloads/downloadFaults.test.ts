import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { Downloads } from '../../../../src/core/downloads/downloads.ts';
import { localAdapter } from '../../../../src/core/downloads/localFiles.ts';
import type { BlobFault } from '../../../helpers/blobServer.ts';
import { ACCOUNT, DownloadBench, RUN, sha256Of } from '../../../helpers/runs/downloadBench.ts';

const KIB = 1024;

describe('Downloads from a storage that errs', () => {
  let bench: DownloadBench;
  let window: Downloads;

  beforeEach(async () => {
    bench = await DownloadBench.start();
    window = bench.window();
  });
  afterEach(() => bench.end());

  /** The right bytes, under the final name alone. */
  async function assertRight(): Promise<void> {
    const record = await window.start(bench.request());
    assert.equal(record.sha256, sha256Of(bench.server.bytes));
    assert.deepEqual(await readFile(bench.target), bench.server.bytes);
    assert.deepEqual(await bench.left(), ['adapter.zip']);
    assert.deepEqual(bench.openFiles(), []);
  }

  /** Not under the final name; what is kept is offered. */
  async function assertInterrupted(code: string): Promise<void> {
    await assert.rejects(window.start(bench.request()), { code });
    assert.equal((await bench.left()).includes('adapter.zip'), false);
    assert.deepEqual(
      window.active.map((one) => [one.state, one.code]),
      [['interrupted', code]],
    );
    assert.ok((await bench.left()).length > 0);
    assert.deepEqual(bench.openFiles(), []);
  }

  async function assertRefused(code: string): Promise<void> {
    await assert.rejects(window.start(bench.request()), { code });
    assert.deepEqual(await bench.left(), []);
    assert.deepEqual(window.active, []);
    assert.deepEqual((await bench.stored()).unfinished, []);
    assert.deepEqual(bench.openFiles(), []);
  }

  describe('resumes by range', () => {
    for (const [name, faults, starts] of [
      ['after a cut', [{ cutAfterBytes: 100 * KIB }], [0, 100 * KIB]],
      [
        'after several',
        [{ cutAfterBytes: 100 * KIB }, { cutAfterBytes: 16 * KIB }],
        [0, 100 * KIB, 116 * KIB],
      ],
      ['after a stall', [{ stallAfterBytes: 100 * KIB }], [0, 100 * KIB]],
      ['over a redirect', [{ cutAfterBytes: 100 * KIB }, { redirect: true }], [0, 100 * KIB]],
      ['where it has no length', [{ cutAfterBytes: 100 * KIB, framing: 'chunked' }], [0, 100 * KIB]],
      [
        'over hiccups of the storage',
        [{ cutAfterBytes: 100 * KIB }, { status: 503 }, { status: 500 }, { status: 429 }, { status: 408 }],
        [0, 100 * KIB],
      ],
    ] satisfies [string, BlobFault[], number[]][])
      it(name, async () => {
        bench.server.faults.push(...faults);
        await assertRight();
        assert.deepEqual(bench.starts(), starts);
        assert.equal(bench.server.signed, 1);
      });
  });

  describe('starts again', () => {
    const cut = { cutAfterBytes: 100 * KIB };
    const other = randomBytes(300 * KIB);
    const faults: Record<string, [BlobFault[], number[]]> = {
      'where ranges are ignored': [
        [cut, { ignoresRanges: true }],
        [0, 0],
      ],
      'where the ETag is another one': [
        [cut, { etag: '"two"', bytes: other }],
        [0, 0],
      ],
      'where the rest has no ETag': [
        [cut, { etag: null }],
        [0, 100 * KIB, 0],
      ],
      'where the rest begins elsewhere': [
        [cut, { contentRange: `bytes ${100 * KIB - 1}-${400 * KIB - 1}/${400 * KIB}` }],
        [0, 100 * KIB, 0],
      ],
      'where the rest ends early': [
        [cut, { contentRange: `bytes ${100 * KIB}-${400 * KIB - 2}/${400 * KIB}` }],
        [0, 100 * KIB, 0],
      ],
      'where the whole is longer than before': [
        [cut, { contentRange: `bytes ${100 * KIB}-${400 * KIB}/${400 * KIB + 1}` }],
        [0, 100 * KIB, 0],
      ],
      'where the length of the whole is not told': [
        [cut, { contentRange: `bytes ${100 * KIB}-${400 * KIB - 1}/*` }],
        [0, 100 * KIB, 0],
      ],
      'where the ETag is weak': [[{ ...cut, etag: 'W/"weak"' }], [0, 0]],
      'where there is no ETag': [[{ ...cut, etag: null }], [0, 0]],
      'where less than before is there': [
        [cut, { bytes: other.subarray(0, 50 * KIB), etag: '"two"' }],
        [0, 0],
      ],
      'where the rest is packed': [
        [cut, { contentEncoding: 'gzip' }],
        [0, 100 * KIB, 0],
      ],
    };
    for (const [name, [list, starts]] of Object.entries(faults))
      it(name, async () => {
        bench.server.faults.push(...list);
        await assertRight();
        assert.deepEqual(bench.starts(), starts);
      });

    it('where what was kept cannot be had', async () => {
      bench.server.faults.push({ ...cut }, { bytes: bench.server.bytes.subarray(0, 100 * KIB) });
      await assertRight();
      assert.deepEqual(bench.starts(), [0, 0]);
    });

    it('where more comes than there is', async () => {
      const whole = bench.server.bytes;
      const contentRange = `bytes ${100 * KIB}-${400 * KIB - 1}/${400 * KIB}`;
      const more = Buffer.concat([whole, Buffer.from('more')]);
      bench.server.faults.push(cut, { framing: 'chunked', contentRange, bytes: more }, { bytes: whole });
      await assertRight();
      assert.deepEqual(bench.starts(), [0, 100 * KIB, 0]);
    });
  });

  describe('gives up, and keeps what came,', () => {
    it('where nothing comes, after a bounded time', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB });
      bench.server.always = { cutAfterBytes: 0 };
      await assertInterrupted('storage');
      assert.equal(bench.server.requests.length, 9);
      assert.deepEqual(bench.clock.sleeps, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
      assert.equal(window.active[0]?.receivedBytes, 100 * KIB);
      bench.server.always = {};
      await assertRight();
    });

    it('never while it gets on', async () => {
      bench.server.bytes = randomBytes(2_000 * KIB);
      bench.server.always = { cutAfterBytes: 80 * KIB };
      await assertRight();
      assert.equal(bench.server.requests.length, 25);
    });

    it('where the storage refuses', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB });
      bench.server.always = { status: 418 };
      await assertInterrupted('signed-url-refused');
    });

    it('where the API key is refused meanwhile', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB }, { status: 403 });
      bench.server.onRequest = () => {
        if (bench.server.requests.length === 2)
          bench.server.refusals.push({ status: 401, code: 'invalid_api_key' });
      };
      await assertInterrupted('invalid_api_key');
    });
  });

  describe('keeps nothing where nothing came:', () => {
    for (const [name, fault, code] of [
      ['packed', { contentEncoding: 'gzip' }, 'storage'],
      ['redirected without an end', { redirect: true }, 'storage'],
      ['a part in the place of the file', { status: 206 }, 'storage'],
      ['cut before the first byte', { cutAfterBytes: 0 }, 'storage'],
      ['refused', { status: 403 }, 'signed-url-refused'],
    ] satisfies [string, BlobFault, string][])
      it(name, async () => {
        bench.server.always = fault;
        await assertRefused(code);
      });

    it('the API key is refused', async () => {
      bench.server.refusals.push({ status: 401, code: 'invalid_api_key' });
      await assertRefused('invalid_api_key');
    });
  });

  describe('an adapter', () => {
    it('without a byte is none', async () => {
      bench.server.bytes = Buffer.alloc(0);
      await assertRefused('download-empty');
    });

    for (const [name, text, verified] of [
      ['that is a web page', '\ufeff\n<!DOCTYPE html><title>Sign in</title>', 'html'],
      ['that is another one', '<HTML lang="en">', 'html'],
      ['that is anything else', 'GGUF', 'length'],
    ] as const)
      it(`${name} is kept, named for what it is, and does not count as downloaded`, async () => {
        bench.server.bytes = Buffer.from(text);
        const record = await window.start(bench.request());
        assert.equal(record.verified, verified);
        assert.deepEqual(await bench.left(), ['adapter.zip']);
        assert.equal(localAdapter(window.records(ACCOUNT), RUN), undefined);
        const other = bench.window();
        await other.open(ACCOUNT);
        assert.deepEqual(other.records(ACCOUNT), [record]);
      });

    it('that is an archive which could not be checked counts as downloaded where its length is right', async () => {
      window = bench.window({ verify: () => Promise.resolve('unread') });
      const record = await window.start(bench.request());
      assert.equal(record.verified, 'unread');
      const other = bench.window();
      await other.open(ACCOUNT);
      assert.deepEqual(localAdapter(other.records(ACCOUNT), RUN), record);
      await rm(bench.target);
      bench.server.always = { framing: 'close' };
      await assertRefused('length-unknown');
    });

    for (const etag of ['"one"', null])
      it(`whose archive seems to be broken is kept where its length is right, and does not count (ETag ${etag})`, async () => {
        const { BrokenArchiveError } = await import('../../../../src/core/adapters/faults.ts');
        window = bench.window({ verify: () => Promise.reject(new BrokenArchiveError('zip-no-end')) });
        bench.server.always = { etag };
        const record = await window.start(bench.request());
        assert.equal(record.verified, 'damaged');
        assert.deepEqual(await readFile(bench.target), bench.server.bytes);
        assert.deepEqual(await bench.left(), ['adapter.zip']);
        assert.deepEqual(window.active, []);
        assert.equal(localAdapter(window.records(ACCOUNT), RUN), undefined);
      });
  });

  describe('keeps nothing', () => {
    it('of an archive that is broken, where nothing says that it was not cut', async () => {
      const { BrokenArchiveError } = await import('../../../../src/core/adapters/faults.ts');
      const seen: string[] = [];
      window = bench.window({
        verify: (file) => {
          seen.push(file);
          return Promise.reject(new BrokenArchiveError('truncated'));
        },
      });
      bench.server.always = { framing: 'close' };
      await assertRefused('length-unknown');
      assert.equal(seen.length, 1);
    });

    it('of what could have been cut, where nothing says that it was not', async () => {
      bench.server.always = { framing: 'close' };
      await assertRefused('length-unknown');
    });
  });

  it('takes what has no length where the archive itself is complete', async () => {
    window = bench.window({ verify: () => Promise.resolve('zip') });
    bench.server.always = { framing: 'close' };
    const record = await window.start(bench.request());
    assert.equal(record.verified, 'zip');
    bench.server.always = { framing: 'chunked' };
    window = bench.window();
    const other = await window.start(bench.request(`${bench.target}2`));
    assert.deepEqual([other.verified, other.sha256], ['length', sha256Of(bench.server.bytes)]);
  });

  describe('with signed URLs that expire', () => {
    it('gets a fresh one after a 403 and resumes by range', async () => {
      bench.server.faults.push({
        cutAfterBytes: 100 * KIB,
        beforeEnd: () => Promise.resolve((bench.server.expired = bench.server.signed)),
      });
      await assertRight();
      assert.equal(bench.server.signed, 2);
      assert.deepEqual(bench.starts(), [0, 100 * KIB]);
    });

    it('does so three times, and no more without progress', async () => {
      bench.server.expired = 3;
      await assertRight();
      assert.equal(bench.server.signed, 4);
      bench.server.expired = Infinity;
      bench.server.signed = 0;
      const other = bench.request(`${bench.target}2`);
      await assert.rejects(window.start(other), { code: 'signed-url-refused', httpStatus: 403 });
      assert.equal(bench.server.signed, 4);
    });

    for (const [name, expiresInS, passMs, signed] of [
      ['five minutes before the end', 1800, 25 * 60_000, 2],
      ['not before', 1800, 25 * 60_000 - 1_001, 1],
      ['of the contract where the service does not say when it ends', undefined, 25 * 60_000, 2],
      ['at half of a short life', 60, 30_000, 2],
    ] as const)
      it(`resumes with a fresh one ${name}`, async () => {
        bench.server.expiresInS = expiresInS;
        const beforeEnd = () => Promise.resolve(bench.clock.pass(passMs));
        bench.server.faults.push({ cutAfterBytes: 100 * KIB, beforeEnd });
        await assertRight();
        assert.equal(bench.server.signed, signed);
      });

    it('gets on where every one is stale at once', async () => {
      bench.server.expiresInS = 0;
      await assertRight();
      assert.equal(bench.server.signed, 1);
    });
  });

  it('reports what came last where nothing comes', async () => {
    bench.server.faults.push({ stallAfterBytes: 200 * KIB });
    let told = 0;
    window.onDidChange(() => (told = window.active[0]?.receivedBytes ?? 0));
    const cancelled = assert.rejects(window.start(bench.request()), CancelledError);
    // The clock stands still, so that nothing is due but the last word; the stall would end after 1.5 s.
    await delay(700);
    assert.equal(told, 200 * KIB);
    await window.dispose();
    await cancelled;
  });

  describe('while the service gives none out', () => {
    it('waits as long as it asks to', async () => {
      bench.server.refusals.push({ status: 429, code: 'rate_limited' }, { status: 503, code: 'x' });
      await assertRight();
      assert.deepEqual(bench.clock.sleeps, [1000, 2000]);
    });

    for (const [code, detail] of [
      ['run-unknown', { status: 404, body: { error: { code: 'not_found', message: '' } } }],
      ['run-not-completed', { status: 200, body: detailOf({ status: 'queued' }) }],
      ['run-not-completed', { status: 200, body: detailOf({ status: 'something new' }) }],
      ['artifacts-expired', { status: 200, body: detailOf({ status: 'completed' }) }],
      ['artifacts-expired', { status: 200, body: detailOf({ completed_at: '2031-05-03T12:00:00Z' }) }],
    ] as const)
      it(`reports why: ${code} (${JSON.stringify(detail.body)})`, async () => {
        bench.server.refusals.push({ status: 404, code: 'not_found' });
        bench.server.detail = detail;
        await assertRefused(code);
        bench.server.refusals.push({ status: 404, code: 'not_found' });
        await assert.rejects(window.list(bench.session(), 'run-1'), { code });
      });

    it('reports that it is not among what the run offers', async () => {
      const wish = bench.request(bench.target, { type: 'log', filename: 'log.txt' });
      await assert.rejects(window.start(wish), { code: 'artifact-gone' });
      assert.deepEqual(await bench.left(), []);
    });
  });
});

function detailOf(fields: Record<string, string>) {
  return { run: { run_id: 'run-1', status: 'x', model_id: 'm', ...fields } };
}
