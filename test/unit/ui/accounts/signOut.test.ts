import assert from 'node:assert/strict';
import type { ApiKeys } from '../../../../src/core/accounts/apiKeys.ts';
import { KeysChangedError } from '../../../../src/core/accounts/errors.ts';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { signOut } = await withVscode(() => import('../../../../src/ui/accounts/signOut.ts'));

describe('Sign Out', () => {
  beforeEach(() => standIn.forget());

  const current = { requireCurrent: () => Promise.resolve() };

  it('warns that unfinished downloads will be removed, and removes them after the account', async () => {
    const done: string[] = [];
    const step = (name: string) => (id: string) => Promise.resolve(void done.push(`${name} ${id}`));
    const accounts = {
      active: { id: 'one', kind: 'service', name: 'Work' },
      remove: step('remove'),
    } as unknown as AccountStore;
    const apiKeys = { delete: step('delete'), ...current } as unknown as ApiKeys;
    const run = () =>
      signOut(accounts, apiKeys, () => ({ submissions: undefined, hasDownloads: true }), step('forget'));
    await run();
    assert.deepEqual(done, []);
    assert.match(standIn.shown.details[0] ?? '', /^Unfinished downloads will be removed\. Its API key /);
    standIn.shown.answer = ([button]) => button;
    await run();
    assert.deepEqual(done, ['remove one', 'delete one', 'forget one']);
  });

  it('explains the consequences for open submissions and unfinished downloads', async () => {
    const accounts = { active: { id: 'one', kind: 'service', name: 'Work' } } as unknown as AccountStore;
    for (const submissions of ['charge', 'kept'] as const)
      await signOut(
        accounts,
        current as unknown as ApiKeys,
        () => ({ submissions, hasDownloads: true }),
        () => assert.fail('not confirmed'),
      );
    const [charge, kept] = standIn.shown.details;
    assert.match(charge ?? '', /You may be charged.+Unfinished downloads will be removed\./);
    assert.match(
      kept ?? '',
      /not charged, as far as this machine knows.+Unfinished downloads will be removed\./,
    );
  });

  it('removes nothing if another window changed API keys while the dialog was open', async () => {
    let isCurrent = true;
    const accounts = {
      active: { id: 'one', kind: 'service', name: 'Work' },
      remove: () => assert.fail('removed'),
    } as unknown as AccountStore;
    const apiKeys = {
      requireCurrent: () => (isCurrent ? Promise.resolve() : Promise.reject(new KeysChangedError())),
    } as unknown as ApiKeys;
    standIn.shown.answer = ([button]) => {
      isCurrent = false;
      return button;
    };
    const none = { submissions: undefined, hasDownloads: false };
    await assert.rejects(
      signOut(
        accounts,
        apiKeys,
        () => none,
        () => assert.fail('discarded'),
      ),
      { code: 'keys-changed' },
    );
  });

  it('explains how to restore the sandbox, and mentions no API key', async () => {
    const accounts = { active: { id: 'one', kind: 'sandbox', name: 'Sandbox' } } as unknown as AccountStore;
    const staying = '“Use the Sandbox” brings back its runs and downloads.';
    for (const submissions of [undefined, 'charge', 'kept'] as const)
      await signOut(
        accounts,
        current as unknown as ApiKeys,
        () => ({ submissions, hasDownloads: submissions === 'kept' }),
        () => assert.fail('not confirmed'),
      );
    const discarded = `Unfinished downloads will be removed. ${staying}`;
    assert.deepEqual(standIn.shown.details, [staying, staying, discarded]);
  });

  it('removes unfinished downloads even if the keyring fails, and reports the failure', async () => {
    const done: string[] = [];
    const accounts = {
      active: { id: 'one', kind: 'service', name: 'Work' },
      remove: () => Promise.resolve(),
    } as unknown as AccountStore;
    const apiKeys = { delete: () => Promise.reject(new Error('locked')), ...current } as unknown as ApiKeys;
    const run = () =>
      signOut(
        accounts,
        apiKeys,
        () => ({ submissions: undefined, hasDownloads: true }),
        (id) => Promise.resolve(void done.push(id)),
      );
    standIn.shown.answer = ([button]) => button;
    await assert.rejects(run(), /locked/);
    assert.deepEqual(done, ['one']);
  });
});
