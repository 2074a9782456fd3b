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
    const exception = (name: string) => ({ ...direct, exception: name });
    assert.deepEqual(route({ httpProxy, env }), exception('NO_PROXY'));
    assert.deepEqual(route({ env }), direct);
    assert.deepEqual(route({ httpProxy, env, noProxy: ['other.example'] }), through(httpProxy));
    assert.deepEqual(route({ httpProxy, noProxy: ['host.example'] }), exception('http.noProxy'));
    for (const list of ['a, host.example', 'a host.example b', 'a,,host.example', 'a;\thost.example\n'])
      assert.deepEqual(route({ httpProxy, env: { no_proxy: list } }), exception('no_proxy'), list);
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
      ['2001:DB8:0:0::1', 'https://[2001:db8::1]', true],
      ['10.0.0.0/8', 'https://10.200.3.4', true],
      ['10.0.0.0/8', 'https://11.0.0.1', false],
      ['10.1.2.3/24', 'https://10.1.2.200', true],
      ['10.1.2.0/23', 'https://10.1.4.1', false],
      ['10.1.2.0/24:8443', 'https://10.1.2.1', false],
      ['10.1.2.0/24:8443', 'https://10.1.2.1:8443', true],
      ['172.16.0.0/12', 'https://172.31.255.255', true],
      ['192.168.1.7/32', 'https://192.168.1.8', false],
      ['0.0.0.0/0', 'https://8.8.8.8', true],
      ['0.0.0.0/0', 'https://host.example', false],
      ['10.0.0.0/33', 'https://10.0.0.0', false],
      ['10.0.0.0/', 'https://10.0.0.0', false],
      ['10.0.0.0/8/8', 'https://10.0.0.0', false],
      ['10.0.0/8', 'https://10.0.0.0', false],
      ['fd00::/8', 'https://[fd12::1]', true],
      ['[fd00::]/8', 'https://[fd12::1]', true],
      ['fd00::/8', 'https://[fe80::1]', false],
      ['fd00::/129', 'https://[fd00::]', false],
      ['fd00::/8', 'https://10.0.0.1', false],
      ['10.1.2.*', 'https://10.1.2.77', true],
      ['*:8443', 'https://host.example', false],
      ['*:8443', 'https://host.example:8443', true],
      ['10.1.2.*', 'https://10.1.20.7', false],
      ['10.1.2.*', 'https://10.1.2.host.example', false],
      ['10.1.*', 'https://10.1.99.1', true],
      ['10.1.*.*', 'https://10.1.99.1', true],
      ['10.*:8443', 'https://10.1.99.1', false],
      ['1.1', 'https://10.0.1.1', false],
      ['10', 'https://10.0.0.10', false],
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
    assert.equal(authorizationOf('http://jo:a@b:c@p.example:1/'), basic('jo:a@b:c'));
    assert.equal(authorizationOf('DOMAIN\\jo:pass@p.example:1'), basic('DOMAIN\\jo:pass'));
    assert.equal(authorizationOf('http://DOMAIN\\jo:p\\s@p.example:1/'), basic('DOMAIN\\jo:p\\s'));
    assert.equal(authorizationOf('HTTP://DOMAIN%5Cjo:grün@p.example:1'), basic('DOMAIN\\jo:grün'));
    assert.equal(authorizationOf('http://@p.example:1'), undefined);
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
    const wrong = [
      'socks5://p.example:1',
      'http://',
      'p.example:notaport',
      'ftp://p.example',
      'http://jo:x@',
    ];
    // A URL parser takes another part of these for the host.
    const ambiguous = [
      'http://jo:8080/x@p.example:1',
      'jo:1#x@p.example',
      'jo:1?x@p.example',
      'http:/p.example',
    ];
    const slashes = [
      'http:\\\\p.example:1',
      'http://p.example\\@q.example\\x',
      'p.example\\x',
      'http:p.example:1',
    ];
    for (const httpProxy of [...wrong, ...ambiguous, ...slashes])
      assert.deepEqual(route({ httpProxy }), { kind: 'unusable', source: 'http.proxy' }, httpProxy);
  });
});
