import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session, SessionState } from '../../../../src/core/runs/session.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { SubmissionNotices } from '../../../../src/ui/submission/submissionNotices.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';

type Parts = ConstructorParameters<typeof SubmissionNotices>[0];

/** How long the first check may take here. */
const FIRST_MS = 10;

describe('SubmissionNotices', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let create: new (...args: ConstructorParameters<typeof SubmissionNotices>) => SubmissionNotices;
  let notices: SubmissionNotices | undefined;
  let pending: PendingSubmission[];
  let receipts: Receipt[];
  /** The receipts that nobody reported. */
  let untold: Receipt[];
  /** What other windows turn out to have. */
  let owned: string[];
  /** The accounts that were checked. */
  let checked: string[];
  let reported: string[];
  let whileChecking: () => unknown;
  let whileSettling: () => void;
  let state: SessionState;
  let changed: Emitter<PendingSubmission>;
  let stateChanged: Emitter<SessionState>;
  let activeChanged: Emitter<Session | undefined>;
  let runsChanged: Emitter<void>;
  /** The accounts of this machine that are not active. */
  let others: Session[];

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ SubmissionNotices: create } = await import('../../../../src/ui/submission/submissionNotices.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(() => {
    standIn.forget();
    [pending, receipts, untold, owned, checked, reported, others] = [[], [], [], [], [], [], []];
    whileChecking = whileSettling = () => undefined;
    state = 'ready';
    [changed, stateChanged, activeChanged, runsChanged] = [
      new Emitter(),
      new Emitter(),
      new Emitter(),
      new Emitter(),
    ];
  });
  afterEach(() => notices?.dispose());

  const sessionOf = (id: string, isLocked = false) =>
    ({
      account: { id, kind: 'service', name: id },
      runs: { onDidChange: (listener: () => void) => runsChanged.event(listener) },
      isLocked,
      get state() {
        return state;
      },
    }) as unknown as Session;

  const submitter = {
    get pending() {
      return pending;
    },
    onDidChange: (listener: (one: PendingSubmission) => void) => changed.event(listener),
    probe: () => {
      pending = pending.map((one) => (owned.includes(one.id) ? { ...one, state: 'elsewhere' } : one));
      return Promise.resolve();
    },
    checkDue: (session: Session) => {
      checked.push(session.account.id);
      return Promise.resolve(whileChecking());
    },
    settleMarked: () => {
      whileSettling();
      return Promise.resolve();
    },
  };
  const journal = {
    receipts: () => Promise.resolve(receipts),
    unreported: () => Promise.resolve(untold),
    claimNotice: (runId: string) => {
      const isMine = ({ settled }: Receipt) => settled.kind === 'charged' && settled.run.run_id === runId;
      const found = untold.some(isMine);
      untold = untold.filter((receipt) => !isMine(receipt));
      return Promise.resolve(found);
    },
  };
  const later = async () => {
    for (let turns = 0; turns < 8; turns++) await turn();
  };
  const begin = async (active = 'account-1') => {
    const session = sessionOf(active);
    const current: { session: Session | undefined } = { session };
    activeChanged.event((next) => (current.session = next));
    const sessions = {
      get active() {
        return current.session;
      },
      onDidChangeActive: activeChanged.event,
      onDidChangeState: (listener: (change: unknown) => void) =>
        stateChanged.event((now) => listener({ session, state: now })),
      find: (id: string) => [current.session, ...others].find((one) => one?.account.id === id),
    };
    const reportFoundRun: Parts['reportFoundRun'] = ({ run_id }, { dataset }, { account }) =>
      Promise.resolve(void reported.push(`${run_id} ${dataset.filename} ${account.id}`));
    notices = new create({ sessions, submitter, journal, reportFoundRun } as unknown as Parts, FIRST_MS);
    await notices.start();
    await later();
  };

  const unknownOne = (id = 'one', accountId = 'account-1') =>
    pendingOf('unknown', intentOf({ id, accountId, attempts: [wholeAttempt(Date.now(), true)] }));
  const receiptOf = ({ intent }: PendingSubmission, how: 'answered' | 'found' | 'recognised'): Receipt => ({
    ...intent,
    settled: { kind: 'charged', at: { localMs: 0 }, run: { run_id: 'r', price_cents: 100 }, how },
  });
  const press = (wanted: string) =>
    (standIn.told.answer = (buttons) => buttons.find((button) => button === wanted));

  describe('checks by itself', () => {
    it('while something is unknown and the service answers, one at a time, until it is disposed', async () => {
      state = 'connecting';
      pending = [unknownOne('other', 'account-2'), pendingOf('unsent')];
      await begin();
      state = 'ready';
      stateChanged.fire('ready');
      await later();
      assert.deepEqual(checked, []);
      const one = unknownOne();
      pending = [...pending, one];
      whileChecking = () => changed.fire(one);
      changed.fire(one);
      await later();
      stateChanged.fire('ready');
      await later();
      assert.deepEqual(checked, ['account-1', 'account-1']);
      state = 'key-rejected';
      stateChanged.fire('key-rejected');
      state = 'ready';
      notices?.dispose();
      stateChanged.fire('ready');
      await later();
      assert.equal(checked.length, 2);
    });

    it('for other accounts with their own sessions, unless their API key is rejected', async () => {
      others = [sessionOf('account-2'), sessionOf('account-3', true)];
      const one = unknownOne('other', 'account-2');
      pending = [one, unknownOne('locked', 'account-3'), unknownOne('gone', 'account-4')];
      whileChecking = () => {
        pending = [];
        receipts = untold = [receiptOf(one, 'found')];
      };
      await begin();
      assert.deepEqual([checked, reported], [['account-2'], ['r train.jsonl account-2']]);
    });

    it('and reports a charge that it found, not one that the user recognized', async () => {
      for (const how of ['found', 'recognised'] as const) {
        await begin();
        const one = unknownOne();
        pending = [one];
        whileChecking = () => {
          pending = [];
          receipts = untold = [receiptOf(one, how)];
        };
        changed.fire(one);
        await later();
        whileChecking = () => undefined;
        [untold, receipts] = [[], []];
        notices?.dispose();
      }
      assert.equal(reported.length, 1);
    });

    it('and reports that nothing was charged, with Resend… while that is possible', async () => {
      for (const [ageMs, buttons] of [
        [0, ['Resend…']],
        [23 * 60 * 60_000, []],
      ] as const) {
        standIn.forget();
        pending = [
          pendingOf('unknown', intentOf({ id: 'one', attempts: [wholeAttempt(Date.now() - ageMs)] })),
        ];
        whileChecking = () => (pending = pending.map((one) => ({ ...one, state: 'not-charged' })));
        press('Resend…');
        await begin();
        notices?.dispose();
        assert.match(standIn.told.sentences[0] ?? '', /^Not charged for train\.jsonl: /);
        assert.deepEqual(standIn.told.buttons, [buttons]);
        assert.deepEqual(
          standIn.executed,
          buttons.map(() => ['fineTuning.resolveSubmission', 'one', 'continue']),
        );
      }
    });

    it('and settles, without a check, what has its marker in a label that was read', async () => {
      state = 'offline';
      const one = unknownOne();
      pending = [one];
      await begin();
      whileSettling = () => {
        pending = [];
        receipts = untold = [receiptOf(one, 'found')];
      };
      runsChanged.fire();
      await later();
      assert.deepEqual([checked, reported], [[], ['r train.jsonl account-1']]);
    });
  });

  describe('after a start', () => {
    it('reports, in one window, what was charged just before a window was killed', async () => {
      untold = [receiptOf(unknownOne(), 'answered'), receiptOf(unknownOne('x', 'gone'), 'answered')];
      for (let windows = 0; windows < 2; windows++) {
        await begin();
        notices?.dispose();
      }
      assert.deepEqual(reported, ['r train.jsonl account-1']);
    });

    it('leaves a charge of this moment to the window that has the answer', async () => {
      const { settled, ...intent } = receiptOf(unknownOne(), 'answered');
      untold = [{ ...intent, settled: { ...settled, at: { localMs: Date.now() } } }];
      await begin();
      assert.deepEqual([reported, untold.length], [[], 1]);
    });

    it('warns once about what may have been charged, without a modal, and offers a check', async () => {
      pending = [unknownOne()];
      press('Check Now');
      await begin();
      assert.match(standIn.told.sentences.join(), /^You may have been charged for train\.jsonl: /);
      assert.deepEqual([standIn.told.isModal, standIn.told.buttons], [[false], [['Check Now']]]);
      assert.deepEqual(standIn.executed, [['fineTuning.resolveSubmission', 'one']]);
      activeChanged.fire(sessionOf('account-1'));
      await later();
      assert.equal(standIn.told.sentences.length, 1);
    });

    it('says what was not charged, and offers to continue it', async () => {
      pending = [pendingOf('unsent', intentOf({ id: 'one' })), pendingOf('refused')];
      press('Continue…');
      await begin();
      assert.deepEqual(standIn.told.sentences, ['Not charged: the upload of train.jsonl was interrupted.']);
      assert.deepEqual(standIn.executed, [['fineTuning.resolveSubmission', 'one', 'continue']]);
    });

    it('combines several, of which the user chooses', async () => {
      for (const [submissions, text] of [
        [
          [unknownOne('one'), unknownOne('two'), pendingOf('unsent')],
          /^You may have been charged for 2 submissions/,
        ],
        [[pendingOf('unsent'), pendingOf('unsent')], /^Not charged: 2 uploads/],
      ] as const) {
        standIn.forget();
        standIn.told.answer = ([button]) => button;
        pending = [...submissions];
        await begin();
        notices?.dispose();
        assert.match(standIn.told.sentences.join(), text);
        assert.equal(standIn.executed[0]?.[1], undefined);
      }
    });

    it('is silent about what another window has, and about other accounts until they are active', async () => {
      pending = [unknownOne('one'), unknownOne('two', 'account-2')];
      owned = ['one'];
      await begin();
      assert.deepEqual(standIn.told.sentences, []);
      activeChanged.fire(sessionOf('account-2'));
      await later();
      assert.equal(standIn.told.sentences.length, 1);
      pending.push(unknownOne('new', 'account-3'));
      activeChanged.fire(sessionOf('account-3'));
      await sleep(2 * FIRST_MS);
      assert.equal(standIn.told.sentences.length, 1, 'this window submitted it itself');
    });

    it('waits for the first check, but not for long', async () => {
      state = 'connecting';
      pending = [unknownOne()];
      await begin();
      assert.deepEqual(standIn.told.sentences, []);
      await sleep(2 * FIRST_MS);
      assert.equal(standIn.told.sentences.length, 1);
    });

    it('needs no warning if the first check found its run, or that nothing was charged', async () => {
      for (const found of [undefined, 'not-charged', 'uploading'] as const) {
        standIn.forget();
        pending = [unknownOne()];
        whileChecking = () =>
          (pending = found === undefined ? [] : pending.map((one) => ({ ...one, state: found })));
        await begin();
        await sleep(2 * FIRST_MS);
        notices?.dispose();
        assert.doesNotMatch(standIn.told.sentences.join(), /may have been charged/);
      }
    });

    it('warns about an account that was left meanwhile when it is active again', async () => {
      state = 'connecting';
      pending = [unknownOne()];
      await begin();
      activeChanged.fire(undefined);
      await sleep(2 * FIRST_MS);
      assert.deepEqual(standIn.told.sentences, []);
      activeChanged.fire(sessionOf('account-1'));
      await sleep(2 * FIRST_MS);
      assert.equal(standIn.told.sentences.length, 1);
    });
  });
});
