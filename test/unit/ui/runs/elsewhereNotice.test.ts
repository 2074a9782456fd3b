import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { NotificationLedger } from '../../../../src/core/runs/notificationLedger.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import type { ElsewhereNotice } from '../../../../src/ui/runs/elsewhereNotice.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { chargedAt, intentOf } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { ElsewhereNotice: Notice } = await withVscode(
  () => import('../../../../src/ui/runs/elsewhereNotice.ts'),
);

const HOUR = 60 * 60_000;

describe('Runs that were submitted elsewhere', () => {
  let bench: Bench;
  let url: string;
  let session: Session;
  let submissions: () => Promise<Intent[]>;
  /** The labels of runs, and how many hours ago they were created. */
  let runs: Record<string, [label: string | undefined, hoursAgo: number]>;
  let detailsRead: string[];
  let notices: ElsewhereNotice[];

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    ({ url } = await bench.serve((request, response) => {
      const id = /\/runs\/(.+)/.exec(request.url ?? '')?.[1];
      const summaries = Object.entries(runs).map(([run_id, [label, hoursAgo]]) => ({
        ...{ run_id, status: 'running', model_id: 'm', artifacts_available: false },
        created_at: new Date(Date.now() - hoursAgo * HOUR).toISOString(),
        ...(id !== undefined && { label }),
      }));
      if (id === undefined) {
        sendJson(response, 200, { data: summaries, has_more: false });
        return;
      }
      detailsRead.push(id);
      sendJson(response, 200, { run: summaries.find(({ run_id }) => run_id === id) });
    }));
    session = bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
    submissions = () => Promise.resolve([]);
    runs = {
      new: ['wörds ft-7k3m9qpx', 1],
      changed: ['FT-7K3M9QPY words', 23.9],
      old: ['ft-7k3m9qpz', 24.1],
      own: ['by curl', 2],
      none: [undefined, 3],
    };
    [detailsRead, notices] = [[], []];
  });
  afterEach(async () => {
    standIn.focus.focused = true;
    for (const notice of notices) notice.dispose();
    await bench.end();
  });

  /** Connects a window, with the quota of the one that polls. */
  async function connect(polls = true): Promise<void> {
    if (polls) session.quota.open(false);
    const ledger = new NotificationLedger(bench.state());
    const ensureActiveAccount = () => Promise.resolve(true);
    notices.push(new Notice(session, { ledger, ensureActiveAccount, readSubmissions: () => submissions() }));
    await session.runs.refresh();
  }

  const isShown = () => standIn.shown.sentences.length > 0;
  async function shownNothing(): Promise<void> {
    await delay(100);
    assert.deepEqual(standIn.shown.sentences, []);
  }
  const focus = (focused: boolean) => {
    standIn.focus.focused = focused;
    standIn.focus.changed.fire({ focused });
  };

  it('are counted once for all windows, by the marker in the labels of the last day', async () => {
    standIn.shown.answer = ([button]) => button;
    await connect();
    await until(isShown);
    assert.deepEqual(standIn.shown.sentences, [
      '2 runs were submitted from another machine, profile or container.',
    ]);
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.runs.focus']]);
    assert.deepEqual(detailsRead.sort(), ['changed', 'new', 'none', 'own']);
    standIn.forget();
    await connect();
    await shownNothing();
  });

  it('are none for an account with submissions here, or if these can’t be read; nothing is read then', async () => {
    submissions = () => Promise.resolve([intentOf({ origin: url })]);
    await connect();
    await shownNothing();
    submissions = () => Promise.reject(new Error('EIO'));
    await connect();
    await shownNothing();
    assert.deepEqual(detailsRead, []);
  });

  it('are not those of another local account of the service', async () => {
    const other = { origin: url, accountId: 'account-2' };
    const receipt = chargedAt(intentOf(other), 1);
    runs['run-1'] = ['ft-7k3m9qp0', 1];
    submissions = () => Promise.resolve([intentOf({ ...other, marker: 'ft-7k3m9qpx' }), receipt]);
    await connect();
    await until(isShown);
    assert.deepEqual(standIn.shown.sentences, [
      '1 run was submitted from another machine, profile or container.',
    ]);
  });

  it('are named in the window with the focus, once all labels are known, without own reads beyond the quota', async () => {
    focus(false);
    await connect(false);
    await session.runs.loadDetail('new');
    await shownNothing();
    for (const id of ['changed', 'own', 'none']) await session.runs.loadDetail(id);
    await shownNothing();
    assert.equal(detailsRead.length, 4);
    focus(true);
    await until(isShown);
    assert.match(standIn.shown.sentences[0] ?? '', /^2 runs /);
  });

  it('are not named if the first one here is submitted while labels are read', async () => {
    await connect(false);
    await delay(50);
    submissions = () => Promise.resolve([intentOf({ origin: url })]);
    for (const id of ['new', 'changed', 'own', 'none']) await session.runs.loadDetail(id);
    await shownNothing();
  });
});
