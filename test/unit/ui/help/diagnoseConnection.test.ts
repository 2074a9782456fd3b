import assert from 'node:assert/strict';
import type { Account } from '../../../../src/core/accounts/account.ts';
import type { Connection } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError, UnexpectedResponseError } from '../../../../src/core/api/errors.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { diagnoseConnection } = await withVscode(
  () => import('../../../../src/ui/help/diagnoseConnection.ts'),
);

/** Its host needs no name resolution. */
const WORK: Account = { kind: 'service', id: 'w', name: 'Work', baseUrl: 'https://192.0.2.1' };
const SANDBOX: Account = { kind: 'sandbox', id: 's', name: 'Sandbox' };
const PROXY = 'http://me:CANARY@proxy.test:8080';
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
    standIn.settings.clear();
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
    const rows = items.map(({ label, description = '', detail = '' }) => [
      label.replace(/^\$\([\w-]+\) /, ''),
      // Word joiners keep addresses from becoming links.
      `${description}: ${detail}`.replaceAll('\u2060', ''),
    ]);
    assert.doesNotMatch(JSON.stringify(rows), /CANARY/);
    return Object.fromEntries(rows) as Record<string, string>;
  }

  /** Each row, with what choosing it does. */
  async function linesOf(scenario: Scenario): Promise<string[]> {
    const lines: string[] = [];
    for (const [name, text] of Object.entries(await diagnose(scenario))) {
      await diagnose(scenario, name);
      lines.push([`${name}: ${text}`, ...standIn.executed.map((call) => `→ ${call.join(' ')}`)].join(' '));
    }
    return [standIn.shown.inputs[0]?.placeholder ?? '', ...lines];
  }

  it('says of each part whether it works and what helps, and claims nothing that its only request does not prove', async () => {
    const proxied = { settings: { 'http.proxySupport': 'on', 'http.proxy': PROXY } };
    const byEnvironment = { settings: { 'http.proxySupport': 'on', 'http.proxy': '' } };
    const none = { account: undefined, connect: () => Promise.resolve(undefined) };
    const refused = new ServiceError('invalid_api_key', 401);
    const held = { error: new ServiceError('rate_limited', 429), notBeforeMs: 7 };
    const network = (...given: ConstructorParameters<typeof NetworkError>) => ({
      error: new NetworkError(...given),
    });
    const tls = (code: string) => network('tls', code);
    const url = (text: string) => ({ ...none, settings: { 'fineTuning.baseUrl': text } });
    const cases: Record<string, Scenario> = {
      ...Object.fromEntries(
        (['refused', 'dns', 'connect-timeout', 'reset', 'other'] as const).map((reason) => [
          reason,
          network(reason),
        ]),
      ),
      'no answer in time': network('answer-timeout'),
      'a web page': { error: new UnexpectedResponseError(200, 'html') },
      'the service is down': { error: new ServiceError('down', 503) },
      'too many requests': { error: new ServiceError('rate_limited', 429) },
      'the key is rejected': { error: refused },
      ...Object.fromEntries(
        [
          'CERT_NOT_YET_VALID',
          'CERT_HAS_EXPIRED',
          'ERR_TLS_CERT_ALTNAME_INVALID',
          'EPROTO',
          'ERR_SSL_WRONG_VERSION_NUMBER',
          'SELF_SIGNED_CERT_IN_CHAIN',
        ].map((code) => [code, tls(code)]),
      ),
      // The error takes precedence over disabled verification.
      'an error, not verified': { ...tls('CERT_X'), settings: { 'http.proxyStrictSSL': false } },
      'not verified': { settings: { 'http.proxyStrictSSL': false } },
      'the clock is ahead': { clockSkewMs: 300_000 },
      'the clock is behind': { clockSkewMs: -300_000 },
      'no key on this machine': { connect: () => Promise.resolve(undefined), error: refused },
      'a locked keychain': { connect: () => Promise.reject(new Error('locked')) },
      'no account': none,
      'no account, a URL in the settings': url(WORK.baseUrl),
      'no account, an http: URL': url('http://192.0.2.1'),
      'the sandbox doesn’t start': { account: SANDBOX, connect: () => Promise.reject(new Error('x')) },
      'through a proxy': proxied,
      'through a proxy, the key is rejected': { ...proxied, error: refused },
      'through a proxy, held back': { ...proxied, ...held },
      'through a proxy, reset': { ...proxied, ...network('reset') },
      'through a proxy, no connection in time': { ...proxied, ...network('connect-timeout') },
      ...Object.fromEntries(
        ['HTTP_407', 'HTTP_403', 'ENOTFOUND', undefined].map((code) => [
          `the proxy fails: ${code}`,
          { ...proxied, ...network('proxy', code) },
        ]),
      ),
      'a proxy with an exception': {
        settings: {
          ...proxied.settings,
          'http.noProxy': ['10.0.0.0/8 192.0.2.*'],
        },
      },
      'an invalid proxy': { settings: { ...proxied.settings, 'http.proxy': 'http://me:CAN/RY@proxy.test' } },
      'a proxy of the environment': byEnvironment,
      'a proxy of the environment that fails': { ...byEnvironment, ...network('proxy', 'HTTP_407') },
    };
    const before = process.env['HTTPS_PROXY'];
    try {
      delete process.env['HTTPS_PROXY'];
      const plain = await linesOf({});
      assert.deepEqual(new Set(connections), new Set([KEY]));
      const shown: Record<string, string[]> = { 'everything works': plain };
      process.env['HTTPS_PROXY'] = PROXY;
      for (const [name, scenario] of Object.entries(cases))
        shown[name] = (await linesOf(scenario)).filter((line) => !plain.includes(line));
      golden('diagnosis', shown);
    } finally {
      delete process.env['HTTPS_PROXY'];
      if (before !== undefined) process.env['HTTPS_PROXY'] = before;
    }
  });

  it('sends no API key of another account in place of a missing one, and nothing without an address', async () => {
    const missing = () => Promise.resolve(undefined);
    await diagnose({ connect: missing });
    assert.deepEqual(connections.splice(0), [{ baseUrl: WORK.baseUrl, apiKey: 'none', keyId: 'none' }]);
    await diagnose({ account: undefined, connect: missing });
    assert.deepEqual(connections, []);
  });
});
