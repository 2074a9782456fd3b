import assert from 'node:assert/strict';
import {
  DatasetChangedError,
  NetworkError,
  ServiceError,
  UnexpectedResponseError,
} from '../../../../src/core/api/errors.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { KeyMissingError, KeyRejectedError } from '../../../../src/core/runs/session.ts';
import { SubmissionError, TooEarlyError } from '../../../../src/core/submission/errors.ts';
import {
  assertNotTooEarly,
  nextStep,
  obstacleToSending,
  type AttemptHistory,
} from '../../../../src/core/submission/nextStep.ts';
import type { Attempt, Submission, Moment } from '../../../../src/core/submission/submission.ts';
import { HOUR, MINUTE } from '../../../helpers/runs/stage.ts';
import { sampleSubmission } from '../../../helpers/submissions.ts';

/** Which closing boundaries were released: none, the last attempt's, an earlier one's, or both. */
const CLOSINGS = [
  { name: 'nothing closed', wasClosed: false, isClosed: false },
  { name: 'closed now', wasClosed: false, isClosed: true },
  { name: 'closed before', wasClosed: true, isClosed: false },
  { name: 'closed before and now', wasClosed: true, isClosed: true },
] as const;
type Kind = ReturnType<typeof nextStep>['kind'];
/** The steps after the first attempt, in the order of CLOSINGS. */
type Row = [name: string, error: unknown, kinds: readonly [Kind, Kind, Kind, Kind]];

const REFUSAL = ['refused', 'refused', 'reconcile', 'reconcile'] as const;
/** The contract's refusals (spec: "Errors"). */
const REFUSALS = [
  [401, 'invalid_api_key'],
  [402, 'insufficient_balance'],
  [422, 'validation_failed'],
  [422, 'model_not_available'],
  [422, 'consent_required'],
] as const;
const REPEATED = ['retry', 'retry', 'retry', 'retry'] as const;
const ASKED = ['unsent', 'reconcile', 'reconcile', 'reconcile'] as const;
const STOPPED = ['dropped', 'reconcile', 'reconcile', 'reconcile'] as const;

const answered = (status: number, code: string, kinds: Row[2]): Row => [
  `${status} ${code}`,
  new ServiceError(code, status),
  kinds,
];
const strange = (
  status: number,
  kind: ConstructorParameters<typeof UnexpectedResponseError>[1],
  kinds: Row[2],
): Row => [`${status} ${kind}`, new UnexpectedResponseError(status, kind), kinds];
const network = (reason: NetworkError['reason'], kinds: Row[2]): Row => [
  reason,
  new NetworkError(reason),
  kinds,
];

const TABLE: Row[] = [
  ...REFUSALS.map(([status, code]) => answered(status, code, REFUSAL)),
  // A code with another status than the contract’s, or a status with another code, proves nothing about a charge.
  ...[400, 401, 402, 403, 409, 413, 422].flatMap((status) =>
    [...REFUSALS.map(([, code]) => code), 'idempotency_conflict', 'not_found', 'quota']
      .filter((code) => !REFUSALS.some((pair) => pair[0] === status && pair[1] === code))
      .map((code) => answered(status, code, ASKED)),
  ),
  answered(429, 'rate_limited', REPEATED),
  answered(429, 'slow_down', REPEATED),
  answered(408, 'timeout', REPEATED),
  ...[500, 502, 503, 504, 599].map((status) => answered(status, 'internal', REPEATED)),
  ...[408, 429, 500, 503].map((status) => strange(status, 'no-error-body', REPEATED)),
  answered(404, 'not_found', ASKED),
  answered(413, 'too_large', ASKED),
  answered(425, 'too_early', ASKED),
  ...[401, 402, 404, 409, 413, 422].map((status) => strange(status, 'no-error-body', ASKED)),
  strange(200, 'html', ASKED),
  strange(200, 'empty', ASKED),
  strange(201, 'broken-json', ASKED),
  strange(201, 'wrong-shape', ASKED),
  strange(201, 'too-large', ASKED),
  strange(202, 'wrong-shape', ASKED),
  strange(302, 'redirect', ASKED),
  strange(307, 'redirect', ASKED),
  ...(['refused', 'dns', 'reset', 'connect-timeout', 'stalled', 'answer-timeout', 'other'] as const).map(
    (reason) => network(reason, REPEATED),
  ),
  ...(['tls', 'proxy'] as const).map((reason) => network(reason, ASKED)),
  ['a cancel', new CancelledError(), STOPPED],
  ...(['grew', 'shrank', 'changed', 'unreadable'] as const).map((change): Row => [
    `a dataset that ${change}`,
    new DatasetChangedError(change),
    STOPPED,
  ]),
  ...[
    new SubmissionError('too-late'),
    new SubmissionError('clocks-disagree'),
    new SubmissionError('key-replaced'),
    new SubmissionError('lease-lost'),
    new SubmissionError('not-owner'),
    new KeyMissingError(),
    new KeyRejectedError(),
    new TypeError('a bug'),
    Object.assign(new Error('no space left'), { code: 'ENOSPC' }),
    undefined,
  ].map((error): Row => [String(error), error, ASKED]),
];

function momentAt(serviceMs: number | undefined, localMs = 1): Moment {
  return { localMs, ...(serviceMs !== undefined && { serviceMs }) };
}

const first: AttemptHistory = {
  wasClosed: false,
  isClosed: false,
  attempts: 1,
  sameStatus: 1,
  patienceMs: 600_000,
};

describe('nextStep', () => {
  for (const [name, error, kinds] of TABLE)
    it(`${name}: ${[...new Set(kinds)].join(', or ')}`, () => {
      const steps = CLOSINGS.map((closing) => nextStep(error, { ...first, ...closing }, 0.5).kind);
      assert.deepEqual(steps, kinds);
    });

  it('retries at most four times', () => {
    for (const [name, error, kinds] of TABLE)
      for (const [index, closing] of CLOSINGS.entries())
        for (let attempts = 1; attempts <= 7; attempts++) {
          const { wasClosed, isClosed } = closing;
          const { kind } = nextStep(error, { ...first, wasClosed, isClosed, attempts }, 0.5);
          const isOver = attempts >= 5 && kinds[index] === 'retry';
          assert.equal(kind, isOver ? ASKED[index] : kinds[index], `${name}, ${closing.name}, ${attempts}`);
        }
  });

  describe('the same server error', () => {
    const kindAfter = (error: unknown, sameStatus: number, isClosed = true) =>
      nextStep(error, { ...first, isClosed, attempts: 3, sameStatus }, 0).kind;

    it('leads to a check after three in a row, not after two', () => {
      for (const status of [500, 503]) {
        assert.equal(kindAfter(new ServiceError('internal', status), 2), 'retry');
        assert.equal(kindAfter(new ServiceError('internal', status), 3), 'reconcile');
        assert.equal(kindAfter(new UnexpectedResponseError(status, 'no-error-body'), 3), 'reconcile');
        assert.equal(kindAfter(new ServiceError('internal', status), 3, false), 'unsent');
      }
    });

    it('does not include network errors, 408 or 429', () => {
      for (const error of [
        new NetworkError('reset'),
        new ServiceError('timeout', 408),
        new ServiceError('rate_limited', 429),
      ])
        assert.equal(kindAfter(error, 4), 'retry');
    });
  });

  describe('waits', () => {
    const waitOf = (error: unknown, attempts: number, random: number, isClosed = false) => {
      const step = nextStep(error, { ...first, attempts, isClosed }, random);
      assert.ok(step.kind === 'retry');
      return step.afterMs;
    };
    const reset = new NetworkError('reset');
    const slow = (retryAfterMs?: number) => new ServiceError('rate_limited', 429, '', retryAfterMs);

    it('a random time up to a limit that doubles', () => {
      for (const [attempts, limitMs] of [
        [1, 2000],
        [2, 4000],
        [3, 8000],
        [4, 16_000],
      ] as const) {
        assert.equal(waitOf(reset, attempts, 0), 0);
        assert.equal(waitOf(reset, attempts, 0.25), limitMs / 4);
        assert.ok(waitOf(reset, attempts, 0.999_999) < limitMs);
      }
    });

    it('at least Retry-After, plus jitter', () => {
      for (const random of [0, 0.5, 0.99]) {
        assert.equal(waitOf(slow(30_000), 1, random), 30_000 + random * 2000);
        assert.equal(
          waitOf(new UnexpectedResponseError(503, 'no-error-body', 7000), 1, random),
          7000 + random * 2000,
        );
        assert.equal(waitOf(new TooEarlyError(5000), 1, random), 5000 + random * 2000);
      }
      assert.equal(waitOf(slow(0), 1, 0), 0);
      assert.equal(waitOf(slow(undefined), 1, 0.5), 1000);
    });

    it('no longer than its patience; then it ends', () => {
      const kinds = [30_000, 29_999].map((patienceMs) =>
        [slow(30_000), new TooEarlyError(30_000), reset].map(
          (error) => nextStep(error, { ...first, patienceMs }, 0.5).kind,
        ),
      );
      assert.deepEqual(kinds, [
        ['retry', 'retry', 'retry'],
        ['unsent', 'unsent', 'retry'],
      ]);
    });

    it('five seconds if it may have been charged; a minute if the service may be pricing', () => {
      const pauseOf = (error: unknown, random = 0) => waitOf(error, 1, random, true);
      for (const error of [reset, slow(), new ServiceError('internal', 500), new ServiceError('a', 503)])
        assert.deepEqual([pauseOf(error), pauseOf(error, 0.99)], [5000, 5000]);
      assert.equal(pauseOf(slow(30_000), 0.5), 31_000);
      for (const error of [
        new ServiceError('a', 504),
        new UnexpectedResponseError(504, 'no-error-body'),
        new ServiceError('a', 408),
        new NetworkError('answer-timeout'),
        new NetworkError('stalled'),
      ])
        assert.equal(pauseOf(error, 0.5), 60_000);
      assert.equal(pauseOf(new ServiceError('a', 504, '', 90_000), 0), 90_000);
    });

    it('ten minutes at most: a longer Retry-After leaves the retry to the user, and is stored', () => {
      assert.equal(waitOf(slow(600_000), 1, 0), 600_000);
      for (const [isClosed, kind] of [
        [false, 'unsent'],
        [true, 'reconcile'],
      ] as const)
        for (const error of [slow(600_001), new TooEarlyError(600_001)])
          assert.deepEqual(nextStep(error, { ...first, isClosed }, 0), { kind, waitMs: 600_001 });
      assert.equal(nextStep(slow(Infinity), first, 0).kind, 'unsent');
    });

    it('and returns the wait even if no attempts are left', () => {
      const over = { ...first, isClosed: true, attempts: 5 };
      assert.deepEqual(nextStep(slow(30_000), over, 0), { kind: 'reconcile', waitMs: 30_000 });
      assert.deepEqual(nextStep(new NetworkError('reset'), over, 0), { kind: 'reconcile', waitMs: 0 });
    });
  });
});

describe('assertNotTooEarly', () => {
  const WEEK_MS = 7 * 24 * 3_600_000;
  const at = (localMs: number, serviceMs?: number) => momentAt(serviceMs, localMs);
  const check = (notBefore: Moment | undefined, now: Moment) => () =>
    assertNotTooEarly(
      sampleSubmission({
        attempts: [
          { started: at(0), notBefore: at(9e15, 9e15) },
          { started: at(0), ...(notBefore && { notBefore }) },
        ],
      }),
      now,
    );

  it('enforces the last Retry-After to the millisecond, by the service’s clock if known', () => {
    check(undefined, at(0, 0))();
    check(at(0, 1000), at(-5000, 1000))();
    assert.throws(check(at(0, 1000), at(5000, 999)), { code: 'too-early', retryAfterMs: 1 });
    for (const [notBefore, now] of [
      [at(1000), at(999, 5000)],
      [at(1000, 0), at(999)],
    ] as const)
      assert.throws(check(notBefore, now), { code: 'too-early', retryAfterMs: 1 });
    check(at(1000), at(1000))();
  });

  it('ignores a wait of more than a week, because the clock was set', () => {
    assert.throws(check(at(WEEK_MS), at(0)), { retryAfterMs: WEEK_MS });
    check(at(WEEK_MS + 1), at(0))();
  });
});

const FIRST_MS = Date.UTC(2031, 0, 1);
const at = momentAt;
/** Sent at FIRST_MS; its closing boundary was released a minute later. */
const closed: Attempt = { started: at(FIRST_MS, FIRST_MS), closed: at(FIRST_MS + MINUTE) };
const begun: Attempt = { started: at(FIRST_MS, FIRST_MS) };
const CREATED = { localMs: FIRST_MS, monotonicMs: 30 * HOUR, serviceMs: FIRST_MS };

describe('obstacleToSending', () => {
  const untimed = { localMs: FIRST_MS };
  /** How long ago it was created by each clock; undefined if that clock's time is unknown now. */
  interface Ago {
    service?: number;
    local?: number;
    monotonic?: number;
  }
  const nowAt = ({ service, local = 0, monotonic }: Ago): Moment => ({
    localMs: FIRST_MS + local,
    ...(service !== undefined && { serviceMs: FIRST_MS + service }),
    ...(monotonic !== undefined && { monotonicMs: 30 * HOUR + monotonic }),
  });
  const obstacle = (changes: Partial<Submission>, ago: Ago, isOwn = false, keyId = 'key-1') =>
    obstacleToSending(
      sampleSubmission({ created: CREATED, keyId: 'key-1', ...changes }),
      nowAt(ago),
      keyId,
      isOwn,
    );
  const STAGES: [name: string, Attempt[]][] = [
    ['a draft', []],
    ['an attempt that was begun', [begun]],
    ['a closing boundary', [closed]],
  ];

  for (const [name, attempts] of STAGES)
    for (const isOwn of [false, true]) {
      it(`of ${name}${isOwn ? ' of this process' : ''} is the longest of three clocks, from 23 hours on, to the millisecond`, () => {
        const early = { service: 23 * HOUR - 1, local: 23 * HOUR - 1, monotonic: 23 * HOUR - 1 };
        assert.equal(obstacle({ attempts }, early, isOwn), undefined);
        for (const late of [{ service: 23 * HOUR }, { local: 23 * HOUR }, { monotonic: 23 * HOUR }])
          assert.equal(
            obstacle({ attempts }, { ...early, ...late }, isOwn),
            'too-late',
            JSON.stringify(late),
          );
        assert.equal(obstacle({ attempts }, { service: 1000 * HOUR }, isOwn), 'too-late');
        // After a restart of the machine, the monotonic clock gives the time since then.
        assert.equal(
          obstacle({ attempts }, { service: 0, monotonic: 22 * HOUR - 30 * HOUR }, isOwn),
          undefined,
        );
        assert.equal(
          obstacle({ attempts }, { service: 0, monotonic: 23 * HOUR - 30 * HOUR }, isOwn),
          'too-late',
        );
      });

      it(`of ${name}${isOwn ? ' of this process' : ''} is a service’s time that is unknown or went back, unless nothing of its own was closed`, () => {
        const isEnough = isOwn && attempts !== STAGES[2]![1];
        const expected = isEnough ? undefined : 'clocks-disagree';
        const noTimes = attempts.map((one) => ({ ...one, started: untimed }));
        assert.equal(obstacle({ attempts }, {}, isOwn), expected);
        assert.equal(obstacle({ attempts: noTimes, created: untimed }, { service: HOUR }, isOwn), expected);
        assert.equal(obstacle({ attempts }, { service: -15 * MINUTE }, isOwn), undefined);
        assert.equal(obstacle({ attempts }, { service: -15 * MINUTE - 1 }, isOwn), expected);
        assert.equal(
          obstacle({ attempts }, { local: 23 * HOUR }, isOwn),
          'too-late',
          'by this machine’s clocks',
        );
      });
    }

  it('counts from when it was created or first attempted by the service’s clock, whichever is earlier or known', () => {
    const later = { started: at(FIRST_MS + 10 * HOUR), closed: at(FIRST_MS + 10 * HOUR) };
    const earlier = { started: at(FIRST_MS - HOUR), closed: at(FIRST_MS) };
    for (const [changes, limitMs] of [
      [{ attempts: [later] }, 23 * HOUR],
      [{ attempts: [earlier] }, 22 * HOUR],
      [{ attempts: [later], created: untimed }, 33 * HOUR],
      [{ attempts: [{ ...later, started: untimed }] }, 23 * HOUR],
      // Only the first attempt counts.
      [{ attempts: [{ started: untimed }, later], created: untimed }, undefined],
    ] as const) {
      const of = (service: number) => obstacle({ ...changes, attempts: [...changes.attempts] }, { service });
      if (limitMs === undefined) assert.equal(of(10 * HOUR), 'clocks-disagree');
      else assert.deepEqual([of(limitMs - 1), of(limitMs)], [undefined, 'too-late']);
    }
  });

  it('is another API key, whatever was sent and when', () => {
    for (const [name, attempts] of STAGES)
      for (const isOwn of [false, true])
        for (const service of [0, 30 * HOUR])
          assert.equal(obstacle({ attempts }, { service }, isOwn, 'key-2'), 'key-replaced', name);
  });
});
