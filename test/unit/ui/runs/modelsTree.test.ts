import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { Bench } from '../../../helpers/runs/support.ts';

describe('ModelsTree', () => {
  let hooks: ModuleHooks;
  let bench: Bench;
  before(() => (hooks = standInForVscode()));
  after(() => hooks.deregister());
  beforeEach(async () => (bench = await Bench.start()));
  afterEach(() => bench.end());

  it('shows models of which the service tells the id alone', async () => {
    const data = [{ model_id: 'a' }, { model_id: 'b', name: 'B', provider: 'P', available: false }];
    const { url } = await bench.serve((_, response) => sendJson(response, 200, { data }));
    const session = bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
    await session.models.refresh();
    const active = new Emitter<Session | undefined>();
    const sessions = { active: session, onDidChangeActive: active.event } as unknown as Sessions;
    const { ModelsTree } = await import('../../../../src/ui/runs/modelsTree.ts');
    const tree = new ModelsTree(sessions);
    const rows = tree.getChildren().flatMap((provider) => [provider, ...tree.getChildren(provider)]);
    const items = rows.map((row) => tree.getTreeItem(row));
    assert.deepEqual(
      items.map(({ label, contextValue }) => [label, contextValue]),
      [
        ['Provider unknown', undefined],
        ['a', 'model.available'],
        ['P', undefined],
        ['B', 'model.unavailable'],
      ],
    );
    tree.dispose();
  });
});
