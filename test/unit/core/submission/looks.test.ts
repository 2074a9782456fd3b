import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Session } from '../../../../src/core/runs/session.ts';
import { newSubmission, type Submission, type Moment } from '../../../../src/core/submission/submission.ts';
import type { Submissions } from '../../../../src/core/submission/submissions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import {
  appendVersion,
  beforeNaming,
  highestVersion,
  writeVersion,
} from '../../../helpers/journalVersions.ts';
import { codeOf, diskFull, endOf, HOUR, MINUTE, Stage } from '../../../helpers/runs/stage.ts';
import { silent, until } from '../../../helpers/runs/support.ts';

/** How far another process got. `cut`: it was killed after the last bytes. */
type Kind = 'draft' | 'sending' | 'cut' | 'sent' | 'cleared';
const KINDS: readonly Kind[] = ['draft', 'sending', 'cut', 'sent', 'cleared'];
const WITHOUT_LAST_BYTES: readonly Kind[] = ['draft', 'sending'];
/** The kinds of records that a window may call not charged. */
const LOOKED_FOR: readonly Kind[] = ['draft', 'sending', 'cleared'];
const MAY_BE_CHARGED: readonly Kind[] = ['cut', 'sent'];

/** The result of a resend whose look is unanswered, and the state that is shown then. */
const unansweredOf = (kind: Kind) =>
  MAY_BE_CHARGED.includes(kind) ? ['unknown', 'sent'] : ['unanswered', 'unchecked'];

const UNANSWERED: [body: object, status?: number][] = [
  [{ error: { code: 'internal', message: '' } }, 400],
  [{ data: [{ run_id: 7 }], has_more: false }],
];

// Rules 4 to 6, 8 and 10 of docs/journal.md.
describe('A record that another process created', () => {
  let stage: Stage;
  let made = 0;
  /** Called before a version gets its name. */
  let atNaming: (text: string) => void;
  beforeEach(async () => {
    atNaming = () => undefined;
    stage = await Stage.start({ link: beforeNaming((text) => atNaming(text)) });
  });
  afterEach(() => stage.end());

  const now = (agoMs = 0): Moment => ({
    localMs: stage.clock.nowMs() - agoMs,
    monotonicMs: stage.clock.monotonicMs() - agoMs,
    serviceMs: stage.clock.serviceMs - agoMs,
  });
  const folder = () => stage.bench.journalFolder;
  const versionOf = (id: string) => highestVersion(folder(), id);
  const onDisk = (id: string) => endOf(versionOf(id).record);

  /** The fields of a record that was created, sent and left some time ago. */
  const changesOf = (kind: Kind, agoMs = HOUR): Partial<Submission> => {
    const started = now(agoMs);
    const check = { complete: true, candidates: [], balance_cents: 5000, currency: 'EUR' };
    const sent = { started, closed: started, ended: started };
    return {
      stage: kind === 'cut' ? 'sent' : kind,
      attempts: {
        draft: [],
        sending: [{ started }],
        cut: [{ started, closed: started }],
        sent: [sent],
        cleared: [sent],
      }[kind],
      created: started,
      balanceBefore: { balance_cents: 5000, currency: 'EUR' },
      ...(kind === 'cleared' && {
        firstCleanCheck: { at: now(30 * MINUTE), ...check },
        lastCheck: { at: now(20 * MINUTE), ...check },
      }),
    };
  };
  /** Puts a record of another process into the folder. */
  const find = async (kind: Kind, changes: Partial<Submission> = {}): Promise<Submission> => {
    const marker = `ft-0000a${(++made).toString().padStart(3, '0')}`;
    const draft = await stage.marked(marker, `${made}.jsonl`);
    const chosen = { id: randomUUID(), ...draft };
    const created = newSubmission(stage.own.account, chosen, { keyId: 'key-1' }, now(HOUR));
    const submission = { ...created, ...changesOf(kind), ...changes };
    writeVersion(folder(), 1, submission);
    await stage.bench.journal.reload();
    await stage.submissions.probe();
    return submission;
  };
  /** Returns what this window shows: its stage, or `unchecked` until a look was answered. */
  const saidOf = (id: string, submissions = stage.submissions) => {
    const one = submissions.pending.find((pending) => pending.id === id);
    return one && (one.state === 'idle' ? endOf(one.submission) : one.state);
  };
  /** Lists a run of a record, as if it had been charged after this copy of it was made. */
  const list = ({ label = '', model_id }: Pick<Submission, 'label' | 'model_id'>) =>
    void stage.runs.unshift({
      ...{ run_id: `run-${stage.runs.length + 1}`, status: 'queued', model_id, label, price_cents: 100 },
      created_at: new Date(stage.clock.serviceMs - 50 * MINUTE).toISOString(),
    });
  const answerWith = (body: object, status = 200): undefined => {
    stage.onGet = ({ url = '' }, response) => {
      const isList = url.includes('/runs?');
      if (isList) sendJson(response, status, body, stage.date);
      return isList;
    };
  };
  const answerNothing = () => answerWith(...UNANSWERED[0]!);
  const answerAgain = () => (stage.onGet = () => false);
  const discard = (id: string, confirmed: 'may-be-charged' | 'not-charged', whose = stage.own) =>
    stage.submissions.discard(id, confirmed, whose);
  const otherKey = () => stage.session('account-1', 'key-2');
  const keyless = () => {
    const session = stage.bench.session(() => Promise.resolve(undefined));
    return Object.assign(session, { account: { ...session.account, baseUrl: stage.url } });
  };
  const throwDiskFull = () => {
    throw diskFull();
  };
  const errorOf = (outcome: object) =>
    'error' in outcome ? (outcome.error as { code: string }).code : undefined;

  describe('is claimed, looked for and sent, in this order (rule 4)', () => {
    for (const kind of KINDS)
      it(`by Continue: ${kind}`, async () => {
        const { id } = await find(kind);
        const seen: unknown[] = [];
        stage.onGet = ({ url = '' }) => {
          const { n, record } = versionOf(id);
          if (url.includes('/runs?'))
            seen.push([n, record.attempts.every(({ ended }) => ended !== undefined)]);
          return false;
        };
        assert.equal((await stage.resume(id)).kind, 'charged');
        assert.deepEqual([seen, stage.posts.map(({ key }) => key)], [[[2, true]], [id]]);
      });

    it('so a window that was overtaken neither looks nor sends', async () => {
      for (const kind of LOOKED_FOR) {
        const { id } = await find(kind);
        atNaming = (text) => {
          const isClaim = text.includes(id) && versionOf(id).n === 1;
          if (isClaim) appendVersion(folder(), id, (record) => ({ ...record, notBefore: now() }));
        };
        assert.deepEqual(await stage.resume(id), { kind: 'elsewhere' });
      }
      assert.deepEqual([stage.gets, stage.posts], [[], []]);
    });

    for (const kind of KINDS)
      it(`and is charged if its run is found, with any API key: ${kind}`, async () => {
        for (const session of [stage.own, otherKey()]) {
          const submission = await find(kind);
          list(submission);
          const outcome = await stage.resume(submission.id, session);
          assert.ok(outcome.kind === 'charged' && outcome.found === true);
          assert.deepEqual([stage.posts, onDisk(submission.id)], [[], 'charged']);
        }
      });

    for (const [why, code, prepare] of [
      ['after an error', 'internal', () => answerNothing()],
      ['after a row that can’t be read', 'not-answered', () => answerWith(...UNANSWERED[1]!)],
      ['with another API key', 'key-replaced', () => ({ session: otherKey() })],
      ['without an API key', 'key-missing', () => ({ session: keyless() })],
      ['if the claim can’t be written', 'ENOSPC', () => void (atNaming = throwDiskFull)],
      ['if it is canceled before', 'cancelled', () => ({ signal: AbortSignal.abort() })],
    ] as [string, string, () => { session?: Session; signal?: AbortSignal } | undefined][])
      it(`else nothing is sent, and its charge stays open: ${why}`, async () => {
        for (const kind of KINDS) {
          const { id } = await find(kind);
          const { session = stage.own, signal = silent() } = prepare() ?? {};
          const outcome = await stage.submissions.resume(session, id, signal).result;
          assert.deepEqual([outcome.kind, saidOf(id)], unansweredOf(kind), kind);
          assert.deepEqual([errorOf(outcome), stage.posts], [code, []], kind);
          atNaming = () => undefined;
          answerAgain();
          assert.equal((await stage.resume(id)).kind, 'charged', kind);
          stage.posts.length = 0;
        }
      });

    it('and its charge stays open if this window can’t read whether another one took it over', async () => {
      const { id } = await find('cleared');
      await stage.submissions.check(stage.own, id);
      assert.equal(saidOf(id), 'cleared');
      answerNothing();
      const { journal } = stage.bench;
      const cannotTell = mock.method(journal, 'assertLatest', () => Promise.reject(new Error('EIO')));
      assert.deepEqual(await stage.resume(id), { kind: 'elsewhere' });
      cannotTell.mock.restore();
      assert.equal((await stage.resume(id)).kind, 'not-charged');
    });
  });

  it('is charged by a label that was loaded, also after a look that didn’t find its run', async () => {
    const { own, submissions } = stage;
    const { id, ...submission } = await find('draft');
    await submissions.check(own, id);
    assert.equal(saidOf(id), 'draft');
    list(submission);
    await own.runs.refresh();
    await own.runs.loadDetail('run-1');
    const found = await submissions.linkMarked(own);
    assert.deepEqual([found.map(({ run }) => run.run_id), onDisk(id)], [['run-1'], 'charged']);
  });

  for (const kind of ['draft', 'sent'] as const)
    it(`is found by its label only once if the charge can’t be written: ${kind}`, async () => {
      const { own, submissions } = stage;
      const submission = await find(kind);
      await submissions.check(own, submission.id);
      list(submission);
      await own.runs.refresh();
      await own.runs.loadDetail('run-1');
      atNaming = throwDiskFull;
      let links = 0;
      const link = async () => {
        if (links++ < 50) await submissions.linkMarked(own);
      };
      const subscription = own.runs.onDidChange(() => void link());
      assert.equal((await submissions.linkMarked(own)).length, 1);
      // Long enough for an endless loop to show.
      await delay(300);
      subscription.dispose();
      assert.ok(links < 20, String(links));
    });

  describe('has a copy of its label in a run of more than an hour after its attempts (rule 4)', () => {
    for (const kind of ['cut', 'sent', 'cleared'] as const)
      it(`which neither a check nor its label settles, and a resend asks first: ${kind}`, async () => {
        const { own, submissions } = stage;
        const submission = await find(kind, changesOf(kind, 3 * HOUR));
        list(submission);
        await own.runs.refresh();
        await own.runs.loadDetail('run-1');
        assert.deepEqual(await submissions.linkMarked(own), []);
        const found = await submissions.check(own, submission.id);
        assert.ok(found?.verdict === 'cannot-tell' && found.reason === 'candidates');
        assert.equal(found.candidates[0]?.run_id, 'run-1');
        // The check has written the end of an attempt that had none.
        assert.equal((await submissions.check(own, submission.id))?.verdict, 'cannot-tell');
        assert.deepEqual(await submissions.linkMarked(own), []);
        assert.deepEqual(
          [saidOf(submission.id), await discard(submission.id, 'not-charged')],
          ['sent', undefined],
        );
        // Nor does it turn a discarded submission into a charged one.
        assert.equal((await discard(submission.id, 'may-be-charged'))?.kind, 'discarded');
        assert.deepEqual([await submissions.linkMarked(own), onDisk(submission.id)], [[], 'discarded']);
        const other = await find(kind, changesOf(kind, 3 * HOUR));
        list(other);
        const asked = await stage.resume(other.id);
        assert.deepEqual([asked.kind, codeOf(asked), stage.posts], ['unknown', 'candidates', []]);
        assert.equal((await stage.resume(other.id)).kind, 'charged');
      });

    it('and which stays foreign after a resend, if the user took it for that', async () => {
      const [first] = changesOf('sent', 3 * HOUR).attempts!;
      const [second] = changesOf('sent', 5 * MINUTE).attempts!;
      // Its run was created 50 minutes ago.
      const submission = await find('sent', { attempts: [first!, second!] });
      list(submission);
      const found = await stage.submissions.check(stage.own, submission.id);
      assert.equal(found?.verdict, 'cannot-tell');
      assert.equal(onDisk(submission.id), 'sent');
    });

    it('but which counts without last bytes: then the storage was set back', async () => {
      const { started } = changesOf('sending', 3 * HOUR).attempts![0]!;
      const submission = await find('draft', { attempts: [{ started, ended: started }] });
      list(submission);
      assert.equal((await stage.submissions.check(stage.own, submission.id))?.verdict, 'charged');
    });
  });

  describe('is looked for before it is discarded (rule 6)', () => {
    for (const kind of LOOKED_FOR)
      it(`and ends as the look says; if unanswered, as the user confirmed: ${kind}`, async () => {
        for (const confirmed of ['may-be-charged', 'not-charged'] as const)
          for (const session of [stage.own, otherKey()]) {
            const charged = await find(kind);
            list(charged);
            assert.equal((await discard(charged.id, confirmed, session))?.kind, 'charged');
            const { id } = await find(kind);
            const isAnswered = session === stage.own;
            const end = isAnswered ? 'not-charged' : confirmed === 'not-charged' ? undefined : 'discarded';
            assert.equal((await discard(id, confirmed, session))?.kind, end);
            assert.deepEqual([onDisk(charged.id), onDisk(id)], ['charged', end ?? kind]);
          }
        for (const prepare of [() => stage.session('account-2'), answerNothing]) {
          const { id } = await find(kind);
          const session = prepare() ?? stage.own;
          assert.equal(await discard(id, 'not-charged', session), undefined);
          assert.deepEqual(await discard(id, 'may-be-charged', session), { kind: 'discarded' });
        }
      });

    it('but not if it may have been charged: only checks end that', async () => {
      for (const kind of MAY_BE_CHARGED) {
        const { id } = await find(kind);
        assert.equal(await discard(id, 'not-charged'), undefined);
        assert.deepEqual(await discard(id, 'may-be-charged'), { kind: 'discarded' });
      }
      assert.deepEqual(stage.gets, []);
    });
  });

  describe('is “not charged” for no window before its own look was answered (rule 5)', () => {
    const said = async (id: string, submissions: Submissions, what: string) => {
      await submissions.probe();
      await until(() => saidOf(id, submissions) === what);
    };

    for (const kind of LOOKED_FOR)
      it(`whatever another window was answered, and no version says so: ${kind}`, async () => {
        const { id } = await find(kind);
        const other = await stage.otherWindow();
        for (const answer of UNANSWERED) {
          answerWith(...answer);
          const found = await stage.submissions.check(stage.own, id).catch(() => undefined);
          assert.notEqual(found?.verdict, 'not-charged');
          assert.equal(saidOf(id), 'unchecked');
        }
        const withOtherKey = await stage.submissions.check(otherKey(), id);
        assert.ok(withOtherKey?.verdict === 'cannot-tell' && withOtherKey.reason === 'key-replaced');
        assert.equal(saidOf(id), 'unchecked');
        answerAgain();
        assert.deepEqual(await stage.submissions.check(stage.own, id), { verdict: 'not-charged' });
        await said(id, stage.submissions, kind);
        await said(id, other.submissions, 'unchecked');
        assert.deepEqual(await other.submissions.check(stage.own, id), { verdict: 'not-charged' });
        await said(id, other.submissions, kind);
        assert.equal(versionOf(id).n, 1);
      });

    it('but the one that created it, which says so at once', async () => {
      stage.onHead = (_request, response) => void response.writeHead(413).end();
      assert.equal((await stage.submit(await stage.bench.draft(300_000))).kind, 'not-charged');
      const { id } = stage.submission;
      await said(id, stage.submissions, 'draft');
      await said(id, (await stage.otherWindow()).submissions, 'unchecked');
    });

    it('so each window looks for it at start, then less and less often until that is answered, within the quota', async () => {
      for (const kind of LOOKED_FOR) {
        await find(kind);
        assert.equal(stage.submissions.nextCheckMs('account-1'), -Infinity, kind);
      }
      let found: readonly { run: { run_id: string } }[] = [];
      const due = async (passMs: number) => {
        stage.clock.pass(passMs);
        stage.gets.length = 0;
        found = await stage.submissions.checkDue(stage.own);
        await stage.submissions.probe();
        return stage.gets.filter((path) => path.startsWith('/runs?')).length;
      };
      answerNothing();
      stage.own.quota.isReader = false;
      assert.equal(await due(0), 3, 'each window looks once');
      assert.equal(stage.submissions.nextCheckMs('account-1'), stage.clock.nowMs() + MINUTE);
      assert.equal(await due(MINUTE), 0, 'another window is the reader');
      stage.own.quota.isReader = true;
      assert.equal(await due(0), 3);
      assert.deepEqual([await due(2 * MINUTE - 1), new Set(stage.states())], [0, new Set(['unchecked'])]);
      answerAgain();
      assert.deepEqual([await due(1), stage.states().sort()], [3, ['cleared', 'draft', 'sending']]);
      assert.deepEqual([await due(HOUR), stage.submissions.nextCheckMs('account-1')], [0, Infinity]);
      list(await find('sending'));
      // After a charge was found, the runs are read again.
      assert.ok((await due(0)) > 0);
      assert.equal(found[0]?.run.run_id, 'run-1');
    });

    it('other runs that could be this one don’t matter, unless it has no marker', async () => {
      for (const kind of WITHOUT_LAST_BYTES)
        for (const marker of ['ft-0000b001', undefined]) {
          stage.runs.length = 0;
          const { id, model_id } = await find(kind, { marker, label: marker ? `Läbel ${marker}` : 'Läbel' });
          list({ model_id, label: marker ? '' : 'Läbel' });
          await stage.submissions.check(stage.own, id);
          assert.equal(saidOf(id), marker ? kind : 'unchecked', `${kind} ${marker}`);
        }
    });
  });

  describe('is never sent again, if that is not certain to be safe (rule 10)', () => {
    const untimed = () => ({ created: { localMs: now().localMs } });
    const tooOld = () => ({ created: now(23 * HOUR) });
    for (const [what, kind, changes, expected, code, end] of [
      ['a draft of 23 hours', 'draft', tooOld, 'ended', undefined, 'not-charged'],
      ['an attempt', 'sending', tooOld, 'ended', undefined, 'not-charged'],
      ['last bytes', 'cut', tooOld, 'unknown', 'too-late', 'sent'],
      ['a lost answer', 'sent', tooOld, 'unknown', 'too-late', 'sent'],
      ['two checks', 'cleared', tooOld, 'not-charged', 'too-late', 'cleared'],
      // It may still be priced, so it doesn't end.
      ['a draft of unknown age', 'draft', untimed, 'not-charged', 'clocks-disagree', 'draft'],
    ] as [string, Kind, () => Partial<Submission>, string, string | undefined, string][])
      it(`then it ends, or stays, after an answered look only: ${what}`, async () => {
        const { id } = await find(kind, changes());
        answerNothing();
        assert.deepEqual([(await stage.resume(id)).kind, saidOf(id)], unansweredOf(kind));
        answerAgain();
        const outcome = await stage.resume(id);
        assert.deepEqual([outcome.kind, errorOf(outcome), onDisk(id)], [expected, code, end]);
        assert.deepEqual(stage.posts, []);
      });

    it('with another API key than it was created with, even if nothing was sent; then it stays until discarded', async () => {
      stage.onGet = (_request, response) => Boolean(response.destroy());
      assert.equal((await stage.submit()).kind, 'not-charged');
      const { id, attempts } = stage.submission;
      assert.deepEqual(attempts, []);
      answerAgain();
      const { submissions } = await stage.otherWindow();
      for (const [window, kind] of [
        [stage.submissions, 'not-charged'],
        [submissions, 'unanswered'],
      ] as const) {
        await window.probe();
        const outcome = await window.resume(otherKey(), id, silent()).result;
        assert.deepEqual([outcome.kind, errorOf(outcome), onDisk(id)], [kind, 'key-replaced', 'draft']);
      }
      assert.equal(await submissions.discard(id, 'not-charged', otherKey()), undefined);
      assert.deepEqual(await submissions.discard(id, 'may-be-charged', otherKey()), { kind: 'discarded' });
      assert.deepEqual(stage.posts, []);
    });
  });
});
