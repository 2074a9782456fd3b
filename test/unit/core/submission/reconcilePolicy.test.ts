import assert from 'node:assert/strict';
import { dueMs } from '../../../../src/core/submission/checkTimes.ts';
import type { UncertaintyReason } from '../../../../src/core/submission/reconcilePolicy.ts';
import {
  claimed,
  isBalanceDecisive,
  mayBeCopy,
  nextCheckAtMs,
  uncertaintyOf,
  withObservation,
  withoutObservations,
} from '../../../../src/core/submission/reconcilePolicy.ts';
import type { Attempt, Submission, Observation } from '../../../../src/core/submission/submission.ts';
import { HOUR, MARKER, MINUTE } from '../../../helpers/runs/stage.ts';
import { refusedWith, sampleSubmission } from '../../../helpers/submissions.ts';

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

const submissionOf = (changes: Partial<Submission> = {}) =>
  sampleSubmission({
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
const after = (submission: Submission, ...checks: Observation[]) =>
  checks.reduce(withObservation, submission);
const QUARTER = 15 * MINUTE;

describe('uncertaintyOf', () => {
  const clean = [checkAfter(QUARTER), checkAfter(QUARTER + 2 * MINUTE)];

  it('is undefined after two complete checks that found nothing, late and far enough apart', () => {
    assert.equal(uncertaintyOf(after(submissionOf(), ...clean)), undefined);
    assert.equal(uncertaintyOf(after(submissionOf(), checkAfter(HOUR), checkAfter(50 * HOUR))), undefined);
  });

  const missing: [name: string, UncertaintyReason, Partial<Submission>, Partial<Observation>?][] = [
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
      const submission = JSON.parse(JSON.stringify(submissionOf(changes))) as Submission;
      const checks = clean.map(
        (one) => JSON.parse(JSON.stringify({ ...one, ...checkChanges })) as Observation,
      );
      assert.equal(uncertaintyOf(after(submission, ...checks)), reason);
    });

    if (checkChanges !== undefined)
      it(`remains after a first check without ${name}`, () => {
        const [first, second] = clean as [Observation, Observation];
        assert.equal(
          uncertaintyOf(after(submissionOf(), { ...first, ...checkChanges }, second)),
          'too-early',
        );
      });
  }

  it('is "too-early" after one check, however late', () => {
    assert.equal(uncertaintyOf(after(submissionOf(), checkAfter(100 * HOUR))), 'too-early');
  });

  it('is "incomplete" before any check', () => assert.equal(uncertaintyOf(submissionOf()), 'incomplete'));

  it('needs 15 minutes between the closing boundary and the first clean check', () => {
    const early = checkAfter(QUARTER - 1);
    assert.equal(after(submissionOf(), early).firstCleanCheck, undefined);
    assert.equal(uncertaintyOf(after(submissionOf(), early, checkAfter(QUARTER + 2 * MINUTE))), 'too-early');
    assert.equal(
      uncertaintyOf(after(submissionOf(), early, checkAfter(QUARTER), checkAfter(QUARTER + 2 * MINUTE))),
      undefined,
    );
    assert.equal(
      uncertaintyOf(after(submissionOf(), checkAfter(0), checkAfter(5 * MINUTE), checkAfter(10 * MINUTE))),
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
      const submission = submissionOf({ attempts });
      assert.equal(
        uncertaintyOf(after(submission, checkAfter(HOUR), checkAfter(HOUR + QUARTER - 1))),
        'too-early',
      );
      assert.equal(
        uncertaintyOf(after(submission, checkAfter(HOUR + QUARTER), checkAfter(HOUR + QUARTER + 2 * MINUTE))),
        undefined,
      );
    }
  });

  it('measures from the end of the connection if that was later', () => {
    const submission = submissionOf({ attempts: [{ ...attempt(CLOSED_MS), ended: at(CLOSED_MS + HOUR) }] });
    assert.equal(
      uncertaintyOf(after(submission, checkAfter(QUARTER), checkAfter(HOUR + QUARTER - 1))),
      'too-early',
    );
    assert.equal(
      uncertaintyOf(after(submission, checkAfter(HOUR + QUARTER), checkAfter(HOUR + QUARTER + 2 * MINUTE))),
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
      const submission = submissionOf({ attempts });
      const early = after(submission, checkAfter(QUARTER + MINUTE), checkAfter(QUARTER + 4 * MINUTE));
      assert.deepEqual([uncertaintyOf(early), early.firstCleanCheck], ['too-early', undefined]);
      const late = after(submission, checkAfter(QUARTER + 5 * MINUTE), checkAfter(QUARTER + 7 * MINUTE));
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
      const submission = submissionOf({ attempts: [over] });
      const seen = after(submission, checkAfter(50 * HOUR));
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
        uncertaintyOf(after(submission, blind, checkAfter(50 * HOUR), checkAfter(50 * HOUR + QUARTER - 1))),
        'too-early',
      );
      assert.equal(nextCheckAtMs(seen), at(CLOSED_MS + 50 * HOUR + QUARTER).localMs);
    });

  it('needs two minutes between two checks, by the service’s clock', () => {
    const [first] = clean as [Observation];
    assert.equal(
      uncertaintyOf(after(submissionOf(), first, checkAfter(QUARTER + 2 * MINUTE - 1))),
      'too-early',
    );
    const later = checkAfter(QUARTER + MINUTE);
    const wrong = { ...later, at: { ...later.at, localMs: later.at.localMs + HOUR } };
    assert.equal(uncertaintyOf(after(submissionOf(), first, wrong)), 'too-early');
    // Two minutes backward don't count.
    assert.equal(uncertaintyOf(after(submissionOf(), checkAfter(HOUR), checkAfter(QUARTER))), 'too-early');
  });

  it('needs the same times by this machine’s monotonic clock, since its start if it was restarted', () => {
    const seen = (monotonicMs: number, afterMs: number) =>
      checkAfter(afterMs, { at: { ...at(CLOSED_MS + afterMs), monotonicMs } });
    const { monotonicMs: closedMs } = at(CLOSED_MS);
    const moved = (firstMs: number, secondMs: number) =>
      uncertaintyOf(
        after(submissionOf(), seen(closedMs + firstMs, HOUR), seen(closedMs + secondMs, 2 * HOUR)),
      );
    assert.equal(moved(QUARTER - 1, QUARTER + HOUR), 'too-early');
    assert.equal(moved(QUARTER, QUARTER + 2 * MINUTE - 1), 'too-early');
    assert.equal(moved(QUARTER, QUARTER + 2 * MINUTE), undefined);
    const started = (firstMs: number, secondMs: number) =>
      uncertaintyOf(after(submissionOf(), seen(firstMs, HOUR), seen(secondMs, 2 * HOUR)));
    assert.equal(started(QUARTER - 1, QUARTER), 'too-early');
    assert.equal(started(QUARTER, QUARTER + 2 * MINUTE), undefined);
    const early = after(submissionOf(), seen(closedMs + MINUTE, HOUR));
    assert.equal(nextCheckAtMs(early), at(CLOSED_MS + HOUR).localMs + QUARTER - MINUTE);
  });

  it('needs the 15 minutes by the service’s clock too', () => {
    const seen = (afterMs: number) =>
      checkAfter(afterMs, {
        at: { ...at(CLOSED_MS + afterMs), monotonicMs: at(CLOSED_MS + afterMs + HOUR).monotonicMs },
      });
    const early = after(submissionOf(), seen(QUARTER - 1));
    assert.equal(uncertaintyOf(after(early, seen(QUARTER + 2 * MINUTE - 1))), 'too-early');
    assert.equal(uncertaintyOf(after(early, seen(QUARTER), seen(QUARTER + 2 * MINUTE))), undefined);
  });

  it('does not start over with each of many quick checks', () => {
    const checks = Array.from({ length: 13 }, (_, turn) => checkAfter(QUARTER + turn * 10_000));
    assert.equal(uncertaintyOf(after(submissionOf(), ...checks)), undefined);
    assert.deepEqual(after(submissionOf(), ...checks).firstCleanCheck, checks[0]);
  });

  for (const [name, reason, changes] of [
    ['a candidate', 'candidates', { candidates: ['run-1'] }],
    ['a lower balance', 'balance', { balance_cents: 1 }],
    ['an incomplete list', 'incomplete', { complete: false }],
    ['another API key', 'key-replaced', { otherKey: true }],
    ['no time', 'no-clock', { at: at(undefined) }],
  ] as [string, UncertaintyReason, Partial<Observation>][])
    it(`needs two new checks after ${name}`, () => {
      const seen = after(submissionOf(), ...clean.slice(0, 1), checkAfter(HOUR, changes));
      assert.equal(uncertaintyOf(seen), reason);
      assert.equal(seen.firstCleanCheck, undefined);
      assert.equal(uncertaintyOf(withObservation(seen, checkAfter(2 * HOUR))), 'too-early');
      assert.equal(uncertaintyOf(after(seen, checkAfter(2 * HOUR), checkAfter(3 * HOUR))), undefined);
    });

  it('does not return after two clean checks unless a candidate appears', () => {
    const shown = after(submissionOf(), ...clean);
    for (const changes of [{ balance_cents: 1 }, { complete: false }, { otherKey: true as const }])
      assert.deepEqual(after(shown, checkAfter(HOUR, changes)), shown);
    assert.equal(uncertaintyOf(after(shown, checkAfter(HOUR, { candidates: ['run-1'] }))), 'candidates');
  });

  it('is "known" after a 409, whatever checks find: the service has the Idempotency-Key', () => {
    for (const httpStatus of [409, 404, 500, undefined])
      for (const attempts of [
        [attempt(CLOSED_MS), { ...attempt(CLOSED_MS), httpStatus }],
        [attempt(CLOSED_MS), { ...attempt(CLOSED_MS), httpStatus }, attempt(CLOSED_MS)],
      ]) {
        const seen = after(submissionOf({ attempts }), ...clean, checkAfter(30 * HOUR));
        const expected =
          httpStatus === 409 ? (['known', 'sent'] as const) : ([undefined, 'cleared'] as const);
        assert.deepEqual([uncertaintyOf(seen), seen.stage], expected);
      }
  });

  it('ignores a lower balance that other charges explain, in each of the two checks', () => {
    const lower = (explained?: true) =>
      clean.map((one, at) => ({
        ...one,
        balance_cents: 400 - at,
        currency: 'EUR',
        ...(explained && { explainedByReceipts: explained }),
      }));
    assert.equal(uncertaintyOf(after(submissionOf(), ...lower(true))), undefined);
    const [first, second] = [lower(true)[0]!, lower()[1]!];
    assert.equal(uncertaintyOf(after(submissionOf(), first, second)), 'balance');
    assert.equal(uncertaintyOf(after(submissionOf(), second, checkAfter(HOUR, first))), 'too-early');
  });

  it('ignores a higher balance, because money was added', () => {
    assert.equal(
      uncertaintyOf(after(submissionOf(), ...clean.map((one) => ({ ...one, balance_cents: 9e9 })))),
      undefined,
    );
  });

  it('returns with a new attempt', () => {
    const next = withoutObservations(after(submissionOf(), ...clean));
    assert.deepEqual(
      [next.firstCleanCheck, next.lastCheck, uncertaintyOf(next)],
      [undefined, undefined, 'incomplete'],
    );
  });

  it('reports another API key first, then a candidate, then what is missing', () => {
    const found = { candidates: ['run-1'], complete: false, balance_cents: 1 };
    assert.equal(uncertaintyOf(after(submissionOf(), checkAfter(HOUR, found))), 'candidates');
    assert.equal(
      uncertaintyOf(after(submissionOf(), checkAfter(HOUR, { ...found, otherKey: true }))),
      'key-replaced',
    );
  });
});

describe('withObservation', () => {
  it('adds nothing without a closing boundary: there is no charge to rule out', () => {
    for (const attempts of [[], [{ started: at(CLOSED_MS) }]]) {
      const submission = submissionOf({ attempts });
      for (const changes of [{}, { candidates: ['run-1'] }, { complete: false }])
        assert.equal(withObservation(submission, checkAfter(HOUR, changes)), submission);
    }
  });
});

describe('claimed', () => {
  it('ends each attempt without an end at the time of the claim', () => {
    const [begun, sent, ended] = [
      { started: at(CLOSED_MS) },
      { started: at(CLOSED_MS), closed: at(CLOSED_MS) },
      attempt(CLOSED_MS),
    ];
    const claim = at(CLOSED_MS + HOUR);
    for (const [stage, attempts, expected] of [
      ['draft', [], []],
      ['sending', [begun], [{ ...begun, ended: claim }]],
      ['sent', [ended, sent, begun], [ended, { ...sent, ended: claim }, { ...begun, ended: claim }]],
      ['cleared', [ended], [ended]],
    ] as const) {
      const submission = submissionOf({ stage, attempts: [...attempts] });
      const next = { ...submission, stage: stage === 'sending' ? 'draft' : stage, attempts: expected };
      assert.deepEqual(claimed(submission, claim), next);
    }
  });
});

describe('mayBeCopy', () => {
  const [begun, cut] = [{ started: at(CLOSED_MS) }, { started: at(CLOSED_MS), ended: at(CLOSED_MS) }];
  const open = (...attempts: Attempt[]) => submissionOf({ attempts });
  for (const [name, submission, afterMs, expected] of [
    ['an hour after the last bytes', open(attempt(CLOSED_MS)), HOUR, false],
    ['later', open(attempt(CLOSED_MS)), HOUR + 1, true],
    // A later window may write the end, after the copy.
    [
      'however late the end',
      open({ ...attempt(CLOSED_MS), ended: at(CLOSED_MS + 9 * HOUR) }),
      HOUR + 1,
      true,
    ],
    ['after the last of several', open(attempt(CLOSED_MS + HOUR), attempt(CLOSED_MS)), 2 * HOUR, false],
    [
      'later than all of them',
      open(attempt(CLOSED_MS + HOUR), attempt(CLOSED_MS), begun),
      2 * HOUR + 1,
      true,
    ],
    ['unknown when', open(attempt(CLOSED_MS), attempt(undefined)), 9 * HOUR, false],
    ['without last bytes, since storage was set back', open(begun, cut), 9 * HOUR, false],
    ['without an attempt', open(), 9 * HOUR, false],
  ] as const)
    it(`is ${expected} for a run ${name}`, () => {
      const created_at = new Date(CLOSED_MS + afterMs).toISOString();
      assert.equal(mayBeCopy(submission, { created_at }), expected);
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
  ] as [string, boolean, Partial<Submission>, Observation][])
    it(`is ${isDecisive} for ${name}`, () => {
      const submission = submissionOf(changes);
      const unread = { ...seen, balance_cents: undefined };
      assert.equal(isBalanceDecisive(submission, unread), isDecisive);
      const [read, notRead] = [withObservation(submission, seen), withObservation(submission, unread)];
      assert.equal(notRead.firstCleanCheck, undefined, 'it proves nothing without the balance');
      assert.ok(uncertaintyOf(notRead));
      if (isDecisive) assert.notEqual(read.firstCleanCheck, undefined);
      else assert.equal(uncertaintyOf(notRead), uncertaintyOf(read), 'it says the same without the balance');
    });

  it('may leave a stored check without a balance, which proves nothing', () => {
    const lastCheck = checkAfter(HOUR, { balance_cents: undefined });
    assert.equal(uncertaintyOf(submissionOf({ firstCleanCheck: late, lastCheck })), 'too-early');
  });
});

describe('dueMs', () => {
  const SECOND = 1000;
  const localMs = (afterMs: number) => at(CLOSED_MS + afterMs).localMs;
  /** @param atMs when this window last began a check; undefined if it has not yet */
  const checkDueMs = (submission: Submission, atMs: number | undefined, nowMs: number) =>
    dueMs(submission, nowMs, { hasAnswer: true, ...(atMs !== undefined && { atMs }) });
  /** Returns when checks are made within `untilMs` after the answer was lost, if each is answered. */
  const checksOf = (open: Submission, untilMs: number) => {
    let submission = withObservation(open, checkAfter(0));
    const times: number[] = [];
    for (let afterMs = 0; afterMs < untilMs; afterMs += SECOND) {
      // A window doesn't know when another one tried.
      if (checkDueMs(submission, localMs(0), localMs(afterMs)) > localMs(afterMs)) continue;
      times.push(afterMs / SECOND);
      submission = withObservation(submission, checkAfter(afterMs));
    }
    return times;
  };

  it('is 3, 10, and 30 seconds, 1, 2, and 5 minutes after the answer was lost, then every 5 minutes', () => {
    const first = [3, 10, 30, 60, 120, 300, 600];
    // 15 minutes after the answer was lost, two checks are conclusive.
    assert.deepEqual(checksOf(submissionOf(), HOUR), [...first, 900, 1020]);
    const later = Array.from({ length: 11 }, (_, index) => 900 + index * 300);
    assert.deepEqual(
      checksOf(submissionOf({ marker: undefined }), 20 * HOUR),
      [...first, ...later].filter((seconds) => seconds <= 3600),
    );
    // From the end of the last attempt, which may come long after its boundary.
    const ended = at(CLOSED_MS + 10 * MINUTE);
    const attempts = [{ ...attempt(CLOSED_MS), ended }];
    assert.deepEqual(checksOf(submissionOf({ attempts }), 11 * MINUTE).slice(-3), [603, 610, 630]);
  });

  const checked = (afterMs: number, changes: Partial<Submission> = {}) =>
    withObservation(submissionOf(changes), checkAfter(afterMs));
  const old = checked(HOUR, { marker: undefined });
  for (const [name, submission, triedMs, nowMs, expected] of [
    ['at once in a window that knows no check', submissionOf(), undefined, 0, -Infinity],
    ['3 seconds after an unanswered check', submissionOf(), 0, SECOND, 3 * SECOND],
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
      after(submissionOf(), checkAfter(QUARTER), checkAfter(HOUR)),
      0,
      0,
      Infinity,
    ],
  ] as [string, Submission, number | undefined, number, number][])
    it(`is ${name}`, () => {
      const tried = triedMs === undefined ? undefined : localMs(triedMs);
      const next = checkDueMs(submission, tried, localMs(nowMs)) - localMs(0);
      assert.equal(next, expected);
    });

  it('goes on if the clock was set back by days', () => {
    const now = localMs(-50 * HOUR);
    const seen = checked(4 * SECOND);
    assert.ok(checkDueMs(seen, localMs(4 * SECOND), now) <= now);
    const next = withObservation(seen, { ...checkAfter(5 * SECOND), at: { ...at(CLOSED_MS), localMs: now } });
    assert.equal(checkDueMs(next, now, now + 1), now + 5 * MINUTE);
  });

  describe('before the last bytes', () => {
    const cleared = after(submissionOf(), checkAfter(QUARTER), checkAfter(HOUR));
    for (const [name, submission] of [
      ['a draft', submissionOf({ attempts: [] })],
      ['an attempt without last bytes', submissionOf({ attempts: [{ started: at(CLOSED_MS) }] })],
      ['one that two checks cleared', cleared],
    ] as const)
      it(`is at once, after a minute, then at doubling intervals up to an hour, until a look is answered: ${name}`, () => {
        const lookDueMs = (nowMs: number, last = {}, hasAnswer = false) =>
          dueMs(submission, nowMs, { hasAnswer, ...last });
        const [nowMs, setBackMs] = [localMs(HOUR), localMs(-50 * HOUR)];
        assert.equal(lookDueMs(nowMs), -Infinity);
        const minutes = [1, 2, 3, 6, 7, 8, 2000].map(
          (count) => (lookDueMs(nowMs, { atMs: nowMs, count }) - nowMs) / MINUTE,
        );
        assert.deepEqual(minutes, [1, 2, 4, 32, 60, 60, 60]);
        assert.ok(lookDueMs(setBackMs, { atMs: nowMs, count: 1 }) <= setBackMs);
        assert.equal(lookDueMs(nowMs, {}, true), Infinity);
        assert.equal(dueMs({ ...submission, ...refusedWith('x') }, nowMs, { hasAnswer: false }), Infinity);
      });

    it('after the last bytes, ignores whether a look was answered', () => {
      const known = { hasAnswer: false, atMs: localMs(0), count: 1 };
      assert.equal(dueMs(submissionOf(), localMs(SECOND), known), localMs(3 * SECOND));
    });
  });

  it('is not before the time that the service asked you to wait for', () => {
    const attempts = [{ ...attempt(CLOSED_MS), notBefore: at(CLOSED_MS + HOUR) }];
    assert.equal(checkDueMs(submissionOf({ attempts }), undefined, localMs(0)), localMs(HOUR));
  });
});

describe('nextCheckAtMs', () => {
  const localMs = (afterMs: number) => at(CLOSED_MS + afterMs).localMs;

  it('is 15 minutes after the closing boundary, then two minutes after the first clean check', () => {
    assert.equal(nextCheckAtMs(after(submissionOf(), checkAfter(MINUTE))), localMs(QUARTER));
    assert.equal(
      nextCheckAtMs(after(submissionOf(), checkAfter(QUARTER + MINUTE))),
      localMs(QUARTER + 3 * MINUTE),
    );
    assert.equal(
      nextCheckAtMs(after(submissionOf(), checkAfter(QUARTER), checkAfter(QUARTER + MINUTE))),
      localMs(QUARTER + 2 * MINUTE),
    );
  });

  it('is now if it was due before, by the clock of the last check', () => {
    assert.equal(nextCheckAtMs(after(submissionOf(), checkAfter(HOUR, { complete: false }))), localMs(HOUR));
  });

  it('is undefined without a check or a time', () => {
    assert.equal(nextCheckAtMs(submissionOf()), undefined);
    assert.equal(nextCheckAtMs(after(submissionOf(), checkAfter(HOUR, { at: at(undefined) }))), undefined);
    assert.equal(
      nextCheckAtMs(after(submissionOf({ attempts: [attempt(undefined)] }), checkAfter(HOUR))),
      undefined,
    );
  });
});
