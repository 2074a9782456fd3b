import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('the balance in the status bar', () => {
  let hooks: ModuleHooks;
  before(() => (hooks = standInForVscode()));
  after(() => hooks.deregister());

  it('shows a hostile account name and currency harmlessly', async () => {
    const { balanceText, balanceTooltip } = await import('../../../../src/ui/accounts/messages.ts');
    const accountName = 'Free \u202e$(check) [x](command:y)\u200b';
    const view = { accountName, isSandbox: false, isLow: false, state: 'ready' } as const;
    const shown = '$(credit-card) Free <U+202E>$ (check) [x] (command:y)<U+200B>';
    assert.equal(balanceText({ ...view, balance: undefined }), shown);
    const balance = { balance_cents: 100, currency: '$(x)' };
    assert.equal(balanceText({ ...view, balance }), '$(credit-card) 1.00 $ (x)');
    assert.doesNotMatch(balanceTooltip({ ...view, balance }), /\$\(|\]\(|\u202e|\u200b/);
  });
});
