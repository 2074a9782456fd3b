import assert from 'node:assert/strict';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { NO_WAIT } from '../../../../src/core/api/rateGate.ts';
import { CacheFile } from '../../../../src/core/runs/cacheFile.ts';
import { made, RefreshBench, type RefreshWindow } from '../../../helpers/runs/refreshBench.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('Refresher', function () {
  let bench: RefreshBench;

  beforeEach(async () => {
    bench = await RefreshBench.start();
  });
  afterEach(() => bench.end());

  /** Opens windows one after the other: the first one asks, the others take over its data. */
  async function open<Names extends string[]>(...names: Names) {
    const windows: RefreshWindow[] = [];
    for (const name of names) {
      const window = bench.window(name);
      windows.push(window);
      await window.refresher.poll();
      // So that no two windows tick at the same moment.
      await bench.pass(300);
    }
    return windows as { [Name in keyof Names]: RefreshWindow };
  }
  const statusIn = ({ session }: RefreshWindow, runId: string) => session.runs.get(runId)?.status;
  const movesIn = ({ moved }: RefreshWindow) =>
    moved.map(({ runId, before, after }) => `${runId}: ${before.status} → ${after.status}`);
  /** Holds back responses until the returned function is called. */
  const hold = () => {
    const opened = Promise.withResolvers<undefined>();
    bench.gate = opened.promise;
    return () => {
      bench.gate = undefined;
      opened.resolve(undefined);
    };
  };
  const polls = () => bench.asked.filter((one) => one.endsWith(' /runs')).length;
  /** Returns the windows that asked since the last call. */
  const askers = () => [...new Set(bench.asked.splice(0).map((one) => one[0]))].sort().join('');

  describe('in one window', () => {
    it('polls after the last poll ended, never during it', async () => {
      bench.rows = [made(bench, 'r', 0)];
      await open('a');
      assert.equal(polls(), 1);
      const release = hold();
      await bench.pass(5 * SECOND);
      assert.equal(polls(), 2);
      await bench.pass(10 * MINUTE);
      assert.equal(polls(), 2);
      release();
      await bench.settle();
      bench.rows = [made(bench, 'r', 0, 'evaluating')];
      await bench.pass(44 * SECOND);
      await bench.pass(SECOND);
      assert.equal(polls(), 3);
    });

    it('is fast after a change, slower as the youngest run ages', async () => {
      bench.rows = [made(bench, 'r', 30 * MINUTE)];
      const [a] = await open('a');
      await bench.pass(2 * MINUTE - SECOND);
      assert.equal(polls(), 1);
      bench.rows = [{ ...bench.rows[0], status: 'evaluating' } as (typeof bench.rows)[0]];
      await bench.pass(SECOND);
      assert.deepEqual([polls(), movesIn(a)], [2, ['r: running → evaluating']]);
      await bench.pass(5 * SECOND);
      assert.equal(polls(), 3);
    });

    it('sleeps until something is active', async () => {
      bench.rows = [made(bench, 'r', MINUTE, 'complete')];
      const [a] = await open('a');
      await bench.pass(40 * MINUTE);
      assert.equal(polls(), 1);
      a.session.runs.insertCreated({ run_id: 'new' }, 'm', undefined);
      await bench.pass(5 * SECOND);
      assert.equal(polls(), 2);
    });

    it('watches and counts an unknown status for a week without a change, ever more slowly', async () => {
      const DAY = 24 * HOUR;
      bench.rows = [made(bench, 'r', 7 * DAY - HOUR, 'halted')];
      const [a] = await open('a');
      assert.equal(a.session.runs.activeCount, 1);
      await bench.pass(HOUR + MINUTE);
      const atEnd = polls();
      assert.ok(atEnd >= 2 && atEnd <= 3, String(atEnd));
      await bench.pass(40 * MINUTE);
      assert.deepEqual([polls(), a.session.runs.activeCount], [atEnd, 0]);
      bench.rows = [{ ...made(bench, 'r', 8 * DAY, 'resumed') }];
      await a.session.runs.refresh();
      assert.equal(a.session.runs.activeCount, 1);
      await bench.pass(5 * SECOND);
      assert.equal(polls(), atEnd + 2);
    });

    it('reads no balance in scheduled polls', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const a = bench.window('a');
      a.isAwaiting = true;
      await a.refresher.poll();
      bench.asked.length = 0;
      await bench.pass(10 * MINUTE);
      assert.ok(polls() > 4 && bench.asked.length === polls());
    });

    it('polls without an active run only while a submission is uncertain', async () => {
      const [a] = await open('a');
      await bench.pass(10 * MINUTE);
      assert.equal(polls(), 1);
      a.isAwaiting = true;
      await bench.pass(20 * SECOND);
      const meanwhile = polls();
      assert.ok(meanwhile >= 3, String(meanwhile));
      a.isAwaiting = false;
      await bench.pass(10 * MINUTE);
      assert.ok(polls() <= meanwhile + 1, String(polls()));
    });

    it('backs off if the service does not answer, reports each cause once, and retries no request', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a] = await open('a');
      bench.instead = () => 'lost';
      await bench.pass(HOUR);
      assert.deepEqual([a.errors.length, a.session.state], [1, 'offline']);
      // 7.5 s, 15 s, 30 s, 60 s, 120 s, and then every 150 s.
      assert.ok(polls() > 20 && polls() < 35, String(polls()));
      const since = a.session.offlineSince;
      assert.equal((await bench.cache()).offlineSinceMs, since);
      bench.instead = undefined;
      await bench.pass(3 * MINUTE);
      assert.equal(a.session.state, 'ready');
      assert.equal((await bench.cache()).offlineSinceMs, undefined);
    });

    it('sends nothing after it was disposed, even during a poll', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a] = await open('a');
      const release = hold();
      await bench.pass(5 * SECOND);
      a.refresher.dispose();
      release();
      await bench.pass(3 * HOUR);
      assert.equal(polls(), 2);
    });

    describe('with an active run deep in the list', () => {
      let a: RefreshWindow;

      beforeEach(async () => {
        bench.rows = Array.from({ length: 1_000 }, (_, index) =>
          made(bench, `r${index}`, (index + 10) * SECOND, index === 950 ? 'running' : 'complete'),
        );
        a = bench.window('a');
        await a.refresher.poll();
        while (a.session.runs.hasMore) await a.session.runs.loadMore();
      });
      const end = (runId: string) => {
        bench.rows = bench.rows.map((row) => (row.run_id === runId ? { ...row, status: 'complete' } : row));
      };

      it('polls a new run often, and the deep one when there is plenty of quota', async () => {
        bench.rows = [made(bench, 'new', 0), ...bench.rows];
        await a.session.runs.refresh();
        await bench.pass(30 * SECOND);
        end('new');
        await bench.pass(10 * SECOND);
        assert.equal(statusIn(a, 'new'), 'complete');
        end('r950');
        await bench.pass(HOUR);
        assert.equal(statusIn(a, 'r950'), 'complete');
      });
    });

    it('reads models and balance again once the service answers, and reports each failure', async () => {
      bench.instead = () => 'lost';
      const [a] = await open('a');
      await bench.pass(2 * MINUTE);
      assert.deepEqual(
        [a.session.state, a.session.models.models, a.errors.length],
        ['offline', undefined, 1],
      );
      bench.instead = undefined;
      await bench.pass(3 * MINUTE);
      assert.equal(a.session.models.nameOf('m'), 'Model M');
      assert.equal(a.session.balance.current?.balance_cents, 1_000);
      const before = bench.asked.length;
      await bench.pass(HOUR);
      assert.equal(bench.asked.length, before);
    });

    it('reads the labels of the newest 50 visible runs once each, and leaves enough quota for polls', async () => {
      bench.rows = Array.from({ length: 60 }, (_, index) =>
        made(bench, `r${index}`, (index + 1) * MINUTE, 'complete'),
      );
      bench.instead = (what) => {
        if (what === '/runs/r1') return [404, { error: { code: 'not_found', message: '' } }];
        return what === '/runs/r2'
          ? [200, { run: { run_id: 'r2', status: 'completed', model_id: 'm' } }]
          : undefined;
      };
      const a = bench.window('a');
      await a.refresher.poll();
      await bench.pass(MINUTE);
      const details = () => bench.asked.filter((one) => one.includes('/runs/'));
      assert.equal(details().length, 0);
      a.areRowsShown = true;
      await bench.pass(5 * SECOND);
      assert.equal(details().length, 19);
      await bench.pass(HOUR);
      assert.deepEqual(
        details(),
        bench.rows.slice(0, 50).map(({ run_id }) => `a /runs/${run_id}`),
      );
    });

    it('reads everything again after the connection changed', async () => {
      const [a] = await open('a');
      bench.asked.length = 0;
      a.session.reconnect();
      await bench.pass(5 * SECOND);
      assert.deepEqual(bench.asked.toSorted(), ['a /balance', 'a /models', 'a /runs']);
    });
  });

  it('reads with a new API key even if a poll with the former one is in progress', async () => {
    bench.rows = [made(bench, 'r', 0, 'complete')];
    const [a] = await open('a');
    await bench.pass(MINUTE);
    const release = hold();
    void a.refresher.poll();
    await bench.settle();
    bench.rows = [made(bench, 'new', 0, 'complete')];
    a.session.reconnect();
    await bench.settle();
    release();
    await bench.pass(10 * SECOND);
    assert.deepEqual(
      a.session.runs.rows?.map(({ run_id }) => run_id),
      ['new'],
    );
  });

  it('reads with a new API key only in the window with the focus; the others take over its data', async () => {
    const windows = await open('a', 'b', 'c', 'd');
    for (const window of windows) window.isFocused = window.name === 'b';
    await bench.pass(MINUTE);
    bench.asked.length = 0;
    bench.rows = [made(bench, 'new', 0, 'complete')];
    for (const { session } of windows) session.reconnect();
    await bench.pass(20 * SECOND);
    assert.ok(polls() <= 2, String(polls()));
    for (const window of windows) assert.equal(statusIn(window, 'new'), 'complete');
  });

  describe('rules', () => {
    it('1: the window that asked last asks next; another one only if it stays due', async () => {
      bench.rows = [made(bench, 'r', 30 * MINUTE)];
      const [a, b, c] = await open('a', 'b', 'c');
      bench.asked.length = 0;
      await bench.pass(20 * MINUTE + 10 * SECOND);
      assert.deepEqual([askers(), b.session.runs.readAtMs], ['a', a.session.runs.readAtMs]);
      // The reader hangs: after the interval of two minutes, no window asks for a tick or two, then another one does.
      while (polls() === 0) await bench.pass(SECOND);
      a.isHung = true;
      bench.asked.length = 0;
      await bench.pass(2 * MINUTE);
      assert.equal(askers(), '');
      await bench.pass(20 * SECOND);
      assert.match(askers(), /^[bc]$/);
      bench.rows = [made(bench, 'r', 30 * MINUTE, 'complete')];
      await bench.pass(3 * MINUTE);
      assert.equal(polls(), 1);
      for (const window of [b, c]) assert.deepEqual(movesIn(window), ['r: running → complete']);
    });

    it('2: a window that opens or gets the focus takes over data that is younger than 30 seconds', async () => {
      const [a] = await open('a');
      bench.asked.length = 0;
      await bench.pass(25 * SECOND);
      const [b] = await open('b');
      assert.deepEqual([askers(), b.session.state, b.session.models.nameOf('m')], ['', 'ready', 'Model M']);
      assert.deepEqual(b.session.balance.current, a.session.balance.current);
      await bench.pass(10 * SECOND);
      for (const expected of ['b', '']) {
        await b.refresher.poll();
        assert.equal(askers(), expected);
      }
    });

    for (const isKnown of [true, false])
      it(`3: of eight windows that open at once, only the focused one asks${isKnown ? '' : ', also if nothing is stored'}`, async () => {
        bench.rows = [made(bench, 'r', 2 * HOUR)];
        if (isKnown) (await open('a'))[0].dispose();
        await bench.pass(3 * HOUR);
        bench.asked.length = 0;
        const windows = 'bcdefghi'.split('').map((name) => bench.window(name, name === 'e'));
        await bench.pass(MINUTE);
        assert.ok(bench.asked.length <= 4, bench.asked.join());
        assert.equal(askers(), 'e');
        for (const window of windows)
          assert.deepEqual(
            [statusIn(window, 'r'), window.session.balance.current?.currency],
            ['running', 'EUR'],
          );
      });

    it('3: if no window has the focus, the first one to notice that asks', async () => {
      for (const name of 'abc') {
        bench.window(name, false);
        await bench.pass(10);
      }
      assert.equal(polls(), 0);
      // The others see that one asks before it has a response.
      const release = hold();
      await bench.pass(10 * SECOND);
      release();
      await bench.pass(5 * SECOND);
      assert.equal(polls(), 1, bench.asked.join());
    });

    it('4: a time in the future is old', async () => {
      bench.rows = [made(bench, 'r', 48 * HOUR)];
      const windows = await open('a', 'b');
      await bench.pass(MINUTE);
      bench.clock.setWall(-5 * HOUR);
      const before = polls();
      await bench.pass(10 * SECOND);
      assert.equal(polls(), before + 1);
      await bench.pass(5 * SECOND);
      bench.balance_cents = 2_000;
      bench.clock.setWall(-5 * HOUR);
      await windows[1].refresher.poll();
      assert.equal(polls(), before + 2);
      await bench.pass(5 * SECOND);
      for (const { session } of windows) {
        assert.ok(session.runs.readAtMs <= bench.clock.nowMs());
        assert.equal(session.balance.current?.balance_cents, 2_000);
      }
      // Neither more often than before.
      await bench.pass(10 * MINUTE);
      assert.ok(polls() < before + 6, String(polls() - before));
      // The retry of a failed request was planned by the other clock.
      bench.instead = () => 'lost';
      await bench.pass(5 * MINUTE);
      bench.instead = undefined;
      bench.clock.setWall(-5 * HOUR);
      await bench.pass(20 * SECOND);
      assert.deepEqual(
        windows.map(({ session }) => session.state),
        ['ready', 'ready'],
      );
    });

    it('5: after the machine slept, a poll is due', async () => {
      bench.rows = [made(bench, 'r', 48 * HOUR)];
      await open('a', 'b');
      const before = polls();
      bench.clock.setWall(10 * MINUTE);
      await bench.pass(10 * SECOND);
      assert.equal(polls(), before + 1);
      await bench.pass(5 * MINUTE);
      assert.equal(polls(), before + 1);
    });

    it('6: all windows share the tokens', async () => {
      const [a, b] = await open('a', 'b');
      while (a.session.quota.take());
      await bench.pass(10 * SECOND);
      assert.equal(b.session.quota.take(), false);
      await bench.pass(HOUR);
      const drain = () => {
        let taken = 0;
        while (b.session.quota.take()) taken++;
        return taken;
      };
      assert.equal(drain(), 40);
      await bench.pass(10 * SECOND);
      assert.equal(a.session.quota.take(), false);
      // A window that opens later starts with the tokens that are left.
      const [c] = await open('c');
      assert.equal(c.session.quota.take(), false);
    });

    it('7: a window adopts the waits of others before each write', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b] = await open('a', 'b');
      a.isHung = true;
      await bench.pass(5 * SECOND);
      const release = hold();
      const asked = b.session.runs.refresh();
      await bench.pass(10 * SECOND);
      // Meanwhile another window was refused; this one doesn't know yet when it writes.
      const later = { sinceMs: bench.clock.nowMs(), untilMs: bench.clock.nowMs() + HOUR, readUntilMs: 0 };
      const { waits: _, ...before } = await bench.cache();
      await new CacheFile(bench.file).write({ ...before, waits: { reads: later, submissions: NO_WAIT } });
      release();
      await asked;
      await bench.settle();
      assert.equal((await bench.cache()).waits?.reads.untilMs, later.untilMs);
      bench.asked.length = 0;
      await bench.pass(HOUR - 10 * SECOND);
      assert.deepEqual([askers(), b.session.notBeforeMs], ['', later.untilMs]);
      await bench.pass(30 * SECOND);
      assert.equal(askers(), 'b');
    });

    it('9: if the folder can’t be written, each window reads for itself and says so once', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b] = await open('a', 'b');
      await rm(bench.folder, { recursive: true, force: true });
      await writeFile(bench.folder, 'no folder');
      bench.asked.length = 0;
      await bench.pass(3 * MINUTE);
      assert.equal(askers(), 'ab');
      const own = (window: RefreshWindow) =>
        window.errors.map(String).filter((text) => text.startsWith('runs-'));
      for (const window of [a, b])
        assert.deepEqual([own(window), window.session.quota.isReader], [['runs-not-shared: EEXIST'], true]);
      // Once it can be written again, one of them asks, and a later failure is a new one.
      await rm(bench.folder);
      await bench.pass(2 * MINUTE);
      bench.asked.length = 0;
      await bench.pass(5 * MINUTE);
      assert.equal(askers().length, 1);
    });

    it('9: if the file can’t be replaced, windows don’t follow it', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a] = await open('a');
      a.dispose();
      await bench.pass(HOUR);
      await rm(bench.file);
      await mkdir(path.join(bench.file, 'not empty'), { recursive: true });
      const windows = await open('b', 'c');
      bench.rows = [made(bench, 'r', 0)];
      await bench.pass(10 * MINUTE);
      bench.asked.length = 0;
      await bench.pass(10 * MINUTE);
      assert.equal(askers(), 'bc');
      for (const { errors } of windows) assert.equal(errors.length, 1, errors.join());
    });

    it('10: only the reader sends requests that one window is enough for', async () => {
      bench.rows = [made(bench, 'r', 30 * MINUTE)];
      const windows = await open('a', 'b', 'c');
      const readers = () => windows.filter(({ session }) => session.quota.isReader).map(({ name }) => name);
      assert.deepEqual(readers(), ['a']);
      await bench.pass(SECOND);
      await windows[1].session.runs.refresh();
      await bench.pass(10 * SECOND);
      assert.deepEqual(readers(), ['b']);
      windows[1].dispose();
      bench.asked.length = 0;
      await bench.pass(3 * MINUTE);
      assert.deepEqual(readers(), [askers(), 'b'].sort(), 'b is closed');
    });
  });

  it('10: one window stays the reader while there is nothing to ask for', async () => {
    bench.rows = [made(bench, 'r', HOUR, 'complete')];
    const [a] = await open('a');
    await bench.pass(10 * SECOND);
    a.dispose();
    const [b, c] = await open('b', 'c');
    assert.equal(polls(), 1);
    for (let minutes = 0; minutes < 60; minutes += 7) {
      await bench.pass(7 * MINUTE);
      const readers = [b, c].filter(({ session }) => session.quota.isReader);
      assert.equal(readers.length, 1, `after ${minutes} minutes`);
    }
    assert.equal(polls(), 1);
  });

  describe('with several windows', () => {
    it('shows the same rows, changes, labels, balance, and whether the service is reachable', async () => {
      bench.isWatched = true;
      bench.rows = [made(bench, 'r', 0)];
      const [a, b, c] = await open('a', 'b', 'c');
      a.session.runs.addLabels([['r', 'Läbel']]);
      bench.rows = [made(bench, 's', 0, 'queued'), made(bench, 'r', 0, 'complete')];
      bench.balance_cents = 900;
      await bench.pass(SECOND);
      await a.session.balance.refresh();
      const { readAtMs } = a.session.balance;
      await bench.pass(5 * SECOND);
      // The file watcher tells them, before their next tick.
      await bench.until(() => statusIn(b, 'r') === 'complete' && statusIn(c, 'r') === 'complete');
      for (const window of [b, c]) {
        const { session } = window;
        assert.deepEqual([session.runs.label('r'), session.balance.current?.balance_cents], ['Läbel', 900]);
        assert.equal(session.balance.readAtMs, readAtMs);
        assert.deepEqual(movesIn(window), ['r: running → complete']);
        assert.deepEqual([session.runs.activeCount, session.runs.rows?.length], [1, 2]);
      }
      bench.instead = () => 'lost';
      await bench.pass(MINUTE);
      await bench.until(() => b.session.state === 'offline' && c.session.state === 'offline');
      // A window that opens now, without the focus, knows it, too.
      const d = bench.window('d', false);
      await bench.settle();
      for (const { session } of [b, c, d]) assert.equal(session.offlineSince, a.session.offlineSince);
      bench.instead = undefined;
      await bench.pass(10 * MINUTE);
      await bench.until(() => [b, c, d].every(({ session }) => session.state === 'ready'));
      assert.equal(askers(), 'a');
    });

    it('takes over new data at the next tick without a file watcher, and stores only fields of the contract', async () => {
      const signed = { download_url: 'https://signed.test/?sig=1' };
      const r = { ...made(bench, 'r', 30 * MINUTE), ...signed, artifacts_expires_at: null, progress: 0 };
      const timeless = { ...made(bench, 'timeless', 0, 'complete'), created_at: null };
      bench.instead = (what) =>
        what === '/runs' ? [200, { data: [r, timeless], has_more: false }] : undefined;
      const [a, b] = await open('a', 'b');
      r.status = 'evaluating';
      await a.session.runs.refresh();
      await bench.pass(10 * SECOND);
      assert.deepEqual([statusIn(b, 'r'), a.errors, b.errors], ['evaluating', [], []]);
      assert.doesNotMatch(JSON.stringify(await bench.cache()), /signed|progress/);
    });

    it('reads and stores only the labels that the disk does not have', async () => {
      bench.rows = ['known', 'new'].map((runId) => made(bench, runId, MINUTE, 'complete'));
      const [a] = await open('a');
      const detail = { run_id: 'known', status: 'completed', model_id: 'm', label: 'L known' };
      a.session.runs.addDetails([detail]);
      await bench.pass(MINUTE);
      a.dispose();
      for (const [name, expected] of [
        ['b', ['b /balance', 'b /runs', 'b /runs/new']],
        ['c', []],
      ] as const) {
        bench.asked.length = 0;
        const window = bench.window(name);
        window.areRowsShown = true;
        await bench.settle();
        await bench.pass(5 * SECOND);
        assert.deepEqual(bench.asked.toSorted(), expected);
        for (const runId of ['known', 'new']) assert.equal(window.session.runs.label(runId), `L ${runId}`);
      }
    });

    it('sends at most 120 GETs in an hour for 50 runs that change constantly and 3 windows', async function () {
      const change = () => {
        const status = `step ${bench.asked.length}`;
        bench.rows = Array.from({ length: 50 }, (_, index) =>
          made(bench, `r${index}`, index * SECOND, status),
        );
      };
      change();
      const windows = await open('a', 'b', 'c');
      for (const window of windows) window.areRowsShown = true;
      bench.instead = (what) => {
        change();
        const [, run_id] = what.split('/runs/');
        // Without a label, so that it is missing again after each change.
        return run_id === undefined ? undefined : [200, { run: { run_id, status: 'x', model_id: 'm' } }];
      };
      bench.asked.length = 0;
      let spare = 0;
      const readDetails = async ({ session }: RefreshWindow) => {
        if (!session.quota.takeForExtras()) return;
        spare++;
        await session.call((client) => client.getRun('r1', { isBackground: true })).catch(() => undefined);
      };
      for (let minute = 0; minute < 60; minute++) {
        await Promise.all(windows.map(readDetails));
        // The user switches between windows.
        if (minute % 5 === 0) void windows[(minute / 5) % 3]?.refresher.poll();
        await bench.pass(MINUTE);
      }
      const sent = bench.asked.length;
      assert.ok(sent <= 120, `${sent}: ${spare} details`);
      // It isn't idle, but how many details it reads between polls depends on when the windows ask.
      assert.ok(polls() >= 40 && spare >= 4, `${polls()} polls, ${spare} details`);
    });

    it('polls again ten minutes after a submission was asked to wait for a day, in any window, and shares the wait and its end', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const windows = await open('a', 'b');
      const [a, b] = windows;
      const askForDay = ({ session }: RefreshWindow) => {
        const nowMs = bench.clock.nowMs();
        const submissions = { sinceMs: nowMs, untilMs: nowMs + 24 * HOUR, readUntilMs: nowMs + 10 * MINUTE };
        session.acceptShared({ waits: { reads: NO_WAIT, submissions } }, false);
      };
      const waiting = () => windows.map(({ session }) => session.longWaitUntilMs !== undefined);
      for (const [asked, ended] of [
        [a, a],
        [a, b],
        [b, a],
        [b, b],
      ] as const) {
        await bench.pass(MINUTE);
        askForDay(asked);
        bench.asked.length = 0;
        await bench.pass(10 * SECOND);
        await bench.until(() => waiting().every(Boolean));
        await bench.pass(9 * MINUTE);
        const [early] = [polls()];
        await bench.pass(5 * MINUTE);
        assert.ok(early <= 1 && polls() > early, `${early}, then ${polls()} polls`);
        assert.deepEqual(waiting(), [true, true]);
        await ended.session.endLongWait();
        await bench.pass(10 * SECOND);
        await bench.until(() => !waiting().some(Boolean));
      }
      // Setting the clock back doesn't change that, and a new wait counts.
      bench.clock.setWall(-2 * HOUR);
      await bench.pass(MINUTE);
      assert.deepEqual(waiting(), [false, false]);
      askForDay(b);
      await bench.pass(10 * SECOND);
      await bench.until(() => waiting().every(Boolean));
    });

    it('passes the account on to a window with another API key if its own is rejected', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b] = await open('a', 'b');
      bench.instead = (_what, who) =>
        who === 'a' ? [401, { error: { code: 'invalid_api_key', message: '' } }] : undefined;
      await bench.pass(5 * SECOND);
      assert.equal(a.session.state, 'key-rejected');
      bench.asked.length = 0;
      await bench.pass(2 * MINUTE);
      assert.deepEqual([askers(), a.session.state, b.session.state], ['b', 'key-rejected', 'ready']);
    });

    it('watches a submission of another window, even if the list is late to contain it', async () => {
      const [a, b] = await open('a', 'b');
      await bench.pass(MINUTE);
      bench.asked.length = 0;
      b.session.runs.insertCreated({ run_id: 'new' }, 'm', undefined);
      bench.recallSubmitted = ({ runs }) => {
        if (runs.get('new') !== undefined) return Promise.resolve(false);
        runs.insertCreated({ run_id: 'new' }, 'm', undefined);
        return Promise.resolve(true);
      };
      await bench.pass(5 * SECOND);
      assert.deepEqual(bench.asked, ['a /runs', 'a /balance']);
      bench.rows = [made(bench, 'new', 0, 'queued')];
      await bench.pass(MINUTE);
      assert.equal(statusIn(a, 'new'), 'queued');
      bench.rows = [made(bench, 'new', 0, 'running')];
      await bench.pass(MINUTE);
      assert.equal(statusIn(b, 'new'), 'running');
      assert.equal(askers(), 'a');
    });
  });

  describe('after an absence', () => {
    it('shows the stored data before the service answers, and reports what changed since', async () => {
      bench.rows = [made(bench, 's', HOUR), made(bench, 'r', 2 * HOUR)];
      const [a] = await open('a');
      a.session.runs.addLabels([['r', 'Läbel']]);
      await bench.pass(SECOND);
      await a.session.runs.refresh();
      await bench.pass(5 * SECOND);
      a.dispose();
      await bench.pass(HOUR);
      bench.rows = [made(bench, 't', MINUTE), made(bench, 's', HOUR), made(bench, 'r', 2 * HOUR, 'complete')];
      const release = hold();
      const b = bench.window('b');
      await bench.settle();
      assert.deepEqual([b.session.runs.label('r'), b.session.state], ['Läbel', 'connecting']);
      assert.deepEqual([b.session.runs.rows?.length, b.session.models.nameOf('m')], [2, 'Model M']);
      release();
      await bench.settle();
      assert.deepEqual(movesIn(b), ['r: running → complete']);
    });

    it('continues with older pages, and finds active runs however deep they are', async () => {
      const all = Array.from({ length: 450 }, (_, index) =>
        made(bench, `r${index}`, (index + 1) * MINUTE, index === 420 ? 'running' : 'complete'),
      );
      bench.rows = all;
      const [a] = await open('a');
      while (a.session.runs.hasMore) await a.session.runs.loadMore();
      await bench.pass(2 * HOUR);
      const saved = await bench.cache();
      a.dispose();
      await bench.pass(MINUTE);
      assert.deepEqual(
        [
          saved.runs?.rows.length,
          saved.runs?.contiguous,
          saved.runs?.hasMore,
          saved.runs?.rows.at(-1)?.run_id,
        ],
        [201, 200, true, 'r420'],
      );
      bench.rows = all.with(420, { ...all[420], status: 'complete' } as (typeof all)[0]);
      const b = bench.window('b');
      await b.refresher.poll();
      assert.deepEqual(
        b.moved.map(({ runId }) => runId),
        ['r420'],
      );
      for (let loaded = 0; b.session.runs.hasMore; loaded = b.session.runs.rows?.length ?? 0) {
        await b.session.runs.loadMore();
        assert.ok((b.session.runs.rows?.length ?? 0) > loaded);
      }
      assert.deepEqual(
        b.session.runs.rows?.map(({ run_id }) => run_id),
        all.map(({ run_id }) => run_id),
      );
    });
  });

  describe('a cache file', () => {
    it('is ignored and replaced if it is damaged or of a later version; the file of a later format stays', async () => {
      bench.rows = [made(bench, 'r', 0)];
      (await open('a'))[0].dispose();
      const good = await bench.cache();
      const later = path.join(bench.folder, 'cache.2.json');
      await writeFile(later, 'later');
      const { askedAtMs: _, ...without } = good;
      for (const content of [
        '',
        'x',
        '[]',
        JSON.stringify(good).slice(0, -20),
        JSON.stringify(good).replace(/"askedAtMs":\d+/, '"askedAtMs":1e999'),
        JSON.stringify(good) + ' '.repeat(16_000_000),
        ...[
          { ...good, version: 2 },
          { ...good, runs: { ...good.runs, rows: [5] } },
          { ...good, balance: { readAtMs: 0, value: { balance_cents: 1e300, currency: 'EUR' } } },
          { ...good, models: { readAtMs: 0, value: { data: [{ name: 'x' }], skipped: 0 } } },
          { ...good, tokens: { left: -1e9, atMs: 0 } },
          without,
        ].map((one) => JSON.stringify(one)),
      ]) {
        await writeFile(bench.file, content);
        bench.asked.length = 0;
        const [a] = await open('a');
        assert.deepEqual([polls(), a.session.runs.rows?.length, a.errors], [1, 1, []], content.slice(0, 200));
        assert.equal((await bench.cache()).runs?.rows.length, 1);
        a.dispose();
      }
      assert.deepEqual((await readdir(bench.folder)).sort(), ['cache.1.json', 'cache.2.json']);
    });

    it('that is damaged while windows are open changes nothing that they show', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b] = await open('a', 'b');
      await writeFile(bench.file, '{');
      bench.rows = [made(bench, 'r', 0, 'complete')];
      await bench.pass(10 * SECOND);
      assert.deepEqual([statusIn(a, 'r'), statusIn(b, 'r')], ['complete', 'complete']);
      await rm(bench.file);
      bench.rows = [made(bench, 's', 0), made(bench, 'r', 0, 'complete')];
      await a.session.runs.refresh();
      await bench.pass(10 * SECOND);
      assert.deepEqual([statusIn(b, 's'), a.errors, b.errors], ['running', [], []]);
    });

    it('that a killed window never finished is removed', async () => {
      await mkdir(bench.folder, { recursive: true });
      const left = ['old', 'new'].map((name) => `${bench.file}.${name}.tmp`);
      for (const file of left) await writeFile(file, '');
      await utimes(left[0] ?? '', 1, 1);
      await open('a');
      const names = (await readdir(bench.folder)).filter((name) => name.endsWith('.tmp'));
      assert.deepEqual(names, ['cache.1.json.new.tmp']);
    });
  });
});
