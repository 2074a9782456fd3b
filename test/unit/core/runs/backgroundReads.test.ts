import assert from 'node:assert/strict';
import { NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import type { RunSummary } from '../../../../src/core/api/types.ts';
import { DetailReader, MissingRead } from '../../../../src/core/runs/backgroundReads.ts';
import type { RunStore } from '../../../../src/core/runs/runStore.ts';
import { SteppedClock } from '../../../helpers/runs/steppedClock.ts';
import { row } from '../../../helpers/runs/support.ts';

const MINUTE = 60_000;
const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('MissingRead', () => {
  let clock: SteppedClock;
  let isReady: boolean;
  let isMissing: boolean;
  let mayRepeat: boolean;
  /** What comes of a read. */
  let fails: boolean;
  let readAtMinutes: number[];
  let errors: number;
  let missing: MissingRead;

  beforeEach(() => {
    clock = new SteppedClock();
    [isReady, isMissing, mayRepeat, fails, readAtMinutes, errors] = [true, true, true, true, [], 0];
    const read = () => {
      readAtMinutes.push(clock.monotonicMs() / MINUTE);
      if (fails) return Promise.reject(new Error('reset'));
      isMissing = false;
      return Promise.resolve();
    };
    missing = new MissingRead(
      {
        isMissing: () => isReady && isMissing,
        read,
        mayRepeat: () => mayRepeat,
        onError: () => errors++,
      },
      clock,
    );
  });

  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      missing.tick();
      await turns();
      await clock.pass(MINUTE, turns);
    }
  };
  const failed = () => {
    missing.begin(Promise.reject(new Error('offline')));
    return turns();
  };

  it('reads at once when the service answers again, and ever more rarely where it fails, at most 10 minutes apart', async () => {
    isReady = false;
    await failed();
    await pass(5);
    isReady = true;
    await pass(60);
    assert.deepEqual(
      readAtMinutes.map((minute) => minute - 5),
      [0, 1, 3, 7, 15, 25, 35, 45, 55],
    );
    assert.equal(errors, 10);
  });

  it('ends once it was read, in the background or by somebody', async () => {
    await failed();
    fails = false;
    await pass(30);
    assert.deepEqual(readAtMinutes, [0]);
    isMissing = true;
    missing.begin(Promise.resolve().then(() => (isMissing = false)));
    await pass(30);
    assert.deepEqual(readAtMinutes, [0]);
  });

  it('sends nothing while somebody reads the same', async () => {
    const reading = Promise.withResolvers<undefined>();
    missing.begin(reading.promise);
    await pass(30);
    assert.deepEqual(readAtMinutes, []);
    reading.reject(new Error('offline'));
    await turns();
    await pass(1);
    assert.deepEqual(readAtMinutes, [30]);
  });

  it('starts again when somebody reads it, such as with another API key', async () => {
    await failed();
    await pass(20);
    await failed();
    await pass(1);
    assert.deepEqual(readAtMinutes, [0, 1, 3, 7, 15, 20]);
  });

  it('sends more than the first only where that may be repeated', async () => {
    mayRepeat = false;
    await failed();
    await pass(60);
    assert.deepEqual(readAtMinutes, [0]);
    mayRepeat = true;
    await pass(2);
    assert.deepEqual(readAtMinutes, [0, 60]);
  });
});

describe('DetailReader', () => {
  let rows: RunSummary[];
  let labels: Map<string, string | undefined>;
  let failures: Map<string, unknown>;
  let asked: string[];
  let waiting: number;
  let most: number;
  let fail: (runId: string) => Error | undefined;
  let isShown: boolean;
  let spare: number;
  let isScarce: boolean;
  let clock: SteppedClock;
  let reader: DetailReader;

  beforeEach(() => {
    labels = new Map();
    failures = new Map();
    fail = () => undefined;
    [asked, waiting, most, isShown, spare, isScarce] = [[], 0, 0, true, Infinity, false];
    rows = Array.from({ length: 60 }, (_, index) => row(`r${59 - index}`, 59 - index, 'complete'));
    clock = new SteppedClock();
    const runs = {
      get rows() {
        return rows;
      },
      label: (runId: string) => labels.get(runId),
      detail: () => undefined,
      detailFailure: (runId: string) => failures.get(runId),
      loadDetail: async (runId: string) => {
        asked.push(runId);
        most = Math.max(most, ++waiting);
        await turns();
        waiting--;
        const error = fail(runId);
        if (error === undefined) labels.set(runId, runId === 'bare' ? undefined : `L ${runId}`);
        // The list may have been read since: then a network's failure does not count.
        else if (!(error instanceof NetworkError)) failures.set(runId, error);
        if (error !== undefined) throw error;
      },
    };
    const budget = {
      get isScarce() {
        return isScarce;
      },
      takeSpare: () => spare-- > 0,
    };
    reader = new DetailReader(runs as unknown as RunStore, () => Promise.resolve(isShown), budget, clock);
  });

  const settled = async () => {
    await reader.tick();
    for (let before = -1; before !== asked.length || waiting > 0;) {
      before = asked.length;
      await turns();
    }
  };
  const pass = async (ms: number) => {
    await clock.pass(ms, turns);
    await settled();
  };

  it('reads the newest 50, a screen of them at once and then slowly, two at a time, each once', async () => {
    await settled();
    assert.deepEqual([asked.length, most], [20, 2]);
    await pass(89_000);
    assert.equal(asked.length, 20);
    for (let more = 0; more < 40; more++) await pass(90_000);
    assert.deepEqual(
      asked,
      Array.from({ length: 50 }, (_, index) => `r${59 - index}`),
    );
  });

  it('does not read what is known, nor again what has no label, unless its ID is another run’s after a reset', async () => {
    rows = [row('known', 3), row('bare', 2)];
    labels.set('known', 'L');
    await settled();
    await settled();
    assert.deepEqual(asked, ['bare']);
    rows = [];
    await settled();
    rows = [row('bare', 30)];
    await settled();
    assert.deepEqual(asked, ['bare', 'bare']);
  });

  it('sends only what the budget can spare, nothing while it is scarce or the rows are not shown', async () => {
    for (const [change, count] of [
      [() => (isShown = false), 0],
      [() => ([isShown, isScarce] = [true, true]), 0],
      [() => ([isScarce, spare] = [false, 3]), 3],
      [() => (spare = 2), 5],
    ] as const) {
      change();
      await settled();
      assert.equal(asked.length, count);
    }
  });

  it('passes over a run that has no detail, and rests where no answer comes', async () => {
    rows = ['gone', 'broken', 'lost'].map((runId, index) => row(runId, 9 - index));
    fail = (runId) =>
      runId === 'lost'
        ? new NetworkError('reset')
        : new ServiceError('not_found', runId === 'gone' ? 404 : 503);
    await settled();
    assert.deepEqual(asked, ['gone', 'broken', 'lost']);
    await pass(59_000);
    assert.equal(asked.length, 3);
    await pass(1_000);
    assert.deepEqual(asked.slice(3), ['lost']);
  });
});
