import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OpenDataset, sha256OfFile } from '../../../../src/core/api/dataset.ts';
import { encodeMultipart, uploadBody } from '../../../../src/core/api/upload.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { DIGEST_WORKER } from '../../../helpers/digestWorker.ts';
import {
  bodyOf,
  sendJson,
  startHttpServer,
  startHttpsServer,
  startRawServer,
} from '../../../helpers/httpServer.ts';
import { runChild } from '../../../helpers/runChild.ts';
import { CLOSING, CREATED, MIB, noted, UploadBench } from '../../../helpers/api/support.ts';

describe('createRun', function () {
  this.timeout(20_000);

  let bench: UploadBench;

  beforeEach(async () => (bench = await UploadBench.start()));
  afterEach(() => bench.end());

  for (const sizeBytes of [0, 1, 64 * 1024, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345]) {
    it(`sends ${sizeBytes} bytes exactly, with their length`, async () => {
      const bytes = await bench.dataset(sizeBytes);
      const service = await bench.receiver();
      const progress: [number, number][] = [];
      const { told, hooks } = noted();
      const run = await bench.clientOf(service.url).createRun(bench.submission(sizeBytes), {
        ...hooks,
        onProgress: (sent, total) => void progress.push([sent, total]),
      });
      assert.deepEqual(run, CREATED);
      const [body = Buffer.alloc(0)] = service.bodies;
      assert.equal(service.headers[0]?.['content-length'], String(body.byteLength));
      assert.equal(service.headers[0]['transfer-encoding'], undefined);
      assert.equal(service.headers[0]['idempotency-key'], bench.submission(0).idempotencyKey);
      assert.equal(service.headers[0]['content-type'], 'multipart/form-data; boundary=b0undary');
      const start = body.indexOf('octet-stream\r\n\r\n') + 'octet-stream\r\n\r\n'.length;
      assert.ok(body.subarray(start, start + sizeBytes).equals(bytes), 'the bytes differ');
      assert.equal(body.subarray(start + sizeBytes).toString(), CLOSING);
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
      assert.deepEqual(progress.at(-1), [body.byteLength, body.byteLength]);
      assert.ok(progress.every(([sent], index) => sent > (progress[index - 1]?.[0] ?? 0)));
      assert.equal(bench.openDescriptors(), 0);
    });
  }

  for (const start of [startHttpServer, startHttpsServer]) {
    it(`overwrites no chunk that a slow reader has not taken (${start.name})`, async () => {
      const bytes = await bench.dataset(12 * MIB);
      const hash = createHash('sha256');
      let received = 0;
      const service = await bench.served(
        start((request, response) => {
          request.on('data', (chunk: Buffer) => {
            hash.update(chunk);
            received += chunk.byteLength;
            if (received % 7 === 0) return; // a rhythm that fits no buffer
            request.pause();
            setTimeout(() => request.resume(), 1);
          });
          request.on('end', () => sendJson(response, 201, CREATED));
        }),
      );
      const sent = bench.submission(bytes.byteLength);
      await bench.clientOf(service.url, { strictSsl: false }).createRun(sent);
      const { head, tail } = encodeMultipart(sent);
      const expected = createHash('sha256').update(head).update(bytes).update(tail);
      assert.equal(hash.digest('hex'), expected.digest('hex'));
    });
  }

  describe('counts as done', () => {
    for (const [name, status, value, expected] of [
      ['any 2xx with a run_id', 200, { run_id: 'r' }, { run_id: 'r' }],
      [
        'a run_id among fields that cannot be read',
        202,
        { run_id: 'r', price_cents: '9', currency: 5, more: 1 },
        { run_id: 'r', more: 1 },
      ],
    ] as const) {
      it(name, async () => {
        await bench.dataset(10);
        const service = await bench.served(
          startHttpServer(
            (request, response) => void bodyOf(request).then(() => sendJson(response, status, value)),
          ),
        );
        const run = await bench.clientOf(service.url).createRun(bench.submission(10));
        assert.deepEqual(JSON.parse(JSON.stringify(run)), expected);
      });
    }

    for (const value of [{ run_id: '' }, { run_id: 5 }, { id: 'r' }, ['r'], 'r']) {
      it(`nothing less: ${JSON.stringify(value)}`, async () => {
        await bench.dataset(10);
        const service = await bench.served(
          startHttpServer(
            (request, response) => void bodyOf(request).then(() => sendJson(response, 201, value)),
          ),
        );
        await assert.rejects(bench.clientOf(service.url).createRun(bench.submission(10)), {
          code: 'unexpected-answer',
          kind: 'wrong-shape',
        });
      });
    }
  });

  describe('a dataset that is not what it was', () => {
    const MANY = 24 * MIB;

    for (const [name, change, changeCode] of [
      ['grew', () => appendFile(bench.file, 'x'), 'grew'],
      ['shrank', () => truncate(bench.file, MANY - 1), 'shrank'],
      ['was touched', () => utimes(bench.file, 1, 1), 'changed'],
    ] as const) {
      it(`is not sent when it ${name} meanwhile`, async () => {
        await bench.dataset(MANY);
        const service = await bench.standstill();
        const { told, hooks } = noted();
        const result = assert.rejects(bench.clientOf(service.url).createRun(bench.submission(MANY), hooks), {
          code: 'dataset-changed',
          change: changeCode,
        });
        await service.standing;
        await change();
        service.resume();
        await result;
        assert.deepEqual(told, []);
        assert.ok(!service.last().includes(CLOSING.trim()));
        assert.equal(bench.openDescriptors(), 0);
      });
    }

    it('is not sent at all when it is of another size, a folder, or gone', async () => {
      await bench.dataset(10);
      const service = await bench.receiver();
      const client = bench.clientOf(service.url);
      await assert.rejects(client.createRun(bench.submission(9)), {
        code: 'dataset-changed',
        change: 'grew',
      });
      await assert.rejects(client.createRun(bench.submission(11)), {
        code: 'dataset-changed',
        change: 'shrank',
      });
      assert.equal(bench.openDescriptors(), 0);
      await rm(bench.file);
      await assert.rejects(client.createRun(bench.submission(10)), {
        code: 'dataset-changed',
        causeCode: 'ENOENT',
      });
      for (const place of [bench.folder, '/dev/null']) {
        const { size } = await stat(place);
        const inPlace = { ...bench.submission(10), dataset: { path: place, filename: 'x', sizeBytes: size } };
        await assert.rejects(client.createRun(inPlace), { code: 'dataset-changed', change: 'changed' });
      }
      assert.deepEqual(service.headers, []);
      assert.equal(bench.openDescriptors(), 0);
    });

    it('may lose its name, while its bytes stay', async () => {
      await bench.dataset(MANY);
      const service = await bench.receiver();
      let removed: Promise<void> | undefined;
      await bench.clientOf(service.url).createRun(bench.submission(MANY), {
        onProgress: () => void (removed ??= rm(bench.file)),
      });
      await removed;
      assert.equal(service.bodies.length, 1);
    });
  });

  describe('the closing boundary', () => {
    it('is announced before it is handed over, in a chunk of its own after slices that fill a write buffer', async () => {
      await bench.dataset(3 * MIB + 5);
      const multipart = encodeMultipart(bench.submission(0));
      const opened = await OpenDataset.open(bench.file, 3 * MIB + 5);
      const { told, hooks } = noted();
      const chunks: { bytes: number; told: string }[] = [];
      for await (const chunk of uploadBody(multipart, opened, hooks, new AbortController().signal))
        chunks.push({ bytes: chunk.byteLength, told: told.join() });
      await opened.close();
      assert.deepEqual(chunks.shift(), { bytes: multipart.head.byteLength, told: '' });
      assert.deepEqual(chunks.pop(), { bytes: CLOSING.length, told: 'beforeClose,onClosed' });
      assert.deepEqual(chunks.pop(), { bytes: 5, told: '' });
      for (const slice of chunks) assert.ok(slice.bytes >= 64 * 1024 && slice.told === '');
    });

    it('stays when beforeClose throws, and its error is thrown', async () => {
      await bench.dataset(MIB);
      const service = await bench.receiver();
      const lost = new Error('the lease is lost');
      const { told, hooks } = noted({ beforeClose: () => Promise.reject(lost) });
      await assert.rejects(
        bench.clientOf(service.url).createRun(bench.submission(MIB), hooks),
        (error) => error === lost,
      );
      assert.deepEqual(told, ['beforeClose']);
      assert.deepEqual(service.bodies, []);
      assert.equal(bench.openDescriptors(), 0);
    });

    it('stays when an answer came while beforeClose was awaited', async () => {
      await bench.dataset(1000);
      let refuse = (): void => undefined;
      const early = await bench.served(
        startHttpServer((request, response) => {
          request.resume();
          refuse = () => sendJson(response, 402, { error: { code: 'insufficient_balance', message: 'no' } });
        }),
      );
      const gate = Promise.withResolvers<undefined>();
      const { told, hooks } = noted({
        beforeClose: async () => {
          await delay(20);
          refuse();
          await gate.promise;
        },
      });
      await assert.rejects(bench.clientOf(early.url).createRun(bench.submission(1000), hooks), {
        code: 'insufficient_balance',
      });
      gate.resolve(undefined);
      await delay(20);
      assert.deepEqual(told, ['beforeClose']);
    });

    it('stays when the person cancels while beforeClose is awaited', async () => {
      await bench.dataset(1000);
      const service = await bench.receiver();
      const stop = new AbortController();
      const gate = Promise.withResolvers<undefined>();
      const { told, hooks } = noted({
        beforeClose: () => {
          setImmediate(() => stop.abort());
          return gate.promise;
        },
      });
      await assert.rejects(
        bench.clientOf(service.url).createRun(bench.submission(1000), { ...hooks, signal: stop.signal }),
        CancelledError,
      );
      gate.resolve(undefined);
      await delay(20);
      assert.deepEqual(told, ['beforeClose']);
      assert.deepEqual(service.bodies, []);
    });

    it('is all that is missing until beforeClose agreed', async () => {
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

  describe('an early answer', () => {
    const refusal = JSON.stringify({ error: { code: 'invalid_api_key', message: 'no' } });
    const head = `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\n`;

    for (const [name, behave] of [
      ['from a server that reads no further', (socket: Socket) => void socket.write(`${head}\r\n${refusal}`)],
      [
        'from a server that closes its side and reads on',
        (socket: Socket) => void socket.resume().end(`${head}connection: close\r\n\r\n${refusal}`),
      ],
      [
        'from a server that closes everything a moment later',
        (socket: Socket) =>
          void socket.write(`${head}connection: close\r\n\r\n${refusal}`, () =>
            setTimeout(() => socket.destroy(), 50),
          ),
      ],
    ] as const) {
      it(`is delivered ${name}`, async () => {
        await bench.dataset(32 * MIB);
        const server = await bench.served(
          startRawServer((socket) => {
            socket.once('data', () => {
              socket.pause();
              behave(socket);
            });
          }),
        );
        const { told, hooks } = noted();
        await assert.rejects(bench.clientOf(server.url).createRun(bench.submission(32 * MIB), hooks), {
          code: 'invalid_api_key',
          httpStatus: 401,
        });
        assert.deepEqual(told, []);
        assert.equal(bench.openDescriptors(), 0);
      });
    }

    it('is delivered from a common server that never looks at the body', async () => {
      await bench.dataset(32 * MIB);
      const server = await bench.served(
        startHttpServer((_request, response) =>
          sendJson(response, 413, { error: { code: 'too_big', message: '' } }),
        ),
      );
      await assert.rejects(bench.clientOf(server.url).createRun(bench.submission(32 * MIB)), {
        code: 'too_big',
        httpStatus: 413,
      });
    });
  });

  describe('the network', () => {
    it('that is reset in the middle is told as such, once', async () => {
      await bench.dataset(8 * MIB);
      let connections = 0;
      const server = await bench.served(
        startRawServer((socket) => {
          connections++;
          socket.once('data', () => socket.resetAndDestroy());
        }),
      );
      const { told, hooks } = noted();
      await assert.rejects(bench.clientOf(server.url).createRun(bench.submission(8 * MIB), hooks), {
        code: 'network',
        reason: 'reset',
      });
      assert.deepEqual([connections, told.length, bench.openDescriptors()], [1, 0, 0]);
    });

    it('that takes no byte any more has stalled', async () => {
      await bench.dataset(32 * MIB);
      const server = await bench.served(
        startRawServer((socket) => void socket.once('data', () => socket.pause())),
      );
      await assert.rejects(
        bench.clientOf(server.url, { timeouts: { stallMs: 100 } }).createRun(bench.submission(32 * MIB)),
        {
          reason: 'stalled',
        },
      );
      assert.equal(bench.openDescriptors(), 0);
    });

    it('may be slow, as long as it takes bytes', async () => {
      await bench.dataset(12 * MIB);
      let received = 0;
      const service = await bench.served(
        startHttpServer((request, response) => {
          request.on('data', (chunk: Buffer) => {
            received += chunk.byteLength;
            request.pause();
            setTimeout(() => request.resume(), 6);
          });
          request.on('end', () => sendJson(response, 201, CREATED));
        }),
      );
      await bench.clientOf(service.url, { timeouts: { stallMs: 700 } }).createRun(bench.submission(12 * MIB));
      assert.ok(received > 12 * MIB);
    });

    it('that brings no answer is given the time of pricing, after the last byte', async () => {
      await bench.dataset(MIB);
      const server = await bench.served(startHttpServer((request) => void request.resume()));
      const { told, hooks } = noted({ beforeClose: () => delay(120) });
      const client = bench.clientOf(server.url, { timeouts: { pricingMs: 60, answerMs: 1, stallMs: 60 } });
      await assert.rejects(client.createRun(bench.submission(MIB), hooks), { reason: 'answer-timeout' });
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
    });

    it('that ends after the last byte is no answer', async () => {
      await bench.dataset(MIB);
      const server = await bench.served(
        startHttpServer((request) => void bodyOf(request).then(() => request.socket.destroy())),
      );
      const { told, hooks } = noted();
      await assert.rejects(bench.clientOf(server.url).createRun(bench.submission(MIB), hooks), {
        code: 'network',
        reason: 'reset',
      });
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
    });

    it('that refuses leaves nothing open', async () => {
      await bench.dataset(10);
      const server = await bench.receiver();
      await server.close();
      await assert.rejects(bench.clientOf(server.url).createRun(bench.submission(10)), { reason: 'refused' });
      assert.equal(bench.openDescriptors(), 0);
    });

    it('is asked for a connection of its own: a kept one may just be closing', async () => {
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
      await client.getBalance();
      await delay(20);
      await client.getBalance();
      assert.equal(sockets.size, 1);
      await client.createRun(bench.submission(10));
      await delay(20);
      await client.createRun(bench.submission(10));
      assert.equal(sockets.size, 3);
      await delay(20);
      assert.equal([...sockets].filter(({ destroyed }) => !destroyed).length, 1);
    });
  });

  it('ends at once when it is cancelled, connection and file closed', async () => {
    await bench.dataset(32 * MIB);
    const stop = new AbortController();
    const ended = Promise.withResolvers<undefined>();
    const server = await bench.served(
      startRawServer((socket) => {
        socket.once('data', () => {
          socket.pause();
          setTimeout(() => {
            stop.abort();
            socket.resume();
          }, 20);
        });
        socket.on('close', () => ended.resolve(undefined));
      }),
    );
    const { told, hooks } = noted();
    const started = bench
      .clientOf(server.url)
      .createRun(bench.submission(32 * MIB), { ...hooks, signal: stop.signal });
    await assert.rejects(started, CancelledError);
    assert.equal(bench.openDescriptors(), 0);
    await ended.promise;
    assert.deepEqual(told, []);
  });

  it('sends and hashes 600 MB without holding them, and its process ends', async () => {
    await writeFile(bench.file, '');
    const sizes: [declared: number, received: number][] = [];
    const server = await bench.served(
      startHttpServer((request, response) => {
        let received = 0;
        request.on('data', (chunk: Buffer) => (received += chunk.byteLength));
        request.on('end', () => {
          sizes.push([Number(request.headers['content-length']), received]);
          sendJson(response, 201, CREATED);
        });
      }),
    );
    const [small, big] = [16 * MIB, 629_145_600];
    const warmUpFile = path.join(bench.folder, 'warm-up.jsonl');
    await writeFile(warmUpFile, '');
    await truncate(warmUpFile, small);
    await truncate(bench.file, big);
    const expected = async (place: string, sizeBytes: number) => ({
      ...bench.submission(sizeBytes),
      dataset: {
        path: place,
        filename: 'dataset.jsonl',
        sizeBytes,
        sha256: await sha256OfFile(place, { worker: DIGEST_WORKER }),
      },
    });
    const { grownBytes } = await runChild({
      kind: 'memory',
      connection: { baseUrl: server.url, apiKey: 'k', keyId: 'key-1' },
      warmUp: await expected(warmUpFile, small),
      submission: await expected(bench.file, big),
    });
    const [warmUp, upload] = sizes;
    assert.ok(warmUp && upload);
    assert.equal(upload[0], upload[1]);
    assert.equal(upload[1] - warmUp[1], big - small);
    assert.ok(Number(grownBytes) <= 32 * MIB, `it grew by ${Math.round(Number(grownBytes) / MIB)} MiB`);
  });
});
