import { mock } from 'node:test';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, truncateSync } from 'node:fs';
import { link } from 'node:fs/promises';
import type http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { newIntent, type Intent } from '../../../../src/core/submission/intent.ts';
import type { SubmissionResult, SubmissionState } from '../../../../src/core/submission/pendingSubmission.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { appendVersion, beforeNaming, writeVersion } from '../../../helpers/journalVersions.ts';
import { type Answer, codeOf, conflict, created, lost, Stage, tooPoor } from '../../../helpers/runs/stage.ts';
import { silent, until } from '../../../helpers/runs/support.ts';
import { chargedAt } from '../../../helpers/submissions.ts';

describe('Submissions', () => {
  let stage: Stage;
  beforeEach(async () => void (stage = await Stage.start()));
  afterEach(() => stage.end());
  const draft = (rows = 10, name?: string) => stage.bench.draft(rows, name);
  /** Returns responses that wait until the test releases them. */
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
      assert.ok(receipt?.settled.kind === 'charged');
      assert.deepEqual([receipt.settled.run, receipt.settled.foundBy], [outcome.run, 'answered']);
      assert.deepEqual([receipt.dataset, receipt.consents], [drafted.dataset, drafted.consents]);
      await own.runs.refresh();
      assert.equal(own.runs.rows?.length, 1);
    });

    it('is not charged if the balance is too low; the next submission replaces the stored draft', async () => {
      const sandbox = await stage.bench.sandbox();
      stage.own = stage.bench.session(sandbox);
      sandbox.control.setScenario('insufficient-balance');
      const refused = await stage.submit(await draft());
      assert.deepEqual([codeOf(refused), stage.states()], ['insufficient_balance', ['refused']]);
      assert.ok(refused.kind === 'not-charged' && refused.kept);
      const { id } = stage.intent;
      assert.equal(stage.intent.refused?.code, 'insufficient_balance');
      sandbox.control.setScenario('none');
      stage.clock.pass(1);
      assert.equal((await stage.resume(id)).kind, 'elsewhere');
      assert.equal((await stage.submit(await draft())).kind, 'charged');
      await until(() => stage.submissions.pending.length === 0);
      const receipts = await stage.bench.journal.receipts();
      assert.equal(receipts.find((one) => one.id === id)?.settled.kind, 'not-charged');
      assert.deepEqual((await stage.receipts()).sort(), ['charged', 'not-charged']);
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
      assert.ok(outcome.kind === 'charged' && receipt?.settled.kind === 'charged');
      for (const { price_cents, balance_after_cents, currency } of [outcome.run, receipt.settled.run])
        assert.deepEqual([price_cents, balance_after_cents, currency], [undefined, undefined, 'EUR']);
    });

  it('says nothing of money if it fails in an unexpected way: its record says what was', async () => {
    mock.method(stage.own.runs, 'insertCreated', () => {
      throw new TypeError('a defect');
    });
    assert.deepEqual(await stage.submit(), { kind: 'elsewhere' });
    assert.deepEqual(await stage.receipts(), ['charged']);
  });

  describe('if what sends cannot be loaded', () => {
    const failure = new Error('no such file');
    /** Returns submissions whose first `times` attempts to load what sends fail. */
    const submissionsThatFailToLoad = (times = Infinity) => {
      const load = () =>
        times-- > 0 ? Promise.reject(failure) : import('../../../../src/core/submission/openSubmission.ts');
      return new Submissions(stage.bench.journal, { clock: stage.clock, random: () => 0.5 }, load);
    };

    it('is not charged and stays pending', async () => {
      const one = submissionsThatFailToLoad();
      const fresh = await one.submit(stage.own, await stage.marked(), silent()).result;
      assert.deepEqual(fresh, { kind: 'not-charged', error: failure, kept: false });
      stage.answers = [tooPoor];
      await stage.submit();
      const again = await one.resume(stage.own, stage.intent.id, silent()).result;
      assert.deepEqual(again, { kind: 'not-charged', error: failure, kept: true });
      one.dispose();
    });

    it('nothing is said of a draft that another process left', async () => {
      const draft = newIntent(stage.own.account, await stage.bench.draft(), { localMs: stage.clock.nowMs() });
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
      const again = await one.resume(stage.own, stage.intent.id, silent()).result;
      assert.deepEqual(again, { kind: 'unknown', error: failure });
      stage.own.quota.open(false);
      stage.clock.pass(10_000);
      await one.probe();
      await one.checkDue(stage.own);
      await one.settleMarked(stage.own);
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
      const { id } = stage.intent;
      const again = await stage.bench.draft(10, 'train.jsonl', { label: 'x', priority_processing: true });
      assert.deepEqual(await stage.submit(again), { kind: 'open', id });
      assert.deepEqual([stage.posts.length, stage.states()], [5, ['unknown']]);

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

    it('shows the other submission if its window has withdrawn this one before it began', async () => {
      const folder = () => stage.bench.journalFolder;
      const other = randomUUID();
      await stage.end();
      stage = await Stage.start({
        link: beforeNaming((text) => {
          const mine = JSON.parse(text) as Intent;
          if (mine.id === other || mine.attempts.length === 0 || mine.settled !== undefined) return;
          const attempts = [{ started: { localMs: 1 } }];
          writeVersion(folder(), 1, { ...mine, id: other, created: { localMs: 1 }, attempts });
          const settled = { kind: 'withdrawn', at: { localMs: 1 } } as const;
          writeVersion(folder(), 2, { ...mine, attempts: [], settled });
        }),
      });
      assert.deepEqual(await stage.submit(), { kind: 'open', id: other });
      assert.equal(stage.posts.length, 0);
    });

    it('is not “not charged” if another window continued it before this one listed the folder', async () => {
      await stage.end();
      stage = await Stage.start({
        link: async (from, to) => {
          await link(from, to);
          const mine = JSON.parse(readFileSync(to, 'utf8')) as Intent;
          if (to.endsWith('.1.json'))
            writeVersion(stage.bench.journalFolder, 2, { ...mine, attempts: [{ started: { localMs: 1 } }] });
        },
      });
      assert.deepEqual(await stage.submit(), { kind: 'elsewhere' });
      assert.equal(stage.posts.length, 0);
    });

    it('is not continued beside another one that has begun or was charged, though its window was killed before it saw it', async () => {
      for (const isCharged of [false, true]) {
        await stage.end();
        stage = await Stage.start();
        const { journal, journalFolder } = stage.bench;
        stage.answers = [lost];
        await stage.submit();
        const rival = stage.intent;
        const left = {
          ...rival,
          id: randomUUID(),
          attempts: [],
          created: { localMs: rival.created.localMs + 1 },
        };
        writeVersion(journalFolder, 1, left);
        if (isCharged)
          appendVersion(journalFolder, rival.id, (intent) => chargedAt(intent, stage.clock.nowMs() + 2));
        await journal.reload();
        await until(() =>
          stage.submissions.pending.some(({ id, state }) => id === left.id && state === 'stopped'),
        );
        const sent = stage.posts.length;
        const outcome = await stage.resume(left.id);
        if (isCharged) assert.equal(codeOf(outcome), 'submitted-meanwhile');
        else assert.deepEqual(outcome, { kind: 'open', id: rival.id });
        assert.equal(stage.posts.length, sent);
      }
    });

    it('stays a draft if it can’t be decided now whether it may be continued', async () => {
      stage.answers = [lost];
      await stage.submit();
      const draft = { ...stage.intent, id: randomUUID(), attempts: [] };
      const later = { ...stage.intent, id: randomUUID(), version: 2 } as unknown as Intent;
      await stage.end();
      stage = await Stage.start();
      for (const record of [
        { ...draft, origin: stage.url },
        { ...later, origin: stage.url },
      ])
        writeVersion(stage.bench.journalFolder, 1, record);
      await stage.bench.journal.open();
      await until(() => stage.states()[0] === 'stopped');
      const outcome = await stage.resume(draft.id);
      assert.ok(outcome.kind === 'not-charged' && outcome.kept);
      assert.equal(codeOf(outcome), 'later-version');
      assert.deepEqual([stage.states(), stage.posts.length], [['unsent'], 0]);
    });

    it('can be submitted with another model, other bytes, an account that agreed, or after a charge', async () => {
      stage.answers = [lost];
      await stage.submit();
      stage.answers = [created];
      const drafted = await draft();
      const other = stage.session('account-2');
      const { id } = stage.intent;
      assert.deepEqual(await stage.submit(drafted, other), { kind: 'open', id });
      for (const [whose, changes] of [
        [stage.own, { model_id: 'another' }],
        [stage.own, await draft(10, 'another')],
        [other, {}],
        [other, {}],
      ] as const) {
        const open = stage.submissions.pending.map((one) => one.id);
        const { result } = stage.submissions.submit(whose, { ...drafted, ...changes }, silent(), {
          duplicates: open,
        });
        assert.equal((await result).kind, 'charged');
      }
    });

    it('are not matched with a run that belongs to another account’s receipt', async () => {
      stage.answers = [
        (one, post, _request, response) => {
          one.charge(post);
          body(response, 200, '<html>Welcome</html>');
        },
        created,
      ];
      await stage.submit(await draft());
      const { id } = stage.intent;
      const other = stage.session('account-2');
      const beside = stage.submissions.submit(other, await draft(), silent(), { duplicates: [id] });
      assert.equal((await beside.result).kind, 'charged');
      await stage.submissions.check(stage.own, id);
      assert.deepEqual(stage.intent.lastCheck?.candidates, ['run-1']);
    });

    it('leave another account’s refused draft alone', async () => {
      stage.answers = [tooPoor, created];
      await stage.submit(await draft());
      assert.equal((await stage.submit(await draft(), stage.session('account-2'))).kind, 'charged');
      await stage.submissions.probe();
      assert.deepEqual([stage.states(), stage.intent.accountId], [['refused'], 'account-1']);
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
        assert.deepEqual([outcome.kept, stage.posts.length, stage.states()], [false, 0, []]);
        assert.deepEqual(cancelled, by === 'id' ? [true] : []);
        if (rows > 10) assert.deepEqual(await stage.receipts(), ['not-charged']);
      });

    it('may be too late at the last byte or during pricing; nothing is resent', async () => {
      let stop = new AbortController();
      stage.submissions.onDidChange(({ state, intent }) => {
        if (state === 'validating' && intent.dataset.filename === 'one') stop.abort();
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
      assert.deepEqual(stage.states(), ['unknown', 'unknown']);
      assert.ok(stage.posts.length <= 2);
    });

    it('during pricing reports a charge that was made', async () => {
      const stop = new AbortController();
      stage.answers = [
        (one, post) => {
          one.charge(post);
          stop.abort();
        },
      ];
      const outcome = await stage.submit(await stage.marked(), stage.own, stop.signal);
      assert.deepEqual([outcome.kind, stage.states()], ['charged', []]);
    });

    it('by ID changes nothing during pricing or after the response', async () => {
      const [held, answer] = holding();
      stage.answers = [answer];
      const stop = new AbortController();
      const outcome = stage.submit(await draft(), stage.own, stop.signal);
      await until(() => held.length === 1);
      const { id } = stage.intent;
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
    assert.ok(two.kind === 'not-charged' && two.kept);
    const restarted = stage.newSubmissions();
    await restarted.probe();
    assert.deepEqual(stage.states(restarted), ['unknown', 'unsent']);
  });

  it('still stores a refusal when the window closes', async () => {
    stage.answers = [tooPoor];
    const { journal } = stage.bench;
    journal.onDidChange(() => {
      if (journal.intents[0]?.attempts[0]?.ended !== undefined) stage.submissions.dispose();
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

  it('charges nothing if the file shrank or is gone, and continues with the next one', async () => {
    const shrinks = await draft(200_000, 'shrinks');
    let changed = false;
    stage.submissions.onDidChange(({ state, sentBytes }) => {
      if (state !== 'uploading' || sentBytes === 0 || changed) return;
      changed = true;
      truncateSync(shrinks.dataset.path, 10);
    });
    const gone = await draft(10, 'gone');
    gone.dataset.path += '.no';
    for (const one of [shrinks, gone]) {
      const outcome = await stage.submit(one);
      assert.deepEqual([outcome.kind, codeOf(outcome)], ['not-charged', 'dataset-changed']);
    }
    assert.deepEqual([stage.posts.length, stage.states()], [0, []]);
    assert.equal((await stage.submit(await draft())).kind, 'charged');
  });

  it('leaves a submission open, not charged, without an API key or a connection', async () => {
    const keyless = stage.bench.session(() => Promise.resolve(undefined));
    const nowhere = stage.bench.session({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', keyId: 'key-1' });
    const one = await stage.submit(await draft(10, 'a'), keyless);
    const attempts = new Set<number>();
    stage.submissions.onDidChange(({ attempt, state }) => state === 'waiting' && attempts.add(attempt));
    const two = await stage.submit(await draft(10, 'b'), nowhere);
    assert.deepEqual([one.kind, codeOf(one), two.kind], ['not-charged', 'key-missing', 'not-charged']);
    assert.deepEqual([stage.states(), stage.clock.sleeps.length], [['unsent', 'unsent'], 4]);
    // Not even the first attempt started.
    assert.deepEqual([...attempts], [0]);
  });

  describe('two windows', () => {
    it('that resume at the same time resend once', async () => {
      stage.answers = [conflict, created];
      await stage.submit();
      const { id } = stage.intent;
      const { submissions: other } = await stage.otherWindow();
      const outcomes = await Promise.all([
        stage.resume(id),
        other.resume(stage.session(), id, silent()).result,
        stage.resume(id),
      ]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['charged', 'elsewhere', 'elsewhere']);
      assert.deepEqual([stage.posts.length, stage.runs.length], [2, 1]);
    });
  });

  describe('a notice of a charge', () => {
    it('is there for other windows until the user saw the charge, also of a further run', async () => {
      const outcome = await stage.submit();
      assert.ok(outcome.kind === 'charged');
      const { journal } = await stage.otherWindow();
      const [unreported, ...more] = await journal.unreported();
      assert.ok(unreported?.settled.kind === 'charged');
      assert.deepEqual([unreported.settled.run, more], [outcome.run, []]);
      const { settled } = unreported;
      const twice = await journal.addCharge(unreported.id, { ...settled, run: { run_id: 'another' } });
      await stage.bench.journal.setShown(unreported);
      assert.deepEqual(await journal.unreported(), [twice]);
      await stage.bench.journal.setShown(twice!);
      assert.deepEqual(await journal.unreported(), []);
    });

    it('is reported by one window at a time', async () => {
      const { journal } = await stage.otherWindow();
      const end = Promise.withResolvers<string>();
      const reports = [journal, stage.bench.journal].map((each) => each.reportAlone(() => end.promise));
      // The one that is refused ends first.
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
        if (text.includes('"settled"')) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      }),
    });
    const outcome = await stage.submit();
    assert.deepEqual([outcome.kind, stage.submissions.pending], ['charged', []]);
    const { submissions: other } = await stage.otherWindow();
    await until(() => stage.states(other)[0] === 'unknown');
    const found = await other.check(stage.session(), stage.intent.id);
    assert.deepEqual([found?.verdict, stage.posts.length], ['charged', 1]);
  });
});
