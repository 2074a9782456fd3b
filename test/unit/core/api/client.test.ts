import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client, type ClientOptions } from '../../../../src/core/api/client.ts';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import type { Timeouts } from '../../../../src/core/api/exchange.ts';
import { Transport } from '../../../../src/core/api/transport.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { sha256Of } from '../../../helpers/api/support.ts';
import { sendJson, startHttpServer, startRawServer, type TestServer } from '../../../helpers/httpServer.ts';

const API_KEY = 'service_secret';
const BALANCE = { balance_cents: 5, currency: 'EUR' };
const RUN = { run_id: 'r', status: 'queued', model_id: 'm' };

type Answer = (response: http.ServerResponse, request: http.IncomingMessage) => void;

describe('Client', () => {
  let server: TestServer;
  let transport: Transport;
  let answer: Answer;
  let seen: { call: string; headers: http.IncomingHttpHeaders }[];
  let slept: number[];
  let nowMs: number;

  beforeEach(async () => {
    [seen, slept, nowMs] = [[], [], Date.UTC(2031, 0, 1)];
    answer = fine;
    server = await startHttpServer((request, response) => {
      seen.push({ call: `${String(request.method)} ${String(request.url)}`, headers: request.headers });
      answer(response, request);
    });
    transport = transportWith();
  });

  afterEach(async () => {
    transport.dispose();
    await server.close();
  });

  const json =
    (value: unknown, status = 200, headers: http.OutgoingHttpHeaders = {}): Answer =>
    (response) =>
      sendJson(response, status, value, headers);
  const text =
    (value: string, status = 200, headers: http.OutgoingHttpHeaders = {}): Answer =>
    (response) =>
      response.writeHead(status, headers).end(value);
  /** Starts a response, then drops the connection. */
  const cut =
    (status: number, head: http.OutgoingHttpHeaders, start: string): Answer =>
    (response) => {
      response.writeHead(status, head).write(start);
      setImmediate(() => response.destroy());
    };
  const fine = json({ ...BALANCE, data: [], artifacts: [], run: RUN });
  const refusal = (code: string, message = '') => ({ error: { code, message } });

  function transportWith(timeouts: Partial<Timeouts> = {}): Transport {
    return new Transport({ strictSsl: true, systemCertificates: true, env: {} }, { timeouts });
  }

  /** Returns a client whose clock advances only when it sleeps. */
  function client(options: ClientOptions = {}, baseUrl = server.url, apiKey = API_KEY): Client {
    const sleep = (ms: number) => {
      slept.push(ms);
      nowMs += ms;
      return Promise.resolve();
    };
    return new Client({ baseUrl, apiKey, keyId: 'key-1' }, () => transport, {
      random: () => 0.5,
      clock: { nowMs: () => nowMs, sleep },
      ...options,
    });
  }

  describe('requests', () => {
    it('use the endpoints of the contract and the API key', async () => {
      const one = client();
      await one.listModels();
      await one.listRuns();
      await client({}, `${server.url}/prefix`).listRuns({ limit: 100, cursor: 'a+b/=&?ü' });
      await one.getRun('../balance?x#ü %2e');
      await one.createArtifactDownloads('r');
      await one.getBalance();
      assert.deepEqual(
        seen.map(({ call }) => call),
        [
          'GET /api/v1/models',
          'GET /api/v1/runs',
          'GET /prefix/api/v1/runs?limit=100&cursor=a%2Bb%2F%3D%26%3F%C3%BC',
          'GET /api/v1/runs/..%2Fbalance%3Fx%23%C3%BC%20%252e',
          'POST /api/v1/runs/r/artifacts/download',
          'GET /api/v1/balance',
        ],
      );
      for (const { headers } of seen) assert.equal(headers.authorization, `Bearer ${API_KEY}`);
      assert.equal(seen[4]?.headers['content-length'], '0');
      assert.equal(one.keyId, 'key-1');
    });

    it('are not sent for a run_id that would change the path, or unencrypted to another machine', async () => {
      for (const id of ['', '.', '..', '\ud800']) {
        await assert.rejects(client().getRun(id), { code: 'not_found' });
        await assert.rejects(client().createArtifactDownloads(id), { code: 'not_found' });
      }
      await assert.rejects(client({}, 'http://host.example').getBalance(), { causeCode: 'ERR_NOT_HTTPS' });
      assert.deepEqual(seen, []);
    });
  });

  describe('the API key', () => {
    it('is removed from every text of a response', async () => {
      const echo = `a ${API_KEY} b`;
      const row = { ...RUN, status: echo };
      answer = text(JSON.stringify({ data: [row] }).replaceAll('service', '\\u0073ervice'));
      assert.equal((await client().listRuns()).data[0]?.status, 'a *** b');
      answer = json({ artifacts: [{ artifact_type: 'model', url: 'https://x.test/', filename: echo }] });
      assert.equal((await client().createArtifactDownloads('r'))[0]?.filename, 'a *** b');
    });

    it('is not in a currency either, in capitals; a long currency is dropped', async () => {
      for (const currency of [API_KEY, ` ${API_KEY}`, `${'x'.repeat(190)}${API_KEY}`]) {
        answer = json({ ...BALANCE, currency });
        assert.doesNotMatch((await client().getBalance()).currency, /service/i);
      }
    });

    it('is in no error, even in pieces that are joined when control characters are removed', async () => {
      const pieces = `${API_KEY.slice(0, 9)}\u200e${API_KEY.slice(9)}`;
      for (const echo of [API_KEY, `no_${API_KEY}_here`, pieces, `${'x'.repeat(295)}${pieces}`]) {
        answer = json(refusal(echo, echo), 400);
        await assert.rejects(client().getBalance(), (error) => {
          assert.ok(error instanceof ServiceError);
          assert.doesNotMatch(`${error.code} ${error.serviceMessage} ${String(error.stack)}`, /e_s/);
          return true;
        });
      }
    });

    it('does not change codes and IDs that contain it', async () => {
      const short = client({}, server.url, 'key');
      answer = json(refusal('invalid_api_key', 'no key'), 401);
      await assert.rejects(short.getBalance(), { code: 'invalid_api_key', serviceMessage: 'no ***' });
      answer = json({ run: { ...RUN, run_id: 'key-1', model_id: 'monkey' } });
      assert.equal((await short.getRun('key-1')).run_id, 'key-1');
    });
  });

  it('compares the clocks at each response of the service with a date', async () => {
    const at = (date: string | undefined, status = 200): Answer => {
      return (response) => {
        response.sendDate = false;
        if (date !== undefined) response.setHeader('date', date);
        sendJson(response, status, status === 200 ? BALANCE : refusal('not_found'));
      };
    };
    nowMs = Date.UTC(2026, 4, 1, 12, 0, 0);
    const one = client();
    assert.equal(one.clockSkewMs, undefined);
    answer = at('Fri, 01 May 2026 12:05:00 GMT');
    await one.getBalance();
    assert.equal(one.clockSkewMs, 300_000);
    answer = at('Fri, 01 May 2026 11:59:58 GMT', 404);
    await assert.rejects(one.getBalance());
    assert.equal(one.clockSkewMs, -2_000);
    answer = text('<html>', 502, { date: 'Fri, 01 May 2026 12:05:00 GMT' });
    await assert.rejects(one.getBalance({ isBackground: true }));
    assert.equal(one.clockSkewMs, -2_000);
    for (const date of [undefined, 'soon', '-1']) {
      answer = at(date);
      await one.getBalance();
      assert.equal(one.clockSkewMs, undefined);
    }
  });

  describe('responses', () => {
    it('omit fields that the contract does not name, and treat null as omitted', async () => {
      const row = { ...RUN, status: 'new', created_at: null, artifacts_available: true };
      answer = json({ data: [{ ...row, extra: { a: 1 } }], next_cursor: null, has_more: false });
      assert.deepEqual(await client().listRuns(), {
        data: [{ ...row, created_at: undefined }],
        has_more: false,
        skipped: 0,
      });
    });

    it('omit and count unreadable rows', async () => {
      const good = { ...RUN, artifacts_available: false };
      const changes = [{ run_id: 5 }, { run_id: '' }, { status: null }];
      const bad = [null, 7, 'x', [], {}, ...changes.map((change) => ({ ...good, ...change }))];
      answer = json({ data: [...bad, good], has_more: true, next_cursor: 'n' });
      const page = { data: [good], next_cursor: 'n', has_more: true, skipped: 8 };
      assert.deepEqual(await client().listRuns(), page);

      const model = { model_id: 'm', name: 'M', provider: 'p', available: true, use_policy_url: null };
      answer = json({ data: [model, { ...model, model_id: '' }, { ...model, model_id: null }] });
      const read = { data: [{ ...model, use_policy_url: undefined }], skipped: 2 };
      assert.deepEqual(await client().listModels(), read);

      const artifact = { artifact_type: 'model', url: 'https://s.test/a', expires_in: '1800', filename: 3 };
      answer = json({ artifacts: [artifact, { artifact_type: 'model' }] });
      const plain = { ...artifact, expires_in: undefined, filename: undefined };
      assert.deepEqual(await client().createArtifactDownloads('r'), [plain]);
    });

    it('are incomplete if a page has more than 5,000 rows, whatever they are', async () => {
      const rows = (count: number) => `{"data":[${'[],'.repeat(count - 1)}${JSON.stringify(RUN)}]}`;
      answer = text(rows(5_000));
      const all = await client().listRuns();
      assert.deepEqual([all.data.length, all.skipped, all.has_more], [1, 4_999, false]);
      for (const cursor of ['', '"next_cursor":"n","has_more":false,']) {
        answer = text(rows(5_001).replace('{', `{${cursor}`));
        assert.deepEqual(await client().listRuns(), { data: [], has_more: true, skipped: 5_001 });
      }
      answer = text(rows(5_001));
      assert.deepEqual(await client().listModels(), { data: [], skipped: 5_001 });
      answer = text(rows(5_001).replace('data', 'artifacts'));
      assert.deepEqual(await client().createArtifactDownloads('r'), []);
    });

    it('may have 2 MB of any content, which is parsed fast', async () => {
      const size = 2 * 1024 * 1024;
      const filled = (start: string, unit: string, end: string, bytes = size) => {
        const body = start + unit.repeat((bytes - start.length - end.length) / unit.length);
        return body + end.padStart(bytes - body.length);
      };
      const list = '{"data":[';
      for (const [start, unit, end, isRead = true] of [
        [list, '1,', '1]}'],
        [list, '[],', '1]}'],
        [list, '{},', '1]}'],
        [list, '{"run_id":"r"},', '1]}'],
        [list, '[', '', false],
        [`${list}${'['.repeat(900_000)}`, ']', ']}', false],
        ['{"data":[],"x":"', 'x', '"}'],
        ['{"data":[]', ',"":1', '}'],
      ] as const) {
        answer = text(filled(start, unit, end));
        if (isRead) assert.deepEqual((await client().listRuns()).data, [], unit);
        else await assert.rejects(client().listRuns(), { code: 'unexpected-response' }, unit);
      }
      for (const call of ['listRuns', 'listModels', 'getBalance'] as const) {
        answer = text(filled(list, ' ', ']}', size + 1));
        await assert.rejects(client()[call](), { kind: 'too-large' });
      }
      for (const call of ['getRun', 'createArtifactDownloads'] as const)
        await assert.rejects(client()[call]('r'), { kind: 'too-large' });
    });

    it('require only the model_id of a model', async () => {
      for (const rest of [{}, { name: '', provider: 7, terms_url: 7 }, { name: null, provider: null }]) {
        answer = json({ data: [{ model_id: 'm', ...rest }] });
        const [{ model_id, name, provider, available } = assert.fail()] = (await client().listModels()).data;
        assert.deepEqual([model_id, name, provider, available], ['m', 'm', '', true]);
      }
      for (const no of [false, null, 0, 1, 'false', 'yes', {}]) {
        answer = json({ data: [{ model_id: 'm', available: no }] });
        assert.equal((await client().listModels()).data[0]?.available, false, JSON.stringify(no));
      }
    });

    it('omit optional fields of another type', async () => {
      const odd = { label: 5, plan: {}, price_cents: '1', started_at: [], completed_at: false };
      answer = json({ run: { ...RUN, ...odd } });
      const detail = Object.values<unknown>(await client().getRun('r')).filter(
        (value) => value !== undefined,
      );
      assert.deepEqual(detail, ['r', 'queued', 'm']);
      const runs = [RUN, { ...RUN, artifacts_available: 'yes' }];
      answer = json({ data: runs, next_cursor: 5, has_more: 'yes' });
      const read = { ...RUN, artifacts_available: false };
      const page = { data: [read, read], has_more: false, skipped: 0 };
      assert.deepEqual(await client().listRuns(), page);
    });

    it('have prices that are safe integers from 0, else as if not provided, and comparable currency codes', async () => {
      const priceOf = async (written: string) => {
        answer = text(JSON.stringify({ run: { ...RUN, price_cents: 7 } }).replace(':7', `:${written}`));
        return (await client().getRun('r')).price_cents;
      };
      for (const price of ['0', '100', '9007199254740991']) assert.equal(await priceOf(price), Number(price));
      for (const odd of ['1e999', '1e300', '9007199254740992', '-100', '-1', '0.5', '-1e300', '"5"', 'true'])
        assert.equal(await priceOf(odd), undefined, odd);
      for (const odd of ['-1e999', '1e300', '-9007199254740992']) {
        answer = text(`{"balance_cents":${odd},"currency":"USD"}`);
        await assert.rejects(client().getBalance(), { kind: 'wrong-shape' });
      }
      answer = json({ balance_cents: -5, currency: 'USD' });
      assert.equal((await client().getBalance()).balance_cents, -5);
      answer = json({ balance_cents: 5, currency: ' usd\n' });
      assert.deepEqual(await client().getBalance(), { balance_cents: 5, currency: 'USD' });
    });

    it('that violate the contract are errors with a kind, without a retry', async () => {
      const endless: Answer = (response) => {
        const chunk = Buffer.alloc(1024 * 1024, ' ');
        const more = () => {
          while (response.writable && response.write(chunk));
        };
        response.on('drain', more);
        more();
      };
      const packed: Answer = (response) => response.end(gzipSync(JSON.stringify(BALANCE)));
      for (const [reply, kind, httpStatus = 200] of [
        [text('<!doctype html><p>Sign in'), 'html'],
        [text(''), 'empty'],
        [text('', 204), 'empty', 204],
        [text('{"balance_cents":'), 'broken-json'],
        [packed, 'broken-json'],
        [json([BALANCE]), 'wrong-shape'],
        [json(null), 'wrong-shape'],
        [json(refusal('not_found')), 'wrong-shape'],
        [endless, 'too-large'],
        ...[301, 302, 303, 307, 308].map(
          (status) => [text('', status, { location: '/api/v1/elsewhere' }), 'redirect', status] as const,
        ),
        [text('<h1>no</h1>', 403), 'no-error-body', 403],
        [text('', 403), 'no-error-body', 403],
        [json({ error: 'x' }, 403), 'no-error-body', 403],
        [json({ error: { code: 5 } }, 403), 'no-error-body', 403],
        // The status of an error is known even if its body is cut off.
        [cut(401, { 'content-length': 100 }, '{"error"'), 'no-error-body', 401],
      ] as const) {
        answer = reply;
        seen = [];
        await assert.rejects(client().getBalance(), { code: 'unexpected-response', kind, httpStatus });
        assert.equal(seen.length, 1);
      }
    });

    it('with the contract’s errors provide code, status, and at most 300 characters of the message', async () => {
      answer = json(refusal('not_found', 'No such\u0000 run\n.'), 404);
      const known = { code: 'not_found', isKnown: true, httpStatus: 404, serviceMessage: 'No such run .' };
      await assert.rejects(client().getRun('r'), known);
      answer = json({ error: { code: 'teapot' } }, 418);
      const other = { code: 'teapot', isKnown: false, httpStatus: 418, serviceMessage: '' };
      await assert.rejects(client().getBalance(), other);
      answer = json(refusal('invalid_api_key', `Key ${API_KEY} ${'x'.repeat(295)}👍🏽`), 401);
      await assert.rejects(client().getBalance(), ({ serviceMessage }: ServiceError) => {
        assert.ok(serviceMessage.startsWith('Key *** x') && serviceMessage.length <= 300);
        return serviceMessage.isWellFormed();
      });
    });
  });

  describe('the network', () => {
    it('reports a reason if it refuses, cuts off a response, or speaks another protocol', async () => {
      answer = cut(200, { 'content-length': 100 }, '{"balance_cents":5');
      await assert.rejects(client().getBalance(), { code: 'network', reason: 'reset' });
      answer = cut(200, {}, JSON.stringify(BALANCE)); // chunked, and never ended
      await assert.rejects(client().getBalance(), { code: 'network', reason: 'reset' });
      const raw = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
      await assert.rejects(client({}, raw.url).getBalance(), { code: 'network', reason: 'other' });
      await raw.close();
      await server.close();
      slept = [];
      await assert.rejects(client().getBalance(), { reason: 'refused', causeCode: 'ECONNREFUSED' });
      assert.equal(slept.length, 3);
    });

    it('has time limits for connecting, the head, and the body of a response', async () => {
      transport = transportWith({ answerMs: 500, bodyMs: 500 });
      for (const reply of [() => undefined, (response) => response.writeHead(200).write('{')] as Answer[]) {
        answer = reply;
        await assert.rejects(client().getBalance(), { reason: 'answer-timeout' });
      }
      assert.equal(seen.length, 2);
      transport = transportWith({ connectMs: 60 });
      const silent = await startRawServer(() => undefined);
      const tls = client({}, silent.url.replace('http', 'https'));
      await assert.rejects(tls.getBalance(), { reason: 'connect-timeout' });
      await silent.close();
    });
  });

  describe('retries', () => {
    const unavailable = text('', 503);

    it('repeat a GET with jitter, four times in total', async () => {
      answer = (...both) => (seen.length < 4 ? unavailable : json(BALANCE))(...both);
      assert.deepEqual(await client().getBalance(), BALANCE);
      assert.deepEqual(slept, [250, 500, 1000]);
      seen = [];
      answer = unavailable;
      await assert.rejects(client().getBalance(), { httpStatus: 503 });
      assert.equal(seen.length, 4);
    });

    it('never repeat a POST', async () => {
      answer = unavailable;
      await assert.rejects(client().createArtifactDownloads('r'), { httpStatus: 503 });
      answer = (response) => response.destroy();
      await assert.rejects(client().createArtifactDownloads('r'), { code: 'network' });
      assert.equal(seen.length, 2);
    });

    it('read Retry-After by the sender’s clock', async () => {
      const headers = {
        date: 'Thu, 01 Jan 2015 00:00:00 GMT',
        'retry-after': 'Thu, 01 Jan 2015 00:00:07 GMT',
      };
      answer = (...both) => (seen.length > 1 ? fine : json(refusal('rate_limited'), 429, headers))(...both);
      await client().getBalance();
      assert.deepEqual(slept, [7250]);
    });

    it('never wait for more than a minute', async () => {
      answer = text('', 503, { 'retry-after': '61' });
      await assert.rejects(client().getBalance(), { httpStatus: 503, retryAfterMs: 61_000 });
      assert.deepEqual(slept, []);
    });

    it('end when canceled', async () => {
      const stop = new AbortController();
      answer = (...both) => {
        unavailable(...both);
        setImmediate(() => stop.abort());
      };
      // With the real clock, which would otherwise sleep for half a minute.
      const patient = new Client({ baseUrl: server.url, apiKey: API_KEY, keyId: 'key-1' }, () => transport, {
        random: () => 60,
      });
      await assert.rejects(patient.getBalance({ signal: stop.signal }), CancelledError);
      assert.equal(seen.length, 1);
    });
  });

  describe('after the service asked you to wait', () => {
    const DAY = 24 * 60 * 60_000;
    let one: Client;
    beforeEach(() => (one = client()));

    /** Makes the service refuse one background call. */
    async function refused(headers: http.OutgoingHttpHeaders, status = 429): Promise<void> {
      answer = json(refusal('rate_limited'), status, headers);
      await assert.rejects(one.getBalance({ isBackground: true }), { httpStatus: status });
      answer = fine;
      seen = [];
    }

    it('delays every read, up to a minute', async () => {
      for (const [call, waitMs] of [
        [() => one.listRuns(), 30_250],
        [() => one.listModels(), 30_250],
        [() => one.getBalance(), 30_250],
        [() => one.createArtifactDownloads('r'), 30_000],
      ] as const) {
        await refused({ 'retry-after': '30' });
        slept = [];
        await call();
        assert.deepEqual([slept, seen.length], [[waitMs], 1]);
      }
    });

    it('throws with the remaining time if the wait is longer', async () => {
      await refused({ 'retry-after': '90' });
      nowMs += 20_000;
      for (const call of [
        () => one.listRuns(),
        () => one.getRun('r'),
        () => one.createArtifactDownloads('r'),
      ])
        await assert.rejects(call(), { code: 'rate_limited', httpStatus: 429, retryAfterMs: 70_000 });
      assert.deepEqual([slept, seen], [[], []]);
      nowMs += 70_000;
      await one.listRuns();
      assert.equal(seen.length, 1);
    });

    it('sends no submission before that time', async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'client-'));
      const file = path.join(folder, 'd.jsonl');
      const submission = {
        idempotencyKey: '00000000-0000-4000-8000-000000000000',
        boundary: 'b',
        dataset: { path: file, filename: 'd.jsonl', sizeBytes: 3, sha256: sha256Of(Buffer.from('{}\n')) },
        model_id: 'm',
        model_terms_accepted: true,
        data_policy_accepted: true,
        priority_processing: false,
      } as const;
      await refused({ 'retry-after': '1' });
      let closed = 0;
      const hooks = { onClosed: () => (closed += 1) };
      await assert.rejects(one.createRun(submission, hooks), { code: 'rate_limited', retryAfterMs: 1_000 });
      // The file was not opened either: it does not exist yet.
      assert.deepEqual([seen, slept, closed], [[], [], 0]);
      nowMs += 1_000;
      await writeFile(file, '{}\n');
      answer = (response, request) =>
        void request.resume().once('end', () => sendJson(response, 201, { run_id: 'r' }));
      assert.equal((await one.createRun(submission, hooks)).run_id, 'r');
      assert.equal(closed, 1);
      await rm(folder, { recursive: true });
    });

    it('waits after a 503 with Retry-After as after a 429, but not without one or after a 404', async () => {
      await refused({}, 503);
      await refused({ 'retry-after': '30' }, 404);
      assert.equal(one.notBeforeMs, undefined);
      await refused({ 'retry-after': '90' }, 503);
      assert.equal(one.notBeforeMs, nowMs + 90_000);
      await assert.rejects(one.getBalance(), { code: 'unavailable', retryAfterMs: 90_000 });
      nowMs += 90_000;
      await refused({ 'retry-after': '90' }, 429);
      await assert.rejects(one.getBalance(), { code: 'rate_limited', retryAfterMs: 90_000 });
    });

    for (const status of [429, 503])
      it(`limits a gateway's ${status} to five minutes, and the user may try anyway`, async () => {
        answer = text('<html>', status, { 'retry-after': '86400', 'content-type': 'text/html' });
        const limited = { httpStatus: status, retryAfterMs: 300_000 };
        await assert.rejects(one.getBalance(), limited);
        assert.equal(one.notBeforeMs, nowMs + 300_000);
        await assert.rejects(one.listRuns({}, { isBackground: true }), { retryAfterMs: 300_000 });
        assert.equal(seen.length, 1);
        await assert.rejects(one.listRuns(), limited);
        assert.equal(seen.length, 2);
        answer = fine;
        await one.createArtifactDownloads('r');
        assert.deepEqual([slept, seen.length], [[], 3]);
        nowMs += 300_000;
        await one.listRuns({}, { isBackground: true });
      });

    it('never shortens the wait, which ends if the clock is set back', async () => {
      const headers = () => ({ 'retry-after': seen.length === 1 ? '90' : '0' });
      answer = (...both) => json(refusal('rate_limited'), 429, headers())(...both);
      const calls = Array.from({ length: 2 }, () => one.getBalance({ isBackground: true }));
      assert.ok((await Promise.allSettled(calls)).every(({ status }) => status === 'rejected'));
      one.holdUntil(nowMs + 80_000, nowMs + 80_000);
      assert.equal(one.notBeforeMs, nowMs + 90_000);
      await assert.rejects(one.getBalance(), { retryAfterMs: 90_000 });
      for (const changeMs of [-DAY, DAY + 90_000]) {
        nowMs += changeMs;
        assert.equal(one.notBeforeMs, undefined);
      }
      assert.equal(seen.length, 2);
    });

    it('waits longer and longer without a Retry-After, until a call succeeds', async () => {
      const waits: number[] = [];
      for (let refusals = 0; refusals < 8; refusals++) {
        await refused({});
        waits.push((one.notBeforeMs ?? NaN) - nowMs);
        nowMs = one.notBeforeMs ?? NaN;
      }
      assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
      await one.getBalance();
      await refused({});
      assert.equal(one.notBeforeMs, nowMs + 500);
    });

    it('delays foreground reads for ten minutes at most', async () => {
      await refused({ 'retry-after': String(DAY / 1_000) });
      await assert.rejects(one.getBalance(), { retryAfterMs: 600_000 });
      nowMs += 600_000;
      await one.getBalance();
      await assert.rejects(one.getBalance({ isBackground: true }), { retryAfterMs: DAY - 600_000 });
    });

    it('adopts the wait of another window, up to a week', async () => {
      one.holdUntil(nowMs + 8 * DAY);
      assert.equal(one.notBeforeMs, undefined);
      one.holdUntil(nowMs + 61_000, nowMs + 61_000);
      await assert.rejects(one.getBalance(), { code: 'rate_limited', retryAfterMs: 61_000 });
      assert.deepEqual(seen, []);
    });
  });

  it('stops at once when canceled while connecting or waiting for a head or a body', async () => {
    for (const reply of [() => undefined, (response) => response.writeHead(200).write('{')] as Answer[]) {
      const stop = new AbortController();
      const ended = new Promise<void>((resolve) => {
        answer = (response, request) => {
          reply(response, request);
          request.socket.on('close', () => resolve());
          setImmediate(() => stop.abort());
        };
      });
      await assert.rejects(client().getBalance({ signal: stop.signal }), CancelledError);
      await ended;
    }
    await assert.rejects(client().getBalance({ signal: AbortSignal.abort() }), CancelledError);
    assert.equal(seen.length, 2);
    const silent = await startRawServer(() => undefined);
    const started = performance.now();
    const connecting = client({}, silent.url.replace('http', 'https'));
    await assert.rejects(connecting.getBalance({ signal: AbortSignal.timeout(20) }), CancelledError);
    assert.ok(performance.now() - started < 60_000);
    await silent.close();
  });

  it('closes its connections when its transport is disposed, but finishes requests in progress', async () => {
    const old = transport;
    const closed = new Promise<void>((resolve) => {
      answer = (response, request) => {
        request.socket.on('close', () => resolve());
        old.dispose();
        transport = transportWith();
        setImmediate(() => sendJson(response, 200, BALANCE));
      };
    });
    assert.deepEqual(await client().getBalance(), BALANCE);
    const started = performance.now();
    await closed;
    assert.ok(performance.now() - started < 60_000);
    for (const method of ['GET', 'POST'] as const)
      await assert.rejects(old.send({ method, url: new URL(server.url), headers: {} }), { code: 'network' });
  });
});
