import assert from 'node:assert/strict';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import { DetailReader } from '../../../../src/core/runs/detailReader.ts';
import type { RunStore } from '../../../../src/core/runs/runStore.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';
import { TestClock } from '../../../helpers/runs/testClock.ts';

describe('DetailReader', () => {
  let bench: Bench;
  let runs: RunStore;
  let listed: unknown[];
  let asked: string[];
  let waiting: number;
  let most: number;
  let answer: (runId: string) => [status: number, body: unknown] | undefined;
  let isShown: boolean;
  let spare: number;
  let isScarce: boolean;
  let waitMs: number | undefined;
  let clock: TestClock;
  let reader: DetailReader;

  beforeEach(async () => {
    bench = await Bench.start();
    isScarce = false;
    [asked, waiting, most, isShown, spare, waitMs] = [[], 0, 0, true, Infinity, 40_000];
    answer = (runId) => [
      200,
      { run: { run_id: runId, status: 'complete', model_id: 'm', label: `L ${runId}` } },
    ];
    const server = await bench.serve((request, response) => {
      const { pathname } = new URL(String(request.url), 'http://x.test');
      if (pathname.endsWith('/runs')) {
        sendJson(response, 200, { data: listed, has_more: false });
        return;
      }
      const runId = pathname.split('/').at(-1) ?? '';
      asked.push(runId);
      most = Math.max(most, ++waiting);
      setTimeout(() => {
        waiting--;
        const given = answer(runId);
        if (given === undefined) response.destroy();
        else sendJson(response, ...given);
      }, 5);
    });
    runs = bench.session({ baseUrl: server.url, apiKey: 'k', keyId: 'key-1' }).runs;
    listed = Array.from({ length: 60 }, (_, index) => row(`r${59 - index}`, 59 - index, 'complete'));
    clock = new TestClock();
    clock.isHeld = true;
    reader = begin(runs);
  });
  afterEach(async () => {
    reader.dispose();
    await bench.end();
  });

  const begin = (of: RunStore) =>
    new DetailReader(
      of,
      () => isShown,
      {
        get isScarce() {
          return isScarce;
        },
        takeSpare: () => spare-- > 0,
        get spareWaitMs() {
          return waitMs;
        },
      },
      clock,
    );
  const settled = async () => {
    for (let before = -1; before !== asked.length || waiting > 0;) {
      before = asked.length;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  };

  it('reads the newest 50, a screen of them at once and then slowly, two at a time, each once', async () => {
    await runs.refresh();
    await until(() => asked.length === 20);
    await settled();
    assert.deepEqual([asked.length, clock.sleeps], [20, [90_000]]);
    reader.dispose();
    clock.isHeld = false;
    reader = begin(runs);
    reader.wake();
    await until(() => asked.length === 50);
    await settled();
    assert.deepEqual([asked.length, new Set(asked).size, most], [50, 50, 2]);
    assert.deepEqual(clock.sleeps, Array(11).fill(90_000));
    assert.deepEqual([runs.label('r59'), runs.label('r10'), runs.label('r9')], ['L r59', 'L r10', undefined]);
    reader.wake();
    await runs.refresh();
    await settled();
    assert.equal(asked.length, 50);
  });

  it('reads nothing whose label is known, nor what has none once more', async () => {
    listed = [row('a', 2, 'running'), row('b', 1, 'running')];
    answer = (runId) => [
      200,
      { run: { run_id: runId, status: 'running', model_id: 'm' } satisfies RunDetail },
    ];
    runs.knowLabels([['a', 'known']]);
    await runs.refresh();
    await settled();
    assert.deepEqual(asked, ['b']);
    listed = [row('a', 2, 'evaluating'), row('b', 1, 'evaluating')];
    await runs.refresh();
    await settled();
    assert.deepEqual(asked, ['b']);
  });

  it('reads a run again whose ID comes again, such as after the sandbox was reset', async () => {
    listed = [row('a', 1, 'complete')];
    await runs.refresh();
    await settled();
    runs.clear();
    listed = [row('a', 30, 'complete')];
    await runs.refresh();
    await until(() => runs.label('a') === 'L a');
    assert.deepEqual(asked, ['a', 'a']);
  });

  it('reads nothing while the rows are not on the screen', async () => {
    isShown = false;
    await runs.refresh();
    await settled();
    assert.deepEqual(asked, []);
    isShown = true;
    reader.wake();
    await until(() => asked.length > 0);
  });

  it('sends only what the budget can spare, and continues later', async () => {
    spare = 3;
    await runs.refresh();
    await settled();
    assert.deepEqual([asked.length, clock.sleeps], [3, [40_000]]);
    // Whatever happens meanwhile.
    spare = 10;
    reader.wake();
    await settled();
    assert.equal(asked.length, 3);
  });

  it('leaves a scarce budget to polls', async () => {
    isScarce = true;
    waitMs = 0;
    await runs.refresh();
    await settled();
    assert.deepEqual([asked, clock.sleeps, spare], [[], [10_000], Infinity]);
  });

  it('waits for what may be sent to come back, and asks later where another window reads', async () => {
    clock.isHeld = false;
    spare = 1;
    waitMs = undefined;
    const waits: number[] = [];
    const sleep = clock.sleep.bind(clock);
    clock.sleep = async (ms, signal) => {
      waits.push(ms);
      if (waits.length === 2) spare = Infinity;
      await sleep(ms, signal);
    };
    await runs.refresh();
    await until(() => asked.length === 50);
    assert.deepEqual(waits.slice(0, 2), [5_000, 5_000]);
  });

  it('is one request for each, whatever comes of it, and rests where it is asked to', async () => {
    listed = [row('a', 2, 'complete'), row('b', 1, 'complete')];
    answer = (runId) => (runId === 'a' ? [503, {}] : [429, { error: { code: 'rate_limited', message: '' } }]);
    spare = 10;
    await runs.refresh();
    await settled();
    assert.deepEqual([asked, spare, clock.sleeps], [['a', 'b'], 8, [60_000]]);
    assert.deepEqual(
      [runs.detailFailure('a') !== undefined, runs.detailFailure('b') !== undefined],
      [true, true],
    );
    await new Promise((resolve) => setTimeout(resolve, 600));
    await runs.refresh();
    // What was asked too often says nothing of the run.
    assert.deepEqual([runs.detailFailure('a') !== undefined, runs.detailFailure('b')], [true, undefined]);
  });

  it('gives way to who waits for the same', async () => {
    listed = [row('a', 1, 'complete')];
    const whole = answer;
    let failed = false;
    answer = (runId) => {
      if (failed) return whole(runId);
      failed = true;
      return undefined;
    };
    await runs.refresh();
    assert.equal((await runs.loadDetail('a')).label, 'L a');
    assert.deepEqual(asked, ['a', 'a']);
    await settled();
    assert.equal(asked.length, 2);
  });

  it('passes over a run that has no detail, and rests where nobody answers', async () => {
    listed = [row('odd', 3, 'complete'), row('gone', 2, 'complete'), row('a', 1, 'complete')];
    answer = (runId) =>
      runId === 'gone'
        ? [404, { error: { code: 'not_found', message: '' } }]
        : [200, { run: { run_id: runId === 'odd' ? 7 : runId, status: 'complete', model_id: 'm' } }];
    await runs.refresh();
    await settled();
    assert.deepEqual([asked, clock.sleeps], [['odd', 'gone', 'a'], []]);
    listed = Array.from({ length: 9 }, (_, index) => row(`x${index}`, 20 - index, 'complete'));
    answer = () => undefined;
    await runs.refresh();
    await settled();
    assert.equal(new Set(asked.filter((runId) => runId.startsWith('x'))).size, 2);
    assert.deepEqual(clock.sleeps, [60_000]);
  });
});
