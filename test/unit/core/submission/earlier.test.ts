import assert from 'node:assert/strict';
import {
  earlierSubmissionsOf,
  isRepeat,
  trainedBefore,
  wasSubmittedInSize,
} from '../../../../src/core/submission/earlier.ts';
import { ended, type Submission, type Receipt } from '../../../../src/core/submission/submission.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { submissionOf, refusedWith } from '../../../helpers/submissions.ts';

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
const uncharged = (reason: 'discarded' | 'not-charged', localMs: number): Receipt => {
  const dataset = { ...submissionOf().dataset, ...FILE, sha256: MINE };
  return ended(submissionOf({ created: { localMs }, dataset }), reason, { at: { localMs } });
};

describe('earlierSubmissionsOf', () => {
  const dataset = { ...submissionOf().dataset, ...FILE, sha256: MINE };
  const open = (localMs: number, changes: Partial<Submission> = {}) =>
    submissionOf({ created: { localMs }, dataset, ...changes });
  const found = (records: Submission[], listed?: Parameters<typeof earlierSubmissionsOf>[2]['listed']) =>
    earlierSubmissionsOf(MINE, ORIGIN, { records, listed });

  it('returns the submissions of these bytes that were, may be or may still be charged, newest first', () => {
    const begun = [{ started: { localMs: 4 } }];
    const records = [
      charged(1, {}, { accountId: 'account-2' }),
      charged(3, { rows: 7, path: '/elsewhere' }, { priority_processing: true, label: 'rows ft-7k3m9qpx' }),
      uncharged('discarded', 2),
      uncharged('not-charged', 9),
      charged(9, { sha256: OTHER }),
      charged(9, {}, { origin: 'https://other.test' }),
      open(4, { attempts: begun }),
      open(5),
      open(9, { attempts: begun, ...refusedWith('insufficient_funds') }),
    ];
    const earlier = found(records);
    assert.deepEqual(
      earlier.map(({ kind, accountId, runId, priceCents }) => [kind, accountId, runId, priceCents]),
      [
        ['draft', 'account-1', undefined, undefined],
        ['open', 'account-1', undefined, undefined],
        ['charged', 'account-1', 'r3', 500],
        ['discarded', 'account-1', undefined, undefined],
        ['charged', 'account-2', 'r1', 500],
      ],
    );
    assert.deepEqual(earlier[2], {
      ...{ kind: 'charged', id: records[1]?.id, accountId: 'account-1', runId: 'r3', modelId: 'qwen3-8b' },
      ...{ priority: true, submittedAtMs: 3, priceCents: 500, currency: 'USD', rows: 7 },
      label: 'rows ft-7k3m9qpx',
    });
  });

  it('uses the currency of the balance if the response was lost', () => {
    const run = { run_id: 'r', price_cents: 1, currency: undefined };
    const balanceBefore = { balance_cents: 5, currency: 'EUR' };
    assert.equal(found([charged(1, {}, { run, balanceBefore })])[0]?.currency, 'EUR');
  });

  it('returns the runs with this label and a marker that no record has: they were submitted elsewhere', () => {
    const row = (run_id: string, created_at = '2026-05-01T00:00:00Z') => ({
      ...{ run_id, created_at, status: 'complete', model_id: 'qwen3-8b', artifacts_available: false },
    });
    const labels: Record<string, string> = {
      'from-elsewhere': 'rows ft-7k3m9qpx',
      'from-here': 'rows ft-8k3m9qpx',
      'by-another-tool': 'rows',
      'another-label': 'others ft-9k3m9qpx',
      undated: 'rows ft-ak3m9qpx',
    };
    const rows = Object.keys(labels).map((id) => row(id, id === 'undated' ? '' : undefined));
    const runs = {
      rows,
      label: (id: string) => labels[id],
      detail: () => ({ ...row(''), price_cents: 7, assumedCurrency: 'USD' }),
    };
    const records = [submissionOf({ label: 'rows ft-8k3m9qpx', marker: 'ft-8k3m9qpx' })];
    const listed = { accountId: 'account-1', label: 'rows', runs };
    assert.deepEqual(found(records, listed), [
      {
        ...{ kind: 'elsewhere', id: 'from-elsewhere', accountId: 'account-1', runId: 'from-elsewhere' },
        ...{ modelId: 'qwen3-8b', priority: undefined, submittedAtMs: Date.parse('2026-05-01') },
        ...{ priceCents: 7, currency: 'USD', rows: undefined },
      },
    ]);
    // Without a label, nothing links a run to this dataset.
    assert.deepEqual(found(records, { ...listed, label: '' }), []);
  });
});

describe('isRepeat', () => {
  it('is true within a day, with the same model and queue, as far as the queue is known', () => {
    const [now, hour] = [1e12, 3_600_000];
    const [one] = earlierSubmissionsOf(MINE, ORIGIN, { records: [charged(now - 23 * hour)] });
    const chosen = { modelId: 'qwen3-8b', priority: false };
    const is = (changes: object, choice: object = {}) =>
      isRepeat({ ...chosen, ...choice }, { ...one!, ...changes }, now);
    assert.deepEqual(
      [is({}), is({ submittedAtMs: now - 24 * hour }), is({ modelId: 'other' }), is({}, { priority: true })],
      [true, false, false, false],
    );
    assert.equal(is({ priority: undefined }, { priority: true }), true);
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
