import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { RunFilter } from '../../../../src/core/runs/runFilter.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

describe('commands of the list of runs', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let commands: typeof import('../../../../src/ui/runs/runCommands.ts');
  let bench: Bench;
  let session: Session;
  let sessions: Sessions;
  let limits: number[];
  let gate: Promise<unknown> | undefined;
  /** From which row on the service fails. */
  let brokenFrom: number;
  /** The cursors that come, in turn, whatever is asked for. */
  let circle: readonly string[];
  let filter: RunFilter;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    commands = await import('../../../../src/ui/runs/runCommands.ts');
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [limits, gate, brokenFrom, circle] = [[], undefined, Infinity, []];
    filter = { text: '', modelIds: [], phases: [] };
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

  const shown = {
    get filter() {
      return filter;
    },
    filterBy: (next: RunFilter) => void (filter = next),
  };
  const loaded = () => session.runs.rows?.length;

  it('"Load All Runs" reads pages of 100 to the end, and tells how far it is', async () => {
    await commands.loadAllRuns(sessions);
    assert.deepEqual([loaded(), session.runs.hasMore], [730, false]);
    assert.ok(
      limits.slice(1).every((limit) => limit === 100),
      String(limits),
    );
    assert.equal(standIn.told.progress.length, limits.length - 1);
    assert.match(standIn.told.progress[1] ?? '', /^\d+ so far$/);
    assert.deepEqual(standIn.told.sentences, []);
    await commands.loadAllRuns(sessions);
    assert.equal(loaded(), 730);
  });

  it('"Load All Runs" ends at once when it is cancelled, with what it has', async () => {
    const first = loaded();
    gate = new Promise(() => undefined);
    const work = commands.loadAllRuns(sessions);
    await until(() => limits.length > 1);
    standIn.cancelled.fire();
    await work;
    assert.deepEqual([loaded(), standIn.told.sentences], [first, []]);
  });

  it('"Load All Runs" keeps what it has where the service fails, says so, and can go on', async () => {
    brokenFrom = 400;
    standIn.told.answer = ([goOn]) => goOn;
    await commands.loadAllRuns(sessions);
    const count = loaded() ?? 0;
    assert.ok(count >= 250 && count <= 400, String(count));
    assert.match(
      standIn.told.sentences[0] ?? '',
      new RegExp(`^Loaded ${count} runs, but not the older ones\\. `),
    );
    assert.deepEqual(standIn.executed, [['fineTuning.loadAllRuns']]);
    brokenFrom = Infinity;
    await commands.loadAllRuns(sessions);
    assert.equal(loaded(), 730);
  });

  it('"Load All Runs" ends where the service goes round in a circle, says so, and can go on', async () => {
    circle = ['200', '100'];
    standIn.told.answer = ([more]) => more;
    await commands.loadAllRuns(sessions);
    assert.ok(limits.length < 20, String(limits.length));
    assert.deepEqual(standIn.told.sentences, ['Loaded 300 runs. The service reports more, but sends none.']);
    assert.deepEqual(standIn.executed, [['fineTuning.loadAllRuns']]);
    circle = [];
    await commands.loadAllRuns(sessions);
    assert.deepEqual([loaded(), session.runs.isIncomplete], [730, false]);
  });

  it('"Load All Runs" leaves the telling of a rejected API key to its notice', async () => {
    brokenFrom = 0;
    await commands.loadAllRuns({ active: session, isReportedByState: () => true });
    assert.deepEqual(standIn.told.sentences, []);
  });

  it('"Filter Runs…" offers the models and phases of what is loaded, with the filter of now', async () => {
    filter = { text: 'now', modelIds: ['m2'], phases: ['finished'] };
    const boxes: string[][] = [];
    let selected: string[] = [];
    standIn.told.pick = (input) => {
      boxes.push(input.items.map(({ label, description }) => `${label}: ${description ?? ''}`));
      assert.ok(input.items.every(({ alwaysShow, kind }) => alwaysShow === true || kind === -1));
      assert.equal(input.value, 'now');
      selected = input.selectedItems.map(({ label }) => label);
      input.selectedItems = input.items.filter(({ label }) => label === 'm1' || label === 'Queued');
      return '  two words ';
    };
    await commands.filterRuns(sessions, shown, undefined);
    const count = loaded() ?? 0;
    const m1 = Math.ceil(count / 3);
    assert.deepEqual(boxes, [
      [
        'Phase: ',
        'Queued: 10 runs',
        `Completed: ${count - 10} runs`,
        'Model: ',
        `m2: ${count - m1} runs`,
        `m1: ${m1} runs`,
      ],
    ]);
    assert.deepEqual(selected, ['Completed', 'm2']);
    assert.deepEqual(filter, { text: 'two words', modelIds: ['m1'], phases: ['waiting'] });
  });

  it('"Filter Runs…" changes nothing when it is closed, and takes a text without asking', async () => {
    filter = { text: 'now', modelIds: ['m2'], phases: [] };
    await commands.filterRuns(sessions, shown, { unknown: 'argument' });
    assert.deepEqual([filter.text, standIn.told.inputs.length], ['now', 1]);
    await commands.filterRuns(sessions, shown, ' maths ');
    assert.deepEqual([filter, standIn.told.inputs.length], [{ text: 'maths', modelIds: [], phases: [] }, 1]);
  });

  it('"Filter Runs…" leaves the runs of an account alone that became active meanwhile', async () => {
    standIn.told.pick = () => {
      sessions = { active: bench.session(() => Promise.resolve(undefined)) } as unknown as Sessions;
      return 'words';
    };
    const live = {
      get active() {
        return sessions.active;
      },
    };
    await commands.filterRuns(live, shown, undefined);
    assert.deepEqual([standIn.told.inputs.length, filter.text], [1, '']);
  });

  it('"Filter Runs…" offers nothing that a rejected API key has read', async () => {
    Object.defineProperty(session, 'isLocked', { value: true });
    await commands.filterRuns(sessions, shown, undefined);
    assert.deepEqual([standIn.told.inputs, standIn.told.sentences], [[], ['No runs are loaded yet.']]);
  });

  it('"Filter Runs…" says that there is nothing yet', async () => {
    session.runs.clear();
    await commands.filterRuns(sessions, shown, undefined);
    assert.deepEqual(standIn.told.sentences, ['No runs are loaded yet.']);
  });

  describe('"Show Run"', () => {
    const show = async (argument?: unknown) => {
      const shownPages: string[][] = [];
      const show = (...ids: string[]) => Promise.resolve(void shownPages.push(ids));
      await commands.showRun(sessions, show, argument);
      return shownPages;
    };

    it('opens the page of a row or an ID, and leaves reading to the page', async () => {
      const asked = limits.length;
      assert.deepEqual(await show({ kind: 'run', runId: 'a' }), [['account-1', 'a']]);
      assert.deepEqual(await show('elsewhere'), [['account-1', 'elsewhere']]);
      assert.equal(limits.length, asked);
    });

    it('asks which run is meant, and opens nothing where none is chosen', async () => {
      assert.deepEqual(await show(), []);
      standIn.told.pick = ({ items }) => items[1]?.label;
      assert.equal((await show(7)).length, 1);
      assert.equal(standIn.told.inputs.length, 2);
    });
  });
});
