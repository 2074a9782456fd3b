import assert from 'node:assert/strict';
import type http from 'node:http';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { withMarker } from '../../../../src/core/runs/marker.ts';
import { RequestQuota } from '../../../../src/core/runs/pacing.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { findRun, type FindOptions } from '../../../../src/core/submission/reconciler.ts';
import type { Attempt, Submission } from '../../../../src/core/submission/submission.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { HOUR, MARKER, MINUTE } from '../../../helpers/runs/stage.ts';
import { Bench } from '../../../helpers/runs/support.ts';
import { TestClock } from '../../../helpers/runs/testClock.ts';
import { sampleSubmission } from '../../../helpers/submissions.ts';

type Row = Partial<RunDetail> & { run_id: string };
const MODEL = 'model-1';

/** Long enough that a service might cut it. */
const LONG = 'Läbel '.repeat(8).trim();

describe('findRun', () => {
  let bench: Bench;
  let clock: TestClock;
  let session: Session;
  /** Newest first. */
  let runs: Row[];
  let gets: string[];
  let pageSize: number;
  let balance: object;
  /** The quota of automatic checks. */
  let quota: RequestQuota | undefined;
  /** By default, remembers nothing that was read. */
  let known: FindOptions['runs'];
  /** Other records of the service. */
  let others: Submission[];
  /** Returns true if it answers the request itself. */
  let onGet: (path: string, response: http.ServerResponse) => boolean;
  /** When the submission was sent, by the service's clock. */
  let sentMs: number;

  beforeEach(async () => {
    bench = await Bench.start();
    clock = new TestClock();
    sentMs = clock.serviceMs;
    clock.pass(HOUR);
    [runs, gets, pageSize, balance] = [[], [], 1000, { balance_cents: 400, currency: 'EUR' }];
    onGet = () => false;
    quota = undefined;
    others = [];
    known = { detail: () => undefined, label: () => undefined, acceptRead: () => undefined };
    const server = await bench.serve((request, response) => {
      const url = new URL(request.url ?? '', 'http://service.test');
      const path = decodeURIComponent(url.pathname.replace('/api/v1', ''));
      gets.push(path + url.search);
      response.setHeader('date', new Date(clock.serviceMs).toUTCString());
      if (onGet(path, response)) return;
      if (path === '/balance') sendJson(response, 200, balance);
      else if (path === '/runs') sendJson(response, 200, pageOf(url.searchParams));
      else {
        const run = runs.find(({ run_id }) => path === `/runs/${run_id}`);
        if (run === undefined) sendJson(response, 404, { error: { code: 'not_found', message: '' } });
        else sendJson(response, 200, { run: { status: 'queued', model_id: MODEL, ...run } });
      }
    });
    const connection = { baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' };
    session = bench.session(connection, 'account-1', () => clock.nowMs());
  });
  afterEach(() => bench.end());

  function pageOf(query: URLSearchParams): object {
    const start = Number(query.get('cursor') ?? 0);
    const end = Math.min(start + Math.min(pageSize, Number(query.get('limit'))), runs.length);
    return {
      data: runs.slice(start, end).map(({ run_id, model_id = MODEL, created_at, status = 'queued' }) => ({
        run_id,
        status,
        model_id,
        created_at,
      })),
      next_cursor: end < runs.length ? String(end) : null,
      has_more: end < runs.length,
    };
  }
  /** Returns the time of a run created `afterMs` after the submission was sent. */
  const created = (afterMs: number) => ({ created_at: new Date(sentMs + afterMs).toISOString() });
  const attempt = (afterMs = 0): Attempt => {
    const moment = { localMs: 1, serviceMs: sentMs + afterMs };
    return { started: moment, closed: moment };
  };
  const marked = (changes: Partial<Submission> = {}): Submission =>
    sampleSubmission({
      marker: MARKER,
      label: `Läbel ${MARKER}`,
      model_id: MODEL,
      keyId: 'key-1',
      attempts: [attempt()],
      ...changes,
    });
  const plain = (changes: Partial<Submission> = {}) =>
    sampleSubmission({ label: 'Läbel', model_id: MODEL, keyId: 'key-1', attempts: [attempt()], ...changes });
  const findRunOf = (
    submission: Submission,
    claimed: string[] = [],
    signal?: AbortSignal,
  ): ReturnType<typeof findRun> =>
    session.call((client) =>
      findRun(client, submission, clock, {
        records: [...others, ...claimed.map((run_id) => chargedReceipt({ run: { run_id } }))],
        runs: known,
        quota,
        signal,
      }),
    );
  const idsOf = ({ candidates }: Awaited<ReturnType<typeof findRun>>) =>
    candidates.map(({ run_id }) => run_id);
  const details = () => gets.filter((path) => path.startsWith('/runs/'));
  const pages = () => gets.filter((path) => path.startsWith('/runs?'));

  it('finds nothing in an empty list: complete, with the balance read after the list', async () => {
    const found = await findRunOf(marked());
    assert.deepEqual(
      [found.match, found.candidates, found.seen.complete, found.seen.otherKey],
      [undefined, [], true, undefined],
    );
    assert.equal(found.seen.balance_cents, 400);
    assert.deepEqual(gets, ['/runs?limit=100', '/balance']);
  });

  it('records its start by the service’s clock, however wrong this machine’s clock is', async () => {
    clock.setWall(-5 * 365 * 24 * HOUR);
    onGet = (path) => {
      if (path === '/runs') clock.pass(2000);
      return false;
    };
    const began = clock.serviceMs;
    const { at } = (await findRunOf(marked())).seen;
    assert.equal(at.localMs, began - 5 * 365 * 24 * HOUR);
    assert.ok(Math.abs((at.serviceMs ?? 0) - began) <= 2000);
  });

  describe('with a marker', () => {
    it('reads every run since 15 minutes before the first attempt, and none before', async () => {
      runs = [
        { run_id: 'later', label: 'x', ...created(20 * HOUR) },
        { run_id: 'at', label: 'x', ...created(0) },
        { run_id: 'within', label: 'x', ...created(-15 * MINUTE) },
        { run_id: 'before', label: `Läbel ${MARKER}`, ...created(-15 * MINUTE - 1) },
      ];
      const found = await findRunOf(marked());
      assert.deepEqual([found.match, idsOf(found), found.seen.complete], [undefined, [], true]);
      assert.deepEqual(details().sort(), ['/runs/at', '/runs/later', '/runs/within']);
    });

    it('finds the run if the service renames the model or sends no time', async () => {
      runs = [{ run_id: 'ours', label: MARKER, model_id: 'another' }];
      assert.equal((await findRunOf(marked())).match?.run_id, 'ours');
    });

    it('takes the older of two matches, since the later one may only reuse its label', async () => {
      runs = [
        { run_id: 'second', label: `again Läbel ${MARKER}`, ...created(2 * MINUTE) },
        { run_id: 'other', label: 'x', ...created(MINUTE) },
        { run_id: 'first', label: `Läbel ${MARKER}`, ...created(0) },
      ];
      for (pageSize of [1, 1000]) assert.equal((await findRunOf(marked())).match?.run_id, 'first');
    });

    it('finds the run even if another submission claimed it', async () => {
      runs = [{ run_id: 'ours', label: MARKER, ...created(0) }];
      assert.equal((await findRunOf(marked(), ['ours'])).match?.run_id, 'ours');
    });

    for (const [name, change] of [
      ['cuts it after 255 bytes', (label: string) => Buffer.from(label).subarray(0, 255).toString()],
      ['cuts it after 64 characters', (label: string) => label.slice(0, 64)],
      ['writes it in capitals', (label: string) => label.toUpperCase()],
      ['decomposes and lower-cases it', (label: string) => label.normalize('NFKD').toLowerCase()],
    ] as const)
      it(`finds the run if the service ${name}`, async () => {
        for (const label of ['Läbel', LONG, '訓練'.repeat(100), 'ä'.repeat(255)]) {
          const sent = withMarker(label, MARKER);
          runs = [{ run_id: 'ours', label: change(sent), ...created(MINUTE) }];
          const { match } = await findRunOf(marked({ label: sent }));
          assert.equal(match?.run_id, 'ours', sent);
        }
      });

    it('treats a truncated label as a candidate even if the service changed its letters', async () => {
      const label = `${'Ｌäbel ﬁne '.repeat(20).trim()} ${MARKER}`;
      const labels = [
        label.slice(0, 40).toLowerCase(),
        label.slice(0, 40).normalize('NFKC'),
        label.slice(0, 40).normalize('NFD'),
        `${label.slice(0, 40)}…`,
        `${label.slice(0, 40)}...`,
        // Cut within a character.
        Buffer.from(label).subarray(0, 54).toString(),
      ];
      runs = labels.map((cut, index) => ({ run_id: String(index), label: cut, ...created(MINUTE) }));
      assert.deepEqual(idsOf(await findRunOf(marked({ label }))), ['0', '1', '2', '3', '4', '5']);
    });

    it('treats runs with a missing or truncated label as candidates unless they are claimed', async () => {
      const of = (run_id: string, label?: string, model_id = MODEL): Row => ({
        run_id,
        model_id,
        ...(label !== undefined && { label }),
        ...created(0),
      });
      runs = [
        of('unnamed'),
        of('unnamed, model too', undefined, 'another'),
        of('emptied', ''),
        of('cut', LONG.slice(0, 16)),
        of('cut soon', LONG.slice(0, 3)),
        of('cut in the marker', `${LONG} ${MARKER.slice(0, 5)}`),
        of('blanks replaced, model too', `${LONG}_${MARKER}`, 'another'),
        of('marker of ours before that of an unknown submission', `${MARKER} x ft-00000abc`),
        of('cut, of another model', LONG.slice(0, 35), 'another'),
        { ...of('unnamed, days later'), ...created(3 * 24 * HOUR) },
        of('another label', 'another'),
        of('another marker', 'Läbel ft-00000abc'),
        of('claimed'),
      ];
      const found = await findRunOf({ ...marked(), label: `${LONG} ${MARKER}` }, ['claimed']);
      assert.deepEqual(idsOf(found), [
        'unnamed',
        'unnamed, model too',
        'emptied',
        'cut',
        'cut soon',
        'cut in the marker',
        'blanks replaced, model too',
      ]);
      assert.deepEqual([found.match, found.seen.complete], [undefined, true]);
    });

    it('never finds a run that belongs to another record by its marker, whatever else the label has', async () => {
      const marker = 'ft-00000abc';
      const label = `Läbel ${MARKER} ${marker}`;
      for (const reason of [undefined, 'discarded'] as const) {
        const end = reason && ({ stage: 'ended', reason, end: { at: { localMs: 1 } } } as const);
        others = [sampleSubmission({ marker, label, ...end })];
        runs = [{ run_id: 'theirs', label, ...created(0) }];
        const alone = await findRunOf(marked());
        assert.deepEqual([alone.match, idsOf(alone)], [undefined, []]);
        // One whose label the user typed without a marker can't claim it either.
        const typed = await findRunOf(plain({ label }));
        assert.deepEqual([typed.match, idsOf(typed)], [undefined, []]);
        runs.push({ run_id: 'ours', label: `Läbel ${MARKER}`, ...created(0) });
        const both = await findRunOf(marked());
        assert.deepEqual([both.match?.run_id, both.further], ['ours', []]);
      }
    });
  });

  describe('without a marker', () => {
    it('finds candidates with the same label, model, and time, newest first, and no match', async () => {
      const ours = { label: 'Läbel' };
      runs = [
        { run_id: 'too late', ...ours, ...created(30 * MINUTE + 1) },
        { run_id: 'late', ...ours, ...created(30 * MINUTE) },
        { run_id: 'no time', ...ours },
        { run_id: 'another model', ...ours, model_id: 'another', ...created(0) },
        { run_id: 'another label', label: 'Lab', ...created(0) },
        { run_id: 'claimed', ...ours, ...created(0) },
        { run_id: 'early', ...ours, ...created(-15 * MINUTE) },
        { run_id: 'too early', ...ours, ...created(-15 * MINUTE - 1) },
      ];
      const found = await findRunOf(plain(), ['claimed']);
      assert.deepEqual([idsOf(found), found.match], [['late', 'no time', 'early'], undefined]);
      assert.ok(!details().includes('/runs/another model'));
    });
  });

  it('accepts candidates for a while after the last attempt, or forever if an attempt has no time', async () => {
    const untimed: Attempt = { started: { localMs: 1 }, closed: { localMs: 1 } };
    runs = [
      { run_id: 'days later', label: 'Läbel', ...created(3 * 24 * HOUR) },
      { run_id: 'after the last', label: 'Läbel', ...created(HOUR + 10 * MINUTE) },
      { run_id: 'after the first', label: 'Läbel', ...created(10 * MINUTE) },
    ];
    for (const [attempts, found] of [
      [
        [attempt(0), attempt(HOUR)],
        ['after the last', 'after the first'],
      ],
      [[attempt(HOUR), attempt(0)], ['after the last']],
      [
        [attempt(0), untimed],
        ['days later', 'after the last', 'after the first'],
      ],
      [
        [untimed, attempt(0)],
        ['days later', 'after the last', 'after the first'],
      ],
    ] as const)
      assert.deepEqual(idsOf(await findRunOf(plain({ attempts: [...attempts] }))), found);
  });

  describe('over pages', () => {
    it('reads until a run is older, and no further', async () => {
      pageSize = 2;
      runs = [3, 2, 1, -20, -30, -40, -50].map((minutes) => ({
        run_id: `at ${minutes}`,
        label: minutes === 1 ? MARKER : 'x',
        ...created(minutes * MINUTE),
      }));
      const found = await findRunOf(marked());
      assert.deepEqual([found.match?.run_id, found.seen.complete], ['at 1', true]);
      assert.deepEqual(pages(), ['/runs?limit=100', '/runs?limit=100&cursor=2']);
    });

    it('does not stop at a run with a missing or invalid time', async () => {
      pageSize = 1;
      runs = [
        { run_id: 'a', label: 'x' },
        { run_id: 'b', label: 'x', created_at: 'yesterday' },
        { run_id: 'ours', label: MARKER, ...created(0) },
      ];
      const found = await findRunOf(marked());
      assert.deepEqual([found.match?.run_id, found.seen.complete], ['ours', true]);
    });

    it('stops after 20 pages, incomplete', async () => {
      pageSize = 1;
      runs = Array.from({ length: 40 }, (_, index) => ({
        run_id: `r${index}`,
        label: 'x',
        ...created(HOUR - index),
      }));
      const found = await findRunOf(marked());
      assert.deepEqual([found.seen.complete, pages().length, details().length], [false, 20, 20]);
    });

    it('stops at a missing or repeated cursor, incomplete', async () => {
      for (const [next_cursor, expected] of [
        [null, 1],
        ['here', 20],
      ] as const) {
        gets = [];
        onGet = (path, response) => {
          if (path !== '/runs') return false;
          sendJson(response, 200, { data: [], next_cursor, has_more: true });
          return true;
        };
        const found = await findRunOf(marked());
        assert.deepEqual([found.seen.complete, pages().length], [false, expected]);
      }
    });

    it('reads the details of the 300 newest runs at most, incomplete', async () => {
      runs = Array.from({ length: 301 }, (_, index) => ({
        run_id: `r${index}`,
        label: 'x',
        ...created(HOUR - index),
      }));
      const found = await findRunOf(marked());
      assert.deepEqual(
        [found.seen.complete, details().length, details().includes('/runs/r300')],
        [false, 300, false],
      );
      runs.pop();
      assert.equal((await findRunOf(marked())).seen.complete, true);
    });
  });

  describe('is incomplete and returns what it found', () => {
    beforeEach(() => {
      runs = [
        { run_id: 'a', label: 'x', ...created(1) },
        { run_id: 'b', label: '', ...created(0) },
      ];
    });

    it('if a row of the list cannot be read', async () => {
      onGet = (path, response) => {
        if (path !== '/runs') return false;
        sendJson(response, 200, {
          data: [{ run_id: 7 }, { run_id: 'b', status: 'x', model_id: MODEL }],
          has_more: false,
        });
        return true;
      };
      const found = await findRunOf(marked());
      assert.deepEqual([found.seen.complete, idsOf(found)], [false, ['b']]);
    });

    for (const [name, answer] of [
      ['is gone', (response) => sendJson(response, 404, { error: { code: 'not_found', message: '' } })],
      ['fails', (response) => sendJson(response, 500, { error: { code: 'internal', message: '' } })],
      ['is none', (response) => sendJson(response, 200, { run: {} })],
      ['does not come', (response) => void response.destroy()],
    ] as [string, (response: http.ServerResponse) => void][])
      it(`if a run’s detail ${name}`, async () => {
        onGet = (path, response) => {
          if (path === '/runs/a') answer(response);
          return path === '/runs/a';
        };
        const found = await findRunOf(marked());
        assert.deepEqual([found.seen.complete, idsOf(found), found.seen.balance_cents], [false, ['b'], 400]);
      });

    it('if the balance cannot be read', async () => {
      balance = { balance_cents: 'much' };
      const found = await findRunOf(marked());
      assert.deepEqual(
        [found.seen.complete, found.seen.balance_cents, idsOf(found)],
        [false, undefined, ['b']],
      );
    });
  });

  describe('reads the runs since', () => {
    const untimed = { localMs: 1 };
    const at = (afterMs: number) => ({ localMs: 1, serviceMs: sentMs + afterMs });
    beforeEach(() => {
      pageSize = 1;
      runs = [50, 30, 10, 0, -10, -30, -50].map((minutes) => ({
        run_id: `at ${minutes}`,
        label: 'x',
        ...created(minutes * MINUTE),
      }));
    });

    for (const [name, submission, expected] of [
      ['it was created', () => marked({ created: at(0), attempts: [] }), 6],
      [
        'its first attempt',
        () => marked({ created: untimed, attempts: [attempt(20 * MINUTE), attempt()] }),
        4,
      ],
      [
        'it was created, before the first attempt',
        () => marked({ created: at(0), attempts: [attempt(40 * MINUTE)] }),
        6,
      ],
      ['its first attempt, before it was created', () => marked({ created: at(40 * MINUTE) }), 6],
    ] as [string, () => Submission, number][])
      it(`${name}, less 15 minutes: no further page is read`, async () => {
        const found = await findRunOf(submission());
        assert.deepEqual([found.isComplete, pages().length], [true, expected]);
      });

    it('the beginning, on all pages, if the service’s time of neither is known', async () => {
      const attempts: Attempt[] = [{ started: untimed, closed: at(0) }];
      runs.push({ run_id: 'ours', label: MARKER });
      const found = await findRunOf(marked({ attempts }));
      assert.deepEqual([found.match?.run_id, found.isComplete, pages().length], ['ours', true, 8]);
    });
  });

  describe('without a closing boundary', () => {
    it('reads the runs since it was created, and no balance', async () => {
      const draft = marked({ created: { localMs: 1, serviceMs: sentMs }, attempts: [] });
      runs = [{ run_id: 'ours', label: `Läbel ${MARKER}`, ...created(0) }];
      assert.equal((await findRunOf(draft)).match?.run_id, 'ours');
      gets = [];
      runs = [{ run_id: 'another', label: 'x', ...created(0) }];
      const begun = { ...draft, attempts: [{ started: attempt().started }] };
      for (const submission of [draft, begun]) {
        const { match, seen, isComplete } = await findRunOf(submission);
        assert.deepEqual(
          [match, seen.balance_cents, seen.complete, isComplete],
          [undefined, undefined, true, true],
        );
      }
      assert.ok(!gets.includes('/balance'), gets.join());
    });

    it('finds what could be the run of a draft without a marker', async () => {
      const draft = plain({ created: { localMs: 1, serviceMs: sentMs }, attempts: [] });
      runs = [{ run_id: 'like it', label: 'Läbel', ...created(MINUTE) }];
      assert.deepEqual(idsOf(await findRunOf(draft)), ['like it']);
    });

    it('finds runs long after its only attempt: the storage may have been set back to before another one', async () => {
      const begun = plain({
        created: { localMs: 1, serviceMs: sentMs },
        attempts: [{ started: attempt().started }],
      });
      runs = [{ run_id: 'hours later', label: 'Läbel', ...created(300 * MINUTE) }];
      assert.deepEqual(idsOf(await findRunOf(begun)), ['hours later']);
    });
  });

  describe('automatically', () => {
    beforeEach(() => {
      quota = new RequestQuota();
      known = session.runs;
    });
    /** Returns the requests of a check, and how many of them were taken from a full quota. */
    const requestsOf = async (submission: Submission): Promise<[string[], number]> => {
      gets = [];
      const own = (quota = new RequestQuota({ monotonicMs: () => 0 }));
      await findRunOf(submission);
      let taken = 40;
      while (own.take()) taken--;
      return [gets, taken];
    };
    const labeled = (label: string): Row => ({ run_id: 'a', label, ...created(0) });

    it('is one request if no run is new: no detail is read twice, even if the run changed since', async () => {
      runs = [labeled('x'), { run_id: 'b', ...created(0) }];
      const early = marked({ balanceBefore: { balance_cents: 400, currency: 'EUR' } });
      clock.pass(-50 * MINUTE);
      assert.deepEqual(await requestsOf(early), [['/runs?limit=100', '/runs/a', '/runs/b'], 2]);
      assert.deepEqual(await requestsOf(early), [['/runs?limit=100'], 0]);
      await session.runs.refresh();
      runs[0] = { ...labeled('x'), status: 'running' };
      await session.runs.refresh();
      assert.equal(session.runs.detail('a'), undefined);
      assert.deepEqual(await requestsOf(early), [['/runs?limit=100'], 0]);
    });

    it('counts each page, and sends each request once', async () => {
      pageSize = 1;
      runs = [labeled('x'), { ...labeled('y'), run_id: 'b' }];
      onGet = (path, response) => {
        if (path === '/runs/b') response.destroy();
        return path === '/runs/b';
      };
      const sent = ['/runs?limit=100', '/runs?limit=100&cursor=1', '/runs/a', '/runs/b'];
      assert.deepEqual(await requestsOf(marked()), [sent, 3]);
    });

    it('reads the balance only if it decides, for a user always', async () => {
      const endedAt = (afterMs: number): Attempt => {
        const { started, closed } = attempt(afterMs);
        return { started, closed, ended: { ...started, monotonicMs: afterMs } };
      };
      const submission = marked({
        balanceBefore: { balance_cents: 400, currency: 'EUR' },
        attempts: [endedAt(0)],
      });
      const isRead = async (one: Submission) => {
        const { seen } = await findRunOf(one);
        return [seen.balance_cents !== undefined, seen.complete];
      };
      assert.deepEqual(await isRead(submission), [true, true]);
      for (const one of [
        { ...submission, balanceBefore: undefined },
        { ...submission, marker: undefined },
        { ...submission, keyId: 'key-0' },
        { ...submission, attempts: [endedAt(50 * MINUTE)] },
      ]) {
        assert.deepEqual(await isRead(one), [false, true]);
        const own = quota;
        quota = undefined;
        assert.deepEqual(await isRead(one), [true, true]);
        quota = own;
      }
      balance = { balance_cents: 'much' };
      assert.deepEqual(await isRead(submission), [false, false]);
      balance = { balance_cents: 400 };
      runs = [labeled('')];
      assert.deepEqual(await isRead(submission), [false, true], 'a candidate');
    });

    it('finds the run by a known label, reads a detail only for its price, and doesn’t rely on a missing label', async () => {
      runs = [{ ...labeled(`Läbel ${MARKER}`), price_cents: 5 }];
      session.runs.addLabels([['a', `Läbel ${MARKER}`]]);
      assert.equal((await findRunOf(marked())).match?.price_cents, 5);
      session.runs.clear();
      runs = [labeled('')];
      assert.deepEqual(idsOf(await findRunOf(marked())), ['a']);
      runs = [labeled(MARKER)];
      quota = undefined;
      assert.equal((await findRunOf(marked())).match?.run_id, 'a');
    });
  });

  it('reports that the API key has changed', async () => {
    assert.equal((await findRunOf(marked({ keyId: 'key-0' }))).seen.otherKey, true);
  });

  describe('throws', () => {
    it('if the list cannot be read', async () => {
      onGet = (path, response) => {
        if (path === '/runs') sendJson(response, 400, { error: { code: 'internal', message: '' } });
        return path === '/runs';
      };
      await assert.rejects(findRunOf(marked()), { httpStatus: 400 });
    });

    for (const refused of ['/runs/r0', '/balance'])
      it(`a 401 of ${refused}, and sends nothing more with the API key`, async () => {
        runs = Array.from({ length: 60 }, (_, index) => ({ run_id: `r${index}`, label: 'x', ...created(0) }));
        onGet = (path, response) => {
          if (path === refused) sendJson(response, 401, { error: { code: 'invalid_api_key', message: '' } });
          return path === refused;
        };
        await assert.rejects(findRunOf(marked()), { code: 'invalid_api_key' });
        assert.equal(session.state, 'key-rejected');
        assert.equal(details().length, refused === '/balance' ? 60 : 4);
        assert.equal(gets.includes('/balance'), refused === '/balance');
      });

    it('when canceled, and reads nothing more', async () => {
      const stop = new AbortController();
      runs = Array.from({ length: 60 }, (_, index) => ({ run_id: `r${index}`, label: 'x', ...created(0) }));
      onGet = (path) => {
        if (path === '/runs/r9') stop.abort();
        return false;
      };
      await assert.rejects(findRunOf(marked(), [], stop.signal), CancelledError);
      assert.ok(details().length <= 16 && !gets.includes('/balance'));
    });
  });
});
