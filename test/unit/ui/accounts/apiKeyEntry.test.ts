import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Client } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import type { ApiKeys } from '../../../../src/ui/accounts/apiKeys.ts';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signIn } = await withVscode(() => import('../../../../src/ui/accounts/signIn.ts'));
const { replaceKey } = await withVscode(() => import('../../../../src/ui/accounts/signIn.ts'));

describe('API key entry', () => {
  let stored: string[];

  beforeEach(() => {
    standIn.forget();
    stored = [];
  });

  /** Runs a command with an API key, to which the service responds as `getBalance` does. */
  async function run(
    command: 'signIn' | 'replaceKey',
    getBalance: () => Promise<unknown>,
    website?: string,
  ): Promise<void> {
    const one = { kind: 'service', id: 'one', name: 'Work', baseUrl: 'https://service.test', website };
    const isFormer = command === 'signIn' && website !== undefined;
    const [active, former] = isFormer ? [undefined, [one]] : [one, []];
    const requireChangeable = () => undefined;
    const list = { active, accounts: [active ?? []].flat(), former };
    const accounts = { ...list, requireChangeable } as unknown as AccountStore;
    const store = (_owner: unknown, apiKey: string) => Promise.resolve(void stored.push(apiKey));
    const apiKeys = { store, storeWith: store } as unknown as ApiKeys;
    const client = () => ({ getBalance }) as unknown as Client;
    const answers = command === 'signIn' ? ['https://service.test', 'Work', 'service_new'] : ['service_new'];
    standIn.shown.pick = () => answers.shift();
    await { signIn, replaceKey }[command](accounts, apiKeys, client, () => Promise.resolve([]));
  }
  const unreachable = () => Promise.reject(new NetworkError('refused'));

  for (const command of ['signIn', 'replaceKey'] as const) {
    it(`stores an API key that the service accepts (${command})`, async () => {
      await run(command, () => Promise.resolve({}));
      assert.deepEqual(stored, ['service_new']);
      assert.match(standIn.shown.sentences.join('|'), /^(Signed in to|Replaced the API key of) Work\.$/);
    });

    it(`stores an API key that could not be verified only after a confirmation (${command})`, async () => {
      await run(command, unreachable);
      assert.deepEqual(stored, []);
      standIn.shown.answer = ([button]) => button;
      await run(command, unreachable);
      assert.deepEqual(stored, ['service_new']);
      assert.match(standIn.shown.sentences.at(-1) ?? '', /couldn’t be verified/);
    });

    it(`does not store an API key that was rejected (${command})`, async () => {
      await run(command, () => Promise.reject(new ServiceError('unauthorized', 401)));
      assert.deepEqual(stored, []);
      assert.equal(standIn.shown.sentences.length, 1);
    });

    it(`offers the website of the account, if known, when an API key is needed (${command})`, async () => {
      const offered = async (website?: string) => {
        standIn.forget();
        const opened = () => standIn.executed.splice(0).map(([, url]) => url);
        standIn.shown.answer = (buttons) => buttons.at(-1);
        const refuse = () => Promise.reject(new ServiceError('unauthorized', 401));
        await run(command, refuse, website);
        await turn();
        const [fromNotification, box] = [opened(), standIn.shown.inputs.at(-1)];
        box?.press(box.buttons.at(-1));
        return [fromNotification, opened()];
      };
      const website = 'https://pay.test/keys';
      assert.deepEqual(await offered(website), [[website], [website]]);
      const [again, nothing] = await offered();
      assert.deepEqual([again?.length, nothing], [1, []]);
    });
  }

  it('asks for another API key of the same account after a rejection', async () => {
    standIn.shown.answer = ([button]) => button;
    await run('replaceKey', () => Promise.reject(new ServiceError('unauthorized', 401)));
    await turn();
    assert.deepEqual(standIn.executed, [['fineTuning.replaceKey', 'one']]);
  });
});
