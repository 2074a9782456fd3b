import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mock } from 'node:test';
import { KeyMissingError } from '../../../../src/core/runs/session.ts';
import { newIntent, type Intent, type Moment } from '../../../../src/core/submission/intent.ts';
import type { Journal } from '../../../../src/core/submission/journal.ts';
import { stageOf, type Stage as RecordStage } from '../../../../src/core/submission/stage.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import {
  appendVersion,
  beforeNaming,
  highestVersion,
  keepVersions,
  writeVersion,
} from '../../../helpers/journalVersions.ts';
import { codeOf, created, diskFull, HOUR, MINUTE, Stage } from '../../../helpers/runs/stage.ts';
import { until } from '../../../helpers/runs/support.ts';

type Name = Exclude<RecordStage['name'], 'refused'>;
const TOO_OLD = { run_id: 'r', status: 'x', model_id: 'm', created_at: '2020-01-01T00:00:00Z' };
const OPEN: readonly Name[] = ['draft', 'begun', 'closing', 'lost', 'cleared'];
const WITHOUT_BOUNDARY: readonly Name[] = ['draft', 'begun'];
const LOOKED_FOR: readonly Name[] = ['draft', 'begun', 'cleared'];

// Rules R3 to R5 and R10 of docs/journal.md.
describe('A record that another process created', () => {
  let stage: Stage;
  let made = 0;
  beforeEach(async () => void (stage = await Stage.start()));
  afterEach(() => stage.end());

  const now = (agoMs = 0): Moment => ({
    localMs: stage.clock.nowMs() - agoMs,
    monotonicMs: stage.clock.monotonicMs() - agoMs,
    serviceMs: stage.clock.serviceMs - agoMs,
  });
  const folder = () => stage.bench.journalFolder;
  const versionOf = (id: string) => highestVersion(folder(), id);
  const stageOnDisk = (id: string) => stageOf(versionOf(id).record).name;

  /** What a record of each stage has, if it was created an hour ago. */
  const changesOf = (name: Name): Partial<Intent> => {
    const started = now(HOUR);
    const [first, last] = [now(30 * MINUTE), now(20 * MINUTE)];
    const check = { complete: true, candidates: [], balance_cents: 5000, currency: 'EUR' };
    const sent = { started, closed: started, ended: started };
    const attempts = {
      draft: [],
      begun: [{ started }],
      closing: [{ started, closed: started }],
      lost: [sent],
      cleared: [sent],
    }[name];
    return {
      attempts,
      created: started,
      balanceBefore: { balance_cents: 5000, currency: 'EUR' },
      ...(attempts.length > 0 && { keyId: 'key-1' }),
      ...(name === 'cleared' && {
        firstCleanCheck: { at: first, ...check },
        lastCheck: { at: last, ...check },
      }),
    };
  };
  /** Puts a record of another process into the folder. */
  const find = async (name: Name, changes: Partial<Intent> = {}): Promise<Intent> => {
    const marker = `ft-0000a${(++made).toString().padStart(3, '0')}`;
    const draft = await stage.marked(marker, `${made}.jsonl`);
    const intent = { ...newIntent(stage.own.account, draft, now(HOUR)), ...changesOf(name), ...changes };
    writeVersion(folder(), 1, intent);
    await stage.bench.journal.reload();
    await stage.submissions.probe();
    assert.equal(stageOnDisk(intent.id), name);
    return intent;
  };
  const stateOf = (id: string, submissions = stage.submissions) =>
    submissions.pending.find((one) => one.id === id)?.state;
  /** Lists a run of a record, as if it had been charged after this copy of it was made. */
  const list = ({ label = '', model_id }: Intent) =>
    void stage.runs.unshift({
      run_id: `run-${stage.runs.length + 1}`,
      status: 'queued',
      model_id,
      label,
      price_cents: 100,
      created_at: new Date(stage.clock.serviceMs - 50 * MINUTE).toISOString(),
    });
  /** Calls back when the list is read. */
  const onList = (then: () => void) => {
    stage.onGet = ({ url = '' }) => {
      if (url.includes('/runs?')) then();
      return false;
    };
  };
  const UNANSWERED: [name: string, body: object, status?: number][] = [
    ['an error', { error: { code: 'internal', message: '' } }, 400],
    ['a row that can’t be read', { data: [{ run_id: 7 }], has_more: false }],
    ['a page of 5,001 rows that are too old', { data: Array(5_001).fill(TOO_OLD), has_more: false }],
    [
      'a run whose label can’t be read',
      { data: [{ run_id: 'r', status: 'x', model_id: 'm' }], has_more: false },
    ],
  ];
  const answerWith = (body: object, status = 200) => {
    stage.onGet = ({ url = '' }, response) => {
      const isList = url.includes('/runs?');
      if (isList) sendJson(response, status, body, stage.date);
      return isList;
    };
  };
  const answerNothing = () => answerWith(UNANSWERED[0]![1], 400);
  const answerAgain = () => (stage.onGet = () => false);
  const discard = (id: string, confirmed: 'may-be-charged' | 'not-charged', whose = stage.own) =>
    stage.submissions.discard(id, confirmed, whose);
  const settledOnDisk = (id: string) => versionOf(id).record.settled?.kind;

  describe('is claimed before it is looked for (R3)', () => {
    for (const name of ['begun', 'closing'] as const)
      it(`by a check, which writes the end of an attempt that has none: ${name}`, async () => {
        const { id } = await find(name);
        let seen: { n: number; record: Intent } | undefined;
        onList(() => (seen = versionOf(id)));
        await stage.submissions.check(stage.own, id);
        assert.deepEqual([seen?.n, seen?.record.attempts[0]?.ended?.localMs], [2, stage.clock.nowMs()]);
        assert.equal(versionOf(id).n, 3);
      });

    for (const name of OPEN)
      it(`by Continue: ${name}`, async () => {
        const { id } = await find(name);
        const seen: number[] = [];
        onList(() => seen.push(versionOf(id).n));
        assert.equal((await stage.resume(id)).kind, 'charged');
        assert.deepEqual([seen, stage.posts.map(({ key }) => key)], [[2], [id]]);
      });

    it('so a window that was overtaken neither looks nor sends', async () => {
      let id = '';
      await stage.end();
      stage = await Stage.start({
        link: beforeNaming((text) => {
          const isClaim = id !== '' && text.includes(id) && versionOf(id).n === 1;
          if (isClaim) appendVersion(folder(), id, (record) => ({ ...record, keyId: 'theirs' }));
        }),
      });
      for (const name of LOOKED_FOR) {
        id = '';
        ({ id } = await find(name));
        assert.deepEqual(await stage.resume(id), { kind: 'elsewhere' });
      }
      assert.deepEqual([stage.gets, stage.posts], [[], []]);
    });

    for (const name of OPEN)
      it(`else nothing is sent, but its run is looked for, as on a full disk: ${name}`, async () => {
        let failures = 0;
        await stage.end();
        stage = await Stage.start({
          link: beforeNaming(() => {
            if (failures-- > 0) throw diskFull();
          }),
        });
        const intent = await find(name);
        // Only the claim fails: what comes after it could be written.
        failures = 1;
        const outcome = await stage.resume(intent.id);
        const expected = name === 'closing' || name === 'lost' ? 'unknown' : 'unanswered';
        assert.equal(outcome.kind, expected);
        assert.equal((outcome as { error: { code: string } }).error.code, 'ENOSPC');
        assert.deepEqual([stage.posts, versionOf(intent.id).n], [[], 1]);
        assert.ok(stage.gets.includes('/runs?limit=100'));
        list(intent);
        failures = 1;
        const found = await stage.resume(intent.id);
        assert.ok(found.kind === 'charged' && found.found === true);
        assert.deepEqual([stage.posts, await stage.receipts()], [[], ['charged']]);
      });
  });

  describe('is looked for before anything is sent (R4)', () => {
    for (const name of OPEN)
      it(`and is charged if its run is found: ${name}`, async () => {
        const intent = await find(name);
        list(intent);
        const outcome = await stage.resume(intent.id);
        assert.ok(outcome.kind === 'charged' && outcome.found === true);
        assert.deepEqual([stage.posts, settledOnDisk(intent.id)], [[], 'charged']);
      });

    for (const [how, body, status] of UNANSWERED)
      for (const name of OPEN)
        it(`and nothing is sent after ${how}: ${name}`, async () => {
          const { id } = await find(name);
          answerWith(body, status);
          const outcome = await stage.resume(id);
          const isUncertain = name === 'closing' || name === 'lost';
          assert.equal(outcome.kind, isUncertain ? 'unknown' : 'unanswered');
          assert.deepEqual(stage.posts, []);
          assert.equal(stateOf(id), WITHOUT_BOUNDARY.includes(name) ? 'stopped' : 'unknown');
          answerAgain();
          assert.equal((await stage.resume(id)).kind, 'charged');
        });

    it('and nothing is sent without an API key, or if it is canceled before the look', async () => {
      const { id } = await find('draft');
      const keyless = stage.bench.session(() => Promise.resolve(undefined));
      Object.assign(keyless.account, { baseUrl: stage.url });
      const outcome = await stage.resume(id, keyless);
      assert.ok(outcome.kind === 'unanswered' && outcome.error instanceof KeyMissingError);
      const stopped = await stage.submissions.resume(stage.own, id, AbortSignal.abort()).result;
      assert.equal(stopped.kind, 'unanswered');
      assert.deepEqual([stage.posts, stateOf(id)], [[], 'stopped']);
    });

    it('and nothing is said if it can’t be read whether another window took it over', async () => {
      const { id } = await find('cleared');
      await stage.submissions.check(stage.own, id);
      assert.equal(stateOf(id), 'not-charged');
      answerNothing();
      const { journal } = stage.bench;
      const cannotTell = mock.method(journal, 'assertLatest', () => Promise.reject(new Error('EIO')));
      assert.deepEqual(await stage.resume(id), { kind: 'elsewhere' });
      cannotTell.mock.restore();
      assert.equal((await stage.resume(id)).kind, 'not-charged');
    });

    it('and says “unknown” for a boundary that another window sent meanwhile, whatever this one had read', async () => {
      const { id } = await find('draft');
      appendVersion(folder(), id, (record) => ({ ...record, ...changesOf('lost') }));
      answerNothing();
      assert.equal((await stage.resume(id)).kind, 'unknown');
      assert.deepEqual(stage.posts, []);
    });
  });

  describe('is looked for before it is discarded (R4)', () => {
    for (const name of LOOKED_FOR) {
      it(`found, it is charged: ${name}`, async () => {
        for (const confirmed of ['may-be-charged', 'not-charged'] as const) {
          const intent = await find(name);
          list(intent);
          const end = await discard(intent.id, confirmed);
          assert.ok(end?.kind === 'charged');
          assert.deepEqual([end.run.price_cents, settledOnDisk(intent.id)], [100, 'charged']);
        }
      });

      it(`nothing found, it is not charged: ${name}`, async () => {
        for (const confirmed of ['may-be-charged', 'not-charged'] as const) {
          const { id } = await find(name);
          assert.deepEqual(await discard(id, confirmed), { kind: 'not-charged' });
          assert.equal(settledOnDisk(id), 'not-charged');
        }
      });

      for (const [how, body, status] of UNANSWERED)
        it(`after ${how}, it is discarded if the user confirmed that it may be charged: ${name}`, async () => {
          const { id } = await find(name);
          answerWith(body, status);
          assert.equal(await discard(id, 'not-charged'), undefined);
          assert.equal(settledOnDisk(id), undefined);
          assert.deepEqual(await discard(id, 'may-be-charged'), { kind: 'discarded' });
          assert.equal(settledOnDisk(id), 'discarded');
        });

      it(`without a session of its account, it was not looked for: ${name}`, async () => {
        const { id } = await find(name);
        assert.equal(await stage.submissions.discard(id, 'not-charged'), undefined);
        assert.equal(await discard(id, 'not-charged', stage.session('account-2')), undefined);
        assert.deepEqual(await stage.submissions.discard(id, 'may-be-charged'), { kind: 'discarded' });
        assert.deepEqual(stage.gets, []);
      });
    }

    it('with another API key than the one it was sent with, a look counts only if it finds the run', async () => {
      const other = stage.session('account-1', 'key-2');
      const { id } = await find('cleared');
      assert.equal(await discard(id, 'not-charged', other), undefined);
      assert.deepEqual(await discard(id, 'may-be-charged', other), { kind: 'discarded' });
      const charged = await find('cleared');
      list(charged);
      assert.equal((await discard(charged.id, 'not-charged', other))?.kind, 'charged');
    });

    it('but not if it may have been charged: only checks end that', async () => {
      for (const name of ['closing', 'lost'] as const) {
        const { id } = await find(name);
        assert.equal(await discard(id, 'not-charged'), undefined);
        assert.deepEqual(await discard(id, 'may-be-charged'), { kind: 'discarded' });
      }
      assert.deepEqual(stage.gets, []);
    });
  });

  describe('says nothing of money until a look was answered (R5)', () => {
    const seenBy = async (journal: Journal, id: string) => {
      await journal.reload();
      return journal.isLooked(id);
    };

    for (const [name, before, after] of [
      ['draft', 'stopped', 'unsent'],
      ['begun', 'stopped', 'unsent'],
      ['cleared', 'unknown', 'not-charged'],
    ] as const) {
      it(`of this window, or of another one that it saw: ${name}`, async () => {
        const { id } = await find(name);
        const other = await stage.otherWindow();
        const areStated = async (state: string) => {
          for (const submissions of [stage.submissions, other.submissions]) {
            await submissions.probe();
            await until(() => stateOf(id, submissions) === state);
          }
        };
        await areStated(before);
        assert.deepEqual(await stage.submissions.check(stage.own, id), { verdict: 'not-charged' });
        assert.notEqual(versionOf(id).record.looked, undefined);
        await areStated(after);
        // A process that is started later only found it.
        const later = await stage.otherWindow();
        await later.submissions.probe();
        await until(() => stateOf(id, later.submissions) === before);
      });

      it(`which was complete: ${name}`, async () => {
        const { id } = await find(name);
        for (const [how, body, status] of UNANSWERED) {
          answerWith(body, status);
          const found = await stage.submissions.check(stage.own, id).catch(() => undefined);
          assert.notEqual(found?.verdict, 'not-charged', how);
          await stage.submissions.probe();
          assert.deepEqual([stateOf(id), versionOf(id).record.looked], [before, undefined], how);
        }
      });
    }

    it('though it was looked for before this process was started', async () => {
      const { id } = await find('draft', { looked: now(MINUTE) });
      assert.deepEqual([stateOf(id), stage.bench.journal.isLooked(id)], ['stopped', false]);
      // Another window's version says nothing new.
      appendVersion(folder(), id, (record) => ({ ...record, notBefore: now() }));
      assert.equal(await seenBy(stage.bench.journal, id), false);
      appendVersion(folder(), id, (record) => ({ ...record, looked: now() }));
      assert.equal(await seenBy(stage.bench.journal, id), true);
    });

    it('and forgets that if the folder was set back', async () => {
      const { id } = await find('draft');
      const setBack = keepVersions(folder(), id);
      const other = await stage.otherWindow();
      await stage.submissions.check(stage.own, id);
      const { journal } = stage.bench;
      assert.deepEqual([await seenBy(journal, id), await seenBy(other.journal, id)], [true, true]);
      setBack();
      assert.deepEqual([await seenBy(journal, id), await seenBy(other.journal, id)], [false, false]);
      await stage.submissions.probe();
      await until(() => stateOf(id) === 'stopped');
    });

    it('also of its own ones, which it says at once, if their folder was set back', async () => {
      stage.onHead = (_request, response) => void response.writeHead(413).end();
      let setBack = () => {};
      let isKept = false;
      stage.submissions.onDidChange(({ id, state }) => {
        if (state === 'uploading' && !isKept) [isKept, setBack] = [true, keepVersions(folder(), id)];
      });
      const outcome = await stage.submit(await stage.bench.draft(300_000));
      assert.equal(outcome.kind, 'not-charged');
      const { id } = stage.intent;
      assert.deepEqual(
        [stateOf(id), stage.bench.journal.isLooked(id), stage.bench.journal.isCreated(id)],
        ['unsent', true, true],
      );
      assert.equal(versionOf(id).record.looked, undefined);
      const { submissions } = await stage.otherWindow();
      await submissions.probe();
      assert.equal(stateOf(id, submissions), 'stopped');
      setBack();
      await stage.submissions.probe();
      await until(() => stateOf(id) === 'stopped');
      assert.equal(stage.bench.journal.isCreated(id), false);
    });

    it('so it is looked for at start, then every minute until that was answered, within the quota', async () => {
      for (const name of LOOKED_FOR) {
        await find(name);
        assert.equal(stage.submissions.nextCheckMs('account-1'), -Infinity, name);
      }
      const lists = () => stage.gets.filter((path) => path.startsWith('/runs?')).length;
      const states = () => stage.states().sort();
      const due = async (passMs: number) => {
        stage.clock.pass(passMs);
        stage.gets.length = 0;
        await stage.submissions.checkDue(stage.own);
        await stage.submissions.probe();
        return lists();
      };
      assert.equal(await due(0), 0, 'without a quota');
      stage.own.quota.open(false);
      answerNothing();
      assert.equal(await due(0), 3);
      assert.equal(stage.submissions.nextCheckMs('account-1'), stage.clock.nowMs() + MINUTE);
      assert.deepEqual([await due(MINUTE - 1), states()], [0, ['stopped', 'stopped', 'unknown']]);
      answerAgain();
      assert.deepEqual([await due(1), states()], [3, ['not-charged', 'unsent', 'unsent']]);
      assert.deepEqual([await due(HOUR), stage.submissions.nextCheckMs('account-1')], [0, Infinity]);
    });

    it('but ever later, without a further version, if no look can be answered, as with another API key', async () => {
      const { id } = await find('cleared');
      const other = stage.session('account-1', 'key-2');
      other.quota.open(false);
      const versions = () =>
        readdirSync(stage.bench.journalFolder).filter((name) => name.startsWith(id)).length;
      const before = versions();
      for (const minutes of [1, 2, 4]) {
        await stage.submissions.checkDue(other);
        assert.equal(stage.submissions.nextCheckMs('account-1'), stage.clock.nowMs() + minutes * MINUTE);
        stage.clock.pass(minutes * MINUTE);
      }
      const found = await stage.submissions.check(other, id);
      assert.deepEqual(found, { verdict: 'cannot-tell', reason: 'key-replaced', candidates: [] });
      assert.deepEqual([versions(), stateOf(id)], [before, 'unknown']);
    });

    it('and a run that is found so is reported', async () => {
      const intent = await find('begun');
      list(intent);
      stage.own.quota.open(false);
      const found = await stage.submissions.checkDue(stage.own);
      assert.deepEqual(
        found.map(({ run }) => run.run_id),
        ['run-1'],
      );
      assert.equal(settledOnDisk(intent.id), 'charged');
    });

    it('and an answered look with another API key counts only without a boundary', async () => {
      const other = stage.session('account-1', 'key-2');
      for (const [name, state] of [
        ['begun', 'unsent'],
        ['cleared', 'unknown'],
      ] as const) {
        const { id } = await find(name);
        await stage.submissions.check(other, id);
        await stage.submissions.probe();
        assert.equal(stateOf(id), state, name);
      }
    });

    it('other runs that could be this one don’t matter, unless it has no marker', async () => {
      const unlabeled = (intent: Intent) => list({ ...intent, label: undefined });
      const intent = await find('begun');
      unlabeled(intent);
      await stage.submissions.check(stage.own, intent.id);
      assert.equal(stateOf(intent.id), 'unsent');
      for (const name of WITHOUT_BOUNDARY) {
        stage.runs.length = 0;
        const plain = await find(name, { marker: undefined, label: 'Läbel' });
        list(plain);
        assert.notEqual((await stage.submissions.check(stage.own, plain.id))?.verdict, 'not-charged', name);
        assert.equal(stateOf(plain.id), 'stopped', name);
      }
    });
  });

  describe('is never sent again, if that is not certain to be safe (R10)', () => {
    const TOO_LATE = 23 * HOUR;
    const untimed = () => ({ localMs: stage.clock.nowMs() });
    const cases: [string, Name, () => Partial<Intent>][] = [
      ['a draft of 23 hours', 'draft', () => ({ created: now(TOO_LATE) })],
      ['an attempt of 23 hours', 'begun', () => ({ created: now(TOO_LATE) })],
      ['an attempt with another API key', 'begun', () => ({ keyId: 'key-0' })],
    ];
    const ageless: [string, Name, () => Partial<Intent>, (() => void)?][] = [
      ['a draft without the service’s time', 'draft', () => ({ created: untimed() })],
      ['an attempt without it', 'begun', () => ({ created: untimed(), attempts: [{ started: untimed() }] })],
      ['a draft, while the service sends no time', 'draft', () => ({}), () => (stage.sendsDate = false)],
    ];
    for (const [what, name, changes, prepare] of ageless)
      it(`${what} stays as it is, since it may still be priced, and can be discarded`, async () => {
        prepare?.();
        const { id } = await find(name, changes());
        const outcome = await stage.resume(id);
        const { code } = (outcome as { error: { code: string } }).error;
        assert.deepEqual([outcome.kind, code], ['not-charged', 'clocks-disagree']);
        assert.deepEqual([stage.posts, settledOnDisk(id), stateOf(id)], [[], undefined, 'unsent']);
        assert.deepEqual(await stage.submissions.discard(id, 'not-charged', stage.own), {
          kind: 'not-charged',
        });
      });

    for (const [what, name, changes] of cases)
      it(`${what} is withdrawn after an answered look`, async () => {
        for (const how of ['resume', 'withdraw'] as const) {
          const withdraw = async (id: string) =>
            how === 'resume' ? stage.resume(id) : stage.submissions.withdraw(stage.own, id);
          const { id } = await find(name, changes());
          answerWith(UNANSWERED[how === 'resume' ? 0 : 1]![1], how === 'resume' ? 400 : 200);
          const unanswered = await withdraw(id).catch(() => undefined);
          assert.equal(unanswered?.kind, how === 'resume' ? 'unanswered' : undefined);
          assert.equal(settledOnDisk(id), undefined);
          answerAgain();
          assert.deepEqual(await withdraw(id), { kind: 'withdrawn' });
          assert.deepEqual([stage.posts, settledOnDisk(id), stateOf(id)], [[], 'withdrawn', undefined]);
          const charged = await find(name, changes());
          list(charged);
          assert.equal((await withdraw(charged.id))?.kind, 'charged');
          assert.deepEqual([stage.posts, settledOnDisk(charged.id)], [[], 'charged']);
        }
      });

    it('is sent within 23 hours of it by the first attempt’s time, if it is not known when it was created', async () => {
      const { id } = await find('begun', { created: untimed() });
      assert.equal((await stage.resume(id)).kind, 'charged');
    });

    it('is never withdrawn with a boundary', async () => {
      for (const name of ['closing', 'lost', 'cleared'] as const) {
        const { id } = await find(name, { created: now(TOO_LATE) });
        assert.equal(await stage.submissions.withdraw(stage.own, id), undefined);
        const outcome = await stage.resume(id);
        const expected = name === 'cleared' ? 'not-charged' : 'unknown';
        assert.deepEqual([outcome.kind, codeOf(outcome)], [expected, 'too-late'], name);
        assert.deepEqual([stage.posts, settledOnDisk(id)], [[], undefined]);
      }
    });

    it('so one with a boundary and another API key stays what it is', async () => {
      for (const name of ['closing', 'lost'] as const) {
        const { id } = await find(name, { keyId: 'key-0' });
        assert.equal((await stage.resume(id)).kind, 'unknown');
        assert.deepEqual([stage.posts, settledOnDisk(id), stateOf(id)], [[], undefined, 'unknown']);
      }
      const { id } = await find('cleared', { keyId: 'key-0' });
      assert.equal((await stage.resume(id)).kind, 'unanswered');
      assert.deepEqual([stage.posts, stateOf(id)], [[], 'unknown']);
    });

    it('its own draft is, by its own clocks, without the service’s time', async () => {
      stage.sendsDate = false;
      stage.answers = [created];
      assert.equal((await stage.submit()).kind, 'charged');
    });
  });
});
