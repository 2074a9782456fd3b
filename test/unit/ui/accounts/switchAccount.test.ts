import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceAccount } from '../../../../src/core/accounts/account.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { switchAccount } = await withVscode(() => import('../../../../src/ui/accounts/switchAccount.ts'));
const { notifyKeyNeeded } = await withVscode(() => import('../../../../src/ui/accounts/enterApiKey.ts'));

describe('Account menu', () => {
  const work: ServiceAccount = { kind: 'service', id: 'w', name: 'Work', baseUrl: 'https://service.test' };
  const folder = useFolder();
  let accounts: AccountStore;

  beforeEach(async () => {
    standIn.forget();
    accounts = new AccountStore(folder());
    await accounts.open();
    await accounts.save(work);
  });
  afterEach(() => {
    accounts.dispose();
  });

  /** Picks a row, and enters a text into the box that it opens; returns the labels of the rows. */
  async function choose(row?: string, typed?: string): Promise<string[]> {
    standIn.forget();
    const answers = [row, typed];
    standIn.shown.pick = () => answers.shift();
    await switchAccount(accounts);
    return standIn.shown.inputs[0]?.items.map(({ label }) => label) ?? [];
  }
  const websiteRows = async () => (await choose()).filter((label) => label.includes('Website'));

  it('adds, opens, changes, and removes the website of an account', async () => {
    assert.deepEqual(await websiteRows(), ['$(globe) Add Website…']);
    await choose('Add Website…', 'pay.test/billing');
    assert.deepEqual(accounts.active, { ...work, website: 'https://pay.test/billing' });
    assert.deepEqual(await websiteRows(), ['$(globe) Open Website', '$(edit) Change Website…']);
    await choose('Open Website');
    assert.deepEqual(standIn.executed, [['open', 'https://pay.test/billing']]);
    await choose('Change Website…', 'http://pay.test');
    assert.deepEqual(
      [standIn.shown.inputs[1]?.validationMessage, accounts.active.website],
      ['Enter an https:// address without a user name or password.', 'https://pay.test/billing'],
    );
    await choose('Change Website…', ' ');
    assert.deepEqual(accounts.active, work);
  });

  it('offers spending and budget of the active account, and for the sandbox its menu and no website', async () => {
    await accounts.save({ kind: 'sandbox', id: 's', name: 'Sandbox' });
    assert.deepEqual(await websiteRows(), []);
    for (const [row, command] of [
      ['Show Spending and Prices', 'fineTuning.showSpend'],
      ['Set Budget…', 'fineTuning.setBudget'],
      ['Manage Sandbox…', 'fineTuning.sandbox'],
    ] as const) {
      await choose(row);
      assert.deepEqual(standIn.executed, [[command]]);
    }
    await accounts.remove('s');
    assert.doesNotMatch((await choose()).join(), /Budget|Spending|Website|Reset/);
  });

  it('shares the website with the notification that asks for an API key', async () => {
    standIn.shown.answer = () => 'Open Website';
    notifyKeyNeeded(work, 'key-rejected');
    notifyKeyNeeded({ ...work, website: 'https://pay.test/' }, 'key-rejected');
    await turn();
    assert.deepEqual(standIn.shown.buttons, [['Replace API Key…'], ['Replace API Key…', 'Open Website']]);
    assert.deepEqual(standIn.executed, [['open', 'https://pay.test/']]);
  });
});
