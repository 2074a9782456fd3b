import assert from 'node:assert/strict';
import { modelLinks } from '../../../../src/core/api/address.ts';

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
