import assert from 'node:assert/strict';
import type { UncertaintyReason } from '../../../../src/core/submission/reconcilePolicy.ts';
import { nextAutomaticCheckMs } from '../../../../src/core/submission/checkTimes.ts';
import type { Attempt, Intent, Observation } from '../../../../src/core/submission/intent.ts';
import {
  isBalanceDecisive,
  nextCheckAtMs,
  uncertaintyOf,
  withEnds,
  withObservation,
  withoutObservations,
} from '../../../../src/core/submission/reconcilePolicy.ts';
import { sampleIntent } from '../../../helpers/submissions.ts';
import { HOUR, MARKER, MINUTE } from '../../../helpers/runs/stage.ts';

/** By the service's clock; this machine's clock is three years behind. */
const CLOSED_MS = Date.UTC(2031, 0, 1);
const LOCAL_MS = -3 * 365 * 24 * HOUR;
const at = (serviceMs: number | undefined) => ({
  localMs: (serviceMs ?? CLOSED_MS) + LOCAL_MS,
  monotonicMs: (serviceMs ?? CLOSED_MS) - CLOSED_MS + 1000 * HOUR,
  ...(serviceMs !== undefined && { serviceMs }),
});
/** Returns an attempt that was closed, and ended, at `serviceMs`. */
const attempt = (serviceMs: number | undefined): Attempt => ({
  started: at(CLOSED_MS),
  closed: at(serviceMs),
  ended: at(serviceMs ?? CLOSED_MS),
});

const intentOf = (changes: Partial<Intent> = {}) =>
  sampleIntent({
    marker: MARKER,
    label: `Läbel ${MARKER}`,
    keyId: 'key-1',
    balanceBefore: { balance_cents: 500, currency: 'EUR' },
    attempts: [attempt(CLOSED_MS)],
    ...changes,
  });
/** Returns a check that finds nothing, `afterMs` after the closing boundary. */
const checkAfter = (afterMs: number, changes: Partial<Observation> = {}): Observation => ({
  at: at(CLOSED_MS + afterMs),
  complete: true,
  candidates: [],
  balance_cents: 500,
  ...changes,
});
const after = (intent: Intent, ...checks: Observation[]) => checks.reduce(withObservation, intent);
const QUARTER = 15 * MINUTE;

describe('uncertaintyOf', () => {
  const clean = [checkAfter(QUARTER), checkAfter(QUARTER + 2 * MINUTE)];

  it('is undefined after two complete checks that found nothing, late and far enough apart', () => {
    assert.equal(uncertaintyOf(after(intentOf(), ...clean)), undefined);
    assert.equal(uncertaintyOf(after(intentOf(), checkAfter(HOUR), checkAfter(50 * HOUR))), undefined);
  });

  const missing: [name: string, UncertaintyReason, Partial<Intent>, Partial<Observation>?][] = [
    ['the marker', 'no-marker', { marker: undefined }],
    ['the balance before', 'no-balance', { balanceBefore: undefined }],
    ['a balance that is as high', 'balance', {}, { balance_cents: 499 }],
    ['a balance in the same currency', 'currency', {}, { balance_cents: 9e9, currency: 'JPY' }],
    ['the balance', 'incomplete', {}, { balance_cents: undefined, complete: false }],
    ['a balance though it is said to be complete', 'too-early', {}, { balance_cents: undefined }],
    ['completeness', 'incomplete', {}, { complete: false }],
    ['the absence of candidates', 'candidates', {}, { candidates: ['run-1'] }],
    ['the API key it was sent with', 'key-replaced', {}, { otherKey: true }],
    ['the service’s time of the look', 'no-clock', {}, { at: at(undefined) }],
    ['the service’s time of the closing boundary', 'no-clock', { attempts: [attempt(undefined)] }],
    [
      'the service’s time of an earlier closing boundary',
      'no-clock',
      { attempts: [attempt(undefined), attempt(CLOSED_MS)] },
    ],
  ];
  for (const [name, reason, changes, checkChanges] of missing) {
    it(`is "${reason}" without ${name}`, () => {
      const intent = JSON.parse(JSON.stringify(intentOf(changes))) as Intent;
      const checks = clean.map(
        (one) => JSON.parse(JSON.stringify({ ...one, ...checkChanges })) as Observation,
      );
      assert.equal(uncertaintyOf(after(intent, ...checks)), reason);
    });

    if (checkChanges !== undefined)
      it(`remains after a first check without ${name}`, () => {
        const [first, second] = clean as [Observation, Observation];
        assert.equal(uncertaintyOf(after(intentOf(), { ...first, ...checkChanges }, second)), 'too-early');
      });
  }

  it('is "too-early" after one check, however late', () => {
    assert.equal(uncertaintyOf(after(intentOf(), checkAfter(100 * HOUR))), 'too-early');
  });

  it('is "incomplete" before any check', () => assert.equal(uncertaintyOf(intentOf()), 'incomplete'));

  it('needs 15 minutes between the closing boundary and the first clean check', () => {
    const early = checkAfter(QUARTER - 1);
    assert.equal(after(intentOf(), early).firstCleanCheck, undefined);
    assert.equal(uncertaintyOf(after(intentOf(), early, checkAfter(QUARTER + 2 * MINUTE))), 'too-early');
    assert.equal(
      uncertaintyOf(after(intentOf(), early, checkAfter(QUARTER), checkAfter(QUARTER + 2 * MINUTE))),
      undefined,
    );
    assert.equal(
      uncertaintyOf(after(intentOf(), checkAfter(0), checkAfter(5 * MINUTE), checkAfter(10 * MINUTE))),
      'too-early',
    );
  });

  it('measures from the last closing boundary of any attempt', () => {
    const last = CLOSED_MS + HOUR;
    for (const attempts of [
      [attempt(CLOSED_MS), attempt(last)],
      [attempt(last), attempt(CLOSED_MS)],
      [attempt(last), { started: at(CLOSED_MS + 2 * HOUR) }],
    ]) {
      const intent = intentOf({ attempts });
      assert.equal(
        uncertaintyOf(after(intent, checkAfter(HOUR), checkAfter(HOUR + QUARTER - 1))),
        'too-early',
      );
      assert.equal(
        uncertaintyOf(after(intent, checkAfter(HOUR + QUARTER), checkAfter(HOUR + QUARTER + 2 * MINUTE))),
        undefined,
      );
    }
  });

  it('measures from the end of the connection if that was later', () => {
    const intent = intentOf({ attempts: [{ ...attempt(CLOSED_MS), ended: at(CLOSED_MS + HOUR) }] });
    assert.equal(
      uncertaintyOf(after(intent, checkAfter(QUARTER), checkAfter(HOUR + QUARTER - 1))),
      'too-early',
    );
    assert.equal(
      uncertaintyOf(after(intent, checkAfter(HOUR + QUARTER), checkAfter(HOUR + QUARTER + 2 * MINUTE))),
      undefined,
    );
  });

  it('measures by the service’s clock from the latest end of all attempts, not by local time', () => {
    const { monotonicMs } = at(CLOSED_MS - HOUR);
    const ago = (afterMs: number) => ({ ...at(CLOSED_MS + afterMs), monotonicMs });
    const lost: Attempt = { started: ago(0), closed: ago(0), ended: ago(5 * MINUTE) };
    const closed: Attempt = { started: ago(MINUTE), closed: ago(MINUTE), ended: ago(MINUTE) };
    for (const attempts of [
      [lost, closed],
      [closed, lost],
    ]) {
      const intent = intentOf({ attempts });
      const early = after(intent, checkAfter(QUARTER + MINUTE), checkAfter(QUARTER + 4 * MINUTE));
      assert.deepEqual([uncertaintyOf(early), early.firstCleanCheck], ['too-early', undefined]);
      const late = after(intent, checkAfter(QUARTER + 5 * MINUTE), checkAfter(QUARTER + 7 * MINUTE));
      assert.equal(uncertaintyOf(late), undefined);
    }
  });

  for (const [name, ended] of [
    ['a crash', undefined],
    ['a sleep', at(undefined)],
  ] as const)
    it(`measures from the first check if ${name} hides when the connection ended`, () => {
      const { started, closed } = attempt(CLOSED_MS);
      const over: Attempt = { started, ...(closed && { closed }), ...(ended && { ended }) };
      const intent = intentOf({ attempts: [over] });
      const seen = after(intent, checkAfter(50 * HOUR));
      assert.deepEqual(seen.attempts[0]?.ended, at(CLOSED_MS + 50 * HOUR));
      assert.equal(uncertaintyOf(withObservation(seen, checkAfter(51 * HOUR))), 'too-early');
      assert.equal(
        uncertaintyOf(after(seen, checkAfter(51 * HOUR), checkAfter(51 * HOUR + 2 * MINUTE))),
        undefined,
      );
      assert.equal(
        uncertaintyOf(after(seen, checkAfter(50 * HOUR + QUARTER - 1), checkAfter(50 * HOUR + QUARTER))),
        'too-early',
      );
      // A check without the service's time leaves the end unknown.
      const blind = checkAfter(0, { at: at(undefined) });
      assert.equal(
        uncertaintyOf(after(intent, blind, checkAfter(50 * HOUR), checkAfter(50 * HOUR + QUARTER - 1))),
        'too-early',
      );
      assert.equal(nextCheckAtMs(seen), at(CLOSED_MS + 50 * HOUR + QUARTER).localMs);
    });

  it('needs two minutes between two checks, by the service’s clock', () => {
    const [first] = clean as [Observation];
    assert.equal(uncertaintyOf(after(intentOf(), first, checkAfter(QUARTER + 2 * MINUTE - 1))), 'too-early');
    const later = checkAfter(QUARTER + MINUTE);
    const wrong = { ...later, at: { ...later.at, localMs: later.at.localMs + HOUR } };
    assert.equal(uncertaintyOf(after(intentOf(), first, wrong)), 'too-early');
    // Two minutes backward don't count.
    assert.equal(uncertaintyOf(after(intentOf(), checkAfter(HOUR), checkAfter(QUARTER))), 'too-early');
  });

  it('needs the same times by this machine’s monotonic clock, since its start if it was restarted', () => {
    const seen = (monotonicMs: number, afterMs: number) =>
      checkAfter(afterMs, { at: { ...at(CLOSED_MS + afterMs), monotonicMs } });
    const { monotonicMs: closedMs } = at(CLOSED_MS);
    const moved = (firstMs: number, secondMs: number) =>
      uncertaintyOf(after(intentOf(), seen(closedMs + firstMs, HOUR), seen(closedMs + secondMs, 2 * HOUR)));
    assert.equal(moved(QUARTER - 1, QUARTER + HOUR), 'too-early');
    assert.equal(moved(QUARTER, QUARTER + 2 * MINUTE - 1), 'too-early');
    assert.equal(moved(QUARTER, QUARTER + 2 * MINUTE), undefined);
    const started = (firstMs: number, secondMs: number) =>
      uncertaintyOf(after(intentOf(), seen(firstMs, HOUR), seen(secondMs, 2 * HOUR)));
    assert.equal(started(QUARTER - 1, QUARTER), 'too-early');
    assert.equal(started(QUARTER, QUARTER + 2 * MINUTE), undefined);
    const early = after(intentOf(), seen(closedMs + MINUTE, HOUR));
    assert.equal(nextCheckAtMs(early), at(CLOSED_MS + HOUR).localMs + QUARTER - MINUTE);
  });

  it('needs the 15 minutes by the service’s clock too', () => {
    const seen = (afterMs: number) =>
      checkAfter(afterMs, {
        at: { ...at(CLOSED_MS + afterMs), monotonicMs: at(CLOSED_MS + afterMs + HOUR).monotonicMs },
      });
    const early = after(intentOf(), seen(QUARTER - 1));
    assert.equal(uncertaintyOf(after(early, seen(QUARTER + 2 * MINUTE - 1))), 'too-early');
    assert.equal(uncertaintyOf(after(early, seen(QUARTER), seen(QUARTER + 2 * MINUTE))), undefined);
  });

  it('does not start over with each of many quick checks', () => {
    const checks = Array.from({ length: 13 }, (_, turn) => checkAfter(QUARTER + turn * 10_000));
    assert.equal(uncertaintyOf(after(intentOf(), ...checks)), undefined);
    assert.deepEqual(after(intentOf(), ...checks).firstCleanCheck, checks[0]);
  });

  for (const [name, reason, changes] of [
    ['a candidate', 'candidates', { candidates: ['run-1'] }],
    ['a lower balance', 'balance', { balance_cents: 1 }],
    ['an incomplete list', 'incomplete', { complete: false }],
    ['another API key', 'key-replaced', { otherKey: true }],
    ['no time', 'no-clock', { at: at(undefined) }],
  ] as [string, UncertaintyReason, Partial<Observation>][])
    it(`needs two new checks after ${name}`, () => {
      const seen = after(intentOf(), ...clean.slice(0, 1), checkAfter(HOUR, changes));
      assert.equal(uncertaintyOf(seen), reason);
      assert.equal(seen.firstCleanCheck, undefined);
      assert.equal(uncertaintyOf(withObservation(seen, checkAfter(2 * HOUR))), 'too-early');
      assert.equal(uncertaintyOf(after(seen, checkAfter(2 * HOUR), checkAfter(3 * HOUR))), undefined);
    });

  it('does not return after two clean checks unless a candidate appears', () => {
    const shown = after(intentOf(), ...clean);
    for (const changes of [{ balance_cents: 1 }, { complete: false }, { otherKey: true as const }])
      assert.deepEqual(after(shown, checkAfter(HOUR, changes)), shown);
    assert.equal(uncertaintyOf(after(shown, checkAfter(HOUR, { candidates: ['run-1'] }))), 'candidates');
  });

  it('ignores a lower balance that other charges explain, in each of the two checks', () => {
    const lower = (explained?: true) =>
      clean.map((one, at) => ({
        ...one,
        balance_cents: 400 - at,
        currency: 'EUR',
        ...(explained && { explainedByReceipts: explained }),
      }));
    assert.equal(uncertaintyOf(after(intentOf(), ...lower(true))), undefined);
    const [first, second] = [lower(true)[0]!, lower()[1]!];
    assert.equal(uncertaintyOf(after(intentOf(), first, second)), 'balance');
    assert.equal(uncertaintyOf(after(intentOf(), second, checkAfter(HOUR, first))), 'too-early');
  });

  it('ignores a higher balance, because money was added', () => {
    assert.equal(
      uncertaintyOf(after(intentOf(), ...clean.map((one) => ({ ...one, balance_cents: 9e9 })))),
      undefined,
    );
  });

  it('returns with a new attempt', () => {
    const next = withoutObservations(after(intentOf({ looked: at(CLOSED_MS) }), ...clean));
    assert.deepEqual(
      [next.firstCleanCheck, next.lastCheck, next.looked, uncertaintyOf(next)],
      [undefined, undefined, undefined, 'incomplete'],
    );
  });

  it('reports another API key first, then a candidate, then what is missing', () => {
    const found = { candidates: ['run-1'], complete: false, balance_cents: 1 };
    assert.equal(uncertaintyOf(after(intentOf(), checkAfter(HOUR, found))), 'candidates');
    assert.equal(
      uncertaintyOf(after(intentOf(), checkAfter(HOUR, { ...found, otherKey: true }))),
      'key-replaced',
    );
  });
});

describe('withObservation', () => {
  it('adds nothing without a closing boundary: there is no charge to rule out', () => {
    for (const attempts of [[], [{ started: at(CLOSED_MS) }]]) {
      const intent = intentOf({ attempts });
      for (const changes of [{}, { candidates: ['run-1'] }, { complete: false }])
        assert.equal(withObservation(intent, checkAfter(HOUR, changes)), intent);
    }
  });
});

describe('withEnds', () => {
  it('gives each attempt that has no end the time of the claim, and changes nothing else', () => {
    const [begun, sent, ended] = [
      { started: at(CLOSED_MS) },
      { started: at(CLOSED_MS), closed: at(CLOSED_MS) },
      attempt(CLOSED_MS),
    ];
    const claim = at(CLOSED_MS + HOUR);
    const intent = intentOf({ attempts: [begun, sent, ended], looked: at(CLOSED_MS) });
    assert.deepEqual(withEnds(intent, claim), {
      ...intent,
      attempts: [{ ...begun, ended: claim }, { ...sent, ended: claim }, ended],
    });
  });

  it('lets the 15 minutes begin with the first check that knows the service’s time', () => {
    const { started, closed } = attempt(CLOSED_MS);
    const crashed = intentOf({ attempts: [{ started, ...(closed && { closed }) }] });
    const claimed = withEnds(crashed, at(undefined));
    const seen = withObservation(claimed, checkAfter(HOUR));
    assert.deepEqual(seen.attempts[0]?.ended, at(CLOSED_MS + HOUR));
    assert.equal(
      uncertaintyOf(after(seen, checkAfter(HOUR + QUARTER - 1), checkAfter(HOUR + QUARTER))),
      'too-early',
    );
    assert.equal(
      uncertaintyOf(after(seen, checkAfter(HOUR + QUARTER), checkAfter(HOUR + QUARTER + 2 * MINUTE))),
      undefined,
    );
  });
});

describe('isBalanceDecisive', () => {
  const late = checkAfter(QUARTER);
  const crashed = [{ started: at(CLOSED_MS), closed: at(CLOSED_MS) }];
  for (const [name, isDecisive, changes, seen] of [
    ['a clean check', true, {}, late],
    ['one after a clean check', true, { firstCleanCheck: late, lastCheck: late }, checkAfter(HOUR)],
    ['an early check', false, {}, checkAfter(QUARTER - 1)],
    ['an incomplete check', false, {}, { ...late, complete: false }],
    ['a candidate', false, {}, { ...late, candidates: ['run-1'] }],
    ['another API key', false, {}, { ...late, otherKey: true }],
    ['a check without the service’s time', false, {}, { ...late, at: at(undefined) }],
    ['an attempt without the service’s time', false, { attempts: [attempt(undefined)] }, late],
    ['the first check after a crash', false, { attempts: crashed }, checkAfter(HOUR)],
    ['no marker', false, { marker: undefined }, late],
    ['no balance before', false, { balanceBefore: undefined }, late],
  ] as [string, boolean, Partial<Intent>, Observation][])
    it(`is ${isDecisive} for ${name}`, () => {
      const intent = intentOf(changes);
      const unread = { ...seen, balance_cents: undefined };
      assert.equal(isBalanceDecisive(intent, unread), isDecisive);
      const [read, notRead] = [withObservation(intent, seen), withObservation(intent, unread)];
      assert.equal(notRead.firstCleanCheck, undefined, 'it proves nothing without the balance');
      assert.ok(uncertaintyOf(notRead));
      if (isDecisive) assert.notEqual(read.firstCleanCheck, undefined);
      else assert.equal(uncertaintyOf(notRead), uncertaintyOf(read), 'it says the same without the balance');
    });

  it('is not needed for a stored check to be no proof', () => {
    const lastCheck = checkAfter(HOUR, { balance_cents: undefined });
    assert.equal(uncertaintyOf(intentOf({ firstCleanCheck: late, lastCheck })), 'too-early');
  });
});

describe('nextAutomaticCheckMs', () => {
  const SECOND = 1000;
  const localMs = (afterMs: number) => at(CLOSED_MS + afterMs).localMs;
  /** Returns when checks are made within `untilMs` after the answer was lost, if each is answered. */
  const checksOf = (open: Intent, untilMs: number) => {
    let intent = withObservation(open, checkAfter(0));
    const times: number[] = [];
    for (let afterMs = 0; afterMs < untilMs; afterMs += SECOND) {
      // No window knows when another one tried.
      if (nextAutomaticCheckMs(intent, localMs(0), localMs(afterMs)) > localMs(afterMs)) continue;
      times.push(afterMs / SECOND);
      intent = withObservation(intent, checkAfter(afterMs));
    }
    return times;
  };

  it('is 3, 10, and 30 seconds, 1, 2, and 5 minutes after the answer was lost, then every 5 minutes', () => {
    const first = [3, 10, 30, 60, 120, 300, 600];
    // 15 minutes after the answer was lost, two checks are conclusive.
    assert.deepEqual(checksOf(intentOf(), HOUR), [...first, 900, 1020]);
    const later = Array.from({ length: 11 }, (_, index) => 900 + index * 300);
    assert.deepEqual(
      checksOf(intentOf({ marker: undefined }), 20 * HOUR),
      [...first, ...later].filter((seconds) => seconds <= 3600),
    );
    // From the end of the last attempt, which may come long after its boundary.
    const ended = at(CLOSED_MS + 10 * MINUTE);
    const attempts = [{ ...attempt(CLOSED_MS), ended }];
    assert.deepEqual(checksOf(intentOf({ attempts }), 11 * MINUTE).slice(-3), [603, 610, 630]);
  });

  const checked = (afterMs: number, changes: Partial<Intent> = {}) =>
    withObservation(intentOf(changes), checkAfter(afterMs));
  const old = checked(HOUR, { marker: undefined });
  for (const [name, intent, triedMs, nowMs, expected] of [
    ['at once in a window that knows no check', intentOf(), undefined, 0, -Infinity],
    ['3 seconds after an unanswered check', intentOf(), 0, SECOND, 3 * SECOND],
    ['as planned though another window has just checked', checked(4 * SECOND), 0, 5 * SECOND, 10 * SECOND],
    ['as planned if its last check was long ago', checked(20 * SECOND), -HOUR, 21 * SECOND, 30 * SECOND],
    [
      '5 minutes after the last one in a new window, however old',
      old,
      undefined,
      50 * HOUR,
      HOUR + 5 * MINUTE,
    ],
    ['never for an old one after that', old, HOUR, 50 * HOUR, Infinity],
    ['5 minutes after an unanswered one, however old', old, 50 * HOUR, 50 * HOUR, 50 * HOUR + 5 * MINUTE],
    ['when it may be conclusive, however old', checked(MINUTE), 2 * HOUR, 30 * HOUR, 2 * HOUR + 20 * SECOND],
    [
      'never once nothing was charged',
      after(intentOf(), checkAfter(QUARTER), checkAfter(HOUR)),
      0,
      0,
      Infinity,
    ],
  ] as [string, Intent, number | undefined, number, number][])
    it(`is ${name}`, () => {
      const tried = triedMs === undefined ? undefined : localMs(triedMs);
      const next = nextAutomaticCheckMs(intent, tried, localMs(nowMs)) - localMs(0);
      assert.equal(next, expected);
    });

  it('goes on if the clock was set back by days', () => {
    const now = localMs(-50 * HOUR);
    const seen = checked(4 * SECOND);
    assert.ok(nextAutomaticCheckMs(seen, localMs(4 * SECOND), now) <= now);
    const next = withObservation(seen, { ...checkAfter(5 * SECOND), at: { ...at(CLOSED_MS), localMs: now } });
    assert.equal(nextAutomaticCheckMs(next, now, now + 1), now + 5 * MINUTE);
  });

  describe('of what must be looked for', () => {
    const cleared = after(intentOf(), checkAfter(QUARTER), checkAfter(HOUR));
    for (const [name, intent] of [
      ['a draft', intentOf({ attempts: [] })],
      ['an attempt without a boundary', intentOf({ attempts: [{ started: at(CLOSED_MS) }] })],
      ['one that two checks cleared', cleared],
    ] as const)
      it(`is at once, then after a minute, then ever later, at last every hour: ${name}`, () => {
        const nextAfter = (triedMs: number | undefined, looks?: number) =>
          nextAutomaticCheckMs(intent, triedMs, localMs(HOUR), looks);
        assert.equal(nextAfter(undefined, 0), -Infinity);
        const minutes = [1, 2, 3, 6, 7, 8, 2000].map(
          (looks) => (nextAfter(localMs(HOUR), looks) - localMs(HOUR)) / MINUTE,
        );
        assert.deepEqual(minutes, [1, 2, 4, 32, 60, 60, 60]);
        assert.deepEqual([nextAfter(undefined), nextAfter(localMs(0))], [Infinity, Infinity]);
      });

    it('goes on if the clock was set back by days', () => {
      const draft = intentOf({ attempts: [] });
      const now = localMs(-50 * HOUR);
      assert.ok(nextAutomaticCheckMs(draft, localMs(0), now, 1) <= now);
    });

    it('leaves the plan as it is after a boundary', () => {
      assert.equal(nextAutomaticCheckMs(intentOf(), localMs(0), localMs(SECOND), 1), localMs(3 * SECOND));
    });
  });

  it('is not before the time that the service asked to wait for', () => {
    const attempts = [{ ...attempt(CLOSED_MS), notBefore: at(CLOSED_MS + HOUR) }];
    assert.equal(nextAutomaticCheckMs(intentOf({ attempts }), undefined, localMs(0)), localMs(HOUR));
  });
});

describe('nextCheckAtMs', () => {
  const localMs = (afterMs: number) => at(CLOSED_MS + afterMs).localMs;

  it('is 15 minutes after the closing boundary, then two minutes after the first clean check', () => {
    assert.equal(nextCheckAtMs(after(intentOf(), checkAfter(MINUTE))), localMs(QUARTER));
    assert.equal(
      nextCheckAtMs(after(intentOf(), checkAfter(QUARTER + MINUTE))),
      localMs(QUARTER + 3 * MINUTE),
    );
    assert.equal(
      nextCheckAtMs(after(intentOf(), checkAfter(QUARTER), checkAfter(QUARTER + MINUTE))),
      localMs(QUARTER + 2 * MINUTE),
    );
  });

  it('is now if it was due before, by the clock of the last check', () => {
    assert.equal(nextCheckAtMs(after(intentOf(), checkAfter(HOUR, { complete: false }))), localMs(HOUR));
  });

  it('is undefined without a check or a time', () => {
    assert.equal(nextCheckAtMs(intentOf()), undefined);
    assert.equal(nextCheckAtMs(after(intentOf(), checkAfter(HOUR, { at: at(undefined) }))), undefined);
    assert.equal(
      nextCheckAtMs(after(intentOf({ attempts: [attempt(undefined)] }), checkAfter(HOUR))),
      undefined,
    );
  });
});
