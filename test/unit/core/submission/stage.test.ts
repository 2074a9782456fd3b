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

  it('has an obstacle 23 hours after it was created and, once an attempt exists, for another API key', () => {
    const open = intentOf({ created: START, keyId: 'first', attempts: [sent] });
    const refused = { ...open, refused: { at: START, code: 'invalid_api_key' } };
    for (const [intent, hours, keyId, obstacle] of [
      [open, 22.9, 'first', undefined],
      [open, 22.9, undefined, undefined],
      [open, 23, 'first', 'too-late'],
      [open, 1, 'second', 'key-replaced'],
      [refused, 30, 'second', undefined],
      [{ ...open, attempts: [begun] }, 30, 'second', 'key-replaced'],
      [{ ...open, attempts: [cut] }, 22.9, 'first', undefined],
      [{ ...open, attempts: [cut] }, 23, 'first', 'too-late'],
      [{ ...open, attempts: [] }, 22.9, 'second', undefined],
      [{ ...open, attempts: [] }, 23, 'second', 'too-late'],
    ] as const)
      assert.equal(
        stageOf({ ...intent, attempts: [...intent.attempts] }, { nowMs: hours * HOUR, keyId }).obstacle,
        obstacle,
      );
  });

  it('has an obstacle 23 hours after it was created by the service’s clock, too', () => {
    const open = intentOf({ created: { localMs: 0, serviceMs: 5 * HOUR }, attempts: [sent] });
    const at = (clockSkewMs?: number) => stageOf(open, { nowMs: HOUR, clockSkewMs }).obstacle;
    assert.deepEqual(
      [at(27 * HOUR), at(26.9 * HOUR), at(), at(-HOUR)],
      ['too-late', undefined, undefined, undefined],
    );
  });

  it('must be looked for without a boundary or after two clean checks, unless that was done or it was refused', () => {
    const cleared = { ...checked, attempts: [timed], lastCheck: checkedAt(2 * HOUR) };
    for (const [intent, mustLook] of [
      [{}, true],
      [{ attempts: [begun] }, true],
      [{ attempts: [cut] }, true],
      // An earlier process looked.
      [{ looked: START }, true],
      [cleared, true],
      // Another attempt may go on.
      [{ ...cleared, attempts: [timed, begun] }, true],
      [{ attempts: [closing] }, undefined],
      [{ attempts: [sent] }, undefined],
      [{ attempts: [sent, cut] }, undefined],
      [{ attempts: [cut], refused: { at: START, code: 'insufficient_balance' } }, undefined],
    ] as [Partial<Intent>, true | undefined][]) {
      const of = (isLooked?: boolean) =>
        stageOf(intentOf(intent), { nowMs: 0, ...(isLooked !== undefined && { isLooked }) }).mustLook;
      // The look writes the end of an attempt that has none.
      const goesOn = mustLook && intent.attempts?.some(({ ended }) => ended === undefined);
      const always = goesOn === true ? true : undefined;
      assert.deepEqual([of(false), of(true), of()], [mustLook, always, always]);
    }
  });

  it('is busy as long as the service asked to wait', () => {
    const intent = intentOf({ attempts: [{ ...cut, notBefore: { localMs: 1000 } }] });
    assert.equal(stageOf(intent, { nowMs: 400 }).busyUntilMs, 1000);
    assert.equal(stageOf(intent, { nowMs: 1000 }).busyUntilMs, undefined);
  });
});
