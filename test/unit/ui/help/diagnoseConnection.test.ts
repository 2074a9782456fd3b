import assert from 'node:assert/strict';
import type { Account } from '../../../../src/core/accounts/account.ts';
import type { Connection } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError, UnexpectedAnswerError } from '../../../../src/core/api/errors.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { diagnoseConnection } = await withVscode(
  () => import('../../../../src/ui/help/diagnoseConnection.ts'),
);

/** Its host needs no name resolution. */
const WORK: Account = { kind: 'service', id: 'w', name: 'Work', baseUrl: 'https://192.0.2.1' };
const SANDBOX: Account = { kind: 'sandbox', id: 's', name: 'Sandbox' };
const KEY: Connection = { baseUrl: WORK.baseUrl, apiKey: 'service_CANARY', keyId: 'k' };

interface Scenario {
  account?: Account | undefined;
  connect?: () => Promise<Connection | undefined>;
  error?: Error;
  clockSkewMs?: number;
  notBeforeMs?: number;
  settings?: Record<string, unknown>;
}

describe('Diagnose Connection', () => {
  let connections: Connection[];

  beforeEach(() => {
    standIn.forget();
    connections = [];
  });
  afterEach(() => standIn.settings.clear());

  /** Diagnoses, chooses a row if given, and returns the text of each row. */
  async function diagnose(scenario: Scenario, row?: string): Promise<Record<string, string>> {
    standIn.forget();
    standIn.shown.pick = () => row;
    const { account = WORK, error, clockSkewMs = 1_000, notBeforeMs, settings = {} } = scenario;
    for (const [name, value] of Object.entries({ 'http.proxySupport': 'off', ...settings }))
      standIn.settings.set(name, value);
    let heldUntilMs: number | undefined;
    await diagnoseConnection({
      accounts: { active: 'account' in scenario ? scenario.account : account },
      connect: scenario.connect ?? (() => Promise.resolve(KEY)),
      createClient: (connection: Connection) => {
        connections.push(connection);
        return {
          clockSkewMs,
          get notBeforeMs() {
            return heldUntilMs;
          },
          holdUntil: (ms: number) => (heldUntilMs = ms),
          getBalance: () => (error === undefined ? Promise.resolve({}) : Promise.reject(error)),
        };
      },
      sessions: { active: { notBeforeMs } },
      log: { error: () => undefined },
    } as unknown as Parameters<typeof diagnoseConnection>[0]);
    const items = standIn.shown.inputs[0]?.items ?? [];
    return Object.fromEntries(
      items.map(({ label, description, detail }) => [
        label.replace(/^\$\([\w-]+\) /, ''),
        // Word joiners keep addresses from becoming links.
        `${description ?? ''}: ${detail ?? ''}`.replaceAll('\u2060', ''),
      ]),
    );
  }

  it('reports that each part works', async () => {
    assert.deepEqual(await diagnose({}), {
      'Service URL': 'OK: https://192.0.2.1',
      Proxy: 'OK: None is set. System proxies and PAC files are not used.',
      'Name resolution': 'Not checked: Not needed.',
      Certificate: 'OK: Trusted.',
      Reachability: 'OK: The service answered.',
      'API key': 'OK: The service accepted it.',
      Clock: 'OK: 1 s off the service’s clock.',
      Keychain: 'OK: It has the API key of Work.',
    });
    assert.deepEqual([standIn.shown.inputs[0]?.placeholder, connections], ['No problems found', [KEY]]);
  });

  it('claims nothing that its only request does not prove', async () => {
    const verdictsFor = async (error: Error) => {
      const rows = await diagnose({ error });
      return ['Certificate', 'Reachability', 'API key'].map((name) => rows[name]?.replace(/:.*/, ''));
    };
    for (const reason of ['refused', 'dns', 'connect-timeout', 'reset', 'other'] as const)
      assert.deepEqual(await verdictsFor(new NetworkError(reason)), [
        'Not checked',
        'Problem',
        'Not checked',
      ]);
    assert.deepEqual(await verdictsFor(new NetworkError('tls', 'CERT_X')), [
      'Problem',
      'Problem',
      'Not checked',
    ]);
    for (const error of [
      new UnexpectedAnswerError(200, 'html'),
      new ServiceError('down', 503),
      new NetworkError('answer-timeout'),
    ])
      assert.deepEqual(await verdictsFor(error), ['OK', 'Problem', 'Not checked']);
    assert.deepEqual(await verdictsFor(new ServiceError('rate_limited', 429)), ['OK', 'OK', 'Not checked']);
    assert.deepEqual(await verdictsFor(new ServiceError('invalid_api_key', 401)), ['OK', 'OK', 'Problem']);
  });

  describe('through a proxy', () => {
    const PROXY = 'http://me:CANARY@proxy.test:8080';
    const BY_SETTING = { 'http.proxySupport': 'on', 'http.proxy': PROXY };
    const before = process.env['HTTPS_PROXY'];
    afterEach(() => {
      delete process.env['HTTPS_PROXY'];
      if (before !== undefined) process.env['HTTPS_PROXY'] = before;
    });

    it('shows the proxy without its password, and blames it only for its failures', async () => {
      const held = { error: new ServiceError('rate_limited', 429), notBeforeMs: 7 };
      const cases: [Partial<Scenario>, proxy: string][] = [
        [{}, 'OK: {0}'],
        [{ error: new ServiceError('invalid_api_key', 401) }, 'OK: {0}'],
        [held, 'Not checked: {0}'],
        [{ error: new NetworkError('reset') }, 'Not checked: {0}'],
        [
          { error: new NetworkError('connect-timeout') },
          'Problem: {0} opened no connection in time. Check “{1}”, network and VPN.',
        ],
        [
          { error: new NetworkError('proxy', 'HTTP_407') },
          'Problem: {0} didn’t accept the password (407). Check “{1}”.',
        ],
        [
          { error: new NetworkError('proxy', 'HTTP_403') },
          'Problem: {0} blocked the connection to the service (HTTP_403).',
        ],
        [
          { error: new NetworkError('proxy', 'ENOTFOUND') },
          'Problem: {0} couldn’t be reached (ENOTFOUND). Check “{1}”.',
        ],
        [{ error: new NetworkError('proxy') }, 'Problem: {0} couldn’t be reached (unknown). Check “{1}”.'],
      ];
      for (const source of ['http.proxy', 'HTTPS_PROXY'])
        for (const [scenario, expected] of cases) {
          process.env['HTTPS_PROXY'] = PROXY;
          const settings = { ...BY_SETTING, 'http.proxy': source === 'http.proxy' ? PROXY : '' };
          const rows = await diagnose({ ...scenario, settings }, 'Proxy');
          const text = expected.replace('{0}', 'http://proxy.test:8080').replace('{1}', source);
          assert.equal(rows['Proxy'], text);
          assert.equal(rows['Name resolution'], 'Not checked: The proxy resolves the name.');
          assert.doesNotMatch(JSON.stringify(rows), /CANARY/);
          const isLinked = text.startsWith('Problem') && source === 'http.proxy';
          const link = ['workbench.action.openSettings', '@id:http.proxy'];
          assert.deepEqual(standIn.executed, isLinked ? [link] : [], text);
        }
    });
  });

  it('explains a certificate error, and links to the setting only where that helps', async () => {
    const clock = 'Check this machine’s clock.';
    for (const [code, advice, isLinked] of [
      ['CERT_NOT_YET_VALID', `Not valid now (CERT_NOT_YET_VALID). ${clock}`, false],
      ['CERT_HAS_EXPIRED', `Not valid now (CERT_HAS_EXPIRED). ${clock}`, false],
      ['ERR_TLS_CERT_ALTNAME_INVALID', 'Made for another host', false],
      ['EPROTO', 'No TLS at this address (EPROTO)', false],
      ['ERR_SSL_WRONG_VERSION_NUMBER', 'No TLS at this address', false],
      ['SELF_SIGNED_CERT_IN_CHAIN', 'Not trusted (SELF_SIGNED_CERT_IN_CHAIN)', true],
    ] as const) {
      // The error takes precedence over disabled verification.
      const settings = { 'http.proxyStrictSSL': isLinked };
      const rows = await diagnose({ error: new NetworkError('tls', code), settings }, 'Certificate');
      assert.ok(rows['Certificate']?.startsWith(`Problem: ${advice}`), rows['Certificate']);
      assert.equal(rows['Reachability'], 'Problem: Not reached. Solve the problem above first.');
      const link = ['workbench.action.openSettings', '@id:http.systemCertificates'];
      assert.deepEqual(standIn.executed, isLinked ? [link] : [], code);
    }
  });

  it('warns if certificates are not verified or the clock is wrong', async () => {
    const rows = await diagnose({ settings: { 'http.proxyStrictSSL': false }, clockSkewMs: 300_000 });
    assert.match(rows['Certificate'] ?? '', /^Problem: Not verified: “http.proxyStrictSSL” is off/);
    assert.match(rows['Clock'] ?? '', /^Problem: This machine’s clock is off by 5 min/);
    assert.match((await diagnose({ clockSkewMs: -300_000 }))['Clock'] ?? '', /off by 5 min/);
  });

  it('explains a missing keyring, and sends no API key of another account instead', async () => {
    const rows = await diagnose(
      { connect: () => Promise.resolve(undefined), error: new ServiceError('invalid_api_key', 401) },
      'Keychain',
    );
    assert.deepEqual(
      [rows['Reachability'], rows['API key'], rows['Keychain']],
      [
        'OK: The service answered.',
        'Not checked: Not possible.',
        'Problem: No API key of Work. Without a keychain, VS Code forgets it on exit.',
      ],
    );
    assert.deepEqual(standIn.executed, [['fineTuning.replaceKey', 'w']]);
    assert.deepEqual(connections, [{ baseUrl: WORK.baseUrl, apiKey: 'none', keyId: 'none' }]);
    const locked = await diagnose({ connect: () => Promise.reject(new Error('locked')) });
    assert.match(locked['Keychain'] ?? '', /^Problem: It can’t be read/);
  });

  it('tests the setting’s URL without an account, and reports a missing URL or sandbox', async () => {
    const none = { account: undefined, connect: () => Promise.resolve(undefined) };
    const rows = await diagnose(none, 'Service URL');
    assert.equal(rows['Service URL'], 'Not checked: No account is active.');
    assert.deepEqual([standIn.executed, connections], [[['fineTuning.signIn']], []]);
    const plain = await diagnose({ ...none, settings: { 'fineTuning.baseUrl': 'http://192.0.2.1' } });
    assert.equal(plain['Service URL'], 'Problem: “fineTuning.baseUrl” must be an https:// URL.');
    const set = await diagnose({ ...none, settings: { 'fineTuning.baseUrl': WORK.baseUrl } });
    assert.deepEqual([set['Service URL'], connections.length], ['OK: https://192.0.2.1', 1]);
    const sandbox = await diagnose({ account: SANDBOX, connect: () => Promise.reject(new Error('x')) });
    assert.match(sandbox['Service URL'] ?? '', /^Problem: /);
    assert.equal(sandbox['Reachability'], 'Not checked: Not possible.');
  });
});
