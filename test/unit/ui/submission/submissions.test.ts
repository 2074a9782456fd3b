import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { NetworkError } from '../../../../src/core/api/errors.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { ReconcileResult } from '../../../../src/core/submission/reconciler.ts';
import type { SubmissionResult } from '../../../../src/core/submission/pendingSubmission.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import type { Submitter } from '../../../../src/core/submission/submitter.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';

type Continue = typeof import('../../../../src/ui/submission/continueSubmission.ts').continueSubmission;
type Resolve = typeof import('../../../../src/ui/submission/resolveSubmission.ts').resolveSubmission;

describe('commands of submissions', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let continueSubmission: Continue;
  let resolveSubmission: Resolve;
  let checkSubmission: typeof import('../../../../src/ui/submission/checkSubmission.ts').checkSubmission;
  let discardSubmission: typeof import('../../../../src/ui/submission/discardSubmission.ts').discardSubmission;
  let tellFoundRunsOnce: typeof import('../../../../src/ui/submission/submissionOutcome.ts').tellFoundRunsOnce;
  let cancelSubmission: typeof import('../../../../src/ui/submission/cancelSubmission.ts').cancelSubmission;
  let pending: PendingSubmission[];
  let calls: string[];
  let finding: ReconcileResult | undefined | Error;
  let outcome: SubmissionResult;
  let revealed: string[];

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ continueSubmission } = await import('../../../../src/ui/submission/continueSubmission.ts'));
    ({ resolveSubmission } = await import('../../../../src/ui/submission/resolveSubmission.ts'));
    ({ checkSubmission } = await import('../../../../src/ui/submission/checkSubmission.ts'));
    ({ discardSubmission } = await import('../../../../src/ui/submission/discardSubmission.ts'));
    ({ tellFoundRunsOnce } = await import('../../../../src/ui/submission/submissionOutcome.ts'));
    ({ cancelSubmission } = await import('../../../../src/ui/submission/cancelSubmission.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(() => {
    standIn.forget();
    pending = [];
    calls = [];
    revealed = [];
    finding = { verdict: 'not-charged' };
    outcome = { kind: 'elsewhere' };
  });

  const sessionOf = (id: string, name: string) => ({
    account: { id, kind: 'service', name, baseUrl: 'https://api.test/v1' },
    models: { models: [], nameOf: (modelId: string) => `Model ${modelId}` },
    balance: {
      current: { balance_cents: 500, currency: 'USD' },
      refresh: () => Promise.resolve({ balance_cents: 400, currency: 'USD' }),
    },
  });
  const [active, second] = [sessionOf('account-1', 'Work'), sessionOf('account-2', 'Home')];
  const sessions = {
    active,
    find: (id: string) => [active, second].find(({ account }) => account.id === id),
  } as unknown as Sessions;
  const submitter = {
    get pending() {
      return pending;
    },
    onDidChange: new Emitter<PendingSubmission>().event,
    resume: (_session: unknown, id: string) => {
      calls.push(`resume ${id}`);
      return { id, onProgress: new Emitter<PendingSubmission>().event, result: Promise.resolve(outcome) };
    },
    check: (session: { account: { name: string } }, id: string) => {
      calls.push(`check ${id}${session.account.name === 'Work' ? '' : ` in ${session.account.name}`}`);
      return finding instanceof Error ? Promise.reject(finding) : Promise.resolve(finding);
    },
    adopt: (_session: unknown, id: string, runId: string) => {
      calls.push(`adopt ${id} ${runId}`);
      return Promise.resolve(true);
    },
    discard: (id: string) => {
      calls.push(`discard ${id}`);
      return Promise.resolve(true);
    },
    cancel: () => false,
  } as unknown as Submitter;
  const beActive = (accountId: string) => Promise.resolve(accountId === 'account-1');
  const reveal = (runId: string) => Promise.resolve(void revealed.push(runId));
  const log = { error: () => undefined } as unknown as Parameters<Continue>[4];
  const goOn = (argument?: unknown) =>
    continueSubmission(sessions, submitter, beActive, reveal, log)(argument);
  const resolve = (argument?: unknown) =>
    resolveSubmission(sessions, submitter, reveal, tellFoundRunsOnce(beActive), log)(argument);
  const check = async (argument?: unknown) => {
    await checkSubmission(sessions, submitter, beActive, reveal, tellFoundRunsOnce(beActive))(argument);
    // A button of a toast is not awaited.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const discard = (argument?: unknown) => discardSubmission(sessions, submitter)(argument);

  /** One that may have been charged and was sent an hour ago. */
  const unknown = (id = 'one', ageMs = 60 * 60_000) =>
    pendingOf('unknown', intentOf({ id, attempts: [wholeAttempt(Date.now() - ageMs)] }));
  const press = (...wanted: string[]) =>
    (standIn.told.answer = (buttons) => buttons.find((button) => wanted.includes(button)));
  const rowsOf = (input: number) =>
    (standIn.told.inputs[input]?.items ?? []).filter(({ kind }) => kind === undefined);

  describe('take', () => {
    it('their row or id; without one, that of the account there is to decide about', async () => {
      pending = [unknown(), pendingOf('uploading', intentOf({ id: 'busy' }))];
      pending.push(pendingOf('unsent', intentOf({ id: 'other', accountId: 'account-2' })));
      for (const argument of ['one', { kind: 'submission', id: 'one' }, undefined]) await check(argument);
      assert.deepEqual(calls, ['check one', 'check one', 'check one']);
    });

    it('the one of several that the person picks', async () => {
      pending = [
        unknown(),
        pendingOf('unsent', intentOf({ id: 'two', label: 'Second' })),
        pendingOf('refused', intentOf({ id: 'three' })),
      ];
      standIn.told.pick = () => 'Second';
      press('Discard');
      await discard();
      assert.deepEqual(calls, ['discard two']);
      assert.deepEqual(
        rowsOf(0).map(({ label }) => label),
        ['train.jsonl', 'Second', 'train.jsonl'],
      );
    });

    it('none: and say so, or that it is resolved', async () => {
      for (const command of [goOn, resolve, check, discard]) {
        await command();
        await command('gone');
      }
      assert.deepEqual(
        standIn.told.sentences,
        [1, 2, 3, 4].flatMap(() => [
          'No submission needs your attention.',
          'This submission is already resolved. See Runs.',
        ]),
      );
      assert.deepEqual(calls, []);
    });

    it('none: and say what is open, here, in another window, or in an account that is signed out', async () => {
      pending = [
        pendingOf('validating', intentOf({ id: 'one' }), { attempt: 1 }),
        pendingOf('elsewhere', intentOf({ id: 'two' })),
        pendingOf('unknown', intentOf({ id: 'gone', accountId: 'account-9', attempts: [wholeAttempt(0)] })),
      ];
      const open =
        'Still open: train.jsonl (Uploaded; the service is validating); train.jsonl (Open in another window); train.jsonl in a signed-out account (May be charged · no answer).';
      for (const command of [goOn, check, discard]) await command();
      assert.deepEqual(
        standIn.told.sentences,
        [1, 2, 3].map(() => `There is nothing to do here right now. ${open}`),
      );
      assert.deepEqual(calls, []);
    });

    it('the one of another account, where that need not be active', async () => {
      pending = [
        pendingOf('unknown', intentOf({ id: 'other', accountId: 'account-2', attempts: [wholeAttempt(0)] })),
      ];
      await goOn();
      assert.match(standIn.told.sentences[0] ?? '', /Still open: train\.jsonl in Home \(May be charged/);
      await check();
      assert.deepEqual(calls, ['check other in Home']);
    });

    it('none: and name three that are open, and how many more are', async () => {
      pending = ['1', '2', '3', '4', '5'].map((id) => pendingOf('elsewhere', intentOf({ id })));
      await goOn();
      const one = 'train.jsonl (Open in another window)';
      assert.deepEqual(standIn.told.sentences, [
        `There is nothing to do here right now. Still open: ${one}; ${one}; ${one}; and 2 more.`,
      ]);
    });

    it('one of another account: it is looked for with its own session; only who continues it switches', async () => {
      const other = intentOf({ id: 'other', accountId: 'account-2', attempts: [wholeAttempt(0)] });
      pending = [pendingOf('unknown', other)];
      press('Discard');
      for (const command of [check, resolve, discard]) await command('other');
      assert.deepEqual(calls, ['check other in Home', 'check other in Home', 'discard other']);
      pending = [pendingOf('unsent', { ...other, attempts: [] })];
      await goOn('other');
      assert.equal(calls.length, 3);
    });

    it('none of an account that was signed out: there is nothing to look with', async () => {
      pending = [pendingOf('unknown', intentOf({ id: 'gone', accountId: 'account-3' }))];
      for (const command of [check, resolve]) await command('gone');
      assert.deepEqual(calls, []);
      for (const sentence of standIn.told.sentences) assert.match(sentence, /account that is signed out/);
    });

    it('what they can do nothing about, and say why', async () => {
      pending = [pendingOf('elsewhere', intentOf({ id: 'one' }))];
      for (const command of [goOn, check, discard]) await command('one');
      assert.equal(standIn.told.sentences.length, 3);
      for (const sentence of standIn.told.sentences)
        assert.match(sentence, /^Not possible right now – train\.jsonl: Open in another window\.$/);
      assert.deepEqual(calls, []);
    });
  });

  describe('"Continue…"', () => {
    it('sends the same again only when the person confirms it, who is told what that means', async () => {
      pending = [unknown()];
      await goOn('one');
      assert.deepEqual(calls, []);
      assert.equal(standIn.told.sentences[0], 'Submit train.jsonl to Work and pay?');
      // The first one takes Enter.
      assert.deepEqual(standIn.told.buttons[0], ['Show Submission', 'Submit and Pay']);
      assert.match(
        standIn.told.details[0] ?? '',
        /^You may have been charged\. If you resend within 24 hours, you’re charged at most once\.\n/,
      );
      press('Show Submission');
      await goOn('one');
      assert.deepEqual([calls, standIn.executed], [[], [['fineTuning.resolveSubmission', 'one']]]);
      press('Submit and Pay');
      outcome = { kind: 'charged', run: { run_id: 'r' } };
      await goOn('one');
      assert.deepEqual([calls, revealed], [['resume one'], ['r']]);
      assert.match(standIn.told.sentences.at(-1) ?? '', /^train\.jsonl was submitted and charged\./);
    });

    it('leads through the steps again after a refusal, with the choices of then and without the marker', async () => {
      pending = [
        pendingOf('refused', intentOf({ id: 'one', label: 'My run ft-7k3m9qpx', priority_processing: true })),
      ];
      await goOn('one');
      const [command, uri, , preset] = standIn.executed[0] ?? [];
      assert.deepEqual(
        [command, (uri as { fsPath: string }).fsPath, preset],
        [
          'fineTuning.submitDataset',
          '/data/train.jsonl',
          { modelId: 'qwen3-8b', label: 'My run', priority: true, replaces: 'one' },
        ],
      );
      assert.deepEqual([calls, standIn.told.sentences], [[], []]);
    });

    it('sends nothing again 23 hours after it was first sent', async () => {
      pending = [unknown('one', 23 * 60 * 60_000)];
      press('Submit and Pay');
      await goOn('one');
      assert.deepEqual(calls, []);
      assert.match(standIn.told.sentences[0] ?? '', /^Not possible right now/);
    });
  });

  describe('"Check Now"', () => {
    it('tells a run that was found, with its price and what is left', async () => {
      pending = [unknown()];
      finding = { verdict: 'charged', run: { run_id: 'r', price_cents: 100 } };
      await check('one');
      assert.match(
        standIn.told.sentences[0] ?? '',
        /^train\.jsonl was submitted and charged: its run was found\. Price: 1\.00 USD .* Balance of Work: 4\.00 USD\.$/,
      );
      assert.deepEqual(revealed, ['r']);
    });

    it('tells that nothing was charged, and offers to continue while that can be', async () => {
      pending = [unknown()];
      press('Continue…');
      await check('one');
      assert.match(standIn.told.sentences[0] ?? '', /^train\.jsonl was not charged\./);
      assert.deepEqual(standIn.executed, [['fineTuning.continueSubmission', 'one']]);
      pending = [unknown('late', 24 * 60 * 60_000)];
      await check('late');
      assert.deepEqual(standIn.told.buttons.at(-1), []);
    });

    it('tells what it saw, and why that is not enough', async () => {
      pending = [unknown()];
      finding = { verdict: 'cannot-tell', reason: 'no-marker', candidates: [], atMs: Date.now() };
      press('Show');
      await check('one');
      assert.match(
        standIn.told.sentences[0] ?? '',
        /^Whether train\.jsonl was charged is not known yet\. .*without a marker/,
      );
      assert.deepEqual(standIn.executed, [['fineTuning.resolveSubmission', 'one']]);
    });

    it('tells where another window has it', async () => {
      pending = [unknown()];
      finding = undefined;
      await check('one');
      assert.match(
        standIn.told.sentences[0] ?? '',
        /^Nothing was sent: the submission of train\.jsonl is open in another window or already resolved/,
      );
    });
  });

  describe('"Discard…"', () => {
    it('warns of a charge where there may be one, and only there', async () => {
      pending = [
        unknown(),
        ...(['unsent', 'refused', 'not-charged'] as const).map((state) =>
          pendingOf(state, intentOf({ id: state })),
        ),
      ];
      for (const { id } of pending) await discard(id);
      assert.deepEqual(calls, []);
      assert.match(standIn.told.details[0] ?? '', /^It may have been charged/);
      for (const detail of standIn.told.details.slice(1)) assert.match(detail, /^Nothing was charged\./);
      press('Discard');
      await discard('one');
      assert.deepEqual(calls, ['discard one']);
    });
  });

  describe('"Resolve Submission…"', () => {
    it('looks first where the outcome is not known, and shows what is known and what can be done', async () => {
      pending = [unknown()];
      const run = { run_id: 'r-1', status: 'queued', model_id: 'm', label: 'Mine', price_cents: 100 };
      finding = { verdict: 'cannot-tell', reason: 'candidates', candidates: [run], atMs: Date.now() };
      await resolve('one');
      assert.deepEqual(calls, ['check one']);
      const [sheet] = standIn.told.inputs;
      assert.equal(sheet?.title, 'Submission of train.jsonl');
      assert.match(sheet.placeholder, /^You may have been charged: /);
      const labels = rowsOf(0).map(({ label }) => label.replace(/^\$\([\w-]+\) /, ''));
      assert.deepEqual(labels.slice(0, 5), [
        'Check Now',
        'This is my run: Mine',
        'Continue…',
        'Discard…',
        'Last check',
      ]);
      assert.ok(labels.includes('Why') && labels.includes('Idempotency-Key'));
    });

    it('does not look where nothing can have been charged, and offers only what can be done', async () => {
      const actions = async (submission: PendingSubmission) => {
        standIn.told.inputs.length = 0;
        pending = [submission];
        await resolve(submission.id);
        const labels = rowsOf(0).filter(({ detail }) => detail !== undefined);
        return labels.map(({ label }) => label.replace(/^\$\([\w-]+\) /, ''));
      };
      assert.deepEqual(await actions(pendingOf('unsent')), ['Continue…', 'Discard…']);
      assert.deepEqual(await actions(pendingOf('refused')), ['Continue…', 'Discard…']);
      assert.deepEqual(await actions(pendingOf('uploading')), ['Cancel']);
      assert.deepEqual(await actions(pendingOf('waiting')), ['Cancel']);
      for (const state of ['validating', 'elsewhere'] as const)
        assert.deepEqual(await actions(pendingOf(state)), []);
      assert.deepEqual(calls, []);
      assert.deepEqual(await actions(unknown('late', 24 * 60 * 60_000)), ['Check Now', 'Discard…']);
    });

    it('leads to the command of what is chosen', async () => {
      for (const [answer, command] of [
        ['Continue', 'fineTuning.continueSubmission'],
        ['Discard', 'fineTuning.discardSubmission'],
      ] as const) {
        standIn.forget();
        pending = [pendingOf('unsent', intentOf({ id: 'one' }))];
        standIn.told.pick = () => answer;
        await resolve('one');
        assert.deepEqual(standIn.executed, [[command, 'one']]);
      }
    });

    it('adopts a run that the person recognised and confirmed', async () => {
      pending = [unknown()];
      const run = { run_id: 'r-1', status: 'queued', model_id: 'm', label: 'Mine', price_cents: 100 };
      finding = { verdict: 'cannot-tell', reason: 'candidates', candidates: [run], atMs: Date.now() };
      const answers = ['This is my run', undefined];
      standIn.told.pick = () => answers.shift();
      await resolve('one');
      assert.deepEqual(calls, ['check one', 'check one']);
      assert.match(standIn.told.sentences[0] ?? '', /^Did the submission of train\.jsonl become this run\?$/);
      standIn.told.pick = () => 'This is my run';
      press('This Is My Run');
      await resolve('one');
      assert.equal(calls.at(-1), 'adopt one r-1');
      assert.deepEqual(revealed, ['r-1']);
      assert.match(standIn.told.sentences.at(-1) ?? '', /was submitted and charged: its run was found/);
    });

    it('tells a run that the look found instead of asking', async () => {
      pending = [unknown()];
      finding = { verdict: 'charged', run: { run_id: 'r' } };
      await resolve('one');
      assert.equal(standIn.told.inputs.length, 0);
      assert.match(standIn.told.sentences[0] ?? '', /submitted and charged: its run was found/);
      assert.deepEqual(revealed, ['r']);
    });

    it('shows what is known where the look does not succeed, and why it did not', async () => {
      pending = [unknown()];
      finding = new NetworkError('refused');
      await resolve('one');
      const look = rowsOf(0).find(({ label }) => label.endsWith('Last check'));
      assert.match(look?.description ?? '', /^Nothing answers at the service URL/);
    });
  });

  describe('"Cancel Upload"', () => {
    let cancelled: string[];
    const cancel = (argument?: unknown) =>
      cancelSubmission(sessions, {
        pending,
        cancel: (id: string) => {
          const isLate = pending.every((one) => one.id !== id || one.state !== 'uploading');
          if (!isLate) cancelled.push(id);
          return !isLate;
        },
      } as unknown as Submitter)(argument);

    beforeEach(() => {
      cancelled = [];
      pending = [
        pendingOf('validating', intentOf({ id: 'one' })),
        pendingOf('unsent', intentOf({ id: 'two' })),
        pendingOf('uploading', intentOf({ id: 'three' })),
      ];
    });

    it('says when it is too late, and nothing of a row that is gone', async () => {
      for (const argument of [{ kind: 'submission', id: 'one' }, 'two', 'gone', 'three'])
        await cancel(argument);
      assert.deepEqual(standIn.told.sentences, [
        'train.jsonl is fully uploaded and can no longer be canceled.',
        'Not possible right now – train.jsonl: Not charged · not sent.',
      ]);
      assert.deepEqual(cancelled, ['three']);
    });

    it('without a row asks where it may be meant for one that was just sent whole', async () => {
      await cancel();
      assert.deepEqual(cancelled, []);
      assert.equal(standIn.told.inputs.length, 1);
    });

    it('without a row cancels the only upload, or the one that is picked of several, or says that there is none', async () => {
      pending.shift();
      await cancel();
      assert.deepEqual(cancelled, ['three']);
      assert.equal(standIn.told.inputs.length, 0);
      pending.push(pendingOf('uploading', intentOf({ id: 'four', label: 'Fourth' })));
      standIn.told.pick = () => 'Fourth';
      await cancel();
      assert.deepEqual(cancelled, ['three', 'four']);
      pending = [pendingOf('elsewhere', intentOf({ id: 'six' }))];
      await cancel();
      pending = [];
      await cancel();
      assert.deepEqual(standIn.told.sentences, [
        'There is no upload to cancel. Still open: train.jsonl (Open in another window).',
        'There is no upload to cancel.',
      ]);
    });
  });
});
