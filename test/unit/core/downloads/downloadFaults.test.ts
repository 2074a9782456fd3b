import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { link, readFile } from 'node:fs/promises';
import path from 'node:path';
import { verifyArchive } from '../../../../src/core/adapters/archive.ts';
import { BrokenArchiveError } from '../../../../src/core/adapters/problems.ts';
import { UnexpectedResponseError, type DownloadLinkError } from '../../../../src/core/api/errors.ts';
import type { Downloads } from '../../../../src/core/downloads/downloads.ts';
import { localAdapter } from '../../../../src/core/downloads/localFiles.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { zipOf } from '../../../helpers/adapters/support.ts';
import { sha256Of } from '../../../helpers/api/support.ts';
import type { BlobFault } from '../../../helpers/blobServer.ts';
import { ACCOUNT, DownloadBench, RUN } from '../../../helpers/runs/downloadBench.ts';

const KIB = 1024;

describe('Downloads from a faulty storage', () => {
  let bench: DownloadBench;
  let window: Downloads;

  beforeEach(async () => {
    bench = await DownloadBench.start();
    window = bench.window();
  });
  afterEach(() => bench.end());

  async function assertRefused(code: string): Promise<void> {
    await bench.assertRefused(window, code);
    assert.deepEqual(await bench.left(), []);
  }

  const cut: BlobFault = { cutAfterBytes: 100 * KIB };
  const other = randomBytes(300 * KIB);

  for (const [name, faults, starts] of [
    ['resumes by range after a cut', [cut], [0, 100]],
    ['resumes by range after several cuts', [cut, { cutAfterBytes: 16 * KIB }], [0, 100, 116]],
    ['resumes by range after a stall', [{ stallAfterBytes: 100 * KIB }], [0, 100]],
    ['resumes by range through a redirect', [cut, { redirect: true }], [0, 100]],
    ['resumes by range without a length', [{ ...cut, framing: 'chunked' }], [0, 100]],
    [
      'resumes by range after temporary errors of the storage',
      [cut, { status: 503 }, { status: 500 }, { status: 429 }, { status: 408 }],
      [0, 100],
    ],
    ['starts again if ranges are ignored', [cut, { ignoresRanges: true }], [0, 0]],
    ['starts again if the ETag differs', [cut, { etag: '"two"', bytes: other }], [0, 0]],
    ['starts again if Content-Range differs', [cut, { contentRange: 'bytes 0-9/10' }], [0, 100, 0]],
    ['starts again if the ETag is weak', [{ ...cut, etag: 'W/"weak"' }], [0, 0]],
    ['starts again if there is no ETag', [{ ...cut, etag: null }], [0, 0]],
    [
      'starts again if the file is shorter than the received bytes',
      [cut, { bytes: other.subarray(0, 50 * KIB), etag: '"two"' }],
      [0, 0],
    ],
    [
      'starts again if the file is as long as the received bytes',
      [cut, { bytes: other.subarray(0, 100 * KIB) }],
      [0, 0],
    ],
  ] satisfies [string, BlobFault[], number[]][])
    it(name, async () => {
      bench.server.faults.push(...faults);
      const { wasResumed = false } = await bench.assertDownloads(window);
      assert.equal(wasResumed, starts.at(-1) !== 0);
      assert.deepEqual(
        bench.starts(),
        starts.map((start) => start * KIB),
      );
      assert.equal(bench.server.signed, 1);
    });

  it('starts again if a byte comes beyond the announced length, and stores none of them', async () => {
    bench.server.faults.push(cut, { framing: 'chunked', surplusBytes: 16 * KIB });
    await bench.assertDownloads(window);
    const answers = bench.server.requests.map(({ status, startByte }) => [status, startByte]);
    assert.deepEqual(answers, [
      [200, 0],
      [206, 100 * KIB],
      [200, 0],
    ]);
  });

  describe('fails but keeps the received bytes', () => {
    it('if nothing arrives within a bounded time', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB });
      bench.server.always = { cutAfterBytes: 0 };
      await bench.assertInterrupted(window, 'storage');
      assert.equal(bench.server.requests.length, 9);
      assert.deepEqual(bench.clock.sleeps, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
      assert.equal(window.active[0]?.receivedBytes, 100 * KIB);
      bench.server.always = {};
      await bench.assertDownloads(window);
    });

    it('unless it makes progress', async () => {
      bench.server.bytes = randomBytes(2_000 * KIB);
      bench.server.always = { cutAfterBytes: 80 * KIB };
      await bench.assertDownloads(window);
      assert.equal(bench.server.requests.length, 25);
    });

    it('if the storage refuses', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB });
      bench.server.always = { status: 418 };
      await bench.assertInterrupted(window, 'signed-url-refused');
    });

    it('if the API key is rejected meanwhile', async () => {
      bench.server.faults.push({ cutAfterBytes: 100 * KIB }, { status: 403 });
      bench.server.onRequest = () => {
        if (bench.server.requests.length === 2)
          bench.server.refusals.push({ status: 401, code: 'invalid_api_key' });
      };
      await bench.assertInterrupted(window, 'invalid_api_key');
    });
  });

  describe('keeps nothing if nothing was received:', () => {
    for (const [name, fault, code] of [
      ['redirected without an end', { redirect: true }, 'storage'],
      ['a part in the place of the file', { status: 206 }, 'storage'],
      ['cut before the first byte', { cutAfterBytes: 0 }, 'storage'],
      ['refused', { status: 403 }, 'signed-url-refused'],
    ] satisfies [string, BlobFault, string][])
      it(name, async () => {
        bench.server.always = fault;
        await assertRefused(code);
      });

    it('compressed, which is named as the reason', async () => {
      bench.server.always = { contentEncoding: 'gzip' };
      await assert.rejects(
        window.start(bench.request()),
        ({ failure }: DownloadLinkError) =>
          failure instanceof UnexpectedResponseError && failure.kind === 'compressed',
      );
      assert.deepEqual(await bench.left(), []);
    });

    it('the API key is refused', async () => {
      bench.server.refusals.push({ status: 401, code: 'invalid_api_key' });
      await assertRefused('invalid_api_key');
    });
  });

  describe('an adapter', () => {
    const broken = () => Promise.reject(new BrokenArchiveError('truncated'));

    it('without bytes is rejected', async () => {
      bench.server.bytes = Buffer.alloc(0);
      await assertRefused('download-empty');
    });

    for (const [name, text, verify, verified, counts] of [
      ['a web page', '\ufeff\n<!DOCTYPE html><title>Sign in</title>', undefined, 'html', false],
      ['another web page', '<HTML lang="en">', undefined, 'html', false],
      ['anything else', 'GGUF', undefined, 'length', false],
      ['an archive that could not be read', 'zip', () => Promise.resolve('unread' as const), 'unread', true],
    ] as const)
      for (const framing of [undefined, 'close'] as const)
        it(`that is ${name} ${framing ? 'is rejected if it may be cut' : 'is stored with that result'}`, async () => {
          bench.server.bytes = Buffer.from(text);
          bench.server.always = { ...(framing && { framing }), etag: null };
          if (verify !== undefined) window = bench.window({ verify });
          if (framing !== undefined) return assertRefused('length-unknown');
          const record = await window.start(bench.request());
          assert.equal(record.verified, verified);
          assert.deepEqual(await bench.left(), ['adapter.zip']);
          assert.deepEqual(localAdapter(window.records(ACCOUNT), RUN), counts ? record : undefined);
        });

    it('that is damaged is rejected if it may be cut', async () => {
      bench.server.always = { framing: 'close', etag: null };
      window = bench.window({ verify: broken });
      await assertRefused('length-unknown');
    });

    it('that is corrupt, or cut by a wrong length, never gets its name and is not fetched again automatically', async () => {
      const whole = zipOf(sampleAdapter());
      const corrupt = Buffer.from(whole).fill(0, 200, 300);
      window = bench.window({ verify: verifyArchive });
      for (const [bytes, name] of [
        [corrupt, 'adapter.zip.damaged'],
        [whole.subarray(0, -40), 'adapter.zip (2).damaged'],
      ] as const) {
        bench.server.bytes = bytes;
        const record = await window.start(bench.request());
        const file = path.join(bench.out, name);
        assert.deepEqual([record.verified, record.path], ['damaged', file]);
        assert.deepEqual(await readFile(file), bytes);
        assert.deepEqual([localAdapter(window.records(ACCOUNT), RUN), window.active], [undefined, []]);
        assert.equal(await bench.begun(), 0);
      }
      assert.equal((await bench.left()).length, 2);
      const requests = bench.server.requests.length;
      await bench.window().open(ACCOUNT);
      assert.equal(bench.server.requests.length, requests);
      bench.server.bytes = whole;
      const record = await window.start(bench.request());
      assert.deepEqual([record.verified, record.path], ['zip', bench.target]);
    });

    it('that is damaged keeps its name if the process crashes before it is stored', async () => {
      // The file as the earlier process left it: named, but not recorded.
      const verify = async (part: string) => {
        await link(part, `${bench.target}.damaged`);
        return broken();
      };
      const { path: file } = await bench.window({ verify }).start(bench.request());
      assert.deepEqual([file, await bench.left()], [`${bench.target}.damaged`, ['adapter.zip.damaged']]);
    });

    it('needs no length if the archive itself is complete or was sent in chunks', async () => {
      window = bench.window({ verify: () => Promise.resolve('zip') });
      bench.server.always = { framing: 'close' };
      assert.equal((await window.start(bench.request())).verified, 'zip');
      bench.server.always = { framing: 'chunked' };
      window = bench.window();
      const chunked = await window.start(bench.request(`${bench.target}2`));
      assert.deepEqual([chunked.verified, chunked.sha256], ['length', sha256Of(bench.server.bytes)]);
    });
  });

  describe('with signed URLs that expire', () => {
    it('gets a fresh one after a 403 and resumes by range', async () => {
      bench.server.faults.push({
        cutAfterBytes: 100 * KIB,
        beforeEnd: () => Promise.resolve((bench.server.expired = bench.server.signed)),
      });
      await bench.assertDownloads(window);
      assert.equal(bench.server.signed, 2);
      assert.deepEqual(bench.starts(), [0, 100 * KIB]);
    });

    it('does so at most three times without progress', async () => {
      bench.server.expired = 3;
      await bench.assertDownloads(window);
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
      ['not before that', 60, 30_000 - 1_001, 1],
    ] as const)
      it(`resumes with a fresh one ${name}`, async () => {
        bench.server.expiresInS = expiresInS;
        const beforeEnd = () => {
          bench.clock.pass(passMs);
          return Promise.resolve();
        };
        bench.server.faults.push({ cutAfterBytes: 100 * KIB, beforeEnd });
        await bench.assertDownloads(window);
        assert.equal(bench.server.signed, signed);
      });
  });

  describe('while the service gives out no signed URL', () => {
    it('waits as long as it asks to', async () => {
      bench.server.refusals.push({ status: 429, code: 'rate_limited' }, { status: 503, code: 'x' });
      await bench.assertDownloads(window);
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

    it('reports an artifact that the run does not offer', async () => {
      const request = bench.request(bench.target, { type: 'log', filename: 'log.txt' });
      await assert.rejects(window.start(request), { code: 'artifact-gone' });
      assert.deepEqual(await bench.left(), []);
    });
  });
});

function detailOf(fields: Record<string, string>) {
  return { run: { run_id: 'run-1', status: 'x', model_id: 'm', ...fields } };
}
