import assert from 'node:assert/strict';
import { busyUntilMs, whyUncertain, obstacleOf } from '../../../../src/core/submission/stage.ts';
import { submissionOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';

const HOUR = 3_600_000;
const START = { localMs: 0 };
const cut = { started: START, ended: START };
const sent = uploadedAttempt(0);

describe('whyUncertain', () => {
  it('says why a sent submission may be charged; undefined for any other', () => {
    for (const stage of ['draft', 'sending', 'cleared', 'charged', 'ended'] as const)
      assert.equal(whyUncertain(submissionOf({ stage, attempts: [sent] })), undefined, stage);
    const open = submissionOf({ attempts: [sent], marker: 'ft-12345678' });
    assert.deepEqual(whyUncertain(open), { why: 'incomplete', decidedAtMs: undefined });
    const time = { localMs: 0, serviceMs: 0, monotonicMs: 0 };
    const balance = { balance_cents: 5000, currency: 'USD' };
    const early = { at: time, complete: true, candidates: [], ...balance };
    const attempts = [{ started: time, closed: time, ended: time }];
    const checked = { ...open, stage: 'sent', attempts, balanceBefore: balance, lastCheck: early } as const;
    assert.deepEqual(whyUncertain(checked), { why: 'too-early', decidedAtMs: 15 * 60_000 });
  });
});

describe('obstacleOf', () => {
  it('is 23 hours after it was created by either clock, or another API key, whatever was sent; not if it was refused', () => {
    const created = { localMs: 0, serviceMs: 5 * HOUR };
    for (const attempts of [[], [cut], [sent]])
      for (const [hours, keyId, skewHours, expected] of [
        [22.9, 'first', undefined, undefined],
        [22.9, undefined, undefined, undefined],
        [23, 'first', undefined, 'too-late'],
        [1, 'second', undefined, 'key-replaced'],
        [30, 'second', undefined, 'key-replaced'],
        [1, 'first', 26.9, undefined],
        [1, 'first', 27, 'too-late'],
        [1, 'first', -1, undefined],
      ] as const) {
        const submission = submissionOf({ created, keyId: 'first', attempts });
        const clockSkewMs = skewHours && skewHours * HOUR;
        const situation = { nowMs: hours * HOUR, keyId, clockSkewMs };
        assert.equal(
          obstacleOf(submission, situation),
          expected,
          `${attempts.length} ${hours} ${keyId} ${skewHours}`,
        );
        assert.equal(obstacleOf({ ...submission, ...refusedWith('invalid_api_key') }, situation), undefined);
      }
  });
});

describe('busyUntilMs', () => {
  it('is known as long as the service asked you to wait', () => {
    const submission = submissionOf({ attempts: [{ ...cut, notBefore: { localMs: 1000 } }] });
    assert.deepEqual([busyUntilMs(submission, 400), busyUntilMs(submission, 1000)], [1000, undefined]);
  });
});
