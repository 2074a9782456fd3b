import assert from 'node:assert/strict';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import { priorsOf, trainedBefore, wasSubmittedInSize } from '../../../../src/core/submission/receipts.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
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
