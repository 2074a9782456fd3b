import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { NO_WAIT } from '../../../../src/core/api/rateGate.ts';
import { made, WatchBench, type Answer, type WatchWindow } from '../../../helpers/runs/watchBench.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const rateLimited = (seconds: number): Answer => [
  429,
  { error: { code: 'rate_limited', message: '' } },
  { 'retry-after': String(seconds) },
];

describe('Watcher', function () {
  let bench: WatchBench;

  beforeEach(async () => {
    bench = await WatchBench.start();
  });
  afterEach(() => bench.end());

  /** Opens windows one after the other: the first one polls, the others read what it stored. */
  async function open<Names extends string[]>(...names: Names) {
    const windows: WatchWindow[] = [];
    for (const name of names) {
      const window = bench.window(name);
      windows.push(window);
      await window.watcher.poll();
      await bench.settle();
    }
    return windows as { [Name in keyof Names]: WatchWindow };
  }
  const statusIn = ({ session }: WatchWindow, runId: string) => session.runs.get(runId)?.status;
  const movesIn = ({ moved }: WatchWindow) =>
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
      await a.watcher.poll();
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
      await bench.list(({ offlineSinceMs }) => offlineSinceMs === since);
      bench.instead = undefined;
      await bench.pass(3 * MINUTE);
      assert.equal(a.session.state, 'ready');
      await bench.list(({ offlineSinceMs }) => offlineSinceMs === undefined);
    });

    it('sends nothing after it was disposed, even during a poll', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a] = await open('a');
      const release = hold();
      await bench.pass(5 * SECOND);
      a.watcher.dispose();
      release();
      await bench.pass(3 * HOUR);
      assert.equal(polls(), 2);
    });

    it('polls when the machine wakes up', async () => {
      bench.rows = [made(bench, 'r', 20 * HOUR)];
      await open('a');
      bench.clock.setWall(HOUR);
      await bench.pass(20 * SECOND);
      assert.equal(polls(), 2);
    });

    it('reads the balance on request and ends a backoff after the clock was set back', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a] = await open('a');
      await a.session.balance.refresh();
      bench.clock.setWall(-HOUR);
      await a.watcher.poll();
      assert.deepEqual(bench.asked.slice(-2), ['a /runs', 'a /balance']);
      bench.instead = () => 'lost';
      await bench.pass(5 * SECOND);
      assert.equal(a.session.state, 'offline');
      bench.instead = undefined;
      bench.clock.setWall(-HOUR);
      await bench.pass(MINUTE);
      assert.equal(a.session.state, 'ready');
    });

    describe('with an active run deep in the list', () => {
      let a: WatchWindow;

      beforeEach(async () => {
        bench.rows = Array.from({ length: 1_000 }, (_, index) =>
          made(bench, `r${index}`, (index + 10) * SECOND, index === 950 ? 'running' : 'complete'),
        );
        a = bench.window('a');
        await a.watcher.poll();
        while (a.session.runs.hasMore) await a.session.runs.loadMore();
      });
      const end = (runId: string) => {
        bench.rows = bench.rows.map((row) => (row.run_id === runId ? { ...row, status: 'complete' } : row));
      };

      it('polls a new run often, and the deep one when there is plenty of quota', async () => {
        bench.rows = [made(bench, 'new', 0), ...bench.rows];
        await a.watcher.poll();
        await bench.pass(30 * SECOND);
        end('new');
        await bench.pass(10 * SECOND);
        assert.equal(statusIn(a, 'new'), 'complete');
        end('r950');
        await bench.pass(HOUR);
        assert.equal(statusIn(a, 'r950'), 'complete');
      });
    });
  });

  describe('with visible rows', () => {
    it('reads models and balance again once the service answers, and reports each failure', async () => {
      const a = bench.window('a');
      bench.instead = () => 'lost';
      a.watcher.readAll();
      await bench.pass(2 * MINUTE);
      assert.deepEqual([a.session.state, a.session.models.models], ['offline', undefined]);
      bench.instead = undefined;
      await bench.pass(3 * MINUTE);
      assert.equal(a.session.models.nameOf('m'), 'Model M');
      assert.equal(a.session.balance.current?.balance_cents, 1_000);
      const before = bench.asked.length;
      await bench.pass(HOUR);
      assert.equal(bench.asked.length, before);
    });

    it('reads the labels of the newest 50 visible runs once each, and leaves plenty for polls', async () => {
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
      await a.watcher.poll();
      await bench.pass(MINUTE);
      const details = () => bench.asked.filter((one) => one.includes('/runs/'));
      assert.equal(details().length, 0);
      a.areRowsShown = true;
      await bench.pass(5 * SECOND);
      assert.equal(details().length, 20);
      await bench.pass(HOUR);
      assert.deepEqual(
        details(),
        bench.rows.slice(0, 50).map(({ run_id }) => `a /runs/${run_id}`),
      );
    });

    it('reads everything again after the connection changed', async () => {
      const [a] = await open('a');
      a.session.reconnect();
      await bench.pass(5 * SECOND);
      for (const what of ['/models', '/balance', '/runs']) assert.ok(bench.asked.includes(`a ${what}`), what);
      assert.equal(polls(), 2);
    });

    it('reads and stores only the labels that the disk does not have', async () => {
      bench.rows = ['known', 'new'].map((runId) => made(bench, runId, MINUTE, 'complete'));
      const [a] = await open('a');
      const detail = { run_id: 'known', status: 'completed', model_id: 'm', label: 'L known' };
      a.session.runs.addDetails([detail]);
      await bench.pass(MINUTE);
      assert.ok(!bench.asked.some((one) => one.includes('/runs/')));
      a.dispose();
      bench.asked.length = 0;
      const b = bench.window('b');
      b.areRowsShown = true;
      await b.watcher.poll();
      await bench.pass(5 * SECOND);
      assert.deepEqual(bench.asked, ['b /runs', 'b /runs/new']);
      assert.equal(b.session.runs.label('known'), 'L known');
      b.dispose();
      bench.asked.length = 0;
      const c = bench.window('c');
      await c.watcher.poll();
      await bench.settle();
      assert.deepEqual([bench.asked, c.session.runs.label('new')], [['c /runs'], 'L new']);
    });
  });

  describe('with several windows', () => {
    it('polls in one window; all show rows, changes, labels, balance, and whether it is offline', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b, c] = await open('a', 'b', 'c');
      assert.deepEqual(
        [statusIn(b, 'r'), statusIn(c, 'r'), b.session.state],
        ['running', 'running', 'ready'],
      );
      a.session.runs.addLabels([['r', 'Läbel']]);
      bench.rows = [made(bench, 's', 0, 'queued'), made(bench, 'r', 0, 'complete')];
      bench.balance_cents = 900;
      await a.session.balance.refresh();
      const { readAtMs } = a.session.balance;
      await bench.pass(MINUTE);
      await bench.until(() => statusIn(b, 'r') === 'complete' && statusIn(c, 'r') === 'complete');
      for (const window of [b, c]) {
        const { session } = window;
        assert.deepEqual([session.runs.label('r'), session.balance.current?.balance_cents], ['Läbel', 900]);
        assert.equal(session.balance.readAtMs, readAtMs);
        assert.deepEqual(movesIn(window), ['r: running → complete']);
        assert.deepEqual([session.runs.activeCount, session.runs.rows?.length], [1, 2]);
      }
      bench.instead = () => 'lost';
      await bench.pass(2 * MINUTE);
      await bench.until(() => b.session.state === 'offline' && c.session.state === 'offline');
      assert.equal(b.session.offlineSince, a.session.offlineSince);
      // A window opened now knows it too.
      const d = bench.window('d');
      await d.watcher.poll();
      assert.deepEqual([d.session.state, d.session.offlineSince], ['offline', a.session.offlineSince]);
      bench.instead = undefined;
      await bench.pass(10 * MINUTE);
      await bench.until(() => b.session.state === 'ready' && c.session.state === 'ready');
      assert.deepEqual([...new Set(bench.asked)].sort(), ['a /balance', 'a /runs']);
    });

    it('shares a list without times, with the fields of the contract only, and writes nothing else', async () => {
      const signed = { download_url: 'https://signed.test/?sig=1' };
      const r = { ...made(bench, 'r', 30 * MINUTE), ...signed, artifacts_expires_at: null, progress: 0 };
      const timeless = { ...made(bench, 'timeless', 0, 'complete'), created_at: null };
      bench.instead = (what) => {
        r.progress++;
        return what === '/runs' ? [200, { data: [r, timeless], has_more: false }] : undefined;
      };
      const [a, b] = await open('a', 'b');
      await bench.until(() => statusIn(b, 'r') === 'running');
      assert.deepEqual([a.errors, b.errors, b.session.runs.readAtMs > 0], [[], [], true]);
      assert.doesNotMatch(JSON.stringify(await bench.list()), /signed|progress/);
      const revision = () =>
        a.state.read((tables) => tables.get("SELECT number FROM revision WHERE topic = 'run-list'"));
      await bench.pass(6 * MINUTE);
      const [before, asked] = [await revision(), polls()];
      await bench.pass(8 * MINUTE);
      assert.ok(polls() > asked + 2);
      assert.deepEqual(await revision(), before);
    });

    it('hands over without a request when the polling window closes', async () => {
      bench.rows = [made(bench, 'r', 30 * MINUTE)];
      const [a, b] = await open('a', 'b');
      const before = bench.asked.length;
      a.dispose();
      await bench.pass(20 * SECOND);
      assert.equal(bench.asked.length, before);
      bench.rows = [made(bench, 'r', 30 * MINUTE, 'complete')];
      await bench.pass(3 * MINUTE);
      assert.deepEqual(bench.asked.slice(before), ['b /runs']);
      assert.equal(statusIn(b, 'r'), 'complete');
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
      const readDetails = async ({ session }: WatchWindow) => {
        if (!session.quota.takeForExtras()) return;
        spare++;
        await session.call((client) => client.getRun('r1', { isBackground: true })).catch(() => undefined);
      };
      for (let minute = 0; minute < 60; minute++) {
        await Promise.all(windows.map(readDetails));
        // The user switches between windows.
        if (minute % 5 === 0) void windows[(minute / 5) % 3]?.watcher.poll();
        await bench.pass(MINUTE);
      }
      const sent = bench.asked.length;
      assert.ok(sent <= 120, `${sent}: ${spare} details`);
      // It is not idle; how many details it reads between polls depends on when the windows ask.
      assert.ok(polls() >= 40 && spare >= 4, `${polls()} polls, ${spare} details`);
      assert.ok(!bench.asked.some((one) => !one.startsWith('a ')));
    });

    it('sends only what the user requests while another window polls', async () => {
      bench.rows = [made(bench, 'r', 2 * HOUR)];
      const [, b] = await open('a', 'b');
      bench.asked.length = 0;
      bench.rows = [];
      await b.watcher.poll();
      assert.deepEqual([bench.asked, statusIn(b, 'r')], [[], 'running']);
      await b.session.runs.refresh();
      assert.deepEqual([bench.asked, b.session.runs.rows], [['b /runs'], []]);
    });

    it('says what the polling window knows of the service a minute after its own request failed', async () => {
      const [a, b] = await open('a', 'b');
      bench.instead = (_what, who) => (who === 'b' ? 'lost' : undefined);
      await assert.rejects(b.session.runs.loadDetail('r', { isBackground: true }));
      await bench.pass(50 * SECOND);
      assert.deepEqual([a.session.state, b.session.state], ['ready', 'offline']);
      await bench.pass(20 * SECOND);
      assert.equal(b.session.state, 'ready');
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
      await bench.until(() => statusIn(a, 'new') === 'queued');
      bench.rows = [made(bench, 'new', 0, 'running')];
      await bench.pass(MINUTE);
      await bench.until(() => statusIn(b, 'new') === 'running');
      assert.ok(!bench.asked.some((one) => one.startsWith('b ')));
    });

    it('sends nothing in any window until the service may be called again', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b] = await open('a', 'b');
      bench.instead = () => rateLimited(600);
      bench.asked.length = 0;
      await bench.pass(5 * SECOND);
      assert.deepEqual(bench.asked, ['a /runs']);
      const untilMs = a.session.notBeforeMs ?? 0;
      await bench.until(() => b.session.notBeforeMs === untilMs);
      await assert.rejects(b.session.balance.refresh(), { code: 'rate_limited', retryAfterMs: 600_000 });
      bench.instead = undefined;
      await a.watcher.poll();
      await b.watcher.poll();
      await bench.pass(600 * SECOND - SECOND);
      assert.equal(bench.asked.length, 1);
      await bench.pass(2 * SECOND);
      assert.equal(bench.asked[1], 'a /runs');
    });

    it('polls again ten minutes after a submission was asked to wait for a day, in any window, and shares the wait and its end', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const windows = await open('a', 'b');
      const [a, b] = windows;
      const askForDay = ({ session }: WatchWindow) => {
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
      // A clock that is set back changes nothing about that, and a new wait counts.
      bench.clock.setWall(-2 * HOUR);
      await bench.pass(MINUTE);
      assert.deepEqual(waiting(), [false, false]);
      askForDay(b);
      await bench.pass(10 * SECOND);
      await bench.until(() => waiting().every(Boolean));
    });

    it('releases the lease if the API key is rejected, to a window with another key', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [a, b] = await open('a', 'b');
      bench.instead = (_what, who) =>
        who === 'a' ? [401, { error: { code: 'invalid_api_key', message: '' } }] : undefined;
      await bench.pass(5 * SECOND);
      assert.equal(a.session.state, 'key-rejected');
      bench.asked.length = 0;
      await bench.pass(2 * MINUTE);
      assert.deepEqual([...new Set(bench.asked)], ['b /runs']);
      assert.equal(a.session.state, 'key-rejected');
      assert.equal(b.session.state, 'ready');
    });
  });

  describe('after an absence', () => {
    it('reports changes since another window, closed long ago, last polled', async () => {
      bench.rows = [made(bench, 's', HOUR), made(bench, 'r', 2 * HOUR)];
      const [a] = await open('a');
      a.session.runs.addLabels([['r', 'Läbel']]);
      await bench.list(({ runs }) => runs?.labels.length === 1);
      a.dispose();
      bench.rows = [made(bench, 't', MINUTE), made(bench, 's', HOUR), made(bench, 'r', 2 * HOUR, 'complete')];
      const release = hold();
      const b = bench.window('b');
      void b.watcher.poll();
      await bench.until(() => b.session.runs.rows?.length === 2);
      assert.deepEqual([b.session.runs.label('r'), b.session.state], ['Läbel', 'connecting']);
      release();
      await bench.until(() => b.moved.length > 0);
      assert.deepEqual(movesIn(b), ['r: running → complete']);
    });

    it('watches a submission of a window that closed before any list contained it', async () => {
      bench.rows = [made(bench, 's', HOUR, 'complete')];
      const [a, b] = await open('a', 'b');
      bench.recallSubmitted = ({ runs }) => {
        if (runs.get('new') !== undefined) return Promise.reject(new Error('unreadable'));
        runs.insertCreated({ run_id: 'new' }, 'm', undefined);
        return Promise.resolve(true);
      };
      a.dispose();
      bench.rows = [made(bench, 'new', MINUTE), ...bench.rows];
      await bench.pass(MINUTE);
      assert.equal(statusIn(b, 'new'), 'running');
      assert.deepEqual([...new Set(b.errors.map(String))], ['Error: unreadable']);
    });

    it('continues with older pages, and finds active runs however deep they are', async () => {
      const all = Array.from({ length: 450 }, (_, index) =>
        made(bench, `r${index}`, (index + 1) * MINUTE, index === 420 ? 'running' : 'complete'),
      );
      bench.rows = all;
      const [a] = await open('a');
      while (a.session.runs.hasMore) await a.session.runs.loadMore();
      const saved = await bench.list(({ runs }) => runs?.rows.length === 201);
      a.dispose();
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
      await b.watcher.poll();
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

  describe('with the stored list', () => {
    const execute = (sql: string, ...values: string[]) => {
      const database = new DatabaseSync(path.join(bench.folder, 'state.sqlite'));
      database.prepare(sql).run(...values);
      database.close();
    };
    it('replaces an invalid one', async () => {
      bench.rows = [made(bench, 'r', 0)];
      const [first] = await open('a');
      first.dispose();
      for (const foreign of ['', 'x', '[]', '{"readAtMs":"1"}', '{"readAtMs":1,"runs":{"rows":[5]}}']) {
        execute('UPDATE run_list SET list = ?', foreign);
        const [a] = await open('a');
        assert.deepEqual([a.session.runs.rows?.length, a.errors], [1, []]);
        await bench.list(({ runs }) => runs?.rows.length === 1);
        a.dispose();
      }
    });

    it('polls in each window and reports why if nothing can be shared', async () => {
      bench.rows = [made(bench, 'r', 0)];
      await writeFile(bench.folder, 'no folder');
      const [a, b] = await open('a', 'b');
      await bench.pass(5 * SECOND);
      assert.deepEqual(bench.asked, ['a /runs', 'b /runs', 'a /runs', 'b /runs']);
      const codes = [a, b].map((window) => window.errors.map((error) => (error as { code?: string }).code));
      assert.deepEqual(codes, [['state-unavailable'], ['state-unavailable']]);
    });

    it('stores and shares it again after the file was deleted', async function () {
      if (process.platform === 'win32') this.skip();
      bench.rows = [made(bench, 'r', 0)];
      const [, b] = await open('a', 'b');
      rmSync(path.join(bench.folder, 'state.sqlite'));
      bench.rows = [made(bench, 'r', 0, 'complete')];
      await bench.pass(MINUTE);
      await bench.list(({ runs }) => runs?.rows[0]?.status === 'complete');
      await bench.until(() => statusIn(b, 'r') === 'complete');
      assert.ok(!bench.asked.includes('b /runs'));
    });
  });
});
