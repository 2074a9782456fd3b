import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { cacheFileOf } from '../../../../src/core/accounts/account.ts';
import type { Disposable } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { CacheFile } from '../../../../src/core/runs/cacheFile.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { chargedReceiptsOf, type Receipt } from '../../../../src/core/submission/submission.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import type { ActiveRunsParts } from '../../../../src/ui/runs/activeRuns.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { keepActiveFresh } = await withVscode(() => import('../../../../src/ui/runs/activeRuns.ts'));

describe('keepActiveFresh', () => {
  let bench: Bench;
  let session: Session;
  let kept: Disposable | undefined;
  let url: string;
  let asked: string[];
  let receipts: Receipt[];
  let view: { isVisible: boolean; onDidShow: Emitter<void>['event'] };
  let shows: Emitter<void>;

  beforeEach(async () => {
    [asked, receipts, kept] = [[], [], undefined];
    shows = new Emitter();
    view = { isVisible: false, onDidShow: shows.event };
    bench = await Bench.start();
    ({ url } = await bench.serve((request, response) => {
      const what = new URL(String(request.url), 'http://x.test').pathname.split('/').at(-1) ?? '';
      asked.push(what);
      const rows = [row('a', 1, 'complete'), row('b', 1, 'complete')];
      if (what === 'runs') sendJson(response, 200, { data: rows, has_more: false });
      else if (what === 'models') sendJson(response, 200, { data: [] });
      else if (what === 'balance') sendJson(response, 200, { balance_cents: 5, currency: 'USD' });
      else sendJson(response, 200, { run: { run_id: what, status: 'completed', model_id: 'm', label: 'L' } });
    }));
    session = bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' });
  });
  afterEach(async () => {
    kept?.dispose();
    await bench.end();
  });

  const begin = (keep = keepActiveFresh) => {
    kept = keep(
      {
        sessions: { active: session, onDidChangeActive: new Emitter().event },
        submissions: new Submissions(bench.journal),
        receiptsOf: (accountId: string) => Promise.resolve(chargedReceiptsOf(receipts, accountId)),
        log: { warn: () => undefined },
        runsFolder: path.join(bench.folder, 'runs'),
      } as unknown as ActiveRunsParts,
      view,
    );
  };
  const count = (what: string) => asked.filter((one) => one === what).length;
  const isRead = () =>
    session.runs.rows !== undefined &&
    session.models.models !== undefined &&
    session.balance.current !== undefined;

  it('reads runs, models, and balance once at the start, and again after a reconnect', async () => {
    begin();
    await until(isRead);
    assert.deepEqual(asked.toSorted(), ['balance', 'models', 'runs']);
    session.reconnect();
    await until(() => count('models') === 2 && count('balance') === 2);
  });

  it('starts at the next event if the refresher couldn’t be loaded', async () => {
    let isMissing = true;
    const failing = registerHooks({
      resolve: (specifier, context, next) => {
        if (isMissing && specifier.endsWith('/refresher.ts')) throw new Error('no such file');
        return next(specifier, context);
      },
    });
    // A separate instance, since another one may already have loaded the refresher.
    const instance = '../../../../src/ui/runs/activeRuns.ts?without=refresher';
    const own = (await withVscode(() => import(instance))) as { keepActiveFresh: typeof keepActiveFresh };
    try {
      begin(own.keepActiveFresh);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual(asked, []);
      isMissing = false;
      shows.fire();
      await until(isRead);
      shows.fire();
      assert.deepEqual(asked.toSorted(), ['balance', 'models', 'runs']);
    } finally {
      failing.deregister();
    }
  });

  it('adds runs submitted after the list was stored, no older ones, and all labels', async () => {
    begin();
    await until(isRead);
    const { readAtMs } = session.runs;
    const file = cacheFileOf(path.join(bench.folder, 'runs'), session.account.id);
    while ((await new CacheFile(file).read())?.readAtMs !== readAtMs)
      await new Promise((resolve) => setTimeout(resolve, 5));
    kept?.dispose();
    const receipt = (runId: string, atMs: number, accountId = session.account.id) =>
      chargedReceipt({ atMs, accountId, label: `Läbel ${runId}`, run: { run_id: runId } });
    receipts = [
      receipt('new', readAtMs + 1),
      receipt('a', readAtMs - 1),
      receipt('old', readAtMs - 1),
      receipt('other', readAtMs + 1, 'x'),
    ];
    session = bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' });
    const added: string[] = [];
    session.runs.onDidChange((change) => added.push(...change.added));
    begin();
    await until(isRead);
    assert.deepEqual(added, ['a', 'b', 'new']);
    const labels = ['new', 'a', 'b', 'other'].map((runId) => session.runs.label(runId));
    assert.deepEqual(labels, ['Läbel new', 'Läbel a', undefined, undefined]);
  });

  it('reads labels while the view is visible', async () => {
    begin();
    await until(isRead);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual([count('a'), count('b')], [0, 0]);
    view.isVisible = true;
    shows.fire();
    await until(() => session.runs.label('a') === 'L' && session.runs.label('b') === 'L');
  });
});
