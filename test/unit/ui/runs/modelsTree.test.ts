import assert from 'node:assert/strict';
import type { Model } from '../../../../src/core/api/types.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { ModelsTree } = await withVscode(() => import('../../../../src/ui/runs/modelsTree.ts'));

describe('ModelsTree', () => {
  function itemsOf(...models: Model[]) {
    const onDidChange = () => ({ dispose: () => undefined });
    const store = { models, skipped: 1, onDidChange };
    const active = { models: store, isLocked: false, onDidChangeState: onDidChange };
    const sessions = { active, onDidChangeActive: onDidChange } as unknown as Sessions;
    const tree = new ModelsTree(sessions);
    assert.match(standIn.views.at(-1)?.message ?? '', /^Unreadable entries hidden: 1\./);
    const rows = tree.getChildren().flatMap((provider) => [provider, ...tree.getChildren(provider)]);
    active.isLocked = true;
    assert.deepEqual(tree.getChildren(), []);
    tree.dispose();
    return rows.map((one) => tree.getTreeItem(one));
  }

  it('shows models by provider and marks unavailable ones', () => {
    const items = itemsOf(
      { model_id: 'b', name: 'B', provider: 'P', available: false },
      { model_id: 'a', name: 'a', provider: '', available: true, terms_url: 'https://x.test' },
    );
    assert.deepEqual(
      items.map(({ label, description, contextValue }) => [label, description, contextValue]),
      [
        ['Provider unknown', undefined, undefined],
        ['a', '', 'model.available.terms'],
        ['P', undefined, undefined],
        ['B', 'not available', 'model.unavailable'],
      ],
    );
  });

  it('sanitizes hostile names', () => {
    const hostile = 'Free \u202e$(check) [x](command:y)\u200b';
    const model = { model_id: hostile, name: hostile, provider: hostile, available: true };
    for (const { label, tooltip, accessibilityInformation } of itemsOf(model)) {
      assert.equal(label, 'Free <U+202E>$ (check) [x] (command:y)<U+200B>');
      assert.doesNotMatch(JSON.stringify([tooltip, accessibilityInformation]), /\$\(|\]\(|\u202e|\u200b/);
    }
  });
});
