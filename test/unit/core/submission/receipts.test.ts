import assert from 'node:assert/strict';
import type { Balance } from '../../../../src/core/api/types.ts';
import type { ChargedReceipt, Intent, Moment, Receipt } from '../../../../src/core/submission/intent.ts';
import {
  explainsBalance,
  priorsOf,
  trainedBefore,
  wasSubmittedInSize,
} from '../../../../src/core/submission/receipts.ts';
import { chargedReceipt, type ReceiptOptions } from '../../../helpers/receipts.ts';
import { intentOf } from '../../../helpers/submissions.ts';

const ORIGIN = 'https://service.test';
const [MINE, OTHER] = ['a'.repeat(64), 'b'.repeat(64)];
const FILE = { path: '/data/train.jsonl', sizeBytes: 1_000 };

const charged = (atMs: number, dataset: Partial<Receipt['dataset']> = {}, changes: object = {}) =>
  chargedReceipt({
    atMs,
    dataset: { ...FILE, sha256: MINE, ...dataset },
    run: { run_id: `r${atMs}` },
    ...changes,
  });
const uncharged = (kind: 'discarded' | 'not-charged', localMs: number): Receipt => ({
  ...intentOf({ created: { localMs }, dataset: { ...intentOf().dataset, ...FILE, sha256: MINE } }),
  settled: { kind, at: { localMs } },
});

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
  const intent = intentOf({
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
      assert.equal(explainsBalance(intent, receipts, now(4_200)), true);
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
    ['no API key', [receipt(500, 4_500, { keyId: undefined })], now(4_500), { keyId: undefined }],
    ['no balance before', chain, now(4_200), { balanceBefore: undefined }],
    ['its own receipt', [receipt(500, 4_500, { id: intent.id })], now(4_500)],
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
  ] as [string, ChargedReceipt[], Balance, Partial<Intent>?][])
    it(`is false with ${name}`, () => {
      assert.equal(explainsBalance({ ...intent, ...of }, receipts, balance), false);
    });

  function chargedTwice(one: ChargedReceipt): ChargedReceipt {
    const furtherRuns = [{ run_id: 'further', price_cents: 500 }];
    return { ...one, settled: { ...one.settled, furtherRuns } };
  }
});

describe('priorsOf', () => {
  it('returns submissions of the same bytes to the service that were or may be charged, newest first', () => {
    const receipts = [
      charged(1, {}, { accountId: 'account-2' }),
      charged(3, { rows: 7, path: '/elsewhere' }, { priority_processing: true }),
      uncharged('discarded', 2),
      uncharged('not-charged', 9),
      charged(9, { sha256: OTHER }),
      charged(9, {}, { origin: 'https://other.test' }),
    ];
    const [newest, ...older] = priorsOf(receipts, ORIGIN, MINE);
    assert.deepEqual(newest, {
      ...{ accountId: 'account-1', runId: 'r3', modelId: 'qwen3-8b', priority: true, submittedAtMs: 3 },
      ...{ priceCents: 500, currency: 'USD', rows: 7 },
    });
    assert.deepEqual(
      older.map(({ accountId, runId, priceCents }) => [accountId, runId, priceCents]),
      [
        ['account-1', undefined, undefined],
        ['account-2', 'r1', 500],
      ],
    );
  });

  it('uses the currency of the balance if the response was lost', () => {
    const run = { run_id: 'r', price_cents: 1, currency: undefined };
    const balanceBefore = { balance_cents: 5, currency: 'EUR' };
    assert.equal(priorsOf([charged(1, {}, { run, balanceBefore })], ORIGIN, MINE)[0]?.currency, 'EUR');
  });
});

describe('trainedBefore', () => {
  const of = (receipts: Receipt[], sha256: string | undefined, file = FILE) => {
    const found = trainedBefore(receipts, ORIGIN, file, sha256);
    return found && [found.kind, found.run.runId];
  };

  it('finds the last run of the same bytes at any path', () => {
    const receipts = [charged(1), charged(2, { path: '/elsewhere' }), charged(3, { sha256: OTHER })];
    assert.deepEqual(of(receipts, MINE), ['same', 'r2']);
    assert.deepEqual(of(receipts, MINE, { ...FILE, path: '/copy' }), ['same', 'r2']);
  });

  it('finds the last run of other bytes at the same path', () => {
    const receipts = [charged(1), charged(2, { sizeBytes: 999 }), charged(3, { path: '/elsewhere' })];
    assert.deepEqual(of(receipts, OTHER), ['changed', 'r2']);
    assert.deepEqual(of(receipts, undefined, { ...FILE, sizeBytes: 998 }), ['changed', 'r2']);
    assert.equal(of(receipts, OTHER, { ...FILE, path: '/copy' }), undefined);
  });

  it('returns nothing while the bytes may match a run, or if nothing was charged', () => {
    assert.equal(of([charged(1)], undefined), undefined);
    for (const kind of ['discarded', 'not-charged'] as const)
      assert.equal(of([uncharged(kind, 1)], MINE), undefined);
  });

  it('needs the digest only if a dataset of the same size was charged at the service', () => {
    assert.equal(wasSubmittedInSize([charged(1)], ORIGIN, 1_000), true);
    assert.equal(wasSubmittedInSize([charged(1)], ORIGIN, 1_001), false);
    assert.equal(wasSubmittedInSize([charged(1)], 'sandbox', 1_000), false);
    assert.equal(wasSubmittedInSize([uncharged('discarded', 1)], ORIGIN, 1_000), false);
  });
});
