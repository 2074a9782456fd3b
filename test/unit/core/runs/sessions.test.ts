import assert from 'node:assert/strict';
import type { ServiceAccount } from '../../../../src/core/accounts/account.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { Client } from '../../../../src/core/api/client.ts';
import { Sessions } from '../../../../src/core/runs/sessions.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, silent } from '../../../helpers/runs/support.ts';

describe('Sessions', () => {
  let bench: Bench;
  const folder = useFolder();
  let accounts: AccountStore;
  let sessions: Sessions;
  let changes: string[];

  const account = (id: string): ServiceAccount => ({
    kind: 'service',
    id,
    name: id,
    baseUrl: 'https://service.test',
  });

  beforeEach(async () => {
    bench = await Bench.start();
    accounts = new AccountStore(folder());
    await accounts.open();
    for (const id of ['one', 'two']) await accounts.save(account(id));
    const server = await bench.serve((request, response) => {
      request.resume();
      request.on('end', () => sendJson(response, 401, { error: { code: 'invalid_api_key', message: 'no' } }));
    });
    sessions = new Sessions(
      accounts,
      () => Promise.resolve({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' }),
      (connection) => new Client(connection, () => bench.transport),
    );
    changes = [];
    sessions.onDidChangeState(({ session, state }) => changes.push(`${session.account.id} ${state}`));
  });
  afterEach(async () => {
    sessions.dispose();
    accounts.dispose();
    await bench.end();
  });

  it('fires when the session of any account changes state, and knows which 401 changed it', async () => {
    const submissions = new Submissions(bench.journal);
    const session = sessions.active;
    assert.equal(session?.account.id, 'two');
    const submission = submissions.submit(session, await bench.draft(), silent(), []).result;
    await accounts.activate('one');
    assert.equal(sessions.active?.account.id, 'one');
    const outcome = await submission;
    submissions.dispose();
    assert.ok(outcome.kind === 'not-charged', JSON.stringify(outcome));
    assert.deepEqual(changes, ['two key-rejected']);
    assert.equal(sessions.isReportedByState(outcome.error), true);
    assert.equal(sessions.active.isReportedByState(outcome.error), false);
  });

  it('keeps the session when the budget or website changes; another address ends it', async () => {
    const { active } = sessions;
    const other = sessions.find('one');
    assert.ok(active && other);
    let changes = 0;
    sessions.onDidChangeActive(() => (changes += 1));
    const budget = { perRunCents: 500, currency: 'USD' };
    await accounts.change('two', { budget });
    await accounts.change('one', { website: 'https://service.test' });
    assert.deepEqual([sessions.active, sessions.find('one'), changes], [active, other, 0]);
    assert.deepEqual(active.account, { ...account('two'), budget });
    assert.deepEqual(other.account, { ...account('one'), website: 'https://service.test' });
    await accounts.save({ ...account('two'), baseUrl: 'https://other.test' });
    assert.notEqual(sessions.active, active);
    assert.deepEqual([sessions.active?.account.budget, changes], [budget, 1]);
    await assert.rejects(active.balance.refresh(), { code: 'key-missing' });
  });

  it('does not report an error that changed no state', async () => {
    assert.equal(sessions.isReportedByState(new Error('another')), false);
    await assert.rejects(sessions.of(account('one')).balance.refresh());
    const again = await sessions
      .of(account('one'))
      .balance.refresh()
      .catch((error: unknown) => error);
    assert.equal(sessions.isReportedByState(again), false);
  });
});
