import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { cacheFileOf } from '../../../../src/core/accounts/account.ts';
import type { RunCreation } from '../../../../src/core/api/types.ts';
import { lazy } from '../../../../src/core/base/async.ts';
import { DisposableStore } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { CacheFile, EMPTY_CACHE, type Cache } from '../../../../src/core/runs/cacheFile.ts';
import { RequestQuota } from '../../../../src/core/runs/pacing.ts';
import type { Session, SessionState } from '../../../../src/core/runs/session.ts';
import {
  awaitsCheck,
  type FoundRun,
  type PendingSubmission,
} from '../../../../src/core/submission/pendingSubmission.ts';
import { charged, type ChargedReceipt, type Draft } from '../../../../src/core/submission/submission.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';
import { executed, forget, shown } from '../../../helpers/vscodeStandIn.ts';

const { SubmissionNotices } = await withVscode(
  () => import('../../../../src/ui/submission/submissionNotices.ts'),
);
const { activateSubmission } = await withVscode(() => import('../../../../src/ui/submission/feature.ts'));
// Load what the feature imports on demand.
await withVscode(() => import('../../../../src/ui/submission/chargeReport.ts'));

type Parts = ConstructorParameters<typeof SubmissionNotices>[0];
/** How long the warning waits for the first check. */
const FIRST_CHECK_MS = 5_000;

describe('SubmissionNotices', () => {
  let notices: InstanceType<typeof SubmissionNotices> | undefined;
  let pending: PendingSubmission[];
  /** The receipts that no window has reported. */
  let unreported: ChargedReceipt[];
  /** The submissions that a probe finds owned by other windows. */
  let owned: string[];
  /** The accounts that were checked. */
  let checked: string[];
  let reported: string[];
  let isReportingElsewhere: boolean;
  /** What loaded labels have settled. */
  let linked: FoundRun[];
  /** What a check or a label that this window read has settled. */
  let found: FoundRun[];
  /** By account: when the next check is due. */
  let dueAtMs: Map<string, number>;
  let whileChecking: () => unknown;
  let state: SessionState;
  let clockSkewMs: number | undefined;
  let changed: Emitter<PendingSubmission>;
  let stateChanged: Emitter<SessionState>;
  let activeChanged: Emitter<Session | undefined>;
  /** The sessions of inactive accounts. */
  let others: Session[];
  let runsFolder: string;

  beforeEach(async () => {
    runsFolder = await mkdtemp(path.join(tmpdir(), 'notices-test-'));
    forget();
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.UTC(2031, 4, 3) });
    [pending, unreported, owned, checked, reported, others, found, linked] = [[], [], [], [], [], [], [], []];
    isReportingElsewhere = false;
    whileChecking = () => undefined;
    [state, clockSkewMs] = ['ready', undefined];
    changed = new Emitter();
    stateChanged = new Emitter();
    activeChanged = new Emitter();
  });
  afterEach(async () => {
    notices?.dispose();
    mock.timers.reset();
    await rm(runsFolder, { recursive: true, force: true, maxRetries: 5 });
  });

  const sessionOf = (id: string, isLocked = false, isReader = true) => {
    const quota = new RequestQuota();
    quota.isReader = isReader;
    return {
      account: { id, kind: 'service', name: id },
      windowId: `window of ${id}`,
      acceptShared: () => undefined,
      models: { nameOf: () => 'Qwen 3 8B' },
      runs: { onDidChange: new Emitter<void>().event },
      quota,
      isLocked,
      get state() {
        return state;
      },
      get clockSkewMs() {
        return clockSkewMs;
      },
    } as unknown as Session;
  };
  const submissions = {
    get pending() {
      return pending;
    },
    onDidChange: (listener: (one: PendingSubmission) => void) => changed.event(listener),
    probe: () => {
      pending = pending.map((one) => (owned.includes(one.id) ? { ...one, state: 'elsewhere' } : one));
      return Promise.resolve();
    },
    nextCheckMs: (accountId: string) =>
      pending.some((one) => one.accountId === accountId && awaitsCheck(one))
        ? (dueAtMs.get(accountId) ?? 0)
        : Infinity,
    checkDue: ({ account, quota }: Session) => {
      if (!quota.isReader || !quota.take()) return Promise.resolve([]);
      checked.push(account.id);
      dueAtMs.set(account.id, Date.now() + 10_000);
      pending = pending.map((one) => (one.state === 'unchecked' ? { ...one, hasLooked: true } : one));
      whileChecking();
      return Promise.resolve(found);
    },
    linkMarked: () => Promise.resolve(linked.splice(0)),
  };
  const journalChanged = new Emitter<void>();
  const journal = {
    onDidChange: journalChanged.event,
    receipts: () => Promise.resolve(unreported),
    setShown: () => Promise.resolve(),
    unreported: () => Promise.resolve(unreported),
    reportAlone: <T>(report: () => Promise<T>) =>
      isReportingElsewhere ? Promise.resolve(undefined) : report(),
  };
  /** Waits for work on files. */
  const eventually = async (isDone: () => unknown, limitMs = 60_000) => {
    // Not by turns: a busy machine needs many. Nor by the clock that is simulated here.
    const endMs = performance.now() + limitMs;
    while ((await isDone()) !== true && performance.now() < endMs) await turn();
  };
  const later = async () => {
    for (let turns = 0; turns < 8; turns++) await turn();
  };
  const afterMs = async (ms: number) => {
    mock.timers.tick(ms);
    await later();
  };
  function partsOf(active: string, isReader = true): Parts {
    let session: Session | undefined = sessionOf(active, false, isReader);
    activeChanged.event((next) => (session = next));
    return {
      sessions: {
        get active() {
          return session;
        },
        onDidChangeActive: activeChanged.event,
        onDidChangeState: (listener: (change: unknown) => void) =>
          stateChanged.event((now) => listener({ session, state: now })),
        find: (id: string) => [session, ...others].find((one) => one?.account.id === id),
      },
      submissions,
      journal,
      runsFolder,
      rowsAboveRuns: { provide: () => undefined },
      showFoundRun: ({ run_id }: RunCreation, { dataset }: Draft, of: Session) => {
        reported.push(`${run_id} ${dataset.filename} ${of.account.id}`);
        unreported = unreported.filter(({ charge }) => charge.run.run_id !== run_id);
        return Promise.resolve();
      },
    } as unknown as Parts;
  }
  const begin = async (active = 'account-1', isReader = true) => {
    notices?.dispose();
    dueAtMs = new Map();
    notices = new SubmissionNotices(partsOf(active, isReader));
    await notices.start();
    await later();
  };

  const unknown = (id = 'one', accountId = 'account-1', ageMs = 0) =>
    pendingOf(
      'idle',
      submissionOf({
        ...{ id, accountId, created: { localMs: Date.now() - ageMs } },
        attempts: [uploadedAttempt(Date.now() - ageMs, true)],
      }),
    );
  const stopped = (id = 'one') =>
    pendingOf('unchecked', submissionOf({ id, created: { localMs: Date.now() } }));
  /** A look that finds no run, of all uploads that stopped. */
  const answer = () =>
    (pending = pending.map((one) => (one.state === 'unchecked' ? { ...one, state: 'idle' } : one)));
  const receiptOf = (
    { submission }: PendingSubmission,
    foundBy: 'answered' | 'found' | 'recognised',
    localMs = 0,
  ): ChargedReceipt =>
    charged(submission, {
      at: { localMs },
      run: { run_id: 'r', price_cents: 100, balance_after_cents: 1 },
      foundBy,
    });
  /** Returns a function that settles all open submissions, for a check or a label that was read here, or elsewhere. */
  const settle =
    (one: PendingSubmission, isFoundHere = true) =>
    () => {
      pending = [];
      unreported = [receiptOf(one, 'found', Date.now())];
      found = isFoundHere ? unreported.map((submission) => ({ submission, run: submission.charge.run })) : [];
    };

  describe('automatic checks', () => {
    it('run while a result is unknown and the service responds, one at a time, until disposed', async () => {
      state = 'connecting';
      pending = [unknown('other', 'account-2'), pendingOf('idle')];
      await begin();
      state = 'ready';
      stateChanged.fire('ready');
      await later();
      assert.deepEqual(checked, []);
      const one = unknown();
      pending = [...pending, one];
      whileChecking = () => changed.fire(one);
      changed.fire(one);
      await later();
      stateChanged.fire('ready');
      await afterMs(9_999);
      assert.deepEqual(checked, ['account-1']);
      await afterMs(1);
      assert.deepEqual(checked, ['account-1', 'account-1']);
      state = 'key-rejected';
      stateChanged.fire('key-rejected');
      state = 'ready';
      notices?.dispose();
      stateChanged.fire('ready');
      await afterMs(60_000);
      assert.equal(checked.length, 2);
    });

    it('are repeated soon while overdue, and leave the warning to the account’s reader', async () => {
      const session = sessionOf('account-1', false, false);
      pending = [unknown()];
      await begin('account-2');
      activeChanged.fire(session);
      await afterMs(FIRST_CHECK_MS - 1);
      assert.deepEqual([checked, shown.sentences], [[], []]);
      await afterMs(1);
      assert.equal(shown.sentences.length, 1);
      session.quota.isReader = true;
      await afterMs(5_000);
      assert.deepEqual(checked, ['account-1']);
    });

    it('use the sessions of other accounts, unless their API key is rejected', async () => {
      others = [sessionOf('account-2', false, false), sessionOf('account-3', true, false)];
      const one = unknown('other', 'account-2');
      pending = [one, unknown('locked', 'account-3'), unknown('gone', 'account-4')];
      whileChecking = settle(one);
      const file = new CacheFile(cacheFileOf(runsFolder, 'account-2'));
      const tokens = { left: 5, atMs: Date.now() };
      await file.write({ ...EMPTY_CACHE, by: 'other', askedAtMs: Date.now(), tokens });
      await begin();
      await eventually(() => false, 200);
      assert.deepEqual(checked, [], 'another window that shows the account has asked lately');
      // It was closed: no window that shows an account with a lost answer is silent for so long.
      for (let minute = 0; minute < 7; minute++) await afterMs(60_000);
      await eventually(() => reported.length > 0);
      assert.deepEqual([checked, reported], [['account-2'], ['r train.jsonl account-2']]);
      let shared: Cache | undefined;
      await eventually(async () => (shared = (await file.read()) ?? shared)?.by !== 'other');
      // 5, plus what 7 minutes add, minus the check.
      assert.deepEqual([shared?.by, Math.floor(shared?.tokens.left ?? 0)], [others[0]?.windowId, 12]);
    });

    it('report a charge that they found; another window may report its own for 10 seconds', async () => {
      for (const isFoundHere of [true, false]) {
        reported = [];
        await begin();
        pending = [unknown()];
        whileChecking = settle(unknown(), isFoundHere);
        changed.fire(unknown());
        await later();
        assert.equal(reported.length, isFoundHere ? 1 : 0);
        changed.fire(unknown());
        await afterMs(9_999);
        assert.equal(reported.length, isFoundHere ? 1 : 0);
        await afterMs(1);
        assert.equal(reported.length, 1);
      }
    });

    it('report that nothing was charged, with Resend… while possible', async () => {
      const explained = {
        at: { localMs: 0 },
        complete: true,
        candidates: [],
        explainedByReceipts: true as const,
      };
      const [day, lower] = [23 * 60 * 60_000, ' and no drop in your balance'];
      for (const [ageMs, buttons, lastCheck, why, aheadMs = 0] of [
        [0, ['Resend…'], undefined, lower],
        [day, [], explained, ', and your other runs explain the lower balance'],
        [0, [], undefined, lower, day],
      ] as const) {
        forget();
        clockSkewMs = aheadMs;
        const one = unknown('one', 'account-1', ageMs);
        const { created } = one.submission;
        const known = { created: { ...created, serviceMs: created.localMs } };
        pending = [{ ...one, submission: { ...one.submission, ...known, ...(lastCheck && { lastCheck }) } }];
        whileChecking = () =>
          (pending = pending.map((one) => ({ ...one, submission: { ...one.submission, stage: 'cleared' } })));
        shown.answer = ([button]) => button;
        await begin();
        const text = `Not charged for train.jsonl: two checks found no matching run${why}.`;
        assert.equal(shown.sentences[0], text);
        assert.deepEqual(shown.buttons, [buttons]);
        assert.deepEqual(
          executed,
          buttons.map(() => ['fineTuning.continueSubmission', 'one']),
        );
      }
    });
  });

  describe('after the start', () => {
    it('leaves a recent charge to the window that got the response, for a while', async () => {
      unreported = [receiptOf(unknown(), 'answered', Date.now())];
      await begin();
      await afterMs(9_999);
      assert.deepEqual([reported, unreported.length], [[], 1]);
      await afterMs(1);
      assert.equal(reported.length, 1);
    });

    it('warns once about a possible charge, without a modal dialog, and offers a check', async () => {
      pending = [unknown()];
      shown.answer = ([button]) => button;
      await begin();
      assert.match(
        shown.sentences.join(),
        /^You may have been charged for train\.jsonl: .+ We’ll keep checking\.$/,
      );
      assert.deepEqual([shown.isModal, shown.buttons], [[false], [['Check Now', 'Resend…']]]);
      assert.deepEqual(executed, [['fineTuning.resolveSubmission', 'one']]);
      activeChanged.fire(sessionOf('account-1'));
      await afterMs(FIRST_CHECK_MS);
      assert.equal(shown.sentences.length, 1);
    });

    it('promises no check of a submission that is too old or has no API key', async () => {
      const unconfirmed = 'You may have been charged for train.jsonl: the service didn’t confirm it.';
      const hour = 60 * 60_000;
      for (const [now, ageMs, text] of [
        ['ready', 2 * hour, unconfirmed],
        ['key-rejected', 0, `${unconfirmed} The service rejected this API key.`],
        ['key-missing', 0, `${unconfirmed} The API key isn’t on this machine.`],
      ] as const) {
        forget();
        state = now;
        pending = [unknown('one', 'account-1', ageMs)];
        await begin();
        await afterMs(FIRST_CHECK_MS);
        assert.equal(shown.sentences.join().replace(/ If you entered .+/, ''), text);
      }
    });

    it('reports an interrupted upload after its look, as not charged, and offers to continue it', async () => {
      state = 'connecting';
      pending = [stopped(), pendingOf('idle', submissionOf(refusedWith('odd')))];
      shown.answer = ([button]) => button;
      whileChecking = answer;
      await begin();
      assert.deepEqual(shown.sentences, []);
      state = 'ready';
      stateChanged.fire('ready');
      await later();
      assert.deepEqual(shown.sentences, ['Not charged: the upload of train.jsonl was interrupted.']);
      assert.deepEqual(shown.buttons, [['Continue…']]);
      assert.deepEqual(executed, [['fineTuning.continueSubmission', 'one']]);
      await afterMs(FIRST_CHECK_MS);
      assert.equal(shown.sentences.length, 1);
    });

    it('says once of an interrupted upload that the service didn’t answer, and nothing when it does', async () => {
      const unanswered = 'The service didn’t say whether you were charged for train.jsonl.';
      const key = ' The API key isn’t on this machine. If you entered it in another window, reload this one.';
      for (const [now, why, buttons] of [
        ['offline', '', []],
        ['key-missing', key, ['Enter API Key…']],
      ] as const) {
        forget();
        shown.answer = ([button]) => button;
        state = now;
        pending = [stopped()];
        await begin();
        await afterMs(FIRST_CHECK_MS - 1);
        assert.deepEqual(shown.sentences, []);
        await afterMs(1);
        assert.deepEqual([shown.sentences, shown.buttons], [[unanswered + why], [['Check Now', ...buttons]]]);
        assert.deepEqual(executed, [['fineTuning.resolveSubmission', 'one']]);
        state = 'ready';
        whileChecking = answer;
        stateChanged.fire('ready');
        await later();
        assert.deepEqual([pending[0]?.state, shown.sentences.length], ['idle', 1]);
      }
    });

    it('leaves an interrupted upload to the account’s reader, which alone asks the service', async () => {
      for (const [isReader, count] of [
        [false, 0],
        [true, 1],
      ] as const) {
        forget();
        pending = [stopped()];
        await begin('account-1', isReader);
        await afterMs(FIRST_CHECK_MS);
        assert.equal(shown.sentences.length, count);
      }
    });

    it('looks for one that another window leaves, which its row shows', async () => {
      await begin();
      pending = [stopped()];
      whileChecking = answer;
      changed.fire(stopped());
      await later();
      assert.deepEqual([checked, pending[0]?.state, shown.sentences], [['account-1'], 'idle', []]);
    });

    it('says nothing of one that two checks cleared before, whether or not the service answers', async () => {
      const cleared = submissionOf({ stage: 'cleared', attempts: [uploadedAttempt(0)] });
      for (const now of ['unchecked', 'idle'] as const) {
        pending = [pendingOf('unchecked', cleared)];
        whileChecking = () => (pending = [pendingOf(now, cleared, { hasLooked: true })]);
        await begin();
        await afterMs(FIRST_CHECK_MS);
      }
      assert.deepEqual([checked.length, shown.sentences], [2, []]);
    });

    it('says of each of several what is known, and leaves out one whose wait the user knows', async () => {
      const asked = submissionOf({ notBefore: { localMs: Date.now() + 3_600_000 } });
      pending = [unknown('one'), stopped('two'), pendingOf('unchecked', asked)];
      whileChecking = answer;
      await begin();
      await afterMs(FIRST_CHECK_MS);
      assert.deepEqual(shown.sentences, [
        'You may have been charged for train.jsonl: the service didn’t confirm it. We’ll keep checking.',
        'Not charged: the upload of train.jsonl was interrupted.',
      ]);
    });

    it('ignores submissions that another window owns, and other accounts until they are active', async () => {
      pending = [unknown('one'), unknown('two', 'account-2')];
      owned = ['one'];
      await begin();
      assert.deepEqual(shown.sentences, []);
      activeChanged.fire(sessionOf('account-2'));
      await later();
      assert.equal(shown.sentences.length, 1);
      pending.push(unknown('new', 'account-3'));
      activeChanged.fire(sessionOf('account-3'));
      await afterMs(FIRST_CHECK_MS);
      assert.equal(shown.sentences.length, 1, 'this window submitted it itself');
    });

    it('waits briefly for the first check, and stops if the account changes', async () => {
      state = 'connecting';
      pending = [unknown()];
      await begin();
      activeChanged.fire(undefined);
      await afterMs(FIRST_CHECK_MS);
      activeChanged.fire(sessionOf('account-1'));
      await later();
      assert.deepEqual(shown.sentences, []);
      await afterMs(FIRST_CHECK_MS);
      assert.equal(shown.sentences.length, 1);
    });

    it('leaves a charge to the next window if this one closes while the journal opens', async () => {
      const disposables = new DisposableStore();
      let open = () => {};
      activateSubmission({
        ...partsOf('account-1'),
        disposables,
        openJournal: () => new Promise<void>((resolve) => (open = resolve)),
        commands: { add: () => undefined },
      } as unknown as Parameters<typeof activateSubmission>[0]);
      unreported = [receiptOf(unknown(), 'answered')];
      disposables.dispose();
      open();
      await later();
      await later();
      assert.deepEqual([shown.sentences, unreported.length], [[], 1]);
    });

    it('reports a run that was linked to a settled submission when its account becomes active', async () => {
      const disposables = new DisposableStore();
      activateSubmission({
        ...partsOf('account-2'),
        disposables,
        openJournal: () => Promise.resolve(),
        commands: { add: () => undefined },
      } as unknown as Parameters<typeof activateSubmission>[0]);
      await later();
      const receipt = receiptOf(unknown(), 'answered', Date.now());
      unreported = [receipt];
      linked = [{ submission: receipt, run: receipt.charge.run }];
      activeChanged.fire(sessionOf('account-1'));
      await later();
      await later();
      assert.match(shown.sentences.join(), /after all/);
      disposables.dispose();
    });

    it('reports a charge once another command has opened the journal', async () => {
      const disposables = new DisposableStore();
      let isLocked = true;
      activateSubmission({
        ...partsOf('account-1'),
        disposables,
        openJournal: () => (isLocked ? Promise.reject(new Error('locked')) : Promise.resolve()),
        commands: { add: () => undefined },
        reportError: () => undefined,
      } as unknown as Parameters<typeof activateSubmission>[0]);
      await later();
      isLocked = false;
      unreported = [receiptOf(unknown(), 'answered')];
      journalChanged.fire();
      await later();
      await later();
      assert.match(shown.sentences.join(), /[Yy]ou may have seen this/);
      disposables.dispose();
    });

    for (const isRecord of [true, false])
      it(`starts once the journal can be read, for ${isRecord ? 'an open submission' : 'an unreported charge'}`, async () => {
        let failures = 1;
        whileChecking = answer;
        dueAtMs = new Map();
        const retries: (() => void)[] = [];
        const disposables = new DisposableStore();
        activateSubmission({
          ...partsOf('account-1'),
          disposables,
          openJournal: lazy(() => {
            if (failures-- > 0) return Promise.reject(new Error('locked'));
            if (isRecord) pending = [stopped()];
            else unreported = [receiptOf(unknown(), 'answered')];
            return Promise.resolve();
          }),
          commands: { add: () => undefined },
          reportError: (_error: unknown, retry: () => void) => void retries.push(retry),
        } as unknown as Parameters<typeof activateSubmission>[0]);
        await later();
        assert.deepEqual(shown.sentences, []);
        for (const retry of retries) retry();
        await later();
        await later();
        await afterMs(FIRST_CHECK_MS);
        assert.match(
          shown.sentences.join(),
          isRecord ? /^Not charged: the upload of/ : /[Yy]ou may have seen this/,
        );
        disposables.dispose();
      });
  });
});
