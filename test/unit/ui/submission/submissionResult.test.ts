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
import type { ChargedReceipt, Intent, Receipt } from '../../../../src/core/submission/intent.ts';
import type {
  PendingSubmission,
  SubmissionResult,
} from '../../../../src/core/submission/pendingSubmission.ts';
import { SubmissionError, TooEarlyError } from '../../../../src/core/submission/errors.ts';
import { golden } from '../../../helpers/golden.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { faultOf, servicesOf, sessionOf as anySession } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { chargedAt, intentOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';
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
  /** Of the sandbox. */
  let fault: string | undefined;
  /** What faults were asked for. */
  let causes: unknown[];
  let open: PendingSubmission[];
  /** The runs whose notices were removed. */
  let removed: string[];
  /** The submissions whose charge was told, but not recorded. */
  let told: string[];

  beforeEach(() => {
    standIn.forget();
    [logged, removed, told, open] = [[], [], [], []];
    sentMs = Date.now();
    [fault, causes] = [undefined, []];
    receipts = () => Promise.reject(BROKEN);
  });
  afterEach(() => mock.timers.reset());

  const draft = intentOf({ label: 'My run ft-7k3m9qpx', marker: 'ft-7k3m9qpx', priority_processing: true });
  const preset = { modelId: 'qwen3-8b', label: 'My run', priority: true };
  const usd = () => Promise.resolve({ balance_cents: 150, currency: 'USD' });
  const sessionOf = (account: object = {}, refresh: () => Promise<unknown> = usd) =>
    anySession({ account, balance: { refresh } });

  const setShown = ({ settled }: ChargedReceipt) => Promise.resolve(void removed.push(settled.run.run_id));
  const marks = {
    add: (id: string) => Promise.resolve(void told.push(id)),
    has: (id: string) => Promise.resolve(told.includes(id)),
    remove: (id: string) => Promise.resolve(void (told = told.filter((one) => one !== id))),
  };
  /** Reports as `foundRunReporter` does, until the user has seen it. */
  const reporterOf = (known: () => Receipt[]) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const reportFound = foundRunReporter({
      setShown,
      unwritten: marks,
      receipts: () => Promise.resolve(known()),
    });
    return async (run: RunCreation) => {
      const reported = reportFound(run, draft, sessionOf());
      for (let turns = 0; turns < 8; turns++) await turn();
      mock.timers.tick(3_000);
      await reported;
    };
  };

  /** Whether it was continued while its notification was open. */
  let wentOn = false;
  afterEach(() => void (wentOn = false));

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
    const end = await module.showResult(
      result,
      id,
      draft,
      session,
      servicesOf({
        ensureActiveAccount: () => Promise.resolve(isActive),
        journal: {
          ...{ setShown, unwritten: marks },
          ...{ receipts: () => receipts(), records: () => receipts() },
          intents: [intentOf({ id: 'id-1', attempts: [uploadedAttempt(sentMs)] })],
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
          pending: result.kind === 'not-charged' && !wentOn ? [pendingOf('refused', intentOf({ id }))] : open,
          probe: () => Promise.resolve(),
        },
      }),
    );
    await turn();
    const [text = ''] = standIn.shown.sentences;
    return { text, buttons: standIn.shown.buttons[0] ?? [], executed: standIn.executed, end };
  }
  const notCharged = (error: unknown, kept: boolean) => ({ kind: 'not-charged', error, kept }) as const;

  /** A notification with its buttons. */
  const shown = async (...given: Parameters<typeof report>) => {
    const { text, buttons } = await report(...given);
    return [text, ...buttons.map((button) => `[${button}]`)].join(' ');
  };
  const sandbox = () => sessionOf({ kind: 'sandbox', name: 'Sandbox' });

  it('states first whether there was a charge: yes, no, or maybe', async () => {
    const disk = (code: string) => Object.assign(new Error('x'), { code, syscall: 'write' });
    const record = { file: '/storage/submissions/lost.json' };
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
      ['a record can’t be read', new SubmissionError('journal-unreadable', record)],
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
    open = [pendingOf('elsewhere', intentOf({ id: 'id-1', origin: 'sandbox' }))];
    for (const [name, result] of Object.entries({
      charged: { kind: 'charged', run: { run_id: 'r' } },
      'balance too low': notCharged(TOO_LOW, true),
      canceled: notCharged(new CancelledError(), false),
      unknown: unanswered,
      elsewhere: { kind: 'elsewhere' },
    } satisfies Record<string, SubmissionResult>)) {
      const text = (cases[`in the sandbox, ${name}`] = await shown(result, undefined, sandbox()));
      assert.match(text, /^Sandbox: /);
    }
    sentMs = Date.now() - 2 * HOUR;
    cases['unknown, no longer checked'] = await shown(unanswered);
    golden('submission-results', cases);
  });

  it('says until when the service asked to wait if nothing was sent because of it, and offers nothing', async () => {
    for (const error of [
      ...[425, 429].map((status) => new ServiceError('slow_down', status, 'row 7', 5_000)),
      new TooEarlyError(HOUR),
      // Continue… would lead to the same sentence.
      new ServiceError('unavailable', 503, 'row 7', HOUR),
    ]) {
      const { text, buttons } = await report(notCharged(error, true));
      assert.match(text, /^Not charged: the service asked to wait until .*\d:\d\d.*\. Continue then\.$/);
      assert.deepEqual(buttons, []);
    }
    const unknown = await report({ kind: 'unknown', error: new TooEarlyError(HOUR) });
    assert.match(
      unknown.text,
      /^You may have been charged .+\. The service asked to wait until .*\d:\d\d.*\.$/,
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
    const settled = (how: object) =>
      [{ ...intentOf({ id: 'old' }), settled: { at: { localMs: sentMs }, ...how } }] as unknown as Receipt[];
    const unknown = { outcome: 'unknown', id: 'old' };
    for (const [known, end] of [
      [[chargedReceipt({ id: 'old', run: { run_id: 'run-1' } })], { outcome: 'charged', id: 'run-1' }],
      [settled({ kind: 'not-charged' }), { outcome: 'not-charged', id: 'old' }],
      [settled({ kind: 'discarded' }), unknown],
      [[], { outcome: 'unavailable' }],
    ] as const) {
      receipts = () => Promise.resolve([...known]);
      assert.deepEqual(await endOf({ kind: 'elsewhere' }, 'old'), end);
    }
    for (const [one, end] of [
      [pendingOf('unsent', intentOf({ id: 'old' })), { outcome: 'not-charged', id: 'old' }],
      [pendingOf('stopped', intentOf({ id: 'old' })), unknown],
      [pendingOf('elsewhere', intentOf({ id: 'old' })), unknown],
    ] as const) {
      open = [one];
      assert.deepEqual(await endOf({ kind: 'elsewhere' }, 'old'), end);
    }
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
      if (cents.at(-1) === undefined) last.settled.run.price_cents = undefined;
      // Of the month before.
      receipts = () => Promise.resolve([price(10_000, 'old', november(1) - 1), ...runs]);
      const session = sessionOf({ kind, budget: { ...limits, currency: 'USD' } });
      await charged(name, { ...last.settled.run, balance_after_cents: 150 }, found, session);
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
      receipts = () => Promise.resolve([{ ...receipt, settled: { ...receipt.settled, foundBy } }]);
      return charged(name, ours, foundBy === 'found', session);
    };
    await hard('four attempts', 'answered', [lost, lost, lost, lost]);
    await hard('four attempts, found', 'found', [lost, lost, lost, lost]);
    await hard('four attempts, in the sandbox', 'answered', [lost, lost, lost, lost], sandbox());
    await hard('found before its attempt had an end', 'found', [{ started: moment, closed: moment }]);
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

  it('says what became of a submission that another window ended or still has, and no more than this machine knows', async () => {
    const at = { localMs: 1 };
    const cases: Record<string, string> = {};
    const found = { ...chargedAt(draft, 1).settled, foundBy: 'found' } as Receipt['settled'];
    const ended = async (name: string, settled?: Receipt['settled'], changes = {}) => {
      const known = settled === undefined ? [] : [{ ...draft, id: 'id-1', ...changes, settled }];
      receipts = () => Promise.resolve(known);
      cases[name] = await shown({ kind: 'elsewhere' });
    };
    await ended('charged', found);
    await ended('charged, after the user read that it was not', chargedAt(draft, 1).settled);
    await ended('charged, its price unknown', {
      ...{ kind: 'charged', at, foundBy: 'answered', run: { run_id: 'run-1' } },
    });
    await ended('not charged', { kind: 'not-charged', at });
    await ended('discarded', { kind: 'discarded', at });
    await ended('gone');
    await ended('of an account that signed out', found, { accountId: 'signed-out' });
    open = [pendingOf('elsewhere', intentOf({ id: 'id-1', attempts: [uploadedAttempt(1)] }))];
    await ended('still open after its upload');
    open = [pendingOf('elsewhere', intentOf({ id: 'id-1' }))];
    await ended('still open');
    open = [];
    // A refused one is continued as another submission, with another Idempotency-Key.
    const refused = (id: string, endedMs: number) => ({
      ...intentOf({ id, created: { localMs: endedMs - 10 } }),
      refused: { at: { localMs: endedMs - 8 }, code: 'insufficient_balance' },
      settled: { kind: 'not-charged', at: { localMs: endedMs } } as const,
    });
    const [first, second] = [refused('id-1', 20), refused('id-2', 25)];
    const third = intentOf({ id: 'id-3', label: 'My run ft-7k3m9qpx', created: { localMs: 24 } });
    const other = {
      ...third,
      id: 'id-4',
      // Another file of that name.
      dataset: { ...third.dataset, path: '/other/train.jsonl', sha256: '1'.repeat(64) },
    };
    const continued = async (name: string, receiptsNow: Receipt[], session = sessionOf()) => {
      receipts = () => Promise.resolve(receiptsNow);
      cases[`continued, ${name}`] = await shown({ kind: 'elsewhere' }, undefined, session);
    };
    const charged = chargedAt(third, 30) as ChargedReceipt;
    const usdRun = { ...charged.settled.run, currency: 'USD' };
    const usdCharged = { ...charged, settled: { ...charged.settled, run: usdRun } };
    await continued('charged', [charged, second, first]);
    await continued('charged, in the sandbox', [charged, second, first], sandbox());
    const unpriced = { ...charged.settled, run: { run_id: 'run-1' } } as Receipt['settled'];
    const overBudget = sessionOf({ budget: { perRunCents: 100, currency: 'USD' } });
    await continued('charged, past the limit of a run', [usdCharged, second, first], overBudget);
    await continued('charged, its price unknown', [{ ...charged, settled: unpriced }, second, first]);
    open = [pendingOf('unknown', third)];
    await continued('may be charged', [second, first]);
    open = [];
    const later = chargedAt({ ...third, created: { localMs: 31 } }, 40);
    await continued('not: discarded before the same was submitted', [later, first]);
    await continued('not: another dataset', [chargedAt(other, 30), second, first]);
    receipts = () => Promise.resolve([{ ...chargedAt(draft, 1), id: 'gone' }]);
    const unanswered = { kind: 'unknown', error: BROKEN } as const;
    const foundByOther = await shown(unanswered, undefined, sessionOf(), true, 'gone');
    golden('submission-ends', { ...cases, 'unanswered, but another window got the answer': foundByOther });
  });

  it('leads from a draft that gave way to the submission that came first', async () => {
    const settled = { kind: 'withdrawn', at: { localMs: 1 } } as const;
    const first = intentOf({ id: 'first', label: 'First', created: { localMs: 0 } });
    const before = chargedAt(intentOf({ id: 'before', label: 'Before' }), 0);
    const known = (...others: Intent[]) => {
      receipts = () => Promise.resolve([...others, before, { ...draft, id: 'id-1', settled }] as Receipt[]);
    };
    open = [pendingOf('unknown', first)];
    known(first);
    const { executed, text } = await report({ kind: 'elsewhere' });
    assert.deepEqual([executed, text], [[['fineTuning.resolveSubmission', 'first']], '']);
    open = [];
    const cases: Record<string, string> = {};
    const ended = async (name: string, receipt: Receipt, session = sessionOf()) => {
      known(receipt);
      cases[name] = await shown({ kind: 'elsewhere' }, undefined, session);
    };
    const charged = chargedAt(first, 2);
    await ended('charged', charged);
    await ended('charged, in the sandbox', charged, sandbox());
    const run = { run_id: 'run-1' };
    await ended('charged, its price unknown', {
      ...charged,
      settled: { ...charged.settled, run },
    } as Receipt);
    await ended('not charged', { ...first, settled: { kind: 'not-charged', at: { localMs: 2 } } });
    await ended('discarded', { ...first, settled: { kind: 'discarded', at: { localMs: 2 } } });
    known();
    cases['neither open nor known'] = await shown({ kind: 'elsewhere' });
    golden('submission-replaced', cases);
  });

  it('says only that nothing was sent if no look was answered, and offers what helps', async () => {
    const cases: Record<string, string> = {};
    for (const [name, error] of [
      ['the connection broke', BROKEN],
      ['too many requests', new ServiceError('rate_limited', 429, '', 5_000)],
      ['another service answered', new UnexpectedResponseError(200, 'html')],
      ['not everything was read', new SubmissionError('not-answered')],
      ['no key on this machine', new KeyMissingError()],
      ['the key was rejected', new ServiceError('invalid_api_key', 401)],
      ['the key was rejected before', new KeyRejectedError()],
      ['disk full', Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' })],
      ['unexpected', new Error('x')],
      ['canceled', new CancelledError()],
    ] as const)
      cases[name] = await shown({ kind: 'unanswered', error });
    fault = 'Sandbox fault “Offline” is on.';
    cases['in the sandbox'] = await shown({ kind: 'unanswered', error: BROKEN }, undefined, sandbox());
    for (const text of Object.values(cases)) assert.doesNotMatch(text, /not charged|may/i);
    golden('submission-unanswered', cases);
    const early = await shown({ kind: 'unanswered', error: new TooEarlyError(HOUR) });
    assert.match(early, /^Nothing was sent\. The service asked to wait until .*\d:\d\d.*\. \[/);
    const { executed } = await report({ kind: 'unanswered', error: BROKEN }, 'Check Now');
    assert.deepEqual(executed, [['fineTuning.resolveSubmission', 'id-1']]);
    const missing = await report({ kind: 'unanswered', error: new KeyMissingError() }, 'Enter API Key…');
    assert.deepEqual(missing.executed, [['fineTuning.replaceKey']]);
  });

  it('begins a new submission in place of one that was withdrawn', async () => {
    const { text } = await report({ kind: 'withdrawn' });
    assert.equal(text, 'train.jsonl is not where it was. Choose the dataset to submit.');
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

  it('offers a check or the row after an unknown result, and logs it', async () => {
    const { buttons, executed } = await report({ kind: 'unknown', error: BROKEN }, 'Check Now');
    assert.deepEqual(buttons, ['Check Now', 'Show']);
    assert.deepEqual(executed, [['fineTuning.resolveSubmission', 'id-1']]);
    assert.deepEqual(logged, ['outcome-unknown']);
    const shown = await report({ kind: 'unknown', error: BROKEN }, 'Show');
    assert.deepEqual(shown.executed, [['fineTuning.runs.focus']]);
  });

  it('opens the dialog of a submission that is already open', async () => {
    const { executed, text } = await report({ kind: 'open', id: 'id-2' });
    assert.deepEqual([executed, text], [[['fineTuning.resolveSubmission', 'id-2']], '']);
  });

  it('names the fault of the sandbox, and offers no funds, which wouldn’t end it', async () => {
    fault = 'Sandbox fault “Balance too low” is on.';
    const { text, buttons } = await report(notCharged(TOO_LOW, true), '', sandbox());
    assert.equal(
      text,
      'Sandbox: Not charged: the balance of Sandbox is too low for My run. Sandbox fault “Balance too low” is on.',
    );
    assert.deepEqual(buttons, ['Choose Another', 'Continue…']);
    assert.match((await report(notCharged(TOO_LOW, true))).text, /Add funds, then continue\.$/);
  });

  it('names the fault of the sandbox in place of the reason, in two sentences', async () => {
    fault = 'Sandbox fault “Connection lost before the charge” is on.';
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
    assert.deepEqual(lost.buttons, ['Check Now', 'Show', 'Choose Another']);
    assert.deepEqual(causes, [{ error: BROKEN }]);
    // What prevents a resend is no fault of the sandbox.
    const early = await report({ kind: 'unknown', error: new TooEarlyError(HOUR) }, '', sandbox());
    assert.match(early.text, /The service asked to wait until/);
    assert.match((await report(notCharged(BROKEN, true))).text, /The connection to the service was lost\.$/);
  });

  it('says what became of it if a button is pressed after it went on', async () => {
    wentOn = true;
    for (const button of ['Add Sandbox Funds', 'Continue…']) {
      open = [pendingOf('uploading', intentOf({ id: 'id-1' }))];
      const { executed } = await report(notCharged(TOO_LOW, true), button, sandbox());
      await turn();
      assert.deepEqual([executed, standIn.shown.sentences.length], [[], 2], button);
    }
    wentOn = false;
    open = [];
    const { executed } = await report(notCharged(TOO_LOW, true), 'Continue…', sandbox());
    assert.deepEqual(executed, [['fineTuning.continueSubmission', 'id-1']]);
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

  it('reports a charge that couldn’t be recorded as one that may have been seen, when it is found', async () => {
    receipts = () => Promise.resolve([]);
    const run = { run_id: 'run-1', price_cents: 5 };
    const first = await report({ kind: 'charged', run }, undefined, undefined, undefined, draft.id);
    assert.match(first.text, /but the charge couldn’t be recorded here\.$/);
    standIn.forget();
    const reportFound = reporterOf(() => [{ ...chargedAt(draft, 1), accountId: draft.accountId }]);
    await reportFound(run);
    assert.match(standIn.shown.sentences.join(), /^My run: charged 0\.05 .*as you may have seen\.$/);
    assert.equal(told.length, 0);
    // Also if a resend found it.
    told.push(draft.id);
    receipts = () => Promise.resolve([{ ...chargedAt(draft, 1), accountId: draft.accountId }]);
    const resent = await report(
      { kind: 'charged', run, found: true },
      undefined,
      undefined,
      undefined,
      draft.id,
    );
    assert.match(resent.text, /^My run: charged 0\.05 .*as you may have seen\.$/);
  });

  it('reports a found charge in the currency of its submission, which it assumes, not in that of the balance by now', async () => {
    const balanceBefore = { balance_cents: 900, currency: 'JPY' };
    const receipt = {
      ...chargedAt({ ...draft, balanceBefore }, 1),
      accountId: draft.accountId,
    } as ChargedReceipt;
    await reporterOf(() => [receipt])(receipt.settled.run);
    assert.match(standIn.shown.sentences.join(), /Charged 5 JPY \(currency assumed from the balance\)\./);
  });

  it('reports a further run of a submission, money first, though its first run was reported', async () => {
    const receipt = chargedAt(draft, 1) as ChargedReceipt;
    const { settled } = receipt;
    let receipts = [receipt];
    const reportFound = reporterOf(() => receipts);
    await reportFound(settled.run);
    const long = 'r'.repeat(60);
    for (const prices of [[700], [700, 1, 2], [700, undefined]]) {
      const furtherRuns = prices.map((price_cents, at) => ({ run_id: long.slice(at), price_cents }));
      receipts = [{ ...receipt, settled: { ...settled, furtherRuns } }];
      await reportFound(settled.run);
    }
    const [one, two, three] = [0, 1, 2].map((at) => long.slice(at));
    assert.deepEqual(standIn.shown.sentences.slice(1), [
      `Charged twice for My run: run-1, ${one}. Contact the service.`,
      `Charged 4 times for My run: run-1, ${one}, ${two}, ${three}. Contact the service.`,
      `3 runs have the marker of My run: run-1, ${one}, ${two}. You may have been charged for each.`,
    ]);
  });

  it('reports a run once through foundRunReporter', async () => {
    const receipt = chargedAt(draft, 1) as ChargedReceipt;
    const reportFound = reporterOf(() => [receipt]);
    for (let times = 0; times < 2; times++) await reportFound(receipt.settled.run);
    assert.deepEqual([standIn.shown.sentences.length, removed], [1, ['run-1']]);
  });

  it('leaves a charge to the next window if its own has lost the connection', async () => {
    const receipt = chargedAt(draft, 1) as ChargedReceipt;
    standIn.shown.isWindowThere = false;
    await reporterOf(() => [receipt])(receipt.settled.run);
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
        const sent = { ...draft, attempts: [uploadedAttempt(1)] };
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
      fire('unknown');
      assert.deepEqual([id, result], ['id', { kind: 'elsewhere' }]);
      assert.deepEqual(standIn.shown.titles, ['Submitting train.jsonl to Work']);
      assert.deepEqual(standIn.shown.progress, [
        'Retry in 12 s · attempt 2. Cancel stops resending. You may have been charged already.',
        'Retry in 7 s · attempt 2. Cancel stops resending. You may have been charged already.',
        'Uploading 0% · attempt 2. Cancel stops resending. You may have been charged already.',
        'Upload queued',
        'Uploading 0%',
        'Validating…',
        'Retry in 12 s · attempt 2',
        'Uploading 100% · attempt 2',
      ]);
    });
  });
});
