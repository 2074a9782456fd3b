import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf } from '../../../helpers/submissions.ts';

const HOSTILE = 'Free \u202e$(check) [x](command:y)\u200b';
const SHOWN = 'Free <U+202E>$ (check) [x] (command:y)<U+200B>';

describe('what strangers wrote, in trees and the status bar', () => {
  let hooks: ModuleHooks;
  let views: {
    models: typeof import('../../../../src/ui/runs/modelsTree.ts');
    submission: typeof import('../../../../src/ui/submission/submissionRows.ts');
    balance: typeof import('../../../../src/ui/accounts/messages.ts');
    runs: typeof import('../../../../src/ui/runs/messages.ts');
    words: typeof import('../../../../src/ui/submission/messages.ts');
  };
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    standIn.forget();
    views = {
      models: await import('../../../../src/ui/runs/modelsTree.ts'),
      submission: await import('../../../../src/ui/submission/submissionRows.ts'),
      balance: await import('../../../../src/ui/accounts/messages.ts'),
      runs: await import('../../../../src/ui/runs/messages.ts'),
      words: await import('../../../../src/ui/submission/messages.ts'),
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

  it('the row of a submission', () => {
    const intent = intentOf({ label: HOSTILE, dataset: { ...intentOf().dataset, filename: HOSTILE } });
    const item = views.submission.submissionItem(pendingOf('unsent', intent), HOSTILE, Date.now());
    assert.equal(item.label, SHOWN);
    isHarmless([item.description, item.tooltip, item.accessibilityInformation]);
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

  it('the notice of a charge, in which a long name of a plan does not push the balance out', () => {
    const run = { run_id: 'r', price_cents: 100, currency: 'USD', plan_name: HOSTILE + 'x'.repeat(5_000) };
    views.words.tellCharged(run, HOSTILE, { name: HOSTILE, kind: 'service' }, undefined, () => undefined);
    const [sentence = ''] = standIn.told.sentences;
    isHarmless(sentence);
    assert.match(sentence, /Plan: Free .{50,60}\. New balance of .+: unknown\.$/);
  });

  it('the status bar, where an icon stands for the kind of account', () => {
    const view = { accountName: HOSTILE, isSandbox: false, isLow: false, state: 'ready' } as const;
    assert.equal(views.balance.balanceText({ ...view, balance: undefined }), `$(credit-card) ${SHOWN}`);
    const balance = { balance_cents: 100, currency: '$(x)' };
    assert.equal(views.balance.balanceText({ ...view, balance }), '$(credit-card) 1.00 $ (x)');
    isHarmless(views.balance.balanceTooltip({ ...view, balance }));
  });
});
