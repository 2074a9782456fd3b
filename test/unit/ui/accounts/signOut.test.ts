import assert from 'node:assert/strict';
import type { ApiKeys } from '../../../../src/ui/accounts/apiKeys.ts';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signOut } = await withVscode(() => import('../../../../src/ui/accounts/signIn.ts'));

describe('"Sign Out"', () => {
  beforeEach(() => standIn.forget());

  it('says what becomes of unfinished downloads, and takes them away when the account is gone', async () => {
    const done: string[] = [];
    const step = (name: string) => (id: string) => Promise.resolve(void done.push(`${name} ${id}`));
    const accounts = {
      active: { id: 'one', kind: 'service', name: 'Work' },
      remove: step('remove'),
    } as unknown as AccountStore;
    const apiKeys = { delete: step('delete') } as unknown as ApiKeys;
    const run = () =>
      signOut(accounts, apiKeys, () => ({ submissions: undefined, hasDownloads: true }), step('forget'));
    await run();
    assert.deepEqual(done, []);
    assert.match(standIn.told.details[0] ?? '', /^Unfinished downloads will be removed\. Its API key /);
    standIn.told.answer = ([button]) => button;
    await run();
    assert.deepEqual(done, ['remove one', 'delete one', 'forget one']);
  });

  it('says what becomes of open submissions and of unfinished downloads', async () => {
    const accounts = { active: { id: 'one', kind: 'service', name: 'Work' } } as unknown as AccountStore;
    for (const submissions of ['charge', 'kept'] as const)
      await signOut(
        accounts,
        {} as unknown as ApiKeys,
        () => ({ submissions, hasDownloads: true }),
        () => assert.fail('not confirmed'),
      );
    const [charge, kept] = standIn.told.details;
    assert.match(charge ?? '', /You may be charged.+Unfinished downloads will be removed\./);
    assert.match(kept ?? '', /not charged.+Unfinished downloads will be removed\./);
  });

  it('says of the sandbox, which has no API key of the person, that it comes back as it is', async () => {
    const accounts = { active: { id: 'one', kind: 'sandbox', name: 'Sandbox' } } as unknown as AccountStore;
    const staying = '“Use the Sandbox” brings back its runs and downloads.';
    for (const submissions of [undefined, 'charge', 'kept'] as const)
      await signOut(
        accounts,
        {} as unknown as ApiKeys,
        () => ({ submissions, hasDownloads: submissions === 'kept' }),
        () => assert.fail('not confirmed'),
      );
    const discarded = `Unfinished downloads will be removed. ${staying}`;
    assert.deepEqual(standIn.told.details, [staying, staying, discarded]);
  });

  it('takes away what is unfinished also where the keyring fails, and says that it does', async () => {
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
        () => ({ submissions: undefined, hasDownloads: true }),
        (id) => Promise.resolve(void done.push(id)),
      );
    standIn.told.answer = ([button]) => button;
    await assert.rejects(run(), /locked/);
    assert.deepEqual(done, ['one']);
  });
});
