import assert from 'node:assert/strict';
import { MissingRead } from '../../../../src/core/runs/missingRead.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { SteppedClock } from '../../../helpers/runs/steppedClock.ts';

const MINUTE = 60_000;

describe('MissingRead', () => {
  let clock: SteppedClock;
  let session: { state: string; budget: { takeSpare(): boolean; spareWaitMs: number | undefined } };
  let spare: number;
  let isFocused: boolean;
  let isMissing: boolean;
  /** What comes of a read. */
  let fails: boolean;
  let readAtMs: number[];
  let errors: number;
  let missing: MissingRead;

  beforeEach(() => {
    clock = new SteppedClock();
    [spare, isFocused, isMissing, fails, readAtMs, errors] = [Infinity, false, true, true, [], 0];
    session = { state: 'ready', budget: { takeSpare: () => spare-- > 0, spareWaitMs: 0 } };
    missing = new MissingRead(
      session as unknown as Session,
      {
        isMissing: () => isMissing,
        read: () => {
          readAtMs.push(clock.monotonicMs());
          if (fails) return Promise.reject(new Error('reset'));
          isMissing = false;
          return Promise.resolve();
        },
      },
      () => isFocused,
      () => errors++,
      clock,
    );
  });
  afterEach(() => missing.dispose());

  const turns = () => new Promise((resolve) => setImmediate(resolve));
  /** Passes time, with an answer to something else at the end of each minute. */
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      await clock.pass(MINUTE, async () => {
        await turns();
      });
      missing.wake();
      await turns();
    }
  };
  const failed = () => {
    missing.begin(Promise.reject(new Error('offline')));
    return turns();
  };

  it('reads at once when the service answers again, and ever more rarely where it fails, at most 10 minutes apart', async () => {
    session.state = 'offline';
    await failed();
    assert.deepEqual(readAtMs, []);
    session.state = 'ready';
    missing.wake();
    await turns();
    await pass(60);
    assert.deepEqual(
      readAtMs.map((ms) => ms / MINUTE),
      [0, 1, 3, 7, 15, 25, 35, 45, 55],
    );
    assert.equal(errors, 10);
  });

  it('is at an end once it was read, by itself or by somebody', async () => {
    await failed();
    fails = false;
    await pass(1);
    assert.equal(readAtMs.length, 2);
    await pass(30);
    assert.equal(readAtMs.length, 2);
    isMissing = true;
    missing.begin(Promise.resolve().then(() => (isMissing = false)));
    await pass(30);
    assert.equal(readAtMs.length, 2);
  });

  it('sends nothing while somebody reads the same, nor while the service is out of reach', async () => {
    const reading = Promise.withResolvers<undefined>();
    missing.begin(reading.promise);
    await pass(30);
    session.state = 'offline';
    reading.reject(new Error('offline'));
    await pass(30);
    assert.deepEqual(readAtMs, []);
  });

  it('starts again when it is read again, such as with another API key', async () => {
    await failed();
    await pass(20);
    const before = readAtMs.length;
    await failed();
    assert.equal(readAtMs.length, before + 1);
  });

  it('takes what it sends from the budget, but for the first', async () => {
    spare = 1;
    await failed();
    await pass(120);
    assert.deepEqual(
      readAtMs.map((ms) => ms / MINUTE),
      [0, 1],
    );
  });

  it('sends more than the first in a window that does not watch only while that has the focus', async () => {
    spare = 0;
    session.budget.spareWaitMs = undefined;
    await failed();
    await pass(60);
    assert.equal(readAtMs.length, 1);
    isFocused = true;
    missing.wake();
    await turns();
    assert.equal(readAtMs.length, 2);
    missing.wake();
    await turns();
    assert.equal(readAtMs.length, 2);
  });

  it('sends nothing after its end', async () => {
    await failed();
    missing.dispose();
    await pass(60);
    assert.equal(readAtMs.length, 1);
  });
});
