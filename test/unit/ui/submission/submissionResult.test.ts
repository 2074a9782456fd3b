import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  DatasetChangedError,
  NetworkError,
  ServiceError,
  UnexpectedResponseError,
} from '../../../../src/core/api/errors.ts';
import type { RunCreation } from '../../../../src/core/api/types.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { KeyMissingError, KeyRejectedError } from '../../../../src/core/runs/session.ts';
import { SubmissionError, TooEarlyError } from '../../../../src/core/submission/errors.ts';
import type {
  PendingSubmission,
  SubmissionResult,
} from '../../../../src/core/submission/pendingSubmission.ts';
import {
  ended,
  type ChargedReceipt,
  type Submission,
  type Receipt,
} from '../../../../src/core/submission/submission.ts';
import { golden } from '../../../helpers/golden.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { faultOf, servicesOf, sessionOf as anySession } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import {
  chargedAt,
  submissionOf,
  pendingOf,
  refusedWith,
  uploadedAttempt,
} from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const module = await withVscode(() => import('../../../../src/ui/submission/submissionResult.ts'));
const { foundRunReporter } = await withVscode(() => import('../../../../src/ui/submission/chargeReport.ts'));

const TOO_LOW = new ServiceError('insufficient_balance', 402);
const BROKEN = new NetworkError('reset');
const HOUR = 60 * 60_000;
const HOSTILE = 'Free \u202e$(check) [x](command:y)\u200b';

describe('showResult', () => {
  let logged: string[];
  let receipts: () => Promise<Receipt[]>;
  let sentMs: number;
  /** The fault of the sandbox. */
  let fault: string | undefined;
  /** What faults were asked for. */
  let causes: unknown[];
  /** The open submissions, if they differ from the result. */
  let open: PendingSubmission[] | undefined;
  let changed: Emitter<PendingSubmission>;
  /** The runs whose notices were removed. */
  let removed: string[];
  let following: Set<string>;

  beforeEach(() => {
    standIn.forget();
    [logged, removed, open] = [[], [], undefined];
    changed = new Emitter();
    following = new Set();
    sentMs = Date.now();
    [fault, causes] = [undefined, []];
    receipts = () => Promise.reject(BROKEN);
  });
  afterEach(() => mock.timers.reset());

  const draft = submissionOf({
    created: { localMs: Date.now() },
    label: 'My run ft-7k3m9qpx',
    marker: 'ft-7k3m9qpx',
    priority_processing: true,
  });
  const preset = { modelId: 'qwen3-8b', label: 'My run', priority: true };
  const usd = () => Promise.resolve({ balance_cents: 150, currency: 'USD' });
  const sessionOf = (account: object = {}, refresh: () => Promise<unknown> = usd) =>
    anySession({ account, balance: { refresh } });

  const setShown = ({ charge }: ChargedReceipt) => Promise.resolve(void removed.push(charge.run.run_id));
  /** Reports as `foundRunReporter` does, until the user has seen it. */
  const reporterOf = (known: () => Receipt[]) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const reportFound = foundRunReporter({
      setShown,
      receipts: () => Promise.resolve(known()),
    });
    return async (run: RunCreation) => {
      const reported = reportFound(run, draft, sessionOf());
      for (let turns = 0; turns < 8; turns++) await turn();
      mock.timers.tick(3_000);
      await reported;
    };
  };

  const sentOf = (id: string, changes: Partial<Submission> = {}) =>
    submissionOf({ ...draft, id, attempts: [uploadedAttempt(sentMs)], ...changes, stage: 'sent' });
  const rowOf = ({ kind }: SubmissionResult, id: string): PendingSubmission[] => {
    if (kind === 'unknown') return [pendingOf('idle', sentOf(id))];
    const isOpen = kind === 'unanswered' || kind === 'not-charged';
    return isOpen ? [pendingOf('unchecked', { ...draft, id }, { hasLooked: true })] : [];
  };

  /** Returns the text, the buttons, and the commands that pressing one of them executes. */
  async function report(
    result: SubmissionResult,
    press?: string,
    session = sessionOf(),
    isActive = true,
    id = 'id-1',
  ) {
    standIn.forget();
    standIn.shown.answer = (buttons) => buttons.find((button) => button === press);
    const end = await module.showResult(result, id, draft, session, {
      following,
      ...servicesOf({
        ensureActiveAccount: () => Promise.resolve(isActive),
        journal: {
          setShown,
          ...{ receipts: () => receipts(), records: () => receipts() },
        },
        sandboxFault: {
          get: () => (of: { kind: string }, cause?: object) => {
            causes.push(cause);
            return of.kind === 'sandbox' && fault !== undefined ? faultOf(fault) : undefined;
          },
        },
        log: { error: (what: string) => void logged.push(what) },
        sessions: { find: (accountId: string) => (accountId === session.account.id ? session : undefined) },
        submissions: {
          get pending() {
            return open ?? rowOf(result, id);
          },
          onDidChange: changed.event,
          probe: () => Promise.resolve(),
        },
      }),
    });
    await turn();
    const [text = ''] = standIn.shown.sentences;
    return { text, buttons: standIn.shown.buttons[0] ?? [], executed: standIn.executed, end };
  }
  const notCharged = (error: unknown, isKept: boolean) => ({ kind: 'not-charged', error, isKept }) as const;

  /** A notification with its buttons. */
  const shown = async (...given: Parameters<typeof report>) => {
    const { text, buttons } = await report(...given);
    return [text, ...buttons.map((button) => `[${button}]`)].join(' ');
  };
  const sandbox = () => sessionOf({ kind: 'sandbox', name: 'Sandbox' });

  it('states first whether there was a charge: yes, no, or maybe', async () => {
    const disk = (code: string) => Object.assign(new Error('x'), { code, syscall: 'write' });
    const codes = [
      ...['insufficient_balance', 'validation_failed', 'model_not_available', 'invalid_api_key'],
      // A service's error code is never mistaken for the extension's own.
      ...['rate_limited', 'constructor', '__proto__', 'too-late', 'key-missing'],
    ];
    const errors: [name: string, error: Error][] = [
      ...codes.map((code): [string, Error] => [code, new ServiceError(code, 422, 'row 7')]),
      ['the key was rejected before', new KeyRejectedError()],
      ['no key on this machine', new KeyMissingError()],
      ['the connection broke', BROKEN],
      ['the dataset changed', new DatasetChangedError('grew')],
      ['disk full', disk('ENOSPC')],
      ['no permission', disk('EACCES')],
      ['too late', new SubmissionError('too-late')],
      ['canceled', new CancelledError()],
      ['unexpected', new Error('x')],
    ];
    const cases: Record<string, string> = {};
    for (const [name, error] of errors) {
      const kept = (cases[`refused, kept: ${name}`] = await shown(notCharged(error, true)));
      const dropped = (cases[`refused, dropped: ${name}`] = await shown(notCharged(error, false)));
      const unknown = (cases[`unknown: ${name}`] = await shown({ kind: 'unknown', error }));
      for (const text of [kept, dropped]) assert.match(text, /^Not charged: /);
      assert.match(unknown, /^You may have been charged for My run: /);
    }
    const unanswered = { kind: 'unknown', error: BROKEN } as const;
    const locked = Object.assign(sessionOf(), { state: 'key-rejected' });
    cases['unknown, the API key is rejected'] = await shown(unanswered, undefined, locked);
    for (const [name, result] of Object.entries({
      charged: { kind: 'charged', run: { run_id: 'r' } },
      'balance too low': notCharged(TOO_LOW, true),
      canceled: notCharged(new CancelledError(), false),
      unknown: unanswered,
    } satisfies Record<string, SubmissionResult>)) {
      const text = (cases[`in the sandbox, ${name}`] = await shown(result, undefined, sandbox()));
      assert.match(text, /^Sandbox: /);
    }
    sentMs = Date.now() - 2 * HOUR;
    cases['unknown, no longer checked'] = await shown(unanswered);
    golden('submission-results', cases);
  });

  it('says until when the service asked you to wait if nothing was sent because of it, and offers nothing', async () => {
    for (const error of [
      ...[425, 429].map((status) => new ServiceError('slow_down', status, 'row 7', 5_000)),
      new TooEarlyError(HOUR),
      // Continue… would lead to the same sentence.
      new ServiceError('unavailable', 503, 'row 7', HOUR),
    ]) {
      const { text, buttons } = await report(notCharged(error, true));
      assert.match(text, /^Not charged: the service asked you to wait until .*\d:\d\d.*\. Continue then\.$/);
      assert.deepEqual(buttons, []);
    }
    const unknown = await report({ kind: 'unknown', error: new TooEarlyError(HOUR) });
    assert.match(
      unknown.text,
      /^You may have been charged .+\. The service asked you to wait until .*\d:\d\d.*\.$/,
    );
  });

  it('says what failed if another error came with a short wait, during which the row has the time', async () => {
    for (const error of [
      new ServiceError('unavailable', 503, '', 5_000),
      new UnexpectedResponseError(502, 'no-error-body', 5_000),
    ]) {
      const { text, buttons } = await report(notCharged(error, true));
      assert.match(text, /^Not charged: the upload of train\.jsonl failed\. The service is unavailable\./);
      assert.deepEqual(buttons, ['Show Log']);
    }
  });

  it('returns the outcome to the command, and never “not charged” or a failure for what may be charged', async () => {
    const endOf = async (result: SubmissionResult, id?: string) =>
      (await report(result, undefined, undefined, undefined, id)).end;
    const run = { run_id: 'r', price_cents: 517 };
    const charged = { outcome: 'charged', id: 'r' };
    assert.deepEqual(await endOf({ kind: 'charged', run }), charged);
    const broken = Object.defineProperty({ run_id: 'r' }, 'price_cents', {
      enumerable: true,
      get: () => assert.fail(),
    });
    assert.deepEqual(await endOf({ kind: 'charged', run: broken }), charged);
    assert.deepEqual(logged, ['charge-not-reported']);
    assert.deepEqual(await endOf(notCharged(TOO_LOW, true)), { outcome: 'not-charged', id: 'id-1' });
    assert.deepEqual(await endOf({ kind: 'unknown', error: BROKEN }), { outcome: 'unknown', id: 'id-1' });
    const old = submissionOf({ id: 'old' });
    const over = (reason: 'discarded' | 'not-charged') => ended(old, reason, { at: { localMs: sentMs } });
    const unknown = { outcome: 'unknown', id: 'old' };
    for (const [known, end] of [
      [[chargedReceipt({ id: 'old', run: { run_id: 'run-1' } })], { outcome: 'charged', id: 'run-1' }],
      [[over('not-charged')], { outcome: 'not-charged', id: 'old' }],
      [[over('discarded')], unknown],
      [[], { outcome: 'unavailable' }],
    ] as const) {
      receipts = () => Promise.resolve([...known]);
      assert.deepEqual(await endOf({ kind: 'elsewhere' }, 'old'), end);
    }
    for (const [state, end] of [
      ['idle', { outcome: 'not-charged', id: 'old' }],
      ['unchecked', unknown],
      ['elsewhere', unknown],
    ] as const) {
      open = [pendingOf(state, old)];
      assert.deepEqual(await endOf({ kind: 'elsewhere' }, 'old'), end);
    }
    open = undefined;
    assert.deepEqual(await endOf({ kind: 'unanswered', error: BROKEN }, 'old'), unknown);
  });

  it('says after a charge what it cost, whether that was expected, and what was survived', async () => {
    const cases: Record<string, string> = {};
    const charged = async (name: string, run: object, found = false, session = sessionOf()) => {
      const result = { kind: 'charged', run: { run_id: 'r', ...run }, ...(found && { found }) } as const;
      cases[name] = await shown(result, undefined, session);
    };
    const unread = sessionOf({}, () => Promise.reject(BROKEN));
    await charged('price and balance', { price_cents: 517, currency: 'EUR', balance_after_cents: 2 });
    await charged('no balance in the response', { price_cents: 517, currency: 'USD' });
    await charged('no price', {});
    await charged('no readable balance', {}, false, unread);
    await charged('found, the currency assumed', { price_cents: 517 }, true);
    await charged('found, no price', {}, true);
    const ours = { price_cents: 101, currency: 'USD', balance_after_cents: 99_899 };
    await charged('in the sandbox', ours, false, sandbox());
    await charged('in the sandbox, found', ours, true, sandbox());
    await charged('in the sandbox, no price', {}, false, sandbox());
    await charged('in the sandbox, found, no price', {}, true, sandbox());

    const price = (cents: number, sha256: string, atMs = 0) =>
      chargedReceipt({ atMs, dataset: { sha256 }, run: { run_id: sha256, price_cents: cents } });
    const past = [price(400, '1'), price(400, '2'), price(900, 'r', 1), price(400, '4', 1)];
    receipts = () => Promise.resolve(past);
    await charged('outside the estimate', { price_cents: 900, currency: 'USD' });
    await charged('outside the estimate, the currency assumed', { price_cents: 900 });
    await charged('within the estimate', { run_id: '4', price_cents: 400, currency: 'USD' });
    await charged('in another currency than the estimate', { price_cents: 900, currency: 'EUR' });

    const november = (day: number) => Date.UTC(2026, 10, day);
    const over = async (
      name: string,
      limits: object,
      cents: (number | undefined)[],
      { found = false, attempts = 0, kind = 'service' } = {},
    ) => {
      const runs = cents.map((one = 0, at) => price(one, `${at}`, november(20) + at));
      const last = runs.at(-1)!;
      last.attempts.push(...Array.from({ length: attempts }, () => uploadedAttempt(november(21))));
      if (cents.at(-1) === undefined) last.charge.run.price_cents = undefined;
      // From the previous month.
      receipts = () => Promise.resolve([price(10_000, 'old', november(1) - 1), ...runs]);
      const session = sessionOf({ kind, budget: { ...limits, currency: 'USD' } });
      await charged(name, { ...last.charge.run, balance_after_cents: 150 }, found, session);
    };
    const limits = { perRunCents: 100, perMonthCents: 350 };
    await over('past the limit of its month', { perMonthCents: 350 }, [101, 101, 101, 109]);
    await over('past the limit of a run', { perRunCents: 100 }, [101]);
    await over('past both limits', limits, [101, 101, 101, 109]);
    await over('past both limits, found', limits, [303, 109], { found: true });
    await over('past both limits, in the sandbox', limits, [303, 109], { kind: 'sandbox' });
    await over('past the limit of its month, at attempt 2', { perMonthCents: 350 }, [303, 109], {
      attempts: 2,
    });
    await over('at both limits', limits, [100, 150, 100]);
    await over('without a price, past the limit of its month', limits, [351, undefined]);

    const moment = { localMs: 1, serviceMs: 1 };
    const lost = { started: moment, closed: moment, ended: moment, code: 'network' };
    const hard = (name: string, foundBy: 'found' | 'answered', attempts: object[], session = sessionOf()) => {
      const receipt = chargedReceipt({
        attempts: attempts as (typeof lost)[],
        run: { run_id: 'r', ...ours },
      });
      receipts = () => Promise.resolve([{ ...receipt, charge: { ...receipt.charge, foundBy } }]);
      return charged(name, ours, foundBy === 'found', session);
    };
    await hard('four attempts', 'answered', [lost, lost, lost, lost]);
    await hard('four attempts, found', 'found', [lost, lost, lost, lost]);
    await hard('four attempts, in the sandbox', 'answered', [lost, lost, lost, lost], sandbox());
    await hard('one attempt', 'answered', [lost]);
    // The disk took no receipt.
    receipts = () => Promise.resolve([]);
    await charged('not recorded', ours);
    await charged('not recorded, no price', {});
    await charged('not recorded, in the sandbox', ours, false, sandbox());
    for (const text of Object.values(cases))
      assert.ok(text.replace(/ \[.*/, '').split(/(?<=\.) (?=[A-Z])/).length <= 2, text);
    golden('submission-charges', cases);
  });

  it('says what became of a submission that another window ended, and no more than this machine knows', async () => {
    const cases: Record<string, string> = {};
    const shownEnd = async (name: string, known: Submission[], session = sessionOf()) => {
      receipts = () => Promise.resolve(known as Receipt[]);
      cases[name] = await shown({ kind: 'elsewhere' }, undefined, session);
    };
    const own = { ...draft, id: 'id-1' };
    const answered = chargedAt(own, 1);
    const found = { ...answered, charge: { ...answered.charge, foundBy: 'found' as const } };
    const unpriced = (one: ChargedReceipt) => ({
      ...one,
      charge: { ...one.charge, run: { run_id: 'run-1' } },
    });
    const at = { at: { localMs: 1 } };
    await shownEnd('charged', [found]);
    await shownEnd('charged, after the user read that it was not', [answered]);
    await shownEnd('charged, its price unknown', [unpriced(answered)]);
    await shownEnd('not charged', [ended(own, 'not-charged', at)]);
    await shownEnd('discarded', [ended(own, 'discarded', at)]);
    await shownEnd('gone', []);
    await shownEnd('of an account that signed out', [{ ...found, accountId: 'signed-out' }]);
    // A refused one is continued as another submission, with another Idempotency-Key.
    const refused = (id: string, endedMs: number) =>
      ended(submissionOf({ id, created: { localMs: endedMs - 10 } }), 'not-charged', {
        ...{ at: { localMs: endedMs }, code: 'insufficient_balance' },
      });
    const [first, second] = [refused('id-1', 20), refused('id-2', 25)];
    const third = submissionOf({ id: 'id-3', label: 'My run ft-7k3m9qpx', created: { localMs: 24 } });
    // Another file of that name.
    const dataset = { ...third.dataset, path: '/other/train.jsonl', sha256: '1'.repeat(64) };
    const charged = chargedAt(third, 30);
    const { run } = charged.charge;
    const usdCharged = { ...charged, charge: { ...charged.charge, run: { ...run, currency: 'USD' } } };
    await shownEnd('continued, charged', [charged, second, first]);
    await shownEnd('continued, charged, in the sandbox', [charged, second, first], sandbox());
    const overBudget = sessionOf({ budget: { perRunCents: 100, currency: 'USD' } });
    await shownEnd('continued, charged, past the limit of a run', [usdCharged, second, first], overBudget);
    await shownEnd('continued, charged, its price unknown', [unpriced(charged), second, first]);
    open = [pendingOf('idle', sentOf('id-3', { created: { localMs: 24 } }))];
    await shownEnd('continued, may be charged', [second, first]);
    open = undefined;
    const later = chargedAt({ ...third, created: { localMs: 31 } }, 40);
    await shownEnd('continued, not: discarded before the same was submitted', [later, first]);
    const other = chargedAt({ ...third, id: 'id-4', dataset }, 30);
    await shownEnd('continued, not: another dataset', [other, second, first]);
    open = [];
    receipts = () => Promise.resolve([{ ...answered, id: 'gone' }]);
    const unanswered = { kind: 'unknown', error: BROKEN } as const;
    const foundByOther = await shown(unanswered, undefined, sessionOf(), true, 'gone');
    golden('submission-ends', { ...cases, 'unanswered, but another window got the answer': foundByOther });
  });

  it('follows what another window works on until it is over or rests, without a box, and says it once', async () => {
    const other = submissionOf({ ...draft, id: 'id-2' });
    const at = { at: { localMs: 1 } };
    const cases: Record<string, string> = {};
    const follow = async (name: string, result: SubmissionResult, after: Receipt | PendingSubmission) => {
      open = [pendingOf('elsewhere', other)];
      receipts = () => Promise.resolve([]);
      const { end, executed } = await report(result, undefined, undefined, undefined, 'id-2');
      // Submitted again, it is followed once.
      await report(result, undefined, undefined, undefined, 'id-2');
      assert.deepEqual([end, executed], [{ outcome: 'unknown', id: 'id-2' }, []], name);
      for (const state of ['elsewhere', 'unchecked', 'checking'] as const) {
        open = [pendingOf(state, other)];
        changed.fire(pendingOf('elsewhere', other));
        await turn();
      }
      assert.deepEqual([standIn.shown.sentences, standIn.shown.inputs], [[], []], name);
      open = 'submission' in after ? [after] : [];
      receipts = () => Promise.resolve('submission' in after ? [] : [after]);
      for (let times = 0; times < 2; times++) {
        changed.fire(pendingOf('elsewhere', other));
        for (let turns = 0; turns < 8; turns++) await turn();
      }
      assert.equal(standIn.shown.sentences.length, 1, name);
      const buttons = standIn.shown.buttons[0]?.map((button) => ` [${button}]`) ?? [];
      cases[name] = standIn.shown.sentences[0] + buttons.join('');
    };
    const met = { kind: 'open', id: 'id-2' } as const;
    const lost = { kind: 'unknown', error: BROKEN } as const;
    await follow('Submit met it: charged', met, chargedAt(other, 1));
    await follow('Submit met it: not charged', met, ended(other, 'not-charged', at));
    await follow('Submit met it: discarded', met, ended(other, 'discarded', at));
    await follow('Submit met it: may be charged', met, pendingOf('idle', sentOf('id-2')));
    await follow('Submit met it: its window died', met, pendingOf('idle', other));
    const unanswered = pendingOf('unchecked', other, { hasLooked: true });
    await follow('Submit met it: its window died, no answer', met, unanswered);
    await follow(
      'Submit met it: refused',
      met,
      pendingOf('idle', { ...other, ...refusedWith('insufficient_balance') }),
    );
    await follow('Continue was overtaken: charged', { kind: 'elsewhere' }, chargedAt(other, 1));
    await follow('its answer was lost, but another window checks: charged', lost, chargedAt(other, 1));
    golden('submission-followed', cases);
  });

  it('says that the service didn’t answer, and offers what helps, if no look was answered', async () => {
    const cases: Record<string, string> = {};
    for (const [name, error] of [
      ['the connection broke', BROKEN],
      ['too many requests', new ServiceError('rate_limited', 429, '', 5_000)],
      ['another service answered', new UnexpectedResponseError(200, 'html')],
      ['not everything was read', new SubmissionError('not-answered')],
      ['no key on this machine', new KeyMissingError()],
      ['the key was rejected', new ServiceError('invalid_api_key', 401)],
      ['disk full', Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' })],
      ['unexpected', new Error('x')],
      ['canceled', new CancelledError()],
    ] as const)
      cases[name] = await shown({ kind: 'unanswered', error });
    fault = 'Sandbox scenario “Offline” is on.';
    cases['in the sandbox'] = await shown({ kind: 'unanswered', error: BROKEN }, undefined, sandbox());
    for (const text of Object.values(cases)) assert.doesNotMatch(text, /not charged|may/i);
    golden('submission-unanswered', cases);
    const early = await shown({ kind: 'unanswered', error: new TooEarlyError(HOUR) });
    assert.match(early, / The service asked you to wait until .*\d:\d\d.*\. \[/);
    const { executed } = await report({ kind: 'unanswered', error: BROKEN }, 'Check Now');
    assert.deepEqual(executed, [['fineTuning.resolveSubmission', 'id-1']]);
    const missing = await report({ kind: 'unanswered', error: new KeyMissingError() }, 'Enter API Key…');
    assert.deepEqual(missing.executed, [['fineTuning.replaceKey']]);
  });

  it('begins a new submission in place of one that was too old', async () => {
    const { text } = await report({ kind: 'ended' });
    assert.equal(text, 'train.jsonl was moved or deleted. Choose the dataset to submit.');
  });

  it('offers to continue a stored draft, and otherwise to submit again', async () => {
    for (const [error, others] of [
      [TOO_LOW, []],
      [BROKEN, ['Show Log']],
    ] as const) {
      const { buttons, executed } = await report(notCharged(error, true), 'Continue…');
      assert.deepEqual(buttons, ['Continue…', ...others]);
      assert.deepEqual(executed, [['fineTuning.continueSubmission', 'id-1']]);
    }
    const dropped = notCharged(new DatasetChangedError('grew'), false);
    const { buttons, executed } = await report(dropped, 'Submit Again…');
    assert.deepEqual(buttons, ['Submit Again…', 'Show Log']);
    const [[command, uri, , given] = []] = executed;
    assert.deepEqual(
      [command, String(Reflect.get(uri as object, 'fsPath')), given],
      ['fineTuning.submitDataset', draft.dataset.path, preset],
    );
    assert.deepEqual((await report(dropped, 'Submit Again…', sessionOf(), false)).executed, []);
    assert.deepEqual((await report(notCharged(new CancelledError(), false))).buttons, []);
  });

  it('resolves a refusal by a dataset check or a new API key', async () => {
    const invalid = new ServiceError('validation_failed', 422, 'row 7');
    const { executed } = await report(notCharged(invalid, true), 'Check Dataset');
    assert.equal(executed[0]?.[0], 'fineTuning.checkDataset');
    for (const [error, button] of [
      [new ServiceError('invalid_api_key', 401), 'Replace API Key…'],
      [new KeyMissingError(), 'Enter API Key…'],
    ] as const) {
      const refused = await report(notCharged(error, true), button);
      assert.deepEqual(refused.executed, [['fineTuning.replaceKey', 'account-1']]);
    }
  });

  it('offers a check or a resend after an unknown result, and logs it', async () => {
    sentMs = Date.now();
    for (const [button, command] of [
      ['Check Now', 'fineTuning.resolveSubmission'],
      ['Resend…', 'fineTuning.continueSubmission'],
    ] as const) {
      const { buttons, executed } = await report({ kind: 'unknown', error: BROKEN }, button);
      assert.deepEqual([buttons, executed], [['Check Now', 'Resend…'], [[command, 'id-1']]]);
    }
    assert.deepEqual(logged, ['outcome-unknown', 'outcome-unknown']);
  });

  it('opens the dialog of a submission that is already open, and rests', async () => {
    open = [pendingOf('idle', sentOf('id-2'))];
    const { executed, text } = await report({ kind: 'open', id: 'id-2' });
    assert.deepEqual([executed, text], [[['fineTuning.resolveSubmission', 'id-2']], '']);
  });

  it('names the fault of the sandbox, and offers no funds, which wouldn’t end it', async () => {
    fault = 'Sandbox scenario “Balance too low” is on.';
    const { text, buttons } = await report(notCharged(TOO_LOW, true), '', sandbox());
    assert.equal(
      text,
      'Sandbox: Not charged: the balance of Sandbox is too low for My run. Sandbox scenario “Balance too low” is on.',
    );
    assert.deepEqual(buttons, ['Choose Another', 'Continue…']);
    assert.match((await report(notCharged(TOO_LOW, true))).text, /Add funds, then continue\.$/);
  });

  it('names the fault of the sandbox in place of the reason, in two sentences', async () => {
    fault = 'Sandbox scenario “Connection lost before the charge” is on.';
    const failed = await report(notCharged(BROKEN, true), '', sandbox());
    assert.equal(failed.text, `Sandbox: Not charged: the upload of train.jsonl failed. ${fault}`);
    assert.deepEqual(failed.buttons, ['Continue…', 'Show Log', 'Choose Another']);
    assert.deepEqual(causes, [{ error: BROKEN }]);
    causes.length = 0;
    const lost = await report({ kind: 'unknown', error: BROKEN }, '', sandbox());
    assert.equal(
      lost.text,
      `Sandbox: You may have been charged for My run: the service didn’t confirm it. ${fault}`,
    );
    assert.deepEqual(lost.buttons, ['Check Now', 'Resend…', 'Choose Another']);
    assert.deepEqual(causes, [{ error: BROKEN }]);
    // What prevents a resend is no fault of the sandbox.
    const early = await report({ kind: 'unknown', error: new TooEarlyError(HOUR) }, '', sandbox());
    assert.match(early.text, /The service asked you to wait until/);
    assert.match((await report(notCharged(BROKEN, true))).text, /The connection to the service was lost\.$/);
  });

  it('offers sandbox funds', async () => {
    const { executed } = await report(notCharged(TOO_LOW, true), 'Add Sandbox Funds', sandbox());
    assert.deepEqual(executed, [['fineTuning.sandbox', 'addFunds']]);
  });

  it('opens only the account’s https website if funds are needed', async () => {
    const website = 'https://pay.test/';
    const { buttons, executed } = await report(
      notCharged(TOO_LOW, true),
      'Open Website',
      sessionOf({ website }),
    );
    assert.deepEqual(buttons, ['Open Website', 'Continue…']);
    assert.deepEqual(executed, [['open', 'https://pay.test/']]);
    const unsafe = sessionOf({ website: 'http://pay.test/' });
    assert.deepEqual((await report(notCharged(TOO_LOW, true), 'Open Website', unsafe)).executed, []);
  });

  it('sanitizes hostile names, and cuts them so that the balance stays visible', async () => {
    const session = sessionOf({ name: HOSTILE + 'x'.repeat(5_000) });
    const { text } = await report(
      { kind: 'charged', run: { run_id: 'r', price_cents: 1 } },
      undefined,
      session,
    );
    assert.doesNotMatch(text, /\$\(|\]\(|\u202e|\u200b/);
    assert.ok(text.length < 300 && text.endsWith('balance 1.50 USD.'), text);
  });

  it('says of a charge that it couldn’t be recorded', async () => {
    receipts = () => Promise.resolve([]);
    const run = { run_id: 'run-1', price_cents: 5 };
    const { text } = await report({ kind: 'charged', run }, undefined, undefined, undefined, draft.id);
    assert.match(text, /but the charge couldn’t be recorded here\.$/);
  });

  it('reports a found charge in the currency of its submission, which it assumes, not in that of the balance by now', async () => {
    const balanceBefore = { balance_cents: 900, currency: 'JPY' };
    const receipt = {
      ...chargedAt({ ...draft, balanceBefore }, 1),
      accountId: draft.accountId,
    };
    await reporterOf(() => [receipt])(receipt.charge.run);
    assert.match(standIn.shown.sentences.join(), /Charged 5 JPY \(currency assumed from the balance\)\./);
  });

  it('reports a further run of a submission, money first, though its first run was reported', async () => {
    const receipt = chargedAt(draft, 1);
    const { charge } = receipt;
    let receipts = [receipt];
    const reportFound = reporterOf(() => receipts);
    await reportFound(charge.run);
    const long = 'r'.repeat(60);
    for (const prices of [[700], [700, 1, 2], [700, undefined]]) {
      const furtherRuns = prices.map((price_cents, at) => ({ run_id: long.slice(at), price_cents }));
      receipts = [{ ...receipt, charge: { ...charge, furtherRuns } }];
      await reportFound(charge.run);
    }
    const [one, two, three] = [0, 1, 2].map((at) => long.slice(at));
    assert.deepEqual(standIn.shown.sentences.slice(1), [
      `Charged twice for My run: run-1, ${one}. Contact the service.`,
      `Charged 4 times for My run: run-1, ${one}, ${two}, ${three}. Contact the service.`,
      `You may have been charged 3 times: 3 runs have My run’s marker (run-1, ${one}, ${two}).`,
    ]);
  });

  it('reports a run once through foundRunReporter', async () => {
    const receipt = chargedAt(draft, 1);
    const reportFound = reporterOf(() => [receipt]);
    for (let times = 0; times < 2; times++) await reportFound(receipt.charge.run);
    assert.deepEqual([standIn.shown.sentences.length, removed], [1, ['run-1']]);
  });

  it('leaves a charge to the next window if its own has lost the connection', async () => {
    const receipt = chargedAt(draft, 1);
    standIn.shown.isWindowThere = false;
    await reporterOf(() => [receipt])(receipt.charge.run);
    assert.deepEqual([standIn.shown.sentences.length, removed], [1, []]);
  });

  describe('withSubmissionProgress', () => {
    const changed = new Emitter<PendingSubmission>();
    const show = (work: () => Promise<void>) =>
      module.withSubmissionProgress(sessionOf(), draft, () => ({
        id: 'id',
        onProgress: changed.event,
        result: turn()
          .then(work)
          .then(() => ({ kind: 'elsewhere' })),
      }));
    const fire = (state: PendingSubmission['state'], live: Partial<PendingSubmission> = {}) =>
      changed.fire(pendingOf(state, draft, live));

    it('shows every state', async () => {
      const { id, result } = await show(() => {
        const sent = sentOf('id');
        const nowMs = Date.now();
        changed.fire(pendingOf('waiting', sent, { attempt: 1, retryAtMs: nowMs + 12_000 }));
        changed.fire(pendingOf('waiting', sent, { attempt: 1, retryAtMs: nowMs, tickMs: nowMs - 7_000 }));
        changed.fire(pendingOf('uploading', sent, { attempt: 2 }));
        for (const [state, live] of [
          ['queued', {}],
          ['uploading', { attempt: 1 }],
          ['validating', { attempt: 1 }],
          ['waiting', { attempt: 1, retryAtMs: Date.now() + 12_000 }],
          ['uploading', { attempt: 2, sentBytes: draft.dataset.sizeBytes }],
        ] as const)
          fire(state, live);
        return Promise.resolve();
      });
      fire('idle');
      assert.deepEqual([id, result], ['id', { kind: 'elsewhere' }]);
      assert.deepEqual(standIn.shown.titles, ['Submitting train.jsonl to Work']);
      assert.deepEqual(standIn.shown.progress, [
        'Retry in 12 s · attempt 2. You may already have been charged. Cancel stops resending.',
        'Retry in 7 s · attempt 2. You may already have been charged. Cancel stops resending.',
        'Uploading 0% · attempt 2. You may already have been charged. Cancel stops resending.',
        'Upload queued',
        'Uploading 0%',
        'Validating…',
        'Retry in 12 s · attempt 2',
        'Uploading 100% · attempt 2',
      ]);
    });
  });
});
