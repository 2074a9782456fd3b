import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { ReconcileResult } from '../../../../src/core/submission/reconciler.ts';
import type { Draft, Intent } from '../../../../src/core/submission/intent.ts';
import type { SubmissionResult } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Submitter } from '../../../../src/core/submission/submitter.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import {
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

const conflict = error(409, 'idempotency_conflict');

describe('Submitter, afterwards', () => {
  let stage: Stage;
  let submitter: Submitter;
  let session: Session;
  beforeEach(async () => {
    stage = await Stage.start();
    submitter = stage.submitter;
    session = stage.session();
  });
  afterEach(() => stage.end());

  const submit = async (draft?: Draft) =>
    submitter.submit(session, draft ?? (await stage.marked()), silent()).result;
  const resume = (id: string, whose = session) => submitter.resume(whose, id, silent()).result;
  const codeOf = (outcome: SubmissionResult) =>
    outcome.kind === 'not-charged' || outcome.kind === 'unknown'
      ? (outcome.error as { code: string }).code
      : undefined;
  const stateOf = (one = submitter) => one.pending.map(({ state }) => state);
  const doubtOf = (finding: ReconcileResult | undefined) =>
    finding?.verdict === 'cannot-tell' ? finding.reason : finding?.verdict;
  const receipt = async () => (await stage.bench.journal.receipts())[0]?.settled;
  /** Leaves a submission whose outcome is not known, after one attempt. */
  const leaveUnknown = async (isCharged = false): Promise<string> => {
    stage.answers = [
      (...answer) => {
        if (isCharged) stage.charge(answer[1]);
        conflict(...answer);
      },
    ];
    // Nothing of what it may have charged shows yet.
    const hidden = stage.runs.splice(0);
    stage.onGet = (request, response) => {
      if (!isCharged || request.url?.includes('/runs') !== true) return false;
      sendJson(response, 200, { data: [], has_more: false }, stage.date);
      return true;
    };
    assert.equal((await submit()).kind, 'unknown');
    stage.onGet = () => false;
    stage.runs.push(...hidden);
    stage.answers = [created];
    return stage.intent.id;
  };
  /** Leaves one that was never sent to its end. */
  const leaveUnsent = async (): Promise<string> => {
    stage.onHead = (_request, response) => void response.writeHead(413).end();
    const outcome = await submit(await stage.bench.draft(300_000));
    assert.equal(outcome.kind, 'not-charged');
    stage.onHead = () => undefined;
    return stage.intent.id;
  };
  const notCharged = async (id: string) => {
    stage.clock.pass(16 * MINUTE);
    await submitter.check(session, id);
    stage.clock.pass(2 * MINUTE + 1000);
    return submitter.check(session, id);
  };

  describe('resume', () => {
    it('checks first, then sends the same Idempotency-Key and bytes', async () => {
      const id = await leaveUnknown();
      stage.gets.length = 0;
      let reads: string[] = [];
      stage.onHead = () => (reads = [...stage.gets]);
      const outcome = await resume(id);
      assert.equal(outcome.kind, 'charged');
      const [one, two] = stage.posts;
      assert.deepEqual([one?.key, two?.key], [id, id]);
      assert.ok(one && two?.body.equals(one.body));
      assert.equal(reads[0], '/runs?limit=100');
      assert.deepEqual([stage.runs.length, submitter.pending], [1, []]);
    });

    it('sends nothing when it finds the run', async () => {
      const id = await leaveUnknown(true);
      const told = new Set<string>();
      submitter.onDidChange(({ state }) => told.add(state));
      const outcome = await resume(id);
      assert.deepEqual([...told], ['checking']);
      assert.ok(outcome.kind === 'charged');
      assert.deepEqual([outcome.run.run_id, outcome.run.price_cents, outcome.found], ['run-1', 100, true]);
      assert.deepEqual([stage.posts.length, stage.runs.length, (await receipt())?.kind], [1, 1, 'charged']);
      assert.equal(session.runs.get('run-1')?.run_id, 'run-1');
    });

    it('asks the user first about runs that could be it and that they did not know of', async () => {
      const id = await leaveUnknown();
      const [post] = stage.posts as [Post];
      stage.charge({ ...post, body: Buffer.from(post.body.toString().replaceAll(`Läbel ${MARKER}`, '')) });
      const first = await resume(id);
      assert.deepEqual([first.kind, codeOf(first), stage.posts.length], ['unknown', 'candidates', 1]);
      assert.deepEqual(stage.intent.lastLook?.candidates, ['run-1']);
      // Now they know.
      assert.equal((await resume(id)).kind, 'charged');
      assert.equal(stage.posts.length, 2);
    });

    it('sends nothing when it cannot check', async () => {
      const id = await leaveUnknown();
      stage.onGet = (_request, response) => Boolean(response.writeHead(500).end());
      assert.equal((await resume(id)).kind, 'unknown');
      assert.deepEqual([stage.posts.length, stateOf()], [1, ['unknown']]);
    });

    for (const [name, passMs, posts] of [
      ['just within', 23 * HOUR - 5000, 2],
      ['at the end of', 23 * HOUR + 5000, 1],
      ['long after', 100 * HOUR, 1],
    ] as const)
      it(`${name} the 23 hours after the first attempt, by the service’s clock`, async () => {
        const id = await leaveUnknown();
        stage.clock.pass(passMs);
        stage.clock.setWall(-50 * HOUR);
        const outcome = await resume(id);
        assert.deepEqual(
          [stage.posts.length, codeOf(outcome)],
          [posts, posts === 2 ? undefined : 'window-closed'],
        );
      });

    it('sends nothing after 23 hours on this machine, though the service’s clock was set back', async () => {
      const id = await leaveUnknown();
      stage.clock.pass(24 * HOUR);
      stage.dateOffsetMs = -20 * HOUR;
      const outcome = await resume(id);
      assert.deepEqual([stage.posts.length, codeOf(outcome)], [1, 'window-closed']);
    });

    it('does not send by a clock that was set while it waited for its turn', async () => {
      const id = await leaveUnknown();
      let release = () => {};
      stage.answers = [(...answer) => void (release = () => created(...answer)), created];
      const other = submit(await stage.bench.draft(10, 'other'));
      await until(() => stage.posts.length === 2);
      stage.clock.pass(22 * HOUR);
      const resumed = resume(id);
      await until(() => submitter.pending.some((one) => one.id === id && one.state === 'queued'));
      stage.clock.pass(3 * HOUR);
      stage.clock.setWall(-10 * HOUR);
      release();
      assert.equal((await other).kind, 'charged');
      const outcome = await resumed;
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['unknown', 'window-closed']);
      assert.deepEqual(stage.posts.filter(({ key }) => key === id).length, 1);
    });

    it('does not send with another API key: it checks', async () => {
      const id = await leaveUnknown();
      const replaced = stage.session('account-1', 'key-2');
      const outcome = await resume(id, replaced);
      assert.deepEqual([outcome.kind, codeOf(outcome), stage.posts.length], ['unknown', 'key-replaced', 1]);
      assert.equal((await resume(id, stage.session())).kind, 'charged');
    });

    it('of what cannot have been charged sends with any API key, whenever, by a fresh balance', async () => {
      const id = await leaveUnsent();
      stage.clock.pass(100 * HOUR);
      stage.balanceCents = 9000;
      stage.answers = [conflict];
      const outcome = await resume(id, stage.session('account-1', 'key-2'));
      assert.deepEqual([outcome.kind, stage.posts.length, stage.posts[0]?.key], ['unknown', 1, id]);
      const { keyId, balanceBefore, attempts } = stage.intent;
      assert.deepEqual([keyId, balanceBefore?.balance_cents], ['key-2', 9000]);
      assert.ok((attempts[1]?.closed?.serviceMs ?? 0) >= stage.clock.serviceMs - 2000);
    });

    it('is dropped where the file is another now, if nothing can have been charged', async () => {
      const id = await leaveUnsent();
      await stage.bench.draft(299_999);
      const outcome = await resume(id);
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['not-charged', 'dataset-changed']);
      assert.deepEqual([submitter.pending, (await receipt())?.kind], [[], 'not-charged']);
    });

    it('sends no byte of a file that was changed and is as long as before, and all of one that was only touched', async () => {
      const draft = await stage.bench.draft(300_000);
      const file = draft.dataset.path;
      const written = (mtimeMs: number) => ({ ...draft, dataset: { ...draft.dataset, mtimeMs } });
      stage.onHead = (_request, response) => void response.writeHead(413).end();
      await submitter.submit(session, written(Number(statSync(file, { bigint: true }).mtimeMs)), silent())
        .result;
      let heads = 0;
      stage.onHead = () => (heads += 1);
      const { id } = stage.intent;
      utimesSync(file, 1, 1);
      assert.equal((await resume(id)).kind, 'charged');
      assert.equal(heads, 1);

      stage.onHead = (_request, response) => void response.writeHead(413).end();
      await submitter.submit(session, written(1000), silent()).result;
      stage.onHead = () => (heads += 1);
      const changed = readFileSync(file);
      changed.write('x');
      writeFileSync(file, changed);
      const outcome = await resume(stage.intent.id);
      assert.deepEqual([outcome.kind, codeOf(outcome), heads], ['not-charged', 'dataset-changed', 1]);
      assert.deepEqual(submitter.pending, []);
    });

    it('never sends for another account or place, nor what is not there', async () => {
      const id = await leaveUnknown();
      const elsewhere = { kind: 'elsewhere' };
      assert.deepEqual(await resume(id, stage.session('account-2')), elsewhere);
      for (const strange of ['no-such-id', '', '../x', '8d5b2f9c-1111-4222-8333-444455556666'])
        assert.deepEqual(await submitter.resume(session, strange, silent()).result, elsewhere);
      assert.equal(await submitter.check(stage.session('account-2'), id), undefined);
      assert.equal(await submitter.adopt(stage.session('account-2'), id, 'run-1'), false);
      assert.deepEqual([stage.posts.length, stateOf()], [1, ['unknown']]);
    });

    it('says not charged, stored, where two checks have said so and it is too late to send', async () => {
      const id = await leaveUnknown();
      stage.clock.pass(30 * HOUR);
      assert.equal((await notCharged(id))?.verdict, 'not-charged');
      const outcome = await resume(id);
      assert.deepEqual(
        [outcome.kind, codeOf(outcome), stage.posts.length],
        ['not-charged', 'window-closed', 1],
      );
      assert.deepEqual(stateOf(), ['not-charged']);
    });

    it('forgets, durably and before the closing boundary leaves, what checks said before', async () => {
      const id = await leaveUnknown();
      await notCharged(id);
      let seen: Intent | undefined;
      stage.answers = [
        (...answer) => {
          seen = stage.intent;
          created(...answer);
        },
      ];
      assert.equal((await resume(id)).kind, 'charged');
      assert.deepEqual(
        [seen?.attempts.length, seen?.firstCleanLook, seen?.lastLook],
        [2, undefined, undefined],
      );
    });

    it('keeps what checks said where the boundary never left: it is still true', async () => {
      const id = await leaveUnknown();
      await notCharged(id);
      stage.onHead = (_request, response) => void response.writeHead(413).end();
      const { path: file, sizeBytes } = stage.intent.dataset;
      writeFileSync(file, 'x'.repeat(sizeBytes));
      const outcome = await resume(id);
      assert.deepEqual([outcome.kind, stateOf(), stage.posts.length], ['not-charged', ['not-charged'], 1]);
    });

    it('never throws, though the lease cannot be taken', async () => {
      for (const [leave, kind] of [
        [leaveUnsent, 'not-charged'],
        [leaveUnknown, 'unknown'],
      ] as const) {
        const id = await leave();
        const lock = path.join(stage.bench.journalFolder, 'leases', `${id}.lock`);
        rmSync(lock, { force: true });
        mkdirSync(lock);
        const outcome = await resume(id);
        assert.deepEqual([outcome.kind, codeOf(outcome)], [kind, 'lease-unavailable']);
        rmSync(lock, { recursive: true });
        await submitter.discard(id);
      }
    });

    it('where no lease can be had, are not another window’s', async () => {
      await leaveUnknown();
      const locks = path.join(stage.bench.journalFolder, 'leases');
      rmSync(locks, { recursive: true });
      mkdirSync(path.join(locks, `${stage.intent.id}.lock`), { recursive: true });
      const { submitter: other } = await stage.otherWindow();
      await other.probe();
      assert.deepEqual(stateOf(other), ['unknown']);
    });

    it('can be cancelled while it checks: nothing is sent', async () => {
      const id = await leaveUnknown();
      const stop = new AbortController();
      stage.onGet = () => {
        stop.abort();
        return false;
      };
      const outcome = await submitter.resume(session, id, stop.signal).result;
      assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError);
      assert.equal(stage.posts.length, 1);
    });
  });

  describe('check', () => {
    it('finds the run, settles with it, and sends nothing', async () => {
      const id = await leaveUnknown(true);
      const finding = await submitter.check(session, id);
      assert.ok(finding?.verdict === 'charged');
      assert.deepEqual([finding.run.run_id, finding.run.price_cents], ['run-1', 100]);
      const settled = await receipt();
      assert.ok(settled?.kind === 'charged');
      assert.deepEqual([settled.how, settled.run.run_id, submitter.pending], ['found', 'run-1', []]);
      assert.equal(stage.posts.length, 1);
    });

    it('says "not charged" after two checks, one of them a quarter of an hour later, and keeps it over a restart', async () => {
      const id = await leaveUnknown();
      assert.equal(doubtOf(await submitter.check(session, id)), 'too-early');
      stage.clock.pass(14 * MINUTE);
      const early = await submitter.check(session, id);
      assert.ok(early?.verdict === 'cannot-tell' && early.againAtMs !== undefined);
      const inMs = early.againAtMs - stage.clock.nowMs();
      assert.ok(inMs > 0 && inMs <= MINUTE + 2000, String(inMs));
      assert.equal((await notCharged(id))?.verdict, 'not-charged');
      const restarted = stage.newSubmitter();
      await restarted.probe();
      assert.deepEqual([stateOf(), stateOf(restarted)], [['not-charged'], ['not-charged']]);
      assert.equal(stage.posts.length, 1);
    });

    it('does not say "not charged" by a service’s clock that was moved: the machine’s own time has to pass as well', async () => {
      const id = await leaveUnknown();
      stage.dateOffsetMs = 16 * MINUTE;
      await submitter.check(session, id);
      stage.dateOffsetMs = 19 * MINUTE;
      stage.clock.pass(20_000);
      assert.equal(doubtOf(await submitter.check(session, id)), 'too-early');
      assert.deepEqual(stateOf(), ['unknown']);
      assert.equal(doubtOf(await notCharged(id)), 'not-charged');
    });

    it('never says so with another API key: it could be another account of the service', async () => {
      const id = await leaveUnknown();
      session = stage.session('account-1', 'key-2');
      assert.equal(doubtOf(await notCharged(id)), 'key-replaced');
      assert.deepEqual(stateOf(), ['unknown']);
      assert.equal(await submitter.discard(id), true);
      assert.equal((await receipt())?.kind, 'discarded');
    });

    it('is one check for two who ask at once', async () => {
      const id = await leaveUnknown();
      stage.gets.length = 0;
      const both = await Promise.all([submitter.check(session, id), submitter.check(session, id)]);
      assert.deepEqual([both[0], stage.gets.length], [both[1], 2]);
    });

    it('ends for the one of them who cancels, and goes on for the other', async () => {
      const id = await leaveUnknown();
      const stop = new AbortController();
      const gate = Promise.withResolvers<undefined>();
      let reads = 0;
      stage.onGet = (request, response) => {
        if (++reads > 1) return false;
        void gate.promise.then(() => {
          stage.onGet = () => false;
          sendJson(response, 200, { data: [], has_more: false }, stage.date);
        });
        return request.method === 'GET';
      };
      const first = submitter.check(session, id);
      await until(() => reads === 1);
      const second = submitter.check(session, id, stop.signal);
      stop.abort();
      await assert.rejects(second, CancelledError);
      gate.resolve(undefined);
      assert.equal(doubtOf(await first), 'too-early');
    });

    it('reads nothing of what cannot have been charged', async () => {
      stage.answers = [tooPoor];
      await submit();
      stage.gets.length = 0;
      assert.deepEqual(await submitter.check(session, stage.intent.id), { verdict: 'not-charged' });
      assert.ok(!stage.gets.some((path) => path.startsWith('/runs')));
    });
  });

  describe('checks by itself', () => {
    it('checks when something new may be seen, for this account alone, and sends nothing', async () => {
      await leaveUnknown();
      const looks = async (one = submitter, whose = session) => {
        stage.gets.length = 0;
        await one.checkDue(whose);
        return stage.gets.filter((read) => read.startsWith('/runs?')).length;
      };
      assert.equal(await looks(), 0);
      stage.clock.pass(20_000);
      assert.equal(await looks(submitter, stage.session('account-2')), 0);
      assert.equal(await looks(), 1);
      stage.clock.pass(2 * MINUTE);
      assert.equal(await looks(), 1);
      stage.clock.pass(MINUTE);
      assert.equal(await looks(), 0);
      // The next day, after a restart: at once, and for the second time two minutes later.
      stage.clock.pass(30 * HOUR);
      const restarted = stage.newSubmitter();
      assert.equal(await looks(restarted), 1);
      assert.deepEqual([await looks(restarted), stateOf(restarted)], [0, ['unknown']]);
      stage.clock.pass(2 * MINUTE + 1000);
      assert.deepEqual([await looks(restarted), stateOf(restarted)], [1, ['not-charged']]);
      stage.clock.pass(HOUR);
      assert.deepEqual([await looks(restarted), stage.posts.length], [0, 1]);
    });

    it('goes on until the service has answered one, however long that takes', async () => {
      await leaveUnknown(true);
      const look = async (passMs: number) => {
        stage.clock.pass(passMs);
        stage.gets.length = 0;
        await submitter.checkDue(session);
        return stage.gets.length > 0;
      };
      stage.onGet = (_request, response) => Boolean(response.destroy());
      assert.deepEqual([await look(3 * MINUTE), await look(MINUTE)], [true, false]);
      assert.deepEqual([await look(9 * HOUR), stateOf()], [true, ['unknown']]);
      stage.onGet = () => false;
      assert.deepEqual([await look(2 * MINUTE), stateOf(), (await receipt())?.kind], [true, [], 'charged']);
    });
  });

  describe('settleMarked', () => {
    it('settles what bears its marker in a label that was read: nothing is asked, and one charge is one row', async () => {
      await leaveUnknown(true);
      await session.runs.refresh();
      await submitter.settleMarked(session);
      assert.deepEqual(stateOf(), ['unknown'], 'the list has no labels');
      await session.runs.loadDetail('run-1');
      stage.gets.length = 0;
      const other = stage.session('account-2');
      await submitter.settleMarked(other);
      assert.deepEqual(stateOf(), ['unknown']);
      await submitter.settleMarked(session);
      assert.deepEqual(stateOf(), []);
      assert.ok(!stage.gets.some((asked) => asked.includes('run-1')));
      const told = await receipt();
      assert.ok(told?.kind === 'charged');
      assert.deepEqual([told.how, told.run.run_id, told.run.price_cents], ['found', 'run-1', 100]);
    });

    it('asks for the run alone where another window has read its label, and never throws', async () => {
      await leaveUnknown(true);
      await session.runs.refresh();
      session.runs.knowLabels([['run-1', `Läbel ${MARKER}`]]);
      stage.onGet = (_request, response) => Boolean(response.destroy());
      await submitter.settleMarked(session);
      assert.deepEqual(stateOf(), ['unknown']);
      stage.onGet = () => false;
      await submitter.settleMarked(session);
      assert.deepEqual(stateOf(), []);
    });
  });

  describe('adopt and discard', () => {
    it('settle with the run that the user recognized, with its price', async () => {
      const id = await leaveUnknown();
      stage.charge(stage.posts[0] as Post);
      await assert.rejects(submitter.adopt(session, id, 'no-such-run'), { code: 'not_found' });
      assert.deepEqual(stateOf(), ['unknown']);
      assert.equal(await submitter.adopt(session, id, 'run-1'), true);
      const settled = await receipt();
      assert.ok(settled?.kind === 'charged');
      assert.deepEqual([settled.how, settled.run.price_cents, submitter.pending], ['recognised', 100, []]);
    });

    it('free the same bytes and model for a new Idempotency-Key, and keep what was given up', async () => {
      const id = await leaveUnknown();
      assert.equal((await submit()).kind, 'open');
      assert.equal(await submitter.discard(id), true);
      assert.deepEqual([submitter.pending, (await receipt())?.kind], [[], 'discarded']);
      assert.equal((await submit()).kind, 'charged');
      assert.notEqual(stage.posts[1]?.key, id);
      assert.equal(await submitter.discard(id), false);
    });

    it('do not give up what may have been charged when the user confirmed that it was not', async () => {
      const id = await leaveUnknown();
      assert.equal(await submitter.discard(id, 'not-charged'), false);
      assert.deepEqual([submitter.pending.map((one) => one.id), await receipt()], [[id], undefined]);
      // Its lock is free again.
      assert.equal(await submitter.discard(id, 'may-be-charged'), true);
    });

    it('settle as not charged what was not: never sent, refused, or found so', async () => {
      const leaveRefused = async () => {
        stage.answers = [tooPoor];
        await submit();
        return stage.intent.id;
      };
      const leaveNotCharged = async () => {
        const id = await leaveUnknown();
        await notCharged(id);
        return id;
      };
      for (const leave of [leaveUnsent, leaveRefused, leaveNotCharged]) {
        const id = await leave();
        assert.equal(await submitter.discard(id), true);
        const settled = (await stage.bench.journal.receipts()).find((one) => one.id === id)?.settled;
        assert.equal(settled?.kind, 'not-charged', leave.name);
      }
    });

    it('are too much for what is being sent', async () => {
      stage.answers = [() => undefined];
      const stop = new AbortController();
      const outcome = submitter.submit(session, await stage.marked(), stop.signal).result;
      await until(() => stage.posts.length === 1);
      const { id } = stage.intent;
      assert.deepEqual(
        [
          await submitter.discard(id),
          await submitter.adopt(session, id, 'run-1'),
          await submitter.check(session, id),
        ],
        [false, false, undefined],
      );
      assert.deepEqual(await resume(id), { kind: 'elsewhere' });
      stop.abort();
      assert.equal((await outcome).kind, 'unknown');
    });
  });
});
