import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeFileDurably } from '../../../../src/core/storage/durableFile.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { Attempt, Draft, Intent } from '../../../../src/core/submission/intent.ts';
import type { SubmissionResult } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import {
  type Answer,
  broken,
  created,
  error,
  HOUR,
  lost,
  Stage,
  tooPoor,
} from '../../../helpers/runs/stage.ts';
import { silent } from '../../../helpers/runs/support.ts';

const slow = (retryAfter: string) => error(429, 'rate_limited', { 'retry-after': retryAfter });
const busy = (retryAfter: string) => error(503, 'unavailable', { 'retry-after': retryAfter });

describe('Submitter, attempt by attempt', () => {
  let stage: Stage;
  let session: Session;
  const start = async (write?: typeof writeFileDurably) => {
    stage = await Stage.start(write && { write });
    session = stage.session();
  };
  const restart = async (write: typeof writeFileDurably) => {
    await stage.end();
    await start(write);
  };
  beforeEach(() => start());
  afterEach(() => stage.end());

  const submit = async (draft?: Draft, signal = silent()): Promise<SubmissionResult> =>
    stage.submitter.submit(session, draft ?? (await stage.marked()), signal).result;
  const resume = (id: string) => stage.submitter.resume(session, id, silent()).result;
  const codeOf = (outcome: SubmissionResult) =>
    outcome.kind === 'not-charged' || outcome.kind === 'unknown'
      ? (outcome.error as { code: string }).code
      : undefined;
  const stateOf = () => stage.submitter.pending.map(({ state }) => state);
  const onDisk = () =>
    JSON.parse(
      readFileSync(path.join(stage.bench.journalFolder, 'intents', `${stage.intent.id}.json`), 'utf8'),
    ) as Intent;
  const dateIn = (ms: number) => new Date(stage.clock.serviceMs + ms).toUTCString();
  /** Milliseconds between the submissions that arrived. */
  const gaps = () => stage.posts.slice(1).map(({ atMs }, index) => atMs - (stage.posts[index]?.atMs ?? 0));

  describe('the journal', () => {
    it('is durable before anything connects, and says so before the closing boundary leaves', async () => {
      const seen: Intent[] = [];
      stage.onHead = () => void seen.push(onDisk());
      stage.answers = [
        (...answer) => {
          seen.push(onDisk());
          created(...answer);
        },
      ];
      const draft = await stage.bench.draft(200_000);
      assert.equal((await submit(draft)).kind, 'charged');
      const [atHead, atEnd] = seen as [Intent, Intent];
      assert.deepEqual(
        [atHead.attempts.length, atHead.attempts[0]?.closed, atHead.keyId],
        [1, undefined, 'key-1'],
      );
      assert.notEqual(atEnd.attempts[0]?.closed, undefined);
      const [post] = stage.posts;
      assert.equal(atHead.id, post?.key);
      assert.ok(post?.body.includes(`--${atHead.boundary}\r\n`));
      assert.deepEqual(atHead.balanceBefore, { balance_cents: 5000, currency: 'EUR' });
      assert.deepEqual(atHead.dataset, draft.dataset);
      assert.deepEqual(atHead.consents, draft.consents);
    });

    it('lets nothing connect where it cannot be written, nor the boundary leave', async () => {
      for (const [failsFrom, posts, kind] of [
        [1, 0, 'not-charged'],
        [2, 0, 'not-charged'],
        [3, 0, 'not-charged'],
      ] as const) {
        let writes = 0;
        const write: typeof writeFileDurably = async (file, text) => {
          if (path.basename(path.dirname(file)) === 'intents' && ++writes >= failsFrom)
            throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
          await writeFileDurably(file, text);
        };
        await restart(write);
        let heads = 0;
        stage.onHead = () => (heads += 1);
        const outcome = await submit();
        assert.deepEqual(
          [outcome.kind, codeOf(outcome), stage.posts.length, heads],
          [kind, 'ENOSPC', posts, failsFrom === 3 ? 1 : 0],
        );
      }
    });
  });

  it('stays, and is shown, where the disk does not take that it was given up', async () => {
    let isFull = false;
    const write: typeof writeFileDurably = async (file, text) => {
      if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      await writeFileDurably(file, text);
    };
    await restart(write);
    stage.answers = [error(409, 'idempotency_conflict')];
    await submit();
    isFull = true;
    await assert.rejects(stage.submitter.discard(stage.intent.id), { code: 'ENOSPC' });
    await stage.submitter.probe();
    assert.deepEqual(stateOf(), ['unknown']);
    isFull = false;
    assert.equal(await stage.submitter.discard(stage.intent.id), true);
    assert.deepEqual(stateOf(), []);
  });

  describe('an attempt that may have been charged', () => {
    it('is repeated with the same Idempotency-Key and the same bytes, until it is charged', async () => {
      stage.answers = [lost, broken, slow('1'), lost, created];
      const outcome = await submit();
      assert.equal(outcome.kind, 'charged');
      assert.equal(stage.posts.length, 5);
      const [first] = stage.posts;
      for (const { key, body } of stage.posts) {
        assert.equal(key, first?.key);
        assert.ok(body.equals(first?.body as Buffer));
      }
      assert.deepEqual(stateOf(), []);
    });

    it('five times at most; the waits double, with jitter; then its run is checked for', async () => {
      stage.answers = [
        (...answer) => {
          stage.balanceCents -= 1;
          lost(...answer);
        },
      ];
      const outcome = await submit();
      assert.deepEqual([outcome.kind, codeOf(outcome), stateOf()], ['unknown', 'network', ['unknown']]);
      // What the first one may have lowered is not what was there before.
      assert.equal(stage.intent.balanceBefore?.balance_cents, 5000);
      assert.equal(stage.posts.length, 5);
      assert.deepEqual(stage.clock.sleeps, [1000, 2000, 4000, 8000]);
      assert.equal(stage.intent.attempts.length, 5);
      assert.equal(stage.intent.lastLook?.complete, true);
    });

    for (const [answers, posts] of [
      [[broken], 3],
      [[broken, lost, broken, lost, broken], 5],
      [[error(503, 'a'), broken, error(503, 'a'), broken, broken, broken], 5],
      [[error(503, 'a'), broken], 4],
    ] as const)
      it(`ends after the same server error three times in a row (${posts} attempts)`, async () => {
        stage.answers = [...answers];
        assert.deepEqual([(await submit()).kind, stage.posts.length], ['unknown', posts]);
      });

    for (const [name, refusal] of [
      ['402', tooPoor],
      ['401', error(401, 'invalid_api_key')],
      ['422', error(422, 'model_not_available')],
    ] as const)
      it(`is not "refused" by a ${name} that comes after it`, async () => {
        stage.answers = [lost, refusal];
        const outcome = await submit();
        assert.deepEqual([outcome.kind, stateOf(), stage.posts.length], ['unknown', ['unknown'], 2]);
        assert.equal(stage.submitter.isUnknown('account-1'), true);
      });

    it('is charged when its run is found after a 402 that its own charge was the reason of', async () => {
      stage.answers = [
        (...answer) => {
          stage.charge(answer[1]);
          lost(...answer);
        },
        tooPoor,
      ];
      const outcome = await submit();
      assert.ok(outcome.kind === 'charged');
      assert.deepEqual([outcome.run.run_id, outcome.run.price_cents], ['run-1', 100]);
      assert.deepEqual([stage.runs.length, stateOf()], [1, []]);
    });

    it('stays one when the file is another afterwards, and nothing else is sent', async () => {
      const draft = await stage.marked();
      stage.answers = [
        (...answer) => {
          writeFileSync(draft.dataset.path, 'x'.repeat(draft.dataset.sizeBytes));
          lost(...answer);
        },
        created,
      ];
      const outcome = await submit(draft);
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'dataset-changed']);
      assert.deepEqual([stage.posts.length, stage.runs.length], [1, 0]);
    });

    it('is not repeated when the API key was replaced meanwhile', async () => {
      let keyId = 'key-1';
      session = stage.bench.session(
        () => Promise.resolve({ baseUrl: stage.url, apiKey: 'service_x', keyId }),
        'account-1',
        () => stage.clock.nowMs(),
      );
      stage.answers = [
        (...answer) => {
          keyId = 'key-2';
          session.reconnect();
          lost(...answer);
        },
        created,
      ];
      const outcome = await submit();
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'key-replaced', 1]);
      assert.equal(stage.intent.lastLook?.otherKey, true);
    });
  });

  describe('a refusal', () => {
    for (const [name, refusal, code] of [
      ['402', tooPoor, 'insufficient_balance'],
      ['401', error(401, 'invalid_api_key'), 'invalid_api_key'],
      ['422', error(422, 'validation_failed'), 'validation_failed'],
    ] as const)
      it(`by ${name} is no charge after attempts that never came to their end`, async () => {
        let heads = 0;
        stage.onHead = (request) => {
          if (++heads <= 2) request.socket.destroy();
        };
        stage.answers = [refusal];
        const outcome = await submit(await stage.bench.draft(200_000));
        assert.deepEqual([outcome.kind, codeOf(outcome), stateOf()], ['not-charged', code, ['refused']]);
        assert.deepEqual([heads, stage.posts.length, stage.submitter.isUnknown('account-1')], [3, 1, false]);
      });

    it('is written in one step with the end of its attempt: nothing in between seems a charge', async () => {
      stage.answers = [tooPoor];
      const { journal } = stage.bench;
      const seen: boolean[] = [];
      journal.onDidChange(() => {
        const [intent] = journal.intents;
        if (intent?.attempts[0]?.ended !== undefined) seen.push(intent.refused !== undefined);
      });
      assert.equal((await submit()).kind, 'not-charged');
      assert.ok(seen.length > 0 && !seen.includes(false), String(seen));
    });

    it('before the last byte holds the closing boundary back', async () => {
      stage.onHead = (_request, response) =>
        sendJson(response, 402, { error: { code: 'insufficient_balance', message: '' } });
      const outcome = await submit(await stage.bench.draft(500_000));
      assert.deepEqual([outcome.kind, stateOf(), stage.posts.length], ['not-charged', ['refused'], 0]);
      assert.equal(stage.intent.attempts[0]?.closed, undefined);
    });

    it('of another kind before the last byte is no charge either: it may be sent later', async () => {
      stage.onHead = (_request, response) => void response.writeHead(413).end();
      const outcome = await submit(await stage.bench.draft(500_000));
      assert.deepEqual([outcome.kind, stateOf(), stage.posts.length], ['not-charged', ['unsent'], 0]);
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
      it(`of ${name} is waited for, and a second of jitter`, async () => {
        stage.clock.setWall(-7 * HOUR);
        stage.answers = [answer(), created];
        assert.equal((await submit()).kind, 'charged');
        assert.deepEqual([stage.clock.sleeps, gaps()], [[waitMs + 1000], [waitMs + 1000]]);
      });

    for (const header of ['601', '9'.repeat(400)])
      it(`of ${header.slice(0, 9)} seconds asks the user, and is not forgotten`, async () => {
        stage.answers = [slow(header), created];
        const outcome = await submit();
        assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'rate_limited']);
        assert.deepEqual([stage.posts.length, stage.clock.sleeps], [1, []]);
        const { code, notBefore, ended } = onDisk().attempts[0] as Attempt;
        assert.equal(code, 'rate_limited');
        assert.ok((notBefore?.serviceMs ?? 0) >= (ended?.serviceMs ?? 0) + 601_000);
        const again = await resume(stage.intent.id);
        assert.deepEqual([codeOf(again), stage.posts.length], ['too-early', 1]);
      });

    it('is still waited for after the wait was cut, by whoever goes on with it', async () => {
      const stop = new AbortController();
      stage.answers = [slow('300'), created];
      stage.clock.isHeld = true;
      stage.submitter.onDidChange(({ state }) => state === 'waiting' && stop.abort());
      assert.equal((await submit(undefined, stop.signal)).kind, 'unknown');
      stage.clock.isHeld = false;
      stage.clock.pass(100_000);
      stage.gets.length = 0;
      const { id } = stage.intent;
      await stage.newSubmitter().checkDue(session);
      const waits = stage.clock.sleeps.length;
      assert.equal((await resume(id)).kind, 'charged');
      assert.ok((stage.clock.sleeps[waits] ?? 0) >= 199_000);
      assert.deepEqual([stage.posts.length, (gaps()[0] ?? 0) >= 300_000], [2, true]);
    });

    for (const isWhole of [true, false])
      it(`is waited for, with the time that is left, and can be cancelled meanwhile, ${isWhole ? '' : 'not '}sent completely`, async () => {
        if (!isWhole)
          stage.onHead = (_request, response) =>
            sendJson(
              response,
              429,
              { error: { code: 'rate_limited', message: '' } },
              { 'retry-after': '700' },
            );
        stage.answers = [slow('700'), created];
        await submit(isWhole ? undefined : await stage.bench.draft(300_000));
        stage.onHead = () => undefined;
        stage.clock.pass(693_000);
        stage.clock.isHeld = true;
        stage.gets.length = 0;
        const { id } = stage.intent;
        const waited: number[] = [];
        stage.submitter.onDidChange(({ state, retryAtMs = 0 }) => {
          if (state !== 'waiting') return;
          waited.push(retryAtMs - stage.clock.nowMs());
          stage.submitter.cancel(id);
        });
        const outcome = await resume(id);
        assert.deepEqual([outcome.kind, codeOf(outcome)], [isWhole ? 'unknown' : 'not-charged', 'cancelled']);
        assert.deepEqual([stage.gets, stage.posts.length], [[], isWhole ? 1 : 0]);
        assert.ok(waited.length > 0 && waited.every((ms) => ms > 5_000 && ms <= 8_000), waited.join());
        assert.deepEqual(
          stage.submitter.pending.map(({ state }) => state),
          [isWhole ? 'unknown' : 'unsent'],
        );
      });

    it('is known by the service’s clock, though this machine’s was set forward meanwhile', async () => {
      stage.onHead = (_request, response) => {
        const headers = { ...stage.date, 'retry-after': '700' };
        sendJson(response, 429, { error: { code: 'rate_limited', message: '' } }, headers);
      };
      assert.equal((await submit(await stage.bench.draft(300_000))).kind, 'not-charged');
      stage.onHead = () => undefined;
      const fromMs = stage.clock.serviceMs;
      stage.clock.setWall(HOUR);
      stage.clock.pass(200_000);
      assert.equal((await resume(stage.intent.id)).kind, 'charged');
      assert.ok((stage.posts[0]?.atMs ?? 0) - fromMs >= 699_000);
    });
  });

  describe('the clocks', () => {
    for (const [name, change] of [
      ['the machine slept', () => stage.clock.sleepMachine(HOUR)],
      ['the wall clock was set forward', () => stage.clock.setWall(HOUR)],
      ['the wall clock was set back', () => stage.clock.setWall(-HOUR)],
    ] as const) {
      it(`let nothing be repeated by itself when ${name} after an attempt that may be charged`, async () => {
        stage.answers = [
          (...answer) => {
            change();
            lost(...answer);
          },
          created,
        ];
        const outcome = await submit();
        assert.deepEqual(
          [outcome.kind, codeOf(outcome), stage.posts.length],
          ['unknown', 'clocks-disagree', 1],
        );
      });

      it(`let it be sent when ${name} and nothing can have been charged, in the service’s time`, async () => {
        let heads = 0;
        stage.onHead = (request) => {
          if (++heads > 1) return;
          change();
          request.socket.destroy();
        };
        stage.answers = [lost, created];
        stage.submitter.onDidChange(({ state }) => {
          const [attempt, second] = stage.intent.attempts;
          if (state !== 'validating' || second === undefined) return;
          assert.equal(attempt?.closed, undefined);
          assert.ok(Math.abs((second.started.serviceMs ?? 0) - stage.clock.serviceMs) < 2000);
        });
        await submit(await stage.bench.draft(200_000));
        // The first one never closed; the second may have been charged, and the clocks have agreed since.
        assert.deepEqual([heads, stage.posts.length], [2, 1]);
      });
    }

    it('are asked again after the boundary’s time was written: a sleep meanwhile holds it back', async () => {
      let sleepMs = HOUR;
      const write: typeof writeFileDurably = async (file, text) => {
        if (text.includes('"closed"')) stage.clock.sleepMachine(sleepMs);
        await writeFileDurably(file, text);
      };
      await restart(write);
      const outcome = await submit();
      assert.deepEqual(
        [outcome.kind, codeOf(outcome), stage.posts.length, stateOf()],
        ['not-charged', 'clocks-disagree', 0, ['unsent']],
      );
      sleepMs = 0;
      assert.equal((await resume(stage.intent.id)).kind, 'charged');
    });

    it('add nothing to an answer without a time', async () => {
      await session.balance.refresh();
      stage.clock.setWall(5 * HOUR);
      stage.onGet = (request, response) => {
        response.sendDate = false;
        if (request.url?.endsWith('/balance') !== true) return false;
        sendJson(response, 200, { balance_cents: 1, currency: 'EUR' });
        return true;
      };
      stage.answers = [error(409, 'idempotency_conflict')];
      assert.equal((await submit()).kind, 'unknown');
      const { started, closed } = stage.intent.attempts[0] as Attempt;
      assert.deepEqual([started.serviceMs, closed?.serviceMs], [undefined, undefined]);
    });

    it('end it at 23 hours, also while it writes down that the boundary leaves', async () => {
      let isLast = false;
      const write: typeof writeFileDurably = async (file, text) => {
        if (isLast && text.includes('"closed"')) stage.clock.pass(2 * HOUR);
        await writeFileDurably(file, text);
      };
      await restart(write);
      stage.answers = [
        (...answer) => {
          stage.clock.pass(22 * HOUR);
          lost(...answer);
        },
        created,
      ];
      stage.onHead = () => (isLast = stage.posts.length === 1);
      const outcome = await submit();
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'window-closed', 1]);
    });
  });

  describe('the way to the service', () => {
    it('is tried with a read first: the dataset is not sent to learn that there is none', async () => {
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
        const outcome = await submit(await stage.bench.draft(10, `${status}.jsonl`));
        assert.deepEqual([outcome.kind, heads, stage.clock.sleeps.length], ['not-charged', 0, sleeps]);
      }
      assert.deepEqual(stateOf(), ['unsent', 'unsent']);
    });

    it('is closed while another call was asked to wait: nothing is sent, and nothing can be charged', async () => {
      let heads = 0;
      stage.onHead = () => (heads += 1);
      for (const [waitMs, kind] of [
        [30_000, 'charged'],
        [HOUR, 'not-charged'],
      ] as const) {
        stage.clock.sleeps.length = 0;
        let told = 0;
        stage.onGet = () => {
          // Between the read and the submission, in another window.
          const notBeforeMs = stage.clock.nowMs() + waitMs;
          if (told++ === 0) session.acceptShared({ notBeforeMs }, true);
          return false;
        };
        const outcome = await submit(await stage.bench.draft(10, `${waitMs}.jsonl`));
        assert.deepEqual([outcome.kind, heads], [kind, 1]);
        if (kind === 'charged') assert.deepEqual(stage.clock.sleeps, [waitMs + 1000]);
      }
    });

    it('is not gone with the balance alone: then it is not known before', async () => {
      stage.onGet = (request, response) => {
        const isBalance = request.url?.endsWith('/balance') === true;
        if (isBalance) sendJson(response, 500, { error: { code: 'internal', message: '' } });
        return isBalance;
      };
      stage.answers = [lost, created];
      assert.deepEqual([(await submit()).kind, stage.posts.length], ['charged', 2]);
    });
  });

  it('hears a cancel while it waits for the next attempt', async () => {
    const stop = new AbortController();
    stage.clock.isHeld = true;
    stage.answers = [lost, created];
    stage.submitter.onDidChange(({ state, attempt, retryAtMs }) => {
      if (state !== 'waiting') return;
      assert.deepEqual([attempt, retryAtMs], [1, stage.clock.nowMs() + 1000]);
      stop.abort();
    });
    const outcome = await submit(undefined, stop.signal);
    assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError);
    assert.equal(stage.posts.length, 1);
  });
});
