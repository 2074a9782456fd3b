import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Client } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import type { ApiKeys } from '../../../../src/ui/accounts/apiKeys.ts';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('"Sign In" and "Replace API Key"', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let signIn: typeof import('../../../../src/ui/accounts/signIn.ts').signIn;
  let replaceKey: typeof import('../../../../src/ui/accounts/signIn.ts').replaceKey;
  let stored: string[];

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ signIn } = await import('../../../../src/ui/accounts/signIn.ts'));
    ({ replaceKey } = await import('../../../../src/ui/accounts/signIn.ts'));
  });
  after(() => hooks.deregister());
  beforeEach(() => {
    standIn.forget();
    stored = [];
  });

  /** Runs one of the commands on an API key to which the service answers so. */
  async function run(command: 'signIn' | 'replaceKey', getBalance: () => Promise<unknown>): Promise<void> {
    const active = { kind: 'service', id: 'one', name: 'Work', baseUrl: 'https://service.test' };
    const accounts = { active, accounts: [active], former: [] } as unknown as AccountStore;
    const store = (_owner: unknown, apiKey: string) => Promise.resolve(void stored.push(apiKey));
    const apiKeys = { store, storeWith: store } as unknown as ApiKeys;
    const client = () => ({ getBalance }) as unknown as Client;
    const answers = command === 'signIn' ? ['https://service.test', 'Work', 'service_new'] : ['service_new'];
    standIn.told.pick = () => answers.shift();
    await { signIn, replaceKey }[command](accounts, apiKeys, client, () => Promise.resolve([]));
  }
  const unreachable = () => Promise.reject(new NetworkError('refused'));

  for (const command of ['signIn', 'replaceKey'] as const) {
    it(`${command} stores an API key that the service accepts`, async () => {
      await run(command, () => Promise.resolve({}));
      assert.deepEqual(stored, ['service_new']);
      assert.match(standIn.told.sentences.join('|'), /^(Signed in to|Replaced the API key of) Work\.$/);
    });

    it(`${command} stores an API key that could not be verified only after a question`, async () => {
      await run(command, unreachable);
      assert.deepEqual(stored, []);
      standIn.told.answer = ([button]) => button;
      await run(command, unreachable);
      assert.deepEqual(stored, ['service_new']);
      assert.match(standIn.told.sentences.at(-1) ?? '', /couldn’t be verified/);
    });

    it(`${command} does not store an API key that was refused`, async () => {
      await run(command, () => Promise.reject(new ServiceError('unauthorized', 401)));
      assert.deepEqual(stored, []);
      assert.equal(standIn.told.sentences.length, 1);
    });
  }
});
