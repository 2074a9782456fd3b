import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { Bench, row } from '../../../helpers/runs/support.ts';

describe('"Show Run"', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let showRun: typeof import('../../../../src/ui/runs/showRun.ts').showRun;
  let bench: Bench;
  let session: Session;
  let requests: number;
  let shown: string[][];

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ showRun } = await import('../../../../src/ui/runs/showRun.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    shown = [];
    bench = await Bench.start();
    const server = await bench.serve((_, response) => {
      requests += 1;
      sendJson(response, 200, { data: [row('a', 1), row('b', 0)], has_more: false });
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' });
    await session.runs.refresh();
    requests = 0;
  });
  afterEach(() => bench.end());

  const show = (argument?: unknown) =>
    showRun({ active: session } as unknown as Sessions, (...ids) => shown.push(ids))(argument);

  it('opens the page of a row or an id, and leaves reading to the page', async () => {
    await show({ kind: 'run', runId: 'a' });
    await show('elsewhere');
    assert.deepEqual(shown, [
      ['account-1', 'a'],
      ['account-1', 'elsewhere'],
    ]);
    assert.equal(requests, 0);
  });

  it('asks which run is meant, and opens nothing where none is chosen', async () => {
    await show();
    assert.deepEqual(shown, []);
    standIn.told.pick = ({ items }) => items[1]?.label;
    await show(7);
    assert.equal(standIn.told.inputs.length, 2);
    assert.equal(shown.length, 1);
  });
});
