import assert from 'node:assert/strict';
import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import type { Disposable } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, until } from '../../../helpers/runs/support.ts';
import { faultOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { updateWelcomeContext } = await withVscode(
  () => import('../../../../src/ui/accounts/welcomeContext.ts'),
);
const { showBalance } = await withVscode(() => import('../../../../src/ui/accounts/balanceItem.ts'));

describe('showBalance', () => {
  let bench: Bench;
  let session: Session;
  let status: Disposable;
  let isRefused: boolean;
  let others: number;
  let reads: number;
  let fault: string | undefined;
  let accountsChanged: Emitter<void>;

  beforeEach(async () => {
    standIn.settings.set('fineTuning.lowBalance', 20);
    isRefused = false;
    bench = await Bench.start();
    const { url } = await bench.serve((_, response) => {
      if (isRefused) sendJson(response, 401, { error: { code: 'invalid_api_key', message: '' } });
      else sendJson(response, 200, { balance_cents: 1_234, currency: 'EUR' });
    });
    session = bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
    others = reads = 0;
    fault = undefined;
    accountsChanged = new Emitter();
    status = showBalance(
      { active: session, onDidChangeActive: new Emitter().event } as unknown as Sessions,
      {
        get accounts() {
          return [session.account, ...Array.from({ length: others }, () => session.account)];
        },
        onDidChange: accountsChanged.event,
      },
      () => Promise.resolve([`Spent: ${++reads}`]),
      ({ kind }) => (kind === 'sandbox' && fault ? faultOf(fault) : undefined),
    );
  });
  afterEach(async () => {
    status.dispose();
    standIn.settings.clear();
    await bench.end();
  });

  it('shows the name of the account as soon as another account is added', async () => {
    await session.balance.refresh();
    assert.equal(standIn.statusItems.at(-1)?.text, '$(credit-card) 12.34 EUR');
    others = 1;
    accountsChanged.fire();
    assert.equal(standIn.statusItems.at(-1)?.text, '$(credit-card) account-1 12.34 EUR');
  });

  it('warns below the threshold as soon as the setting changes', async () => {
    const color = () => standIn.statusItems.at(-1)?.backgroundColor?.id;
    standIn.settings.clear();
    await session.balance.refresh();
    assert.equal(color(), undefined);
    standIn.changeSetting('lowBalance', 13);
    assert.equal(color(), 'statusBarItem.warningBackground');
    standIn.changeSetting('lowBalance', 12);
    assert.equal(color(), undefined);
  });

  it('names the fault of the sandbox that is on', async () => {
    const tooltip = () => standIn.statusItems.at(-1)?.tooltip ?? '';
    fault = 'Sandbox scenario “Balance too low” is on.';
    await session.balance.refresh();
    assert.doesNotMatch(tooltip(), /fault/);
    session.account = { kind: 'sandbox', id: 'account-1', name: 'Sandbox' };
    await session.balance.refresh();
    assert.match(tooltip(), /\nSandbox scenario “Balance too low” is on\.\n/);
  });

  it('reads spending once for several changes, and hides it when the API key is rejected', async () => {
    const tooltip = () => standIn.statusItems.at(-1)?.tooltip ?? '';
    await session.balance.refresh();
    await session.balance.refresh();
    await until(() => tooltip().includes('\nSpent: 1\n'));
    isRefused = true;
    await assert.rejects(session.balance.refresh());
    assert.doesNotMatch(tooltip(), /Spent/);
    assert.equal(reads, 1);
  });

  it('hides the balance when the API key is rejected, and shows it with another key', async () => {
    const item = () => standIn.statusItems.at(-1);
    await session.balance.refresh();
    assert.match(item()?.text ?? '', /12\.34 EUR$/);
    assert.match(item()?.tooltip ?? '', /low-balance threshold/);
    isRefused = true;
    await assert.rejects(session.balance.refresh());
    const said = [item()?.text, item()?.tooltip, item()?.accessibilityInformation?.label].join();
    assert.doesNotMatch(said, /12\.34|threshold/);
    assert.match(said, /account-1.*rejected this account’s API key/s);
    assert.equal(item()?.backgroundColor?.id, 'statusBarItem.warningBackground');
    isRefused = false;
    session.reconnect();
    await session.balance.refresh();
    assert.match(item()?.text ?? '', /12\.34 EUR$/);
  });
});

describe('updateWelcomeContext', () => {
  const folder = useFolder();

  it('shows that accounts are unreadable until they are readable again', async () => {
    const file = path.join(folder(), 'accounts.json');
    await mkdir(file);
    const accounts = new AccountStore(folder());
    await assert.rejects(accounts.open());
    standIn.forget();
    const sessions = { active: undefined, onDidChangeActive: new Emitter().event } as unknown as Sessions;
    const context = updateWelcomeContext(sessions, accounts);
    const shown = () => standIn.executed.findLast(([, key]) => key === 'fineTuning.accountsUnreadable')?.[2];
    try {
      assert.equal(shown(), true);
      await rmdir(file);
      await accounts.open();
      assert.equal(shown(), false);
    } finally {
      context.dispose();
      accounts.dispose();
    }
  });
});
