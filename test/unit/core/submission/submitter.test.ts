import assert from 'node:assert/strict';
import { appendFileSync, rmSync, unlinkSync } from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { SubmissionResult, SubmissionState } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import { writeFileDurably } from '../../../../src/core/storage/durableFile.ts';
import type { Draft } from '../../../../src/core/submission/intent.ts';
import { Submitter } from '../../../../src/core/submission/submitter.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import {
  type Answer,
  chargedAndLost,
  created,
  error,
  lost,
  type Post,
  Stage,
  tooPoor,
} from '../../../helpers/runs/stage.ts';
import { silent, until } from '../../../helpers/runs/support.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('Submitter', () => {
  let stage: Stage;
  let submitter: Submitter;
  let session: Session;
  const start = async (write?: typeof writeFileDurably) => {
    stage = await Stage.start(write && { write });
    submitter = stage.submitter;
    session = stage.session();
  };
  const restart = async (write: typeof writeFileDurably) => {
    await stage.end();
    await start(write);
  };
  beforeEach(() => start());
  afterEach(() => stage.end());

  const submit = async (draft?: Draft, whose = session) =>
    submitter.submit(whose, draft ?? (await stage.marked()), silent()).result;

  const codeOf = (outcome: SubmissionResult) =>
    outcome.kind === 'not-charged' || outcome.kind === 'unknown'
      ? (outcome.error as { code: string }).code
      : undefined;
  const states = (one = submitter) => one.pending.map(({ state }) => state);
  const receipts = async () => (await stage.bench.journal.receipts()).map(({ settled }) => settled.kind);
  /** Answers that wait until the test lets them go. */
  const holding = (): [held: (() => void)[], answer: Answer] => {
    const held: (() => void)[] = [];
    return [held, (...answer) => void held.push(() => created(...answer))];
  };
  const body = (response: http.ServerResponse, status: number, text: string) =>
    void response.writeHead(status).end(text);

  describe('with the sandbox', () => {
    it('is charged once; runs and balance know it, and a receipt is stored', async () => {
      session = stage.bench.session(await stage.bench.sandbox());
      const told: SubmissionState[] = [];
      submitter.onDidChange(({ state }) => told.at(-1) !== state && told.push(state));
      const draft = await stage.bench.draft();
      const outcome = await submit(draft);
      assert.ok(outcome.kind === 'charged');
      const { run_id, balance_after_cents, price_cents } = outcome.run;
      assert.equal(balance_after_cents, 100_000 - (price_cents ?? 0));
      assert.equal(session.balance.current?.balance_cents, balance_after_cents);
      assert.equal(session.runs.get(run_id)?.model_id, 'qwen3-8b');
      assert.equal(session.runs.label(run_id), 'Läbel');
      assert.deepEqual([told, submitter.pending], [['uploading', 'validating'], []]);
      const [receipt] = await stage.bench.journal.receipts();
      assert.ok(receipt?.settled.kind === 'charged');
      assert.deepEqual([receipt.settled.run, receipt.settled.how], [outcome.run, 'answered']);
      assert.deepEqual([receipt.dataset, receipt.consents], [draft.dataset, draft.consents]);
      await session.runs.refresh();
      assert.equal(session.runs.rows?.length, 1);
    });

    for (const [scenario, code] of [
      ['insufficient-balance', 'insufficient_balance'],
      ['model-withdrawn', 'model_not_available'],
    ] as const)
      it(`is not charged when it answers ${code}; the draft is stored, and replaced by what comes of it`, async () => {
        const sandbox = await stage.bench.sandbox();
        session = stage.bench.session(sandbox);
        sandbox.control.setScenario(scenario);
        const refused = await submit(await stage.bench.draft());
        assert.deepEqual([refused.kind, codeOf(refused), states()], ['not-charged', code, ['refused']]);
        assert.ok(refused.kind === 'not-charged' && refused.kept);
        const [kept] = submitter.pending;
        assert.equal(kept?.intent.refused?.code, code);
        sandbox.control.setScenario('none');
        stage.clock.pass(1);
        assert.equal((await submitter.resume(session, kept.id, silent()).result).kind, 'elsewhere');
        const outcome = await submit(await stage.bench.draft());
        assert.equal(outcome.kind, 'charged');
        await until(() => submitter.pending.length === 0);
        const kinds = new Map(
          (await stage.bench.journal.receipts()).map(({ id, settled }) => [id, settled.kind]),
        );
        assert.equal(kinds.get(kept.id), 'not-charged');
        assert.deepEqual([...kinds.values()].sort(), ['charged', 'not-charged']);
        await session.runs.refresh();
        assert.equal(session.runs.rows?.length, 1);
      });

    it('is not charged with a wrong API key: nothing more is sent with it', async () => {
      const { baseUrl } = await stage.bench.sandbox();
      session = stage.bench.session({ baseUrl, apiKey: 'service_wrong', keyId: 'key-1' });
      const refused = await submit(await stage.bench.draft());
      assert.deepEqual([refused.kind, codeOf(refused)], ['not-charged', 'invalid_api_key']);
      assert.deepEqual([session.state, states()], ['key-rejected', ['refused']]);
    });

    it('is found when the answer is lost each time: its own charge, reported as such', async () => {
      const sandbox = await stage.bench.sandbox();
      session = stage.bench.session(sandbox);
      sandbox.control.setScenario('answer-lost');
      const outcome = await submit();
      assert.equal(outcome.kind, 'charged');
      await session.runs.refresh();
      assert.deepEqual([session.runs.rows?.length, await receipts()], [1, ['charged']]);
    });
  });

  describe('where the sender cannot be loaded', () => {
    const failure = new Error('no such file');
    /** A window in which loading fails so many times. */
    const unable = (times = Infinity) => {
      const load = () =>
        times-- > 0 ? Promise.reject(failure) : import('../../../../src/core/submission/sender.ts');
      return new Submitter(stage.bench.journal, { clock: stage.clock, random: () => 0.5 }, load);
    };

    it('is not charged, and kept where it was', async () => {
      const one = unable();
      const fresh = await one.submit(session, await stage.marked(), silent()).result;
      assert.deepEqual(fresh, { kind: 'not-charged', error: failure, kept: false });
      stage.answers = [tooPoor];
      await submit();
      const { id } = stage.intent;
      const again = await one.resume(session, id, silent()).result;
      assert.deepEqual(again, { kind: 'not-charged', error: failure, kept: true });
      one.dispose();
    });

    it('stays unknown what was, and is checked once it can be', async () => {
      stage.answers = [lost];
      assert.equal((await submit()).kind, 'unknown');
      const { id } = stage.intent;
      const one = unable(3);
      assert.deepEqual(await one.resume(session, id, silent()).result, { kind: 'unknown', error: failure });
      await one.checkDue(session);
      await one.settleMarked(session);
      const before = stage.gets.length;
      await one.checkDue(session);
      assert.ok(stage.gets.length > before);
      one.dispose();
    });
  });

  describe('with an answer that is none', () => {
    for (const [name, answer] of [
      ['HTML with 200', (...[, , , response]) => body(response, 200, '<html>Welcome</html>')],
      ['201 without a run_id', (...[, , , response]) => sendJson(response, 201, { status: 'queued' })],
      ['torn JSON', (...[, , , response]) => body(response, 201, '{"run_id":"r')],
      ['an empty one', (...[, , , response]) => body(response, 201, '')],
      ['409', error(409, 'idempotency_conflict')],
      ['404', error(404, 'not_found')],
      ['413 without a body of the contract', (...[, , , response]) => body(response, 413, '')],
      ['402 of a captive portal', (...[, , , response]) => body(response, 402, '<html>pay</html>')],
      ['307', (...[, , , response]) => void response.writeHead(307, { location: '/api/v1/runs' }).end()],
    ] as [string, Answer][])
      it(`${name}: unknown, sent once, checked, and stored`, async () => {
        stage.answers = [answer, created];
        const outcome = await submit();
        assert.deepEqual([outcome.kind, states(), stage.posts.length], ['unknown', ['unknown'], 1]);
        assert.equal(submitter.isUnknown('account-1'), true);
        assert.deepEqual([stage.intent.lastLook?.complete, stage.intent.firstCleanLook], [true, undefined]);
      });
  });

  it('is charged by any 2xx with a run_id, however little else it says', async () => {
    stage.answers = [(...[, , , response]) => sendJson(response, 200, { run_id: 'r', price_cents: 'x' })];
    const outcome = await submit(await stage.bench.draft());
    assert.ok(outcome.kind === 'charged');
    assert.deepEqual([outcome.run.run_id, outcome.run.price_cents], ['r', undefined]);
    assert.equal(session.runs.get('r')?.status, 'queued');
    await until(() => session.balance.current?.balance_cents === 5000);
  });

  it('has an Idempotency-Key of its own for each wish, and a boundary', async () => {
    for (const name of ['one', 'two']) await submit(await stage.bench.draft(10, name));
    const [one, two] = stage.posts;
    assert.match(one?.key ?? '', UUID);
    assert.match(two?.key ?? '', UUID);
    assert.notEqual(one?.key, two?.key);
    assert.notEqual(one?.body.subarray(0, 60).toString(), two?.body.subarray(0, 60).toString());
  });

  describe('the same bytes and model', () => {
    it('open what is unresolved: nothing is sent, whatever else was chosen', async () => {
      stage.answers = [lost];
      await submit();
      const [open] = submitter.pending;
      stage.answers = [created];
      const again = await stage.bench.draft(10, 'train.jsonl', { label: 'x', priority_processing: true });
      assert.deepEqual(await submit(again), {
        kind: 'open',
        id: open?.id,
      });
      assert.deepEqual([stage.posts.length, states()], [5, ['unknown']]);
    });

    it('open what is being sent, and what was not sent', async () => {
      const [held, answer] = holding();
      stage.answers = [answer];
      const first = submit(await stage.bench.draft());
      await until(() => held.length === 1);
      assert.equal((await submit(await stage.bench.draft())).kind, 'open');
      held[0]?.();
      assert.equal((await first).kind, 'charged');
      stage.onHead = (_request, response) => body(response, 413, '');
      const big = await stage.bench.draft(300_000, 'big');
      assert.equal((await submit(big)).kind, 'not-charged');
      stage.onHead = () => undefined;
      assert.deepEqual(states(), ['unsent']);
      assert.equal((await submit(big)).kind, 'open');
    });

    it('are another wish for another model, other bytes, an account that goes on beside it, or after a charge', async () => {
      stage.answers = [lost];
      await submit();
      stage.answers = [created];
      const draft = await stage.bench.draft();
      const other = stage.session('account-2');
      const { id } = stage.intent;
      assert.deepEqual(await submit(draft, other), { kind: 'open', id });
      for (const [whose, changes] of [
        [session, { model_id: 'another' }],
        [session, await stage.bench.draft(10, 'another')],
        [other, {}],
        [other, {}],
      ] as const)
        assert.equal(
          (
            await submitter.submit(
              whose,
              { ...draft, ...changes },
              silent(),
              submitter.pending.map((one) => one.id),
            ).result
          ).kind,
          'charged',
        );
    });

    it('are not taken for the run that another account of the service has a receipt of', async () => {
      stage.answers = [
        (one, post, _request, response) => {
          one.charge(post);
          body(response, 200, '<html>Welcome</html>');
        },
        created,
      ];
      await submit(await stage.bench.draft());
      const { id } = stage.intent;
      const other = stage.session('account-2');
      assert.equal(
        (await submitter.submit(other, await stage.bench.draft(), silent(), [id]).result).kind,
        'charged',
      );
      await submitter.check(session, id);
      assert.deepEqual(stage.intent.lastLook?.candidates, ['run-1']);
    });

    it('leave another account its draft that was refused', async () => {
      stage.answers = [tooPoor, created];
      await submit(await stage.bench.draft());
      assert.equal((await submit(await stage.bench.draft(), stage.session('account-2'))).kind, 'charged');
      await submitter.probe();
      assert.deepEqual([states(), stage.intent.accountId], [['refused'], 'account-1']);
    });
  });

  describe('cancelled', () => {
    it('from the start it is never sent', async () => {
      const outcome = await submitter.submit(session, await stage.bench.draft(), AbortSignal.abort()).result;
      assert.ok(outcome.kind === 'not-charged' && outcome.error instanceof CancelledError);
      assert.deepEqual([outcome.kept, stage.posts.length, states()], [false, 0, []]);
    });

    it('by its id as soon as it is shown, while the journal still makes it: it is never sent', async () => {
      const cancelled: boolean[] = [];
      submitter.onDidChange(({ id }) => {
        if (cancelled.length === 0) cancelled.push(submitter.cancel(id));
      });
      const outcome = await submit(await stage.bench.draft());
      assert.ok(outcome.kind === 'not-charged' && outcome.error instanceof CancelledError);
      assert.deepEqual([cancelled, stage.posts.length, states()], [[true], 0, []]);
    });

    for (const by of ['signal', 'id'] as const)
      it(`by its ${by} before the last byte it is not charged, and the service never has all of it`, async () => {
        const stop = new AbortController();
        const cancelled: boolean[] = [];
        submitter.onDidChange(({ id, state, sentBytes }) => {
          if (state !== 'uploading' || sentBytes < 1_000_000 || cancelled.length > 0) return;
          if (by === 'id') cancelled.push(submitter.cancel(id));
          else stop.abort();
        });
        const outcome = await submitter.submit(session, await stage.bench.draft(500_000), stop.signal).result;
        assert.ok(outcome.kind === 'not-charged' && outcome.error instanceof CancelledError);
        assert.deepEqual([outcome.kept, stage.posts.length, states()], [false, 0, []]);
        assert.deepEqual([cancelled, await receipts()], [by === 'id' ? [true] : [], ['not-charged']]);
      });

    it('at the last byte, or while it is priced, it may have been charged; nothing is sent again', async () => {
      let stop = new AbortController();
      submitter.onDidChange(({ state, intent }) => {
        if (state === 'validating' && intent.dataset.filename === 'one') stop.abort();
      });
      for (const [name, answer] of [
        ['one', lost],
        ['two', () => stop.abort()],
      ] as [string, Answer][]) {
        stage.answers = [answer, created];
        stop = new AbortController();
        const outcome = await submitter.submit(
          session,
          await stage.marked(`ft-00000${name}`, name),
          stop.signal,
        ).result;
        assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError, name);
      }
      assert.deepEqual(states(), ['unknown', 'unknown']);
      assert.ok(stage.posts.length <= 2);
    });

    it('while it is priced, though it was charged: who cancelled reads so', async () => {
      const stop = new AbortController();
      stage.answers = [
        (one, post) => {
          one.charge(post);
          stop.abort();
        },
      ];
      const outcome = await submitter.submit(session, await stage.marked(), stop.signal).result;
      assert.deepEqual([outcome.kind, states()], ['charged', []]);
    });

    it('after the answer nothing changes; by an id it is too late while it is priced', async () => {
      const [held, answer] = holding();
      stage.answers = [answer];
      const stop = new AbortController();
      const outcome = submitter.submit(session, await stage.bench.draft(), stop.signal).result;
      await until(() => held.length === 1);
      const [{ id } = { id: '' }] = submitter.pending;
      assert.deepEqual(
        [states(), submitter.cancel(id), submitter.cancel('nobody')],
        [['validating'], false, false],
      );
      held[0]?.();
      assert.equal((await outcome).kind, 'charged');
      stop.abort();
      assert.deepEqual([submitter.cancel(id), states(), await receipts()], [false, [], ['charged']]);
    });

    it('while it waits for its turn it ends at once and is never sent; the next one is', async () => {
      const [held, answer] = holding();
      stage.answers = [answer];
      const drafts = await Promise.all(['a', 'b', 'c'].map((name) => stage.bench.draft(10, name)));
      const ends: Promise<SubmissionResult>[] = [];
      for (const [index, draft] of drafts.entries()) {
        stage.clock.pass(1);
        ends.push(submit(draft));
        await until(() => submitter.pending.length === index + 1);
      }
      await until(() => held.length === 1);
      assert.deepEqual(states(), ['validating', 'queued', 'queued']);
      const told: [id: string, state: SubmissionState, attempt: number][] = [];
      submitter.onDidChange(({ id, state, attempt }) => void told.push([id, state, attempt]));
      const [, second, third] = submitter.pending;
      assert.equal(submitter.cancel(second?.id ?? ''), true);
      assert.equal((await ends[1])?.kind, 'not-charged');
      held[0]?.();
      assert.equal((await ends[0])?.kind, 'charged');
      await until(() => held.length === 2);
      // Before its first attempt has begun it waits for no other any more.
      assert.ok(
        told.some(([id, state, attempt]) => id === third?.id && state === 'uploading' && attempt === 0),
      );
      held[1]?.();
      assert.equal((await ends[2])?.kind, 'charged');
      assert.equal(stage.posts[1]?.key, third?.id);
    });
  });

  it('ends with its window: what is sent stops, what waits is never sent, and both stay open', async () => {
    stage.answers = [() => undefined];
    const first = submit(await stage.bench.draft(10, 'a'));
    await until(() => stage.posts.length === 1);
    stage.clock.pass(1);
    const second = submit(await stage.bench.draft(10, 'b'));
    await until(() => submitter.pending.length === 2);
    submitter.dispose();
    const [one, two] = [await first, await second];
    assert.deepEqual([one.kind, two.kind, stage.posts.length], ['unknown', 'not-charged', 1]);
    assert.ok(two.kind === 'not-charged' && two.kept);
    const restarted = stage.newSubmitter();
    await restarted.probe();
    assert.deepEqual(
      restarted.pending.map(({ state }) => state),
      ['unknown', 'unsent'],
    );
  });

  it('writes a refusal down that comes as the window ends', async () => {
    stage.answers = [tooPoor];
    const write = stage.bench.journal;
    write.onDidChange(() => {
      if (write.intents[0]?.attempts[0]?.ended !== undefined) submitter.dispose();
    });
    const outcome = await submit(await stage.bench.draft());
    assert.equal(outcome.kind, 'not-charged');
    const restarted = stage.newSubmitter();
    await restarted.probe();
    assert.deepEqual(
      restarted.pending.map(({ state }) => state),
      ['refused'],
    );
  });

  it('uploads one at a time, and each with its own account’s API key', async () => {
    let [running, most] = [0, 0];
    stage.answers = [
      (...answer) => {
        most = Math.max(most, (running += 1));
        setTimeout(() => {
          running -= 1;
          created(...answer);
        }, 10);
      },
    ];
    const accounts = ['one', 'two', 'one', 'two'];
    const sessions = new Map(['one', 'two'].map((id) => [id, stage.session(id)]));
    const ends: Promise<SubmissionResult>[] = [];
    for (const [index, id] of accounts.entries()) {
      const draft = await stage.bench.draft(10, String(index));
      ends.push(submitter.submit(sessions.get(id) as Session, draft, silent()).result);
    }
    await until(() => new Set(submitter.pending.map(({ accountId }) => accountId)).size === 2);
    for (const end of ends) assert.equal((await end).kind, 'charged');
    assert.equal(most, 1);
    assert.deepEqual(stage.posts.map(({ authorization }) => authorization).sort(), [
      ...Array.from({ length: 2 }, () => 'Bearer service_one_key-1'),
      ...Array.from({ length: 2 }, () => 'Bearer service_two_key-1'),
    ]);
  });

  it('is not charged when the file grew, shrank or is gone, and goes on with the next one', async () => {
    const draft = await stage.bench.draft(200_000, 'grows');
    let changed = false;
    submitter.onDidChange(({ state, sentBytes }) => {
      if (state !== 'uploading' || sentBytes === 0 || changed) return;
      changed = true;
      appendFileSync(draft.dataset.path, 'x');
    });
    const gone = await stage.bench.draft(10, 'gone');
    gone.dataset.path += '.no';
    for (const one of [draft, gone]) {
      const outcome = await submit(one);
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['not-charged', 'dataset-changed']);
    }
    assert.deepEqual([stage.posts.length, states()], [0, []]);
    assert.equal((await submit(await stage.bench.draft())).kind, 'charged');
  });

  it('stays open, not charged, where there is no API key or no way to the service', async () => {
    const keyless = stage.bench.session(() => Promise.resolve(undefined));
    const nowhere = stage.bench.session({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', keyId: 'key-1' });
    const one = await submitter.submit(keyless, await stage.bench.draft(10, 'a'), silent()).result;
    const attempts = new Set<number>();
    submitter.onDidChange(({ attempt, state }) => state === 'waiting' && attempts.add(attempt));
    const two = await submitter.submit(nowhere, await stage.bench.draft(10, 'b'), silent()).result;
    assert.deepEqual([one.kind, codeOf(one), two.kind], ['not-charged', 'key-missing', 'not-charged']);
    assert.deepEqual([states(), stage.clock.sleeps.length], [['unsent', 'unsent'], 4]);
    // Not even the first was begun.
    assert.deepEqual([...attempts], [0]);
  });

  it('reports its progress in bytes of the whole request, up to the last, and which attempt it is', async () => {
    stage.answers = [chargedAndLost, created];
    const told: [attempt: number, sent: number][] = [];
    let total = 0;
    const { onProgress, result } = submitter.submit(session, await stage.bench.draft(200_000), silent());
    onProgress(({ attempt, state, sentBytes, totalBytes }) => {
      if (state !== 'uploading' && state !== 'validating') return;
      told.push([attempt, sentBytes]);
      total = totalBytes;
    });
    await result;
    for (const wanted of [1, 2]) {
      const sent = told.filter(([attempt]) => attempt === wanted).map(([, bytes]) => bytes);
      assert.deepEqual(
        sent.toSorted((a, b) => a - b),
        sent,
      );
      assert.equal(sent.at(-1), stage.posts[0]?.body.byteLength);
    }
    assert.equal(total, stage.posts[1]?.body.byteLength);
  });

  describe('two windows', () => {
    it('send the same bytes and model once', async () => {
      const other = await stage.otherWindow();
      const draft = await stage.marked();
      const outcomes = await Promise.all([
        submit(draft),
        other.submitter.submit(stage.session(), draft, silent()).result,
      ]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['charged', 'open']);
      assert.equal(stage.posts.length, 1);
    });

    it('have one owner of each intent; the other one sees it, and may not touch it', async () => {
      const other = await stage.otherWindow();
      stage.answers = [() => undefined];
      const outcome = submit();
      await until(() => stage.posts.length === 1);
      await until(() => states(other.submitter)[0] === 'elsewhere');
      const { id } = stage.intent;
      const mine = stage.session();
      assert.deepEqual(await other.submitter.resume(mine, id, silent()).result, { kind: 'elsewhere' });
      assert.equal(await other.submitter.check(mine, id), undefined);
      assert.deepEqual(
        [
          await other.submitter.adopt(mine, id, 'run-1'),
          await other.submitter.discard(id),
          other.submitter.cancel(id),
        ],
        [false, false, false],
      );
      assert.deepEqual(states(), ['validating']);
      // The owner ends: whoever comes next takes over, at once, and finds what was charged.
      stage.charge(stage.posts[0] as Post);
      submitter.dispose();
      await outcome;
      assert.equal((await other.submitter.resume(mine, id, silent()).result).kind, 'charged');
      assert.deepEqual([stage.posts.length, stage.runs.length], [1, 1]);
    });

    it('resume at once: it is sent once more, by one', async () => {
      stage.answers = [error(409, 'idempotency_conflict'), created];
      await submit();
      const { id } = stage.intent;
      const other = await stage.otherWindow();
      const outcomes = await Promise.all([
        submitter.resume(session, id, silent()).result,
        other.submitter.resume(stage.session(), id, silent()).result,
        submitter.resume(session, id, silent()).result,
      ]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['charged', 'elsewhere', 'elsewhere']);
      assert.deepEqual([stage.posts.length, stage.runs.length], [2, 1]);
    });
  });

  it('sends no byte more when another may own it: the lease is read again before the closing boundary', async () => {
    stage.onHead = () =>
      unlinkSync(path.join(stage.bench.journalFolder, 'leases', `${stage.intent.id}.lock`));
    const outcome = await submit(await stage.bench.draft(200_000));
    assert.deepEqual([outcome.kind, stage.posts.length], ['elsewhere', 0]);
  });

  it('nor when it was lost while that was written', async () => {
    const write: typeof writeFileDurably = async (file, text) => {
      await writeFileDurably(file, text);
      if (!text.includes('"closed"')) return;
      unlinkSync(path.join(stage.bench.journalFolder, 'leases', `${stage.intent.id}.lock`));
    };
    await restart(write);
    const outcome = await submit();
    assert.deepEqual([outcome.kind, stage.posts.length], ['elsewhere', 0]);
  });

  it('know of a charge that a killed window could not report any more, and one of them reports it', async () => {
    const outcome = await submit();
    assert.ok(outcome.kind === 'charged');
    const { run_id } = outcome.run;
    const { journal } = await stage.otherWindow();
    assert.deepEqual(
      (await journal.unreported()).map(({ settled }) => settled.kind === 'charged' && settled.run),
      [outcome.run],
    );
    const claims = [journal, stage.bench.journal].map((each) => each.claimNotice(run_id));
    assert.deepEqual((await Promise.all(claims)).sort(), [false, true]);
    assert.deepEqual(await journal.unreported(), []);
  });

  it('report a charge once though the disk took no notice of it', async () => {
    rmSync(path.join(stage.bench.journalFolder, 'notices'), { recursive: true });
    const outcome = await submit();
    assert.ok(outcome.kind === 'charged');
    const claim = () => stage.bench.journal.claimNotice(outcome.run.run_id);
    assert.deepEqual([await claim(), await claim()], [true, false]);
  });

  it('report no charge again', async () => {
    const outcome = await submit();
    assert.ok(outcome.kind === 'charged');
    const { journal } = await stage.otherWindow();
    assert.equal((await journal.unreported()).length, 1);
    outcome.onReported?.();
    while ((await journal.unreported()).length > 0) await turn();
    assert.equal((await journal.receipts()).length, 1);
  });

  it('reports the charge though it cannot be written, and after a restart finds it again without sending', async () => {
    const write: typeof writeFileDurably = (file, text) =>
      path.basename(path.dirname(file)) === 'receipts'
        ? Promise.reject(new Error('no space left'))
        : writeFileDurably(file, text);
    await restart(write);
    const outcome = await submit();
    assert.deepEqual([outcome.kind, stage.submitter.pending], ['charged', []]);
    const other = await stage.otherWindow();
    await until(() => states(other.submitter)[0] === 'unknown');
    const found = await other.submitter.check(stage.session(), stage.intent.id);
    assert.deepEqual([found?.verdict, stage.posts.length], ['charged', 1]);
  });
});
