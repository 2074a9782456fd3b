import assert from 'node:assert/strict';
import type http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Client, type ClientOptions } from '../../../../src/core/api/client.ts';
import { SYSTEM_CLOCK } from '../../../../src/core/base/clock.ts';
import { ServiceError } from '../../../../src/core/api/errors.ts';
import type { Timeouts } from '../../../../src/core/api/exchange.ts';
import { Transport } from '../../../../src/core/api/transport.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { sendJson, startHttpServer, startRawServer, type TestServer } from '../../../helpers/httpServer.ts';

const API_KEY = 'service_secret';
const BALANCE = { balance_cents: 5, currency: 'EUR' };

type Answer = (response: http.ServerResponse, request: http.IncomingMessage) => void;

describe('client', () => {
  let server: TestServer;
  let transport: Transport;
  let answer: Answer;
  let seen: { method?: string; url?: string; headers: http.IncomingHttpHeaders }[];
  let slept: number[];

  beforeEach(async () => {
    seen = [];
    slept = [];
    server = await startHttpServer((request, response) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers });
      answer(response, request);
    });
    transport = transportWith();
  });

  afterEach(async () => {
    transport.dispose();
    await server.close();
  });

  const json =
    (value: unknown, status = 200) =>
    (response: http.ServerResponse) =>
      sendJson(response, status, value);
  const text =
    (value: string, status = 200) =>
    (response: http.ServerResponse) =>
      response.writeHead(status).end(value);

  function transportWith(timeouts: Partial<Timeouts> = {}): Transport {
    return new Transport({ strictSsl: true, systemCertificates: true, env: {} }, { timeouts });
  }

  function client(options: ClientOptions = {}, baseUrl = server.url): Client {
    const sleep = (ms: number) => Promise.resolve(void slept.push(ms));
    return new Client({ baseUrl, apiKey: API_KEY, keyId: 'key-1' }, () => transport, {
      random: () => 0.5,
      clock: { ...SYSTEM_CLOCK, sleep },
      ...options,
    });
  }

  it('takes the API key out of every text that the service repeats it in', async () => {
    const echo = `a ${API_KEY} b`;
    const row = { run_id: 'r', status: echo, model_id: 'm', artifacts_available: true };
    answer = (response) =>
      response.end(JSON.stringify({ data: [row] }).replaceAll('service', '\\u0073ervice'));
    assert.equal((await client().listRuns()).data[0]?.status, 'a *** b');
    answer = json({ artifacts: [{ artifact_type: 'model', url: 'https://x.test/', filename: echo }] });
    assert.equal((await client().createArtifactDownloads('r'))[0]?.filename, 'a *** b');
  });

  it('tells the id of its API key', () => assert.equal(client().keyId, 'key-1'));

  it('changes no code and no id for an API key that happens to be a part of it', async () => {
    const short = new Client({ baseUrl: server.url, apiKey: 'key', keyId: 'key-1' }, () => transport);
    answer = json({ error: { code: 'invalid_api_key', message: 'no key' } }, 401);
    await assert.rejects(short.getBalance(), { code: 'invalid_api_key', serviceMessage: 'no ***' });
    answer = json({ run: { run_id: 'key-1', status: 'queued', model_id: 'monkey' } });
    assert.equal((await short.getRun('key-1')).run_id, 'key-1');
  });

  describe('the clock of the service', () => {
    const at = (date: string | undefined, status = 200) => {
      return (response: http.ServerResponse) => {
        response.sendDate = false;
        if (date !== undefined) response.setHeader('date', date);
        sendJson(response, status, status === 200 ? BALANCE : { error: { code: 'not_found', message: '' } });
      };
    };
    const clock = { ...SYSTEM_CLOCK, nowMs: () => Date.UTC(2026, 4, 1, 12, 0, 0) };

    it('is compared with this one at each answer, a refusal too', async () => {
      const one = client({ clock });
      assert.equal(one.clockSkewMs, undefined);
      answer = at('Fri, 01 May 2026 12:05:00 GMT');
      await one.getBalance();
      assert.equal(one.clockSkewMs, 300_000);
      answer = at('Fri, 01 May 2026 11:59:58 GMT', 404);
      await assert.rejects(one.getBalance());
      assert.equal(one.clockSkewMs, -2_000);
    });

    it('is not known where no answer tells it', async () => {
      for (const date of [undefined, 'soon', '-1']) {
        const one = client({ clock });
        answer = at(date);
        await one.getBalance();
        assert.equal(one.clockSkewMs, undefined);
      }
    });
  });

  describe('requests', () => {
    it('go to the six endpoints with the API key', async () => {
      answer = json({ data: [] });
      await client().listModels();
      await client().listRuns();
      await client({}, `${server.url}/prefix`).listRuns({ limit: 100, cursor: 'a+b/=&?ü' });
      answer = json({ run: { run_id: 'r', status: 'queued', model_id: 'm' } });
      await client().getRun('r');
      answer = json({ artifacts: [] });
      await client().createArtifactDownloads('r');
      answer = json(BALANCE);
      await client().getBalance();
      assert.deepEqual(
        seen.map(({ method, url }) => `${String(method)} ${String(url)}`),
        [
          'GET /api/v1/models',
          'GET /api/v1/runs',
          'GET /prefix/api/v1/runs?limit=100&cursor=a%2Bb%2F%3D%26%3F%C3%BC',
          'GET /api/v1/runs/r',
          'POST /api/v1/runs/r/artifacts/download',
          'GET /api/v1/balance',
        ],
      );
      for (const { headers } of seen) assert.equal(headers.authorization, `Bearer ${API_KEY}`);
      assert.equal(seen[4]?.headers['content-length'], '0');
    });

    it('percent-encode a run_id', async () => {
      answer = json({ run: { run_id: 'r', status: 'queued', model_id: 'm' } });
      await client().getRun('../balance?x#ü %2e');
      assert.equal(seen[0]?.url, '/api/v1/runs/..%2Fbalance%3Fx%23%C3%BC%20%252e');
    });

    it('are not sent for a run_id that would be another path', async () => {
      for (const id of ['', '.', '..', '\ud800']) {
        await assert.rejects(client().getRun(id), { code: 'not_found' });
        await assert.rejects(client().createArtifactDownloads(id), { code: 'not_found' });
      }
      assert.deepEqual(seen, []);
    });

    it('leave this machine over https alone', async () => {
      await assert.rejects(client({}, 'http://host.example').getBalance(), { causeCode: 'ERR_NOT_HTTPS' });
    });
  });

  describe('answers', () => {
    it('keep what the contract does not name, and read null like omitted', async () => {
      const row = {
        run_id: 'r',
        status: 'levitating',
        model_id: 'm',
        created_at: null,
        artifacts_available: true,
        extra: { a: 1 },
      };
      answer = json({ data: [row], next_cursor: null, has_more: false });
      const page = await client().listRuns();
      assert.deepEqual(page, { data: [{ ...row, created_at: undefined }], has_more: false, skipped: 0 });
    });

    it('leave out and count rows that cannot be read, never the page', async () => {
      const good = { run_id: 'r', status: 'queued', model_id: 'm', artifacts_available: false };
      const bad = [
        null,
        7,
        'x',
        [],
        {},
        { ...good, run_id: 5 },
        { ...good, run_id: '' },
        { ...good, status: null },
      ];
      answer = json({ data: [...bad, good], has_more: true, next_cursor: 'n' });
      assert.deepEqual(await client().listRuns(), {
        data: [good],
        next_cursor: 'n',
        has_more: true,
        skipped: 8,
      });

      const model = { model_id: 'm', name: 'M', provider: 'p', available: true, use_policy_url: null };
      answer = json({ data: [model, { ...model, model_id: '' }, { ...model, model_id: null }] });
      assert.deepEqual(await client().listModels(), {
        data: [{ ...model, use_policy_url: undefined }],
        skipped: 2,
      });

      const artifact = { artifact_type: 'model', url: 'https://s.test/a', expires_in: '1800', filename: 3 };
      answer = json({ artifacts: [artifact, { artifact_type: 'model' }] });
      assert.deepEqual(await client().createArtifactDownloads('r'), [
        { ...artifact, expires_in: undefined, filename: undefined },
      ]);
    });

    it('need nothing of a model but its model_id', async () => {
      const odd = { name: '', provider: 7, terms_url: 7 };
      for (const rest of [{}, odd, { name: null, provider: null }]) {
        answer = json({ data: [{ model_id: 'm', ...rest }] });
        const { data } = await client().listModels();
        const [{ model_id, name, provider, available } = assert.fail()] = data;
        assert.deepEqual([model_id, name, provider, available], ['m', 'm', '', true]);
      }
      for (const no of [false, null, 0, 1, 'false', 'no', 'yes', {}]) {
        answer = json({ data: [{ model_id: 'm', available: no }] });
        assert.equal((await client().listModels()).data[0]?.available, false, JSON.stringify(no));
      }
    });

    it('make optional fields of another type "not told"', async () => {
      const run = {
        run_id: 'r',
        status: 's',
        model_id: 'm',
        label: 5,
        plan: {},
        price_cents: '1',
        started_at: [],
        completed_at: false,
      };
      answer = json({ run });
      const detail = await client().getRun('r');
      assert.deepEqual(
        Object.values(detail).filter((value) => value !== undefined),
        ['r', 's', 'm'],
      );
      answer = json({ data: [{ run_id: 'r', status: 's', model_id: 'm' }], next_cursor: 5, has_more: 'yes' });
      assert.deepEqual(await client().listRuns(), {
        data: [{ run_id: 'r', status: 's', model_id: 'm', artifacts_available: false }],
        has_more: false,
        skipped: 0,
      });
    });

    it('are not poisoned by __proto__', async () => {
      answer = text('{"balance_cents":1,"currency":"EUR","__proto__":{"polluted":true}}');
      const balance = await client().getBalance();
      assert.equal(Object.getPrototypeOf(balance), Object.prototype);
      assert.equal('polluted' in balance, false);
    });

    for (const [name, reply, kind] of [
      ['a page', text('<!doctype html><p>Sign in'), 'html'],
      ['nothing', text(''), 'empty'],
      ['no content', text('', 204), 'empty'],
      ['half a JSON', text('{"balance_cents":'), 'broken-json'],
      [
        'packed JSON',
        (response: http.ServerResponse) => response.end(gzipSync(JSON.stringify(BALANCE))),
        'broken-json',
      ],
      ['another JSON', json([BALANCE]), 'wrong-shape'],
      ['null', json(null), 'wrong-shape'],
      ['an error body with 200', json({ error: { code: 'not_found', message: '' } }), 'wrong-shape'],
    ] as const) {
      it(`that are ${name} are a clear error`, async () => {
        answer = reply;
        await assert.rejects(client().getBalance(), { code: 'unexpected-answer', kind });
        assert.equal(seen.length, 1);
      });
    }

    it('that are endless are cut off', async () => {
      answer = (response) => {
        const chunk = Buffer.alloc(1024 * 1024, ' ');
        const more = () => {
          while (response.writable && response.write(chunk));
        };
        response.on('drain', more);
        more();
      };
      await assert.rejects(client().getBalance(), { kind: 'too-large' });
    });

    it('that lead elsewhere are not followed', async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        answer = (response) => response.writeHead(status, { location: '/api/v1/elsewhere' }).end();
        await assert.rejects(client().getBalance(), { kind: 'redirect', httpStatus: status });
      }
      assert.equal(seen.length, 5);
    });
  });

  describe('errors', () => {
    it('carry code, status and the words of the service', async () => {
      answer = json({ error: { code: 'not_found', message: 'No such\u0000 run\n.' } }, 404);
      await assert.rejects(client().getRun('r'), {
        code: 'not_found',
        known: true,
        httpStatus: 404,
        serviceMessage: 'No such run .',
      });
      answer = json({ error: { code: 'teapot' } }, 418);
      await assert.rejects(client().getBalance(), {
        code: 'teapot',
        known: false,
        httpStatus: 418,
        serviceMessage: '',
      });
    });

    it('never repeat the API key, and no more than 300 characters', async () => {
      answer = json(
        { error: { code: 'invalid_api_key', message: `Key ${API_KEY} ${'x'.repeat(295)}👍🏽` } },
        401,
      );
      await assert.rejects(client().getBalance(), (error) => {
        assert.ok(error instanceof ServiceError);
        assert.doesNotMatch(error.serviceMessage, /secret/);
        assert.ok(error.serviceMessage.startsWith('Key *** x') && error.serviceMessage.length <= 300);
        assert.ok(error.serviceMessage.isWellFormed());
        return true;
      });
    });

    it('never repeat the API key in their code, also in pieces that a plain line would join', async () => {
      const pieces = `${API_KEY.slice(0, 9)}\u200e${API_KEY.slice(9)}`;
      for (const echo of [API_KEY, `no_${API_KEY}_here`, pieces, `${'x'.repeat(295)}${pieces}`]) {
        answer = json({ error: { code: echo, message: echo } }, 400);
        await assert.rejects(client().getBalance(), (error) => {
          assert.ok(error instanceof ServiceError);
          assert.doesNotMatch(`${error.code} ${error.serviceMessage} ${String(error.stack)}`, /e_s/);
          return true;
        });
      }
    });

    it('without the body of the contract are told apart', async () => {
      for (const reply of [
        text('<h1>no</h1>', 403),
        text('', 403),
        json({ error: 'x' }, 403),
        json({ error: { code: 5 } }, 403),
      ]) {
        answer = reply;
        await assert.rejects(client().getBalance(), {
          code: 'unexpected-answer',
          kind: 'no-error-body',
          httpStatus: 403,
        });
      }
    });

    it('keep their status when their body is cut', async () => {
      answer = (response) => {
        response.writeHead(401, { 'content-length': 100 }).write('{"error"');
        setImmediate(() => response.destroy());
      };
      await assert.rejects(client().getBalance(), { kind: 'no-error-body', httpStatus: 401 });
    });
  });

  describe('network', () => {
    it('that refuses is told as such', async () => {
      await server.close();
      await assert.rejects(client().getBalance(), {
        code: 'network',
        reason: 'refused',
        causeCode: 'ECONNREFUSED',
      });
      assert.equal(slept.length, 3);
    });

    it('that cuts an answer is no answer', async () => {
      answer = (response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"balance_cents":5');
        setImmediate(() => response.destroy());
      };
      await assert.rejects(client().getBalance(), { code: 'network', reason: 'reset' });
      answer = (response) => {
        response.writeHead(200).write(JSON.stringify(BALANCE)); // chunked, and never ended
        setImmediate(() => response.destroy());
      };
      await assert.rejects(client().getBalance(), { code: 'network', reason: 'reset' });
    });

    it('that speaks something else is told as such', async () => {
      const raw = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
      await assert.rejects(client({}, raw.url).getBalance(), { code: 'network', reason: 'other' });
      await raw.close();
    });

    it('has time limits for connecting, the head and the body of an answer', async () => {
      transport = transportWith({ connectMs: 60, answerMs: 60, bodyMs: 60 });
      answer = () => undefined;
      await assert.rejects(client().getBalance(), { reason: 'answer-timeout' });
      answer = (response) => response.writeHead(200).write('{');
      await assert.rejects(client().getBalance(), { reason: 'answer-timeout' });
      assert.equal(seen.length, 2);
      const silent = await startRawServer(() => undefined);
      await assert.rejects(client({}, silent.url.replace('http', 'https')).getBalance(), {
        reason: 'connect-timeout',
      });
      await silent.close();
    });
  });

  describe('retries', () => {
    const unavailable: Answer = (response) => response.writeHead(503).end();

    it('repeat a GET with jitter until it works', async () => {
      answer = (response) =>
        seen.length < 4 ? response.writeHead(503).end() : sendJson(response, 200, BALANCE);
      assert.deepEqual(await client().getBalance(), BALANCE);
      assert.deepEqual(slept, [250, 500, 1000]);
    });

    it('end', async () => {
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

    it('wait for Retry-After by the clock of the one who says it', async () => {
      let nowMs = 0;
      const sleep = (ms: number) => Promise.resolve(void slept.push(ms)).then(() => void (nowMs += ms));
      const limited = { error: { code: 'rate_limited', message: '' } };
      answer = (response) =>
        seen.length > 1
          ? sendJson(response, 200, BALANCE)
          : sendJson(response, 429, limited, {
              date: 'Thu, 01 Jan 2015 00:00:00 GMT',
              'retry-after': 'Thu, 01 Jan 2015 00:00:07 GMT',
            });
      await client({ clock: { nowMs: () => nowMs, sleep } }).getBalance();
      assert.deepEqual(slept, [7250]);
    });

    it('do not wait for more than a minute, but tell', async () => {
      answer = (response) => response.writeHead(503, { 'retry-after': '61' }).end();
      await assert.rejects(client().getBalance(), { httpStatus: 503, retryAfterMs: 61_000 });
      assert.deepEqual(slept, []);
    });

    it('end at a cancel', async () => {
      const stop = new AbortController();
      answer = (response) => {
        unavailable(response, undefined as never);
        setImmediate(() => stop.abort());
      };
      // With the real clock: half a minute would pass otherwise.
      const patient = new Client({ baseUrl: server.url, apiKey: API_KEY, keyId: 'key-1' }, () => transport, {
        random: () => 60,
      });
      await assert.rejects(patient.getBalance({ signal: stop.signal }), CancelledError);
      assert.equal(seen.length, 1);
    });
  });

  it('sends at most so many requests at once, and lets a cancelled one out of the queue', async () => {
    let running = 0;
    let most = 0;
    const held: (() => void)[] = [];
    answer = (response) => {
      most = Math.max(most, ++running);
      held.push(() => {
        running--;
        sendJson(response, 200, BALANCE);
      });
    };
    const one = client({ maxConcurrent: 2 });
    const stop = new AbortController();
    const first = [one.getBalance(), one.getBalance()];
    const queued = [one.getBalance({ signal: stop.signal }), one.getBalance({ signal: stop.signal })];
    const last = one.getBalance();
    stop.abort();
    for (const cancelled of queued) await assert.rejects(cancelled, CancelledError);
    const all = Promise.all([...first, last]);
    while (held.length < 2) await delay(1);
    await delay(20); // long enough for a third to come, if it may
    const pump = setInterval(() => held.shift()?.(), 1);
    await all;
    clearInterval(pump);
    assert.equal(most, 2);
    assert.equal(seen.length, 3);
  });

  it('stops at once when it is cancelled, whether it waits for a head or a body', async () => {
    for (const reply of [
      () => undefined,
      (response: http.ServerResponse) => void response.writeHead(200).write('{'),
    ]) {
      const stop = new AbortController();
      const ended = new Promise<void>((resolve) => {
        answer = (response, request) => {
          reply(response);
          request.socket.on('close', () => resolve());
          setImmediate(() => stop.abort());
        };
      });
      await assert.rejects(client().getBalance({ signal: stop.signal }), CancelledError);
      await ended;
    }
    await assert.rejects(client().getBalance({ signal: AbortSignal.abort() }), CancelledError);
    assert.equal(seen.length, 2);
  });

  it('stops at once when it is cancelled while it connects', async () => {
    const silent = await startRawServer(() => undefined);
    const started = performance.now();
    const signal = AbortSignal.timeout(20);
    await assert.rejects(
      client({}, silent.url.replace('http', 'https')).getBalance({ signal }),
      CancelledError,
    );
    assert.ok(performance.now() - started < 2000);
    await silent.close();
  });

  it('keeps no connection when its transport is disposed', async () => {
    const closed = new Promise<void>((resolve) => {
      answer = (response, request) => {
        request.socket.on('close', () => resolve());
        sendJson(response, 200, BALANCE);
      };
    });
    await client().getBalance();
    const started = performance.now();
    transport.dispose();
    await closed;
    assert.ok(performance.now() - started < 2000);
  });

  it('lets what is under way end when its transport is replaced', async () => {
    const old = transport;
    answer = (response) => {
      old.dispose();
      transport = transportWith();
      setImmediate(() => sendJson(response, 200, BALANCE));
    };
    assert.deepEqual(await client().getBalance(), BALANCE);
    for (const method of ['GET', 'POST'] as const)
      await assert.rejects(old.send({ method, url: new URL(server.url), headers: {} }), { code: 'network' });
  });
});
