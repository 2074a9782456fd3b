import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import type { Account } from '../../../../src/core/accounts/account.ts';
import type { Connection } from '../../../../src/core/api/client.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Receipt } from '../../../../src/core/submission/submission.ts';
import type { SpendState } from '../../../../src/ui/money/protocol.ts';
import type { SpendPageParts } from '../../../../src/ui/money/spendPage.ts';
import { golden } from '../../../helpers/golden.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { SpendPage: Patient } = await withVscode(() => import('../../../../src/ui/money/spendPage.ts'));
// The page imports this module when an operation fails.
await withVscode(() => import('../../../../src/ui/shared/serviceErrors.ts'));
/** Longer than the delay before changes are drawn. */
const DRAWN_MS = 30;

class QuickPage extends Patient {
  protected override drawDelayMs(): number {
    return 5;
  }
}

describe('SpendPage', () => {
  let bench: Bench;
  let session: Session;
  let connection: Connection | undefined;
  let rows: unknown[];
  let isRejected: boolean;
  /** The next response to a request for the list of runs. */
  let more: () => [status: number, body: unknown];
  let pending: PendingSubmission[];
  let former: Account[];
  let account: Account | undefined;
  let receipts: Receipt[];
  let areReadable: boolean;
  let changed: { accounts: Emitter<void>; receipts: Emitter<void> };
  let panel: PanelStandIn;
  let page: QuickPage | undefined;

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [rows, receipts, isRejected, pending, former, areReadable] = [[], [], false, [], [], true];
    more = () => [200, { data: rows, has_more: false }];
    changed = { accounts: new Emitter(), receipts: new Emitter() };
    panel = new PanelStandIn();
    const { url } = await bench.serve((request, response) => {
      const where = new URL(String(request.url), 'http://x.test').pathname;
      const runId = where.split('/').at(-1) ?? '';
      if (isRejected) sendJson(response, 401, { error: { code: 'invalid_api_key', message: '' } });
      else if (where.endsWith('/runs')) sendJson(response, ...more());
      else if (where.endsWith('/balance')) sendJson(response, 200, { balance_cents: 3_750, currency: 'USD' });
      else
        sendJson(response, 200, {
          run: { ...row(runId, 0, 'completed'), price_cents: 130, label: `of ${runId}` },
        });
    });
    connection = { baseUrl: url, apiKey: 'service_test', keyId: 'key-1' };
    session = bench.session(() => Promise.resolve(connection));
    ({ account } = session);
  });
  afterEach(async () => {
    page?.dispose();
    await bench.end();
  });

  async function open(view?: object): Promise<void> {
    const parts = {
      context: { extensionUri: standIn.Uri.file('/extension') },
      accounts: {
        get accounts() {
          return account === undefined ? [] : [account];
        },
        former,
        onDidChange: changed.accounts.event,
      },
      sessions: { find: () => account && session, isReportedByState: () => false },
      journal: {
        receipts: () =>
          areReadable ? Promise.resolve([...receipts]) : Promise.reject(new Error('unreadable')),
        onDidChange: changed.receipts.event,
      },
      openJournal: () => Promise.resolve(),
      submissions: { pending, onDidChange: new Emitter().event },
      log: { error: () => undefined },
    } as unknown as SpendPageParts;
    const memory = { accountId: 'account-1', view } as ConstructorParameters<typeof QuickPage>[0];
    page = new QuickPage(memory, panel as unknown as vscode.WebviewPanel, parts);
    panel.send({ type: 'ready' });
    await until(() => panel.posted.length > 0 && !texts().includes('Loading…'));
  }
  const state = () => panel.posted.at(-1) as SpendState;
  const texts = () => JSON.stringify(state());
  const shows = (text: string) => until(() => texts().includes(text));
  const fact = (key: string) => state().facts.find((one) => one.key === key)?.value;
  const act = (action: string, target = '') => panel.send({ type: 'act', action, target });
  const view = (change: object) => panel.send({ type: 'view', ...state().memory.view, ...change });
  const column = (wanted: string) => {
    const at = state().runs?.columns.findIndex((one) => one.column === wanted) ?? -1;
    return state().runs?.rows.map(({ cells }) => cells[at]);
  };
  const paid = (label: string, price_cents: number | undefined, more: { currency?: string } = {}) =>
    chargedReceipt({ label, atMs: receipts.length, run: { price_cents, ...more } });

  it('shows no sum as complete if the receipts can’t be read', async () => {
    areReadable = false;
    await Promise.all([session.runs.refresh(), session.balance.refresh()]);
    await open();
    await shows('Couldn’t read the receipts on this machine.');
    assert.equal(fact('month'), 'at least 0.00 USD (not all runs loaded)');
  });

  it('says which limit of the budget is exceeded this month', async () => {
    const budgetOf = async (perMonthCents: number | undefined, perRunCents?: number) => {
      Object.assign(session.account, { budget: { perMonthCents, perRunCents, currency: 'USD' } });
      changed.accounts.fire();
      await sleep(DRAWN_MS);
      return fact('budget');
    };
    for (const [run_id, price_cents] of Object.entries({ a: 301, b: 200 }))
      receipts.push(chargedReceipt({ atMs: Date.now(), run: { run_id, price_cents, currency: 'USD' } }));
    // From another month.
    receipts.push(chargedReceipt({ atMs: 0, run: { run_id: 'c', price_cents: 900, currency: 'USD' } }));
    await open();
    await session.balance.refresh();
    assert.equal(await budgetOf(500), '5.00 USD per month · monthly limit exceeded');
    assert.equal(await budgetOf(501), '5.01 USD per month');
    const both = '3.00 USD per run · 5.00 USD per month';
    assert.equal(
      await budgetOf(500, 300),
      `${both} · monthly limit exceeded · limit per run exceeded this month`,
    );
    assert.equal(await budgetOf(undefined, 300), '3.00 USD per run · limit per run exceeded this month');
    assert.equal(await budgetOf(undefined, 301), '3.01 USD per run');
  });

  it('says that there are no runs only after the list was read', async () => {
    await open();
    assert.equal(state().status, '');
    await session.runs.refresh();
    await shows('No runs yet.');
    assert.deepEqual([state().runs, state().groups], [undefined, undefined]);
    act('exportCsv');
    await sleep(DRAWN_MS);
    assert.deepEqual(state().actions.find(({ action }) => action === 'exportCsv')?.isDisabled, true);
  });

  it('adds up each currency separately, and counts unknown prices until they are read', async () => {
    rows = [row('a', 3), row('b', 2)];
    for (const cents of [517, undefined]) receipts.push(paid('x', cents));
    receipts.push(paid('y', 99, { currency: 'EUR' }));
    await session.balance.refresh();
    await session.runs.refresh();
    await open();
    assert.match(
      fact('all') ?? '',
      /^at least (5\.17 USD · 0\.99 EUR|0\.99 EUR · 5\.17 USD) \(3 prices unknown\)$/,
    );
    assert.match(texts(), /"Prices not loaded: 2\./);
    act('readPrices');
    await shows('of b');
    assert.match(fact('all') ?? '', /7\.77 USD/);
    assert.match(fact('all') ?? '', /\(1 price unknown\)$/);
    assert.ok(column('price')?.includes('1.30 USD*'));
    assert.match(state().runs?.note ?? '', /assumed from the balance/);
    assert.doesNotMatch(texts(), /Load Prices/);
  });

  it('shows pending submissions that may have been charged', async () => {
    pending.push(pendingOf('idle', submissionOf({ accountId: 'account-1', attempts: [uploadedAttempt(0)] })));
    await session.balance.refresh();
    await open();
    const named = state().facts.find(({ key }) => key === 'pending');
    assert.deepEqual([named?.name, named?.value], ['Pending', '1 price unknown']);
  });

  it('doesn’t say of a possible run of an open submission that it was submitted elsewhere', async () => {
    rows = [row('a', 2), row('b', 1)];
    const lastCheck = { at: { localMs: 1 }, complete: true, candidates: ['b'] };
    const attempts = [uploadedAttempt(0)];
    pending.push(pendingOf('idle', submissionOf({ accountId: 'account-1', attempts, lastCheck })));
    await session.runs.refresh();
    await open();
    assert.deepEqual(column('dataset'), ['submitted elsewhere', 'unknown']);
    assert.equal(fact('pending'), undefined);
  });

  it('reports why runs couldn’t be loaded, and stops loading when closed', async () => {
    more = () => [200, { data: [row('a', 3)], has_more: true, next_cursor: 'c' }];
    await session.runs.refresh();
    await open();
    more = () => [400, { error: { code: 'bad_request', message: '' } }];
    act('loadRuns');
    await until(() => standIn.shown.sentences.length > 0);
    await shows('Load All Runs');
    let pages = 0;
    more = () => {
      page?.dispose();
      return [200, { data: [row(`b${++pages}`, 2)], has_more: pages < 5, next_cursor: `c${pages}` }];
    };
    act('loadRuns');
    await until(() => pages > 0);
    await sleep(DRAWN_MS);
    assert.equal(pages, 1);
  });

  it('warns of missing data in an export, and names it after a signed-out account', async () => {
    receipts.push(paid('mine', 100));
    former.push({ id: 'account-1', name: 'Work' } as Account);
    account = undefined;
    await open();
    Object.assign(standIn.window, {
      showSaveDialog: ({ defaultUri }: { defaultUri: vscode.Uri }) => Promise.resolve(defaultUri),
    });
    Object.assign(standIn.workspace, { fs: { writeFile: () => Promise.resolve() } });
    act('exportCsv');
    await until(() => standIn.shown.sentences.length > 0);
    const said = /^Exported 1 run to .*spending Work .*\.csv\. Some runs or prices may be missing\.$/;
    assert.match(standIn.shown.sentences[0] ?? '', said);
    account = session.account;
    changed.accounts.fire();
    await session.runs.refresh();
    act('exportCsv');
    await until(() => standIn.shown.sentences.length > 1);
    assert.match(standIn.shown.sentences[1] ?? '', /\.csv\.$/);
  });

  it('updates when receipts or the balance change', async () => {
    await open();
    receipts.push(paid('new', 517));
    changed.receipts.fire();
    await shows('5.17 USD');
    await session.balance.refresh();
    await shows('37.50 USD');
  });

  it('sorts by a column with unknown values last, and searches', async () => {
    for (const [label, cents] of [
      ['b', 100],
      ['a', undefined],
      ['c', 20],
    ] as const)
      receipts.push(paid(label, cents));
    await open();
    assert.deepEqual(column('label'), ['c', 'a', 'b']);
    view({ sortBy: 'price', isDescending: true });
    assert.deepEqual(column('label'), ['b', 'c', 'a']);
    view({ isDescending: false });
    assert.deepEqual(column('label'), ['c', 'b', 'a']);
    assert.deepEqual(
      state()
        .runs?.columns.filter(({ sort }) => sort !== 'none')
        .map(({ column: one, sort }) => [one, sort]),
      [['price', 'ascending']],
    );
    view({ search: ' TRAIN.jsonl' });
    assert.equal(state().runs?.rows.length, 3);
    // As in the Runs view: any order, any width.
    view({ search: 'ｊｓｏｎｌ train' });
    assert.equal(state().runs?.rows.length, 3);
    view({ search: 'nowhere' });
    assert.deepEqual([state().runs?.rows, state().runs?.count], [[], 'No matching runs']);
  });

  it('says once what all rows say, whatever is searched for, and has no columns for it', async () => {
    const columns = () => state().runs?.columns.map(({ column: one }) => one);
    receipts.push(paid('a', 100));
    await open();
    assert.equal(columns()?.length, 9);
    assert.equal(state().runs?.same, undefined);
    receipts.push(paid('b', 100), paid('c', 100));
    changed.receipts.fire();
    await until(() => state().runs?.rows.length === 3);
    assert.deepEqual(columns(), ['date', 'label']);
    golden('spend-page', { 'what all rows say': [state().runs?.same ?? ''] });
    assert.ok(state().runs?.rows.every(({ cells }) => cells.length === 2));
    receipts.push(paid('needle', 200));
    changed.receipts.fire();
    await shows('2.00 USD');
    assert.deepEqual(columns(), ['date', 'price', 'label']);
    view({ search: 'needle' });
    await until(() => state().runs?.rows.length === 1);
    assert.deepEqual(columns(), ['date', 'price', 'label']);
    view({ search: 'nowhere' });
    await until(() => state().runs?.rows.length === 0);
    assert.deepEqual([columns(), state().runs?.same], [['date', 'price', 'label'], undefined]);
  });

  it('shows the status of each run, as far as it is loaded, and sorts and searches by it', async () => {
    rows = [row('a', 3, 'complete'), row('b', 2, 'queued'), row('c', 1, 'failed')];
    receipts.push(paid('older', 100));
    await session.runs.refresh();
    await open();
    const words = ['Completed', 'Queued', 'Failed', 'unknown'];
    assert.deepEqual(column('status')?.toSorted(), words.toSorted());
    view({ sortBy: 'status', isDescending: false });
    assert.deepEqual(column('status'), ['Completed', 'Failed', 'Queued', 'unknown']);
    view({ search: 'fail' });
    assert.deepEqual(column('status'), ['Failed']);
  });

  it('groups by the chosen property', async () => {
    for (const label of ['a', 'b', 'a']) receipts.push(paid(label, 100));
    await open();
    view({ groupBy: 'label' });
    assert.deepEqual(
      state().groups?.rows.map(({ name, runs, spent, share }) => [name, runs, spent, share]),
      [
        ['a', '2', '2.00 USD', 1],
        ['b', '1', '1.00 USD', 0.5],
      ],
    );
    for (let n = 0; n < 30; n++) receipts.push(paid(`l${n}`, 10));
    changed.receipts.fire();
    await shows('12 more');
    assert.equal(state().groups?.rows.at(-1)?.spent, '1.20 USD');
  });

  it('opens only runs that are listed', async () => {
    receipts.push(paid('a', 100));
    await open();
    const target = state().runs?.rows[0]?.show.target ?? '';
    act('showRun', 'another');
    act('showRun', target);
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.showRun', { accountId: 'account-1', id: target }]]);
  });

  it('hides what a rejected API key has read, and shows receipts of a signed-out account', async () => {
    rows = [row('secret', 3)];
    await session.runs.refresh();
    receipts.push(paid('mine', 100));
    await open();
    await shows('secret');
    isRejected = true;
    await session.runs.refresh().catch(() => undefined);
    await shows('rejected this account’s API key');
    assert.doesNotMatch(texts(), /secret/);
    assert.match(state().facts.find(({ key }) => key === 'all')?.value ?? '', /not all runs loaded/);
    act('replaceKey');
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.replaceKey', 'account-1']]);
    connection = undefined;
    session.reconnect();
    await session.runs.refresh().catch(() => undefined);
    await shows('This window doesn’t have this account’s API key. Only the receipts');
    account = undefined;
    changed.accounts.fire();
    await shows('signed out');
    assert.match(texts(), /mine/);
  });
});
