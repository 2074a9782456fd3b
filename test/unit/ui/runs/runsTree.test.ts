import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { ActiveDownload, DownloadRecord } from '../../../../src/core/downloads/downloads.ts';
import type { KnownDetail } from '../../../../src/core/runs/run.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/submission.ts';
import type { RunsNode } from '../../../../src/ui/runs/runRows.ts';
import type { RunsTree, RunsTreeParts } from '../../../../src/ui/runs/runsTree.ts';
import type { RunView } from '../../../../src/ui/shared/runText.ts';
import { golden } from '../../../helpers/golden.ts';
import { bodyOf, sendJson } from '../../../helpers/httpServer.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { RunsTree: createTree } = await withVscode(() => import('../../../../src/ui/runs/runsTree.ts'));
const { runTooltip } = await withVscode(() => import('../../../../src/ui/runs/runTooltip.ts'));

const MARKER = 'ft-7k3m9qpx';
const HOUR = 3_600_000;

describe('RunsTree', () => {
  let bench: Bench;
  let session: Session;
  let active: Session | undefined;
  let activeChanged: Emitter<Session | undefined>;
  let tree: RunsTree;
  let view: standIn.ViewStandIn;
  /** Open submissions; all have rows. */
  let pending: PendingSubmission[];
  let submissionsChanged: Emitter<PendingSubmission>;
  let above: string;
  let aboveChanged: Emitter<void>;
  let ticking: string[];
  let unseen: number;
  let unseenChanged: Emitter<string>;
  let seen: string[];
  let downloads: { active: ActiveDownload[]; home: string[]; verified: DownloadRecord['verified'] };
  let downloaded: Emitter<{ accountId: string; runId: string }>;
  /** What VS Code was asked to redraw. */
  let drawn: (RunsNode[] | undefined)[];
  let answer: (path: string) => [status: number, body: unknown];
  let paths: string[];
  /** Undefined if they can't be read. */
  let receipts: ChargedReceipt[] | undefined;

  beforeEach(async () => {
    bench = await Bench.start();
    [drawn, paths, pending, ticking, unseen, seen, receipts] = [[], [], [], [], 0, [], undefined];
    const { url } = await bench.serve((request, response) => {
      const path = new URL(String(request.url), 'http://x.test').pathname;
      paths.push(path);
      bodyOf(request).then(
        () => sendJson(response, ...answer(path)),
        () => undefined,
      );
    });
    session = bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
    active = session;
    activeChanged = new Emitter();
    submissionsChanged = new Emitter();
    above = '';
    aboveChanged = new Emitter();
    unseenChanged = new Emitter();
    downloaded = new Emitter();
    downloads = { active: [], home: [], verified: 'zip' };
    const sessions = {
      get active() {
        return active;
      },
      onDidChangeActive: activeChanged.event,
    };
    tree = new createTree({
      sessions,
      submissions: { pending, onDidChange: submissionsChanged.event },
      rowsAbove: {
        get rowIds() {
          return pending.map(({ id }) => id);
        },
        get tickingIds() {
          return ticking;
        },
        get message() {
          return above;
        },
        onDidChangeMessage: aboveChanged.event,
        item: (id: string) => new standIn.TreeItem(`submission ${id}`),
      },
      notices: {
        unseenCount: () => unseen,
        markSeen: (accountId: string) => Promise.resolve(void seen.push(accountId)),
        follow: () => ({ dispose: () => undefined }),
        onDidChangeUnseen: unseenChanged.event,
      },
      downloads: {
        get active() {
          return downloads.active;
        },
        records: () =>
          downloads.home.map((runId) => ({ runId, artifactType: 'model', verified: downloads.verified })),
        onDidChange: downloaded.event,
      },
      knownReceipts: () => receipts ?? [],
      receiptsOf: () =>
        receipts === undefined ? Promise.reject(new Error('disk')) : Promise.resolve(receipts),
    } as unknown as RunsTreeParts);
    view = standIn.views.at(-1) as standIn.ViewStandIn;
    tree.onDidChangeTreeData((nodes) => drawn.push(nodes));
  });
  afterEach(async () => {
    standIn.settings.clear();
    standIn.focus.focused = true;
    tree.dispose();
    await bench.end();
  });

  const many = (count: number, changes: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      ...row(`r${index}`, undefined, 'complete'),
      created_at: new Date(Date.now() - index * HOUR).toISOString(),
      ...changes,
    }));
  /** Reads a list of runs; `detail` is the service's response for any run. */
  const list = (data: unknown[], hasMore = false, detail?: object) => {
    answer = (path) => {
      if (path.endsWith('/runs'))
        return [200, { data, has_more: hasMore, ...(hasMore && { next_cursor: 'next' }) }];
      if (path.endsWith('/balance')) return [200, { balance_cents: 5, currency: 'USD' }];
      return detail === undefined
        ? [404, { error: { code: 'not_found', message: '' } }]
        : [200, { run: detail }];
    };
    return session.runs.refresh();
  };
  const fail = async (status: number, body: unknown = { error: { code: 'internal', message: '' } }) => {
    const before = answer;
    answer = () => [status, body];
    await assert.rejects(session.runs.refresh());
    answer = before;
  };
  const rejectKey = () => fail(401, { error: { code: 'invalid_api_key', message: '' } });
  const goOffline = async () => {
    await fail(502, '<html>');
    assert.equal(session.state, 'offline');
  };
  const texts = (node?: RunsNode) => tree.getChildren(node).map((child) => tree.getTreeItem(child).label);
  const kinds = () => tree.getChildren().map(({ kind }) => kind);
  const first = () => {
    const [node] = tree.getChildren();
    assert.ok(node !== undefined);
    return node;
  };
  const item = () => tree.getTreeItem(first());
  const drawnIds = () =>
    drawn.map((nodes) => nodes?.map((node) => ('runId' in node ? node.runId : node.kind)).join() ?? 'list');
  const download = (state: ActiveDownload['state'], receivedBytes = 0, totalBytes?: number) => {
    const target = { id: 'd', accountId: session.account.id, runId: 'r0', artifactType: 'model' };
    const size = totalBytes === undefined ? {} : { totalBytes };
    return { ...target, filename: undefined, target: '/x.zip', receivedBytes, state, ...size };
  };
  const change = (state: PendingSubmission['state'], live = {}, submission = submissionOf({ id: 's' })) => {
    pending[0] = pendingOf(state, submission, live);
    submissionsChanged.fire(pending[0]);
  };
  const hear = () => downloaded.fire({ accountId: session.account.id, runId: 'r0' });

  describe('the row of a run', () => {
    it('is named by its complete label without the marker, or its model', async () => {
      const hostile = '\u202etext\nof $(check) [x](command:y)';
      await list([row('a', 3), row('b', 2), row('c', 1), row('d', 0)]);
      for (const [runId, label] of [
        ['a', `maths ${MARKER}`],
        ['b', MARKER],
        ['c', `a label of many words ${MARKER}`],
        ['d', hostile],
      ] as const)
        session.runs.insertCreated({ run_id: runId }, 'm', label);
      assert.deepEqual(texts(), [
        'maths',
        'm',
        'a label of many words',
        '<U+202E>text of $ (check) [x] (command:y)',
      ]);
      const items = tree.getChildren().map((node) => tree.getTreeItem(node));
      assert.match(
        items[2]?.accessibilityInformation?.label ?? '',
        /^Run a label of many words, Queued, m, /,
      );
      assert.doesNotMatch(JSON.stringify(items), /\$\(|\]\(|\u202e/u);
    });

    it('shows a time if it would read like another one, where a narrow view still shows it', async () => {
      const minuteMs = Math.floor((Date.now() - 2.5 * HOUR) / 60_000) * 60_000;
      const at = (ms: number) => ({ created_at: new Date(ms).toISOString() });
      const [one, two] = [minuteMs + 20_000, minuteMs + 10_000];
      const runs = [one, two, two, minuteMs - 3 * HOUR].map((ms, index) => ({
        ...many(4)[index],
        ...at(ms),
      }));
      await list(runs);
      session.runs.addLabels(['r0', 'r1', 'r3'].map((runId) => [runId, 'sample-dataset']));
      const shownRows = () =>
        tree.getChildren().map((node) => {
          const { label, description } = tree.getTreeItem(node);
          return `${label as string} | ${description as string}`;
        });
      const time = (ms: number) => new Intl.DateTimeFormat('en', { timeStyle: 'medium' }).format(ms);
      assert.deepEqual(shownRows(), [
        `sample-dataset | 2 h ago · ${time(one)} · No adapter`,
        `sample-dataset | 2 h ago · ${time(two)} · No adapter`,
        'm | 2 h ago · No adapter',
        'sample-dataset | 5 h ago · No adapter',
      ]);
      const hear = tree.getTreeItem(first()).accessibilityInformation?.label;
      assert.match(hear ?? '', new RegExp(`^Run sample-dataset, .+, ${time(one)}$`));
      await list(runs.filter((_run, index) => index !== 1));
      assert.equal(shownRows()[0], 'sample-dataset | 2 h ago · No adapter');
    });

    it('differs from others of its label by rows or model, else by its time', async () => {
      const created = (at: number) => new Date(Date.now() - at * HOUR - 90_000).toISOString();
      const labeled = async (models: readonly string[], rows: readonly (number | undefined)[]) => {
        await list(
          many(models.length).map((run, at) => ({ ...run, model_id: models[at], created_at: created(at) })),
        );
        session.runs.addLabels(models.map((_, at) => [`r${at}`, 'support v3']));
        receipts = rows.map((count, at) =>
          chargedReceipt({ run: { run_id: `r${at}` }, dataset: { rows: count } }),
        );
        activeChanged.fire(active);
        return tree
          .getChildren()
          .map((node) => tree.getTreeItem(node))
          .map(({ label, description }) => `${label as string} | ${description as string}`);
      };
      const row = (text: string) => `support v3 | ${text} · No adapter`;
      for (const [models, rows, expected] of [
        [
          ['m', 'm'],
          [10, 2_000],
          ['1 min ago · 10 rows', '1 h ago · 2,000 rows'],
        ],
        [['m', 'm'], [10], ['1 min ago · 10 rows', '1 h ago']],
        [
          ['m', 'm'],
          [10, 10],
          ['1 min ago', '1 h ago'],
        ],
        [
          ['m1', 'm2'],
          [10, 10],
          ['1 min ago · m1', '1 h ago · m2'],
        ],
        [['m1', 'm2'], [], ['1 min ago · m1', '1 h ago · m2']],
        [
          ['m1', 'm2'],
          [10, 20],
          ['1 min ago · 10 rows', '1 h ago · 20 rows'],
        ],
        [
          ['m1', 'm2', 'm3'],
          [10, 20, 20],
          ['1 min ago · m1', '1 h ago · m2', '2 h ago · m3'],
        ],
      ] as const)
        assert.deepEqual(await labeled(models, rows), expected.map(row));
    });

    it('opens its page when selected, and gets its tooltip on demand, without a request', async () => {
      await list(many(1));
      const { command, tooltip } = item();
      assert.deepEqual([command?.command, command?.arguments], ['fineTuning.showRun', ['r0']]);
      assert.equal(tooltip, undefined);
      receipts = [chargedReceipt({ run: { run_id: 'r0', price_cents: 900 } })];
      const resolved = await tree.resolveTreeItem(item(), first());
      assert.match(resolved.tooltip as string, /\nPrice: 9\.00 USD\nCreated/);
      assert.equal(paths.length, 1);
    });

    it('shows in its tooltip everything that is known, and whether its price was expected', () => {
      const at = (hours: number) => new Date(2026, 4, 1, 12, 60 * hours).toISOString();
      const run = { ...row('r0', 0, 'complete'), created_at: at(0) };
      const tip = (
        changes: Partial<RunView> = {},
        detail?: Partial<KnownDetail>,
        receipts: readonly ChargedReceipt[] = [],
      ) => {
        const view: RunView = { run, phase: 'finished', modelName: 'Model M', ...changes };
        const known = detail && ({ ...run, status: 'completed', ...detail } as KnownDetail);
        return runTooltip(view, known, receipts).split('\n');
      };
      const priced = (...receipts: ChargedReceipt[]) =>
        tip({}, undefined, receipts).filter((line) => /^(Price|Estimate)/.test(line));
      const paid = (price_cents: number | undefined, run_id: string, sha256: string, atMs = 0) =>
        chargedReceipt({ atMs, dataset: { sha256 }, run: { run_id, price_cents } });
      const before = [paid(400, '1', '1'), paid(400, '2', '2')];
      const times = { started_at: at(0.25), completed_at: at(1.25) };
      const known = { ...times, plan: 'Pro\u202e', price_cents: 517 };
      const kept = { ...run, artifacts_available: true, artifacts_expires_at: at(24) };
      golden('run-tooltips', {
        'before its details are read': tip(),
        'its details are read': tip({ label: 'maths' }, known),
        'its currency is assumed': tip({}, { ...known, assumedCurrency: 'USD' }),
        'its adapter is available': tip({ run: kept }),
        'a model without a name': tip({ modelName: 'm' }),
        'an active run': tip({ run: { ...run, status: 'warming\ning\u202e_up' }, phase: 'active' }),
        'a failed run': tip({ run: { ...run, status: 'CANCELLED' }, phase: 'ended' }),
        'a status of spaces': tip({ run: { ...run, status: ' ' }, phase: 'active' }),
        'a time that can’t be read': tip({ run: { ...run, created_at: 'yesterday' } }, {}),
        'times that run backwards': tip({}, { started_at: at(-1), completed_at: at(-2) }),
        'a receipt': priced(paid(900, 'r0', '0')),
        'a receipt without a price': priced(paid(undefined, 'r0', '0')),
        'within the estimate': priced(...before, paid(410, 'r0', '0', 1)),
        'outside the estimate': priced(...before, paid(900, 'r0', '0', 1)),
        'the same dataset before': priced(...before, paid(900, 'r0', '1', 1)),
      });
    });

    it('shows its state in a few words and an icon, with the matching button', async () => {
      const rows: Record<string, string> = {};
      const buttons = (contextValue: string) => menusOf(contextValue, /^inline/).join();
      const shown = async (name: string, run: object, change: object = {}) => {
        await list(many(1, run));
        Object.assign(downloads, { active: [], home: [], verified: 'zip' }, change);
        hear();
        const { contextValue = '', description, iconPath } = item();
        const { id } = iconPath as { id: string };
        rows[name] = [id, description, buttons(contextValue)].filter((one) => one !== '').join(' | ');
      };
      const inMs = (ms: number) => new Date(Date.now() + ms + 30_000).toISOString();
      const kept = { artifacts_available: true };
      const until = (hours: number) => ({ ...kept, artifacts_expires_at: inMs(hours * HOUR) });
      const gone = { artifacts_expires_at: inMs(-HOUR) };
      await shown('queued', { status: 'queued', created_at: inMs(-4 * 60_000) });
      await shown('active', { status: 'warming\ning\u202e_up' });
      await shown('a status of spaces', { status: ' ' });
      await shown('ended', { status: 'CANCELLED' });
      await shown('failed, its adapter expired', { status: 'failed', ...gone });
      await shown('no adapter', {});
      await shown('no adapter, a download stopped', {}, { active: [download('interrupted', 41, 100)] });
      await shown('an adapter', kept);
      await shown('an adapter for a week', until(6.5 * 24));
      await shown('an adapter for two days', until(48));
      await shown('an adapter for less', until(47));
      await shown('an adapter for a day', until(21));
      await shown('an adapter, expired', until(-1));
      await shown('times that can’t be read', { ...until(1), created_at: 'a', artifacts_expires_at: 'b' });
      await shown('waiting', kept, { active: [download('waiting')] });
      const both = [download('interrupted'), download('downloading', 41, 100)];
      await shown('one downloading, one stopped', kept, { active: both });
      await shown('verifying', kept, { active: [download('verifying', 100, 100)] });
      await shown('stopped', kept, { active: [download('interrupted', 41, 100)] });
      await shown('downloaded a web page', kept, { home: ['r0'], verified: 'html' });
      await shown('damaged', kept, { home: ['r0'], verified: 'damaged' });
      await shown('damaged, expired', gone, { home: ['r0'], verified: 'damaged' });
      await shown('downloaded', kept, { home: ['r0'] });
      await shown('downloaded, no longer available', {}, { home: ['r0'] });
      const menu = (contextValue: string) => menusOf(contextValue, /^[^i]/).join();
      golden('run-rows', {
        ...rows,
        'the menu of a downloaded run': menu('run.downloadable.downloaded'),
        'the menu of a run that is downloading': menu('run.downloading'),
      });
    });

    it('has a dimmed icon while the service is unreachable, without a full redraw', async () => {
      await list(many(3));
      texts();
      const color = () => (item().iconPath as { color: { id: string } }).color.id;
      assert.notEqual(color(), 'disabledForeground');
      drawn.length = 0;
      await goOffline();
      assert.deepEqual([...new Set(drawnIds())], ['r0,r1,r2']);
      assert.equal(color(), 'disabledForeground');
      await list(many(3));
      assert.notEqual(color(), 'disabledForeground');
    });

    it('shows times by the service’s clock', async () => {
      Object.defineProperty(session, 'clockSkewMs', { value: 3 * HOUR });
      await list(many(1));
      assert.equal(item().description, '3 h ago · No adapter');
    });
  });

  describe('drawing', () => {
    it('redraws single rows, and the list only if rows are added, removed, or moved', async () => {
      await list(many(5));
      texts();
      drawn.length = 0;
      hear();
      session.runs.addLabels([['r3', 'Läbel']]);
      await list(many(5, { status: 'completed' }));
      assert.deepEqual(drawnIds(), ['r0', 'r3', 'r0,r1,r2,r3,r4']);
      drawn.length = 0;
      await list(many(6));
      activeChanged.fire(session);
      assert.deepEqual([drawnIds()[0], drawnIds().at(-1)], ['list', 'list']);
    });

    it('redraws a submission’s row for a new state, and the list if one is added or removed', async () => {
      await list(many(2));
      texts();
      drawn.length = 0;
      change('uploading');
      texts();
      change('validating');
      assert.deepEqual(drawnIds(), ['list', 'submission']);
      change('uploading');
      const [removed] = pending.splice(0);
      assert.ok(removed !== undefined);
      submissionsChanged.fire({ ...removed, sentBytes: 1 });
      assert.deepEqual(drawnIds().slice(2), ['submission', 'list']);
    });

    it('shows what is said above them as soon as it changes', () => {
      texts();
      above = 'You may have been charged: a submission record can’t be read.';
      aboveChanged.fire();
      assert.equal(view.message, above);
      above = '';
      aboveChanged.fire();
      assert.equal(view.message, '');
    });

    it('redraws upload progress every second, and the end of the upload at once', async () => {
      change('uploading');
      texts();
      ticking = ['s'];
      view.show(true);
      drawn.length = 0;
      for (let sentBytes = 1; sentBytes < 10; sentBytes++) change('uploading', { sentBytes });
      assert.deepEqual(drawnIds(), []);
      await until(() => drawn.length === 1);
      change('validating', { sentBytes: 10 });
      assert.deepEqual(drawnIds(), ['submission', 'submission']);
    });

    it('redraws download progress every second, and a new state at once', async () => {
      await list(many(2, { artifacts_available: true }));
      texts();
      view.show(true);
      drawn.length = 0;
      const hearOf = (...progress: Parameters<typeof download>) => {
        downloads.active = [download(...progress)];
        hear();
        return drawn.length;
      };
      assert.equal(hearOf('waiting'), 1);
      for (const bytes of [0, 10, 20, 40]) assert.equal(hearOf('downloading', bytes, 100), 1);
      await until(() => drawn.length === 2);
      assert.equal(item().description, 'Download 40%');
      assert.equal(hearOf('verifying', 100, 100), 3);
      downloads.active = [];
      hear();
      assert.deepEqual(drawnIds(), ['r0', 'r0', 'r0', 'r0']);
    });

    it('redraws rows with outdated times when the view is shown', async () => {
      let nowMs = new Date(2026, 4, 3, 1).getTime();
      Object.defineProperty(session, 'clockSkewMs', { get: () => nowMs - Date.now() });
      await list([row('a', 1), row('b', 0)]);
      const drawnAt = (...time: [number, number, number, number]) => {
        texts();
        drawn.length = 0;
        nowMs = new Date(...time).getTime();
        view.show(true);
        return drawnIds();
      };
      assert.deepEqual(drawnAt(2026, 4, 6, 0), ['a,b']);
      assert.deepEqual(drawnAt(2026, 4, 6, 0), []);
    });

    it('is fast with 4,900 rows, and infrequent while more are added', async () => {
      await list(many(4_900));
      const started = process.cpuUsage();
      assert.equal(texts().length, 4_900);
      const tookMs = process.cpuUsage(started).user / 1_000;
      assert.ok(tookMs < 1_500, `${tookMs} ms`);
      drawn.length = 0;
      const more = performance.now();
      for (let count = 4_901; count < 4_904; count++) await list(many(count));
      const seconds = (performance.now() - more) / 1_000;
      assert.ok(drawn.filter((node) => node === undefined).length <= 1 + seconds);
    });

    it('is redrawn only after VS Code asked for its rows, and then releases those of the previous list', async () => {
      const lists = () => drawn.filter((node) => node === undefined).length;
      await list(many(1_001));
      tree.getChildren();
      await until(() => drawn.at(-1)?.[0]?.kind === 'more');
      drawn.length = 0;
      await list(many(1_002));
      await sleep(150);
      await list(many(1_003));
      await sleep(150);
      assert.equal(lists(), 1);
      tree.getChildren();
      await until(() => lists() === 2);
    });
  });

  describe('above the rows', () => {
    it('shows the paying account, and removes its rows before the message on sign-out', async () => {
      assert.equal(view.description, 'account-1');
      await list(many(1));
      await goOffline();
      const messages: (string | undefined)[] = [];
      tree.onDidChangeTreeData(() => messages.push(view.message));
      active = undefined;
      activeChanged.fire(undefined);
      assert.match(messages.join(), /^Offline since [^,]+$/);
      assert.deepEqual([view.description, view.message, kinds()], [undefined, '', []]);
    });

    it('shows since when the service is offline or that a refresh failed, until it works again', async () => {
      await list(many(1));
      await goOffline();
      assert.match(view.message ?? '', /^Offline since .+\. Data may be out of date\.$/);
      await list(many(1));
      assert.equal(view.message, '');
      await fail(500);
      assert.equal(session.state, 'ready');
      assert.match(view.message ?? '', /^Couldn’t refresh the runs\./);
      await list(many(1));
      assert.equal(view.message, '');
    });

    it('shows that the list may be incomplete and how many rows are unreadable', async () => {
      answer = () => [200, { data: [row('a', 1), { odd: true }], has_more: true, next_cursor: null }];
      await session.runs.refresh();
      assert.match(view.message ?? '', /didn’t send them\.\nUnreadable entries hidden: 1\./);
    });

    it('explains why only submissions are shown, and counts no runs of a rejected API key', async () => {
      await list([row('a', 1), row('b', 0), ...many(1, { status: 'Failed' })]);
      assert.deepEqual([view.badge?.value, session.runs.watched.length], [2, 3], 'it may not be an end');
      await rejectKey();
      assert.deepEqual([view.message, view.badge, kinds()], ['', undefined, []]);
      change('idle');
      assert.match(view.message ?? '', /rejected/);
      active = undefined;
      activeChanged.fire(undefined);
      assert.deepEqual([view.message, kinds()], ['No account is active.', ['submission']]);
    });
  });

  it('shows a submission or its run, not both, which would look like two charges', async () => {
    await list([row('a', 1), row('b', 0)], false, {
      run_id: 'a',
      status: 'queued',
      model_id: 'm',
      label: `maths ${MARKER}`,
    });
    const submission = submissionOf({ marker: MARKER, attempts: [uploadedAttempt(Date.now())] });
    pending.push(pendingOf('validating', submission));
    assert.deepEqual(kinds(), ['submission', 'run', 'run'], 'its label is not known yet');
    await session.runs.loadDetail('a');
    assert.deepEqual(kinds(), ['submission', 'run']);
    change('idle', {}, { ...submission, stage: 'cleared' });
    assert.equal(drawn.at(-1), undefined, 'its state shows the run again');
    assert.deepEqual(kinds(), ['submission', 'run', 'run']);
    pending[0] = pendingOf('validating', { ...submission, accountId: 'another' });
    assert.deepEqual(kinds(), ['submission', 'run', 'run']);
  });

  describe('the badge', () => {
    it('counts unseen ended runs if the setting is “badge”, otherwise active ones', async () => {
      await list([row('a', 1), row('b', 0)]);
      unseen = 3;
      unseenChanged.fire(session.account.id);
      assert.equal(view.badge?.value, 2);
      standIn.settings.set('fineTuning.notifications', 'badge');
      unseenChanged.fire(session.account.id);
      assert.deepEqual([view.badge, seen], [{ value: 3, tooltip: '3 runs ended' }, []]);
      // Runs are seen when the view is visible in a focused window.
      standIn.focus.focused = false;
      view.show(true);
      assert.deepEqual(seen, []);
      standIn.focus.focused = true;
      standIn.focus.changed.fire({ focused: true });
      assert.deepEqual([seen, view.badge.value], [[session.account.id], 2]);
    });
  });
});

/** Returns the commands in some groups of a row's menus in package.json. */
function menusOf(contextValue: string, groups: RegExp): string[] {
  const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
  const { contributes } = JSON.parse(text) as {
    contributes: { menus: Record<string, { command: string; when: string; group: string }[]> };
  };
  return (contributes.menus['view/item/context'] ?? []).flatMap(({ command, group, when }) => {
    const [, pattern, value] =
      /^view == fineTuning\.runs && viewItem (?:=~ \/(.+)\/|== (\S+))$/.exec(when) ?? [];
    const isShown = pattern === undefined ? value === contextValue : new RegExp(pattern).test(contextValue);
    return isShown && groups.test(group) ? [command.replace('fineTuning.', '')] : [];
  });
}
