import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ModuleHooks } from 'node:module';
import { Emitter } from '../../../src/base/event.ts';
import type { PendingSubmission, SubmissionState } from '../../../src/runs/pendingSubmission.ts';
import type { Session } from '../../../src/runs/session.ts';
import type { Sessions } from '../../../src/runs/sessions.ts';
import { Submitter } from '../../../src/runs/submitter.ts';
import type { RunsNode, RunsTree } from '../../../src/views/runsTree.ts';
import { sendJson, bodyOf } from '../../helpers/httpServer.ts';
import { Bench, row, silent, until } from '../runs/support.ts';
import { standInForVscode } from '../../helpers/standInForVscode.ts';
import { intentOf, pendingOf, wholeAttempt } from '../../helpers/submissions.ts';
import type { ViewStandIn } from '../../helpers/vscodeStandIn.ts';

describe('RunsTree', () => {
  let hooks: ModuleHooks;
  let createTree: new (sessions: Sessions, submitter: Submitter) => RunsTree;
  let submissionItem: typeof import('../../../src/views/submissionItem.ts').submissionItem;
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
    ({ submissionItem } = await import('../../../src/views/submissionItem.ts'));
    ({ RunsTree: createTree } = await import('../../../src/views/runsTree.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    bench = await Bench.start();
    submitter = new Submitter(bench.journal);
    drawn = [];
    paths = [];
    answer = (path) =>
      path.endsWith('/runs')
        ? [200, { data: [row('a', 1, 'running'), row('b', 0, 'queued')], has_more: false }]
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

  it('calls a run by the label that the person gave, without its marker, or by its model', async () => {
    await session.runs.refresh();
    session.runs.insertCreated({ run_id: 'a' }, 'm', 'maths ft-7k3m9qpx');
    session.runs.insertCreated({ run_id: 'b' }, 'm', 'ft-7k3m9qpx');
    assert.deepEqual((await texts()).sort(), ['m', 'maths']);
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
    assert.equal((await begin).kind, 'unknown');
    assert.deepEqual(contexts, [
      'submission.cancellable',
      'submission.validating',
      'submission.checking',
      'submission.unknown',
    ]);
    assert.equal(tree.getParent(node), undefined);
  });

  describe('a row of a submission', () => {
    const hour = 60 * 60_000;
    const sentAgo = (ms: number) => intentOf({ attempts: [wholeAttempt(Date.now() - ms)] });
    const itemOf = (submission: PendingSubmission) => submissionItem(submission, 'Model M', Date.now());

    it('shows what is known when it is selected, by mouse or keyboard', () => {
      const { command, id } = itemOf(pendingOf('unsent', intentOf({ id: 'x' })));
      assert.deepEqual(
        [id, command?.command, command?.arguments],
        ['submission:x', 'fineTuning.resolveSubmission', ['x']],
      );
    });

    it('has the menus of what can be done in its state', () => {
      const contexts = (
        [
          ['queued', intentOf()],
          ['uploading', intentOf()],
          ['waiting', sentAgo(hour)],
          ['validating', intentOf()],
          ['checking', sentAgo(hour)],
          ['elsewhere', intentOf()],
          ['unsent', intentOf()],
          ['refused', sentAgo(48 * hour)],
          ['unknown', sentAgo(22 * hour)],
          ['unknown', sentAgo(23 * hour)],
          ['not-charged', sentAgo(hour)],
          ['not-charged', sentAgo(24 * hour)],
        ] as const
      ).map(([state, intent]) => itemOf(pendingOf(state, intent)).contextValue);
      assert.deepEqual(contexts, [
        'submission.cancellable',
        'submission.cancellable',
        'submission.cancellable',
        'submission.validating',
        'submission.checking',
        'submission.elsewhere',
        'submission.unsent',
        'submission.refused',
        'submission.unknown',
        'submission.unknown.late',
        'submission.not-charged',
        'submission.not-charged.late',
      ]);
      const offered = (contextValue: string) =>
        menusOf(contextValue).map((one) => one.replace('Submission', ''));
      assert.deepEqual(offered('submission.unknown'), ['resolve', 'continue', 'check', 'discard']);
      assert.deepEqual(offered('submission.unknown.late'), ['resolve', 'check', 'discard']);
      assert.deepEqual(offered('submission.not-charged.late'), ['resolve', 'check', 'discard']);
      assert.deepEqual(offered('submission.not-charged'), ['resolve', 'continue', 'check', 'discard']);
      assert.deepEqual(offered('submission.unsent'), ['resolve', 'continue', 'discard']);
      assert.deepEqual(offered('submission.refused'), ['resolve', 'continue', 'discard']);
      assert.deepEqual(offered('submission.cancellable'), ['cancel', 'resolve']);
      for (const state of ['validating', 'checking', 'elsewhere'])
        assert.deepEqual(offered(`submission.${state}`), ['resolve']);
    });

    it('has an icon, a tooltip and a label for screen readers in each state', () => {
      for (const state of STATES) {
        const { iconPath, tooltip, accessibilityInformation, description } = itemOf(
          pendingOf(state, sentAgo(hour)),
        );
        assert.ok(iconPath !== undefined && description !== '', state);
        assert.ok(typeof tooltip === 'string' && tooltip.startsWith('train.jsonl\n'), state);
        assert.match(accessibilityInformation?.label ?? '', /^train\.jsonl, ./, state);
      }
    });
  });
});

const STATES: readonly SubmissionState[] = [
  'queued',
  'uploading',
  'validating',
  'waiting',
  'checking',
  'elsewhere',
  'unsent',
  'unknown',
  'not-charged',
  'refused',
];

/** The commands in the context menu of a row, in package.json. */
function menusOf(contextValue: string): string[] {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
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
