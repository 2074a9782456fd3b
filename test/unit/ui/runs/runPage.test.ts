import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Account } from '../../../../src/core/accounts/account.ts';
import type { ActiveDownload, DownloadRecord } from '../../../../src/core/downloads/types.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import type { RunPageSection, RunPageState } from '../../../../src/ui/runs/protocol.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { runPanels, RunPage, RunPageParts } from '../../../../src/ui/runs/runPage.ts';
import { bodyOf, sendJson } from '../../../helpers/httpServer.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf } from '../../../helpers/submissions.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';

const SHA = 'ab'.repeat(32);
const detail = (more: object = {}) => ({
  run_id: 'r',
  status: 'completed',
  model_id: 'm',
  label: 'maths ft-7k3m9qpx',
  price_cents: 250,
  created_at: '2026-01-05T12:00:00.000Z',
  started_at: '2026-01-05T12:01:00.000Z',
  completed_at: '2026-01-05T12:06:00.000Z',
  ...more,
});
const available = () => ({
  ...row('r', 0, 'complete'),
  artifacts_available: true,
  artifacts_expires_at: new Date(Date.now() + 3_600_000).toISOString(),
});

describe('RunPage', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let createPage: new (...parts: ConstructorParameters<typeof RunPage>) => RunPage;
  let createPanels: typeof runPanels;
  let buttonsOf: typeof import('../../../../src/ui/runs/runPageState.ts').buttonsOf;
  let bench: Bench;
  let session: Session;
  let answer: (path: string) => [status: number, body: unknown];
  let paths: string[];
  /** What answers of details wait for. */
  let held: Promise<unknown>;
  let accounts: Account[];
  let accountsChanged: Emitter<void>;
  let isActive: boolean;
  let receipts: Receipt[];
  let receiptsChanged: Emitter<void>;
  let readReceipts: () => Promise<Receipt[]>;
  /** Added to each answer. */
  let headers: Record<string, string>;
  let active: ActiveDownload[];
  let records: DownloadRecord[];
  let downloadsChanged: Emitter<{ accountId: string; runId: string }>;
  let panel: PanelStandIn;
  let page: RunPage | undefined;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ RunPage: createPage, runPanels: createPanels } = await import('../../../../src/ui/runs/runPage.ts'));
    ({ buttonsOf } = await import('../../../../src/ui/runs/runPageState.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [paths, receipts, active, records, headers] = [[], [], [], [], {}];
    readReceipts = () => Promise.resolve(receipts);
    [isActive, held] = [true, Promise.resolve()];
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [available()], has_more: false }]
        : where.endsWith('/r')
          ? [200, { run: detail() }]
          : where.endsWith('/balance')
            ? [200, { balance_cents: 5, currency: 'USD' }]
            : [404, { error: { code: 'not_found', message: '' } }];
    const server = await bench.serve((request, response) => {
      const where = new URL(String(request.url), 'http://x.test').pathname;
      paths.push(where);
      bodyOf(request)
        .then(() => (where.endsWith('/r') ? held : undefined))
        .then(
          () => sendJson(response, ...answer(where), headers),
          () => undefined,
        );
    });
    session = bench.session({ baseUrl: server.url, apiKey: 'service_test', keyId: 'key-1' });
    accounts = [session.account];
    accountsChanged = new Emitter();
    receiptsChanged = new Emitter();
    downloadsChanged = new Emitter();
    panel = new PanelStandIn();
    page = undefined;
  });
  afterEach(async () => {
    page?.dispose();
    await bench.end();
  });

  function open(runId = 'r'): void {
    page = new createPage(
      { accountId: 'account-1', runId },
      panel as unknown as vscode.WebviewPanel,
      parts(),
    );
  }

  function parts(): RunPageParts {
    return {
      extensionUri: standIn.Uri.file('/extension') as unknown as vscode.Uri,
      accounts: {
        get accounts() {
          return accounts;
        },
        activate: (id) => Promise.resolve(void standIn.executed.push(['activate', id])),
        onDidChange: accountsChanged.event,
      },
      sessions: {
        get active() {
          return isActive ? session : undefined;
        },
        of: () => session,
        onDidChangeActive: new Emitter<Session | undefined>().event,
      },
      receipts: () => readReceipts(),
      onDidChangeReceipts: receiptsChanged.event,
      downloads: {
        get active() {
          return active;
        },
        records: () => records,
        onDidChange: downloadsChanged.event,
      },
      linkTo: (id) => `vscode://x/run/${id}`,
      log: { error: () => undefined, warn: () => undefined },
    };
  }

  const states = () =>
    panel.posted.filter((one) => (one as { type: string }).type === 'state') as RunPageState[];
  const state = () => {
    const last = states().at(-1);
    assert.ok(last !== undefined);
    return last;
  };
  const section = <K extends RunPageSection['kind']>(kind: K, key: string = kind) => {
    const found = state().sections.find((one) => one.kind === kind && one.key === key);
    assert.ok(found !== undefined, `no section ${key}`);
    return found as RunPageSection & { kind: K };
  };
  const texts = () => JSON.stringify(state());
  const notices = () => state().notices.map(({ kind, text }) => `${kind}: ${text}`);
  const buttons = () => buttonsOf(state());
  const press = (words: string) => {
    const button = buttons().find((one) => one.words === words || one.label === words);
    assert.ok(button !== undefined, `no button "${words}" among ${JSON.stringify(buttons())}`);
    const { action, target } = button;
    if (action === 'copy') panel.send({ type: 'copy', id: 'x', text: target });
    else panel.send({ type: 'act', action, target });
  };
  const eventually = (condition: () => boolean) => until(() => states().length > 0 && condition());
  const actions = () =>
    state().actions.flatMap(({ words, isDisabled }) => (isDisabled === true ? [] : [words]));
  /** The places of the actions, whatever can be done. */
  const places = () => state().actions.map(({ action }) => action);
  const PLACES = ['inspect', 'download', 'submitAgain', 'copy', 'refresh'];
  const reads = () => paths.filter((one) => one.endsWith('/runs/r')).length;

  async function openRead(): Promise<void> {
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('after 5 min of training'));
  }

  it('posts to a page that is ready, and again when it is shown again', async () => {
    await session.runs.refresh();
    open();
    await sleep(80);
    assert.deepEqual(panel.posted, []);
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('after 1 min in the queue'));
    const { length } = states();
    panel.show(false);
    answer = () => [200, { data: [row('r', 0, 'running')], has_more: false }];
    await session.runs.refresh();
    await sleep(80);
    assert.equal(states().length, length);
    panel.show(true);
    panel.send({ type: 'ready' });
    assert.equal(states().length, length + 1);
  });

  it('remembers the ids and nothing else', async () => {
    await openRead();
    assert.deepEqual(state().memory, { accountId: 'account-1', runId: 'r' });
  });

  it('reads the details once, however much happens, and calls the tab by the label without its marker', async () => {
    await openRead();
    for (let turn = 0; turn < 5; turn++) await session.runs.refresh();
    await session.balance.refresh();
    await sleep(80);
    assert.equal(reads(), 1);
    assert.deepEqual([panel.title, state().heading.title], ['Run: maths', 'maths']);
  });

  it('gets no message twice', async () => {
    await openRead();
    await sleep(100);
    const { length } = states();
    for (let turn = 0; turn < 3; turn++) {
      downloadsChanged.fire({ accountId: 'account-1', runId: 'r' });
      await sleep(70);
    }
    assert.equal(states().length, length);
    const texts = panel.posted.map((one) => JSON.stringify(one));
    assert.equal(new Set(texts).size, texts.length);
  });

  it('reads a run that no list has shown', async () => {
    open();
    panel.send({ type: 'ready' });
    assert.deepEqual([notices(), state().sections], [['info: Loading the run…'], []]);
    await eventually(() => texts().includes('after 5 min of training'));
  });

  it('says that the account has no such run, asks once, and again for Retry', async () => {
    open('none');
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('account-1 has no such run.'));
    await session.runs.refresh();
    await sleep(80);
    const asked = () => paths.filter((one) => one.endsWith('/runs/none')).length;
    assert.equal(asked(), 1);
    assert.deepEqual(
      buttons().map(({ words }) => words),
      ['Switch Account…', 'Retry'],
    );
    press('Switch Account…');
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.switchAccount']]);
    press('Retry');
    await until(() => asked() === 2);
  });

  it('reads a run again that left the list, not too often, and says so', async () => {
    const whole = answer;
    await openRead();
    answer = (where) =>
      where.endsWith('/runs') ? [200, { data: [row('x', 9)], has_more: false }] : whole(where);
    await session.runs.refresh();
    // It is there all the same.
    await eventually(() => reads() === 2 && state().sections.length > 0);
    await session.runs.refresh();
    await eventually(() => texts().includes('no longer lists this run'));
    assert.deepEqual([reads(), buttons().map(({ words }) => words)], [2, ['Retry']]);
    press('Retry');
    await until(() => reads() === 3);
  });

  it('reads the details with the account’s new session while the old one still reads', async () => {
    const never = Promise.withResolvers<undefined>();
    held = never.promise;
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await until(() => reads() === 1);
    // The account has another address.
    held = Promise.resolve();
    const { url } = await bench.serve((request, response) => {
      const where = new URL(String(request.url), 'http://x.test').pathname;
      sendJson(response, ...answer(where));
    });
    session = bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
    accountsChanged.fire();
    await eventually(() => texts().includes('after 5 min of training'));
    never.resolve(undefined);
  });

  it('says that a label is loading, not that there is none', async () => {
    const goOn = Promise.withResolvers<undefined>();
    held = goOn.promise;
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    const label = () => section('facts', 'run').facts.find(({ key }) => key === 'label')?.value;
    await eventually(() => state().sections.length > 0);
    assert.equal(label(), 'loading…');
    answer = () => [200, { run: detail({ label: null }) }];
    goOn.resolve(undefined);
    await eventually(() => label() === 'none');
  });

  it('sanitizes texts of other clients', async () => {
    const whole = answer;
    const label = `\u202esdrawkcab\n${'x'.repeat(5_000)}`;
    answer = (where) =>
      where.endsWith('/r')
        ? [200, { run: detail({ label, plan: 'p\u202e', status: 'a\u202e' }) }]
        : whole(where);
    await openRead();
    assert.doesNotMatch(texts(), /\\n|\u202e|x{255}/);
    assert.match(panel.title, /^Run: <U\+202E>sdrawkcab x+…x+$/);
  });

  it('calls an empty or blank status unknown', async () => {
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [row('r', 0, ' ')], has_more: false }]
        : [200, { run: detail({ status: '', completed_at: null }) }];
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('2.50'));
    assert.equal(state().heading.status, 'Status unknown');
    assert.equal(section('facts', 'run').facts.find(({ key }) => key === 'status')?.value, 'unknown');
    assert.match(section('adapter').text, /^The run’s status is unknown\./);
  });

  it('counts by the clock of the service', async () => {
    // This machine's is three hours ahead.
    headers = { date: new Date(Date.now() - 3 * 3_600_000).toUTCString() };
    const expiresAtMs = Date.now() - 3_600_000;
    const whole = answer;
    answer = (where) =>
      where.endsWith('/runs')
        ? [
            200,
            {
              data: [{ ...available(), artifacts_expires_at: new Date(expiresAtMs).toISOString() }],
              has_more: false,
            },
          ]
        : whole(where);
    await openRead();
    assert.match(section('adapter').text, /^The adapter expires on .+ \(2 h left\)\.$/);
    assert.ok(actions().includes('Download Adapter…'));
  });

  it('shows what the list has while the details cannot be loaded', async () => {
    const whole = answer;
    answer = (where) => (where.endsWith('/r') ? [200, { run: 7 }] : whole(where));
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await eventually(() => notices().some((text) => text.startsWith('warning: Couldn’t load')));
    assert.match(texts(), /could not be loaded/);
    assert.equal(state().heading.status, 'Completed');
    answer = whole;
    press('Retry');
    await eventually(() => texts().includes('after 5 min of training') && notices().length === 0);
  });

  it('follows the run, and keeps the last details while they are read again', async () => {
    const whole = answer;
    let status = 'running';
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [row('r', 0, status)], has_more: false }]
        : where.endsWith('/r')
          ? [200, { run: detail({ status, completed_at: null, price_cents: 777 }) }]
          : whole(where);
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('7.77'));
    assert.deepEqual([state().heading.status, state().heading.phase], ['running', 'active']);
    const { length } = states();
    status = 'evaluating';
    const goOn = Promise.withResolvers<undefined>();
    held = goOn.promise;
    await session.runs.refresh();
    await eventually(() => state().heading.status === 'evaluating');
    goOn.resolve(undefined);
    for (const one of states().slice(length)) assert.match(JSON.stringify(one), /7\.77/);
  });

  it('promises nothing for a run that may have failed', async () => {
    const whole = answer;
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [row('r', 0, 'failed')], has_more: false }]
        : where.endsWith('/r')
          ? [200, { run: detail({ status: 'failed', completed_at: null }) }]
          : whole(where);
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('after 1 min in the queue'));
    const [, , started, completed] = section('timeline').entries;
    assert.match(started?.notes.at(-1) ?? '', / ago$/);
    assert.equal(completed?.when, 'not provided yet');
    assert.match(section('adapter').text, /^The service reports “failed”\. If the run completes, /);
    assert.equal(section('facts', 'money').note, 'The price was charged when the run was submitted.');
    assert.doesNotMatch(texts(), /so far|once the run has completed/);
  });

  it('shows nothing that a rejected API key has read, not in its tab either', async () => {
    receipts = [charged()];
    await openRead();
    await eventually(() => texts().includes('/data/train.jsonl'));
    answer = () => [401, { error: { code: 'invalid_api_key', message: '' } }];
    await assert.rejects(session.runs.refresh());
    await eventually(() => state().sections.length === 0);
    assert.doesNotMatch(texts(), /maths|train|2\.50|12:0/);
    assert.doesNotMatch(panel.title, /maths/);
    press('Replace API Key…');
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.replaceKey', 'account-1']]);
  });

  it('shows nothing of an account that was removed', async () => {
    await openRead();
    accounts = [];
    accountsChanged.fire();
    await eventually(() => state().sections.length === 0);
    assert.doesNotMatch(texts(), /maths/);
    assert.match(texts(), /not on this machine/);
  });

  it('says since when it is offline, and shows what is known', async () => {
    await openRead();
    answer = () => {
      throw new Error('shut');
    };
    const offline = Object.create(session) as Session;
    Object.defineProperty(offline, 'state', { value: 'offline' });
    Object.defineProperty(offline, 'offlineSince', { value: Date.UTC(2026, 0, 5, 12) });
    Object.defineProperty(offline, 'onDidChangeState', { value: session.onDidChangeState });
    Object.defineProperty(offline, 'isLocked', { value: false });
    Object.defineProperty(offline, 'clockSkewMs', { value: undefined });
    for (const name of ['runs', 'models', 'balance', 'account'] as const)
      Object.defineProperty(offline, name, { value: session[name] });
    session = offline;
    accountsChanged.fire();
    await eventually(() => /Offline since Jan [56], 2026/.test(texts()));
    assert.match(texts(), /after 5 min of training/);
  });

  describe('buttons', () => {
    it('do only what was offered', async () => {
      await openRead();
      for (const message of [
        { type: 'act', action: 'inspect', target: '' },
        { type: 'act', action: 'inspect', target: '/etc/passwd' },
        { type: 'act', action: 'download', target: 'other' },
        { type: 'act', action: 'cancelDownload', target: 'd1' },
        { type: 'act', action: 'openDataset', target: '/data/train.jsonl' },
        { type: 'act', action: 'replaceKey', target: 'account-1' },
        { type: 'submit' },
      ])
        panel.send(message);
      await sleep(30);
      assert.equal(standIn.executed.length, 0);
      press('Copy Run ID');
      press('Download Adapter…');
      press('Submit Again…');
      await until(() => standIn.executed.length === 3);
      const target = { accountId: 'account-1', id: 'r' };
      assert.deepEqual(standIn.executed, [
        ['copy', 'r'],
        ['fineTuning.downloadAdapter', target],
        ['fineTuning.submitAgain', target],
      ]);
    });

    it('offer to switch to the account of the run', async () => {
      isActive = false;
      await openRead();
      press('Switch to account-1');
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [['activate', 'account-1']]);
    });

    it('are enabled only for what is possible', async () => {
      const whole = answer;
      answer = (where) =>
        where.endsWith('/runs')
          ? [200, { data: [row('r', 0)], has_more: false }]
          : [200, { run: detail({ status: 'queued', started_at: null, completed_at: null }) }];
      await session.runs.refresh();
      open();
      panel.send({ type: 'ready' });
      await eventually(() => texts().includes('2.50'));
      assert.deepEqual(actions(), ['Submit Again…', 'Copy Run ID', 'Refresh']);
      assert.deepEqual(places(), PLACES);
      answer = (where) =>
        where.endsWith('/runs')
          ? [
              200,
              {
                data: [{ ...available(), artifacts_expires_at: '2026-01-06T12:00:00Z' }],
                has_more: false,
              },
            ]
          : whole(where);
      await session.runs.refresh();
      await eventually(() => texts().includes('expired'));
      assert.deepEqual(actions(), ['Submit Again…', 'Copy Run ID', 'Refresh']);
    });
  });

  describe('receipt', () => {
    it('shows dataset, consents and money, or that there is none', async () => {
      await openRead();
      assert.match(texts(), /submitted from another machine/);
      receipts = [charged()];
      receiptsChanged.fire();
      await eventually(() => texts().includes('/data/train.jsonl'));
      assert.doesNotMatch(texts(), /submitted from another machine/);
      const fact = (key: string, name: string) =>
        section('facts', key).facts.find((one) => one.key === name)?.value;
      assert.equal(fact('money', 'price'), '2.50 USD');
      assert.equal(fact('money', 'effect'), '10.00 USD before, 7.50 USD after');
      assert.equal(fact('dataset', 'rows'), '7,473');
      assert.equal(fact('dataset', 'now'), 'moved or deleted');
      assert.match(fact('consents', 'terms') ?? '', /^accepted (Apr 30|May [12]), 2026/);
      assert.match(fact('run', 'label') ?? '', /^maths ft-7k3m9qpx \(with this extension’s marker/);
      assert.equal(buttons().filter(({ action }) => action === 'openDataset').length, 0);
    });

    it('that cannot be read is not a missing one', async () => {
      readReceipts = () => Promise.reject(new Error('no disk'));
      await openRead();
      const [submitted] = section('timeline').entries;
      assert.equal(submitted?.when, 'could not be loaded');
      assert.doesNotMatch(texts(), /submitted from another machine/);
      readReceipts = () => Promise.resolve([]);
      receiptsChanged.fire();
      await eventually(() => texts().includes('submitted from another machine'));
    });

    it('offers the dataset while it is there', async () => {
      const file = path.join(bench.folder, 'train.jsonl');
      await writeFile(file, 'x');
      receipts = [charged(file, 1)];
      await openRead();
      await eventually(() => texts().includes('modified since (same size)'));
      press('Open Dataset');
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [['fineTuning.previewDataset', standIn.Uri.file(file)]]);
    });

    it('of another account is not its own', async () => {
      receipts = [{ ...charged(), accountId: 'other' }];
      await openRead();
      await sleep(80);
      assert.match(texts(), /submitted from another machine/);
    });
  });

  describe('downloads', () => {
    const download = (more: Partial<ActiveDownload> = {}): ActiveDownload => ({
      id: 'd1',
      accountId: 'account-1',
      runId: 'r',
      artifactType: 'model',
      filename: 'a.zip',
      target: '/home/a.zip',
      receivedBytes: 400,
      totalBytes: 1_000,
      state: 'downloading',
      ...more,
    });
    const change = () => downloadsChanged.fire({ accountId: 'account-1', runId: 'r' });

    it('are live, and can be cancelled', async () => {
      await openRead();
      active = [
        download(),
        download({ id: 'd2', runId: 'other' }),
        download({ id: 'd3', accountId: 'other' }),
      ];
      change();
      await eventually(() => section('adapter').downloads.length > 0);
      assert.deepEqual(
        section('adapter').downloads.map(({ key, fraction }) => [key, fraction]),
        [['d1', 0.4]],
      );
      assert.deepEqual(actions(), ['Submit Again…', 'Copy Run ID', 'Refresh']);
      assert.deepEqual(
        places(),
        PLACES,
        'no other button slides into the place of a button that was pressed',
      );
      panel.send({ type: 'act', action: 'download', target: 'r' });
      press('Cancel');
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [['fineTuning.cancelDownload', 'd1']]);
      active = [download({ state: 'interrupted' })];
      change();
      await eventually(() => actions().includes('Resume Download…'));
      assert.ok(buttons().some(({ words }) => words === 'Discard'));
    });

    it('that progress don’t read the disk each time', async () => {
      const file = path.join(bench.folder, 'a.zip');
      await writeFile(file, 'zip');
      const record = { runId: 'r', artifactType: 'model', path: file, sizeBytes: 3, sha256: SHA };
      records = [{ ...record, verified: 'zip', completedAtMs: 1 }];
      await openRead();
      await eventually(() => actions().includes('Inspect Adapter'));
      await rm(file);
      active = [download()];
      change();
      await eventually(() => section('adapter').downloads.length > 0);
      await sleep(100);
      assert.ok(actions().includes('Inspect Adapter'));
      records = [...records];
      change();
      await eventually(() => !actions().includes('Inspect Adapter'));
    });

    it('that are a web page instead of the adapter are downloaded again and not inspected', async () => {
      const file = path.join(bench.folder, 'a.zip');
      await writeFile(file, '<html>');
      const record = { runId: 'r', artifactType: 'model', path: file, sizeBytes: 6, sha256: SHA };
      records = [{ ...record, verified: 'html', completedAtMs: 1 }];
      await openRead();
      await eventually(() =>
        actions().some((words) => words.startsWith('Download') && words.includes('Again')),
      );
      assert.ok(!actions().includes('Inspect Adapter'));
    });

    it('that are complete say how they were verified, and can be inspected while they exist', async () => {
      const file = path.join(bench.folder, 'a.zip');
      await writeFile(file, 'zip');
      const record = { runId: 'r', sizeBytes: 3, sha256: SHA, completedAtMs: Date.UTC(2026, 0, 6) };
      records = [
        { ...record, artifactType: 'model', filename: 'a.zip', path: file, verified: 'zip' },
        { ...record, artifactType: 'merged', path: '/gone/b.bin', verified: 'length', completedAtMs: 1 },
        { ...record, runId: 'other', artifactType: 'model', path: '/c.zip', verified: 'zip' },
      ];
      await openRead();
      await eventually(() => actions().includes('Inspect Adapter'));
      assert.deepEqual(places(), PLACES);
      const { files } = section('adapter');
      assert.deepEqual(
        files.map(({ name, path: where, isGone }) => [name, where, isGone]),
        [
          ['Adapter: a.zip', file, false],
          ['Other file (merged): unnamed', '/gone/b.bin', true],
        ],
      );
      assert.match(files[0]?.lines.join() ?? '', /Verified: .+ ZIP/);
      assert.match(files[1]?.lines.join() ?? '', /moved or deleted.+Only its size could be verified/);
      assert.deepEqual(
        files[1]?.buttons.map(({ words }) => words),
        ['Copy Path', 'Copy SHA-256'],
      );
      press('Inspect Adapter: Adapter: a.zip');
      press('Open Containing Folder: Adapter: a.zip');
      press('Copy SHA-256: Adapter: a.zip');
      await until(() => standIn.executed.length === 3);
      const uri = standIn.Uri.file(file);
      assert.deepEqual(standIn.executed, [
        ['fineTuning.inspectAdapter', uri],
        ['revealFileInOS', uri],
        ['copy', SHA],
      ]);
      await rm(file);
      standIn.focus.changed.fire({ focused: true });
      await eventually(() => actions().includes('Download Adapter…'));
      assert.ok(!actions().includes('Inspect Adapter'));
    });
  });

  it('says how long other runs took', async () => {
    await openRead();
    assert.doesNotMatch(texts(), /usually/);
    const others = [1, 2, 3].map((n) => `o${n}`);
    const whole = answer;
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [available(), ...others.map((id) => row(id, -1, 'complete'))], has_more: false }]
        : /\/o\d$/.test(where)
          ? [200, { run: detail({ run_id: where.split('/').at(-1) }) }]
          : whole(where);
    await session.runs.refresh();
    for (const id of others) await session.runs.loadDetail(id);
    await eventually(() => texts().includes('after 5 min of training (usually 5 min)'));
  });

  it('sees the adapter expire by itself', async () => {
    const whole = answer;
    const soon = new Date(Date.now() + 1_500).toISOString();
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [{ ...available(), artifacts_expires_at: soon }], has_more: false }]
        : whole(where);
    await openRead();
    assert.ok(actions().includes('Download Adapter…'));
    await until(() => texts().includes('This adapter expired'));
    assert.ok(!actions().includes('Download Adapter…'));
  });

  it('is restored by two IDs alone', () => {
    const panels = createPanels(parts());
    const restored = (state: unknown) => {
      const restoring = new PanelStandIn();
      void panels.deserializeWebviewPanel(restoring as unknown as vscode.WebviewPanel, state);
      return !restoring.isDisposed;
    };
    for (const state of [
      undefined,
      7,
      { accountId: 'a' },
      { accountId: 'a', runId: '' },
      { accountId: 1, runId: 'r' },
      { accountId: 'a', runId: 'r'.repeat(401) },
    ])
      assert.ok(!restored(state), JSON.stringify(state));
    assert.ok(restored({ accountId: 'a', runId: 'r' }));
    assert.ok(!restored({ accountId: 'a', runId: 'r' }), 'one for each run');
    panels.dispose();
  });

  it('does nothing when it is closed', async () => {
    await openRead();
    await sleep(100);
    // What is under way when it is closed.
    const goOn = Promise.withResolvers<undefined>();
    held = goOn.promise;
    const whole = answer;
    answer = (where) =>
      where.endsWith('/runs') ? [200, { data: [row('r', 0, 'running')], has_more: false }] : whole(where);
    await session.runs.refresh();
    await sleep(100);
    page?.dispose();
    const { length } = panel.posted;
    goOn.resolve(undefined);
    await session.runs.loadDetail('r');
    session.runs.knowLabels([['x', 'x']]);
    downloadsChanged.fire({ accountId: 'account-1', runId: 'r' });
    panel.send({ type: 'ready' });
    await sleep(100);
    assert.equal(panel.posted.length, length);
  });
});

function charged(file = '/data/train.jsonl', sizeBytes = 600_000_000): Receipt {
  const intent = intentOf({ balanceBefore: { balance_cents: 1_000, currency: 'USD' } });
  return {
    ...intent,
    dataset: { ...intent.dataset, path: file, sizeBytes },
    settled: {
      kind: 'charged',
      at: { localMs: 1 },
      run: { run_id: 'r', price_cents: 250, currency: 'USD', balance_after_cents: 750 },
      how: 'answered',
    },
  };
}
