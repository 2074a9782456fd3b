import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { appendFile, open, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import {
  listening,
  sendJson,
  startHttpServer,
  startHttpsServer,
  startRawServer,
  type TestServer,
} from '../../../helpers/httpServer.ts';
import {
  CLOSING,
  CREATED,
  descriptors,
  MIB,
  noted,
  sha256Of,
  UploadBench,
} from '../../../helpers/api/support.ts';

const MANY = 24 * MIB;
const CHANGED = { code: 'dataset-changed', change: 'changed' };

/** The worker's own words, with something between each message and its answer. */
const workerThat = (lines: string) => `
  import { createHash } from 'node:crypto';
  import { setTimeout as delay } from 'node:timers/promises';
  import { parentPort } from 'node:worker_threads';
  const sha256 = createHash('sha256');
  let pieces = 0;
  let turn = Promise.resolve();
  parentPort.on('message', (piece) => {
    turn = turn.then(async () => {
      pieces++;
      ${lines}
      if (piece !== null) sha256.update(piece);
      parentPort.postMessage(piece === null ? sha256.digest('hex') : '');
      if (piece === null) parentPort.close();
    });
  });`;
const NEVER = 'await new Promise(() => setInterval(() => undefined, 1000));';

describe('createRun with the digest of its dataset', function () {
  this.timeout(20_000);

  let bench: UploadBench;

  beforeEach(async () => (bench = await UploadBench.start()));
  afterEach(() => bench.end());

  async function worker(source: string): Promise<string> {
    const script = path.join(bench.folder, 'worker.mjs');
    await writeFile(script, source);
    return script;
  }

  /** Every time of the file is one that can be restored exactly. */
  const restoreTimes = () => utimes(bench.file, 1_700_000_000, 1_700_000_000);

  async function overwrite(position: number, bytes: Uint8Array): Promise<void> {
    const handle = await open(bench.file, 'r+');
    await handle.write(bytes, 0, bytes.byteLength, position);
    await handle.close();
    await restoreTimes();
  }

  for (const sizeBytes of [0, 1, MIB, MIB + 1, 5 * MIB + 12_345]) {
    it(`sends ${sizeBytes} bytes that are those expected`, async () => {
      const bytes = await bench.dataset(sizeBytes);
      const service = await bench.receiver();
      const { told, hooks } = noted();
      const run = await bench.clientOf(service.url).createRun(bench.submission(sizeBytes, bytes), hooks);
      assert.deepEqual(run, CREATED);
      const [body = Buffer.alloc(0)] = service.bodies;
      const end = body.byteLength - CLOSING.length;
      assert.ok(body.subarray(end - sizeBytes, end).equals(bytes));
      assert.equal(body.subarray(end).toString(), CLOSING);
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
      assert.equal(bench.openDescriptors(), 0);
    });
  }

  it('starts no thread where nothing is expected', async () => {
    await bench.dataset(MIB);
    const service = await bench.receiver();
    const client = bench.clientOf(service.url, { digestWorker: path.join(bench.folder, 'missing.mjs') });
    assert.deepEqual(await client.createRun(bench.submission(MIB)), CREATED);
  });

  it('sends the same bytes at each attempt', async () => {
    const bytes = await bench.dataset(3 * MIB + 5);
    const requests: Buffer[] = [];
    const server = await bench.served(
      startRawServer((socket) => {
        let received = Buffer.alloc(0);
        socket.on('data', (chunk: Buffer) => {
          received = Buffer.concat([received, chunk]);
          if (!received.subarray(-CLOSING.length).equals(Buffer.from(CLOSING))) return;
          requests.push(received);
          socket.destroy();
        });
      }),
    );
    const client = bench.clientOf(server.url);
    for (let attempt = 0; attempt < 2; attempt++)
      await assert.rejects(client.createRun(bench.submission(bytes.byteLength, bytes)), { code: 'network' });
    const [first, second] = requests;
    assert.ok(first && second);
    assert.ok(first.byteLength > 3 * MIB && first.equals(second));
  });

  it('hashes each of several uploads at once for itself', async () => {
    const service = await bench.receiver();
    const client = bench.clientOf(service.url);
    const submissions = await Promise.all(
      [1, 2, 3].map(async (size) => {
        const bytes = Buffer.alloc(size * MIB + size, size);
        const file = path.join(bench.folder, `${size}.jsonl`);
        await writeFile(file, bytes);
        const submission = bench.submission(bytes.byteLength, bytes);
        return { ...submission, dataset: { ...submission.dataset, path: file } };
      }),
    );
    await Promise.all(submissions.map((submission) => client.createRun(submission)));
    assert.equal(service.bodies.length, 3);
  });

  for (const start of [startHttpServer, startHttpsServer]) {
    it(`hashes what a slow reader gets, overwriting nothing that was not hashed (${start.name})`, async () => {
      const bytes = await bench.dataset(10 * MIB + 77);
      const slow = await worker(workerThat('await delay(pieces % 3 === 0 ? 40 : 0);'));
      const received: Buffer[] = [];
      const service = await bench.served(
        start((request, response) => {
          request.on('data', (chunk: Buffer) => {
            received.push(chunk);
            if (received.length % 11 !== 0) return;
            request.pause();
            setTimeout(() => request.resume(), 1);
          });
          request.on('end', () => sendJson(response, 201, CREATED));
        }),
      );
      const client = bench.clientOf(service.url, { strictSsl: false, digestWorker: slow });
      await client.createRun(bench.submission(bytes.byteLength, bytes));
      const end = -CLOSING.length;
      assert.ok(
        Buffer.concat(received)
          .subarray(end - bytes.byteLength, end)
          .equals(bytes),
      );
    });
  }

  describe('keeps the closing boundary', () => {
    /** A server that keeps what came in. */
    async function listener() {
      const chunks: Buffer[] = [];
      const server = await bench.served(
        startHttpServer((request) => void request.on('data', (chunk: Buffer) => chunks.push(chunk))),
      );
      return { url: server.url, received: () => Buffer.concat(chunks) };
    }

    for (const [name, sha256] of [
      ['of other bytes', sha256Of(Buffer.from('x'))],
      ['in upper case', 'AB'.repeat(32)],
      ['that is none', ''],
    ] as const) {
      it(`from a digest ${name}`, async () => {
        const bytes = await bench.dataset(MIB + 1);
        const service = await listener();
        const { told, hooks } = noted();
        const submission = bench.submission(bytes.byteLength, bytes);
        const wrong = { ...submission, dataset: { ...submission.dataset, sha256 } };
        await assert.rejects(bench.clientOf(service.url).createRun(wrong, hooks), CHANGED);
        assert.deepEqual(told, []);
        assert.ok(!service.received().includes(CLOSING.trim()));
        assert.equal(bench.openDescriptors(), 0);
      });
    }

    it('from a file that was changed earlier, with its size and times as before', async () => {
      const bytes = await bench.dataset(3 * MIB);
      await restoreTimes();
      const submission = bench.submission(bytes.byteLength, bytes);
      await overwrite(MIB + 5, Buffer.of(bytes[MIB + 5]! ^ 1));
      const service = await listener();
      const { told, hooks } = noted();
      await assert.rejects(bench.clientOf(service.url).createRun(submission, hooks), CHANGED);
      assert.deepEqual(told, []);
      assert.ok(!service.received().includes(CLOSING.trim()));
    });

    for (const [name, change, code] of [
      ['is changed ahead of the reader', () => overwrite(MANY - 1, Buffer.from('xy').subarray(1)), 'changed'],
      [
        'becomes shorter and long again',
        async () => {
          await truncate(bench.file, MANY - 100);
          await truncate(bench.file, MANY);
          await restoreTimes();
        },
        'changed',
      ],
      ['grows', () => appendFile(bench.file, 'x').then(restoreTimes), 'grew'],
      ['becomes shorter', () => truncate(bench.file, MANY - 1).then(restoreTimes), 'shrank'],
      [
        'is changed behind the reader',
        () => appendFile(bench.file, '').then(() => utimes(bench.file, 1, 1)),
        'changed',
      ],
    ] as const) {
      it(`from a file that ${name} meanwhile`, async () => {
        const bytes = await bench.dataset(MANY);
        await overwrite(MANY - 1, Buffer.from('x'));
        bytes[MANY - 1] = 'x'.charCodeAt(0);
        const service = await bench.standstill();
        const { told, hooks } = noted();
        const result = assert.rejects(
          bench.clientOf(service.url).createRun(bench.submission(MANY, bytes), hooks),
          { code: 'dataset-changed', change: code },
        );
        await service.standing;
        await change();
        service.resume();
        await result;
        assert.deepEqual(told, []);
        assert.ok(!service.last().includes(CLOSING.trim()));
        assert.equal(bench.openDescriptors(), 0);
      });
    }
  });

  for (const [name, change] of [
    ['loses its name', () => rm(bench.file)],
    [
      'is replaced by another',
      async () => {
        await writeFile(path.join(bench.folder, 'other'), Buffer.alloc(MANY));
        await rename(path.join(bench.folder, 'other'), bench.file);
      },
    ],
    ['is changed where it was sent already, its times as before', () => overwrite(0, Buffer.from('changed'))],
  ] as const) {
    it(`sends the bytes expected of a file that ${name} meanwhile`, async () => {
      const bytes = await bench.dataset(MANY);
      await restoreTimes();
      const service = await bench.standstill();
      const { told, hooks } = noted();
      const run = bench.clientOf(service.url).createRun(bench.submission(MANY, bytes), hooks);
      await service.standing;
      await change();
      service.resume();
      assert.deepEqual(await run, CREATED);
      assert.deepEqual(told, ['beforeClose', 'onClosed']);
    });
  }

  describe('fails before the closing boundary when its thread', () => {
    for (const [name, source] of [
      ['has no script', undefined],
      ['is broken', 'this is no JavaScript'],
      ['dies at its start', 'throw new Error("on purpose")'],
      ['ends at its start', ''],
      ['dies at the first piece', workerThat('process.exit(1);')],
      ['throws in the middle', workerThat('if (pieces === 3) throw new Error("on purpose");')],
      ['ends quietly in the middle', workerThat('if (pieces === 3) { process.exit(0); }')],
      ['dies before it tells the digest', workerThat('if (piece === null) process.exit(0);')],
    ] as const) {
      it(name, async () => {
        const bytes = await bench.dataset(6 * MIB);
        const digestWorker =
          source === undefined ? path.join(bench.folder, 'missing.mjs') : await worker(source);
        const service = await bench.receiver();
        const { told, hooks } = noted();
        const client = bench.clientOf(service.url, { digestWorker });
        await assert.rejects(client.createRun(bench.submission(bytes.byteLength, bytes), hooks), {
          code: 'digest-failed',
        });
        assert.deepEqual([told, service.bodies], [[], []]);
        assert.equal(bench.openDescriptors(), 0);
      });
    }

    it('was never told of', async () => {
      const bytes = await bench.dataset(10);
      const service = await bench.receiver();
      for (const digestWorker of [null, '', 'not/absolute.mjs']) {
        const client = bench.clientOf(service.url, { digestWorker });
        await assert.rejects(client.createRun(bench.submission(10, bytes)), { code: 'digest-failed' });
      }
      assert.deepEqual(service.bodies, []);
      assert.equal(bench.openDescriptors(), 0);
    });
  });

  it('delivers an answer that comes while the digest is awaited', async () => {
    const bytes = await bench.dataset(MIB);
    const digestWorker = await worker(workerThat(`if (piece === null) { ${NEVER} }`));
    const service = await bench.served(
      startHttpServer((request, response) => {
        let left = Number(request.headers['content-length']) - CLOSING.length;
        request.on('data', (chunk: Buffer) => {
          left -= chunk.byteLength;
          if (left === 0) sendJson(response, 402, { error: { code: 'insufficient_balance', message: 'no' } });
        });
      }),
    );
    const { told, hooks } = noted();
    const client = bench.clientOf(service.url, { digestWorker });
    await assert.rejects(client.createRun(bench.submission(MIB, bytes), hooks), {
      code: 'insufficient_balance',
    });
    await delay(20);
    assert.deepEqual(told, []);
    assert.equal(bench.openDescriptors(), 0);
  });

  describe('stops within half a second, leaving neither descriptor nor thread, when it is cancelled', () => {
    const LIMIT_MS = 500;
    const threads = () => readdirSync('/proc/self/task').length;
    let server: TestServer;
    let sockets: Set<Socket>;

    /** A server that reads what comes until `pausesAfter` bytes, and never says a word. */
    async function silent(pausesAfter = Infinity): Promise<void> {
      sockets = new Set();
      const raw: Server = createServer((socket) => {
        sockets.add(socket);
        let received = 0;
        socket.on('data', (chunk: Buffer) => {
          if ((received += chunk.byteLength) > pausesAfter) socket.pause();
        });
        socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      });
      server = await bench.served(listening(raw, 'http'));
    }

    /** Those of this process but the server's own. */
    const openHere = () => descriptors().length - sockets.size;

    const STAGES = ['handshake', 'proxy', 'sending', 'hashing', 'digest', 'beforeClose', 'pricing'] as const;

    async function cancelled(when: (typeof STAGES)[number]): Promise<void> {
      const bytes = await bench.dataset(MANY);
      const hang = { hashing: NEVER, digest: `if (piece === null) { ${NEVER} }` };
      const script = when in hang ? await worker(workerThat(hang[when as keyof typeof hang])) : undefined;
      await silent(when === 'sending' ? 1 : Infinity);
      const urls = {
        handshake: server.url.replace('http:', 'https:'),
        proxy: 'https://service.test',
      };
      const client = bench.clientOf(when in urls ? urls[when as keyof typeof urls] : server.url, {
        ...(script !== undefined && { digestWorker: script }),
        ...(when === 'proxy' && { env: { HTTPS_PROXY: server.url } }),
      });
      // undici and the pool of threads are there.
      const warm = new AbortController();
      setTimeout(() => warm.abort(), 100);
      await assert.rejects(
        bench.clientOf(server.url).createRun(bench.submission(MANY), { signal: warm.signal }),
        CancelledError,
      );
      for (const socket of sockets) socket.destroy();
      while (sockets.size > 0) await delay(1);
      const before = [openHere(), threads()];

      const stop = new AbortController();
      const reached = Promise.withResolvers<undefined>();
      const run = client.createRun(bench.submission(MANY, bytes), {
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
      const tookMs = performance.now() - startedMs;
      while (openHere() > before[0]! || threads() > before[1]!) {
        assert.ok(
          performance.now() - startedMs < LIMIT_MS,
          `${openHere() - before[0]!} descriptors, ${threads() - before[1]!} threads: ${descriptors().join()}`,
        );
        await delay(5);
      }
      assert.ok(tookMs < LIMIT_MS, `${tookMs} ms`);
      assert.equal(bench.openDescriptors(), 0);
    }

    for (const when of STAGES) it(`at the stage “${when}”`, () => cancelled(when));

    it('or was before', async () => {
      const bytes = await bench.dataset(10);
      await silent();
      const run = bench
        .clientOf(server.url)
        .createRun(bench.submission(10, bytes), { signal: AbortSignal.abort() });
      await assert.rejects(run, CancelledError);
      assert.equal(sockets.size, 0);
    });
  });

  it('refuses a pipe in the place of the file, and does not wait for it', async () => {
    execFileSync('mkfifo', [bench.file]);
    const service = await bench.receiver();
    await assert.rejects(bench.clientOf(service.url).createRun(bench.submission(0)), CHANGED);
    assert.equal(bench.openDescriptors(), 0);
  });
});
