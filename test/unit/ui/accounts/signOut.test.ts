import assert from 'node:assert/strict';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import type { ApiKeys } from '../../../../src/core/accounts/apiKeys.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signOut } = await withVscode(() => import('../../../../src/ui/accounts/signOut.ts'));

describe('Sign Out', () => {
  beforeEach(() => standIn.forget());

  it('says what will be gone: the API key, open submissions, unfinished downloads', async () => {
    const shown: Record<string, string[]> = {};
    for (const [kind, name] of [
      ['service', 'Work'],
      ['sandbox', 'Sandbox'],
    ] as const)
      for (const hasSubmissions of [false, true])
        for (const hasDownloads of [false, true]) {
          standIn.forget();
          await signOut(
            { active: { id: 'one', kind, name } } as unknown as AccountStore,
            {} as ApiKeys,
            () => ({ hasSubmissions, hasDownloads }),
            () => assert.fail('not confirmed'),
          );
          const { sentences, details, buttons } = standIn.shown;
          const open = hasSubmissions ? 'open' : 'none open';
          const what = [kind, open, ...(hasDownloads ? ['downloads'] : [])].join(', ');
          shown[what] = [...sentences, ...details, ...buttons.flat().map((one) => `[${one}]`)];
        }
    golden('sign-out', shown);
  });

  it('removes unfinished downloads after the account', async () => {
    const done: string[] = [];
    const step = (name: string) => (id: string) => Promise.resolve(void done.push(`${name} ${id}`));
    const accounts = {
      active: { id: 'one', kind: 'service', name: 'Work' },
      remove: step('remove'),
    } as unknown as AccountStore;
    const apiKeys = { delete: step('delete') } as unknown as ApiKeys;
    const run = () =>
      signOut(accounts, apiKeys, () => ({ hasSubmissions: false, hasDownloads: true }), step('forget'));
    await run();
    assert.deepEqual(done, []);
    standIn.shown.answer = ([button]) => button;
    await run();
    assert.deepEqual(done, ['remove one', 'delete one', 'forget one']);
  });

  it('removes unfinished downloads even if the keyring fails, and reports the failure', async () => {
    const done: string[] = [];
    const accounts = {
      active: { id: 'one', kind: 'service', name: 'Work' },
      remove: () => Promise.resolve(),
    } as unknown as AccountStore;
    const apiKeys = { delete: () => Promise.reject(new Error('locked')) } as unknown as ApiKeys;
    const run = () =>
      signOut(
        accounts,
        apiKeys,
        () => ({ hasSubmissions: false, hasDownloads: true }),
        (id) => Promise.resolve(void done.push(id)),
      );
    standIn.shown.answer = ([button]) => button;
    await assert.rejects(run(), /locked/);
    assert.deepEqual(done, ['one']);
  });
});
