import assert from 'node:assert/strict';
import type { Disposable } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { keepActiveDetails } from '../../../../src/ui/runs/activeDetails.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

describe('keepActiveDetails', () => {
  let bench: Bench;
  let session: Session;
  let asked: string[];
  let view: { isVisible: boolean; shows: Emitter<void> };
  let kept: Disposable | undefined;

  beforeEach(async () => {
    bench = await Bench.start();
    asked = [];
    kept = undefined;
    const server = await bench.serve((request, response) => {
      const { pathname } = new URL(String(request.url), 'http://x.test');
      const runId = pathname.split('/').at(-1) ?? '';
      const rows = [row('known', 2, 'complete'), row('new', 1, 'complete')];
      if (runId === 'runs') sendJson(response, 200, { data: rows, has_more: false });
      else {
        asked.push(runId);
        const run = { run_id: runId, status: 'completed', model_id: 'm', label: `L ${runId}` };
        sendJson(response, 200, { run });
      }
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' });
    session.budget.open(false);
    view = { isVisible: true, shows: new Emitter() };
    const detail = { run_id: 'known', status: 'completed', model_id: 'm', label: 'L known' };
    await bench.state().transaction((tables) => {
      const sql = 'INSERT INTO run_detail (account, run_id, listed, detail) VALUES (?, ?, ?, ?)';
      tables.run(sql, 'account-1', 'known', 'complete', JSON.stringify(detail));
    });
    await session.runs.refresh();
  });
  afterEach(async () => {
    kept?.dispose();
    await bench.end();
  });

  function begin(): void {
    const sessions = { active: session, onDidChangeActive: new Emitter().event } as unknown as Sessions;
    const shown = { ...view, onDidShow: view.shows.event };
    Object.defineProperty(shown, 'isVisible', { get: () => view.isVisible });
    kept = keepActiveDetails(sessions, bench.state(), shown, {
      warn: (text) => assert.fail(text),
    });
  }

  it('asks for no label that the disk knows, also while it is read, and keeps what it asked for', async () => {
    begin();
    // A change of the rows meanwhile.
    session.runs.insertCreated({ run_id: 'known' }, 'm', undefined);
    await until(() => session.runs.label('new') !== undefined);
    assert.deepEqual([asked, session.runs.label('known')], [['new'], 'L known']);
    const next = bench.state();
    let stored: unknown;
    for (let turn = 0; stored === undefined && turn < 100; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      stored = await next.read((tables) => tables.get("SELECT detail FROM run_detail WHERE run_id = 'new'"));
    }
    assert.match(JSON.stringify(stored), /L new/);
  });

  it('asks for none while the view is closed, and when it opens', async () => {
    view.isVisible = false;
    begin();
    await until(() => session.runs.label('known') !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(asked, []);
    view.isVisible = true;
    view.shows.fire();
    await until(() => asked.length === 1);
  });
});
