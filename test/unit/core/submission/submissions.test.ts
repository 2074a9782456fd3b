import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { SubmissionResult, SubmissionState } from '../../../../src/core/submission/pendingSubmission.ts';
import { isCharged, newSubmission } from '../../../../src/core/submission/submission.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { beforeNaming, writeVersion } from '../../../helpers/journalVersions.ts';
import { type Answer, codeOf, created, diskFull, lost, Stage, tooPoor } from '../../../helpers/runs/stage.ts';
import { silent, until } from '../../../helpers/runs/support.ts';

describe('Submissions', () => {
  let stage: Stage;
  beforeEach(async () => void (stage = await Stage.start()));
  afterEach(() => stage.end());
  const draft = (rows = 10, name?: string) => stage.bench.draft(rows, name);
  /** Makes responses wait until the test releases them. */
  const holding = (): [held: (() => void)[], answer: Answer] => {
    const held: (() => void)[] = [];
    return [held, (...answer) => void held.push(() => created(...answer))];
  };
  const body = (response: http.ServerResponse, status: number, text: string) =>
    void response.writeHead(status).end(text);

  describe('with the sandbox', () => {
    it('charges once, updates runs and balance, and stores a receipt', async () => {
      stage.own = stage.bench.session(await stage.bench.sandbox());
      const { own, submissions } = stage;
      const seen: SubmissionState[] = [];
      submissions.onDidChange(({ state }) => seen.at(-1) !== state && seen.push(state));
      const drafted = await draft();
      const outcome = await stage.submit(drafted);
      assert.ok(outcome.kind === 'charged');
      const { run_id, balance_after_cents, price_cents } = outcome.run;
      assert.equal(balance_after_cents, 100_000 - (price_cents ?? 0));
      assert.equal(own.balance.current?.balance_cents, balance_after_cents);
      assert.deepEqual([own.runs.get(run_id)?.model_id, own.runs.label(run_id)], ['qwen3-8b', 'Läbel']);
      assert.deepEqual([seen, submissions.pending], [['uploading', 'validating'], []]);
      const [receipt] = await stage.bench.journal.receipts();
      assert.ok(receipt !== undefined && isCharged(receipt));
      assert.deepEqual([receipt.charge.run, receipt.charge.foundBy], [outcome.run, 'answered']);
      assert.deepEqual([receipt.dataset, receipt.consents], [drafted.dataset, drafted.consents]);
      await own.runs.refresh();
      assert.equal(own.runs.rows?.length, 1);
    });

    it('is not charged if the balance is too low; it has no row once the same is submitted again', async () => {
      const sandbox = await stage.bench.sandbox();
      stage.own = stage.bench.session(sandbox);
      sandbox.control.setScenario('insufficient-balance');
      const refused = await stage.submit(await draft());
      assert.deepEqual([codeOf(refused), stage.states()], ['insufficient_balance', ['refused']]);
      assert.ok(refused.kind === 'not-charged' && refused.isKept);
      const { id } = stage.submission;
      assert.equal(stage.submission.end?.code, 'insufficient_balance');
      sandbox.control.setScenario('none');
      stage.clock.pass(1);
      assert.equal((await stage.resume(id)).kind, 'elsewhere');
      assert.equal((await stage.submit(await draft())).kind, 'charged');
      await until(() => stage.submissions.pending.length === 0);
      const record = stage.bench.journal.latest.find((one) => one.id === id);
      assert.deepEqual([record?.reason, await stage.receipts()], ['refused', ['charged']]);
      await stage.own.runs.refresh();
      assert.equal(stage.own.runs.rows?.length, 1);
    });
  });

  it('reports a charge after any 2xx with a run_id', async () => {
    stage.answers = [(...[, , , response]) => sendJson(response, 200, { run_id: 'r', price_cents: 'x' })];
    const outcome = await stage.submit(await draft());
    assert.ok(outcome.kind === 'charged');
    assert.deepEqual([outcome.run.run_id, outcome.run.price_cents], ['r', undefined]);
    assert.equal(stage.own.runs.get('r')?.status, 'queued');
    await until(() => stage.own.balance.current?.balance_cents === 5000);
  });

  for (const [price, after] of [
    ['1e999', '-1e999'],
    ['1e300', '1e300'],
    ['-100', '-1e300'],
    ['99.5', 'null'],
  ] as const)
    it(`stores a receipt of a charge with a price of ${price}, as not provided`, async () => {
      const answer = `{"run_id":"r","price_cents":${price},"balance_after_cents":${after},"currency":" eur "}`;
      stage.answers = [(...[, , , response]) => body(response, 201, answer)];
      const outcome = await stage.submit(await draft());
      const [receipt] = await stage.bench.journal.receipts();
      assert.ok(outcome.kind === 'charged' && receipt !== undefined && isCharged(receipt));
      for (const { price_cents, balance_after_cents, currency } of [outcome.run, receipt.charge.run])
        assert.deepEqual([price_cents, balance_after_cents, currency], [undefined, undefined, 'EUR']);
    });

  it('after an unexpected error, says what the record says about money', async () => {
    mock.method(stage.own.runs, 'insertCreated', () => {
      throw new TypeError('a defect');
    });
    assert.deepEqual(await stage.submit(), { kind: 'elsewhere' });
    assert.deepEqual(await stage.receipts(), ['charged']);
  });

  describe('if the module that sends can’t be loaded', () => {
    const failure = new Error('no such file');
    /** Returns submissions that fail to load the module the first `times` times. */
    const submissionsThatFailToLoad = (times = Infinity) => {
      const load = () =>
        times-- > 0 ? Promise.reject(failure) : import('../../../../src/core/submission/openSubmission.ts');
      return new Submissions(stage.bench.journal, { clock: stage.clock, random: () => 0.5 }, load);
    };

    it('is not charged and stays pending', async () => {
      const one = submissionsThatFailToLoad();
      const fresh = await one.submit(stage.own, await stage.marked(), silent(), []).result;
      assert.deepEqual(fresh, { kind: 'not-charged', error: failure, isKept: false });
      stage.answers = [tooPoor];
      await stage.submit();
      const again = await one.resume(stage.own, stage.submission.id, silent()).result;
      assert.deepEqual(again, { kind: 'not-charged', error: failure, isKept: true });
      one.dispose();
    });

    it('a draft that another process left stays unanswered', async () => {
      const chosen = { id: randomUUID(), ...(await stage.bench.draft()) };
      const draft = newSubmission(
        stage.own.account,
        chosen,
        { keyId: 'key-1' },
        { localMs: stage.clock.nowMs() },
      );
      writeVersion(stage.bench.journalFolder, 1, draft);
      await stage.bench.journal.reload();
      const one = submissionsThatFailToLoad();
      const outcome = await one.resume(stage.own, draft.id, silent()).result;
      assert.deepEqual(outcome, { kind: 'unanswered', error: failure });
      one.dispose();
    });

    it('an unknown submission stays unknown, and is checked once it loads', async () => {
      stage.answers = [lost];
      assert.equal((await stage.submit()).kind, 'unknown');
      const one = submissionsThatFailToLoad(2);
      const again = await one.resume(stage.own, stage.submission.id, silent()).result;
      assert.deepEqual(again, { kind: 'unknown', error: failure });
      stage.clock.pass(10_000);
      await one.probe();
      await one.checkDue(stage.own);
      await one.linkMarked(stage.own);
      const before = stage.gets.length;
      await one.checkDue(stage.own);
      assert.ok(stage.gets.length > before);
      one.dispose();
    });
  });

  describe('the same bytes and model', () => {
    it('sends nothing if an unresolved, active, or unsent submission is open', async () => {
      stage.answers = [lost];
      await stage.submit();
      const { id } = stage.submission;
      const again = await stage.bench.draft(10, 'train.jsonl', { label: 'x', priority_processing: true });
      assert.deepEqual(await stage.submit(again), { kind: 'open', id });
      assert.deepEqual([stage.posts.length, stage.states()], [5, ['sent']]);

      const [held, answer] = holding();
      stage.answers = [answer];
      const first = stage.submit(await draft(10, 'other'));
      await until(() => held.length === 1);
      assert.equal((await stage.submit(await draft(10, 'other'))).kind, 'open');
      held[0]?.();
      assert.equal((await first).kind, 'charged');

      stage.onHead = (_request, response) => body(response, 413, '');
      const big = await draft(300_000, 'big');
      assert.equal((await stage.submit(big)).kind, 'not-charged');
      stage.onHead = () => undefined;
      assert.equal((await stage.submit(big)).kind, 'open');
    });

    for (const [name, answer] of [
      ['open', lost],
      ['charged', created],
    ] as const)
      it(`leads to the submission of the window that was first: ${name}`, async () => {
        const drafted = await draft();
        const told = await stage.told(drafted);
        stage.answers = [answer];
        await stage.submit(drafted);
        const sent = stage.posts.length;
        const { submissions } = await stage.otherWindow();
        const outcome = await submissions.submit(stage.session(), drafted, silent(), told).result;
        const [first] = await stage.bench.journal.records();
        assert.deepEqual(outcome, { kind: 'open', id: first?.id });
        assert.equal(stage.posts.length, sent);
      });

    it('can be submitted with another model, other bytes, by another account, or after a charge', async () => {
      stage.answers = [lost];
      await stage.submit();
      stage.answers = [created];
      const drafted = await draft();
      const other = stage.session('account-2');
      for (const [whose, changes] of [
        [stage.own, { model_id: 'another' }],
        [stage.own, await draft(10, 'another')],
        [other, {}],
        [other, {}],
      ] as const)
        assert.equal((await stage.submit({ ...drafted, ...changes }, whose)).kind, 'charged');
    });

    it('aren’t matched with a run that belongs to another account’s receipt', async () => {
      stage.answers = [
        (one, post, _request, response) => {
          one.charge(post);
          body(response, 200, '<html>Welcome</html>');
        },
        created,
      ];
      await stage.submit(await draft());
      const { id } = stage.submission;
      const other = stage.session('account-2');
      assert.equal((await stage.submit(await draft(), other)).kind, 'charged');
      await stage.submissions.check(stage.own, id);
      assert.deepEqual(stage.submission.lastCheck?.candidates, ['run-1']);
    });
  });

  describe('canceling', () => {
    for (const [name, rows, atBytes, by] of [
      ['before the start', 10, undefined, 'signal'],
      ['by its ID as soon as it is shown', 10, 0, 'id'],
      ['by its signal before the last byte', 500_000, 1_000_000, 'signal'],
      ['by its ID before the last byte', 500_000, 1_000_000, 'id'],
    ] as const)
      it(`${name} means not charged: the service never gets all bytes`, async () => {
        const stop = new AbortController();
        if (atBytes === undefined) stop.abort();
        const cancelled: boolean[] = [];
        stage.submissions.onDidChange(({ id, sentBytes }) => {
          if (atBytes === undefined || sentBytes < atBytes || cancelled.length > 0) return;
          if (by === 'signal') stop.abort();
          else cancelled.push(stage.submissions.cancel(id));
        });
        const outcome = await stage.submit(await draft(rows), stage.own, stop.signal);
        assert.ok(outcome.kind === 'not-charged' && outcome.error instanceof CancelledError);
        assert.deepEqual([outcome.isKept, stage.posts.length, stage.states()], [false, 0, []]);
        assert.deepEqual(cancelled, by === 'id' ? [true] : []);
        if (rows > 10) assert.deepEqual(await stage.receipts(), ['not-charged']);
      });

    it('may be too late at the last byte or during pricing; nothing is resent', async () => {
      let stop = new AbortController();
      stage.submissions.onDidChange(({ state, submission }) => {
        if (state === 'validating' && submission.dataset.filename === 'one') stop.abort();
      });
      for (const [name, answer] of [
        ['one', lost],
        ['two', () => stop.abort()],
      ] as [string, Answer][]) {
        stage.answers = [answer, created];
        stop = new AbortController();
        const outcome = await stage.submit(
          await stage.marked(`ft-00000${name}`, name),
          stage.own,
          stop.signal,
        );
        assert.ok(outcome.kind === 'unknown' && outcome.error instanceof CancelledError, name);
      }
      assert.deepEqual(stage.states(), ['sent', 'sent']);
      assert.ok(stage.posts.length <= 2);
    });

    it('by ID changes nothing during pricing or after the response', async () => {
      const [held, answer] = holding();
      stage.answers = [answer];
      const stop = new AbortController();
      const outcome = stage.submit(await draft(), stage.own, stop.signal);
      await until(() => held.length === 1);
      const { id } = stage.submission;
      const { submissions } = stage;
      assert.deepEqual(
        [stage.states(), submissions.cancel(id), submissions.cancel('nobody')],
        [['validating'], false, false],
      );
      held[0]?.();
      assert.equal((await outcome).kind, 'charged');
      stop.abort();
      assert.deepEqual([submissions.cancel(id), stage.states()], [false, []]);
      assert.deepEqual(await stage.receipts(), ['charged']);
    });

    it('a queued submission ends it at once; the next one is sent', async () => {
      const [held, answer] = holding();
      stage.answers = [answer];
      const { submissions } = stage;
      const drafts = await Promise.all(['a', 'b', 'c'].map((name) => draft(10, name)));
      const ends: Promise<SubmissionResult>[] = [];
      for (const [index, drafted] of drafts.entries()) {
        stage.clock.pass(1);
        ends.push(stage.submit(drafted));
        await until(() => submissions.pending.length === index + 1);
      }
      await until(() => held.length === 1);
      assert.deepEqual(stage.states(), ['validating', 'queued', 'queued']);
      const seen: [id: string, state: SubmissionState, attempt: number][] = [];
      submissions.onDidChange(({ id, state, attempt }) => void seen.push([id, state, attempt]));
      const [, second, third] = submissions.pending;
      assert.equal(submissions.cancel(second?.id ?? ''), true);
      assert.equal((await ends[1])?.kind, 'not-charged');
      held[0]?.();
      assert.equal((await ends[0])?.kind, 'charged');
      await until(() => held.length === 2);
      // It leaves the queue before its first attempt starts.
      assert.ok(
        seen.some(([id, state, attempt]) => id === third?.id && state === 'uploading' && attempt === 0),
      );
      held[1]?.();
      assert.equal((await ends[2])?.kind, 'charged');
      assert.equal(stage.posts[1]?.key, third?.id);
    });
  });

  it('ends the upload and never sends the queued one when the window closes; both stay open', async () => {
    stage.answers = [() => undefined];
    const first = stage.submit(await draft(10, 'a'));
    await until(() => stage.posts.length === 1);
    stage.clock.pass(1);
    const second = stage.submit(await draft(10, 'b'));
    await until(() => stage.submissions.pending.length === 2);
    stage.submissions.dispose();
    const [one, two] = [await first, await second];
    assert.deepEqual([one.kind, two.kind, stage.posts.length], ['unknown', 'not-charged', 1]);
    assert.ok(two.kind === 'not-charged' && two.isKept);
    const restarted = stage.newSubmissions();
    await restarted.probe();
    assert.deepEqual(stage.states(restarted), ['sent', 'draft']);
  });

  it('still stores a refusal when the window closes', async () => {
    stage.answers = [tooPoor];
    const { journal } = stage.bench;
    journal.onDidChange(() => {
      if (journal.submissions[0]?.attempts[0]?.ended !== undefined) stage.submissions.dispose();
    });
    assert.equal((await stage.submit(await draft())).kind, 'not-charged');
    const restarted = stage.newSubmissions();
    await restarted.probe();
    assert.deepEqual(stage.states(restarted), ['refused']);
  });

  it('uploads one at a time, each with the API key of its account', async () => {
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
    const [one, two] = [stage.session('one'), stage.session('two')];
    const ends: Promise<SubmissionResult>[] = [];
    for (const [index, whose] of [one, two, one, two].entries())
      ends.push(stage.submit(await draft(10, String(index)), whose));
    for (const end of ends) assert.equal((await end).kind, 'charged');
    assert.equal(most, 1);
    assert.deepEqual(
      stage.posts.map(({ authorization }) => authorization).sort(),
      ['one', 'one', 'two', 'two'].map((id) => `Bearer service_${id}_key-1`),
    );
  });

  it('charges nothing if the file is gone, and continues with the next one', async () => {
    const gone = await draft(10, 'gone');
    gone.dataset.path += '.no';
    const outcome = await stage.submit(gone);
    assert.deepEqual([outcome.kind, codeOf(outcome), stage.states()], ['not-charged', 'dataset-changed', []]);
    assert.deepEqual([(await stage.submit(await draft())).kind, stage.posts.length], ['charged', 1]);
  });

  it('creates nothing without an API key; without a connection, leaves it open, not charged', async () => {
    const keyless = stage.bench.session(() => Promise.resolve(undefined));
    const nowhere = stage.bench.session({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', keyId: 'key-1' });
    const one = await stage.submit(await draft(10, 'a'), keyless);
    const attempts = new Set<number>();
    stage.submissions.onDidChange(({ attempt, state }) => state === 'waiting' && attempts.add(attempt));
    const two = await stage.submit(await draft(10, 'b'), nowhere);
    assert.deepEqual([one.kind, codeOf(one), two.kind], ['not-charged', 'key-missing', 'not-charged']);
    assert.deepEqual([stage.states(), stage.clock.sleeps.length], [['draft'], 4]);
    // Not even the first attempt started.
    assert.deepEqual([...attempts], [0]);
  });

  describe('a notice of a charge', () => {
    it('stays for other windows until the user saw the charge, also that of a further run', async () => {
      const outcome = await stage.submit();
      assert.ok(outcome.kind === 'charged');
      const { journal } = await stage.otherWindow();
      const [unreported, ...more] = await journal.unreported();
      assert.ok(unreported !== undefined);
      assert.deepEqual([unreported.charge.run, more], [outcome.run, []]);

      const twice = await journal.addCharge(unreported.id, {
        ...unreported.charge,
        run: { run_id: 'another' },
      });
      await stage.bench.journal.setShown(unreported);
      assert.deepEqual(await journal.unreported(), [twice]);
      await stage.bench.journal.setShown(twice!);
      assert.deepEqual(await journal.unreported(), []);
    });

    it('is reported by one window at a time', async () => {
      const { journal } = await stage.otherWindow();
      const end = Promise.withResolvers<string>();
      const reports = [journal, stage.bench.journal].map((each) => each.reportAlone(() => end.promise));
      // The window that doesn't report ends first.
      await Promise.race(reports);
      end.resolve('done');
      assert.deepEqual((await Promise.all(reports)).sort(), ['done', undefined]);
      assert.equal(await stage.bench.journal.reportAlone(() => delay(1, 'done')), 'done');
    });
  });

  it('reports a charge that cannot be stored, and finds it after a restart without sending', async () => {
    await stage.end();
    stage = await Stage.start({
      link: beforeNaming((text) => {
        if (text.includes('"charged"')) throw diskFull();
      }),
    });
    const outcome = await stage.submit();
    assert.deepEqual([outcome.kind, stage.states()], ['charged', ['sent']]);
    const { submissions: other } = await stage.otherWindow();
    await until(() => stage.states(other)[0] === 'sent');
    const found = await other.check(stage.session(), stage.submission.id);
    assert.deepEqual([found?.verdict, stage.posts.length], ['charged', 1]);
  });
});
