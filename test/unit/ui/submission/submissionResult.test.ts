import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { DatasetChangedError, NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import type { RunCreation } from '../../../../src/core/api/types.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { KeyMissingError, KeyRejectedError, type Session } from '../../../../src/core/runs/session.ts';
import type { ChargedReceipt, Receipt } from '../../../../src/core/submission/intent.ts';
import type {
  PendingSubmission,
  SubmissionResult,
} from '../../../../src/core/submission/pendingSubmission.ts';
import { SubmissionError } from '../../../../src/core/submission/errors.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { chargedAt, intentOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const module = await withVscode(() => import('../../../../src/ui/submission/submissionResult.ts'));
const { foundRunReporter } = await withVscode(() => import('../../../../src/ui/submission/chargeReport.ts'));

const TOO_LOW = new ServiceError('insufficient_balance', 402);
const BROKEN = new NetworkError('reset');
const UNCONFIRMED = 'You may have been charged for My run: the service didn’t confirm it.';
const HOSTILE = 'Free \u202e$(check) [x](command:y)\u200b';

describe('reportResult', () => {
  let logged: string[];
  let revealed: string[];
  let receipts: () => Promise<Receipt[]>;
  let sentMs: number;
  let open: PendingSubmission[];
  /** The runs whose notices were removed. */
  let removed: string[];

  beforeEach(() => {
    standIn.forget();
    [logged, revealed, removed, open] = [[], [], [], []];
    sentMs = Date.now();
    receipts = () => Promise.reject(BROKEN);
  });
  afterEach(() => mock.timers.reset());

  const draft = intentOf({ label: 'My run ft-7k3m9qpx', marker: 'ft-7k3m9qpx', priority_processing: true });
  const preset = { modelId: 'qwen3-8b', label: 'My run', priority: true };
  const sessionOf = (account: object = {}, refresh?: () => Promise<unknown>) =>
    ({
      account: { id: 'account-1', name: 'Work', kind: 'service', baseUrl: 'https://x.test', ...account },
      models: { nameOf: () => 'Qwen 3 8B' },
      balance: { refresh: refresh ?? (() => Promise.resolve({ balance_cents: 150, currency: 'USD' })) },
    }) as unknown as Session;

  const removeNotice = ({ settled }: ChargedReceipt) =>
    Promise.resolve(void removed.push(settled.run.run_id));
  /** Reports as `foundRunReporter` does, until the user has seen it. */
  const reporterOf = (known: () => Receipt[]) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const reportFound = foundRunReporter({ removeNotice, receipts: () => Promise.resolve(known()) });
    return async (run: RunCreation) => {
      const reported = reportFound(run, draft, sessionOf());
      for (let turns = 0; turns < 8; turns++) await turn();
      mock.timers.tick(3_000);
      await reported;
    };
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
    const end = await module.reportResult(result, id, draft, session, {
      ensureActiveAccount: () => Promise.resolve(isActive),
      journal: {
        removeNotice,
        receipts: () => receipts(),
        intents: [intentOf({ id: 'id-1', attempts: [uploadedAttempt(sentMs)] })],
      },
      log: { error: (what: string) => void logged.push(what) },
      sessions: { find: (accountId: string) => (accountId === session.account.id ? session : undefined) },
      submitter: { pending: open, probe: () => Promise.resolve() },
      submitted: { fire: ({ runId }: { runId: string }) => void revealed.push(runId) },
    } as unknown as Parameters<typeof module.reportResult>[4]);
    await turn();
    const [text = ''] = standIn.shown.sentences;
    return { text, buttons: standIn.shown.buttons[0] ?? [], executed: standIn.executed, end };
  }
  const notCharged = (error: unknown, kept: boolean) => ({ kind: 'not-charged', error, kept }) as const;

  it('states whether there was a charge: yes, no, or maybe', async () => {
    const run = { run_id: 'r', price_cents: 517, currency: 'USD' };
    assert.match((await report({ kind: 'charged', run })).text, /\. Charged 5\.17 USD; /);
    const disk = (code: string) => Object.assign(new Error('x'), { code, syscall: 'write' });
    const refusals = ['validation_failed', 'model_not_available', 'invalid_api_key', 'rate_limited'];
    for (const error of [
      ...[TOO_LOW, BROKEN, new DatasetChangedError('grew'), disk('ENOSPC'), disk('EACCES'), new Error('x')],
      ...refusals.map((code) => new ServiceError(code, 422)),
      new CancelledError(),
    ])
      for (const kept of [true, false])
        assert.match((await report(notCharged(error, kept))).text, /^Not charged: /);
    for (const error of [BROKEN, TOO_LOW, new CancelledError(), new Error('x')])
      assert.match(
        (await report({ kind: 'unknown', error })).text,
        /^You may have been charged for My run: /,
      );
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
    const unproven = intentOf({ id: 'old', attempts: [{ started: { localMs: sentMs } }] });
    const settled = (how: object, intent = intentOf({ id: 'old' })) =>
      [{ ...intent, settled: { at: { localMs: sentMs }, ...how } }] as unknown as Receipt[];
    const unknown = { outcome: 'unknown', id: 'old' };
    for (const [known, end] of [
      [[chargedReceipt({ id: 'old', run: { run_id: 'run-1' } })], { outcome: 'charged', id: 'run-1' }],
      [settled({ kind: 'not-charged' }), { outcome: 'not-charged', id: 'old' }],
      [settled({ kind: 'not-charged' }, unproven), unknown],
      [settled({ kind: 'discarded' }), unknown],
      [[], { outcome: 'unavailable' }],
    ] as const) {
      receipts = () => Promise.resolve([...known]);
      assert.deepEqual(await endOf({ kind: 'elsewhere' }, 'old'), end);
    }
    for (const [one, end] of [
      [pendingOf('unsent', intentOf({ id: 'old' })), { outcome: 'not-charged', id: 'old' }],
      [pendingOf('unsent', unproven), unknown],
      [pendingOf('elsewhere', intentOf({ id: 'old' })), unknown],
    ] as const) {
      open = [one];
      assert.deepEqual(await endOf({ kind: 'elsewhere' }, 'old'), end);
    }
    receipts = () => Promise.resolve(settled({ kind: 'not-charged' }, unproven));
    assert.deepEqual(await endOf(notCharged(new CancelledError(), false), 'old'), unknown);
  });

  it('names the price, the account, and the balance, which is read if the response had none', async () => {
    const run = { run_id: 'r', price_cents: 517, currency: 'EUR', balance_after_cents: 2 };
    for (const [result, text] of [
      [{ run }, 'Submitted My run to Work. Charged 5.17 EUR; balance 0.02 EUR.'],
      [{ run: { run_id: 'r' } }, 'Submitted My run to Work. Charged an unknown amount; balance 1.50 USD.'],
      [
        { run: { run_id: 'r', price_cents: 517 }, found: true },
        'My run was submitted to Work after all. Charged 5.17 USD (currency assumed from the balance).',
      ],
      [
        { run: { run_id: 'r' }, found: true },
        'My run was submitted to Work after all. Charged an unknown amount.',
      ],
    ] as const)
      assert.equal((await report({ kind: 'charged', ...result })).text, text);
    const unread = sessionOf({}, () => Promise.reject(BROKEN));
    assert.match(
      (await report({ kind: 'charged', run: { run_id: 'r' } }, undefined, unread)).text,
      /balance unknown\.$/,
    );
    assert.deepEqual(new Set(revealed), new Set(['r']));
  });

  it('points out an unexpected price', async () => {
    const price = (cents: number, sha256: string, atMs = 0) =>
      chargedReceipt({ atMs, dataset: { sha256 }, run: { run_id: sha256, price_cents: cents } });
    receipts = () =>
      Promise.resolve([price(400, '1'), price(400, '2'), price(900, 'r', 1), price(400, '4', 1)]);
    const text = async (run_id: string, price_cents: number, currency?: string) =>
      (await report({ kind: 'charged', run: { run_id, price_cents, ...(currency && { currency }) } })).text;
    const charged = 'Charged 9.00 USD, outside the estimate of 3.20–5.00 USD; balance 1.50 USD.';
    for (const currency of ['USD', undefined])
      assert.equal(await text('r', 900, currency), `Submitted My run to Work. ${charged}`);
    assert.match(await text('4', 400, 'USD'), /\. Charged 4\.00 USD; /);
    assert.match(await text('r', 900, 'EUR'), /\. Charged 9\.00 EUR; /);
  });

  it('says what was survived if the runs prove that there was one charge', async () => {
    const marker = 'ft-7k3m9qpx';
    const moment = { localMs: 1, serviceMs: 1 };
    const attempts = [1, 2, 3, 4].map(() => ({ started: moment, closed: moment }));
    const run = { run_id: 'r', price_cents: 101, currency: 'USD', balance_after_cents: 99_899 };
    const receipt = chargedReceipt({ marker, attempts, run });
    const { settled } = receipt;
    const text = (isFound: boolean, seen: string[], account: object = {}) => {
      const how = isFound ? 'found' : 'answered';
      receipts = () => Promise.resolve([{ ...receipt, settled: { ...settled, how } }]);
      const runs = {
        refresh: () => Promise.resolve(),
        readAtMs: 1,
        isCompleteSince: () => true,
        rows: seen.map((run_id) => ({ run_id })),
        label: () => `My run ${marker}`,
        detail: (run_id: string) => ({ run_id, label: `My run ${marker}` }),
      };
      const result = { kind: 'charged', run, ...(isFound && { found: true as const }) } as const;
      return report(result, undefined, Object.assign(sessionOf(account), { runs })).then((one) => one.text);
    };
    const sandbox = { kind: 'sandbox', name: 'Sandbox' };
    for (const [isFound, account, sentence] of [
      [false, {}, 'Submitted My run to Work. Charged 1.01 USD once; the answer came at attempt 4.'],
      [
        true,
        {},
        'My run was submitted to Work after all. Charged 1.01 USD once: the response was lost, but the run was found.',
      ],
      [
        false,
        sandbox,
        'Sandbox: submitted My run. Charged 1.01 USD of sandbox money once; the answer came at attempt 4.',
      ],
    ] as const)
      assert.equal(await text(isFound, ['r'], account), sentence);
    // Without the proof, only what this machine counted.
    for (const [account, sentence] of [
      [{}, 'Submitted My run to Work at attempt 4. Charged 1.01 USD; balance 998.99 USD.'],
      [sandbox, 'Sandbox: submitted My run at attempt 4. 1.01 USD of sandbox money; 998.99 left.'],
    ] as const)
      assert.equal(await text(false, ['r', 'another'], account), sentence);
    receipt.attempts.splice(1);
    assert.match(await text(false, ['r']), /\. Charged 1\.01 USD; balance/);
  });

  it('removes the notice of a charge only once the user can have seen it, so that a killed window repeats it', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const receipt = chargedAt(draft, 1) as ChargedReceipt;
    receipts = () => Promise.resolve([{ ...receipt, accountId: 'account-1' }]);
    await report({ kind: 'charged', run: receipt.settled.run });
    mock.timers.tick(2_999);
    await turn();
    assert.deepEqual([standIn.shown.sentences.length, removed], [1, []]);
    mock.timers.tick(1);
    await turn();
    assert.deepEqual(removed, ['run-1']);
  });

  it('says what became of a submission that another window ended, or still has', async () => {
    const ended = (settled: Receipt['settled'], changes = {}) => ({
      ...draft,
      id: 'id-1',
      ...changes,
      settled,
    });
    const at = { localMs: 1 };
    const charged = { ...chargedAt(draft, 1).settled, how: 'found' } as Receipt['settled'];
    const begun = { attempts: [{ started: at }] };
    const sent = { id: 'id-1', attempts: [uploadedAttempt(1)] };
    for (const [receipt, still, text] of [
      [ended(charged), [], /^My run was submitted to Work after all\. Charged 5\.00 USD \(curr/],
      [
        ended({ kind: 'not-charged', at }),
        [],
        /^Not charged: the submission of My run was canceled or discarded\.$/,
      ],
      [ended({ kind: 'not-charged', at }, begun), [], /^Not charged, as far as this machine knows: /],
      [
        ended({ kind: 'discarded', at }),
        [],
        /^You may have been charged for My run: the submission was disc/,
      ],
      [
        undefined,
        [pendingOf('elsewhere', intentOf(sent))],
        /^train\.jsonl: You may have been charged\. Continue/,
      ],
      [
        undefined,
        [pendingOf('elsewhere', intentOf({ id: 'id-1' }))],
        /^train\.jsonl: Open in another window\. /,
      ],
      [undefined, [], /^This submission is already resolved\.$/],
      [ended(charged, { accountId: 'signed-out' }), [], /^This submission is already resolved\.$/],
    ] as const) {
      open = [...still];
      receipts = () => Promise.resolve(receipt === undefined ? [] : [receipt]);
      assert.match((await report({ kind: 'elsewhere' })).text, text);
    }
  });

  it('says no more than this machine knows of a submission whose record may be an old copy', async () => {
    const at = { localMs: 1 };
    receipts = () =>
      Promise.resolve([
        { ...draft, id: 'old', attempts: [{ started: at }], settled: { kind: 'not-charged', at } },
      ]);
    for (const [error, kept] of [
      [new CancelledError(), false],
      [TOO_LOW, true],
      [BROKEN, true],
    ] as const) {
      const { text, buttons } = await report(notCharged(error, kept), undefined, sessionOf(), true, 'old');
      assert.equal(buttons.includes('Continue…'), kept);
      assert.match(
        text,
        /^Not charged, as far as this machine knows: the upload of train\.jsonl (was canceled|failed)\./,
      );
    }
    const rejected = notCharged(new ServiceError('invalid_api_key', 401), true);
    const { buttons } = await report(rejected, undefined, sessionOf(), true, 'old');
    assert.deepEqual(buttons, ['Replace API Key…']);
  });

  it('says that a submission without an answer was charged if another window has found its run', async () => {
    receipts = () => Promise.resolve([{ ...chargedAt(draft, 1), id: 'gone' }]);
    const { text } = await report({ kind: 'unknown', error: BROKEN }, undefined, sessionOf(), true, 'gone');
    assert.match(text, /Charged 5\.00 USD/);
  });

  it('shows the run in its own account', async () => {
    const { executed } = await report({ kind: 'charged', run: { run_id: 'r' } }, 'Show Run');
    assert.deepEqual(executed, [['fineTuning.showRun', { accountId: 'account-1', id: 'r' }]]);
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

  it('names a record that can’t be read without its path, offers its folder, and to answer the question again', async () => {
    const file = '/storage/submissions/lost.json';
    for (const code of ['journal-unreadable', 'record-in-use'] as const) {
      const failed = notCharged(new SubmissionError(code, { file }), false);
      const { text, buttons, executed } = await report(failed, 'Submit Again…');
      assert.match(text, /^Not charged: .* submission record lost\.json/);
      assert.deepEqual(
        [buttons.length, buttons[0], executed[0]?.[0]],
        [3, 'Submit Again…', 'fineTuning.submitDataset'],
      );
      const { executed: shown } = await report(failed, buttons[1]);
      assert.deepEqual(shown.map(String), [`revealFileInOS,file://${file}`]);
    }
  });

  it('offers what resolves a refusal: a dataset check with the service’s words, or a new API key', async () => {
    const invalid = new ServiceError('validation_failed', 422, 'row 7');
    const { text, buttons, executed } = await report(notCharged(invalid, true), 'Check Dataset');
    assert.match(text, /rejected train\.jsonl as invalid\. .*“row 7”$/);
    assert.deepEqual(buttons, ['Check Dataset']);
    assert.equal(executed[0]?.[0], 'fineTuning.checkDataset');
    const isRejected =
      'Not charged: the service rejected the API key of Work. Replace it, then continue train.jsonl.';
    const isMissing =
      'Not charged: the API key of Work is not on this machine. Enter it, then continue train.jsonl.';
    for (const [error, sentence, button] of [
      [new ServiceError('invalid_api_key', 401), isRejected, 'Replace API Key…'],
      [new KeyRejectedError(), isRejected, 'Replace API Key…'],
      [new KeyMissingError(), isMissing, 'Enter API Key…'],
    ] as const) {
      const refused = await report(notCharged(error, true), button);
      assert.deepEqual([refused.text, refused.buttons], [sentence, [button]]);
      assert.deepEqual(refused.executed, [['fineTuning.replaceKey', 'account-1']]);
    }
  });

  it('never mistakes a service’s error code for the extension’s own', async () => {
    for (const code of ['constructor', '__proto__', 'too-late', 'key-missing']) {
      const { text, buttons } = await report(notCharged(new ServiceError(code, 500), false));
      assert.match(text, /^Not charged: .* Service error “.+” \(500\)\.$/);
      assert.deepEqual(buttons, ['Show Log']);
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

  it('promises further checks only if there will be any, and gives the reason otherwise', async () => {
    const text = async (error: Error) => (await report({ kind: 'unknown', error })).text;
    for (const error of [
      ...[BROKEN, new CancelledError()],
      ...['idempotency_conflict', 'too-late'].map((code) => new ServiceError(code, 409)),
    ])
      assert.match(await text(error), /We’ll keep checking\.$/);
    for (const error of [new SubmissionError('too-late'), new ServiceError('invalid_api_key', 401)])
      assert.doesNotMatch(await text(error), /keep checking/);
    const locked = Object.assign(sessionOf(), { state: 'key-rejected' });
    assert.equal(
      (await report({ kind: 'unknown', error: BROKEN }, undefined, locked)).text,
      `${UNCONFIRMED} The service rejected this API key.`,
    );
    sentMs = Date.now() - 2 * 60 * 60_000;
    assert.equal(await text(BROKEN), UNCONFIRMED);
  });

  it('opens the dialog of a submission that is already open', async () => {
    const { executed, text } = await report({ kind: 'open', id: 'id-2' });
    assert.deepEqual([executed, text], [[['fineTuning.resolveSubmission', 'id-2']], '']);
  });

  it('calls the sandbox’s money sandbox money', async () => {
    const sandbox = sessionOf({ kind: 'sandbox', name: 'Sandbox' });
    const run = { run_id: 'r', price_cents: 101, currency: 'USD', balance_after_cents: 99_899 };
    for (const [result, text] of [
      [{ run }, 'Sandbox: submitted My run. 1.01 USD of sandbox money; 998.99 left.'],
      [{ run, found: true }, 'Sandbox: My run was submitted after all. 1.01 USD of sandbox money.'],
    ] as const)
      assert.equal((await report({ kind: 'charged', ...result }, undefined, sandbox)).text, text);
  });

  it('names the sandbox and offers sandbox funds', async () => {
    const sandbox = sessionOf({ kind: 'sandbox', name: 'Sandbox' });
    open = [pendingOf('elsewhere', intentOf({ id: 'id-1', origin: 'sandbox' }))];
    for (const result of [
      { kind: 'charged', run: { run_id: 'r' } },
      notCharged(TOO_LOW, true),
      notCharged(new CancelledError(), false),
      { kind: 'unknown', error: BROKEN },
      { kind: 'elsewhere' },
    ] satisfies SubmissionResult[])
      assert.match((await report(result, undefined, sandbox)).text, /^Sandbox: /);
    const { buttons, executed } = await report(notCharged(TOO_LOW, true), 'Add Sandbox Funds', sandbox);
    assert.deepEqual(buttons, ['Add Sandbox Funds', 'Continue…']);
    assert.deepEqual(executed, [['fineTuning.sandbox.addFunds']]);
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

  it('reports a found charge in the currency of its submission, not in that of the balance by now', async () => {
    const balanceBefore = { balance_cents: 900, currency: 'JPY' };
    const receipt = {
      ...chargedAt({ ...draft, balanceBefore }, 1),
      accountId: draft.accountId,
    } as ChargedReceipt;
    await reporterOf(() => [receipt])(receipt.settled.run);
    assert.match(standIn.shown.sentences.join(), /Charged 5\.00 JPY/);
  });

  it('reports a further run of a submission, money first, though its first run was reported', async () => {
    const receipt = chargedAt(draft, 1) as ChargedReceipt;
    const { settled } = receipt;
    let receipts = [receipt];
    const reportFound = reporterOf(() => receipts);
    await reportFound(settled.run);
    for (const price_cents of [700, undefined]) {
      const furtherRuns = [{ run_id: `run-${price_cents ?? 'x'}`, price_cents }];
      receipts = [{ ...receipt, settled: { ...settled, furtherRuns } }];
      await reportFound(settled.run);
    }
    assert.deepEqual(standIn.shown.sentences.slice(1), [
      'Charged twice for My run: run-1, run-700. Contact the service.',
      'Two runs have the marker of My run: run-1, run-x. You may have been charged twice.',
    ]);
  });

  it('reports a run once through foundRunReporter', async () => {
    const receipt = chargedAt(draft, 1) as ChargedReceipt;
    const reportFound = reporterOf(() => [receipt]);
    for (let times = 0; times < 2; times++) await reportFound(receipt.settled.run);
    assert.deepEqual([standIn.shown.sentences.length, removed], [1, ['run-1']]);
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
        'Upload queued',
        'Uploading 0%',
        'Validating…',
        'Retry in 12 s · attempt 2',
        'Uploading 100% · attempt 2',
      ]);
    });
  });
});
