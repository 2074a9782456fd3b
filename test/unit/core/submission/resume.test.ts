import assert from 'node:assert/strict';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { NO_WAIT } from '../../../../src/core/api/rateGate.ts';
import type { CheckResult } from '../../../../src/core/submission/pendingSubmission.ts';
import { nextCheckAtMs } from '../../../../src/core/submission/reconcilePolicy.ts';
import type { Submission } from '../../../../src/core/submission/submission.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { appendVersion, beforeNaming, highestVersion } from '../../../helpers/journalVersions.ts';
import {
  codeOf,
  conflict,
  created,
  error,
  HOUR,
  MARKER,
  MINUTE,
  type Post,
  Stage,
  tooPoor,
} from '../../../helpers/runs/stage.ts';
import { silent, until } from '../../../helpers/runs/support.ts';
import { chargedAt } from '../../../helpers/submissions.ts';

describe('Submissions, after the first attempts', () => {
  let stage: Stage;
  beforeEach(async () => void (stage = await Stage.start()));
  afterEach(() => stage.end());

  const check = (id: string) => stage.submissions.check(stage.own, id);
  /** Discards a submission. @returns the outcome */
  const discard = async (
    id: string,
    confirmed: 'may-be-charged' | 'not-charged',
    submissions = stage.submissions,
  ) => (await submissions.discard(id, confirmed, stage.own))?.kind;
  const verdictOf = (finding: CheckResult | undefined) =>
    finding?.verdict === 'cannot-tell' ? finding.reason : finding?.verdict;
  const lastCharge = async () => (await stage.bench.journal.receipts())[0]?.charge;
  const reject = () => (stage.onHead = (_request, response) => void response.writeHead(413).end());
  const unclear = error(404, 'not_found');
  /** Leaves a submission with an unknown result after one attempt. */
  const leaveUnknown = async (isCharged = false): Promise<string> => {
    stage.answers = [
      (...answer) => {
        if (isCharged) stage.charge(answer[1]);
        unclear(...answer);
      },
    ];
    // The run of a charge is not listed yet.
    stage.onGet = (request, response) => {
      if (!isCharged || request.url?.includes('/runs') !== true) return false;
      sendJson(response, 200, { data: [], has_more: false }, stage.date);
      return true;
    };
    assert.equal((await stage.submit()).kind, 'unknown');
    stage.onGet = () => false;
    stage.answers = [created];
    return stage.submission.id;
  };
  /** Leaves a submission whose closing boundary was never sent. */
  const leaveUnsent = async (): Promise<string> => {
    reject();
    assert.equal((await stage.submit(await stage.bench.draft(300_000))).kind, 'not-charged');
    stage.onHead = () => undefined;
    return stage.submission.id;
  };
  const leaveRefused = async () => {
    stage.answers = [tooPoor];
    await stage.submit();
    return stage.submission.id;
  };
  /** Runs two checks that find nothing. */
  const findNothing = async (id: string) => {
    stage.clock.pass(16 * MINUTE);
    await check(id);
    stage.clock.pass(2 * MINUTE + 1000);
    return check(id);
  };
  const leaveNotCharged = async () => {
    const id = await leaveUnknown();
    await findNothing(id);
    return id;
  };

  describe('a run with the marker of a settled submission', () => {
    const loadRuns = async () => {
      await stage.own.runs.refresh();
      for (const { run_id } of stage.runs) await stage.own.runs.loadDetail(run_id);
      return stage.submissions.linkMarked(stage.own);
    };
    const unreported = async () => (await stage.bench.journal.unreported()).map(({ id }) => id);

    it('makes a discarded one charged', async () => {
      const id = await leaveUnknown();
      const [post] = stage.posts;
      assert.equal(await discard(id, 'may-be-charged'), 'discarded');
      assert.deepEqual(await loadRuns(), []);
      stage.clock.pass(20 * MINUTE);
      stage.charge(post!);
      const other = stage.session('account-2');
      await other.runs.refresh();
      await other.runs.loadDetail('run-1');
      assert.deepEqual(await stage.submissions.linkMarked(other), [], 'another account');
      const [found] = await loadRuns();
      assert.deepEqual([found?.submission.id, found?.run.price_cents], [id, 100]);
      assert.deepEqual([await stage.receipts(), await unreported()], [['charged'], [id]]);
      assert.deepEqual(await loadRuns(), []);
    });

    it('is a further run of a charged one, unless it was created at another time', async () => {
      stage.answers = [created];
      await stage.submit();
      const [post] = stage.posts;
      assert.deepEqual(await loadRuns(), []);
      stage.charge(post!);
      const [found] = await loadRuns();
      assert.deepEqual(
        found?.submission.charge?.furtherRuns?.map(({ run_id }) => run_id),
        ['run-2'],
      );
      // A label can be copied by hand.
      stage.clock.pass(HOUR);
      stage.charge(post!);
      assert.deepEqual(await loadRuns(), []);
    });

    it('is settled with all runs that a check finds', async () => {
      const id = await leaveUnknown(true);
      stage.charge(stage.posts[0]!);
      assert.equal(verdictOf(await check(id)), 'charged');
      const charge = await lastCharge();
      assert.deepEqual(
        [charge?.foundBy, charge?.run.run_id, charge?.furtherRuns?.length],
        ['found', 'run-1', 1],
      );
    });
  });

  describe('a submission whose lock was lost, and which another window takes over,', () => {
    /** Writes the charge of the other window. */
    const charge = (id: string) => {
      appendVersion(stage.bench.journalFolder, id, (submission) =>
        chargedAt(submission, stage.clock.nowMs()),
      );
    };
    /** Calls back from the n-th read on. */
    const fromRead = (what: '/balance' | '/runs', nth: number, then: () => boolean) => {
      let reads = 0;
      stage.onGet = (request, response) => {
        if (request.url?.includes(what) !== true || ++reads < nth) return false;
        return then() && Boolean(response.destroy());
      };
    };

    it('is never “not charged” here, whatever this window knew or could not send', async () => {
      for (const [leave, what, nth, isStopped] of [
        [leaveNotCharged, '/runs', 1, true],
        // The read of the look, then the one before the attempt.
        [leaveNotCharged, '/balance', 1, false],
        [leaveNotCharged, '/balance', 2, true],
        [leaveUnsent, '/balance', 1, false],
        [leaveUnsent, '/balance', 1, true],
      ] as const) {
        const id = await leave();
        const stop = new AbortController();
        fromRead(what, nth, () => {
          charge(id);
          if (isStopped) stop.abort();
          return true;
        });
        const outcome = await stage.submissions.resume(stage.own, id, stop.signal).result;
        assert.equal(outcome.kind, 'elsewhere', `${leave.name} ${what} ${nth}`);
        stage.onGet = () => false;
        stage.onHead = () => undefined;
      }
    });

    it('is left to that window by a check', async () => {
      const id = await leaveUnknown();
      fromRead('/balance', 1, () => {
        charge(id);
        return false;
      });
      assert.equal(await check(id), undefined);
      assert.deepEqual([await stage.receipts(), stage.states()], [['charged'], []]);
    });
  });

  describe('resume', () => {
    it('reads nothing while a gateway asks to wait, even if the user cancels the resend', async () => {
      const stop = new AbortController();
      stage.answers = [
        (_stage, _post, _request, response) =>
          void response.writeHead(503, { ...stage.date, 'retry-after': '200' }).end(),
      ];
      stage.submissions.onDidChange(({ state }) => {
        if (state !== 'waiting') return;
        stage.gets.length = 0;
        stop.abort();
      });
      assert.equal((await stage.submit(undefined, stage.own, stop.signal)).kind, 'unknown');
      assert.ok(!stage.gets.includes('/runs?limit=100'), stage.gets.join());
    });

    for (const [name, passMs, posts, setClock] of [
      ['just within', 23 * HOUR - 5000, 2, () => stage.clock.setWall(-50 * HOUR)],
      ['at the end of', 23 * HOUR + 5000, 1, () => stage.clock.setWall(-50 * HOUR)],
      ['long after', 100 * HOUR, 1, () => stage.clock.setWall(-50 * HOUR)],
      ['with the service’s clock set back, after', 24 * HOUR, 1, () => (stage.dateOffsetMs = -20 * HOUR)],
    ] as const)
      it(`${name} the 23 hours since the first attempt, resends ${posts === 2 ? 'once' : 'nothing'}`, async () => {
        const id = await leaveUnknown();
        stage.clock.pass(passMs);
        setClock();
        const outcome = await stage.resume(id);
        const code = posts === 2 ? undefined : 'too-late';
        assert.deepEqual([stage.posts.length, codeOf(outcome)], [posts, code]);
      });

    /** Resumes a submission that waits for another upload until `end` is called. */
    const queued = async (id: string) => {
      let release = () => {};
      stage.answers = [(...answer) => void (release = () => created(...answer)), created];
      const other = stage.submit(await stage.bench.draft(10, 'other'));
      await until(() => stage.posts.length === 2);
      const resumed = stage.resume(id);
      await until(() => stage.submissions.pending.some((one) => one.id === id && one.state === 'queued'));
      const end = async () => {
        release();
        assert.equal((await other).kind, 'charged');
      };
      return { resumed, end };
    };

    it('does not resend by a clock that was set while it was queued', async () => {
      const id = await leaveUnknown();
      stage.clock.pass(22 * HOUR);
      const { resumed, end } = await queued(id);
      stage.clock.pass(3 * HOUR);
      stage.clock.setWall(-10 * HOUR);
      await end();
      const outcome = await resumed;
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'too-late']);
      assert.deepEqual(stage.posts.filter(({ key }) => key === id).length, 1);
    });

    it('stays unknown if it is canceled while it is queued', async () => {
      const id = await leaveUnknown();
      const { resumed, end } = await queued(id);
      assert.equal(stage.submissions.cancel(id), true);
      const outcome = await resumed;
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'cancelled']);
      await end();
      assert.deepEqual(stage.states(), ['sent']);
    });

    it('sends a submission that can’t have been charged; reads the balance again', async () => {
      const id = await leaveUnsent();
      stage.clock.pass(22 * HOUR);
      stage.balanceCents = 9000;
      stage.answers = [conflict];
      const outcome = await stage.resume(id);
      assert.deepEqual([outcome.kind, stage.posts.length, stage.posts[0]?.key], ['unknown', 1, id]);
      const { keyId, balanceBefore, attempts } = stage.submission;
      assert.deepEqual([keyId, balanceBefore?.balance_cents], ['key-1', 9000]);
      assert.ok((attempts[1]?.closed?.serviceMs ?? 0) >= stage.clock.serviceMs - 2000);
    });

    it('sends a file that was only touched, and no byte of a changed file of the same size', async () => {
      const draft = await stage.bench.draft(300_000);
      const file = draft.dataset.path;
      const leave = async (mtimeMs: number) => {
        reject();
        await stage.submit({ ...draft, dataset: { ...draft.dataset, mtimeMs } });
        stage.onHead = () => (heads += 1);
        return stage.submission.id;
      };
      let heads = 0;
      const touched = await leave(Number(statSync(file, { bigint: true }).mtimeMs));
      utimesSync(file, 1, 1);
      assert.equal((await stage.resume(touched)).kind, 'charged');
      assert.equal(heads, 1);
      const edited = await leave(1000);
      const bytes = readFileSync(file);
      bytes.write('x');
      writeFileSync(file, bytes);
      const outcome = await stage.resume(edited);
      assert.deepEqual([outcome.kind, codeOf(outcome), heads], ['not-charged', 'dataset-changed', 1]);
      assert.deepEqual(stage.submissions.pending, []);
    });

    it('sends nothing for another account or an unknown ID', async () => {
      const id = await leaveUnknown();
      const elsewhere = { kind: 'elsewhere' };
      const other = stage.session('account-2');
      assert.deepEqual(await stage.resume(id, other), elsewhere);
      for (const strange of ['no-such-id', '', '../x', '8d5b2f9c-1111-4222-8333-444455556666'])
        assert.deepEqual(await stage.resume(strange), elsewhere);
      assert.equal(await stage.submissions.check(other, id), undefined);
      assert.equal(await stage.submissions.adopt(other, id, 'run-1'), false);
      assert.deepEqual([stage.posts.length, stage.states()], [1, ['sent']]);
    });

    it('clears earlier checks on disk before the closing boundary is sent', async () => {
      const id = await leaveNotCharged();
      let seen: Submission | undefined;
      stage.answers = [
        (...answer) => {
          seen = stage.submission;
          created(...answer);
        },
      ];
      assert.equal((await stage.resume(id)).kind, 'charged');
      const { attempts, firstCleanCheck, lastCheck } = seen ?? {};
      assert.deepEqual([attempts?.length, firstCleanCheck, lastCheck], [2, undefined, undefined]);
    });

    it('leaves earlier checks valid if the last bytes didn’t leave, though the record may have said so', async () => {
      for (const name of ['changed', 'cancel', 'sleep'] as const) {
        let atMark = () => {};
        await stage.end();
        stage = await Stage.start({
          link: beforeNaming((text) => text.split('"closed"').length > 2 && atMark()),
        });
        const id = await leaveNotCharged();
        const { path: file, sizeBytes } = stage.submission.dataset;
        const stop = new AbortController();
        if (name === 'changed') writeFileSync(file, 'x'.repeat(sizeBytes));
        atMark = () => (name === 'cancel' ? stop.abort() : stage.clock.sleepMachine(HOUR));
        const outcome = await stage.submissions.resume(stage.own, id, stop.signal).result;
        assert.deepEqual(
          [outcome.kind, stage.posts.length, stage.states()],
          ['not-charged', 1, ['cleared']],
          name,
        );
        assert.equal(highestVersion(stage.bench.journalFolder, id).record.stage, 'cleared', name);
      }
    });
  });

  describe('check', () => {
    it('by the user is sent while the service asks submissions to wait, once a minute, but not if reads must wait', async () => {
      const hour = { 'retry-after': '3600' };
      stage.answers = [error(429, 'rate_limited', hour)];
      assert.equal((await stage.submit()).kind, 'unknown');
      const { id } = stage.submission;
      const sent = async () => {
        stage.gets.length = 0;
        await check(id);
        return stage.gets;
      };
      await assert.rejects(stage.own.balance.refresh(), { code: 'rate_limited' });
      assert.deepEqual(await sent(), ['/runs?limit=100', '/balance']);
      stage.clock.pass(MINUTE - 1000);
      await assert.rejects(sent(), { code: 'rate_limited', retryAfterMs: 1000 });
      assert.deepEqual(stage.gets, []);
      stage.clock.pass(1000);
      assert.deepEqual(await sent(), ['/runs?limit=100', '/balance']);
      stage.clock.pass(HOUR);
      await sent();
      await sent();
      stage.onGet = (_request, response) => {
        sendJson(response, 429, { error: { code: 'rate_limited', message: '' } }, { ...stage.date, ...hour });
        return true;
      };
      stage.clock.pass(MINUTE);
      await assert.rejects(sent());
      stage.clock.pass(MINUTE);
      await assert.rejects(sent(), { code: 'rate_limited' });
      assert.deepEqual(stage.gets, []);
    });

    it('reports "not charged" after two checks, the first 15 minutes later, despite a restart', async () => {
      const id = await leaveUnknown();
      assert.equal(verdictOf(await check(id)), 'too-early');
      stage.clock.pass(14 * MINUTE);
      const early = await check(id);
      assert.equal(verdictOf(early), 'too-early');
      const inMs = (nextCheckAtMs(stage.submission) ?? 0) - stage.clock.nowMs();
      assert.ok(inMs > 0 && inMs <= MINUTE + 2000, String(inMs));
      assert.equal((await findNothing(id))?.verdict, 'not-charged');
      const restarted = stage.newSubmissions();
      await restarted.probe();
      assert.deepEqual([stage.states(), stage.states(restarted)], [['cleared'], ['cleared']]);
      assert.equal(stage.submissions.hasUncertain('account-1'), false, 'polls need not be frequent');
      assert.equal(stage.posts.length, 1);
    });

    it('never ends as "not charged" after a 409: the service knows the Idempotency-Key', async () => {
      const id = await leaveNotCharged();
      stage.answers = [conflict];
      assert.equal((await stage.resume(id)).kind, 'unknown');
      assert.equal(verdictOf(await findNothing(id)), 'known');
      assert.equal(verdictOf(await findNothing(id)), 'known');
      assert.deepEqual([stage.states(), await discard(id, 'not-charged')], [['sent'], undefined]);
      assert.equal(await discard(id, 'may-be-charged'), 'discarded');
    });

    it('is not misled by the charge of another window that uploaded at the same time', async () => {
      for (const [otherCents, verdict] of [
        [0, 'not-charged'],
        [1, 'balance'],
      ] as const) {
        await stage.end();
        stage = await Stage.start();
        const other = await stage.otherWindow();
        const draft = await stage.marked('ft-00000abc', 'other.jsonl');
        stage.answers = [
          async (...answer) => {
            const ended = other.submissions.submit(stage.session(), draft, silent(), []);
            assert.equal((await ended.result).kind, 'charged');
            stage.balanceCents -= otherCents;
            unclear(...answer);
          },
          created,
        ];
        assert.equal((await stage.submit()).kind, 'unknown');
        const { id } = stage.submission;
        assert.equal(verdictOf(await check(id)), otherCents > 0 ? 'balance' : 'too-early');
        assert.equal(verdictOf(await findNothing(id)), verdict);
        assert.equal(stage.submission.lastCheck?.explainedByReceipts, otherCents > 0 ? undefined : true);
      }
    });

    it('reads no runs for a submission that can’t have been charged', async () => {
      const id = await leaveRefused();
      stage.gets.length = 0;
      assert.deepEqual(await check(id), { verdict: 'not-charged' });
      assert.ok(!stage.gets.some((read) => read.startsWith('/runs')));
    });
  });

  describe('checkDue', () => {
    const SECOND = 1000;
    /** Returns the number of checks made once `passMs` have passed. */
    const checks = async (passMs: number, one = stage.submissions, whose = stage.own) => {
      stage.clock.pass(passMs);
      stage.gets.length = 0;
      await one.checkDue(whose);
      return stage.gets.filter((read) => read.startsWith('/runs?')).length;
    };

    it('checks only when the result may have changed, for this account only, and sends nothing', async () => {
      await leaveUnknown();
      assert.equal(await checks(0), 0);
      assert.equal(await checks(20 * SECOND, stage.submissions, stage.session('account-2')), 0);
      assert.equal(await checks(0), 1);
      assert.equal(await checks(2 * MINUTE), 1);
      assert.equal(await checks(MINUTE), 0);
      // After a restart the next day, it checks at once, and again two minutes later.
      const restarted = stage.newSubmissions();
      await restarted.probe();
      assert.equal(await checks(30 * HOUR, restarted), 1);
      assert.deepEqual([await checks(0, restarted), stage.states(restarted)], [0, ['sent']]);
      assert.equal(await checks(2 * MINUTE + 1000, restarted), 1);
      assert.deepEqual(stage.states(restarted), ['cleared']);
      assert.deepEqual([await checks(HOUR, restarted), stage.posts.length], [0, 1]);
    });

    it('continues until the service has answered once', async () => {
      await leaveUnknown(true);
      stage.onGet = (_request, response) => Boolean(response.destroy());
      assert.equal(await checks(3 * MINUTE), 1);
      assert.equal(await checks(MINUTE), 0);
      assert.equal(await checks(9 * HOUR), 1);
      assert.deepEqual(stage.states(), ['sent']);
      stage.onGet = () => false;
      stage.clock.pass(5 * MINUTE);
      const found = await stage.submissions.checkDue(stage.own);
      assert.deepEqual(
        found.map(({ run }) => run.run_id),
        ['run-1'],
      );
      assert.deepEqual([stage.states(), await stage.receipts()], [[], ['charged']]);
    });

    it('finds the run within seconds after it is listed, for a user who canceled too late', async () => {
      const stop = new AbortController();
      let listedFromMs = Infinity;
      stage.onGet = (request, response) => {
        if (stage.clock.serviceMs >= listedFromMs || request.url?.includes('/runs') !== true) return false;
        sendJson(response, 200, { data: [], has_more: false }, stage.date);
        return true;
      };
      stage.answers = [
        (_stage, post) => {
          stage.charge(post);
          listedFromMs = stage.clock.serviceMs + SECOND;
          stop.abort();
        },
      ];
      assert.equal((await stage.submit(undefined, stage.own, stop.signal)).kind, 'unknown');
      let passed = 0;
      for (; stage.states().length > 0 && passed < 60; passed++) await checks(SECOND);
      assert.deepEqual([passed, await stage.receipts()], [3, ['charged']]);
    });

    it('makes one series in several windows, even if each may send', async () => {
      const other = await stage.otherWindow();
      const windows = [
        [stage.submissions, stage.own],
        [other.submissions, stage.session()],
      ] as const;
      await leaveUnknown();
      await until(() => other.journal.submissions.length === 1);
      await other.submissions.probe();
      const seen: number[] = [];
      for (let second = 1; second <= 60; second++) {
        stage.clock.pass(SECOND);
        stage.gets.length = 0;
        // The other window's file system events may be late.
        await Promise.all(windows.map(([submissions, session]) => submissions.checkDue(session)));
        for (const read of stage.gets) if (read.startsWith('/runs?')) seen.push(second);
      }
      assert.deepEqual(seen, [3, 10, 30, 60]);
    });

    it('makes one series if the service sends no time', async () => {
      stage.sendsDate = false;
      await leaveUnknown();
      const seen: number[] = [];
      for (let second = 1; second <= 600; second++) if ((await checks(SECOND)) > 0) seen.push(second);
      assert.deepEqual(seen, [3, 10, 30, 60, 120, 300, 600]);
    });

    it('is one request, which the quota must allow, and not before the time that the service asked for', async () => {
      await leaveUnknown();
      stage.own.quota.isReader = false;
      assert.equal(await checks(4 * SECOND), 0);
      stage.own.quota.isReader = true;
      assert.equal(await checks(0), 1);
      assert.deepEqual(stage.gets, ['/runs?limit=100']);
      while (stage.own.quota.take());
      assert.equal(await checks(MINUTE), 0);
      const session = stage.session();
      const inMinute = stage.clock.nowMs() + MINUTE;
      const waits = {
        reads: { sinceMs: stage.clock.nowMs(), untilMs: inMinute, readUntilMs: 0 },
        submissions: NO_WAIT,
      };
      session.acceptShared({ waits }, true);
      assert.equal(await checks(0, stage.submissions, session), 0);
      assert.equal(await checks(MINUTE, stage.submissions, session), 1);
      // A check of the user reads everything, whatever the quota says.
      stage.gets.length = 0;
      await check(stage.submission.id);
      assert.deepEqual(stage.gets, ['/runs?limit=100', '/balance']);
    });
  });

  describe('linkMarked', () => {
    it('settles a possible charge without a request once a label with the marker was loaded', async () => {
      await leaveUnknown(true);
      const { own, submissions } = stage;
      await own.runs.refresh();
      await submissions.linkMarked(own);
      assert.deepEqual(stage.states(), ['sent'], 'the list has no labels');
      await own.runs.loadDetail('run-1');
      stage.gets.length = 0;
      await submissions.linkMarked(stage.session('account-2'));
      assert.deepEqual(stage.states(), ['sent']);
      const { submissions: other } = await stage.otherWindow();
      await other.probe();
      const found = await Promise.all([submissions, other].map((each) => each.linkMarked(own)));
      assert.deepEqual(
        found.flat().map(({ submission, run }) => [submission.marker, run.run_id]),
        [[MARKER, 'run-1']],
        'one window reports it',
      );
      assert.deepEqual(stage.states(), []);
      assert.ok(!stage.gets.some((asked) => asked.includes('run-1')));
      const charge = await lastCharge();
      assert.deepEqual(
        [charge?.foundBy, charge?.run.run_id, charge?.run.price_cents],
        ['found', 'run-1', 100],
      );
    });
  });

  it('a run whose label has the marker of an open submission in its middle is never its run', async () => {
    const id = await leaveUnknown();
    const { own, submissions } = stage;
    const other = 'ft-00000abc';
    const draft = await stage.bench.draft(10, 'other.jsonl', {
      marker: other,
      label: `Läbel ${MARKER} ${other}`,
    });
    assert.equal((await stage.submit(draft)).kind, 'charged');
    await own.runs.refresh();
    for (const { run_id } of stage.runs) await own.runs.loadDetail(run_id);
    assert.deepEqual(await submissions.linkMarked(own), []);
    const found = await check(id);
    assert.deepEqual(found?.verdict === 'cannot-tell' && found.candidates, []);
    assert.deepEqual([stage.submission.id, await stage.receipts()], [id, ['charged']]);
  });

  describe('adopt and discard', () => {
    it('adopt settles with the run that the user recognized, with its price', async () => {
      const id = await leaveUnknown();
      stage.charge(stage.posts[0] as Post);
      await assert.rejects(stage.submissions.adopt(stage.own, id, 'no-such-run'), { code: 'not_found' });
      assert.deepEqual(stage.states(), ['sent']);
      assert.equal(await stage.submissions.adopt(stage.own, id, 'run-1'), true);
      const charge = await lastCharge();
      assert.deepEqual([charge?.foundBy, charge?.run.price_cents, stage.states()], ['recognised', 100, []]);
    });

    it('discard lets the same bytes and model be submitted with a new Idempotency-Key', async () => {
      const id = await leaveUnknown();
      assert.equal((await stage.submit()).kind, 'open');
      assert.equal(await discard(id, 'may-be-charged'), 'discarded');
      assert.deepEqual([stage.states(), await stage.receipts()], [[], ['discarded']]);
      assert.equal((await stage.submit()).kind, 'charged');
      assert.notEqual(stage.posts[1]?.key, id);
      assert.equal(await discard(id, 'may-be-charged'), undefined);
    });

    it('discard settles a submission as not charged if it was never sent, refused, or proven not charged', async () => {
      for (const leave of [leaveUnsent, leaveRefused, leaveNotCharged]) {
        const id = await leave();
        assert.equal(await discard(id, 'may-be-charged'), 'not-charged');
        const receipt = (await stage.bench.journal.receipts()).find((one) => one.id === id);
        assert.equal(receipt?.reason, 'not-charged', leave.name);
      }
    });

    it('do nothing while the submission is being sent', async () => {
      stage.answers = [() => undefined];
      const stop = new AbortController();
      const outcome = stage.submit(undefined, stage.own, stop.signal);
      await until(() => stage.posts.length === 1);
      const { id } = stage.submission;
      const { own, submissions } = stage;
      assert.deepEqual(
        [
          await submissions.discard(id, 'may-be-charged'),
          await submissions.adopt(own, id, 'run-1'),
          await check(id),
        ],
        [undefined, false, undefined],
      );
      assert.deepEqual(await submissions.resume(own, id, silent()).result, { kind: 'elsewhere' });
      stop.abort();
      assert.equal((await outcome).kind, 'unknown');
    });
  });
});
