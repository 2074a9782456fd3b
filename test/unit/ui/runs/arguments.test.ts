import assert from 'node:assert/strict';
import type { Model } from '../../../../src/core/api/types.ts';
import { modelOf } from '../../../../src/ui/shared/arguments.ts';
import { runIdOf } from '../../../../src/ui/shared/arguments.ts';

/** What menus, key bindings, agents and strangers hand to commands. */
const JUNK = [undefined, null, '', 0, 17, true, Symbol('x'), [], {}, () => 'x', new Date(), { fsPath: '/x' }];

describe('command arguments', () => {
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
});
