import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { NetworkError } from '../../../../src/core/api/errors.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { KnownSubmissions } from '../../../../src/core/submission/journal.ts';
import type {
  Discarded,
  CheckResult,
  PendingSubmission,
  SubmissionResult,
} from '../../../../src/core/submission/pendingSubmission.ts';
import type { Submission, Receipt } from '../../../../src/core/submission/submission.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { golden } from '../../../helpers/golden.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { servicesOf, sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import {
  chargedAt,
  submissionOf as anySubmission,
  pendingOf as anyPending,
  refusedWith,
  uploadedAttempt,
} from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const module = await withVscode(() => import('../../../../src/ui/submission/resolveSubmission.ts'));
const { cancelUpload } = await withVscode(() => import('../../../../src/ui/submission/cancelUpload.ts'));

const HOUR = 60 * 60_000;
const TEXT = '{"prompt":"a","completion":"b"}\n';

describe('commands for open submissions', () => {
  const folder = useFolder();
  /** The submitted file, which still has the same bytes. */
  let dataset: Submission['dataset'];
  let pending: PendingSubmission[];
  const changed = new Emitter<void>();
  let calls: string[];
  let finding: CheckResult | undefined | Error;
  let result: SubmissionResult;
  let receipts: Receipt[];
  let told: KnownSubmissions;
  let isRefusing: boolean;
  /** What a look before a discard finds; nothing if it isn't answered. */
  let ended: Discarded | undefined | Error;
  /** What an answered check leaves of what it checks. */
  let whileChecking: () => unknown;
  /** The models that the service lists, or why it lists none. */
  let models: object[] | Error;
  /** Called while the account is being activated. */
  let whileActivating: () => unknown;
  let whileProbing: () => unknown;

  beforeEach(() => {
    const file = path.join(folder(), 'train.jsonl');
    writeFileSync(file, TEXT);
    const sha256 = createHash('sha256').update(TEXT).digest('hex');
    const stamp = stampOf(statSync(file, { bigint: true }));
    dataset = { path: file, filename: 'train.jsonl', sha256, rows: 1, ...stamp };
    standIn.forget();
    [pending, calls] = [[], []];
    finding = { verdict: 'cannot-tell', reason: 'no-marker', candidates: [] };
    result = { kind: 'elsewhere' };
    isRefusing = false;
    ended = { kind: 'not-charged' };
    whileChecking = () => undefined;
    receipts = [];
    told = [];
    models = [
      { model_id: 'qwen3-8b', name: 'Qwen3 8B', provider: 'Maker', use_policy_url: 'x', available: true },
    ];
    whileActivating = whileProbing = () => undefined;
    Object.assign(active, { keyId: undefined, clockSkewMs: undefined });
  });

  const accountOf = (id: string, name: string) =>
    sessionOf({
      account: { id, name },
      models: {
        models: undefined as object[] | undefined,
        nameOf: (modelId: string) => `Model ${modelId}`,
        refresh(this: { models: unknown }): Promise<object> {
          if (models instanceof Error) return Promise.reject(models);
          return Promise.resolve({ data: (this.models = models) });
        },
      },
      balance: {
        current: { balance_cents: 500, currency: 'USD' },
        refresh(this: { current: unknown }) {
          return Promise.resolve((this.current = { balance_cents: 400, currency: 'USD' }));
        },
      },
    });
  const [active, second] = [accountOf('account-1', 'Work'), accountOf('account-2', 'Home')];
  const done = (call: string) => Promise.resolve(calls.push(call) > 0);
  const services = servicesOf({
    journal: {
      knownOf: () => Promise.resolve(told),
      receipts: () => Promise.resolve(receipts),
      records: () => Promise.resolve(receipts),
    },
    sessions: { active, find: (id: string) => [active, second].find(({ account }) => account.id === id) },
    submissions: {
      get pending() {
        return pending;
      },
      onDidChange: (listener: () => void) => changed.event(listener),
      probe: () => Promise.resolve(whileProbing()),
      resume: (session: typeof active, id: string) => {
        calls.push(`resume ${id} in ${session.account.name}`);
        return { id, onProgress: new Emitter<PendingSubmission>().event, result: Promise.resolve(result) };
      },
      check: (session: typeof active, id: string) => {
        calls.push(`check ${id} in ${session.account.name}`);
        whileChecking();
        return finding instanceof Error ? Promise.reject(finding) : Promise.resolve(finding);
      },
      adopt: (_session: unknown, id: string, runId: string) =>
        done(`adopt ${id} ${runId}`).then(() => !isRefusing),
      discard: (id: string, confirmed: string) => {
        calls.push(`discard ${id} as ${confirmed}`);
        if (isRefusing) return Promise.resolve();
        if (ended instanceof Error) return Promise.reject(ended);
        return Promise.resolve(confirmed === 'not-charged' ? ended : { kind: 'discarded' });
      },
      cancel: (id: string) => {
        const isUploading = pending.some((one) => one.id === id && one.state === 'uploading');
        if (isUploading) calls.push(`cancel ${id}`);
        return isUploading;
      },
    },
    ensureActiveAccount: (id: string) => {
      whileActivating();
      return done(`activate ${id}`).then(() => id !== 'account-3');
    },
  });
  const parts = {
    ...services,
    following: new Set<string>(),
    showFoundRun: ({ run_id }: { run_id: string }) => done(`report ${run_id}`).then(() => undefined),
  };
  const resolve = (argument?: unknown, action?: 'continue') =>
    module.resolveSubmission(parts, argument, action);

  const submissionOf = (changes: Partial<Submission> = {}) =>
    anySubmission({ dataset, created: { localMs: Date.now() }, ...changes });
  const pendingOf = (...[state, submission = submissionOf(), live]: Parameters<typeof anyPending>) =>
    anyPending(state, submission, live);
  const sent = (ageMs: number) => ({
    created: { localMs: Date.now() - ageMs },
    attempts: [uploadedAttempt(Date.now() - ageMs)],
  });
  const callsOf = (what: string) => calls.filter((call) => call.startsWith(what));
  /** By default, fully uploaded an hour ago without a response. */
  const unknown = (id = 'one', ageMs = HOUR, changes = {}) =>
    pendingOf('idle', submissionOf({ id, ...sent(ageMs), ...changes }));
  const cleared = (): PendingSubmission => pendingOf('idle', { ...unknown().submission, stage: 'cleared' });
  const press = (...wanted: string[]) =>
    (standIn.shown.answer = (buttons) => buttons.find((button) => wanted.includes(button)));
  /** Chooses these rows in the following lists, then closes any further list. */
  const choose = (...rows: string[]) => (standIn.shown.pick = () => rows.shift());
  const labelsOf = (input: number) =>
    (standIn.shown.inputs[input]?.items ?? [])
      .filter(({ kind }) => kind === undefined)
      .map(({ label, detail }) => ({
        label: label.replace(/^\$\([\w-]+\) /, ''),
        isAction: detail !== undefined,
      }));
  const actions = (input = 0) => labelsOf(input).flatMap(({ isAction, label }) => (isAction ? label : []));

  describe('resolveSubmission resolves', () => {
    it('a row, an ID, or the only open submission', async () => {
      pending = [unknown()];
      for (const argument of ['one', { kind: 'submission', id: 'one' }, undefined, 17, null])
        await resolve(argument);
      assert.deepEqual(calls, Array(5).fill('check one in Work'));
    });

    it('the submission that the user picks from several, of any account', async () => {
      pending = [unknown(), unknown('two', HOUR, { label: 'Second', accountId: 'account-2' })];
      choose('Second');
      await resolve();
      assert.deepEqual(calls, ['check two in Home']);
      assert.match(standIn.shown.inputs[0]?.items[1]?.description ?? '', / · Home$/);
    });

    it('nothing if there is none, and says why', async () => {
      await resolve();
      await resolve('gone');
      pending = [unknown('theirs', HOUR, { accountId: 'account-3' })];
      await resolve();
      assert.equal(new Set(standIn.shown.sentences).size, 3);
      assert.deepEqual(calls, []);
      await resolve('theirs');
      assert.deepEqual(calls, ['activate account-3']);
    });
  });

  it('return what became of the submission, or that the user closed the dialog', async () => {
    const of = async (one: PendingSubmission, ...rows: string[]) => {
      pending = [one];
      choose(...rows);
      return resolve('one');
    };
    const [cancelled, open] = [
      { outcome: 'cancelled', id: 'one' },
      pendingOf('idle', submissionOf({ id: 'one' })),
    ];
    assert.deepEqual(await resolve(), { outcome: 'unavailable' });
    assert.deepEqual(await resolve('gone'), { outcome: 'unavailable' });
    assert.deepEqual(await of(unknown()), cancelled);
    assert.deepEqual(await of(open, 'Discard…'), cancelled);
    press('Discard');
    assert.deepEqual(await of(open, 'Discard…'), { outcome: 'not-charged', id: 'one' });
    assert.deepEqual(await of(unknown(), 'Discard…'), { outcome: 'unknown', id: 'one' });
    press('Submit and Pay');
    assert.deepEqual(await of(unknown(), 'Resend…'), { outcome: 'unknown', id: 'one' });
    assert.deepEqual(callsOf('resume'), ['resume one in Work']);
    assert.deepEqual(await of(pendingOf('uploading', submissionOf({ id: 'one' })), 'Cancel Upload'), {
      outcome: 'done',
      id: 'one',
    });
    finding = { verdict: 'charged', run: { run_id: 'run-9' } };
    assert.deepEqual(await of(unknown()), { outcome: 'charged', id: 'run-9' });
  });

  describe('one that this window hasn’t looked for', () => {
    const unchecked = (changes: Partial<Submission> = {}) =>
      pendingOf('unchecked', submissionOf({ id: 'one', ...changes }), { hasLooked: true });
    const answered = () => (pending = [pendingOf('idle', pending[0]?.submission)]);
    const SAID = 'The service didn’t say whether you were charged for train.jsonl.';

    it('is looked for first; then its dialog says that it was not charged', async () => {
      pending = [unchecked()];
      finding = { verdict: 'not-charged' };
      whileChecking = answered;
      await resolve('one', 'continue');
      assert.deepEqual(callsOf('check'), ['check one in Work']);
      assert.equal(
        standIn.shown.inputs[0]?.placeholder,
        'Not charged: the upload of train.jsonl was interrupted.',
      );
      assert.deepEqual(actions(), ['Continue…', 'Discard…']);
      finding = { verdict: 'charged', run: { run_id: 'run-9' } };
      pending = [unchecked()];
      await resolve('one', 'continue');
      assert.deepEqual(calls.slice(-1), ['report run-9']);
    });

    it('is not asked about or sent if no look is answered, and can only be checked or discarded', async () => {
      for (const begin of ['continue', undefined] as const)
        for (const error of [undefined, new NetworkError('refused')]) {
          standIn.forget();
          pending = [unchecked({ created: { localMs: Date.now() - HOUR } })];
          if (error !== undefined) finding = error;
          assert.deepEqual(await resolve('one', begin), { outcome: 'cancelled', id: 'one' });
          assert.equal(standIn.shown.inputs[0]?.placeholder, SAID);
          assert.deepEqual([actions(), standIn.shown.isModal], [['Check Now', 'Discard…'], []]);
        }
      assert.deepEqual(callsOf('resume'), []);
    });

    it('without a marker, may be a run that looks like it, which the user can recognize', async () => {
      const run = { run_id: 'r-1', status: 'queued', model_id: 'm', label: 'Mine' };
      for (const [reason, rows] of [
        ['candidates', ['Check Now', 'This Is the Run: Mine', 'Discard…']],
        ['incomplete', ['Check Now', 'Discard…']],
      ] as const) {
        standIn.forget();
        pending = [unchecked()];
        finding = { verdict: 'cannot-tell', reason, candidates: [run] };
        await resolve('one');
        assert.deepEqual(actions(), rows);
        const facts = standIn.shown.inputs[0]?.items.map(({ description }) => description);
        const isSaid = facts?.includes('One of your runs looks like this submission.');
        assert.equal(isSaid, reason === 'candidates');
      }
    });

    it('is discarded as what the look finds; without an answer, the user is asked once more', async () => {
      const discard = async (found: typeof ended) => {
        standIn.forget();
        [pending, ended] = [[unchecked()], found];
        choose('Discard');
        press('Discard');
        const end = await resolve('one');
        return [end.outcome, ...standIn.shown.details];
      };
      const first = 'The dataset isn’t deleted.';
      const again = `${SAID} Compare your balance with your runs first.`;
      assert.deepEqual(await discard({ kind: 'not-charged' }), ['not-charged', first]);
      assert.deepEqual(await discard({ kind: 'charged', run: { run_id: 'run-9' } }), ['charged', first]);
      assert.deepEqual(callsOf('report'), ['report run-9']);
      assert.deepEqual(await discard(undefined), ['unknown', first, again]);
      assert.deepEqual(callsOf('discard').slice(-2), [
        'discard one as not-charged',
        'discard one as may-be-charged',
      ]);
    });

    it('begins anew after 23 hours, once a look is answered; not with another API key', async () => {
      for (const state of ['unchecked', 'idle'] as const)
        for (const found of [{ kind: 'not-charged' }, undefined] as const) {
          standIn.forget();
          calls = [];
          ended = found;
          pending = [{ ...unchecked({ created: { localMs: Date.now() - 23 * HOUR } }), state }];
          await resolve('one', 'continue');
          assert.deepEqual([callsOf('discard').length, callsOf('resume').length], [1, 0]);
          const choices = { modelId: 'qwen3-8b', label: '', priority: false };
          const anew = { ...choices, isAnew: true, accountId: 'account-1' };
          assert.deepEqual(standIn.executed[0]?.[3], found && anew);
        }
      ended = { kind: 'charged', run: { run_id: 'run-9' } };
      assert.deepEqual(await resolve('one', 'continue'), { outcome: 'charged', id: 'run-9' });
      standIn.forget();
      calls = [];
      Object.assign(active, { keyId: 'second' });
      pending = [pendingOf('idle', submissionOf({ id: 'one' }))];
      await resolve('one', 'continue');
      assert.deepEqual([actions(), callsOf('discard')], [['Can’t continue', 'Discard…'], []]);
    });
  });

  describe('resolveSubmission', () => {
    it('shows the money first and the possible actions, and checks only what may have been charged', async () => {
      const shown: Record<string, string[]> = {};
      const dialog = async (name: string, open: PendingSubmission) => {
        standIn.forget();
        pending = [open];
        await resolve('one');
        const { title, placeholder = '', items = [] } = standIn.shown.inputs[0] ?? {};
        const rows = items.filter(({ detail }) => detail !== undefined);
        shown[name] = [
          `${title} | ${placeholder}`,
          ...rows.map(({ label, detail }) => `${label} | ${detail}`),
        ];
      };
      const one = submissionOf({ id: 'one' });
      await dialog('uploading', pendingOf('uploading', one));
      await dialog('interrupted', pendingOf('idle', one));
      await dialog('refused', pendingOf('idle', { ...one, ...refusedWith('insufficient_balance') }));
      assert.deepEqual(calls, []);
      await dialog('cleared', cleared());
      await dialog('uploading again', pendingOf('uploading', unknown().submission));
      await dialog('sent, and checked here', pendingOf('checking', unknown().submission));
      assert.deepEqual(calls, Array(2).fill('check one in Work'));
      const run = { run_id: 'r-1', status: 'queued', model_id: 'm', label: 'Mine', price_cents: 100 };
      finding = {
        verdict: 'cannot-tell',
        reason: 'candidates',
        candidates: [run, { ...run, label: undefined, price_cents: undefined }],
      };
      await dialog(
        'two possible runs, in the currency of that time',
        unknown('one', HOUR, { balanceBefore: { balance_cents: 1, currency: 'EUR' } }),
      );
      golden('submission-dialog', shown);
    });

    it('follows one of another window to its end, without a dialog that has no action', async () => {
      const sent = unknown().submission;
      for (const one of [submissionOf({ id: 'one' }), sent]) {
        standIn.forget();
        pending = [pendingOf('elsewhere', one)];
        await resolve('one');
        pending = [];
        receipts = [chargedAt(one, 1)];
        changed.fire();
        for (let turns = 0; turns < 8; turns++) await turn();
        assert.equal(standIn.shown.sentences.shift(), 'Open in another window. Continue there.');
        assert.match(standIn.shown.sentences.join(), /^Submitted .* Charged 5\.00 USD/);
        assert.deepEqual(standIn.shown.inputs, []);
      }
      // Another window may have ended it since its row was drawn.
      assert.deepEqual(calls, ['check one in Work']);
    });

    it('shows the dialog of one whose window was killed', async () => {
      const one = submissionOf({ id: 'one' });
      pending = [pendingOf('elsewhere', one)];
      whileProbing = () => (pending = [pendingOf('idle', one)]);
      await resolve('one');
      assert.deepEqual([standIn.shown.sentences, actions()], [[], ['Continue…', 'Discard…']]);
    });

    it('says why one can’t be sent again, in place of the action and before any question', async () => {
      const ours = { keyId: 'first' };
      const sent = unknown('one', HOUR, ours);
      const notCharged = pendingOf('idle', { ...sent.submission, stage: 'cleared' });
      const unsent = pendingOf('idle', submissionOf({ id: 'one', ...ours }));
      const edit = () => writeFileSync(dataset.path, TEXT.replace('a', 'c'));
      const touch = () => utimesSync(dataset.path, 1, 1);
      const isChanged = 'The file has changed since it was chosen.';
      for (const [open, change, keyId, reason] of [
        [
          unknown('one', 23 * HOUR, ours),
          touch,
          'first',
          'More than 23 hours have passed, so you could be charged twice.',
        ],
        [sent, touch, 'second', 'It was submitted with a different API key.'],
        [notCharged, touch, 'second', 'It was submitted with a different API key.'],
        [sent, edit, 'first', isChanged],
        [unsent, touch, 'second', 'It was submitted with a different API key.'],
        [unsent, edit, 'first', isChanged],
        [unsent, () => rmSync(dataset.path), undefined, 'The file no longer exists.'],
        // The same bytes, whatever the time of the file.
        [sent, touch, 'first', undefined],
        [unsent, touch, 'first', undefined],
      ] as const) {
        standIn.forget();
        writeFileSync(dataset.path, TEXT);
        change();
        Object.assign(active, { keyId });
        pending = [open];
        await resolve('one', 'continue');
        const isAsked = standIn.shown.isModal.length === 1;
        assert.equal(isAsked, reason === undefined, reason);
        if (reason === undefined) continue;
        const word = open === unsent ? 'Can’t continue' : 'Can’t resend';
        const row = standIn.shown.inputs[0]?.items.find(({ label }) => label.endsWith(word));
        assert.equal(row?.detail, reason);
        assert.ok(!actions().some((action) => /^(Resend|Continue)/.test(action)));
      }
      assert.deepEqual(callsOf('resume'), []);
    });

    it('knows before any question that it is too old by the service’s clock, whenever that is known', async () => {
      const atMs = Date.now() - HOUR;
      const skew = () => Object.assign(active, { clockSkewMs: 24 * HOUR });
      const { refresh } = active.models;
      const cases = [
        ['before', skew],
        ['read with the models', () => undefined],
      ] as const;
      for (const [name, begin] of cases) {
        standIn.forget();
        Object.assign(active, { clockSkewMs: undefined });
        Object.assign(active.models, {
          refresh() {
            skew();
            return refresh.call(active.models);
          },
        });
        begin();
        pending = [unknown('one', HOUR, { created: { localMs: atMs, serviceMs: atMs } })];
        await resolve('one', 'continue');
        const details = standIn.shown.inputs[0]?.items.map(({ detail }) => detail);
        assert.deepEqual([standIn.shown.isModal, callsOf('resume'), callsOf('discard')], [[], [], []], name);
        assert.ok(details?.includes('More than 23 hours have passed, so you could be charged twice.'), name);
        assert.ok(!actions().includes('Resend…'), name);
      }
      Object.assign(active.models, { refresh });
    });

    it('offers neither to resend nor to continue while the service asks to wait, but says until when', async () => {
      const inHour = Date.now() + HOUR;
      const attempts = (notBeforeMs: number, sent = uploadedAttempt(Date.now() - HOUR)) => [
        { ...sent, notBefore: { localMs: notBeforeMs } },
      ];
      const unsent = (notBeforeMs: number) => {
        const { started, ended } = uploadedAttempt(Date.now() - HOUR);
        const submission = submissionOf({ id: 'one', attempts: attempts(notBeforeMs, { started, ended }) });
        return pendingOf('idle', submission);
      };
      for (const [open, longWaitUntilMs, word] of [
        [unsent(0), inHour, 'Can’t continue'],
        [unknown('one', HOUR, { attempts: attempts(inHour) }), undefined, 'Can’t resend'],
        [unknown('one', HOUR), inHour, 'Can’t resend'],
        [cleared(), inHour, 'Can’t resend'],
      ] as const) {
        standIn.forget();
        Object.assign(active, { longWaitUntilMs });
        pending = [open];
        await resolve('one', 'continue');
        const row = standIn.shown.inputs[0]?.items.find(({ label }) => label.endsWith(word));
        assert.match(row?.detail ?? '', /^The service asked you to wait until .*\d:\d\d.*\.$/);
        assert.ok(!actions().some((action) => /^(Resend|Continue)/.test(action)));
        assert.ok(actions().some((action) => action.startsWith('Discard…')));
        assert.deepEqual(standIn.shown.isModal, []);
      }
      Object.assign(active, { longWaitUntilMs: undefined });
      standIn.forget();
      pending = [unsent(inHour)];
      await resolve('one', 'continue');
      const said = /^Not charged: the service asked you to wait until .+ Continue then\.$/;
      assert.match(standIn.shown.inputs[0]?.placeholder ?? '', said);
      assert.deepEqual(actions(), ['Discard…']);
      standIn.forget();
      pending = [unsent(Date.now() - 1)];
      await resolve('one');
      assert.ok(actions().some((action) => action.startsWith('Continue…')));
      assert.deepEqual(callsOf('resume'), []);
    });

    it('always continues a refused one, with the file as it is', async () => {
      rmSync(dataset.path);
      Object.assign(active, { keyId: 'second' });
      const attempts = [uploadedAttempt(Date.now() - 30 * HOUR)];
      const refused = refusedWith('invalid_api_key');
      pending = [pendingOf('idle', submissionOf({ id: 'one', keyId: 'first', attempts, ...refused }))];
      await resolve('one');
      assert.deepEqual(actions(), ['Continue…', 'Discard…']);
      await resolve('one', 'continue');
      assert.match(standIn.shown.sentences[0] ?? '', /^train\.jsonl was moved or deleted\./);
    });

    it('lists several submissions with their files', async () => {
      pending = ['one', 'two'].map((id) => pendingOf('idle', submissionOf({ id, label: id })));
      await resolve();
      const { items } = standIn.shown.inputs.at(-1) ?? assert.fail('nothing is listed');
      for (const { detail } of items) assert.equal(detail, 'train.jsonl');
    });

    it('is settled with the run that the user recognizes, after a question that shows the run', async () => {
      const run = { run_id: 'r-1', status: 'queued', model_id: 'm', label: 'Mine', price_cents: 100 };
      finding = { verdict: 'cannot-tell', reason: 'candidates', candidates: [run] };
      for (const [button, adopted] of [
        ['Cancel', []],
        ['This Is the Run', ['adopt one r-1']],
      ] as const) {
        pending = [unknown()];
        choose('This Is the Run');
        press(button);
        await resolve('one');
        assert.deepEqual(callsOf('adopt'), adopted);
      }
      assert.match(
        standIn.shown.details[0] ?? '',
        /^Mine · m · .+ · 1\.00 USD \(currency assumed from the balance\) · r-1\. /,
      );
      assert.deepEqual(callsOf('report'), ['report r-1']);
    });

    it('discards only after a warning, which mentions a charge only if there may be one', async () => {
      pending = [
        unknown(),
        pendingOf('idle', submissionOf({ id: 'draft' })),
        pendingOf('idle', submissionOf({ id: 'refused', ...refusedWith('odd') })),
        pendingOf('idle', submissionOf({ id: 'cleared', stage: 'cleared' })),
      ];
      finding = { verdict: 'not-charged' };
      for (const { id } of pending) {
        choose('Discard');
        await resolve(id);
      }
      assert.deepEqual(callsOf('discard'), []);
      const [first = '', ...others] = standIn.shown.details;
      assert.match(first, /^You may have been charged, /);
      for (const detail of others) assert.equal(detail, 'Not charged. The dataset isn’t deleted.');
      choose('Discard');
      press('Discard');
      await resolve('one');
      assert.deepEqual(callsOf('discard'), ['discard one as may-be-charged']);
      assert.deepEqual(standIn.shown.isModal, Array(5).fill(true));
    });

    it('doesn’t discard a submission that changed while the dialog was open', async () => {
      pending = [unknown()];
      const rows = ['Discard'];
      standIn.shown.pick = () => {
        pending = [pendingOf('elsewhere', unknown().submission)];
        return rows.shift();
      };
      press('Discard');
      await resolve('one');
      assert.deepEqual(callsOf('discard'), []);
      // No warning appeared that could have denied a charge.
      assert.deepEqual(standIn.shown.details, []);
    });

    it('says what became of a submission that another window resolved, whatever the user chose', async () => {
      isRefusing = true;
      const run = { run_id: 'r-1', status: 'queued', model_id: 'm', label: 'Mine', price_cents: 100 };
      for (const chosen of ['Check Now', 'This Is the Run', 'Discard', 'Resend', undefined]) {
        pending = [unknown()];
        finding = { verdict: 'cannot-tell', reason: 'candidates', candidates: [run] };
        receipts = [chargedAt(submissionOf({ id: 'one' }), 1)];
        const rows = [chosen];
        standIn.shown.pick = () => {
          if (chosen === undefined || chosen === 'Check Now') pending = [];
          if (chosen === 'Resend') whileActivating = () => (pending = []);
          finding = undefined;
          return rows.shift();
        };
        standIn.shown.answer = (buttons) => {
          pending = [];
          return buttons.find((button) => button === chosen);
        };
        standIn.shown.sentences.length = 0;
        await resolve('one');
        if (chosen === undefined) await resolve('one');
        // A row that was pressed while it vanished says nothing about who continued it.
        const said =
          chosen === undefined
            ? /^Submitted .* Charged 5\.00 USD/
            : /Charged 5.*was continued in the meantime/;
        assert.match(standIn.shown.sentences.at(-1) ?? '', said, chosen);
        whileActivating = () => undefined;
      }
    });

    it('asks again if a discard is refused because there may now be a charge', async () => {
      isRefusing = true;
      press('Discard');
      for (const [now, inputs, sentences] of [
        [unknown(), 2, 1],
        // Then it is followed: its result is shown later.
        [pendingOf('elsewhere', unknown().submission), 1, 1],
      ] as const) {
        standIn.shown.inputs.length = standIn.shown.sentences.length = 0;
        pending = [pendingOf('idle', submissionOf({ id: 'one' }))];
        const rows = ['Discard'];
        standIn.shown.pick = () => rows.shift();
        const { answer } = standIn.shown;
        standIn.shown.answer = (buttons) => {
          pending = [now];
          return answer(buttons);
        };
        await resolve('one');
        assert.deepEqual([standIn.shown.inputs.length, standIn.shown.sentences.length], [inputs, sentences]);
        standIn.shown.answer = answer;
      }
      assert.deepEqual(callsOf('discard'), Array(2).fill('discard one as not-charged'));
    });
  });

  describe('Continue and Resend', () => {
    const kinds = () =>
      [
        [
          'Resend',
          unknown(),
          /^You may have been charged\. The service’s docs say the same request ID isn’t charged twice\.$/m,
        ],
        [
          'Resend',
          cleared(),
          /^Not charged so far\. The service’s docs say the same request ID isn’t charged twice\.$/m,
        ],
        [
          'Continue',
          pendingOf('idle', submissionOf({ id: 'one' })),
          /^Not charged: the upload of train\.jsonl was interrupted\.$/m,
        ],
      ] as const;

    it('resend the same bytes only after the final question, which starts with the money', async () => {
      for (const [row, open, money] of kinds()) {
        standIn.forget();
        calls.length = 0;
        pending = [{ ...open, submission: { ...open.submission, label: 'mine ft-7k3m9qpx' } }];
        choose(row);
        await resolve('one');
        assert.deepEqual(standIn.shown.sentences, ['Submit this dataset to Work and pay?']);
        const [detail = ''] = standIn.shown.details;
        assert.match(detail, /^Label: mine$/m);
        assert.match(detail, money);
        assert.match(detail, /^You’re charged when the service accepts it\.$/m);
        // The consents name the provider, although no models were read before.
        assert.match(detail, /^Model: Qwen3 8B \(Maker\) · standard queue$/m);
        assert.match(detail, /^• accept the license terms and use policy of Maker$/m);
        // Enter presses the first button.
        assert.deepEqual(standIn.shown.buttons, [['Show Submission', 'Submit and Pay']]);
        assert.deepEqual(callsOf('resume'), []);
        standIn.shown.inputs.length = 0;
        choose();
        press();
        await resolve('one', 'continue');
        assert.equal(standIn.shown.inputs.length, 0);
        press('Show Submission');
        await resolve('one', 'continue');
        assert.equal(standIn.shown.inputs.length, 1);
        press('Submit and Pay');
        result = { kind: 'charged', run: { run_id: 'r' } };
        await resolve('one', 'continue');
        assert.deepEqual(calls.slice(-1), ['resume one in Work']);
      }
    });

    it('name the other submissions of these bytes', async () => {
      const { dataset } = submissionOf();
      pending = [pendingOf('idle', submissionOf({ id: 'one', dataset }))];
      const charged = chargedReceipt({ dataset });
      const head = { bytes: 'b', n: 1, isOver: true };
      told = [
        { ...head, k: 1, record: undefined, isOver: false },
        { ...head, k: 2, record: submissionOf({ id: 'one', dataset }), isOver: false },
        { ...head, k: 3, record: { ...charged, origin: submissionOf().origin } },
      ];
      press();
      await resolve('one', 'continue');
      assert.deepEqual(standIn.shown.sentences, [
        'You may have been charged: the record of an earlier submission of this dataset can’t be read.',
      ]);
      press('Continue Anyway');
      await resolve('one', 'continue');
      assert.match(standIn.shown.details.at(-1) ?? '', /^Submitted before: /m);
    });

    it('send nothing without an available base model, unless there may be a charge already', async () => {
      press('Submit and Pay');
      for (const [, open] of kinds()) {
        standIn.forget();
        press('Submit and Pay');
        [pending, calls] = [[open], []];
        Object.assign(active.models, { models: undefined });
        models = new NetworkError('refused');
        const isOpen = open.submission.stage === 'sent';
        if (isOpen) await resolve('one', 'continue');
        else await assert.rejects(resolve('one', 'continue'), models);
        models = [];
        await resolve('one', 'continue');
        if (isOpen) assert.match(standIn.shown.details.join(), /^• accept the license terms of /m);
        else
          assert.deepEqual(standIn.shown.sentences, ['No base models are available. Nothing was submitted.']);
        assert.equal(callsOf('resume').length, isOpen ? 2 : 0);
      }
    });

    it('show the likely price and whether the balance suffices, after any budget warning', async () => {
      const dataset = { ...submissionOf().dataset, sha256: 'a'.repeat(64) };
      receipts = [chargedReceipt({ accountId: 'account-1', dataset, atMs: Date.now() })];
      for (const [, { state, submission }] of kinds()) {
        standIn.forget();
        pending = [pendingOf(state, { ...submission, dataset })];
        await resolve('one', 'continue');
        const [detail = ''] = standIn.shown.details;
        assert.match(detail, /^Price: known only after the charge\. 5\.00 USD last time$/m);
        assert.match(detail, /^Balance: 4\.00 USD · probably too low$/m);
        // A submission that may already have been charged counts once.
        for (const [perMonthCents, isOver] of [
          [1_000, false],
          [999, true],
        ] as const) {
          standIn.forget();
          Object.assign(active.account, { budget: { perMonthCents, currency: 'USD' } });
          press('Show Submission');
          await resolve('one', 'continue');
          assert.equal(standIn.shown.buttons[0]?.[1], isOver ? 'Continue Over Budget' : 'Submit and Pay');
          assert.equal(standIn.shown.inputs.length, 1, 'the submission');
        }
        const buttons = ['Continue Over Budget', 'Submit and Pay'];
        standIn.shown.answer = () => buttons.shift();
        await resolve('one', 'continue');
        assert.deepEqual(calls.splice(0).at(-1), 'resume one in Work');
        Object.assign(active.account, { budget: undefined });
      }
    });
  });

  describe('cancelUpload', () => {
    const cancel = (argument?: unknown) => cancelUpload(parts, argument);

    beforeEach(() => {
      pending = [
        pendingOf('validating', submissionOf({ id: 'one', origin: 'sandbox' })),
        pendingOf('idle', submissionOf({ id: 'two' })),
        pendingOf('uploading', submissionOf({ id: 'three' })),
      ];
    });

    it('reports if it is too late, and ignores a row that is gone', async () => {
      for (const argument of [{ kind: 'submission', id: 'one' }, 'two', 'gone', 'three'])
        await cancel(argument);
      assert.deepEqual(standIn.shown.sentences, [
        'Sandbox: train.jsonl is fully uploaded and can no longer be canceled.',
        'No upload to cancel.',
      ]);
      assert.deepEqual(calls, ['cancel three']);
    });

    it('cancels the only upload without a row, and asks if another may be meant', async () => {
      await cancel();
      assert.deepEqual([calls, standIn.shown.inputs.length], [[], 1]);
      pending.shift();
      await cancel();
      assert.deepEqual([calls, standIn.shown.inputs.length], [['cancel three'], 1]);
      pending.push(pendingOf('uploading', submissionOf({ id: 'four', label: 'Fourth' })));
      choose('Fourth');
      await cancel();
      assert.equal(standIn.shown.inputs.at(-1)?.items[0]?.detail, 'train.jsonl');
      assert.deepEqual(calls, ['cancel three', 'cancel four']);
      pending = [];
      await cancel();
      assert.deepEqual(standIn.shown.sentences, ['No upload to cancel.']);
    });
  });
});
