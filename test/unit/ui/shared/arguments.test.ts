import assert from 'node:assert/strict';
import type { Model } from '../../../../src/core/api/types.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

/** What menus, key bindings, agents and strangers hand to commands. */
const JUNK = [undefined, null, '', 0, 17, true, Symbol('x'), [], {}, () => 'x', new Date(), { fsPath: '/x' }];

describe('command arguments', () => {
  let runIdOf: typeof import('../../../../src/ui/shared/chooseRun.ts').runIdOf;
  let modelLinks: typeof import('../../../../src/ui/shared/modelMessages.ts').modelLinks;
  let modelOf: typeof import('../../../../src/ui/shared/modelMessages.ts').modelOf;

  before(async () => {
    const hooks = standInForVscode();
    ({ runIdOf } = await import('../../../../src/ui/shared/chooseRun.ts'));
    ({ modelLinks, modelOf } = await import('../../../../src/ui/shared/modelMessages.ts'));
    hooks.deregister();
  });

  it('name a run by its row or its id', () => {
    assert.equal(runIdOf('run-1'), 'run-1');
    assert.equal(runIdOf('../x'), '../x');
    assert.equal(runIdOf({ kind: 'run', runId: 'run-2' }), 'run-2');
  });

  it('name no run otherwise', () => {
    for (const junk of [...JUNK, { runId: 1 }, { runId: { toString: () => 'x' } }, { run_id: 'x' }])
      assert.equal(runIdOf(junk), undefined);
  });

  const model: Model = { model_id: 'm', name: 'M', provider: 'P', available: true };

  it('name a model by its row or its id', () => {
    assert.equal(modelOf('m', [model]), model);
    assert.equal(modelOf({ kind: 'model', model: { ...model, name: 'old' } }, [model]), model);
  });

  it('name no model otherwise, and none that is not listed', () => {
    for (const junk of [...JUNK, 'M', 'other', { model: null }, { model: 'm' }, { model: { model_id: 1 } }])
      assert.equal(modelOf(junk, [model]), undefined);
    assert.equal(modelOf({ model }, []), undefined);
    assert.equal(modelOf('__proto__', [model]), undefined);
  });
  describe('the links of a model', () => {
    it('are those that the service named, over https', () => {
      const both = { terms_url: 'https://a.test/terms', use_policy_url: 'https://a.test/policy' };
      assert.deepEqual(modelLinks(both), { terms: both.terms_url, policy: both.use_policy_url });
      assert.deepEqual(modelLinks({ terms_url: both.terms_url }), { terms: both.terms_url });
      assert.deepEqual(modelLinks({}), {});
    });

    it('are none that may not be opened', () => {
      for (const url of [
        '',
        'http://a.test/',
        'https://user:x@a.test/',
        'command:workbench.action.quit',
        'file:///x',
        'vscode://x',
        'javascript:x',
      ])
        assert.deepEqual(modelLinks({ terms_url: url, use_policy_url: url }), {});
    });
  });
});
