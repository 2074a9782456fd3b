import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { keyIdOf } from '../../../../src/core/api/keyCheck.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { busyUntilMs } from '../../../../src/core/submission/stage.ts';
import type { Attempt, Submission } from '../../../../src/core/submission/submission.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { appendVersion, beforeNaming, highestVersion } from '../../../helpers/journalVersions.ts';
import {
  type Answer,
  broken,
  codeOf,
  conflict,
  created,
  diskFull,
  error,
  HOUR,
  lost,
  MINUTE,
  Stage,
  tooPoor,
} from '../../../helpers/runs/stage.ts';
import { until } from '../../../helpers/runs/support.ts';

const slow = (retryAfter: string) => error(429, 'rate_limited', { 'retry-after': retryAfter });
const busy = (retryAfter: string) => error(503, 'unavailable', { 'retry-after': retryAfter });

describe('Submissions, attempt by attempt', () => {
  let stage: Stage;
  /** @param look called with the text of each version right before it gets its name */
  const restart = async (look: (text: string) => unknown = () => undefined) => {
    await stage.end();
    stage = await Stage.start({ link: beforeNaming(look) });
  };
  /** Calls `work` whenever a submission with at least `count` closing times is about to be written. */
  const beforeClosing = (count: number, work: () => unknown) => (text: string) =>
    text.split('"closed"').length > count ? work() : undefined;
  beforeEach(async () => void (stage = await Stage.start()));
  afterEach(() => stage.end());
  const refuse =
    (status: number, code: string, headers = {}) =>
    (_request: unknown, response: ServerResponse) =>
      sendJson(response, status, { error: { code, message: '' } }, headers);

  const onDisk = () => highestVersion(stage.bench.journalFolder, stage.submission.id).record;
  const dateIn = (ms: number) => new Date(stage.clock.serviceMs + ms).toUTCString();
  /** Returns the milliseconds between the submissions that arrived. */
  const gaps = () => stage.posts.slice(1).map(({ atMs }, index) => atMs - (stage.posts[index]?.atMs ?? 0));

  describe('the journal', () => {
    it('is durable before anything connects, and again before the closing boundary is sent', async () => {
      const seen: Submission[] = [];
      stage.onHead = () => void seen.push(onDisk());
      stage.answers = [
        (...answer) => {
          seen.push(onDisk());
          created(...answer);
        },
      ];
      const draft = await stage.bench.draft(200_000);
      assert.equal((await stage.submit(draft)).kind, 'charged');
      const [atHead, atEnd] = seen as [Submission, Submission];
      assert.deepEqual(
        [atHead.attempts.length, atHead.attempts[0]?.closed, atHead.keyId],
        [1, undefined, 'key-1'],
      );
      const { keyCheck } = atHead;
      assert.equal(await keyIdOf([{ keyId: 'known', keyCheck }], 'service_account-1_key-1'), 'known');
      assert.equal((await stage.bench.journal.receipts())[0]?.keyCheck, undefined);
      assert.notEqual(atEnd.attempts[0]?.closed, undefined);
      const [post] = stage.posts;
      assert.equal(atHead.id, post?.key);
      assert.ok(post?.body.includes(`--${atHead.boundary}\r\n`));
      assert.deepEqual(atHead.balanceBefore, { balance_cents: 5000, currency: 'EUR' });
      assert.deepEqual(atHead.dataset, draft.dataset);
      assert.deepEqual(atHead.consents, draft.consents);
    });
  });

  it('is sent again if the connection is lost while the mark of the closing boundary is being written', async () => {
    let socket: { destroy: () => void } | undefined;
    await restart(async (text) => {
      if (!text.includes('"closed"') || socket === undefined) return;
      socket.destroy();
      socket = undefined;
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    let heads = 0;
    stage.onHead = (request) => {
      if (heads++ === 0) ({ socket } = request);
    };
    assert.equal((await stage.submit(await stage.bench.draft(200_000))).kind, 'charged');
    assert.deepEqual([heads, stage.posts.length], [2, 1]);
  });

  it('is not “not charged” if another window took it over while the service refused it', async () => {
    for (const headers of [undefined, { 'retry-after': '9999' }]) {
      await restart();
      stage.onHead = (_request, response) => {
        appendVersion(stage.bench.journalFolder, stage.submission.id, (submission) => ({
          ...submission,
          keyId: 'theirs',
        }));
        const [status, code] = headers
          ? ([429, 'rate_limited'] as const)
          : ([402, 'insufficient_balance'] as const);
        sendJson(response, status, { error: { code, message: '' } }, headers ?? {});
      };
      assert.equal((await stage.submit(await stage.bench.draft(500_000))).kind, 'elsewhere');
    }
  });

  it('stays open if discarding cannot be stored', async () => {
    let isFull = false;
    await restart(() => {
      if (isFull) throw diskFull();
    });
    stage.answers = [conflict];
    await stage.submit();
    isFull = true;
    await assert.rejects(stage.submissions.discard(stage.submission.id, 'may-be-charged'), {
      code: 'ENOSPC',
    });
    await stage.submissions.probe();
    assert.deepEqual(stage.states(), ['sent']);
    isFull = false;
    assert.deepEqual(await stage.submissions.discard(stage.submission.id, 'may-be-charged'), {
      kind: 'discarded',
    });
    assert.deepEqual(stage.states(), []);
  });

  describe('an attempt that may have been charged', () => {
    it('is sent at most five times, with waits of five seconds or more, then checked', async () => {
      stage.answers = [
        (...answer) => {
          stage.balanceCents -= 1;
          lost(...answer);
        },
      ];
      const outcome = await stage.submit();
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.states()], ['unknown', 'network', ['sent']]);
      // The balance isn't read again: the first attempt may have lowered it.
      assert.equal(stage.submission.balanceBefore?.balance_cents, 5000);
      assert.equal(stage.posts.length, 5);
      assert.deepEqual(stage.clock.sleeps, [5000, 5000, 5000, 8000]);
      assert.equal(stage.submission.attempts.length, 5);
      assert.equal(stage.submission.lastCheck?.complete, true);
    });

    const chargedThen =
      (answer: Answer, listedAfterMs = 0): Answer =>
      (stage, post, ...connection) => {
        const listedAtMs = stage.clock.nowMs() + listedAfterMs;
        stage.charge(post);
        stage.onGet = ({ url = '' }, response) => {
          const isHidden = url.includes('/runs') && stage.clock.nowMs() < listedAtMs;
          if (isHidden) sendJson(response, 200, { data: [], has_more: false }, stage.date);
          return isHidden;
        };
        answer(stage, post, ...connection);
      };

    for (const [name, answer, listedAfterMs, sleeps] of [
      ['a lost answer', lost, 0, [5000]],
      ['a 500', broken, 0, [5000]],
      ['a 504 while the service was pricing', error(504, 'a'), 45_000, [60_000]],
      ['a 408', error(408, 'a'), 0, [60_000]],
    ] as const)
      it(`is not sent again if its run is listed: ${name}`, async () => {
        stage.answers = [chargedThen(answer, listedAfterMs), created];
        const outcome = await stage.submit();
        assert.ok(outcome.kind === 'charged' && outcome.found === true);
        assert.deepEqual([stage.posts.length, stage.clock.sleeps], [1, sleeps]);
        assert.deepEqual(await stage.receipts(), ['charged']);
      });

    it('is not sent again automatically if the runs cannot be read, or one that could be it is listed', async () => {
      const unreadable = (url: string) => url.includes('/runs');
      const unnamed = (url: string) => url.endsWith('/runs/run-1');
      for (const isMeant of [unreadable, unnamed]) {
        await restart();
        stage.answers = [chargedThen(lost), created];
        const submitted = stage.submit();
        while (stage.posts.length === 0) await new Promise((resolve) => setImmediate(resolve));
        stage.onGet = ({ url = '' }, response) => {
          if (!isMeant(url)) return false;
          if (isMeant === unreadable) sendJson(response, 404, { error: { code: 'not_found', message: '' } });
          else sendJson(response, 200, { run: { ...stage.runs[0], label: undefined } }, stage.date);
          return true;
        };
        assert.deepEqual([(await submitted).kind, stage.posts.length], ['unknown', 1]);
      }
    });

    for (const [answers, posts] of [
      [[broken], 3],
      [[broken, lost, broken, lost, broken], 5],
      [[error(503, 'a'), broken, error(503, 'a'), broken, broken, broken], 5],
      [[error(503, 'a'), broken], 4],
    ] as const)
      it(`ends after the same server error three times in a row (${posts} attempts)`, async () => {
        stage.answers = [...answers];
        assert.deepEqual([(await stage.submit()).kind, stage.posts.length], ['unknown', posts]);
      });

    it('is not "refused" by a later 402', async () => {
      stage.answers = [lost, tooPoor];
      const outcome = await stage.submit();
      assert.deepEqual([outcome.kind, stage.states(), stage.posts.length], ['unknown', ['sent'], 2]);
      assert.equal(stage.submissions.hasUncertain('account-1'), true);
    });

    it('is charged if its run is found after a 402 caused by its own charge', async () => {
      stage.answers = [
        (...answer) => {
          stage.charge(answer[1]);
          lost(...answer);
        },
        tooPoor,
      ];
      const outcome = await stage.submit();
      assert.ok(outcome.kind === 'charged');
      assert.deepEqual([outcome.run.run_id, outcome.run.price_cents], ['run-1', 100]);
      assert.deepEqual([stage.runs.length, stage.states()], [1, []]);
    });

    it('stays unknown if the file changes, and nothing more is sent', async () => {
      const draft = await stage.marked();
      stage.answers = [
        (...answer) => {
          writeFileSync(draft.dataset.path, 'x'.repeat(draft.dataset.sizeBytes));
          lost(...answer);
        },
        created,
      ];
      const outcome = await stage.submit(draft);
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'dataset-changed']);
      assert.deepEqual([stage.posts.length, stage.runs.length], [1, 0]);
    });

    it('is not resent if the API key was replaced', async () => {
      let keyId = 'key-1';
      stage.own = stage.bench.session(
        () => Promise.resolve({ baseUrl: stage.url, apiKey: 'service_x', keyId }),
        'account-1',
        () => stage.clock.nowMs(),
      );
      stage.answers = [
        (...answer) => {
          keyId = 'key-2';
          stage.own.reconnect();
          lost(...answer);
        },
        created,
      ];
      const outcome = await stage.submit();
      // A look with the new key doesn't count.
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'network', 1]);
      assert.equal(stage.submission.lastCheck?.otherKey, true);
    });
  });

  describe('a refusal', () => {
    it('means not charged if no earlier attempt was complete', async () => {
      let heads = 0;
      stage.onHead = (request) => {
        if (++heads <= 2) request.socket.destroy();
      };
      stage.answers = [tooPoor];
      const outcome = await stage.submit(await stage.bench.draft(200_000));
      const code = 'insufficient_balance';
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.states()], ['not-charged', code, ['refused']]);
      assert.deepEqual([heads, stage.posts.length], [3, 1]);
      assert.equal(stage.submissions.hasUncertain('account-1'), false);
    });

    it('is stored in a single write with the end of its attempt', async () => {
      stage.answers = [tooPoor];
      const { journal } = stage.bench;
      const seen: boolean[] = [];
      journal.onDidChange(() => {
        const [submission] = journal.submissions;
        if (submission?.attempts[0]?.ended !== undefined) seen.push(submission.reason === 'refused');
      });
      assert.equal((await stage.submit()).kind, 'not-charged');
      assert.ok(seen.length > 0 && !seen.includes(false), String(seen));
    });

    it('is reported as not stored if the disk fails', async () => {
      for (const isFull of [false, true]) {
        await restart((text) => {
          if (isFull && text.includes('"refused"')) throw diskFull();
        });
        stage.answers = [tooPoor];
        const outcome = await stage.submit();
        assert.equal(outcome.kind, 'not-charged');
        assert.equal(outcome.isKept, !isFull);
      }
    });

    for (const [status, code, state] of [
      [402, 'insufficient_balance', 'refused'],
      [413, 'too_large', 'draft'],
    ] as const)
      it(`by ${status} before the last byte prevents the closing boundary`, async () => {
        stage.onHead = refuse(status, code);
        const outcome = await stage.submit(await stage.bench.draft(500_000));
        assert.deepEqual([outcome.kind, stage.states(), stage.posts.length], ['not-charged', [state], 0]);
        assert.equal(stage.submission.attempts[0]?.closed, undefined);
      });
  });

  describe('Retry-After', () => {
    for (const [name, answer, waitMs] of [
      ['seconds', () => slow('30'), 30_000],
      ['ten minutes', () => busy('600'), 600_000],
      ['a date of the service', () => slow(dateIn(40_000)), 40_000],
      ['a date that has passed', () => busy(dateIn(-40_000)), 0],
      ['nonsense', () => slow('soon'), 0],
      ['a negative number', () => busy('-5'), 0],
    ] as [string, () => Answer, number][])
      it(`of ${name} is followed, plus a second of jitter; at least five seconds`, async () => {
        stage.clock.setWall(-7 * HOUR);
        stage.answers = [answer(), created];
        assert.equal((await stage.submit()).kind, 'charged');
        const pauseMs = Math.max(5000, waitMs + 1000);
        assert.deepEqual([stage.clock.sleeps, gaps()], [[pauseMs], [pauseMs]]);
      });

    for (const header of ['601', '9'.repeat(400)])
      it(`of ${header.slice(0, 9)} seconds leaves the retry to the user, and is stored`, async () => {
        stage.answers = [slow(header), created];
        const outcome = await stage.submit();
        assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'rate_limited']);
        assert.deepEqual([stage.posts.length, stage.clock.sleeps], [1, []]);
        const { code, notBefore, ended } = onDisk().attempts[0] as Attempt;
        assert.equal(code, 'rate_limited');
        assert.ok((notBefore?.serviceMs ?? 0) >= (ended?.serviceMs ?? 0) + 601_000);
        const again = await stage.resume(stage.submission.id);
        assert.deepEqual([codeOf(again), stage.posts.length], ['too-early', 1]);
      });

    describe('of an hour, for another request of the account', () => {
      const askForAnHour = async () => {
        stage.onGet = (_request, response) => {
          const body = { error: { code: 'rate_limited', message: '' } };
          sendJson(response, 429, body, { ...stage.date, 'retry-after': '3600' });
          return true;
        };
        await assert.rejects(stage.own.balance.refresh());
        stage.onGet = () => false;
        stage.gets.length = 0;
      };
      beforeEach(askForAnHour);

      it('delays a submission by ten minutes before it sends anything', async () => {
        const fromMs = stage.clock.serviceMs;
        const waits: number[] = [];
        let sentBefore: number | undefined;
        stage.onHead = ({ socket }) => {
          stage.onHead = () => undefined;
          socket.destroy();
        };
        stage.submissions.onDidChange(({ isAsked, state, retryAtMs }) => {
          if (state === 'waiting' && isAsked) waits.push((retryAtMs ?? 0) - fromMs);
          if (state === 'uploading') sentBefore ??= stage.gets.length;
        });
        assert.equal((await stage.submit()).kind, 'charged');
        assert.deepEqual(new Set(waits), new Set([10 * MINUTE]));
        assert.deepEqual([sentBefore, stage.posts.length], [0, 1]);
        const waitedMs = (stage.posts[0]?.atMs ?? 0) - fromMs;
        assert.ok(waitedMs >= 10 * MINUTE && waitedMs < 11 * MINUTE, String(waitedMs));
        assert.ok(stage.clock.sleeps.every((ms) => ms <= 60_000));
      });

      it('can be canceled during the wait, without a charge', async () => {
        stage.clock.isHeld = true;
        stage.submissions.onDidChange(({ id, state }) => {
          if (state === 'waiting') stage.submissions.cancel(id);
        });
        const outcome = await stage.submit();
        assert.deepEqual([outcome.kind, codeOf(outcome)], ['not-charged', 'cancelled']);
        assert.deepEqual([stage.gets, stage.posts], [[], []]);
        assert.deepEqual([stage.states(), await stage.receipts()], [[], ['not-charged']]);
      });

      it('leaves a waiting submission to the user if VS Code is closed', async () => {
        stage.clock.isHeld = true;
        const waiting = stage.submit();
        await until(() => stage.states().includes('waiting'));
        stage.submissions.dispose();
        assert.equal((await waiting).kind, 'not-charged');
        const { submissions } = await stage.otherWindow();
        await submissions.probe();
        assert.deepEqual([stage.states(submissions), await stage.receipts()], [['unchecked'], []]);
        assert.deepEqual([stage.gets, stage.posts], [[], []]);
      });

      it('doesn’t hold up the uploads of other accounts', async () => {
        stage.clock.isHeld = true;
        const waiting = stage.submit();
        await until(() => stage.states().includes('waiting'));
        const other = await stage.submit(
          await stage.bench.draft(10, 'other.jsonl'),
          stage.session('account-2'),
        );
        assert.equal(other.kind, 'charged');
        const [first] = stage.submissions.pending;
        assert.ok(first !== undefined && stage.submissions.cancel(first.id));
        assert.equal((await waiting).kind, 'not-charged');
      });
    });

    it('of an hour, for the balance before an upload, delays it by ten minutes', async () => {
      let refusals = 0;
      stage.onGet = (_request, response) => {
        if (refusals++ > 0) return false;
        refuse(429, 'rate_limited', { ...stage.date, 'retry-after': '3600' })(undefined, response);
        return true;
      };
      const fromMs = stage.clock.serviceMs;
      assert.equal((await stage.submit()).kind, 'charged');
      const waitedMs = (stage.posts[0]?.atMs ?? 0) - fromMs;
      assert.ok(waitedMs >= 10 * MINUTE && waitedMs < 11 * MINUTE, String(waitedMs));
    });

    it('of an hour, for each read, delays a submission by ten minutes in all, then ends it as not sent', async () => {
      stage.onGet = (request, response) => {
        refuse(429, 'rate_limited', { ...stage.date, 'retry-after': '3600' })(request, response);
        return true;
      };
      const busyUntil = () => busyUntilMs(stage.submissions.pending[0]!.submission, stage.clock.nowMs());
      for (const isHeld of [false, true]) {
        await stage.submissions.discard(stage.submissions.pending[0]?.id ?? '', 'not-charged');
        stage.clock.pass(HOUR);
        // The wait before the upload, or before its balance is read.
        if (isHeld) await assert.rejects(stage.own.balance.refresh());
        const fromMs = stage.clock.nowMs();
        const outcome = await stage.submit();
        assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts], ['not-charged', 'too-early', []]);
        const waitedMs = stage.clock.nowMs() - fromMs;
        assert.ok(waitedMs >= 10 * MINUTE && waitedMs < 11 * MINUTE, String(waitedMs));
        // Like reads. Its row says so, also in other windows.
        assert.deepEqual([stage.states(), busyUntil()], [['draft'], stage.clock.nowMs() + 10 * MINUTE]);
        assert.equal(onDisk().notBefore?.localMs, busyUntil());
      }
      stage.onGet = () => false;
      stage.clock.pass(10 * MINUTE);
      assert.equal(busyUntil(), undefined);
      assert.equal((await stage.resume(stage.submission.id)).kind, 'charged');
    });

    it('of ten minutes, for one submission after another, is followed once', async () => {
      stage.answers = [busy('600')];
      const outcome = await stage.submit();
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'unavailable', 2]);
    });

    it('of the balance counts although an earlier attempt was asked to wait, too', async () => {
      stage.onHead = (request, response) => {
        refuse(429, 'rate_limited', { 'retry-after': '2' })(request, response);
        stage.onGet = (_request, answer) => {
          refuse(429, 'rate_limited', { ...stage.date, 'retry-after': '300' })(request, answer);
          return true;
        };
      };
      const outcome = await stage.submit(await stage.bench.draft(300_000));
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['not-charged', 'rate_limited']);
      const [unsent] = stage.submissions.pending;
      assert.equal(
        unsent && busyUntilMs(unsent.submission, stage.clock.nowMs()),
        stage.clock.nowMs() + 300_000,
      );
    });

    describe('of an hour, for a submission', () => {
      const askForAnHour = () => (stage.onHead = refuse(429, 'rate_limited', { 'retry-after': '3600' }));
      const busyMs = (submissions = stage.submissions) =>
        submissions.pending.map(({ submission }) => busyUntilMs(submission, stage.clock.nowMs()));

      it('ends it, and those that wait for their turn, as not sent; nothing is sent automatically', async () => {
        askForAnHour();
        const untilMs = stage.clock.nowMs() + HOUR;
        const outcomes = await Promise.all([
          stage.submit(await stage.bench.draft(300_000)),
          stage.submit(await stage.bench.draft(300_000, 'other.jsonl')),
        ]);
        assert.deepEqual(
          // On a busy machine, either may be first.
          outcomes.map((one) => [one.kind, codeOf(one), 'isKept' in one && one.isKept]).sort(),
          [
            ['not-charged', 'rate_limited', true],
            ['not-charged', 'too-early', true],
          ],
        );
        assert.deepEqual([stage.states(), stage.clock.sleeps], [['draft', 'draft'], []]);
        assert.deepEqual(busyMs(), [untilMs, untilMs]);
        // Another window reads it from the records.
        const { submissions } = await stage.otherWindow();
        await submissions.probe();
        assert.deepEqual(busyMs(submissions), [untilMs, untilMs]);
        stage.onHead = () => undefined;
        const ids = stage.submissions.pending.map(({ id }) => id);
        for (const id of ids) assert.deepEqual(codeOf(await stage.resume(id)), 'too-early');
        stage.clock.pass(HOUR);
        assert.deepEqual([busyMs(), stage.posts], [[undefined, undefined], []]);
        for (const id of ids) assert.equal((await stage.resume(id)).kind, 'charged');
      });

      it('ends for it and the next one once the service answers a read of the user, in all windows', async () => {
        askForAnHour();
        await Promise.all([
          stage.submit(await stage.bench.draft(300_000)),
          // This one waited for its turn.
          stage.submit(await stage.bench.draft(300_000, 'other.jsonl')),
        ]);
        stage.onHead = () => undefined;
        stage.onGet = (request, response) => {
          refuse(500, 'internal')(request, response);
          return true;
        };
        await assert.rejects(stage.submissions.endLongWait(stage.own));
        assert.ok(busyMs().every((ms) => ms !== undefined));
        stage.onGet = () => false;
        await stage.submissions.endLongWait(stage.own);
        assert.deepEqual(
          [stage.states(), busyMs()],
          [
            ['draft', 'draft'],
            [undefined, undefined],
          ],
        );
        const { submissions } = await stage.otherWindow();
        await submissions.probe();
        assert.deepEqual(
          [stage.states(submissions), busyMs(submissions)],
          [['unchecked', 'unchecked'], busyMs()],
        );
        for (const { id } of stage.submissions.pending)
          assert.equal((await stage.resume(id)).kind, 'charged');
        assert.equal((await stage.submit()).kind, 'charged');
      });

      it('doesn’t end for a submission that may have been charged', async () => {
        stage.answers = [slow('3600')];
        assert.equal((await stage.submit()).kind, 'unknown');
        await stage.submissions.endLongWait(stage.own);
        assert.deepEqual(busyMs(), [stage.clock.nowMs() + HOUR]);
      });

      it('never ends a submission as not charged if an earlier attempt sent its closing boundary', async () => {
        stage.answers = [
          (...answer) => {
            lost(...answer);
            askForAnHour();
          },
        ];
        const outcome = await stage.submit(await stage.bench.draft(300_000));
        assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'rate_limited', 1]);
        stage.onHead = () => undefined;
        stage.gets.length = 0;
        const again = await stage.resume(stage.submission.id);
        assert.deepEqual([again.kind, codeOf(again), stage.gets], ['unknown', 'too-early', []]);
        assert.deepEqual(stage.states(), ['sent']);
      });
    });

    for (const isComplete of [true, false])
      it(`applies for the remaining time and can be canceled, ${isComplete ? '' : 'not '}sent completely`, async () => {
        if (!isComplete) stage.onHead = refuse(429, 'rate_limited', { 'retry-after': '700' });
        stage.answers = [slow('700'), created];
        await stage.submit(isComplete ? undefined : await stage.bench.draft(300_000));
        stage.onHead = () => undefined;
        stage.clock.pass(693_000);
        stage.clock.isHeld = true;
        stage.gets.length = 0;
        const { id } = stage.submission;
        const waited: number[] = [];
        stage.submissions.onDidChange(({ state, retryAtMs = 0 }) => {
          if (state !== 'waiting') return;
          waited.push(retryAtMs - stage.clock.nowMs());
          stage.submissions.cancel(id);
        });
        const outcome = await stage.resume(id);
        assert.deepEqual(
          [outcome.kind, codeOf(outcome)],
          [isComplete ? 'unknown' : 'not-charged', 'cancelled'],
        );
        assert.deepEqual([stage.gets, stage.posts.length], [[], isComplete ? 1 : 0]);
        assert.ok(waited.length > 0 && waited.every((ms) => ms > 5_000 && ms <= 8_000), waited.join());
        assert.deepEqual(stage.states(), [isComplete ? 'sent' : 'draft']);
      });
  });

  describe('the clocks', () => {
    for (const [name, change] of [
      ['the machine slept', () => stage.clock.sleepMachine(HOUR)],
      ['the wall clock was set forward', () => stage.clock.setWall(HOUR)],
      ['the wall clock was set back', () => stage.clock.setWall(-HOUR)],
    ] as const) {
      it(`stop automatic resends if ${name} after an attempt that may be charged`, async () => {
        stage.answers = [
          (...answer) => {
            change();
            lost(...answer);
          },
          created,
        ];
        const outcome = await stage.submit();
        assert.deepEqual(
          [outcome.kind, codeOf(outcome), stage.posts.length],
          ['unknown', 'clocks-disagree', 1],
        );
      });
    }

    it('are compared again after the closing time is stored: a sleep meanwhile prevents the boundary', async () => {
      let sleepMs = HOUR;
      await restart(beforeClosing(1, () => stage.clock.sleepMachine(sleepMs)));
      const outcome = await stage.submit();
      assert.deepEqual(
        [outcome.kind, codeOf(outcome), stage.posts.length, stage.states()],
        ['not-charged', 'clocks-disagree', 0, ['draft']],
      );
      sleepMs = 0;
      assert.equal((await stage.resume(stage.submission.id)).kind, 'charged');
    });

    it('prevent the boundary if the process stood still for over a minute: another window may have checked', async () => {
      await restart(beforeClosing(1, () => stage.clock.pass(61_000)));
      const outcome = await stage.submit();
      assert.deepEqual([outcome.kind, stage.posts.length], ['elsewhere', 0]);
    });

    it('end retries at 23 hours, even while the closing time is being stored', async () => {
      await restart(beforeClosing(2, () => stage.clock.pass(2 * HOUR)));
      stage.answers = [
        (...answer) => {
          stage.clock.pass(22 * HOUR);
          lost(...answer);
        },
        created,
      ];
      const outcome = await stage.submit();
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'too-late', 1]);
    });
  });

  describe('the connection', () => {
    it('is tested with a read before the dataset is sent', async () => {
      let heads = 0;
      stage.onHead = () => (heads += 1);
      for (const [status, headers, sleeps] of [
        [502, {}, 2],
        [429, { 'retry-after': '2' }, 4],
      ] as const) {
        stage.clock.sleeps.length = 0;
        stage.onGet = (_request, response) => {
          const body = status === 429 ? { error: { code: 'rate_limited', message: '' } } : {};
          sendJson(response, status, body, headers);
          return true;
        };
        const outcome = await stage.submit(await stage.bench.draft(10, `${status}.jsonl`));
        assert.deepEqual([outcome.kind, heads, stage.clock.sleeps.length], ['not-charged', 0, sleeps]);
      }
      assert.deepEqual(stage.states(), ['draft', 'draft']);
    });

    it('is used even if the balance cannot be read', async () => {
      stage.onGet = (request, response) => {
        const isBalance = request.url?.endsWith('/balance') === true;
        if (isBalance) sendJson(response, 500, { error: { code: 'internal', message: '' } });
        return isBalance;
      };
      stage.answers = [lost, created];
      assert.deepEqual([(await stage.submit()).kind, stage.posts.length], ['charged', 2]);
    });
  });

  it('can be canceled while waiting for the next attempt', async () => {
    const stop = new AbortController();
    stage.clock.isHeld = true;
    stage.answers = [lost, created];
    stage.submissions.onDidChange(({ state, attempt, retryAtMs }) => {
      if (state !== 'waiting') return;
      assert.deepEqual([attempt, retryAtMs], [1, stage.clock.nowMs() + 5000]);
      stop.abort();
    });
    const outcome = await stage.submit(undefined, stage.own, stop.signal);
    assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError);
    assert.equal(stage.posts.length, 1);
  });
});
