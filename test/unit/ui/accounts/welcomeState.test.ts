import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { keepWelcomeState } = await withVscode(() => import('../../../../src/ui/accounts/welcomeState.ts'));

describe('keepWelcomeState', () => {
  beforeEach(() => standIn.forget());

  it('tells whether there are accounts to switch to, also while none is active, and a website to open', () => {
    const changed = new Emitter<void>();
    const one = { kind: 'service', id: 'one', website: undefined as string | undefined };
    const accounts = { active: one, accounts: [one], isUnreadable: false, onDidChange: changed.event };
    const sessions = { active: undefined, onDidChangeActive: new Emitter<undefined>().event };
    const context = () =>
      Object.fromEntries(standIn.executed.map(([, key, value]) => [key, value])) as Record<string, unknown>;
    const kept = keepWelcomeState(sessions as unknown as Sessions, accounts as unknown as AccountStore);
    assert.equal(context()['fineTuning.state'], 'signedOut');
    assert.equal(context()['fineTuning.accountsStored'], true);
    assert.equal(context()['fineTuning.accountsUnreadable'], false);
    assert.equal(context()['fineTuning.website'], false);
    one.website = 'https://pay.test';
    accounts.accounts = [];
    changed.fire();
    assert.equal(context()['fineTuning.website'], true);
    assert.equal(context()['fineTuning.accountsStored'], false);
    accounts.isUnreadable = true;
    changed.fire();
    assert.equal(context()['fineTuning.accountsUnreadable'], true);
    kept.dispose();
    accounts.accounts = [one];
    changed.fire();
    assert.equal(context()['fineTuning.accountsStored'], false);
  });
});
