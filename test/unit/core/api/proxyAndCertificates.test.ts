import assert from 'node:assert/strict';
import type http from 'node:http';
import { Client } from '../../../../src/core/api/client.ts';
import { Transport, type ProxySettings } from '../../../../src/core/api/transport.ts';
import { SYSTEM_CLOCK } from '../../../../src/core/base/clock.ts';
import { startConnectProxy, type ConnectProxy } from '../../../helpers/connectProxy.ts';
import { AUTHORITY_FILE, sendJson, startHttpsServer, type TestServer } from '../../../helpers/httpServer.ts';
import { runChild } from '../../../helpers/runChild.ts';

const BALANCE = { balance_cents: 1234, currency: 'EUR' };
const TRUSTED = { SSL_CERT_FILE: AUTHORITY_FILE };

describe('proxy and certificates', function () {
  let service: TestServer;
  let requests: http.IncomingHttpHeaders[];
  const open: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    requests = [];
    service = await startHttpsServer((request, response) => {
      requests.push(request.headers);
      sendJson(response, 200, BALANCE);
    });
    open.push(service);
  });

  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  async function proxyWith(options: Parameters<typeof startConnectProxy>[0] = {}): Promise<ConnectProxy> {
    const proxy = await startConnectProxy(options);
    open.push(proxy);
    return proxy;
  }

  function balance(
    settings: Partial<ProxySettings>,
    env: Record<string, string> = TRUSTED,
    host = 'service.test',
  ) {
    return runChild(
      {
        kind: 'balance',
        connection: { baseUrl: `https://${host}:${service.port}`, apiKey: 'service_secret', keyId: 'key-1' },
        settings: { strictSsl: true, systemCertificates: true, env: {}, ...settings },
      },
      env,
    );
  }

  it('go through http.proxy, which sees neither API key nor path, with a system certificate', async () => {
    const proxy = await proxyWith();
    assert.deepEqual(await balance({ httpProxy: proxy.url }), { balance: BALANCE });
    assert.deepEqual(
      proxy.seen.map(({ target }) => target),
      [`service.test:${service.port}`],
    );
    assert.doesNotMatch(JSON.stringify(proxy.seen), /secret|api\/v1/);
    assert.deepEqual(proxy.clear, []);
    assert.equal(requests[0]?.authorization, 'Bearer service_secret');
    assert.equal(requests[0]['proxy-authorization'], undefined);
  });

  it('do not trust a private authority that the system does not have, and do not retry', async () => {
    const proxy = await proxyWith();
    const result = await balance({ httpProxy: proxy.url }, {});
    assert.equal(result['reason'], 'tls', JSON.stringify(result));
    assert.match(String(result['causeCode']), /^UNABLE_TO_/);
    assert.equal(proxy.seen.length, 1);
    assert.deepEqual(requests, []);
  });

  it('trust any certificate if http.proxyStrictSSL is off', async () => {
    const proxy = await proxyWith();
    assert.deepEqual(await balance({ httpProxy: proxy.url, strictSsl: false }, {}), { balance: BALANCE });
  });

  it('trust a system certificate also without a proxy, but not for another name', async () => {
    assert.deepEqual(await balance({}, TRUSTED, 'localhost'), { balance: BALANCE });
    const proxy = await proxyWith();
    const result = await balance({ httpProxy: proxy.url }, TRUSTED, 'stranger.test');
    assert.deepEqual(result, { reason: 'tls', causeCode: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('send the URL’s credentials to the proxy, percent-decoded', async () => {
    const authorization = `Basic ${Buffer.from('jo@x:p:ä%').toString('base64')}`;
    const proxy = await proxyWith({ authorization });
    const httpProxy = `http://jo%40x:p%3A%C3%A4%25@127.0.0.1:${proxy.port}`;
    assert.deepEqual(await balance({ httpProxy }), { balance: BALANCE });
    assert.equal(requests[0]?.['proxy-authorization'], undefined);
  });

  it('report wrong credentials as a proxy error, without a retry', async () => {
    const proxy = await proxyWith({ authorization: 'Basic right' });
    const httpProxy = `http://jo:wrong@127.0.0.1:${proxy.port}`;
    assert.deepEqual(await balance({ httpProxy }), { reason: 'proxy', causeCode: 'HTTP_407' });
    assert.equal(proxy.seen.length, 1);
  });

  it('support a TLS proxy with a system certificate', async () => {
    const proxy = await proxyWith({ tls: true });
    assert.deepEqual(await balance({ httpProxy: proxy.url }), { balance: BALANCE });
    assert.equal((await balance({ httpProxy: proxy.url }, {}))['reason'], 'tls');
    assert.equal(proxy.seen.length, 1);
  });

  it('do not bypass an invalid proxy', async () => {
    assert.equal((await balance({ httpProxy: 'socks5://127.0.0.1:1' }))['reason'], 'proxy');
    assert.deepEqual(requests, []);
  });

  it('do not blame the proxy for errors of the service', async () => {
    const proxy = await proxyWith();
    const broken = await startHttpsServer((request) => request.socket.destroy());
    open.push(broken);
    const transport = new Transport({
      httpProxy: proxy.url,
      strictSsl: false,
      systemCertificates: false,
      env: {},
    });
    const client = new Client(
      { baseUrl: `https://service.test:${broken.port}`, apiKey: 'k', keyId: 'key-1' },
      () => transport,
      { clock: { ...SYSTEM_CLOCK, sleep: () => Promise.resolve() } },
    );
    await assert.rejects(client.getBalance(), { code: 'network', reason: 'reset' });
    assert.equal(proxy.seen.length, 4);
    transport.dispose();
  });
});
