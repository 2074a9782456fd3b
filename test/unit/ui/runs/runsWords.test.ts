import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import type { Remembered, RunsShown } from '../../../../src/ui/runs/runsShown.ts';
import { sendJson } from '../../../helpers/httpServer.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { Bench, row } from '../../../helpers/runs/support.ts';

describe('what stands above and in the rows of the Runs view', () => {
  let hooks: ModuleHooks;
  let words: typeof import('../../../../src/ui/runs/messages.ts').treeWords;
  let runTooltip: typeof import('../../../../src/ui/runs/messages.ts').runTooltip;
  let messageOf: typeof import('../../../../src/ui/runs/listItems.ts').messageOf;
  let facts: typeof import('../../../../src/ui/runs/factRows.ts');
  let runItem: typeof import('../../../../src/ui/runs/runItem.ts');
  let runsShown: typeof import('../../../../src/ui/runs/runsShown.ts');
  let tellNotAllLoaded: typeof import('../../../../src/ui/runs/listMessages.ts').tellNotAllLoaded;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let bench: Bench;
  let session: Session;
  let listed: unknown[];
  let detail: object;
  let status: number;
  let more: object;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ treeWords: words, runTooltip } = await import('../../../../src/ui/runs/messages.ts'));
    ({ tellNotAllLoaded } = await import('../../../../src/ui/runs/listMessages.ts'));
    ({ messageOf } = await import('../../../../src/ui/runs/listItems.ts'));
    facts = await import('../../../../src/ui/runs/factRows.ts');
    runItem = await import('../../../../src/ui/runs/runItem.ts');
    runsShown = await import('../../../../src/ui/runs/runsShown.ts');
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [status, more] = [200, {}];
    listed = [row('a', 2, 'complete'), row('b', 1, 'complete'), { odd: true }];
    detail = { run_id: 'a', status: 'completed', model_id: 'm' };
    const { url } = await bench.serve((request, response) => {
      const isList = new URL(String(request.url), 'http://x.test').pathname.endsWith('/runs');
      const body = isList ? { data: listed, has_more: false, ...more } : { run: detail };
      const code = status === 401 ? 'invalid_api_key' : 'internal';
      sendJson(response, status, status === 200 ? body : { error: { code, message: '' } });
    });
    session = bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
    await session.runs.refresh();
  });
  afterEach(() => bench.end());

  const fail = async (next: number) => {
    status = next;
    await assert.rejects(session.runs.refresh());
  };
  const shown = (): RunsShown => {
    const sessions = { onDidChangeActive: new Emitter().event } as unknown as Sessions;
    const memento = { get: <T>(_: string, fallback: T) => fallback, update: () => Promise.resolve() };
    return new runsShown.RunsShown(sessions, memento satisfies Remembered);
  };

  it('says that what is shown could not be read again, while the service answers with errors', async () => {
    await fail(500);
    assert.equal(session.state, 'ready');
    assert.match(
      messageOf(session, undefined),
      /^The runs could not be read again: what is shown may be out of date\.\n1 row /,
    );
    status = 200;
    await session.runs.refresh();
    assert.doesNotMatch(messageOf(session, undefined), /out of date/);
  });

  it('says that the list may be incomplete, and no longer than that is so', async () => {
    const isSaid = () => messageOf(session, undefined).includes(words.incomplete());
    let draws = 0;
    session.runs.onDidChange(() => draws++);
    more = { has_more: true, next_cursor: null };
    await session.runs.refresh();
    assert.deepEqual([isSaid(), draws], [true, 1]);
    more = {};
    await session.runs.refresh();
    assert.deepEqual([isSaid(), draws], [false, 2]);
  });

  it('says nothing of what an API key has read that is refused', async () => {
    assert.notEqual(messageOf(session, undefined), '');
    await fail(401);
    assert.equal(messageOf(session, undefined), '');
    assert.equal(
      messageOf(session, undefined, ['a submission']),
      'The runs are not shown: the service does not accept the API key of this account.',
    );
  });

  it('says since which day it is offline, where that is not today', () => {
    const offline = (sinceMs: number) => {
      const runs = { rows: [row('a', 1)], skipped: 0 };
      const one = { runs, account: {}, state: 'offline', offlineSince: sinceMs } as unknown as Session;
      return messageOf(one, undefined);
    };
    assert.match(offline(Date.now()), /^Offline since \d+:\d\d [AP]M: /u);
    assert.match(offline(Date.now() - 48 * 3_600_000), /^Offline since .*\d{4}, \d+:\d\d [AP]M: /u);
  });

  it('counts one row and one model as one', () => {
    assert.deepEqual(
      [words.skipped(1), words.provider('Acme', 1), words.provider('Acme', 2)],
      ['1 row of the service could not be read and is not shown.', 'Acme, 1 model', 'Acme, 2 models'],
    );
  });

  it('does not speak of older runs where none could be loaded', () => {
    tellNotAllLoaded(0, 'Offline.', () => undefined);
    assert.deepEqual(standIn.told.sentences, ['The runs could not be read. Offline.']);
  });

  it('counts the label as known of a run whose detail told none', async () => {
    const view = shown();
    view.filterBy({ text: 'x', modelIds: [], phases: [] });
    const said = () => view.message(session, view.of(session, Date.now(), []));
    assert.equal(
      said(),
      'Filter “x”: 0 of 2 loaded runs. The labels of 2 of them are not known; each is read at the latest when its run is opened.',
    );
    await session.runs.loadDetail('a');
    assert.equal(
      said(),
      'Filter “x”: 0 of 2 loaded runs. The label of 1 of them is not known; it is read at the latest when the run is opened.',
    );
    view.dispose();
  });

  it('is another list on another day, which is called Today then, where it is grouped', async () => {
    const view = shown();
    const [evening, midnight] = [new Date(2026, 4, 3, 23, 59), new Date(2026, 4, 4)];
    const at = (time: Date) => view.of(session, time.getTime(), []);
    assert.equal(runsShown.isSameList(at(evening), at(midnight)), true);
    await view.group(true);
    assert.equal(runsShown.isSameList(at(evening), at(new Date(2026, 4, 3, 0, 1))), true);
    assert.equal(runsShown.isSameList(at(evening), at(midnight)), false);
    view.dispose();
  });

  it('shows the details that it has where reading them once more fails', async () => {
    detail = { run_id: 'a', status: 'completed', model_id: 'm', label: 'Läbel' };
    await session.runs.loadDetail('a');
    status = 500;
    await assert.rejects(session.runs.loadDetail('a'));
    const [first] = await facts.factRows(session, 'a');
    assert.ok(first?.kind === 'fact');
    assert.deepEqual([first.fact.name, first.fact.value], ['Label', 'Läbel']);
    // Of one that was never read it says why.
    await assert.rejects(session.runs.loadDetail('b'));
    assert.match(JSON.stringify(await facts.factRows(session, 'b')), /Details could not be read/);
  });

  it('says that a status is unknown where the service sends an empty one', async () => {
    listed = [row('a', 2, ' ')];
    detail = { run_id: 'a', status: '', model_id: 'm' };
    await session.runs.refresh();
    await session.runs.loadDetail('a');
    const run = session.runs.get('a');
    assert.ok(run !== undefined);
    const downloads = { active: () => undefined, isHome: () => false };
    const view = runItem.runView(session, run, downloads as unknown as Parameters<typeof runItem.runView>[2]);
    assert.match(String(runItem.runItem(view, false, Date.now()).description), /^Status unknown · /);
    assert.match(runTooltip(view), /^Status unknown$/m);
    const rows = await facts.factRows(session, 'a');
    assert.ok(
      rows.some(
        (node) => node.kind === 'fact' && node.fact.name === 'Status' && node.fact.value === 'unknown',
      ),
    );
  });

  it('makes one plain line of what another client has sent as a label', async () => {
    const odd = '\u202etext\nof \u0007two lines ft-7k3m9qpx';
    detail = { run_id: 'a', status: 'comp\u202eleted', model_id: 'm', label: odd, plan: 'a\nb' };
    await session.runs.loadDetail('a');
    const downloads = { active: () => undefined, isHome: () => false };
    const run = session.runs.get('a');
    assert.ok(run !== undefined);
    const view = runItem.runView(session, run, downloads as unknown as Parameters<typeof runItem.runView>[2]);
    assert.equal(view.label, '<U+202E>text of <U+0007>two lines');
    assert.doesNotMatch(JSON.stringify(await facts.factRows(session, 'a')), /\\n|\u202e|\\u0007/u);
  });
});
