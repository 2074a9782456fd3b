import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { Emitter } from '../../../src/base/event.ts';
import type { Session } from '../../../src/runs/session.ts';
import type { Sessions } from '../../../src/runs/sessions.ts';
import { Submitter } from '../../../src/runs/submitter.ts';
import type { RunsNode, RunsTree } from '../../../src/views/runsTree.ts';
import { sendJson, bodyOf } from '../../helpers/httpServer.ts';
import { Bench, row, silent, until } from '../runs/support.ts';
import { standInForVscode } from '../../helpers/standInForVscode.ts';
import type { ViewStandIn } from '../../helpers/vscodeStandIn.ts';

describe('RunsTree', () => {
  let hooks: ModuleHooks;
  let createTree: new (sessions: Sessions, submitter: Submitter) => RunsTree;
  let views: ViewStandIn[];
  let bench: Bench;
  let submitter: Submitter;
  let session: Session;
  let tree: RunsTree;
  let drawn: (RunsNode | undefined)[];
  let answer: (path: string) => [status: number, body: unknown];
  let paths: string[];

  before(async () => {
    hooks = standInForVscode();
    ({ views } = await import('../../helpers/vscodeStandIn.ts'));
    ({ RunsTree: createTree } = await import('../../../src/views/runsTree.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    bench = await Bench.start();
    submitter = new Submitter();
    drawn = [];
    paths = [];
    answer = (path) =>
      path.endsWith('/runs')
        ? [200, { data: [row('a', 1, 'running'), row('b', 0, 'queued')], has_more: false }]
        : [200, { run: { run_id: 7 } }];
    const server = await bench.serve((request, response) => {
      const path = new URL(String(request.url), 'http://x.test').pathname;
      paths.push(path);
      bodyOf(request).then(
        () => sendJson(response, ...answer(path)),
        () => undefined,
      );
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test' });
    const changed = new Emitter<Session | undefined>();
    tree = new createTree(
      { active: session, onDidChangeActive: changed.event } as unknown as Sessions,
      submitter,
    );
    tree.onDidChangeTreeData((node) => drawn.push(node));
  });
  afterEach(async () => {
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
      assert.match(JSON.stringify(await texts(run)), /^\["Details could not be read\./);
    assert.equal(paths.filter((path) => path.endsWith('/runs/a')).length, 1);
    assert.deepEqual(states, []);
    session.runs.retryDetails();
    await texts(run);
    assert.equal(paths.filter((path) => path.endsWith('/runs/a')).length, 2);
  });

  it('counts active runs, but none while the API key is refused', async () => {
    await session.runs.refresh();
    assert.equal(badge(), 2);
    answer = () => [401, { error: { code: 'invalid_api_key', message: '' } }];
    await assert.rejects(session.runs.refresh());
    assert.deepEqual([badge(), await tree.getChildren()], [undefined, []]);
  });

  it('draws only its row while a submission is uploaded, and the list at its begin and end', async () => {
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
    const begin = submitter.submit(session, await bench.draft(500_000), silent());
    await until(() => drawn.length > 0);
    const [node] = (await tree.getChildren()) as [RunsNode];
    await held.promise;
    const drawnByUpload = drawn.filter((one) => one === undefined).length;
    assert.ok(events > 20, `${events} events`);
    assert.equal(drawnByUpload, 1);
    assert.ok(drawn.length >= 2 && drawn.slice(1).every((one) => one === node));
    await begin;
    assert.deepEqual(contexts, ['submission.cancellable', 'submission', 'submission.unknown']);
    assert.equal(tree.getParent(node), undefined);
  });
});
