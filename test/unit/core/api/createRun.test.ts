import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, open, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunSubmission } from '../../../../src/core/api/types.ts';
import { encodeMultipart, type UploadHooks } from '../../../../src/core/api/upload.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import {
  CLOSING,
  CREATED,
  descriptors,
  MIB,
  noted,
  sha256Of,
  UploadBench,
  type ClientSettings,
} from '../../../helpers/api/support.ts';
import { useFileReads } from '../../../helpers/fileReads.ts';
import {
  bodyOf,
  sendJson,
  startHttpServer,
  startHttpsServer,
  startRawServer,
  type TestServer,
} from '../../../helpers/httpServer.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { until } from '../../../helpers/runs/support.ts';

const MANY = 24 * MIB;
const CHANGED = { code: 'dataset-changed', change: 'changed' };

describe('createRun', function () {
  let bench: UploadBench;

  beforeEach(async () => (bench = await UploadBench.start()));
  afterEach(() => bench.end());

  /** Writes into the dataset, and sets its times to values that can be restored exactly. */
  async function overwrite(position: number, bytes: Uint8Array): Promise<void> {
    const handle = await open(bench.file, 'r+');
    await handle.write(bytes, 0, bytes.byteLength, position);
    await handle.close();
    await restoreTimes();
  }
  const restoreTimes = () => utimes(bench.file, 1_700_000_000, 1_700_000_000);

  /** Submits, expecting a failure that leaves no descriptor open; returns the hooks that were called. */
  async function fails(
    url: string,
    submission: RunSubmission,
    expected: object | ((error: unknown) => boolean),
    {
      hooks: given,
      signal,
      ...settings
    }: ClientSettings & { hooks?: UploadHooks; signal?: AbortSignal } = {},
  ): Promise<string[]> {
    const { events, hooks } = noted(given);
    const call = bench.clientOf(url, settings).createRun(submission, { ...hooks, ...(signal && { signal }) });
    await assert.rejects(call, expected);
    assert.equal(bench.openDescriptors(), 0);
    return events;
  }

  for (const sizeBytes of [0, 1, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345]) {
    it(`sends ${sizeBytes} bytes, identical at each attempt`, async () => {
      const bytes = await bench.dataset(sizeBytes);
      const service = await bench.receiver();
      for (let attempt = 0; attempt < 2; attempt++) {
        const progress: [number, number][] = [];
        const { events, hooks } = noted();
        const run = await bench.clientOf(service.url).createRun(bench.submission(sizeBytes), {
          ...hooks,
          onProgress: (sent, total) => void progress.push([sent, total]),
        });
        assert.deepEqual([run, events], [CREATED, ['beforeClose', 'onClosed']]);
        const total = service.bodies[0]?.byteLength ?? 0;
        assert.deepEqual(progress.at(-1), [total, total]);
        assert.ok(progress.every(([sent], index) => sent > (progress[index - 1]?.[0] ?? 0)));
      }
      const [body = Buffer.alloc(0), again = Buffer.alloc(0)] = service.bodies;
      const start = body.indexOf('octet-stream\r\n\r\n') + 'octet-stream\r\n\r\n'.length;
      assert.ok(body.subarray(start, start + sizeBytes).equals(bytes), 'the bytes differ');
      assert.equal(body.subarray(start + sizeBytes).toString(), CLOSING);
      assert.ok(body.equals(again));
      const [headers, headersAgain] = service.headers;
      assert.deepEqual({ ...headersAgain, host: '' }, { ...headers, host: '' });
      assert.deepEqual(
        ['content-length', 'transfer-encoding', 'idempotency-key', 'content-type'].map(
          (name) => headers?.[name],
        ),
        [
          String(body.byteLength),
          undefined,
          bench.submission(0).idempotencyKey,
          'multipart/form-data; boundary=b0undary',
        ],
      );
      assert.equal(bench.openDescriptors(), 0);
    });
  }

  for (const start of [startHttpServer, startHttpsServer])
    it(`overwrites no chunk that a slow reader still needs (${start.name})`, async () => {
      const bytes = await bench.dataset(10 * MIB + 77);
      const received: Buffer[] = [];
      const service = await bench.served(
        start((request, response) => {
          request.on('data', (chunk: Buffer) => {
            received.push(chunk);
            if (received.length % 11 !== 0) return; // matches no buffer size
            request.pause();
            setTimeout(() => request.resume(), 1);
          });
          request.on('end', () => sendJson(response, 201, CREATED));
        }),
      );
      const client = bench.clientOf(service.url, { strictSsl: false });
      const submission = bench.submission(bytes.byteLength);
      await client.createRun(submission);
      const { head, tail } = encodeMultipart(submission);
      assert.ok(Buffer.concat(received).equals(Buffer.concat([head, bytes, tail])));
    });

  it('accepts any 2xx with a run_id as a run, and nothing else', async () => {
    await bench.dataset(10);
    let answer: [status: number, value: unknown] = [200, {}];
    const service = await bench.served(
      startHttpServer((request, response) => void bodyOf(request).then(() => sendJson(response, ...answer))),
    );
    const client = bench.clientOf(service.url);
    for (const [status, value, expected] of [
      [200, { run_id: 'r' }, { run_id: 'r' }],
      [202, { run_id: 'r', price_cents: '9', currency: 5, more: 1 }, { run_id: 'r' }],
      [201, { more: 'x'.repeat(3 * MIB), run_id: 'r' }, { run_id: 'r' }],
    ] as const) {
      answer = [status, value];
      const run = await client.createRun(bench.submission(10));
      assert.deepEqual(JSON.parse(JSON.stringify(run)), expected);
    }
    for (const value of [{ run_id: '' }, { run_id: 5 }, { id: 'r' }, ['r'], 'r']) {
      answer = [201, value];
      await fails(service.url, bench.submission(10), { code: 'unexpected-response', kind: 'wrong-shape' });
    }
  });

  describe('with a dataset that changes while it is sent', () => {
    for (const [name, change, code] of [
      ['shrinks', () => truncate(bench.file, MANY - 1), 'shrank'],
      ['is overwritten ahead of the reader', () => overwrite(MANY - 1, Buffer.of(0)), 'changed'],
      [
        'shrinks and grows again',
        async () => {
          await truncate(bench.file, MANY - 100);
          await truncate(bench.file, MANY);
          await restoreTimes();
        },
        'changed',
      ],
    ] as const)
      it(`does not send the closing boundary if it ${name}`, async () => {
        // Its last byte must differ from the one that the changes write.
        while ((await bench.dataset(MANY)).at(-1) === 0);
        await restoreTimes();
        const service = await bench.standstill();
        const result = fails(service.url, bench.submission(MANY), {
          code: 'dataset-changed',
          change: code,
        });
        await service.standing;
        await change();
        service.resume();
        assert.deepEqual(await result, []);
        assert.ok(!service.last().includes(CLOSING.trim()));
      });

    for (const [name, change] of [
      ['grows', () => appendFile(bench.file, 'x')],
      ['loses its name', () => rm(bench.file)],
      [
        'is replaced by another file',
        async () => {
          await writeFile(path.join(bench.folder, 'other'), Buffer.alloc(MANY));
          await rename(path.join(bench.folder, 'other'), bench.file);
        },
      ],
      ['is overwritten behind the reader', () => overwrite(0, Buffer.from('changed'))],
    ] as const)
      it(`sends the bytes that were hashed if it ${name}`, async () => {
        await bench.dataset(MANY);
        const service = await bench.standstill();
        const run = bench.clientOf(service.url).createRun(bench.submission(MANY));
        await service.standing;
        await change();
        service.resume();
        assert.deepEqual(await run, CREATED);
      });
  });

  it('does not send the closing boundary if the digest differs', async () => {
    const bytes = await bench.dataset(MIB + 5);
    await restoreTimes();
    const submission = bench.submission(bytes.byteLength);
    let received = Buffer.alloc(0);
    const service = await bench.served(
      startHttpServer(
        (request) =>
          void request.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk]))),
      ),
    );
    for (const sha256 of [sha256Of(Buffer.from('x')), 'AB'.repeat(32), '']) {
      const wrong = { ...submission, dataset: { ...submission.dataset, sha256 } };
      assert.deepEqual(await fails(service.url, wrong, CHANGED), []);
    }
    // Changed before it is sent, with its size and times restored.
    await overwrite(MIB, Buffer.of(bytes[MIB]! ^ 1));
    assert.deepEqual(await fails(service.url, submission, CHANGED), []);
    assert.ok(received.length > MIB && !received.includes(CLOSING.trim()));
  });

  itOnPosix(
    'sends nothing for a file of another size, a folder, a device, a pipe, or a missing file',
    async () => {
      await bench.dataset(10);
      const service = await bench.receiver();
      await fails(service.url, bench.submission(9), { code: 'dataset-changed', change: 'grew' });
      await fails(service.url, bench.submission(11), { code: 'dataset-changed', change: 'shrank' });
      await rm(bench.file);
      await fails(service.url, bench.submission(10), { code: 'dataset-changed', causeCode: 'ENOENT' });
      execFileSync('mkfifo', [bench.file]);
      for (const place of [bench.folder, '/dev/null', bench.file]) {
        const { size } = await stat(place);
        const submission = bench.submission(size);
        const dataset = { ...submission.dataset, path: place };
        await fails(service.url, { ...submission, dataset }, CHANGED);
      }
      assert.deepEqual(service.headers, []);
    },
  );

  describe('the closing boundary', () => {
    it('is not sent if beforeClose throws, and that error is thrown', async () => {
      await bench.dataset(MIB);
      const service = await bench.receiver();
      const lost = new Error('the lease is lost');
      const hooks = { beforeClose: () => Promise.reject(lost) };
      const events = await fails(service.url, bench.submission(MIB), (error) => error === lost, { hooks });
      assert.deepEqual([events, service.bodies], [['beforeClose'], []]);
    });

    for (const isAnswered of [true, false])
      it(`is not sent after ${isAnswered ? 'an answer' : 'a cancel'} during beforeClose`, async () => {
        await bench.dataset(1000);
        const stop = new AbortController();
        let received = '';
        let refuse = (): void => undefined;
        const service = await bench.served(
          startHttpServer((request, response) => {
            request.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
            refuse = () => sendJson(response, 402, { error: { code: 'insufficient_balance', message: '' } });
          }),
        );
        const gate = Promise.withResolvers<undefined>();
        const { events, hooks } = noted({
          beforeClose: async () => {
            await delay(20);
            if (isAnswered) refuse();
            else stop.abort();
            await gate.promise;
          },
        });
        const client = bench.clientOf(service.url);
        await assert.rejects(
          client.createRun(bench.submission(1000), { ...hooks, signal: stop.signal }),
          isAnswered ? { code: 'insufficient_balance' } : CancelledError,
        );
        gate.resolve(undefined);
        await delay(20);
        assert.deepEqual(events, ['beforeClose']);
        assert.ok(!received.includes(CLOSING));
      });

    it('is not sent, and beforeClose not called, after a cancel at the last byte before it', async () => {
      await bench.dataset(1000);
      const service = await bench.receiver();
      const stop = new AbortController();
      const { events, hooks } = noted();
      const onProgress = (sent: number, total: number) => {
        if (sent === total - CLOSING.length) stop.abort();
      };
      const run = bench
        .clientOf(service.url)
        .createRun(bench.submission(1000), { ...hooks, onProgress, signal: stop.signal });
      await assert.rejects(run, CancelledError);
      await delay(20);
      assert.deepEqual([events, service.bodies], [[], []]);
    });

    it('is the only part that is not sent until beforeClose succeeds', async () => {
      await bench.dataset(3 * MIB);
      let receivedBytes = 0;
      let expectedBytes = 0;
      const service = await bench.served(
        startHttpServer((request, response) => {
          expectedBytes = Number(request.headers['content-length']) - CLOSING.length;
          request.on('data', (chunk: Buffer) => (receivedBytes += chunk.byteLength));
          request.on('end', () => sendJson(response, 201, CREATED));
        }),
      );
      const beforeClose = async () => {
        while (receivedBytes < expectedBytes || expectedBytes === 0) await delay(1);
        await delay(20);
        assert.equal(receivedBytes, expectedBytes);
      };
      await bench.clientOf(service.url).createRun(bench.submission(3 * MIB), { beforeClose });
      assert.equal(receivedBytes, expectedBytes + CLOSING.length);
    });
  });

  describe('returns an early response', () => {
    const refusal = JSON.stringify({ error: { code: 'invalid_api_key', message: 'no' } });
    const head = `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\n`;
    const closing = `${head}connection: close\r\n\r\n${refusal}`;

    for (const [name, behave] of [
      ['reads no further', (socket: Socket) => void socket.write(`${head}\r\n${refusal}`)],
      ['closes its side and reads on', (socket: Socket) => void socket.resume().end(closing)],
      [
        'closes everything a moment later',
        (socket: Socket) => void socket.write(closing, () => setTimeout(() => socket.destroy(), 50)),
      ],
    ] as const)
      it(`from a server that ${name}`, async () => {
        await bench.dataset(32 * MIB);
        const server = await bench.served(
          startRawServer((socket) => {
            socket.once('data', () => {
              socket.pause();
              behave(socket);
            });
          }),
        );
        const expected = { code: 'invalid_api_key', httpStatus: 401 };
        assert.deepEqual(await fails(server.url, bench.submission(32 * MIB), expected), []);
      });
  });

  describe('over a network', () => {
    it('that is reset in the middle fails without a retry', async () => {
      await bench.dataset(8 * MIB);
      let connections = 0;
      const server = await bench.served(
        startRawServer((socket) => {
          connections++;
          socket.once('data', () => socket.resetAndDestroy());
        }),
      );
      const expected = { code: 'network', reason: 'reset' };
      assert.deepEqual(await fails(server.url, bench.submission(8 * MIB), expected), []);
      assert.equal(connections, 1);
    });

    it('that accepts no more bytes fails as stalled', async () => {
      await bench.dataset(32 * MIB);
      const server = await bench.served(
        startRawServer((socket) => void socket.once('data', () => socket.pause())),
      );
      const timeouts = { stallMs: 100 };
      await fails(server.url, bench.submission(32 * MIB), { reason: 'stalled' }, { timeouts });
    });

    it('without a response times out after the pricing time, counted from the last byte', async () => {
      await bench.dataset(MIB);
      const server = await bench.served(startHttpServer((request) => void request.resume()));
      const timeouts = { pricingMs: 60, answerMs: 1, stallMs: 1_000 };
      const hooks = { beforeClose: () => delay(1_500) };
      const expected = { reason: 'answer-timeout' };
      const events = await fails(server.url, bench.submission(MIB), expected, { timeouts, hooks });
      assert.deepEqual(events, ['beforeClose', 'onClosed']);
    });

    it('that ends after the last byte fails after onClosed', async () => {
      await bench.dataset(MIB);
      const server = await bench.served(
        startHttpServer((request) => void bodyOf(request).then(() => request.socket.destroy())),
      );
      const events = await fails(server.url, bench.submission(MIB), { code: 'network', reason: 'reset' });
      assert.deepEqual(events, ['beforeClose', 'onClosed']);
      await server.close();
      await fails(server.url, bench.submission(MIB), { reason: 'refused' });
    });

    it('uses a new connection, since a reused one may just be closing', async () => {
      await bench.dataset(10);
      const sockets = new Set<Socket>();
      const server = await bench.served(
        startHttpServer((request, response) => {
          sockets.add(request.socket);
          void bodyOf(request).then(() =>
            sendJson(response, 200, { run_id: 'r', balance_cents: 1, currency: 'EUR' }),
          );
        }),
      );
      const client = bench.clientOf(server.url);
      for (let round = 0; round < 2; round++) {
        await client.getBalance();
        await delay(20);
      }
      assert.equal(sockets.size, 1);
      for (let round = 0; round < 2; round++) {
        await client.createRun(bench.submission(10));
        await delay(20);
      }
      assert.equal(sockets.size, 3);
      await until(() => [...sockets].filter(({ destroyed }) => !destroyed).length === 1);
    });
  });

  describe('when canceled, stops at once without leaking descriptors', () => {
    // Less than the 5 s after which the server would close an idle connection.
    const LIMIT_MS = 4_000;
    const STAGES = ['handshake', 'proxy', 'hashing', 'sending', 'beforeClose', 'pricing'] as const;
    const beforeReads = useFileReads();
    let server: TestServer;
    let sockets: Set<Socket>;

    /** Starts a server that stops reading after `pausesAfter` bytes, and never answers. */
    async function silent(pausesAfter = Infinity): Promise<void> {
      sockets = new Set();
      server = await bench.served(
        startRawServer((socket) => {
          sockets.add(socket);
          let received = 0;
          socket.on('data', (chunk: Buffer) => {
            if ((received += chunk.byteLength) > pausesAfter) socket.pause();
          });
          socket.on('close', () => sockets.delete(socket));
        }),
      );
    }

    /** Returns the number of descriptors, without the server's sockets. */
    const openHere = () => descriptors().length - sockets.size;

    for (const when of STAGES)
      it(`while at the stage “${when}”`, async () => {
        await bench.dataset(MANY);
        await silent(when === 'sending' ? 1 : Infinity);
        const url = when === 'proxy' ? 'https://service.test' : server.url;
        const client = bench.clientOf(when === 'handshake' ? url.replace('http:', 'https:') : url, {
          ...(when === 'proxy' && { env: { HTTPS_PROXY: server.url } }),
        });
        // Load undici before counting.
        const warm = AbortSignal.timeout(100);
        const warmUp = bench.clientOf(server.url).createRun(bench.submission(MANY), { signal: warm });
        await assert.rejects(warmUp, CancelledError);
        for (const socket of sockets) socket.destroy();
        while (sockets.size > 0) await delay(1);
        const before = openHere();

        const stop = new AbortController();
        const reached = Promise.withResolvers<undefined>();
        const submission = bench.submission(MANY);
        if (when === 'hashing') {
          // A file changed since its check is hashed before it is sent; here on a slow disk.
          submission.dataset.mtimeMs = 1;
          beforeReads(() => delay(50));
        }
        const run = client.createRun(submission, {
          signal: stop.signal,
          beforeClose: async () => {
            if (when !== 'beforeClose') return;
            reached.resolve(undefined);
            await new Promise(() => undefined);
          },
          onClosed: () => reached.resolve(undefined),
        });
        run.catch(() => undefined);
        if (STAGES.indexOf(when) < STAGES.indexOf('beforeClose'))
          setTimeout(() => reached.resolve(undefined), 150);
        await reached.promise;
        if (when === 'pricing') await delay(20);
        const startedMs = performance.now();
        stop.abort();
        await assert.rejects(run, CancelledError);
        while (openHere() > before) {
          assert.ok(performance.now() - startedMs < LIMIT_MS, descriptors().join());
          await delay(5);
        }
        assert.ok(performance.now() - startedMs < LIMIT_MS);
        assert.equal(bench.openDescriptors(), 0);
      });

    it('before it starts', async () => {
      await bench.dataset(10);
      await silent();
      await fails(server.url, bench.submission(10), CancelledError, { signal: AbortSignal.abort() });
      assert.equal(sockets.size, 0);
    });
  });
});
