import assert from 'node:assert/strict';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import { isPastBoundary, isUncertain, stageOf } from '../../../../src/core/submission/stage.ts';
import { intentOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const HOUR = 3_600_000;
const START = { localMs: 0 };
const begun = { started: START };
const cut = { ...begun, ended: START };
const closing = { ...begun, closed: START };
const sent = uploadedAttempt(0);
const time = { localMs: 0, serviceMs: 0, monotonicMs: 0 };
const timed = { started: time, closed: time, ended: time };
const checkedAt = (serviceMs: number) => ({
  at: { localMs: serviceMs, serviceMs, monotonicMs: serviceMs },
  complete: true,
  candidates: [],
  balance_cents: 5000,
  currency: 'USD',
});
const checked: Partial<Intent> = {
  marker: 'ft-12345678',
  balanceBefore: { balance_cents: 5000, currency: 'USD' },
  firstCleanCheck: checkedAt(HOUR),
};

describe('stageOf', () => {
  const cases: [what: string, intent: Partial<Intent>, expected: object, money: string][] = [
    ['no attempt', {}, { name: 'draft' }, 'not past'],
    ['an attempt that was cut', { attempts: [cut] }, { name: 'draft' }, 'not past'],
    ['an attempt without an end', { attempts: [begun] }, { name: 'begun' }, 'not past'],
    ['a later attempt that was cut', { attempts: [begun, cut] }, { name: 'begun' }, 'not past'],
    [
      'a closing boundary, and no end',
      { attempts: [cut, closing] },
      { name: 'closing', why: 'incomplete' },
      'uncertain',
    ],
    ['a lost answer', { attempts: [sent] }, { name: 'lost', why: 'incomplete' }, 'uncertain'],
    [
      'a lost answer, and a later attempt without one',
      { attempts: [sent, cut] },
      { name: 'lost', why: 'incomplete' },
      'uncertain',
    ],
    [
      'a possible run',
      { ...checked, attempts: [sent], lastCheck: { ...checkedAt(2 * HOUR), candidates: ['run-1'] } },
      { name: 'lost', why: 'candidates' },
      'uncertain',
    ],
    [
      'two checks that found nothing',
      { ...checked, attempts: [timed], lastCheck: checkedAt(2 * HOUR) },
      { name: 'cleared' },
      'past',
    ],
    [
      'a refusal',
      { attempts: [closing], refused: { at: START, code: 'insufficient_balance' } },
      { name: 'refused', code: 'insufficient_balance' },
      'not past',
    ],
  ];
  for (const [what, intent, expected, money] of cases)
    it(`of ${what} is ${JSON.stringify(expected)}`, () => {
      const stage = stageOf(intentOf(intent));
      assert.deepEqual(stage, expected);
      const isPast = isPastBoundary(stage);
      assert.equal(isUncertain(stage) ? 'uncertain' : isPast ? 'past' : 'not past', money);
      assert.ok(isPast || !isUncertain(stage), 'what is uncertain is past the boundary');
    });

  it('has an obstacle for another API key and after 23 hours, but only if there may be a charge', () => {
    const open = intentOf({ keyId: 'first', attempts: [sent] });
    for (const [intent, hours, keyId, obstacle] of [
      [open, 22.9, 'first', undefined],
      [open, 22.9, undefined, undefined],
      [open, 23, 'first', 'too-late'],
      [open, 1, 'second', 'key-replaced'],
      [{ ...open, refused: { at: START, code: 'invalid_api_key' } }, 30, 'second', undefined],
      [intentOf({ keyId: 'first', attempts: [begun] }), 30, 'second', 'key-replaced'],
      [intentOf({ keyId: 'first', attempts: [cut] }), 30, 'second', undefined],
    ] as const)
      assert.equal(stageOf(intent, { nowMs: hours * HOUR, keyId }).obstacle, obstacle);
  });

  it('is busy as long as the service asked to wait', () => {
    const intent = intentOf({ attempts: [{ ...cut, notBefore: { localMs: 1000 } }] });
    assert.equal(stageOf(intent, { nowMs: 400 }).busyUntilMs, 1000);
    assert.equal(stageOf(intent, { nowMs: 1000 }).busyUntilMs, undefined);
  });
});
