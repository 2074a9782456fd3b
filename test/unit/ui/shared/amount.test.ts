import assert from 'node:assert/strict';
import { amountText } from '../../../../src/ui/shared/amount.ts';

describe('an amount in words', () => {
  for (const [cents, text] of [
    [0, '0.00'],
    [-0, '0.00'],
    [1, '0.01'],
    [99, '0.99'],
    [100, '1.00'],
    [517, '5.17'],
    [100_000, '1,000.00'],
    [-5, '-0.05'],
    [-123_456, '-1,234.56'],
    // Against the contract: fractions of a cent.
    [199.4, '1.99'],
    [199.7, '2.00'],
    [99.5, '1.00'],
    [0.4, '0.00'],
    [-0.4, '0.00'],
    [-199.7, '-2.00'],
    [Number.MAX_SAFE_INTEGER, '90,071,992,547,409.91'],
    [1e21, '10,000,000,000,000,000,000.00'],
  ] as const)
    it(`${cents} cents are ${text}`, () => assert.equal(amountText(cents, 'en'), text));

  it('groups and points as the language does', () => {
    assert.equal(amountText(123_456, 'de'), '1.234,56');
    assert.equal(amountText(123_456, 'pt-br'), '1.234,56');
  });

  it('is none where the number is none', () => {
    for (const cents of [NaN, Infinity, -Infinity]) assert.equal(amountText(cents, 'en'), undefined);
  });
});
