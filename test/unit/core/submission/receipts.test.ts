import assert from 'node:assert/strict';
import type { Balance } from '../../../../src/core/api/types.ts';
import { explainsBalance } from '../../../../src/core/submission/receipts.ts';
import type { ChargedReceipt, Submission, Moment } from '../../../../src/core/submission/submission.ts';
import { chargedReceipt, type ReceiptOptions } from '../../../helpers/receipts.ts';
import { submissionOf } from '../../../helpers/submissions.ts';

const ORIGIN = 'https://service.test';

describe('explainsBalance', () => {
  const at = (afterMs: number, changes: Partial<Moment> = {}) => ({
    localMs: 0,
    monotonicMs: 1e6 + afterMs,
    serviceMs: 1e12 + afterMs,
    ...changes,
  });
  const attempts = (closed: Moment) => [{ started: at(-1e5), closed, ended: at(1e6) }];
  const account = { accountId: 'account-1', keyId: 'key-1', origin: ORIGIN };
  /** The balance was read right before its second attempt began. */
  const submission = submissionOf({
    ...account,
    balanceBefore: { balance_cents: 5_000, currency: 'USD' },
    attempts: [{ started: at(-1e5) }, { started: at(0), closed: at(10), ended: at(20) }],
  });
  const receipt = (price_cents: number, balance_after_cents: number, changes: ReceiptOptions = {}) =>
    chargedReceipt({
      ...account,
      attempts: attempts(at(5)),
      ...changes,
      run: { price_cents, balance_after_cents, currency: 'USD', ...changes.run },
    });
  const now = (balance_cents: number, currency = 'USD') => ({ balance_cents, currency });
  const chain = [receipt(300, 4_200), receipt(500, 4_500), receipt(0, 4_500)];

  it('is true if each receipt starts from the balance that the previous one left, in any order', () => {
    for (const receipts of [chain, chain.toReversed()])
      assert.equal(explainsBalance(submission, receipts, now(4_200)), true);
  });

  for (const [name, receipts, balance, of] of [
    ['no receipts', [], now(5_000)],
    ['another balance, a cent lower', chain, now(4_199)],
    ['another balance, a cent higher', chain, now(4_201)],
    ['another balance in the middle', chain, now(4_500)],
    ['a gap of a cent', [receipt(300, 4_199), receipt(500, 4_500)], now(4_199)],
    ['a gap before the first', [receipt(300, 4_200)], now(4_200)],
    ['an unknown price', [...chain, receipt(0, 4_200, { run: { price_cents: undefined } })], now(4_200)],
    [
      'an unknown balance after',
      [receipt(500, 4_500, { run: { balance_after_cents: undefined } })],
      now(4_500),
    ],
    ['an unknown currency', [receipt(500, 4_500, { run: { currency: undefined } })], now(4_500)],
    ['another currency of a receipt', [receipt(500, 4_500, { run: { currency: 'EUR' } })], now(4_500)],
    ['another currency now', chain, now(4_200, 'EUR')],
    ['another account', [receipt(500, 4_500, { accountId: 'account-2' })], now(4_500)],
    ['another API key', [receipt(500, 4_500, { keyId: 'key-2' })], now(4_500)],
    ['another service', [receipt(500, 4_500, { origin: 'https://other.test' })], now(4_500)],
    ['no balance before', chain, now(4_200), { balanceBefore: undefined }],
    ['its own receipt', [receipt(500, 4_500, { id: submission.id })], now(4_500)],
    [
      'a receipt sent before that balance was read',
      [receipt(500, 4_500, { attempts: attempts(at(-1)) })],
      now(4_500),
    ],
    [
      'one that may have been charged by an earlier attempt',
      [receipt(500, 4_500, { attempts: [...attempts(at(-1)), ...attempts(at(5))] })],
      now(4_500),
    ],
    [
      'one of last week, before the machine was restarted',
      [receipt(500, 4_500, { attempts: attempts(at(5, { serviceMs: 1e11 })) })],
      now(4_500),
    ],
    [
      'one without the service’s time',
      [receipt(500, 4_500, { attempts: attempts({ localMs: 9e12 }) })],
      now(4_500),
    ],
    ['a run that was charged twice', [chargedTwice(receipt(500, 4_500))], now(4_000)],
  ] as [string, ChargedReceipt[], Balance, Partial<Submission>?][])
    it(`is false with ${name}`, () => {
      assert.equal(explainsBalance({ ...submission, ...of }, receipts, balance), false);
    });

  function chargedTwice(one: ChargedReceipt): ChargedReceipt {
    const furtherRuns = [{ run_id: 'further', price_cents: 500 }];
    return { ...one, charge: { ...one.charge, furtherRuns } };
  }
});
