import assert from 'node:assert/strict';
import { parseApiKey } from '../../../../src/core/api/address.ts';

describe('API key', () => {
  it('is trimmed, and told whether it has the prefix of the contract', () => {
    assert.deepEqual(parseApiKey(' service_ab.C-1 \r\n'), {
      ok: true,
      apiKey: 'service_ab.C-1',
      hasPrefix: true,
    });
    assert.deepEqual(parseApiKey('other'), { ok: true, apiKey: 'other', hasPrefix: false });
    assert.deepEqual(parseApiKey('Service_x'), { ok: true, apiKey: 'Service_x', hasPrefix: false });
  });

  for (const [typed, problem] of [
    ['', 'empty'],
    ['  \t', 'empty'],
    ['Bearer service_x', 'inner-blank'],
    ['service_\nx', 'inner-blank'],
    ['service_\u00a0x', 'inner-blank'],
    ['service_ä', 'not-header-safe'],
    ['service_\u200bx', 'not-header-safe'],
    ['service_\u0000x', 'not-header-safe'],
    ['service_“x”', 'not-header-safe'],
  ] as const) {
    it(`refuses ${JSON.stringify(typed)}: ${problem}`, () =>
      assert.deepEqual(parseApiKey(typed), { ok: false, problem }));
  }
});
