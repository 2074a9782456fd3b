import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceAccount } from '../../../../src/core/accounts/account.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { DisposableStore } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { switchAccount } = await withVscode(() => import('../../../../src/ui/accounts/switchAccount.ts'));
const { activateAccounts } = await withVscode(() => import('../../../../src/ui/accounts/feature.ts'));
const { notifyKeyNeeded } = await withVscode(() => import('../../../../src/ui/accounts/messages.ts'));

describe('the account menu', () => {
  const work: ServiceAccount = { kind: 'service', id: 'w', name: 'Work', baseUrl: 'https://service.test' };
  let folder: string;
  let accounts: AccountStore;

  beforeEach(async () => {
    standIn.forget();
    folder = await mkdtemp(path.join(tmpdir(), 'account-menu-'));
    accounts = new AccountStore(folder);
    await accounts.open();
    await accounts.save(work);
  });
  afterEach(async () => {
    accounts.dispose();
    await rm(folder, { recursive: true });
  });

  /** Picks a row and types into the box that it opens; returns the labels of the rows. */
  async function choose(row?: string, typed?: string): Promise<string[]> {
    standIn.forget();
    const answers = [row, typed];
    standIn.told.pick = () => answers.shift();
    await switchAccount(accounts);
    return standIn.told.inputs[0]?.items.map(({ label }) => label) ?? [];
  }
  const websiteRows = async () => (await choose()).filter((label) => label.includes('Website'));

  it('has one website that the user types, opens it, changes it and forgets it', async () => {
    assert.deepEqual(await websiteRows(), ['$(globe) Add Website…']);
    await choose('Add Website…', 'pay.test/billing');
    assert.deepEqual(accounts.active, { ...work, website: 'https://pay.test/billing' });
    assert.deepEqual(await websiteRows(), ['$(globe) Open Website', '$(edit) Change Website…']);
    await choose('Open Website');
    assert.deepEqual(standIn.executed, [['open', 'https://pay.test/billing']]);
    await choose('Change Website…', 'http://pay.test');
    assert.deepEqual(
      [standIn.told.inputs[1]?.validationMessage, accounts.active.website],
      ['Enter an https:// address without a user name or password.', 'https://pay.test/billing'],
    );
    await choose('Change Website…', ' ');
    assert.deepEqual(accounts.active, work);
  });

  it('leads to spending and budget of the active account; the sandbox has no website', async () => {
    await accounts.save({ kind: 'sandbox', id: 's', name: 'Sandbox' });
    assert.deepEqual(await websiteRows(), []);
    for (const [row, command] of [
      ['Show Spending', 'fineTuning.showSpend'],
      ['Set Budget…', 'fineTuning.setBudget'],
    ] as const) {
      await choose(row);
      assert.deepEqual(standIn.executed, [[command]]);
    }
    await accounts.remove('s');
    assert.doesNotMatch((await choose()).join(), /Budget|Spending|Website/);
  });

  it('a notice that an API key is needed offers the website beside it, if there is one', async () => {
    standIn.told.answer = () => 'Open Website';
    notifyKeyNeeded(work, 'key-rejected');
    notifyKeyNeeded({ ...work, website: 'https://pay.test/' }, 'key-rejected');
    await turn();
    assert.deepEqual(standIn.told.buttons, [['Replace API Key…'], ['Replace API Key…', 'Open Website']]);
    assert.deepEqual(standIn.executed, [['open', 'https://pay.test/']]);
  });

  it('a notice of a rejected API key waits for what is being sent, and is left out if that says so', async () => {
    const changed = new Emitter<PendingSubmission>();
    const stateChanged = new Emitter<object>();
    const session = { account: work, state: 'key-rejected' };
    let pending: PendingSubmission[] = [];
    const disposables = new DisposableStore();
    activateAccounts({
      accounts,
      disposables,
      log: { error: () => assert.fail('not loaded') },
      commands: { add: () => undefined },
      sessions: {
        find: () => session,
        onDidChangeActive: new Emitter().event,
        onDidChangeState: stateChanged.event,
      },
      submitter: {
        get pending() {
          return pending;
        },
        onDidChange: changed.event,
      },
    } as unknown as Parameters<typeof activateAccounts>[0]);
    const attempts = [wholeAttempt(0)];
    const at = (state: PendingSubmission['state'], changes = {}) =>
      pendingOf(state, intentOf({ id: 'one', accountId: 'w', attempts, ...changes }));
    const refused = (code: string) => at('refused', { refused: { at: { localMs: 0 }, code } });
    const told = async (state: string, ...steps: (PendingSubmission | undefined)[]) => {
      standIn.forget();
      pending = [at('uploading')];
      stateChanged.fire({ session, state: 'key-rejected' });
      changed.fire(at('validating', { id: 'another' }));
      session.state = state;
      for (const step of steps) {
        await turn();
        assert.deepEqual(standIn.told.sentences, []);
        pending = step === undefined ? [] : [step];
        changed.fire(step ?? at('validating'));
      }
      await turn();
      session.state = 'key-rejected';
      return standIn.told.sentences.length;
    };
    const sending = [at('waiting'), at('uploading'), at('validating'), at('checking')];
    // Charged, or canceled; without an answer; refused for something else; failed for something else.
    for (const end of [undefined, at('unknown'), refused('insufficient_balance'), at('unsent')])
      assert.equal(await told('key-rejected', ...sending, end), 1, end?.state);
    // The refusal of the API key, and what is not sent again because of it.
    assert.equal(await told('key-rejected', at('validating'), refused('invalid_api_key')), 0);
    assert.equal(await told('key-rejected', at('waiting'), at('unsent')), 0);
    assert.equal(await told('ready', at('validating'), undefined), 0, 'replaced meanwhile');
    disposables.dispose();
  });
});
