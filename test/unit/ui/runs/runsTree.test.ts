import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ModuleHooks } from 'node:module';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { ActiveDownload, DownloadRecord } from '../../../../src/core/downloads/types.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { Submitter } from '../../../../src/core/submission/submitter.ts';
import type { RunsNode } from '../../../../src/ui/runs/runRows.ts';
import type * as vscode from 'vscode';
import type { RunsShown } from '../../../../src/ui/runs/runsShown.ts';
import type { RunsTree, RunsTreeParts } from '../../../../src/ui/runs/runsTree.ts';
import { sendJson, bodyOf } from '../../../helpers/httpServer.ts';
import { Bench, row, silent, until } from '../../../helpers/runs/support.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../../helpers/submissions.ts';
import type { ViewStandIn } from '../../../helpers/vscodeStandIn.ts';

describe('RunsTree', () => {
  let hooks: ModuleHooks;
  let createTree: new (parts: RunsTreeParts) => RunsTree;
  let createRows: typeof import('../../../../src/ui/submission/submissionRows.ts').SubmissionRows;
  let createShown: typeof RunsShown;
  let views: ViewStandIn[];
  let settings: Map<string, unknown>;
  let focus: typeof import('../../../helpers/vscodeStandIn.ts').focus;
  let bench: Bench;
  let submitter: Submitter;
  let session: Session;
  let others: Session[];
  let isSignedOut: boolean;
  let tree: RunsTree;
  let shown: RunsShown;
  let active: Emitter<Session | undefined>;
  let unseen: number;
  let unseenChanged: Emitter<string>;
  let seen: string[];
  let downloaded: Emitter<{ accountId: string; runId: string }>;
  let downloads: { active: ActiveDownload[]; home: string[]; verified: DownloadRecord['verified'] };
  let drawn: (RunsNode | RunsNode[] | undefined)[];
  let answer: (path: string) => [status: number, body: unknown];
  let paths: string[];

  before(async () => {
    hooks = standInForVscode();
    ({ views, settings, focus } = await import('../../../helpers/vscodeStandIn.ts'));
    ({ SubmissionRows: createRows } = await import('../../../../src/ui/submission/submissionRows.ts'));
    ({ RunsTree: createTree } = await import('../../../../src/ui/runs/runsTree.ts'));
    ({ RunsShown: createShown } = await import('../../../../src/ui/runs/runsShown.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    bench = await Bench.start();
    submitter = new Submitter(bench.journal);
    drawn = [];
    paths = [];
    answer = (path) =>
      path.endsWith('/runs')
        ? [200, { data: [row('a', 1, 'queued'), row('b', 0, 'queued')], has_more: false }]
        : [200, path.endsWith('/balance') ? { balance_cents: 5, currency: 'USD' } : { run: { run_id: 7 } }];
    const server = await bench.serve((request, response) => {
      const path = new URL(String(request.url), 'http://x.test').pathname;
      paths.push(path);
      bodyOf(request).then(
        () => sendJson(response, ...answer(path)),
        () => undefined,
      );
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' });
    active = new Emitter<Session | undefined>();
    others = [];
    isSignedOut = false;
    const sessions = {
      get active() {
        return isSignedOut ? undefined : session;
      },
      onDidChangeActive: active.event,
      find: (id: string) => [session, ...others].find(({ account }) => account.id === id),
    } as unknown as Sessions;
    const memento = { get: <T>(_key: string, fallback: T) => fallback, update: () => Promise.resolve() };
    shown = new createShown(sessions, memento as unknown as vscode.Memento);
    [unseen, seen] = [0, []];
    unseenChanged = new Emitter();
    downloaded = new Emitter();
    downloads = { active: [], home: [], verified: 'zip' };
    const ledger = {
      unseen: () => unseen,
      see: (accountId: string) => Promise.resolve(void seen.push(accountId)),
      follow: () => Promise.resolve(),
      onDidChangeUnseen: unseenChanged.event,
    };
    tree = new createTree({
      sessions,
      submitter,
      submissions: new createRows(sessions, submitter),
      ledger,
      shown,
      downloads: {
        get active() {
          return downloads.active;
        },
        records: () =>
          downloads.home.map(
            (runId) => ({ runId, artifactType: 'model', verified: downloads.verified }) as DownloadRecord,
          ),
        onDidChange: downloaded.event,
      },
    });
    tree.onDidChangeTreeData((node) => drawn.push(node));
  });
  afterEach(async () => {
    settings.clear();
    focus.focused = true;
    tree.dispose();
    submitter.dispose();
    await bench.end();
  });

  const texts = async (node?: RunsNode) =>
    (await tree.getChildren(node)).map((child) => tree.getTreeItem(child).label);
  const contextOf = (node: RunsNode) => tree.getTreeItem(node).contextValue;
  const badge = () => views[views.length - 1]?.badge?.value;

  it('asks once for a detail that cannot be read, however often it is drawn, and is not offline for it', async () => {
    await session.runs.refresh();
    const [run] = await tree.getChildren();
    assert.equal(run?.kind, 'run');
    const states: string[] = [];
    session.onDidChangeState((state) => states.push(state));
    for (let turn = 0; turn < 5; turn++)
      assert.match(JSON.stringify(await texts(run)), /^\["Couldn’t load the details\./);
    assert.equal(paths.filter((path) => path.endsWith('/runs/a')).length, 1);
    assert.deepEqual(states, []);
    session.runs.retryDetails();
    await texts(run);
    assert.equal(paths.filter((path) => path.endsWith('/runs/a')).length, 2);
  });

  it('counts active runs, but none while the API key is rejected', async () => {
    await session.runs.refresh();
    assert.equal(badge(), 2);
    answer = () => [401, { error: { code: 'invalid_api_key', message: '' } }];
    await assert.rejects(session.runs.refresh());
    assert.deepEqual([badge(), await tree.getChildren()], [undefined, []]);
  });

  it('names a run by its label without the marker, or by its model', async () => {
    await session.runs.refresh();
    session.runs.insertCreated({ run_id: 'a' }, 'm', 'maths ft-7k3m9qpx');
    session.runs.insertCreated({ run_id: 'b' }, 'm', 'ft-7k3m9qpx');
    assert.deepEqual((await texts()).sort(), ['m', 'maths']);
  });

  it('draws the list when a submission comes, and only its row while it is uploaded', async () => {
    const held = Promise.withResolvers<undefined>();
    session.onDidChangeState(() => drawn.push(undefined));
    await session.runs.refresh();
    drawn.length = 0;
    let events = 0;
    const contexts: (string | undefined)[] = [];
    submitter.onDidChange(({ state }) => {
      events += 1;
      if (state === 'validating') held.resolve(undefined);
      const node = (tree.getChildren() as RunsNode[]).find(({ kind }) => kind === 'submission');
      if (node !== undefined && contextOf(node) !== contexts.at(-1)) contexts.push(contextOf(node));
    });
    const begin = submitter.submit(session, await bench.draft(500_000), silent()).result;
    await until(() => drawn.length > 0);
    const [node] = (await tree.getChildren()) as [RunsNode];
    await held.promise;
    const drawnByUpload = drawn.filter((one) => one === undefined).length;
    assert.ok(events > 20, `${events} events`);
    assert.equal(drawnByUpload, 1);
    assert.ok(
      drawn.length >= 2 &&
        drawn.slice(1).every((one) => Array.isArray(one) && one.length === 1 && one[0] === node),
    );
    assert.equal((await begin).kind, 'unknown');
    assert.deepEqual(contexts, [
      'submission.cancellable',
      'submission.validating',
      'submission.checking',
      'submission.unknown',
    ]);
    assert.equal(tree.getParent(node), undefined);
  });

  describe('the rows of runs', () => {
    const many = (count: number, changes: object = {}) =>
      Array.from({ length: count }, (_, index) => ({
        ...row(`r${index}`, undefined, 'complete'),
        created_at: new Date(Date.now() - index * 3_600_000).toISOString(),
        ...changes,
      }));
    const list = (data: unknown[], has_more = false) => {
      answer = (path) =>
        path.endsWith('/runs')
          ? [200, { data, has_more, ...(has_more && { next_cursor: 'next' }) }]
          : [404, { error: { code: 'not_found', message: '' } }];
      return session.runs.refresh();
    };
    const only = async () => {
      const [node, ...others] = await tree.getChildren();
      assert.ok(node !== undefined && others.length === 0);
      return node;
    };
    const item = async () => tree.getTreeItem(await only());
    const view = () => views[views.length - 1] as ViewStandIn;
    const download = (state: ActiveDownload['state'], receivedBytes = 0, totalBytes?: number) =>
      ({
        id: 'd',
        accountId: session.account.id,
        runId: 'r0',
        artifactType: 'model',
        filename: undefined,
        target: '/x.zip',
        receivedBytes,
        state,
        ...(totalBytes !== undefined && { totalBytes }),
      }) satisfies ActiveDownload;
    const hear = () => downloaded.fire({ accountId: session.account.id, runId: 'r0' });

    it('show an unknown status as one line, without a spinner', async () => {
      await list(many(1, { status: 'warm\ning\u202e_up' }));
      const { description, iconPath, tooltip } = await item();
      assert.match(String(description), /^warm ing<U\+202E>_up · just now$/);
      assert.equal((iconPath as { id: string }).id, 'pulse');
      assert.equal(tooltip, undefined);
    });

    it('open the page of the run when they are selected, by mouse or Enter', async () => {
      await list(many(1));
      const { command } = await item();
      assert.deepEqual([command?.command, command?.arguments], ['fineTuning.showRun', ['r0']]);
    });

    it('have their tooltip when it is asked for', async () => {
      await list(many(1));
      const node = await only();
      const { tooltip } = await tree.resolveTreeItem(tree.getTreeItem(node), node);
      assert.match(tooltip as string, /^Model: m\nStatus: Completed\nCreated: .+\nRun ID: r0$/);
    });

    it('show downloads in progress and done, and have the menus for them', async () => {
      await list(many(1, { artifacts_available: true }));
      const seen: string[] = [];
      const look = async () => {
        hear();
        const { description, contextValue, iconPath } = await item();
        const said = String(description).split(' · ').at(-1);
        seen.push(`${contextValue} ${(iconPath as { id: string }).id} ${said}`);
      };
      await look();
      downloads.active = [download('waiting')];
      await look();
      downloads.active = [download('interrupted'), download('downloading', 41, 100)];
      await look();
      downloads.active = [download('downloading', 41), download('interrupted')];
      await look();
      downloads.active = [download('verifying', 100, 100)];
      await look();
      downloads.active = [download('interrupted', 41, 100)];
      await look();
      downloads.active = [];
      downloads.home = ['r0'];
      downloads.verified = 'html';
      await look();
      downloads.verified = 'zip';
      await look();
      assert.deepEqual(seen, [
        'run.downloadable pass just now',
        'run.downloading pass waiting to download',
        'run.downloading pass downloading 41%',
        'run.downloading pass downloading',
        'run.downloading pass verifying',
        'run.downloadable pass download interrupted',
        // What came was a web page.
        'run.downloadable pass just now',
        'run.downloadable.downloaded pass-filled downloaded',
      ]);
      await list(many(1));
      assert.equal((await item()).contextValue, 'run.downloaded');
      assert.deepEqual(
        ['run.downloading', 'run.downloaded', 'run.downloadable'].map((context) =>
          menusOf(context).filter((one) => /ownload|Adapter/.test(one)),
        ),
        [['cancelDownload'], ['inspectAdapter'], ['downloadAdapter']],
      );
    });

    it('are drawn alone when they alone have changed', async () => {
      await list(many(5));
      await texts();
      drawn.length = 0;
      hear();
      session.runs.knowLabels([['r3', 'Läbel']]);
      await list(many(5, { status: 'completed' }));
      assert.deepEqual(
        drawn.map((nodes) => (nodes as (RunsNode & { kind: 'run' })[]).map(({ runId }) => runId).join()),
        ['r0', 'r3', 'r0,r1,r2,r3,r4'],
      );
      drawn.length = 0;
      await list(many(6));
      assert.deepEqual([drawn.filter((node) => node === undefined).length, drawn.length], [1, 1]);
    });

    it('show the progress of a download every second, and its states at once', async () => {
      await list(many(2, { artifacts_available: true }));
      await texts();
      view().show(true);
      drawn.length = 0;
      const hearOf = (...progress: Parameters<typeof download>) => {
        downloads.active = [download(...progress)];
        hear();
        return drawn.length;
      };
      assert.equal(hearOf('waiting'), 1);
      for (const bytes of [0, 10, 20, 40]) assert.equal(hearOf('downloading', bytes, 100), 1);
      await until(() => drawn.length === 2);
      assert.match(String(tree.getTreeItem((drawn[1] as RunsNode[])[0] as RunsNode).description), /40%$/);
      assert.equal(hearOf('verifying', 100, 100), 3);
      downloads.active = [];
      hear();
      assert.deepEqual(
        drawn.map((nodes) => (nodes as RunsNode[]).length),
        [1, 1, 1, 1],
      );
    });

    it('are all drawn without the list while it is the same', async () => {
      await list(many(3));
      await texts();
      drawn.length = 0;
      // Everything says something else: prices have a currency, rows are dimmed.
      await session.balance.refresh().catch(() => undefined);
      answer = () => [502, '<html>'];
      await assert.rejects(session.runs.refresh());
      assert.equal(session.state, 'offline');
      assert.ok(drawn.length > 0 && drawn.every((nodes) => Array.isArray(nodes) && nodes.length === 3));
    });

    it('are asked for again when the account changes', async () => {
      await list(many(3));
      await texts();
      drawn.length = 0;
      active.fire(session);
      assert.equal(drawn.at(-1), undefined);
    });

    it('are drawn fast by the thousands, and seldom while more come', async () => {
      await list(many(10_000));
      const started = performance.now();
      const nodes = await tree.getChildren();
      for (const node of nodes) tree.getTreeItem(node);
      assert.equal(nodes.length, 10_000);
      const tookMs = performance.now() - started;
      assert.ok(tookMs < 1_500, `${tookMs} ms`);
      drawn.length = 0;
      const more = performance.now();
      for (let count = 10_001; count < 10_006; count++) await list(many(count));
      const seconds = (performance.now() - more) / 1_000;
      assert.ok(drawn.filter((node) => node === undefined).length <= 1 + seconds);
    });

    it('are dimmed while the service is out of reach', async () => {
      await list(many(1));
      assert.equal((await item()).resourceUri, undefined);
      answer = () => [502, '<html>'];
      await assert.rejects(session.runs.refresh());
      assert.equal(session.state, 'offline');
      const { resourceUri, iconPath } = await item();
      assert.equal(resourceUri?.scheme, 'fine-tuning-offline');
      assert.equal((iconPath as { color: { id: string } }).color.id, 'disabledForeground');
      assert.match(view().message ?? '', /^Offline since .+\. This may be out of date\.$/);
      await list(many(1));
      assert.deepEqual([(await item()).resourceUri, view().message], [undefined, '']);
    });

    it('show times by the clock of the service', async () => {
      const skewMs = 3 * 3_600_000;
      Object.defineProperty(session, 'clockSkewMs', { value: skewMs });
      await list(many(1));
      assert.match(String((await item()).description), / · 3 h ago$/);
    });

    it('of another account read no details', async () => {
      await list(many(1));
      paths.length = 0;
      assert.deepEqual(await tree.getChildren({ kind: 'run', runId: 'stranger' }), []);
      assert.deepEqual(paths, []);
    });

    it('are filtered, and the view says so', async () => {
      await list(
        many(30, { model_id: 'm1' }).map((run, index) => ({
          ...run,
          status: index < 3 ? 'queued' : 'complete',
        })),
        true,
      );
      session.runs.knowLabels([['r12', 'Mäths']]);
      shown.filterBy({ text: 'mäths', modelIds: ['m1'], phases: ['finished'] });
      assert.equal((await texts()).length, 2);
      assert.equal(
        view().message,
        'Filter “mäths” · m1 · Completed: 1 of 30 loaded runs. 29 labels are not loaded yet and were not searched. Older runs are not loaded.',
      );
      shown.filterBy({ text: 'mäths', modelIds: [], phases: [] });
      assert.deepEqual(await texts(), ['Mäths', 'Load More']);
      // A label that becomes known, too.
      session.runs.knowLabels([['r7', 'more mäths']]);
      assert.deepEqual((await texts()).length, 3);
      shown.filterBy({ text: 'nothing', modelIds: [], phases: [] });
      assert.deepEqual(await texts(), ['No loaded runs match. Select to clear the filter.', 'Load More']);
      const [none] = await tree.getChildren();
      assert.equal(none && tree.getTreeItem(none).command?.command, 'fineTuning.clearRunsFilter');
      shown.clearFilter();
      assert.deepEqual([(await texts()).length, view().message], [31, '']);
    });

    it('are grouped by day, the first ones expanded', async () => {
      const rows = many(400).map((run, index) => ({
        ...run,
        created_at: new Date(
          new Date().setHours(12, 0, 0, 0) - Math.floor(index / 40) * 86_400_000,
        ).toISOString(),
      }));
      await list(rows, true);
      await shown.toggleGrouping();
      const days = await tree.getChildren();
      const items = days.map((node) => tree.getTreeItem(node));
      assert.deepEqual(
        items.slice(0, 2).map(({ label }) => label),
        ['Today', 'Yesterday'],
      );
      assert.deepEqual(
        [items.length, items.at(-1)?.label, items[0]?.description, items[0]?.tooltip],
        [11, 'Load More', '40', 'Today, 40 runs'],
      );
      assert.deepEqual(
        items.slice(0, 5).map(({ collapsibleState }) => collapsibleState),
        [2, 2, 2, 1, 1],
      );
      const [, yesterday] = days as [RunsNode, RunsNode];
      const children = await tree.getChildren(yesterday);
      assert.deepEqual([children.length, children[0]], [40, { kind: 'run', runId: 'r40' }]);
      // One object for each row, so that one can be revealed.
      assert.equal(tree.getParent(children[0] as RunsNode), yesterday);
      await tree.reveal('r40');
      assert.deepEqual(view().revealed, [children[0]]);
      // What a filter leaves is unfolded, also where VS Code remembers that its day was not.
      const folded = items.at(-2)?.id;
      shown.filterBy({ text: 'r399', modelIds: [], phases: [] });
      const [last] = await tree.getChildren();
      const unfolded = tree.getTreeItem(last as RunsNode);
      assert.deepEqual([unfolded.collapsibleState, unfolded.description], [2, '1']);
      assert.notEqual(unfolded.id, folded);
      shown.clearFilter();
      await shown.toggleGrouping();
      assert.equal((await texts()).length, 401);
      assert.equal(tree.getParent(children[0] as RunsNode), undefined);
    });

    it('that a filter hides are not revealed', async () => {
      await list(many(3));
      shown.filterBy({ text: 'r1', modelIds: [], phases: [] });
      await tree.reveal('r2');
      assert.deepEqual(view().revealed, []);
    });
  });

  describe('above the rows', () => {
    const message = () => views.at(-1)?.message;

    it('says that the runs could not be refreshed, while the service answers with errors', async () => {
      await session.runs.refresh();
      const whole = answer;
      answer = () => [500, { error: { code: 'internal', message: '' } }];
      await assert.rejects(session.runs.refresh());
      assert.equal(session.state, 'ready');
      assert.match(message() ?? '', /out of date/);
      answer = whole;
      await session.runs.refresh();
      assert.equal(message(), '');
    });

    it('says that the list may be incomplete, and how many rows are unreadable', async () => {
      answer = () => [200, { data: [row('a', 1), { odd: true }], has_more: true, next_cursor: null }];
      await session.runs.refresh();
      assert.match(message() ?? '', /incomplete.+\n1 unreadable entry/);
    });

    it('says nothing of what a rejected API key has read, but why open submissions are alone', async () => {
      await session.runs.refresh();
      const pending: ReturnType<typeof pendingOf>[] = [];
      Object.defineProperty(submitter, 'pending', { get: () => pending });
      answer = () => [401, { error: { code: 'invalid_api_key', message: '' } }];
      await assert.rejects(session.runs.refresh());
      assert.equal(message(), '');
      pending.push(pendingOf('unsent', intentOf({ accountId: session.account.id })));
      active.fire(session);
      assert.match(message() ?? '', /rejected/);
    });
  });

  it('is drawn again on another day where it is grouped', async () => {
    let nowMs = new Date(2026, 4, 3, 1).getTime();
    Object.defineProperty(session, 'clockSkewMs', { get: () => nowMs - Date.now() });
    await session.runs.refresh();
    const isDrawnAt = async (...time: [number, number, number, number]) => {
      await texts();
      drawn.length = 0;
      nowMs = new Date(...time).getTime();
      views.at(-1)?.show(true);
      return drawn.includes(undefined);
    };
    assert.ok(!(await isDrawnAt(2026, 4, 4, 0)));
    await shown.toggleGrouping();
    assert.ok(!(await isDrawnAt(2026, 4, 4, 23)));
    assert.ok(await isDrawnAt(2026, 4, 5, 0));
    views.at(-1)?.show(false);
  });

  it('sanitizes what another client sent, and calls an empty status unknown', async () => {
    const label = '\u202etext\nof \u0007two lines ft-7k3m9qpx';
    answer = (path) =>
      path.endsWith('/runs')
        ? [200, { data: [row('a', 1, ' ')], has_more: false }]
        : [200, { run: { run_id: 'a', status: '', model_id: 'm', label, plan: 'a\nb' } }];
    await session.runs.refresh();
    await session.runs.loadDetail('a');
    const [run] = (await tree.getChildren()) as [RunsNode];
    const item = tree.getTreeItem(run);
    assert.equal(item.label, '<U+202E>text of <U+0007>two lines');
    assert.match(String(item.description), /^Status unknown · /);
    const facts = (await tree.getChildren(run)).map((node) => tree.getTreeItem(node));
    assert.equal(facts.find(({ label: name }) => name === 'Status')?.description, 'unknown');
    assert.doesNotMatch(JSON.stringify(facts), /\\n|\u202e|\\u0007/u);
    // What was read stays where reading it again fails.
    answer = () => [500, { error: { code: 'internal', message: '' } }];
    await assert.rejects(session.runs.loadDetail('a'));
    assert.equal((await tree.getChildren(run)).length, facts.length);
  });

  describe('the badge', () => {
    it('counts unseen completed runs where it replaces notifications, else the active ones', async () => {
      await session.runs.refresh();
      unseen = 3;
      unseenChanged.fire(session.account.id);
      assert.equal(badge(), 2);
      settings.set('fineTuning.notifications', 'badge');
      unseenChanged.fire(session.account.id);
      const { badge: shownBadge } = views[views.length - 1] as ViewStandIn;
      assert.deepEqual(shownBadge, { value: 3, tooltip: '3 new completed runs' });
      assert.deepEqual(seen, []);
    });

    it('counts runs as seen when the view is visible in the focused window', async () => {
      await session.runs.refresh();
      const view = views[views.length - 1] as ViewStandIn;
      unseen = 1;
      focus.focused = false;
      view.show(true);
      assert.deepEqual(seen, []);
      focus.focused = true;
      focus.changed.fire({ focused: true });
      assert.deepEqual(seen, [session.account.id]);
      unseen = 0;
      unseenChanged.fire(session.account.id);
      assert.equal(badge(), 2);
      view.show(false);
    });
  });

  it('shows a submission or its run, not both: it would look like two charges', async () => {
    await session.runs.refresh();
    const marker = 'ft-7k3m9qpx';
    const intent = intentOf({ accountId: session.account.id, marker, attempts: [wholeAttempt(Date.now())] });
    const pending = [pendingOf('validating', intent)];
    Object.defineProperty(submitter, 'pending', { get: () => pending });
    answer = () => [200, { run: { run_id: 'a', status: 'queued', model_id: 'm', label: `maths ${marker}` } }];
    const kinds = async () => (await tree.getChildren()).map(({ kind }) => kind);
    assert.deepEqual(await kinds(), ['submission', 'run', 'run'], 'nobody knows it yet');
    await session.runs.loadDetail('a');
    assert.equal(session.runs.label('a'), `maths ${marker}`);
    assert.deepEqual(await kinds(), ['submission', 'run']);
    pending[0] = pendingOf('not-charged', intent);
    assert.deepEqual(
      await kinds(),
      ['submission', 'run', 'run'],
      'what is said not to be charged hides none',
    );
    pending[0] = pendingOf('validating', { ...intent, accountId: 'another' });
    assert.deepEqual(await kinds(), ['run', 'run']);
  });

  it('shows the open submissions of other accounts behind its own, with the account’s name', async () => {
    others = [bench.session({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', keyId: 'key-2' }, 'Home')];
    const attempts = [wholeAttempt(Date.now() - 60_000)];
    const pending = [
      pendingOf('unknown', intentOf({ accountId: 'Home', attempts })),
      pendingOf('validating', intentOf({ accountId: 'signed-out', attempts })),
      pendingOf('unsent', intentOf({ accountId: session.account.id, created: { localMs: Date.now() } })),
    ];
    Object.defineProperty(submitter, 'pending', { get: () => pending });
    const items = (await tree.getChildren()).map((node) => tree.getTreeItem(node));
    assert.deepEqual(
      items.map(({ description }) => String(description).replace(/ · [^·]+$/, '')),
      ['Not charged · upload stopped', 'May be charged · no answer · Home'],
    );
    const tooltip = items[1]?.tooltip;
    assert.ok(typeof tooltip === 'string' && tooltip.includes('\nAccount: Home\n'));
    assert.equal(items[1]?.contextValue, 'submission.unknown');
    isSignedOut = true;
    active.fire(undefined);
    const left = (await tree.getChildren()).map((node) => tree.getTreeItem(node));
    assert.deepEqual(
      left.map(({ label }) => label),
      items.map(({ label }) => label).reverse(),
    );
    assert.equal(views.at(-1)?.message, 'No account is active.');
  });

  it('offers to show all only where a filter hides what there is', async () => {
    answer = (path) =>
      path.endsWith('/runs')
        ? [200, { data: [row('a', 0, 'queued')], has_more: false }]
        : [200, { run: { run_id: 'a', status: 'queued', model_id: 'm', label: 'ft-7k3m9qpx' } }];
    await session.runs.refresh();
    await session.runs.loadDetail('a');
    const attempts = [wholeAttempt(Date.now())];
    const intent = intentOf({ accountId: session.account.id, marker: 'ft-7k3m9qpx', attempts });
    const pending = [pendingOf('waiting', intent)];
    Object.defineProperty(submitter, 'pending', { get: () => pending });
    const kinds = async () => (await tree.getChildren()).map(({ kind }) => kind);
    assert.deepEqual(await kinds(), ['submission']);
    shown.filterBy({ text: 'zzz', modelIds: [], phases: [] });
    assert.deepEqual(await kinds(), ['submission'], 'it is not the filter that hides it');
    pending.length = 0;
    assert.deepEqual(await kinds(), ['none']);
  });
});

/** The commands in the context menu of a row, in package.json. */
function menusOf(contextValue: string): string[] {
  const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
  const { contributes } = JSON.parse(text) as {
    contributes: { menus: Record<string, { command: string; when: string; group: string }[]> };
  };
  return (contributes.menus['view/item/context'] ?? [])
    .filter(({ group }) => !group.startsWith('inline'))
    .filter(({ when }) => {
      const [, equal] = / viewItem == ([\w.-]+)$/.exec(when) ?? [];
      const [, pattern] = / viewItem =~ \/(.+)\/$/.exec(when) ?? [];
      return when.startsWith('view == fineTuning.runs ') && pattern !== undefined
        ? new RegExp(pattern).test(contextValue)
        : equal === contextValue;
    })
    .map(({ command }) => command.replace('fineTuning.', ''));
}
