import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { appendFile, mkdtemp, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../../src/api/client.ts';
import type { Timeouts } from '../../../src/api/exchange.ts';
import { OpenDataset } from '../../../src/api/openDataset.ts';
import { encodeMultipart } from '../../../src/api/multipart.ts';
import { Transport } from '../../../src/api/transport.ts';
import type { RunSubmission } from '../../../src/api/types.ts';
import { uploadBody, type UploadHooks } from '../../../src/api/upload.ts';
import { CancelledError } from '../../../src/base/errors.ts';
import {
  bodyOf,
  sendJson,
  startHttpServer,
  startHttpsServer,
  startRawServer,
  type TestServer,
} from '../../helpers/httpServer.ts';
import { runChild } from '../../helpers/runChild.ts';

const MIB = 1024 * 1024;
const CREATED = {
  run_id: 'run-1',
  status: 'queued',
  price_cents: 100,
  currency: 'EUR',
  balance_after_cents: 5,
  plan_name: 'p',
};
const CLOSING = '\r\n--b0undary--\r\n';

describe('createRun', function () {
  this.timeout(20_000);

  let folder: string;
  let file: string;
  let open: { close(): Promise<void> }[];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'create-run-'));
    file = path.join(folder, 'dataset.jsonl');
    open = [];
  });

  afterEach(async () => {
    for (const server of open) await server.close();
    await rm(folder, { recursive: true });
  });

  async function served(starting: Promise<TestServer>): Promise<TestServer> {
    const server = await starting;
    open.push(server);
    return server;
  }

  /** A server that reads whole bodies and answers with a run. */
  async function receiver(): Promise<TestServer & { bodies: Buffer[]; headers: http.IncomingHttpHeaders[] }> {
    const bodies: Buffer[] = [];
    const headers: http.IncomingHttpHeaders[] = [];
    const server = await served(
      startHttpServer((request, response) => {
        headers.push(request.headers);
        bodyOf(request).then(
          (body) => {
            bodies.push(body);
            sendJson(response, 201, CREATED);
          },
          () => undefined,
        );
      }),
    );
    return { ...server, bodies, headers };
  }

  function submission(sizeBytes: number): RunSubmission {
    return {
      idempotencyKey: '8d5b2f9c-1111-4222-8333-444455556666',
      boundary: 'b0undary',
      dataset: { path: file, filename: 'dataset.jsonl', sizeBytes },
      model_id: 'm',
      label: 'Ünique',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: true,
    };
  }

  async function dataset(sizeBytes: number): Promise<Buffer> {
    const bytes = randomBytes(sizeBytes);
    await writeFile(file, bytes);
    return bytes;
  }

  function clientOf(url: string, timeouts: Partial<Timeouts> = {}, strictSsl = true): Client {
    const transport = new Transport({ strictSsl, systemCertificates: false, env: {} }, { timeouts });
    open.push({
      close: () => {
        transport.dispose();
        return Promise.resolve();
      },
    });
    return new Client({ baseUrl: url, apiKey: 'k' }, () => transport);
  }

  /** Hooks that note what was told, in order. */
  function noted(hooks: UploadHooks = {}) {
    const told: string[] = [];
    return {
      told,
      hooks: {
        beforeClose: () => {
          told.push('beforeClose');
          return hooks.beforeClose?.() ?? Promise.resolve();
        },
        onClosed: () => void told.push('onClosed'),
      },
    };
  }

  const openDescriptors = () =>
    readdirSync('/proc/self/fd').filter((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(file);
      } catch {
        return false;
      }
    }).length;

  for (const sizeBytes of [0, 1, 64 * 1024, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345]) {
    it(`sends ${sizeBytes} bytes exactly, with their length`, async () => {
      const bytes = await dataset(sizeBytes);
      const service = await receiver();
      const progress: [number, number][] = [];
      const { told, hooks } = noted();
      const run = await clientOf(service.url).createRun(submission(sizeBytes), {
        ...hooks,
        onProgress: (sent, total) => void progress.push([sent, total]),
      });
      assert.deepEqual(run, CREATED);
      const [body = Buffer.alloc(0)] = service.bodies;
      assert.equal(service.headers[0]?.['content-length'], String(body.byteLength));
      assert.equal(service.headers[0]['transfer-encoding'], undefined);
      assert.equal(service.headers[0]['idempotency-key'], submission(0).idempotencyKey);
      assert.equal(service.headers[0]['content-type'], 'multipart/form-data; boundary=b0undary');
      const start = body.indexOf('octet-stream\r\n\r\n') + 'octet-stream\r\n\r\n'.length;
      assert.ok(body.subarray(start, start + sizeBytes).equals(bytes), 'the bytes differ');
      assert.equal(body.subarray(start + sizeBytes).toString(), CLOSING);
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
      assert.deepEqual(progress.at(-1), [body.byteLength, body.byteLength]);
      assert.ok(progress.every(([sent], index) => sent > (progress[index - 1]?.[0] ?? 0)));
      assert.equal(openDescriptors(), 0);
    });
  }

  for (const start of [startHttpServer, startHttpsServer]) {
    it(`overwrites no chunk that a slow reader has not taken (${start.name})`, async () => {
      const bytes = await dataset(12 * MIB);
      const hash = createHash('sha256');
      let received = 0;
      const service = await served(
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
      const sent = submission(bytes.byteLength);
      await clientOf(service.url, {}, false).createRun(sent);
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
        await dataset(10);
        const service = await served(
          startHttpServer(
            (request, response) => void bodyOf(request).then(() => sendJson(response, status, value)),
          ),
        );
        const run = await clientOf(service.url).createRun(submission(10));
        assert.deepEqual(JSON.parse(JSON.stringify(run)), expected);
      });
    }

    for (const value of [{ run_id: '' }, { run_id: 5 }, { id: 'r' }, ['r'], 'r']) {
      it(`nothing less: ${JSON.stringify(value)}`, async () => {
        await dataset(10);
        const service = await served(
          startHttpServer(
            (request, response) => void bodyOf(request).then(() => sendJson(response, 201, value)),
          ),
        );
        await assert.rejects(clientOf(service.url).createRun(submission(10)), {
          code: 'unexpected-answer',
          kind: 'wrong-shape',
        });
      });
    }
  });

  describe('a dataset that is not what it was', () => {
    const MANY = 24 * MIB;

    /** Reads a first chunk and then nothing until told, so that the upload stands in the middle of the file. */
    async function standstill() {
      let go: () => void = () => undefined;
      let received: Buffer = Buffer.alloc(0);
      const standing = Promise.withResolvers<undefined>();
      const service = await served(
        startHttpServer((request) => {
          request.once('data', () => {
            request.pause();
            standing.resolve(undefined);
            go = () => {
              request.on('data', (chunk: Buffer) => (received = chunk));
              request.resume();
            };
          });
        }),
      );
      return { url: service.url, standing: standing.promise, resume: () => go(), last: () => received };
    }

    for (const [name, change, changeCode] of [
      ['grew', () => appendFile(file, 'x'), 'grew'],
      ['shrank', () => truncate(file, MANY - 1), 'shrank'],
      ['was touched', () => utimes(file, 1, 1), 'changed'],
    ] as const) {
      it(`is not sent when it ${name} meanwhile`, async () => {
        await dataset(MANY);
        const service = await standstill();
        const { told, hooks } = noted();
        const result = assert.rejects(clientOf(service.url).createRun(submission(MANY), hooks), {
          code: 'dataset-changed',
          change: changeCode,
        });
        await service.standing;
        await change();
        service.resume();
        await result;
        assert.deepEqual(told, []);
        assert.ok(!service.last().includes(CLOSING.trim()));
        assert.equal(openDescriptors(), 0);
      });
    }

    it('is not sent at all when it is of another size, a folder, or gone', async () => {
      await dataset(10);
      const service = await receiver();
      const client = clientOf(service.url);
      await assert.rejects(client.createRun(submission(9)), { code: 'dataset-changed', change: 'grew' });
      await assert.rejects(client.createRun(submission(11)), { code: 'dataset-changed', change: 'shrank' });
      assert.equal(openDescriptors(), 0);
      await rm(file);
      await assert.rejects(client.createRun(submission(10)), {
        code: 'dataset-changed',
        causeCode: 'ENOENT',
      });
      for (const place of [folder, '/dev/null']) {
        const { size } = await stat(place);
        const inPlace = { ...submission(10), dataset: { path: place, filename: 'x', sizeBytes: size } };
        await assert.rejects(client.createRun(inPlace), { code: 'dataset-changed', change: 'changed' });
      }
      assert.deepEqual(service.headers, []);
      assert.equal(openDescriptors(), 0);
    });

    it('may lose its name, while its bytes stay', async () => {
      await dataset(MANY);
      const service = await receiver();
      let removed: Promise<void> | undefined;
      await clientOf(service.url).createRun(submission(MANY), {
        onProgress: () => void (removed ??= rm(file)),
      });
      await removed;
      assert.equal(service.bodies.length, 1);
    });
  });

  describe('the closing boundary', () => {
    it('is announced before it is handed over, in a chunk of its own after slices that fill a write buffer', async () => {
      await dataset(3 * MIB + 5);
      const multipart = encodeMultipart(submission(0));
      const opened = await OpenDataset.open(file, 3 * MIB + 5);
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
      await dataset(MIB);
      const service = await receiver();
      const lost = new Error('the lease is lost');
      const { told, hooks } = noted({ beforeClose: () => Promise.reject(lost) });
      await assert.rejects(
        clientOf(service.url).createRun(submission(MIB), hooks),
        (error) => error === lost,
      );
      assert.deepEqual(told, ['beforeClose']);
      assert.deepEqual(service.bodies, []);
      assert.equal(openDescriptors(), 0);
    });

    it('stays when an answer came while beforeClose was awaited', async () => {
      await dataset(1000);
      let refuse = (): void => undefined;
      const early = await served(
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
      await assert.rejects(clientOf(early.url).createRun(submission(1000), hooks), {
        code: 'insufficient_balance',
      });
      gate.resolve(undefined);
      await delay(20);
      assert.deepEqual(told, ['beforeClose']);
    });

    it('stays when the person cancels while beforeClose is awaited', async () => {
      await dataset(1000);
      const service = await receiver();
      const stop = new AbortController();
      const gate = Promise.withResolvers<undefined>();
      const { told, hooks } = noted({
        beforeClose: () => {
          setImmediate(() => stop.abort());
          return gate.promise;
        },
      });
      await assert.rejects(
        clientOf(service.url).createRun(submission(1000), { ...hooks, signal: stop.signal }),
        CancelledError,
      );
      gate.resolve(undefined);
      await delay(20);
      assert.deepEqual(told, ['beforeClose']);
      assert.deepEqual(service.bodies, []);
    });

    it('is all that is missing until beforeClose agreed', async () => {
      await dataset(3 * MIB);
      let receivedBytes = 0;
      let expectedBytes = 0;
      const service = await served(
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
      await clientOf(service.url).createRun(submission(3 * MIB), { beforeClose });
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
        await dataset(32 * MIB);
        const server = await served(
          startRawServer((socket) => {
            socket.once('data', () => {
              socket.pause();
              behave(socket);
            });
          }),
        );
        const { told, hooks } = noted();
        await assert.rejects(clientOf(server.url).createRun(submission(32 * MIB), hooks), {
          code: 'invalid_api_key',
          httpStatus: 401,
        });
        assert.deepEqual(told, []);
        assert.equal(openDescriptors(), 0);
      });
    }

    it('is delivered from a common server that never looks at the body', async () => {
      await dataset(32 * MIB);
      const server = await served(
        startHttpServer((_request, response) =>
          sendJson(response, 413, { error: { code: 'too_big', message: '' } }),
        ),
      );
      await assert.rejects(clientOf(server.url).createRun(submission(32 * MIB)), {
        code: 'too_big',
        httpStatus: 413,
      });
    });
  });

  describe('the network', () => {
    it('that is reset in the middle is told as such, once', async () => {
      await dataset(8 * MIB);
      let connections = 0;
      const server = await served(
        startRawServer((socket) => {
          connections++;
          socket.once('data', () => socket.resetAndDestroy());
        }),
      );
      const { told, hooks } = noted();
      await assert.rejects(clientOf(server.url).createRun(submission(8 * MIB), hooks), {
        code: 'network',
        reason: 'reset',
      });
      assert.deepEqual([connections, told.length, openDescriptors()], [1, 0, 0]);
    });

    it('that takes no byte any more has stalled', async () => {
      await dataset(32 * MIB);
      const server = await served(startRawServer((socket) => void socket.once('data', () => socket.pause())));
      await assert.rejects(clientOf(server.url, { stallMs: 100 }).createRun(submission(32 * MIB)), {
        reason: 'stalled',
      });
      assert.equal(openDescriptors(), 0);
    });

    it('may be slow, as long as it takes bytes', async () => {
      await dataset(12 * MIB);
      let received = 0;
      const service = await served(
        startHttpServer((request, response) => {
          request.on('data', (chunk: Buffer) => {
            received += chunk.byteLength;
            request.pause();
            setTimeout(() => request.resume(), 6);
          });
          request.on('end', () => sendJson(response, 201, CREATED));
        }),
      );
      await clientOf(service.url, { stallMs: 700 }).createRun(submission(12 * MIB));
      assert.ok(received > 12 * MIB);
    });

    it('that brings no answer is given the time of pricing, after the last byte', async () => {
      await dataset(MIB);
      const server = await served(startHttpServer((request) => void request.resume()));
      const { told, hooks } = noted({ beforeClose: () => delay(120) });
      const client = clientOf(server.url, { pricingMs: 60, answerMs: 1, stallMs: 60 });
      await assert.rejects(client.createRun(submission(MIB), hooks), { reason: 'answer-timeout' });
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
    });

    it('that ends after the last byte is no answer', async () => {
      await dataset(MIB);
      const server = await served(
        startHttpServer((request) => void bodyOf(request).then(() => request.socket.destroy())),
      );
      const { told, hooks } = noted();
      await assert.rejects(clientOf(server.url).createRun(submission(MIB), hooks), {
        code: 'network',
        reason: 'reset',
      });
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
    });

    it('that refuses leaves nothing open', async () => {
      await dataset(10);
      const server = await receiver();
      await server.close();
      await assert.rejects(clientOf(server.url).createRun(submission(10)), { reason: 'refused' });
      assert.equal(openDescriptors(), 0);
    });

    it('is asked for a connection of its own: a kept one may just be closing', async () => {
      await dataset(10);
      const sockets = new Set<Socket>();
      const server = await served(
        startHttpServer((request, response) => {
          sockets.add(request.socket);
          void bodyOf(request).then(() =>
            sendJson(response, 200, { run_id: 'r', balance_cents: 1, currency: 'EUR' }),
          );
        }),
      );
      const client = clientOf(server.url);
      await client.getBalance();
      await delay(20);
      await client.getBalance();
      assert.equal(sockets.size, 1);
      await client.createRun(submission(10));
      await delay(20);
      await client.createRun(submission(10));
      assert.equal(sockets.size, 3);
    });
  });

  it('ends at once when it is cancelled, connection and file closed', async () => {
    await dataset(32 * MIB);
    const stop = new AbortController();
    const ended = Promise.withResolvers<undefined>();
    const server = await served(
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
    const started = clientOf(server.url).createRun(submission(32 * MIB), { ...hooks, signal: stop.signal });
    await assert.rejects(started, CancelledError);
    assert.equal(openDescriptors(), 0);
    await ended.promise;
    assert.deepEqual(told, []);
  });

  it('sends 600 MB without holding them', async () => {
    await writeFile(file, '');
    const sizes: [declared: number, received: number][] = [];
    const server = await served(
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
    const warmUpFile = path.join(folder, 'warm-up.jsonl');
    await writeFile(warmUpFile, '');
    await truncate(warmUpFile, small);
    await truncate(file, big);
    const { grownBytes } = await runChild({
      kind: 'memory',
      connection: { baseUrl: server.url, apiKey: 'k' },
      warmUp: {
        ...submission(small),
        dataset: { path: warmUpFile, filename: 'dataset.jsonl', sizeBytes: small },
      },
      submission: submission(big),
    });
    const [warmUp, upload] = sizes;
    assert.ok(warmUp && upload);
    assert.equal(upload[0], upload[1]);
    assert.equal(upload[1] - warmUp[1], big - small);
    assert.ok(Number(grownBytes) <= 64 * MIB, `it grew by ${Math.round(Number(grownBytes) / MIB)} MiB`);
  });
});
