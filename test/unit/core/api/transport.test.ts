import assert from 'node:assert/strict';
import { resolveRoute, type ProxySettings } from '../../../../src/core/api/transport.ts';

describe('route', () => {
  const route = (settings: Partial<ProxySettings>, url = 'https://api.host.example') =>
    resolveRoute(new URL(url), { strictSsl: true, systemCertificates: true, env: {}, ...settings });
  const direct = { kind: 'direct' };
  const through = (url: string, source = 'http.proxy') => ({ kind: 'proxy', source, url });

  it('is direct without settings or with empty ones', () => {
    assert.deepEqual(route({}), direct);
    assert.deepEqual(
      route({ httpProxy: ' ', proxyAuthorization: '', noProxy: [], env: { HTTPS_PROXY: '' } }),
      direct,
    );
  });

  it('is always direct to this machine', () => {
    for (const url of ['http://127.0.0.1:1', 'http://localhost', 'https://[::1]'])
      assert.deepEqual(route({ httpProxy: 'http://p.example:1' }, url), direct);
  });

  it('prefers http.proxy over the environment, and HTTPS_PROXY over HTTP_PROXY', () => {
    const env = { HTTPS_PROXY: 'http://s.example:2', HTTP_PROXY: 'http://h.example:3' };
    assert.deepEqual(route({ httpProxy: 'http://p.example:1/', env }), through('http://p.example:1'));
    assert.deepEqual(route({ env }), through('http://s.example:2', 'HTTPS_PROXY'));
    assert.deepEqual(
      route({ env: { http_proxy: 'h.example:3' } }),
      through('http://h.example:3', 'http_proxy'),
    );
    assert.deepEqual(
      route({ env: { https_proxy: 'https://s.example' } }),
      through('https://s.example', 'https_proxy'),
    );
  });

  it('ignores NO_PROXY if http.noProxy is set', () => {
    const httpProxy = 'http://p.example:1';
    const env = { NO_PROXY: 'host.example' };
    assert.deepEqual(route({ httpProxy, env }), direct);
    assert.deepEqual(route({ httpProxy, env, noProxy: ['other.example'] }), through(httpProxy));
    assert.deepEqual(route({ httpProxy, env: { no_proxy: 'a, host.example' } }), direct);
  });

  it('bypasses the proxy for hosts in noProxy', () => {
    for (const [exception, url, isException] of [
      ['*', 'https://x.example', true],
      ['host.example', 'https://host.example', true],
      ['host.example', 'https://a.host.example', true],
      ['.host.example', 'https://host.example', true],
      ['*.host.example', 'https://a.host.example', true],
      [' HOST.example ', 'https://a.Host.example', true],
      ['host.example', 'https://ghost.example', false],
      ['ost.example', 'https://host.example', false],
      ['host.example:443', 'https://host.example', true],
      ['host.example:8443', 'https://host.example', false],
      ['host.example:8443', 'https://host.example:8443', true],
      ['10.0.0.1', 'https://10.0.0.1', true],
      ['[2001:db8::1]', 'https://[2001:db8::1]', true],
      ['2001:db8::1', 'https://[2001:db8::1]', true],
      ['[2001:db8::1]:1', 'https://[2001:db8::1]', false],
      ['', 'https://host.example', false],
      ['.', 'https://host.example', false],
    ] as const) {
      const { kind } = route({ httpProxy: 'http://p.example:1', noProxy: [exception] }, url);
      assert.equal(kind, isException ? 'direct' : 'proxy', `${exception} ${url}`);
    }
  });

  it('moves the credentials out of the URL', () => {
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const authorizationOf = (httpProxy: string, proxyAuthorization?: string) => {
      const found = route({ httpProxy, ...(proxyAuthorization && { proxyAuthorization }) });
      assert.ok(found.kind === 'proxy' && found.url === 'http://p.example:1');
      return found.authorization;
    };
    assert.equal(authorizationOf('http://jo:a%3Ab@p.example:1'), basic('jo:a:b'));
    assert.equal(authorizationOf('http://jo@p.example:1'), basic('jo:'));
    assert.equal(authorizationOf('http://jo:100%@p.example:1'), basic('jo:100%'));
    assert.equal(authorizationOf('http://jo:x@p.example:1', 'Negotiate z'), 'Negotiate z');
    assert.equal(authorizationOf('http://p.example:1', 'Negotiate z'), 'Negotiate z');
    assert.equal(authorizationOf('http://p.example:1'), undefined);
  });

  it('sends http.proxyAuthorization only to the proxy in VS Code’s setting', () => {
    const settings = { proxyAuthorization: 'Negotiate z', env: { HTTPS_PROXY: 'http://p.example:1' } };
    const toSetting = { ...through('http://q.example:1'), authorization: 'Negotiate z' };
    assert.deepEqual(route({ ...settings, httpProxy: 'q.example:1' }), toSetting);
    for (const httpProxy of ['', ' '])
      assert.deepEqual(route({ ...settings, httpProxy }), through('http://p.example:1', 'HTTPS_PROXY'));
  });

  it('is unusable, rather than direct, with an invalid proxy', () => {
    for (const httpProxy of ['socks5://p.example:1', 'http://', 'p.example:notaport', 'ftp://p.example'])
      assert.deepEqual(route({ httpProxy }), { kind: 'unusable', source: 'http.proxy' }, httpProxy);
  });
});
