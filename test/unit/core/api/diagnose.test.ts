import assert from 'node:assert/strict';
import { Client } from '../../../../src/core/api/client.ts';
import { diagnose } from '../../../../src/core/api/diagnose.ts';
import { NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import { type ProxySettings, Transport } from '../../../../src/core/api/transport.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { sendJson, startHttpServer, type TestServer } from '../../../helpers/httpServer.ts';

const DIRECT: ProxySettings = { strictSsl: true, systemCertificates: true, env: {} };
const NEVER = new AbortController().signal;

describe('diagnose', () => {
  let service: TestServer;
  let transport: Transport;
  let status: number | undefined;
  let requests: number;

  beforeEach(async () => {
    [status, requests] = [200, 0];
    transport = new Transport(DIRECT);
    service = await startHttpServer((_request, response) => {
      requests += 1;
      const date = new Date(Date.now() + 3_600_000).toUTCString();
      const answer = { balance_cents: 1, currency: 'EUR', error: { code: 'rate_limited' } };
      if (status !== undefined) sendJson(response, status, answer, { date });
    });
  });
  afterEach(async () => {
    transport.dispose();
    await service.close();
  });

  const clientOf = (baseUrl: string) =>
    new Client({ baseUrl, apiKey: 'service_x', keyId: 'k' }, () => transport);
  const nowhere: Parameters<typeof diagnose>[2] = {
    clockSkewMs: undefined,
    notBeforeMs: undefined,
    getBalance: () => Promise.reject(new NetworkError('refused')),
  };
  const at = (host: string, settings: Partial<ProxySettings> = {}) =>
    diagnose(new URL(`https://${host}`), { ...DIRECT, ...settings }, nowhere, NEVER);

  it('sends one request, whatever the response, and determines the service’s clock', async () => {
    for (const [code, isError] of [
      [200, false],
      [429, true],
      [503, true],
    ] as const) {
      [status, requests] = [code, 0];
      const facts = await diagnose(new URL(service.url), DIRECT, clientOf(service.url), NEVER);
      assert.deepEqual([requests, facts.wasSent, facts.error !== undefined], [1, true, isError]);
      assert.ok(Math.abs((facts.clockSkewMs ?? 0) - 3_600_000) < 3_000, String(facts.clockSkewMs));
    }
  });

  it('sends nothing during a wait for the service, or past an invalid proxy', async () => {
    const held = clientOf(service.url);
    held.holdUntil(Date.now() + 60_000);
    const facts = await diagnose(new URL(service.url), DIRECT, held, NEVER);
    assert.deepEqual([facts.wasSent, requests], [false, 0]);
    assert.ok(facts.error instanceof ServiceError && facts.error.code === 'rate_limited');
    const { route, wasSent, name } = await at('service.test', { httpProxy: 'socks5://proxy.test' });
    assert.deepEqual([route.kind, wasSent, name], ['unusable', false, undefined]);
  });

  it('resolves the name only without a proxy, and not if it is an address', async () => {
    assert.deepEqual((await at('does-not-exist.invalid')).name, { code: 'ENOTFOUND' });
    assert.equal((await at('does-not-exist.invalid', { httpProxy: 'http://proxy.test' })).name, undefined);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '192.0.2.1', '[2001:db8::1]'])
      assert.equal((await at(host)).name, undefined, host);
  });

  it('reports that a hanging service was connected', async () => {
    transport.dispose();
    transport = new Transport(DIRECT, { timeouts: { connectMs: 5_000, answerMs: 50 } });
    status = undefined;
    const { error } = await diagnose(new URL(service.url), DIRECT, clientOf(service.url), NEVER);
    assert.ok(error instanceof NetworkError && error.reason === 'answer-timeout');
  });

  it('ends at once when canceled', async () => {
    const stop = new AbortController();
    status = undefined;
    const running = diagnose(new URL(service.url), DIRECT, clientOf(service.url), stop.signal);
    stop.abort();
    await assert.rejects(running, CancelledError);
  });
});
