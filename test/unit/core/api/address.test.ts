import assert from 'node:assert/strict';
import {
  isLoopback,
  isOpenableUrl,
  modelLinks,
  parseAddress,
  parseApiKey,
  parseWebsite,
} from '../../../../src/core/api/address.ts';

describe('address', () => {
  const understood: [typed: string, baseUrl: string][] = [
    ['https://host.example', 'https://host.example'],
    ['  https://host.example/  ', 'https://host.example'],
    ['HTTPS://Host.Example:443/', 'https://host.example'],
    ['host.example', 'https://host.example'],
    ['host.example:8443', 'https://host.example:8443'],
    ['localhost:8080', 'http://localhost:8080'],
    ['127.0.0.1:8080/api/v1', 'http://127.0.0.1:8080'],
    ['localhost.host.example', 'https://localhost.host.example'],
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
  it('is parsed as typed or pasted', () => {
    for (const [typed, baseUrl] of understood)
      assert.deepEqual(parseAddress(typed), { ok: true, baseUrl, origin: new URL(baseUrl).origin }, typed);
  });

  const refused: [typed: string, problem: string][] = [
    ['', 'empty'],
    [' \n', 'empty'],
    ['https://', 'not-a-url'],
    ['ho st.example', 'not-a-url'],
    ['https://ho\nst.example', 'not-a-url'],
    ['https:\\\\host.example', 'not-a-url'],
    ['javascript:alert(1)', 'not-a-url'],
    ...[
      'htp:/foo',
      'htp:foo',
      'https:/host.example',
      'https:host.example',
      'https:',
      'http:/localhost:1',
    ].map((typed): [string, string] => [typed, 'not-a-url']),
    ...[
      'https//host.example',
      'htps//host.example/x',
      'https;//host.example',
      '//host.example',
      'localhost:',
    ].map((typed): [string, string] => [typed, 'not-a-url']),
    ...['https://https://host.example', 'https://htp:/foo', 'http://localhost:/x', 'file:/etc/passwd'].map(
      (typed): [string, string] => [typed, 'not-a-url'],
    ),
    ['htp://host.example', 'not-https'],
    ['ws://localhost', 'not-https'],
    ['user:pw@host.example', 'has-credentials'],
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
  it('is rejected if it is invalid, unencrypted to another machine, or has credentials or a query', () => {
    for (const [typed, problem] of refused)
      assert.deepEqual(parseAddress(typed), { ok: false, problem }, typed);
  });

  it('recognizes this machine', () => {
    for (const name of ['localhost', '127.0.0.1', '127.255.0.9', '[::1]']) assert.ok(isLoopback(name), name);
    for (const name of ['localhost.', 'a.localhost', '128.0.0.1', '127.evil.example', '[::]', ''])
      assert.ok(!isLoopback(name), name);
  });

  it('of a link or of a model’s terms must be https', () => {
    const good = 'https://host.example/terms?x=1#y';
    assert.ok(isOpenableUrl(good));
    assert.deepEqual(modelLinks({ terms_url: good, use_policy_url: good }), { terms: good, policy: good });
    assert.deepEqual(modelLinks({ terms_url: good }), { terms: good });
    for (const link of [
      'http://host.example',
      'command:x',
      'file:///etc/passwd',
      'javascript:x',
      'https://a@host.example',
      'host.example',
      '',
    ]) {
      assert.ok(!isOpenableUrl(link), link);
      assert.deepEqual(modelLinks({ terms_url: link, use_policy_url: link }), {});
    }
  });
});

describe('API key', () => {
  it('is trimmed, and checked for the prefix of the contract', () => {
    for (const [typed, apiKey, hasPrefix] of [
      [' service_ab.C-1 \r\n', 'service_ab.C-1', true],
      ['other', 'other', false],
      ['Service_x', 'Service_x', false],
    ] as const)
      assert.deepEqual(parseApiKey(typed), { ok: true, apiKey, hasPrefix });
  });

  it('is rejected if it does not fit into a header', () => {
    for (const [typed, problem] of [
      ['', 'empty'],
      ['  \t', 'empty'],
      ['Bearer service_x', 'inner-blank'],
      ['service_\nx', 'inner-blank'],
      ['service_\u00a0x', 'inner-blank'],
      ['service_ä', 'not-header-safe'],
      ['service_\u200bx', 'not-header-safe'],
      ['service_\u0000x', 'not-header-safe'],
      ['service_“x”', 'not-header-safe'],
    ] as const)
      assert.deepEqual(parseApiKey(typed), { ok: false, problem }, typed);
  });
});

describe('a website that the user types', () => {
  it('is an https address, even without the scheme', () => {
    for (const [typed, website] of [
      [' https://pay.test/billing?a=b#c ', 'https://pay.test/billing?a=b#c'],
      ['pay.test', 'https://pay.test/'],
      ['pay.test:8443/x', 'https://pay.test:8443/x'],
      ['HTTPS://PAY.test', 'https://pay.test/'],
    ] as const)
      assert.equal(parseWebsite(typed), website);
  });

  it('is rejected otherwise', () => {
    for (const typed of [
      ...['', ' ', 'https://', 'http://pay.test', 'http://localhost', 'ftp://pay.test', 'file:///etc/passwd'],
      ...['javascript:alert(1)', 'command:fineTuning.signOut', 'vscode://x.y', 'mailto:me@pay.test'],
      ...['htp:/pay.test', 'https:/pay.test', 'https//pay.test', 'https://https://pay.test'],
      ...['https://me@pay.test', 'https://me:pass@pay.test', 'pay.test\\x', 'pay\n.test', 'two words'],
    ])
      assert.equal(parseWebsite(typed), undefined, typed);
  });
});
