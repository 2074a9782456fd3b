import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '../../../../src/core/api/client.ts';
import { RateGate } from '../../../../src/core/api/rateGate.ts';
import { Transport } from '../../../../src/core/api/transport.ts';
import { sendJson, startHttpServer, type TestServer } from '../../../helpers/httpServer.ts';

const DAY = 24 * 60 * 60_000;

describe('RateGate', () => {
  let nowMs: number;
  let gate: RateGate;

  beforeEach(() => {
    nowMs = 10 * DAY;
    gate = new RateGate(() => nowMs);
  });

  it('is open at first, and closed for as long as it is told', () => {
    assert.deepEqual([gate.untilMs, gate.remainingMs], [undefined, 0]);
    gate.assertOpen(false);
    gate.close(5_000);
    assert.deepEqual([gate.untilMs, gate.remainingMs], [nowMs + 5_000, 5_000]);
    nowMs += 4_000;
    assert.throws(() => gate.assertOpen(false), {
      code: 'rate_limited',
      httpStatus: 429,
      retryAfterMs: 1_000,
    });
    nowMs += 1_000;
    gate.assertOpen(false);
    assert.equal(gate.untilMs, undefined);
  });

  it('is never closed for less than before', () => {
    gate.close(5_000);
    gate.close(0);
    gate.holdUntil(nowMs + 4_000);
    gate.close(undefined);
    assert.equal(gate.remainingMs, 5_000);
  });

  it('closes for longer and longer where no time is told, until a call passes', () => {
    const waits = Array.from({ length: 8 }, () => {
      gate.close(undefined);
      const { remainingMs } = gate;
      nowMs += remainingMs;
      return remainingMs;
    });
    assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
    gate.passed();
    gate.close(undefined);
    assert.equal(gate.remainingMs, 500);
  });

  it('holds reads that somebody waits for ten minutes at most', () => {
    gate.close(DAY);
    assert.deepEqual([gate.remainingMs, gate.readRemainingMs], [DAY, 600_000]);
    assert.throws(() => gate.assertOpen(true), { retryAfterMs: 600_000 });
    nowMs += 600_000;
    gate.assertOpen(true);
    assert.throws(() => gate.assertOpen(false), { retryAfterMs: DAY - 600_000 });
  });

  it('waits anew where the clock was set back, and no longer', () => {
    gate.close(5_000);
    nowMs -= DAY;
    assert.equal(gate.remainingMs, 5_000);
    nowMs += 5_000;
    assert.equal(gate.remainingMs, 0);
  });
});

describe('a client that was told to wait', () => {
  let server: TestServer;
  let transport: Transport;
  let folder: string;
  let nowMs: number;
  let slept: number[];
  let answer: (response: http.ServerResponse) => void;
  let asked: string[];
  let client: Client;

  const limited = (status: number, headers: http.OutgoingHttpHeaders) => (response: http.ServerResponse) =>
    sendJson(response, status, { error: { code: 'rate_limited', message: '' } }, headers);
  const fine = (response: http.ServerResponse) =>
    sendJson(response, 200, { balance_cents: 1, currency: 'EUR', data: [], artifacts: [] });

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'rate-gate-'));
    nowMs = Date.UTC(2031, 0, 1);
    slept = [];
    asked = [];
    answer = fine;
    server = await startHttpServer((request, response) => {
      asked.push(`${String(request.method)} ${String(request.url)}`);
      request.resume().once('end', () => answer(response));
    });
    transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
    client = new Client({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' }, () => transport, {
      random: () => 0.5,
      clock: {
        nowMs: () => nowMs,
        sleep: (ms) => {
          slept.push(ms);
          nowMs += ms;
          return Promise.resolve();
        },
      },
    });
  });
  afterEach(async () => {
    transport.dispose();
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** The service refuses one background call. */
  async function beTold(headers: http.OutgoingHttpHeaders, status = 429): Promise<void> {
    answer = limited(status, headers);
    await assert.rejects(client.getBalance({ isBackground: true }), { httpStatus: status });
    answer = fine;
    asked.length = 0;
  }

  for (const [name, call] of [
    ['lists', () => client.listRuns()],
    ['models', () => client.listModels()],
    ['balances', () => client.getBalance()],
  ] as const)
    it(`waits with ${name}, too, whoever was told`, async () => {
      await beTold({ 'retry-after': '30' });
      await call();
      assert.deepEqual([slept, asked.length], [[30_250], 1]);
    });

  it('waits with signed URLs', async () => {
    await beTold({ 'retry-after': '30' });
    await client.createArtifactDownloads('r');
    assert.deepEqual([slept, asked.length], [[30_000], 1]);
  });

  it('does not wait for more than a minute: it tells what remains, and sends nothing', async () => {
    await beTold({ 'retry-after': '90' });
    nowMs += 20_000;
    for (const call of [
      () => client.listRuns(),
      () => client.getRun('r'),
      () => client.createArtifactDownloads('r'),
    ])
      await assert.rejects(call(), { code: 'rate_limited', httpStatus: 429, retryAfterMs: 70_000 });
    assert.deepEqual([slept, asked], [[], []]);
    nowMs += 70_000;
    await client.listRuns();
    assert.equal(asked.length, 1);
  });

  it('does not wait with what nobody waits for', async () => {
    await beTold({ 'retry-after': '1' });
    await assert.rejects(client.listRuns({}, { isBackground: true }), {
      code: 'rate_limited',
      retryAfterMs: 1_000,
    });
    assert.deepEqual([slept, asked], [[], []]);
  });

  it('sends no submission before, and connects to nobody for it', async () => {
    const file = path.join(folder, 'd.jsonl');
    await writeFile(file, '{}\n');
    const submission = {
      idempotencyKey: '00000000-0000-4000-8000-000000000000',
      boundary: 'b',
      dataset: { path: file, filename: 'd.jsonl', sizeBytes: 3 },
      model_id: 'm',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    } as const;
    await beTold({ 'retry-after': '1' });
    let closed = 0;
    const hooks = { onClosed: () => (closed += 1) };
    await assert.rejects(client.createRun(submission, hooks), { code: 'rate_limited', retryAfterMs: 1_000 });
    assert.deepEqual([asked, slept, closed], [[], [], 0]);
    nowMs += 1_000;
    answer = (response) => sendJson(response, 201, { run_id: 'r' });
    assert.equal((await client.createRun(submission, hooks)).run_id, 'r');
    assert.equal(closed, 1);
  });

  it('waits a little after a 429 that tells no time', async () => {
    await beTold({});
    assert.equal(client.notBeforeMs, nowMs + 500);
    await assert.rejects(client.getBalance({ isBackground: true }), { retryAfterMs: 500 });
  });

  it('takes a 503 with Retry-After as it takes a 429, and one without as nothing', async () => {
    await beTold({ 'retry-after': '30' }, 503);
    assert.equal(client.notBeforeMs, nowMs + 30_000);
    nowMs += 30_000;
    await beTold({}, 503);
    assert.equal(client.notBeforeMs, undefined);
  });

  it('says why it waits: after a 503 the service is unavailable, not asked too often', async () => {
    await beTold({ 'retry-after': '90' }, 503);
    await assert.rejects(client.getBalance(), { code: 'unavailable', retryAfterMs: 90_000 });
    nowMs += 90_000;
    await beTold({ 'retry-after': '90' }, 429);
    await assert.rejects(client.getBalance(), { code: 'rate_limited', retryAfterMs: 90_000 });
  });

  for (const status of [429, 503])
    it(`waits five minutes at most for a gateway's ${status}, and a person may try anyway`, async () => {
      answer = (response) =>
        response.writeHead(status, { 'retry-after': '86400', 'content-type': 'text/html' }).end('<html>');
      await assert.rejects(client.getBalance(), { httpStatus: status, retryAfterMs: 300_000 });
      assert.equal(client.notBeforeMs, nowMs + 300_000);
      await assert.rejects(client.listRuns({}, { isBackground: true }), { retryAfterMs: 300_000 });
      assert.equal(asked.length, 1);
      await assert.rejects(client.listRuns(), { httpStatus: status, retryAfterMs: 300_000 });
      assert.equal(asked.length, 2);
      answer = fine;
      await client.createArtifactDownloads('r');
      assert.deepEqual([slept, asked.length], [[], 3]);
      nowMs += 300_000;
      await client.listRuns({}, { isBackground: true });
    });

  it('takes no word of a refusal that waiting does not change', async () => {
    await beTold({ 'retry-after': '30' }, 404);
    assert.equal(client.notBeforeMs, undefined);
  });

  it('learns from another window what it was told, but of nothing more than a week away', async () => {
    client.holdUntil(nowMs + 8 * DAY);
    assert.equal(client.notBeforeMs, undefined);
    client.holdUntil(nowMs + 61_000, nowMs + 61_000);
    await assert.rejects(client.getBalance(), { code: 'rate_limited', retryAfterMs: 61_000 });
    assert.deepEqual(asked, []);
  });
});
