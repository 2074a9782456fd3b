import assert from 'node:assert/strict';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import type { ApiKeys } from '../../../../src/core/accounts/apiKeys.ts';
import type { Client } from '../../../../src/core/api/client.ts';
import { NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signIn } = await withVscode(() => import('../../../../src/ui/accounts/signIn.ts'));
const { replaceKey } = await withVscode(() => import('../../../../src/ui/accounts/enterApiKey.ts'));

describe('API key entry', () => {
  let stored: string[];
  let answers: string[];
  /** What each box contained at first. */
  let openedWith: string[];
  let firstKey: string;
  /** Entries after the first API key. */
  let further: string[];

  beforeEach(() => {
    standIn.forget();
    stored = [];
    firstKey = 'service_new';
    further = [];
    openedWith = [];
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
    const save = () => Promise.resolve();
    const accounts = { ...list, requireChangeable, save } as unknown as AccountStore;
    const store = (_owner: unknown, apiKey: string) => Promise.resolve(void stored.push(apiKey));
    const apiKeys = { store } as unknown as ApiKeys;
    const client = () => ({ getBalance }) as unknown as Client;
    answers = command === 'signIn' ? ['https://service.test', 'Work', firstKey] : [firstKey];
    answers.push(...further);
    standIn.shown.pick = ({ value }) => (openedWith.push(value), answers.shift());
    await { signIn, replaceKey }[command](accounts, apiKeys, client, () => Promise.resolve([]));
  }
  const unreachable = () => Promise.reject(new NetworkError('refused'));

  for (const command of ['signIn', 'replaceKey'] as const) {
    it(`stores an API key that the service accepts (${command})`, async () => {
      await run(command, () => Promise.resolve({}));
      assert.deepEqual(stored, ['service_new']);
      assert.match(standIn.shown.sentences.join('|'), /^(Signed in to|Replaced the API key for) Work\.$/);
      // A quick verification is no notification of its own.
      assert.deepEqual(standIn.shown.titles, []);
    });

    it(`stores an API key that could not be verified only after a confirmation (${command})`, async () => {
      await run(command, unreachable);
      assert.deepEqual(stored, []);
      assert.deepEqual(
        [standIn.shown.buttons.at(-1), standIn.shown.details.at(-1)],
        [
          ['Go Back', 'Save'],
          'Tried https://service.test. Can’t reach the service. Check its URL and your connection.',
        ],
      );
      standIn.shown.answer = ([, save]) => save;
      await run(command, unreachable);
      assert.deepEqual(stored, ['service_new']);
      assert.match(standIn.shown.sentences.at(-1) ?? '', /hasn’t been verified/);
    });

    it(`goes back to what may be wrong, with every entry kept, if the service can’t be reached (${command})`, async () => {
      standIn.shown.answer = ([back]) => back;
      let tries = 0;
      further = command === 'signIn' ? ['https://other.test', 'Work', 'service_new'] : ['service_new'];
      await run(command, () => (tries++ === 0 ? unreachable() : Promise.resolve({})));
      assert.deepEqual([stored, answers], [['service_new'], []]);
      assert.deepEqual(
        openedWith.slice(command === 'signIn' ? 3 : 1),
        command === 'signIn' ? ['https://service.test', 'Work', 'service_new'] : ['service_new'],
      );
    });

    it(`asks again for an API key that was rejected, and for nothing else (${command})`, async () => {
      further = ['service_new', 'service_newer'];
      let tries = 0;
      const getBalance = () =>
        tries++ === 0 ? Promise.reject(new ServiceError('unauthorized', 401)) : Promise.resolve({});
      await run(command, getBalance);
      // The rejected one isn't tried again.
      assert.deepEqual([stored, tries, answers], [[], 1, ['service_newer']]);
      const rejected = 'The service rejected this API key.';
      assert.deepEqual(standIn.shown.inputs.at(-1)?.validationMessage, rejected);
      further = ['service_newer'];
      tries = 0;
      await run(command, getBalance);
      assert.deepEqual([stored, tries], [['service_newer'], 2]);
    });

    it(`asks for another API key first if one lacks the prefix, and names the host (${command})`, async () => {
      const enter = async (choose: (buttons: string[]) => string | undefined) => {
        standIn.forget();
        stored = [];
        standIn.shown.answer = choose;
        firstKey = 'ghp_other';
        further = ['service_new'];
        await run(command, () => Promise.resolve({}));
        return [stored, answers];
      };
      const first = await enter(([another]) => another);
      assert.deepEqual(first, [['service_new'], []]);
      const asked = standIn.shown.sentences.findIndex((sentence) => sentence.includes('service_'));
      assert.match(standIn.shown.sentences[asked]!, /Send it to service\.test anyway\?$/);
      assert.deepEqual(standIn.shown.buttons[asked], ['Enter Another', 'Send Anyway']);
      assert.deepEqual(await enter(() => undefined), [['service_new'], []]);
      assert.deepEqual(await enter(([, use]) => use), [['ghp_other'], ['service_new']]);
    });

    it(`offers the website of the account, if known, when an API key is needed (${command})`, async () => {
      const offered = async (website?: string) => {
        standIn.forget();
        await run(command, () => Promise.resolve({}), website);
        const box = standIn.shown.inputs.at(-1);
        box?.press(box.buttons.at(-1));
        return standIn.executed.splice(0).map(([, url]) => url);
      };
      const website = 'https://pay.test/keys';
      assert.deepEqual(await offered(website), [website]);
      assert.deepEqual(await offered(), []);
    });
  }
});
