import assert from 'node:assert/strict';
import { isLoopback, isOpenableUrl, parseAddress } from '../../../../src/core/api/address.ts';

describe('address', () => {
  const understood: [typed: string, baseUrl: string][] = [
    ['https://host.example', 'https://host.example'],
    ['  https://host.example/  ', 'https://host.example'],
    ['HTTPS://Host.Example:443/', 'https://host.example'],
    ['host.example', 'https://host.example'],
    ['host.example:8443', 'https://host.example:8443'],
    ['localhost:8443', 'https://localhost:8443'],
    ['https://host.example/api/v1', 'https://host.example'],
    ['https://host.example/api/v1/', 'https://host.example'],
    ['https://host.example/api/v1/runs/abc', 'https://host.example'],
    ['host.example/tuning/api/v1/balance', 'https://host.example/tuning'],
    ['https://host.example/tuning//', 'https://host.example/tuning'],
    ['https://host.example/api/v10', 'https://host.example/api/v10'],
    ['https://host.example/a/../b', 'https://host.example/b'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['http://127.1', 'http://127.0.0.1'],
    ['http://localhost:1/api/v1', 'http://localhost:1'],
    ['http://[::1]:80', 'http://[::1]'],
  ];
  for (const [typed, baseUrl] of understood) {
    it(`reads ${JSON.stringify(typed)} as ${baseUrl}`, () => {
      assert.deepEqual(parseAddress(typed), { ok: true, baseUrl, origin: new URL(baseUrl).origin });
    });
  }

  const refused: [typed: string, problem: string][] = [
    ['', 'empty'],
    [' \n', 'empty'],
    ['https://', 'not-a-url'],
    ['ho st.example', 'not-a-url'],
    ['https://ho\nst.example', 'not-a-url'],
    ['https:\\\\host.example', 'not-a-url'],
    ['javascript:alert(1)', 'not-a-url'],
    ['http://host.example', 'not-https'],
    ['ftp://host.example', 'not-https'],
    ['http://127.0.0.1.host.example', 'not-https'],
    ['http://localhost.host.example', 'not-https'],
    ['http://any.localhost', 'not-https'],
    ['http://0.0.0.0', 'not-https'],
    ['http://[::2]', 'not-https'],
    ['https://user:pw@host.example', 'has-credentials'],
    ['user@host.example', 'has-credentials'],
    ['https://host.example?key=1', 'has-query'],
    ['https://host.example/?', 'has-query'],
    ['https://host.example/#', 'has-query'],
  ];
  for (const [typed, problem] of refused) {
    it(`refuses ${JSON.stringify(typed)}: ${problem}`, () => {
      assert.deepEqual(parseAddress(typed), { ok: false, problem });
    });
  }

  it('knows this machine', () => {
    for (const name of ['localhost', '127.0.0.1', '127.255.0.9', '[::1]']) assert.ok(isLoopback(name), name);
    for (const name of ['localhost.', 'a.localhost', '128.0.0.1', '127.evil.example', '[::]', ''])
      assert.ok(!isLoopback(name), name);
  });

  it('opens https alone', () => {
    assert.ok(isOpenableUrl('https://host.example/terms?x=1#y'));
    for (const link of [
      'http://host.example',
      'command:x',
      'file:///etc/passwd',
      'https://a@host.example',
      'host.example',
      '',
    ])
      assert.ok(!isOpenableUrl(link), link);
  });
});
