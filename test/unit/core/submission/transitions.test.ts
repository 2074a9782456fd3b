import assert from 'node:assert/strict';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import { mayFollow, stepOf, type RecordStep } from '../../../../src/core/submission/transitions.ts';
import { chargedAt, intentOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const at = { localMs: 0, serviceMs: 0, monotonicMs: 0 };
const late = { localMs: 1, serviceMs: 7_200_000, monotonicMs: 7_200_000 };
const early = { ...late, serviceMs: 3_600_000, monotonicMs: 3_600_000 };
const check = { complete: true, candidates: [], balance_cents: 1, currency: 'USD' };
const settled = (kind: 'not-charged' | 'discarded' | 'withdrawn') => intentOf({ settled: { kind, at } });
const RECORDS: Readonly<Record<RecordStep, Intent>> = {
  draft: intentOf(),
  begun: intentOf({ attempts: [{ started: at }] }),
  closing: intentOf({ attempts: [{ started: at, closed: at }] }),
  lost: intentOf({ attempts: [uploadedAttempt(0)] }),
  cleared: intentOf({
    marker: 'ft-12345678',
    balanceBefore: { balance_cents: 1, currency: 'USD' },
    attempts: [{ started: at, closed: at, ended: at }],
    firstCleanCheck: { at: early, ...check },
    lastCheck: { at: late, ...check },
  }),
  refused: intentOf({ refused: { at, code: 'insufficient_balance' } }),
  'not-charged': settled('not-charged'),
  discarded: settled('discarded'),
  withdrawn: settled('withdrawn'),
  charged: chargedAt(intentOf(), 1),
};
const STEPS = Object.keys(RECORDS) as RecordStep[];

/** Each row: a step, those that may follow it, and after the bar those that only the window of that attempt may write. */
const TABLE = `
draft: draft begun not-charged discarded withdrawn charged | refused
begun: begun draft not-charged discarded charged | closing refused
closing: closing lost discarded charged | begun draft cleared refused not-charged
lost: lost closing cleared discarded charged |
cleared: cleared closing lost not-charged discarded charged |
refused: not-charged discarded charged |
not-charged: charged |
discarded: charged |
withdrawn: charged |
charged: charged |
`;

describe('the versions of a record', () => {
  it('say which step they are', () => {
    for (const [step, record] of Object.entries(RECORDS)) assert.equal(stepOf(record), step);
  });

  it('follow each other as the table says, and a charge is never taken back', () => {
    const rows = TABLE.trim().split('\n');
    assert.equal(rows.length, STEPS.length);
    for (const row of rows) {
      const [below = '', anybody = '', owner = ''] = row.split(/: | \|/);
      for (const isOwner of [false, true]) {
        const above = `${anybody} ${isOwner ? owner : ''}`.split(' ');
        for (const step of STEPS)
          assert.equal(
            mayFollow(RECORDS[below as RecordStep], RECORDS[step], isOwner),
            above.includes(step),
            `${step} above ${below}${isOwner ? ' by its window' : ''}`,
          );
      }
    }
  });
});
