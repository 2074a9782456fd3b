import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

const HOSTILE = 'Free \u202e$(check) [x](command:y)\u200b';
const SHOWN = 'Free <U+202E>$ (check) [x] (command:y)<U+200B>';

describe('what strangers wrote, in trees and the status bar', () => {
  let hooks: ModuleHooks;
  let views: {
    models: typeof import('../../../../src/ui/runs/modelsTree.ts');
    balance: typeof import('../../../../src/ui/accounts/statusMessages.ts');
    runs: typeof import('../../../../src/ui/runs/detailMessages.ts');
  };
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    standIn.forget();
    views = {
      models: await import('../../../../src/ui/runs/modelsTree.ts'),
      balance: await import('../../../../src/ui/accounts/statusMessages.ts'),
      runs: await import('../../../../src/ui/runs/detailMessages.ts'),
    };
  });
  after(() => hooks.deregister());

  const isHarmless = (item: unknown) => assert.doesNotMatch(JSON.stringify(item), /\$\(|\]\(|\u202e|\u200b/);

  it('rows of models and providers', () => {
    const event = () => ({ dispose: () => undefined });
    const model = { model_id: HOSTILE, name: HOSTILE, provider: HOSTILE, available: true };
    const session = {
      models: { models: [model], skipped: 0, onDidChange: event },
      isLocked: false,
      onDidChangeState: event,
    };
    const tree = new views.models.ModelsTree({
      active: session,
      onDidChangeActive: event,
    } as unknown as Sessions);
    const [provider] = tree.getChildren();
    const [row] = provider === undefined ? [] : tree.getChildren(provider);
    assert.ok(provider !== undefined && row !== undefined);
    for (const node of [provider, row]) {
      const { label, tooltip, accessibilityInformation } = tree.getTreeItem(node);
      assert.equal(label, SHOWN);
      isHarmless([tooltip, accessibilityInformation]);
    }
    tree.dispose();
  });

  it('the details of a run', () => {
    const detail = {
      run_id: HOSTILE,
      status: HOSTILE,
      model_id: HOSTILE,
      plan: HOSTILE,
      created_at: HOSTILE,
    };
    isHarmless(views.runs.runFacts({ ...detail, price_cents: 1 }, `${HOSTILE}!`, HOSTILE));
  });

  it('why the details of a run could not be read', async () => {
    const { FactItem } = await import('../../../../src/ui/runs/runRows.ts');
    const { ServiceError } = await import('../../../../src/core/api/errors.ts');
    const runs = { detail: () => undefined, detailFailure: () => new ServiceError('x', 500, HOSTILE) };
    const [fact] = await views.runs.readFacts({ runs } as unknown as Session, 'r');
    assert.ok(fact !== undefined);
    const item = new FactItem('r', fact);
    assert.ok(JSON.stringify(item.label).includes(SHOWN));
    isHarmless(item);
  });

  it('why a page shows no run, or no details', async () => {
    const { asText, explain } = await import('../../../../src/ui/shared/serviceErrors.ts');
    const { ServiceError } = await import('../../../../src/core/api/errors.ts');
    isHarmless(asText(explain(new ServiceError('x', 500, HOSTILE))));
  });

  it('the status bar, where an icon stands for the kind of account', () => {
    const view = { accountName: HOSTILE, isSandbox: false, isLow: false, state: 'ready' } as const;
    assert.equal(views.balance.balanceText({ ...view, balance: undefined }), `$(credit-card) ${SHOWN}`);
    const balance = { balance_cents: 100, currency: '$(x)' };
    assert.equal(views.balance.balanceText({ ...view, balance }), '$(credit-card) 1.00 $ (x)');
    isHarmless(views.balance.balanceTooltip({ ...view, balance }));
  });
});
