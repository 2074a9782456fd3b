import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import path from 'node:path';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Log } from '../../../../src/ui/shared/log.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import { readList } from '../../../../src/core/runs/sharedList.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { Submitter } from '../../../../src/core/submission/submitter.ts';
import type { ActiveWatch } from '../../../../src/ui/runs/activeWatch.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf } from '../../../helpers/submissions.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

describe('ActiveWatch', () => {
  let hooks: ModuleHooks;
  let create: typeof ActiveWatch;
  let bench: Bench;
  let session: Session;
  let watch: ActiveWatch;
  let url: string;
  let asked: string[];
  /** What is torn off instead of answered. */
  let torn: RegExp | undefined;
  let receipts: Receipt[];

  before(async () => {
    hooks = standInForVscode();
    ({ ActiveWatch: create } = await import('../../../../src/ui/runs/activeWatch.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    [asked, torn, receipts] = [[], undefined, []];
    bench = await Bench.start();
    ({ url } = await bench.serve((request, response) => {
      const what = new URL(String(request.url), 'http://x.test').pathname.split('/').at(-1) ?? '';
      asked.push(what);
      if (torn?.test(what) === true) response.destroy();
      else if (what === 'runs') sendJson(response, 200, { data: [row('a', 1, 'complete')], has_more: false });
      else if (what === 'models') sendJson(response, 200, { data: [] });
      else sendJson(response, 200, { balance_cents: 5, currency: 'USD' });
    }));
    session = bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' });
  });
  afterEach(async () => {
    watch.dispose();
    await bench.end();
  });

  const begin = () => {
    const sessions = { active: session, onDidChangeActive: new Emitter().event } as unknown as Sessions;
    const journal = { receipts: () => Promise.resolve(receipts) };
    const log = { warn: () => undefined } as unknown as Log;
    const runsFolder = path.join(bench.folder, 'runs');
    watch = new create(sessions, new Submitter(bench.journal), journal, log, runsFolder, bench.state(), {
      isVisible: false,
      onDidShow: new Emitter<void>().event,
    });
  };
  const count = (what: string) => asked.filter((one) => one === what).length;
  const isWhole = () =>
    session.runs.rows !== undefined &&
    session.models.models !== undefined &&
    session.balance.current !== undefined;

  it('reads runs, models and balance once at the start, and again after the connection changed', async () => {
    begin();
    await until(isWhole);
    assert.deepEqual(asked.toSorted(), ['balance', 'models', 'runs']);
    session.reconnect();
    // Where the first look is still told to other windows, the next one comes in a few seconds.
    await until(() => count('models') === 2 && count('balance') === 2);
  });

  it('reads what is missing as soon as the service answers again', async () => {
    torn = /./;
    begin();
    await until(() => session.state === 'offline' && count('models') === 4 && count('balance') === 4);
    torn = undefined;
    await session.runs.refresh();
    await until(isWhole);
    assert.deepEqual([count('models'), count('balance')], [5, 5]);
  });

  it('asks no more often for what alone cannot be read, however often the service answers', async () => {
    torn = /models/;
    begin();
    await until(() => count('models') === 4 && session.state === 'offline');
    for (let turn = 0; turn < 10; turn++) {
      await session.runs.refresh();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.deepEqual([count('models'), session.state], [5, 'ready']);
  });

  it('knows what was submitted after the list was last stored, and nothing older', async () => {
    begin();
    await until(isWhole);
    const { readAtMs } = session.runs;
    const state = bench.state();
    while ((await readList(state, session.account.id))?.runs === undefined)
      await new Promise((resolve) => setTimeout(resolve, 5));
    watch.dispose();
    const receipt = (runId: string, atMs: number, accountId = session.account.id) => {
      const run = { run_id: runId };
      const settled = { kind: 'charged', at: { localMs: atMs }, run } as Receipt['settled'];
      return { ...intentOf({ accountId, label: 'Läbel' }), settled };
    };
    receipts = [
      receipt('new', readAtMs + 1),
      receipt('old', readAtMs - 1),
      receipt('other', readAtMs + 1, 'x'),
    ];
    session = bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' });
    const added: string[] = [];
    session.runs.onDidChange((change) => added.push(...change.added));
    begin();
    await until(isWhole);
    assert.deepEqual(added, ['a', 'new']);
    assert.equal(session.runs.label('new'), 'Läbel');
  });
});
