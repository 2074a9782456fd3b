import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { Session, SessionState } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import type { Submitter } from '../../../../src/core/submission/submitter.ts';
import type { UnknownWatch } from '../../../../src/ui/submission/unknownWatch.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';

describe('after a start', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let createWatch: new (...parts: ConstructorParameters<typeof UnknownWatch>) => UnknownWatch;
  let tellFoundRunsOnce: typeof import('../../../../src/ui/submission/submissionOutcome.ts').tellFoundRunsOnce;
  let showInterrupted: typeof import('../../../../src/ui/submission/interruptedNotices.ts').showInterrupted;
  let pending: PendingSubmission[];
  let receipts: Receipt[];
  /** What other windows turn out to have. */
  let owned: string[];
  let looks: number;
  let whileLooking: () => void;
  let whileSettling: () => void;
  let state: SessionState;
  let changed: Emitter<PendingSubmission>;
  let stateChanged: Emitter<SessionState>;
  let activeChanged: Emitter<Session | undefined>;
  let runsChanged: Emitter<void>;
  /** The accounts of this machine that are not active. */
  let others: Session[];
  /** The ids of the accounts that were looked at. */
  let lookedAt: string[];
  /** The receipts that nobody was told of. */
  let untold: Receipt[];
  let watch: UnknownWatch | undefined;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ UnknownWatch: createWatch } = await import('../../../../src/ui/submission/unknownWatch.ts'));
    ({ tellFoundRunsOnce } = await import('../../../../src/ui/submission/submissionOutcome.ts'));
    ({ showInterrupted } = await import('../../../../src/ui/submission/interruptedNotices.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(() => {
    standIn.forget();
    [pending, receipts, owned, looks, state] = [[], [], [], 0, 'ready'];
    whileLooking = () => undefined;
    whileSettling = () => undefined;
    changed = new Emitter();
    stateChanged = new Emitter();
    activeChanged = new Emitter();
    runsChanged = new Emitter();
    [others, lookedAt, untold] = [[], [], []];
  });
  afterEach(() => {
    watch?.dispose();
    watch = undefined;
  });

  const sessionOf = (id: string) =>
    ({
      account: { id, kind: 'service', name: id },
      balance: { refresh: () => Promise.resolve({ balance_cents: 400, currency: 'USD' }) },
      runs: { onDidChange: (listener: () => void) => runsChanged.event(listener) },
      isLocked: false,
      get state() {
        return state;
      },
    }) as unknown as Session;
  const sessionsOf = (session: Session | undefined) =>
    ({
      active: session,
      onDidChangeActive: activeChanged.event,
      onDidChangeState: (listener: (change: unknown) => void) =>
        stateChanged.event((now) => listener({ session, state: now })),
      find: (id: string) => [session, ...others].find((one) => one?.account.id === id),
    }) as unknown as Sessions;
  const submitter = {
    probe: () => {
      pending = pending.map((one) => (owned.includes(one.id) ? { ...one, state: 'elsewhere' } : one));
      return Promise.resolve();
    },
    get pending() {
      return pending;
    },
    onDidChange: (listener: (one: PendingSubmission) => void) => changed.event(listener),
    checkDue: (session: Session) => {
      looks += 1;
      lookedAt.push(session.account.id);
      whileLooking();
      return Promise.resolve();
    },
    settleMarked: () => {
      whileSettling();
      return Promise.resolve();
    },
  } as unknown as Submitter;
  const journal = {
    receipts: () => Promise.resolve(receipts),
    untold: () => Promise.resolve(untold),
    claimNotice: (runId: string) => {
      const isMine = ({ settled }: Receipt) => settled.kind === 'charged' && settled.run.run_id === runId;
      const found = untold.some(isMine);
      untold = untold.filter((receipt) => !isMine(receipt));
      return Promise.resolve(found);
    },
  };
  const beActive = () => Promise.resolve(true);
  const begin = (tellFoundRun = tellFoundRunsOnce(beActive)) =>
    (watch = new createWatch(sessionsOf(sessionOf('account-1')), submitter, journal, beActive, tellFoundRun));
  const unknownOne = (id = 'one', accountId = 'account-1') =>
    pendingOf('unknown', intentOf({ id, accountId, attempts: [wholeAttempt(Date.now(), true)] }));
  const receiptOf = ({ intent }: PendingSubmission, how: 'answered' | 'found' | 'recognised'): Receipt => ({
    ...intent,
    settled: { kind: 'charged', at: { localMs: 0 }, run: { run_id: 'r', price_cents: 100 }, how },
  });
  const later = async () => {
    for (let turns = 0; turns < 5; turns++) await turn();
  };

  describe('looks by itself', () => {
    it('while something is not known and the service answers', async () => {
      state = 'connecting';
      begin();
      pending = [unknownOne('other', 'account-2'), pendingOf('unsent')];
      state = 'ready';
      stateChanged.fire('ready');
      await later();
      assert.equal(looks, 0);
      const [, , one] = (pending = [...pending, unknownOne()]);
      if (one !== undefined) changed.fire(one);
      await later();
      assert.equal(looks, 1);
      stateChanged.fire('ready');
      await later();
      assert.equal(looks, 2);
      state = 'key-rejected';
      stateChanged.fire('key-rejected');
      await later();
      assert.equal(looks, 2);
    });

    it('once at a time, and no more when it is disposed', async () => {
      pending = [unknownOne()];
      whileLooking = () => {
        if (looks < 9) pending.forEach((one) => changed.fire(one));
      };
      state = 'connecting';
      begin();
      state = 'ready';
      stateChanged.fire('ready');
      await later();
      assert.equal(looks, 1);
      watch?.dispose();
      stateChanged.fire('ready');
      pending.forEach((one) => changed.fire(one));
      await later();
      assert.equal(looks, 1);
    });

    it('and tells a charge that it found, with its price; not one that the person recognised', async () => {
      for (const how of ['found', 'recognised'] as const) {
        standIn.forget();
        const one = unknownOne();
        pending = [one];
        whileLooking = () => {
          pending = [];
          receipts = [receiptOf(one, how)];
          untold = how === 'found' ? receipts : [];
        };
        begin();
        await later();
        watch?.dispose();
        assert.equal(standIn.told.sentences.length, how === 'found' ? 1 : 0);
      }
    });

    it('and tells a charge once, also where the person looked at the same time', async () => {
      const one = unknownOne();
      const tellFoundRun = tellFoundRunsOnce(beActive);
      standIn.told.answer = ([button]) => button;
      for (let times = 0; times < 2; times++) {
        pending = [one];
        whileLooking = () => {
          pending = [];
          receipts = untold = [receiptOf(one, 'found')];
        };
        begin(tellFoundRun);
        await later();
        watch?.dispose();
      }
      assert.equal(standIn.told.sentences.length, 1);
      assert.match(standIn.told.sentences[0] ?? '', /its run was found\. Price: 1\.00 USD/);
      assert.deepEqual(standIn.executed, [['fineTuning.showRun', 'r']]);
    });

    it('and tells that nothing was charged, which can then be continued', async () => {
      pending = [unknownOne()];
      whileLooking = () => (pending = pending.map((one) => ({ ...one, state: 'not-charged' })));
      standIn.told.answer = ([button]) => button;
      begin();
      await later();
      assert.match(standIn.told.sentences[0] ?? '', /^train\.jsonl was not charged\./);
      assert.deepEqual(standIn.executed, [['fineTuning.continueSubmission', 'one']]);
    });

    it('for accounts that are not active with the sessions of their own, and names them', async () => {
      others = [sessionOf('account-2')];
      const one = unknownOne('other', 'account-2');
      pending = [one, unknownOne('gone', 'account-3')];
      whileLooking = () => {
        pending = [];
        receipts = untold = [receiptOf(one, 'found')];
      };
      state = 'connecting';
      begin();
      await later();
      assert.deepEqual(lookedAt, ['account-2']);
      assert.match(
        standIn.told.sentences[0] ?? '',
        /its run was found\..* Balance of account-2: 4\.00 USD\.$/,
      );
    });

    it('and not where the API key of such an account is refused', async () => {
      others = [Object.assign(sessionOf('account-2'), { isLocked: true })];
      pending = [unknownOne('other', 'account-2')];
      begin();
      await later();
      assert.deepEqual(lookedAt, []);
    });

    it('and settles what has its marker in a label that was read, without a look, and tells it', async () => {
      const one = unknownOne();
      pending = [one];
      begin();
      await later();
      assert.equal(standIn.told.sentences.length, 0);
      whileSettling = () => {
        pending = [];
        receipts = untold = [receiptOf(one, 'found')];
      };
      runsChanged.fire();
      await later();
      assert.match(
        standIn.told.sentences[0] ?? '',
        /^train\.jsonl was submitted and charged: its run was found\./,
      );
      assert.equal(looks, 1);
    });

    it('and says nothing where it is still not known', async () => {
      pending = [unknownOne()];
      begin();
      await later();
      assert.deepEqual([looks, standIn.told.sentences], [1, []]);
    });
  });

  it('tells the price of what was charged just before a window was killed, in one window, with its account', async () => {
    untold = [receiptOf(unknownOne(), 'answered'), receiptOf(unknownOne('x', 'gone'), 'answered')];
    for (let windows = 0; windows < 2; windows++) {
      begin();
      await later();
      watch?.dispose();
    }
    assert.deepEqual(standIn.told.sentences, [
      'train.jsonl was submitted and charged: its run was found. Price: 1.00 USD (currency assumed from the balance). Balance of account-1: 4.00 USD.',
    ]);
  });

  it('leaves a charge of this moment to the window that has the answer', async () => {
    const { settled, ...intent } = receiptOf(unknownOne(), 'answered');
    untold = [{ ...intent, settled: { ...settled, at: { localMs: Date.now() } } }];
    begin();
    await later();
    assert.deepEqual([standIn.told.sentences, untold.length], [[], 1]);
  });

  describe('what an earlier window left open is told once, without a modal', () => {
    const lookMs = 10;
    const begun = async (active: string | undefined) => {
      const session = active === undefined ? undefined : sessionOf(active);
      const notices = await showInterrupted(sessionsOf(session), submitter, beActive, lookMs);
      await sleep(lookMs + 5);
      await later();
      return notices;
    };

    it('as a warning where it may have been charged, with a look and what is known', async () => {
      pending = [unknownOne()];
      for (const [button, command] of [
        ['Check Now', 'fineTuning.checkSubmission'],
        ['Show', 'fineTuning.resolveSubmission'],
      ] as const) {
        standIn.forget();
        standIn.told.answer = () => button;
        (await begun('account-1')).dispose();
        assert.deepEqual(standIn.told.sentences, [
          'A submission of train.jsonl was interrupted; it may have been charged.',
        ]);
        assert.deepEqual(standIn.told.details, []);
        assert.deepEqual(standIn.told.buttons, [['Check Now', 'Show']]);
        assert.deepEqual(standIn.executed, [[command, 'one']]);
      }
    });

    it('without calling interrupted what was answered', async () => {
      for (const [said, ...states] of [
        [
          'train.jsonl may have been charged: the service didn’t confirm it.',
          pendingOf('unknown', intentOf({ attempts: [wholeAttempt(Date.now())] })),
        ],
        [
          '2 submissions may have been charged: the service didn’t confirm them.',
          pendingOf('unknown', intentOf({ attempts: [wholeAttempt(Date.now())] })),
          unknownOne(),
        ],
        [
          'train.jsonl was not charged. Its submission can be continued.',
          pendingOf(
            'unsent',
            intentOf({ attempts: [{ started: { localMs: 1 }, ended: { localMs: 2 }, code: 'network' }] }),
          ),
        ],
        [
          'A submission of train.jsonl was interrupted; it may have been charged.',
          pendingOf('unknown', intentOf({ attempts: [{ ...wholeAttempt(Date.now()), code: 'cancelled' }] })),
        ],
      ] as const) {
        standIn.forget();
        pending = [...states];
        (await begun('account-1')).dispose();
        assert.deepEqual(standIn.told.sentences, [said]);
      }
    });

    it('as a word where nothing was', async () => {
      pending = [pendingOf('unsent'), pendingOf('refused')];
      await begun('account-1');
      assert.deepEqual(standIn.told.sentences, [
        'A submission of train.jsonl was interrupted; nothing was charged. It can be continued.',
      ]);
      assert.deepEqual(standIn.told.buttons, [['Show']]);
    });

    it('together where there are several, the person choosing which one', async () => {
      pending = [unknownOne('one'), unknownOne('two'), pendingOf('unsent')];
      standIn.told.answer = ([button]) => button;
      await begun('account-1');
      assert.deepEqual(standIn.told.sentences, [
        '2 submissions were interrupted; they may have been charged.',
      ]);
      assert.deepEqual(standIn.executed, [['fineTuning.checkSubmission', undefined]]);
    });

    it('not where another window has it, and of another account when that becomes active', async () => {
      pending = [unknownOne('one'), unknownOne('two', 'account-2')];
      owned = ['one'];
      await begun('account-1');
      assert.deepEqual(standIn.told.sentences, []);
      for (let times = 0; times < 2; times++) {
        activeChanged.fire(sessionOf('account-2'));
        await sleep(lookMs + 5);
      }
      assert.equal(standIn.told.sentences.length, 1);
      pending.push(unknownOne('new', 'account-3'));
      activeChanged.fire(sessionOf('account-3'));
      await sleep(lookMs + 5);
      assert.equal(standIn.told.sentences.length, 1);
    });

    describe('after the first look', () => {
      const look = (found: PendingSubmission['state'] | undefined) => {
        for (const [at, one] of pending.entries()) {
          pending[at] = { ...one, state: 'checking' };
          changed.fire(pending[at]);
        }
        assert.deepEqual(standIn.told.sentences, []);
        const before = pending;
        pending = found === undefined ? [] : pending.map((one) => ({ ...one, state: found }));
        for (const [at, one] of before.entries()) changed.fire(pending[at] ?? one);
      };
      const isTold = async (found: PendingSubmission['state'] | undefined) => {
        pending = [unknownOne('one'), unknownOne('two')];
        const notices = await showInterrupted(
          sessionsOf(sessionOf('account-1')),
          submitter,
          beActive,
          60_000,
        );
        look(found);
        const { length } = standIn.told.sentences;
        notices.dispose();
        return length === 1;
      };

      it('where it is still not known', async () => assert.equal(await isTold('unknown'), true));

      it('but not where its run was found, or that nothing was charged', async () => {
        assert.deepEqual([await isTold(undefined), await isTold('not-charged')], [false, false]);
      });

      it('but not what the person goes on with already', async () => {
        pending = [unknownOne(), pendingOf('unsent', intentOf({ id: 'two' }))];
        const notices = await showInterrupted(
          sessionsOf(sessionOf('account-1')),
          submitter,
          beActive,
          60_000,
        );
        const [one, two] = pending;
        pending = [one, two && { ...two, state: 'refused' as const }].filter((each) => each !== undefined);
        look('uploading');
        assert.deepEqual(standIn.told.sentences, []);
        notices.dispose();
      });

      it('of an account that was left meanwhile when it is active again', async () => {
        pending = [unknownOne('one')];
        const notices = await showInterrupted(
          sessionsOf(sessionOf('account-1')),
          submitter,
          beActive,
          60_000,
        );
        activeChanged.fire(undefined);
        look('unknown');
        assert.deepEqual(standIn.told.sentences, []);
        activeChanged.fire(sessionOf('account-1'));
        look('unknown');
        assert.equal(standIn.told.sentences.length, 1);
        notices.dispose();
      });
    });
  });
});
