import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('ensureActiveAccount', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let ensureActive: typeof import('../../../../src/ui/shared/ensureActiveAccount.ts').ensureActiveAccount;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ ensureActiveAccount: ensureActive } =
      await import('../../../../src/ui/shared/ensureActiveAccount.ts'));
  });
  after(() => hooks.deregister());

  it('switches to another account only after a question', async () => {
    standIn.forget();
    const accounts = {
      accounts: ['one', 'two'].map((id) => ({ id, name: `Näme ${id}` })),
      former: [{ id: 'former', name: 'Work' }],
      active: { id: 'one' },
      activate: (id: string) => Promise.resolve(void (accounts.active = { id })),
    };
    const ensure = (id: string) => ensureActive(accounts as unknown as AccountStore, id);
    standIn.told.answer = () => undefined;
    assert.deepEqual([await ensure('one'), standIn.told.sentences], [true, []]);
    assert.deepEqual([await ensure('two'), accounts.active.id], [false, 'one']);
    assert.match(standIn.told.sentences[0] ?? '', /Näme two/);
    standIn.told.answer = ([button]) => button;
    assert.deepEqual([await ensure('two'), accounts.active.id], [true, 'two']);
    for (const id of ['gone', 'former'])
      assert.deepEqual([await ensure(id), accounts.active.id], [false, 'two']);
    assert.match(standIn.told.sentences.at(-1) ?? '', /Work/);
    assert.deepEqual(standIn.executed.slice(-2), [['fineTuning.signIn'], ['fineTuning.signIn']]);
  });

  it('does not take a switch for done that did not happen: the account was signed out of meanwhile', async () => {
    standIn.forget();
    const accounts = {
      accounts: ['one', 'two'].map((id) => ({ id, name: id })),
      former: [],
      active: { id: 'one' },
      activate: () => Promise.resolve(),
    };
    standIn.told.answer = ([button]) => button;
    assert.equal(await ensureActive(accounts as unknown as AccountStore, 'two'), false);
  });
});
