import assert from 'node:assert/strict';
import type { Account } from '../../../../src/core/accounts/account.ts';
import type { Connection } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError, UnexpectedAnswerError } from '../../../../src/core/api/errors.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { diagnoseConnection } = await withVscode(
  () => import('../../../../src/ui/help/diagnoseConnection.ts'),
);

/** On a host that needs no resolution. */
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

  /** Diagnoses, chooses a row where one is given, and returns what each row says. */
  async function diagnose(scenario: Scenario, row?: string): Promise<Record<string, string>> {
    standIn.forget();
    standIn.told.pick = () => row;
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
    const items = standIn.told.inputs[0]?.items ?? [];
    return Object.fromEntries(
      items.map(({ label, description, detail }) => [
        label.replace(/^\$\([\w-]+\) /, ''),
        `${description ?? ''}: ${detail ?? ''}`,
      ]),
    );
  }

  it('says of each part that it works', async () => {
    assert.deepEqual(await diagnose({}), {
      'Service URL': 'OK: https://192.0.2.1',
      Proxy: 'OK: None is set for this host. System proxies and PAC files are not used.',
      'Name resolution': 'Not checked: Not needed for this host.',
      Certificate: 'OK: Trusted.',
      Reachability: 'OK: The service answered.',
      'API key': 'OK: The service accepted it.',
      Clock: 'OK: 1 s from the service’s clock.',
      Keychain: 'OK: It has the API key of Work.',
    });
    assert.deepEqual([standIn.told.inputs[0]?.placeholder, connections], ['No problems found', [KEY]]);
  });

  it('claims nothing that the one request does not prove', async () => {
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
    for (const error of [new UnexpectedAnswerError(200, 'html'), new ServiceError('down', 503)])
      assert.deepEqual(await verdictsFor(error), ['OK', 'Problem', 'Not checked']);
    assert.deepEqual(await verdictsFor(new ServiceError('rate_limited', 429)), ['OK', 'OK', 'Not checked']);
    assert.deepEqual(await verdictsFor(new ServiceError('invalid_api_key', 401)), ['OK', 'OK', 'Problem']);
  });

  it('names the proxy without its password, and what it answered', async () => {
    const settings = { 'http.proxySupport': 'on', 'http.proxy': 'http://me:CANARY@proxy.test:8080' };
    const proxied = await diagnose({ settings });
    assert.deepEqual(
      [proxied['Proxy'], proxied['Name resolution']],
      ['OK: http://proxy.test:8080', 'Not checked: The proxy resolves the name.'],
    );
    const refused = await diagnose({ settings, error: new NetworkError('proxy', 'HTTP_407') }, 'Proxy');
    assert.equal(
      refused['Proxy'],
      'Problem: http://proxy.test:8080 refused (HTTP_407). Check “http.proxy” and its password.',
    );
    assert.deepEqual(standIn.executed, [['workbench.action.openSettings', '@id:http.proxy']]);
    assert.doesNotMatch(JSON.stringify([proxied, refused]), /CANARY/);
  });

  it('warns where certificates are not verified, and where the clock is wrong', async () => {
    const rows = await diagnose({ settings: { 'http.proxyStrictSSL': false }, clockSkewMs: 300_000 });
    assert.match(rows['Certificate'] ?? '', /^Problem: Not verified: “http.proxyStrictSSL” is off/);
    assert.match(rows['Clock'] ?? '', /^Problem: This machine is 5 min behind the service/);
    assert.match((await diagnose({ clockSkewMs: -300_000 }))['Clock'] ?? '', /5 min ahead of the service/);
  });

  it('says what a missing keyring means, and sends no API key of another account instead', async () => {
    const rows = await diagnose(
      { connect: () => Promise.resolve(undefined), error: new ServiceError('invalid_api_key', 401) },
      'Keychain',
    );
    assert.deepEqual(
      [rows['Reachability'], rows['API key'], rows['Keychain']],
      [
        'OK: The service answered.',
        'Not checked: There is none to try.',
        'Problem: It has no API key of Work. Without a system keyring, VS Code forgets it when it closes.',
      ],
    );
    assert.deepEqual(standIn.executed, [['fineTuning.replaceKey', 'w']]);
    assert.deepEqual(connections, [{ baseUrl: WORK.baseUrl, apiKey: 'none', keyId: 'none' }]);
    const locked = await diagnose({ connect: () => Promise.reject(new Error('locked')) });
    assert.match(locked['Keychain'] ?? '', /^Problem: It can’t be read/);
  });

  it('shows nothing when it is canceled, whatever it waits for', async () => {
    const diagnosing = diagnose({ connect: () => new Promise(() => undefined) });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    standIn.cancelled.fire();
    await assert.rejects(diagnosing, CancelledError);
    assert.deepEqual([standIn.told.titles, standIn.told.inputs], [['Diagnose Connection'], []]);
  });

  it('waits as the service asked', async () => {
    const rows = await diagnose({ notBeforeMs: 7, error: new ServiceError('rate_limited', 429, '', 60_000) });
    assert.deepEqual(
      [rows['Reachability'], rows['Certificate']],
      ['Not checked: Too many requests. Try again in 1 min.', 'Not checked: The service did not say.'],
    );
  });

  it('tries the URL of the setting without an account, and says where there is none or no sandbox', async () => {
    const none = { account: undefined, connect: () => Promise.resolve(undefined) };
    const rows = await diagnose(none, 'Service URL');
    assert.equal(rows['Service URL'], 'Not checked: No account is active. Sign in first.');
    assert.deepEqual([standIn.executed, connections], [[['fineTuning.signIn']], []]);
    const plain = await diagnose({ ...none, settings: { 'fineTuning.baseUrl': 'http://192.0.2.1' } });
    assert.equal(plain['Service URL'], 'Problem: “fineTuning.baseUrl” must be an https:// URL.');
    const set = await diagnose({ ...none, settings: { 'fineTuning.baseUrl': WORK.baseUrl } });
    assert.deepEqual([set['Service URL'], connections.length], ['OK: https://192.0.2.1', 1]);
    const sandbox = await diagnose({ account: SANDBOX, connect: () => Promise.reject(new Error('x')) });
    assert.match(sandbox['Service URL'] ?? '', /^Problem: /);
    assert.equal(sandbox['Reachability'], 'Not checked: There is no service URL to try.');
  });
});
