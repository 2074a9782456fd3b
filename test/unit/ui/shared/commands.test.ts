import assert from 'node:assert/strict';
import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import type { Model } from '../../../../src/core/api/types.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { Commands, ensureActiveAccount } = await withVscode(
  () => import('../../../../src/ui/shared/commands.ts'),
);
const { modelOf, runChoices, runIdOf } = await withVscode(
  () => import('../../../../src/ui/shared/arguments.ts'),
);
await withVscode(() => import('../../../../src/ui/shared/activeAccount.ts'));

describe('Commands', () => {
  const folder = useFolder();
  beforeEach(() => standIn.forget());

  function accountsOf(activate: boolean) {
    const accounts = {
      accounts: ['one', 'two'].map((id) => ({ id, name: `Näme ${id}` })),
      former: [{ id: 'former', name: 'Work' }],
      active: { id: 'one' },
      activate: (id: string) => {
        if (activate) accounts.active = { id };
        return Promise.resolve();
      },
    };
    const ensure = (id: string) => ensureActiveAccount(accounts as unknown as AccountStore, id);
    return { accounts, ensure };
  }

  it('switch to another account only after the user agrees', async () => {
    const { accounts, ensure } = accountsOf(true);
    const { shown } = standIn;
    shown.answer = () => undefined;
    assert.deepEqual([await ensure('one'), shown.sentences], [true, []]);
    assert.deepEqual([await ensure('two'), accounts.active.id], [false, 'one']);
    assert.deepEqual(
      [shown.sentences, shown.details, shown.isModal],
      [['Switch to Näme two?'], ['This belongs to Näme two, which isn’t the active account.'], [true]],
    );
    shown.answer = ([button]) => button;
    assert.deepEqual([await ensure('two'), accounts.active.id], [true, 'two']);
    for (const id of ['gone', 'former'])
      assert.deepEqual([await ensure(id), accounts.active.id], [false, 'two']);
    assert.match(shown.sentences.at(-1) ?? '', /Work/);
    assert.deepEqual(standIn.executed.slice(-2), [['fineTuning.signIn'], ['fineTuning.signIn']]);
  });

  it('do not run if the account could not be switched, for example after a sign-out', async () => {
    standIn.shown.answer = ([button]) => button;
    assert.equal(await accountsOf(false).ensure('two'), false);
  });

  it('receive the ID of a target, and can be retried with the same arguments after an error', async () => {
    standIn.shown.answer = () => undefined;
    const { accounts } = accountsOf(true);
    const calls: unknown[][] = [];
    const retries: (() => void)[] = [];
    const commands = new Commands(accounts as unknown as AccountStore, (_error, retry) =>
      retries.push(retry),
    );
    commands.add('account', {
      'fineTuning.showRun': (...args) => {
        calls.push(args);
        throw new Error('x');
      },
    });
    await commands.run('fineTuning.showRun', [{ accountId: 'two', id: 'a' }]);
    assert.deepEqual([calls, retries], [[], []]);
    await commands.run('fineTuning.showRun', [{ accountId: 'one', id: 'a' }, 2]);
    retries[0]?.();
    await new Promise(setImmediate);
    assert.deepEqual(calls, [
      ['a', 2],
      ['a', 2],
    ]);
  });

  it('return how they ended and a plain ID, and nothing else to whoever runs them', async () => {
    standIn.shown.answer = () => undefined;
    const { accounts } = accountsOf(true);
    const commands = new Commands(accounts as unknown as AccountStore, () => undefined);
    const end = async (
      command: () => unknown,
      needs: 'nothing' | 'account' = 'nothing',
      ...args: unknown[]
    ) => {
      commands.add(needs, { 'fineTuning.showRun': command as never });
      return commands.run('fineTuning.showRun', args);
    };
    assert.deepEqual(await end(() => undefined), { outcome: 'done' });
    const full = { outcome: 'charged', id: 'run-1', price_cents: 517, path: '/x', label: 'My run' };
    assert.deepEqual(await end(() => Promise.resolve(full)), { outcome: 'charged', id: 'run-1' });
    for (const id of ['/home/me/x.jsonl', 'My run', 'x'.repeat(200), '', 'a\n', undefined])
      assert.deepEqual(await end(() => ({ outcome: 'done', id })), { outcome: 'done' });
    assert.deepEqual(await end(() => Promise.reject(new Error('/home/me'))), { outcome: 'failed' });
    assert.deepEqual(await end(() => Promise.reject(new CancelledError())), { outcome: 'cancelled' });
    const ofAccount = (accountId: string) => end(() => undefined, 'account', { accountId, id: 'a' });
    assert.deepEqual(await ofAccount('two'), { outcome: 'cancelled' });
    assert.deepEqual(await ofAccount('gone'), { outcome: 'unavailable' });
    Object.assign(accounts, { active: undefined });
    assert.deepEqual(await end(() => undefined, 'account'), { outcome: 'unavailable' });
  });

  it('read unreadable accounts again, and run as soon as they are readable', async () => {
    const file = path.join(folder(), 'accounts.json');
    await mkdir(file);
    const accounts = new AccountStore(folder());
    await assert.rejects(accounts.open());
    const ran: string[] = [];
    const errors: unknown[] = [];
    const commands = new Commands(accounts, (error) => errors.push((error as { code: unknown }).code));
    commands.add('accounts', { 'fineTuning.signIn': () => void ran.push('signIn') });
    commands.add('nothing', { 'fineTuning.showLog': () => void ran.push('showLog') });
    try {
      await commands.run('fineTuning.signIn', []);
      await commands.run('fineTuning.showLog', []);
      assert.deepEqual([ran, errors], [['showLog'], ['accounts-unreadable']]);
      await rmdir(file);
      await commands.run('fineTuning.signIn', []);
      assert.deepEqual([ran, errors.length, accounts.isUnreadable], [['showLog', 'signIn'], 1, false]);
    } finally {
      accounts.dispose();
    }
  });

  /** Invalid arguments that menus, key bindings, agents, or other extensions may pass. */
  const JUNK = [undefined, null, '', 0, true, Symbol('x'), [], {}, () => 'x', new Date(), { fsPath: '/x' }];

  it('accept a run as a row or an ID, and nothing else', () => {
    assert.equal(runIdOf('../x'), '../x');
    assert.equal(runIdOf({ kind: 'run', runId: 'run-2' }), 'run-2');
    for (const junk of [...JUNK, { runId: 1 }, { runId: { toString: () => 'x' } }, { run_id: 'x' }])
      assert.equal(runIdOf(junk), undefined);
  });

  it('offer runs that can be told apart, by their time if nothing else differs', () => {
    const at = (minute: number) => new Date(2026, 4, 3, 22, minute).toISOString();
    const rows = [41, 42, undefined].map((minute, index) => ({
      run_id: `run-${index}`,
      status: 'queued',
      model_id: 'm',
      created_at: minute === undefined ? '' : at(minute),
    }));
    const session = {
      runs: { rows, label: () => 'sample-dataset', phase: () => 'waiting' },
      models: { nameOf: () => 'Model' },
    };
    const choices = runChoices(session as unknown as Parameters<typeof runChoices>[0]);
    assert.deepEqual(
      choices.map(({ description }) => description.replaceAll('\u202f', ' ').replace(/\d+ d ago$/, 'ago')),
      ['Queued · 10:41 PM · Model · ago', 'Queued · 10:42 PM · Model · ago', 'Queued · Model'],
    );
  });

  it('accept a listed model as a row or an ID, and nothing else', () => {
    const model: Model = { model_id: 'm', name: 'M', provider: 'P', available: true };
    assert.equal(modelOf('m', [model]), model);
    assert.equal(modelOf({ kind: 'model', model: { ...model, name: 'old' } }, [model]), model);
    for (const junk of [
      ...JUNK,
      'M',
      '__proto__',
      { model: null },
      { model: 'm' },
      { model: { model_id: 1 } },
    ])
      assert.equal(modelOf(junk, [model]), undefined);
    assert.equal(modelOf({ model }, []), undefined);
  });
});
