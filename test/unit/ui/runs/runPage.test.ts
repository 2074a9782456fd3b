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
import type {
  RunPageButton,
  RunPageClocks,
  RunPageSection,
  RunPageState,
} from '../../../../src/ui/runs/protocol.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { RunPage } from '../../../../src/ui/runs/runPage.ts';
import type { RunPageParts } from '../../../../src/ui/runs/runPageView.ts';
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
  let bench: Bench;
  let session: Session;
  let answer: (path: string) => [status: number, body: unknown];
  let paths: string[];
  /** What answers of details wait for. */
  let held: Promise<unknown>;
  let accounts: Account[];
  let accountsChanged: Emitter<void>;
  let isActive: boolean;
  let agrees: boolean;
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
    ({ RunPage: createPage } = await import('../../../../src/ui/runs/runPage.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [paths, receipts, active, records, headers] = [[], [], [], [], {}];
    readReceipts = () => Promise.resolve(receipts);
    [isActive, agrees, held] = [true, true, Promise.resolve()];
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
    const parts: RunPageParts = {
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
      beActive: () => Promise.resolve(agrees),
      linkTo: (id) => `vscode://x/run/${id}`,
      log: { error: () => undefined, warn: () => undefined },
    };
    page = new createPage({ accountId: 'account-1', runId }, panel as unknown as vscode.WebviewPanel, parts);
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
  const notices = () => state().notices.map(({ key }) => key);
  const buttons = (): RunPageButton[] => {
    const found: RunPageButton[] = [];
    JSON.stringify(state(), (_, value: unknown) => {
      if (typeof value === 'object' && value !== null && 'action' in value && 'words' in value)
        found.push(value as RunPageButton);
      return value;
    });
    return found;
  };
  const press = (words: string) => {
    const button = buttons().find((one) => one.words === words || one.spoken === words);
    assert.ok(
      button !== undefined,
      `no button "${words}" among ${buttons()
        .map((one) => one.words)
        .join()}`,
    );
    if (button.copy !== undefined) panel.send({ type: 'copy', id: button.key, text: button.copy });
    else panel.send({ type: 'act', action: button.action, key: button.key });
  };
  const eventually = (condition: () => boolean) => until(() => states().length > 0 && condition());
  const actions = () => state().actions.flatMap(({ words, isDisabled }) => (isDisabled ? [] : [words]));
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

  it('tells a page that is ready, and again one that comes after it was hidden', async () => {
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

  it('is told nothing that it was told already', async () => {
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
    assert.deepEqual([notices(), state().sections], [['absent'], []]);
    assert.match(texts(), /Reading the run/);
    await eventually(() => texts().includes('after 5 min of training'));
  });

  it('says that the account has no such run, asks once, and again when it is told to', async () => {
    open('none');
    panel.send({ type: 'ready' });
    await eventually(() => texts().includes('account-1 has no such run.'));
    await session.runs.refresh();
    await sleep(80);
    const asked = () => paths.filter((one) => one.endsWith('/runs/none')).length;
    assert.equal(asked(), 1);
    assert.deepEqual(
      buttons().map(({ words }) => words),
      ['Switch Account…', 'Try Again'],
    );
    press('Switch Account…');
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.switchAccount']]);
    press('Try Again');
    await until(() => asked() === 2);
  });

  it('reads a run anew that has gone from the list, now and then, and says that it has', async () => {
    const whole = answer;
    await openRead();
    answer = (where) =>
      where.endsWith('/runs') ? [200, { data: [row('x', 9)], has_more: false }] : whole(where);
    await session.runs.refresh();
    // It is there all the same.
    await eventually(() => reads() === 2 && state().sections.length > 0);
    await session.runs.refresh();
    await eventually(() => texts().includes('list does not show this run any more'));
    assert.deepEqual([reads(), buttons().map(({ words }) => words)], [2, ['Try Again']]);
    press('Try Again');
    await until(() => reads() === 3);
  });

  it('reads the details of the account as it is now, though those of before are on their way', async () => {
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

  it('says that a label is being read, and not that there is none', async () => {
    const goOn = Promise.withResolvers<undefined>();
    held = goOn.promise;
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    const label = () => section('facts', 'run').facts.find(({ key }) => key === 'label')?.value;
    await eventually(() => state().sections.length > 0);
    assert.equal(label(), 'being read…');
    answer = () => [200, { run: detail({ label: null }) }];
    goOn.resolve(undefined);
    await eventually(() => label() === 'none');
  });

  it('shows texts that another client made as plain ones', async () => {
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

  it('says that a status is unknown that is empty or blank', async () => {
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
    assert.match(section('artifacts').text, /^The status of this run is unknown\. If it completes, /);
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
    assert.match(section('artifacts').text, /^The adapter is available until /);
    assert.ok(actions().includes('Download Adapter…'));
    const clocks = () =>
      panel.posted.findLast((one) => (one as { type: string }).type === 'clocks') as RunPageClocks;
    assert.match(clocks().texts.artifacts ?? '', /^(1 h 59 min|2 h 0 min) left$/);
  });

  it('keeps what the list knows where the details cannot be read', async () => {
    const whole = answer;
    answer = (where) => (where.endsWith('/r') ? [200, { run: 7 }] : whole(where));
    await session.runs.refresh();
    open();
    panel.send({ type: 'ready' });
    await eventually(() => notices().includes('details'));
    assert.match(texts(), /could not be read/);
    assert.equal(state().heading.status, 'Finished');
    answer = whole;
    press('Try Again');
    await eventually(() => texts().includes('after 5 min of training') && notices().length === 0);
  });

  it('goes on with the run, and keeps the last details while they are read anew', async () => {
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

  it('says of a run that may have failed when it began, and promises nothing', async () => {
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
    const clocks = () =>
      panel.posted.findLast((one) => (one as { type: string }).type === 'clocks') as
        RunPageClocks | undefined;
    await until(() => clocks() !== undefined);
    assert.deepEqual(Object.keys(clocks()?.texts ?? {}), ['started']);
    assert.match(clocks()?.texts.started ?? '', / ago$/);
    const training = section('durations').items.find(({ key }) => key === 'training');
    assert.deepEqual([training?.value, training?.clock], ['not told by the service so far', undefined]);
    assert.match(section('artifacts').text, /^The service calls this run “failed”\. If it completes, /);
    assert.equal(section('facts', 'money').note, 'The price was charged when the run was submitted.');
    assert.doesNotMatch(texts(), /\d s so far|not told by the service yet|once the run has completed/);
  });

  it('shows nothing that a refused API key has read, also not in its tab', async () => {
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

  it('shows nothing of an account that is not on this machine any more', async () => {
    await openRead();
    accounts = [];
    accountsChanged.fire();
    await eventually(() => state().sections.length === 0);
    assert.doesNotMatch(texts(), /maths/);
    assert.match(texts(), /not on this machine any more/);
  });

  it('says that it is offline, and since when, beside what is known', async () => {
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
    await eventually(() => notices().includes('offline'));
    assert.match(texts(), /Offline since Jan [56], 2026, .+: what is shown may be out of date\./);
    assert.match(texts(), /after 5 min of training/);
  });

  describe('buttons', () => {
    it('do only what was offered', async () => {
      await openRead();
      for (const message of [
        { type: 'act', action: 'inspect', key: 'adapter' },
        { type: 'act', action: 'copy', key: 'nothing' },
        { type: 'act', action: 'cancelDownload', key: 'other' },
        { type: 'act', action: 'openDataset', key: 'dataset' },
        { type: 'act', action: 'replaceKey', key: 'notice' },
        { type: 'submit' },
      ])
        panel.send(message);
      await sleep(30);
      assert.equal(standIn.executed.length, 0);
      press('Copy Run Id');
      press('Download Adapter…');
      press('Submit Again…');
      await until(() => standIn.executed.length === 3);
      assert.deepEqual(
        new Set(standIn.executed.map((one) => one.join())),
        new Set(['copy,r', 'fineTuning.downloadAdapter,r', 'fineTuning.submitAgain,r']),
      );
    });

    it('ask before they switch to the account of the run', async () => {
      [isActive, agrees] = [false, false];
      await openRead();
      assert.deepEqual(notices(), ['account']);
      press('Download Adapter…');
      await sleep(30);
      assert.deepEqual(standIn.executed, []);
      press('Switch to account-1');
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [['activate', 'account-1']]);
    });

    it('are there only for what can be done', async () => {
      const whole = answer;
      answer = (where) =>
        where.endsWith('/runs') ? [200, { data: [row('r', 0)], has_more: false }] : whole(where);
      answer = (where) =>
        where.endsWith('/runs')
          ? [200, { data: [row('r', 0)], has_more: false }]
          : [200, { run: detail({ status: 'queued', started_at: null, completed_at: null }) }];
      await session.runs.refresh();
      open();
      panel.send({ type: 'ready' });
      await eventually(() => texts().includes('2.50'));
      assert.deepEqual(actions(), ['Submit Again…', 'Copy Run Id', 'Refresh']);
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
      assert.deepEqual(actions(), ['Submit Again…', 'Copy Run Id', 'Refresh']);
    });
  });

  describe('receipt', () => {
    it('tells dataset, consents and money, and that there is none', async () => {
      await openRead();
      assert.match(texts(), /There is no receipt of this run here/);
      receipts = [charged()];
      receiptsChanged.fire();
      await eventually(() => texts().includes('/data/train.jsonl'));
      assert.doesNotMatch(texts(), /There is no receipt/);
      const fact = (key: string, name: string) =>
        section('facts', key).facts.find((one) => one.key === name)?.value;
      assert.equal(fact('money', 'price'), '2.50 USD');
      assert.equal(fact('money', 'effect'), '10.00 USD before, 7.50 USD after');
      assert.equal(fact('dataset', 'rows'), '7,473');
      assert.equal(fact('dataset', 'now'), 'not there any more');
      assert.match(fact('consents', 'terms') ?? '', /^accepted (Apr 30|May [12]), 2026/);
      assert.match(fact('run', 'label') ?? '', /^maths ft-7k3m9qpx \(includes the marker/);
      assert.equal(buttons().filter(({ action }) => action === 'openDataset').length, 0);
    });

    it('that cannot be read is not one that does not exist', async () => {
      readReceipts = () => Promise.reject(new Error('no disk'));
      await openRead();
      const [submitted] = section('timeline').entries;
      assert.equal(submitted?.when, 'could not be read');
      assert.doesNotMatch(texts(), /There is no receipt/);
      readReceipts = () => Promise.resolve([]);
      receiptsChanged.fire();
      await eventually(() => texts().includes('There is no receipt'));
    });

    it('offers the dataset while it is there', async () => {
      const file = path.join(bench.folder, 'train.jsonl');
      await writeFile(file, 'x');
      receipts = [charged(file, 1)];
      await openRead();
      await eventually(() => texts().includes('written to since: its size is the same'));
      press('Open Dataset');
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [['fineTuning.previewDataset', standIn.Uri.file(file)]]);
    });

    it('of another account or run is not its own', async () => {
      receipts = [{ ...charged(), accountId: 'other' }];
      await openRead();
      await sleep(80);
      assert.match(texts(), /There is no receipt/);
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
      await eventually(() => section('artifacts').downloads.length > 0);
      assert.deepEqual(
        section('artifacts').downloads.map(({ key, fraction }) => [key, fraction]),
        [['d1', 0.4]],
      );
      assert.deepEqual(actions(), ['Submit Again…', 'Copy Run Id', 'Refresh']);
      assert.deepEqual(
        places(),
        PLACES,
        'no other button slides into the place of a button that was pressed',
      );
      panel.send({ type: 'act', action: 'download', key: 'run' });
      press('Cancel');
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [['fineTuning.cancelDownload', 'd1']]);
      active = [download({ state: 'interrupted' })];
      change();
      await eventually(() => actions().includes('Continue Download…'));
      assert.ok(buttons().some(({ words }) => words === 'Discard'));
    });

    it('that go on do not have the disk looked at each time', async () => {
      const file = path.join(bench.folder, 'a.zip');
      await writeFile(file, 'zip');
      const record = { runId: 'r', artifactType: 'model', path: file, sizeBytes: 3, sha256: SHA };
      records = [{ ...record, verified: 'zip', completedAtMs: 1 }];
      await openRead();
      await eventually(() => actions().includes('Inspect Adapter'));
      await rm(file);
      active = [download()];
      change();
      await eventually(() => section('artifacts').downloads.length > 0);
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

    it('that came home are told with how they were verified, and can be inspected while they are there', async () => {
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
      const { files } = section('artifacts');
      assert.deepEqual(
        files.map(({ name, path: where, isGone }) => [name, where, isGone]),
        [
          ['Adapter: a.zip', file, false],
          ['Artifact of the unknown kind “merged”: without a name', '/gone/b.bin', true],
        ],
      );
      assert.match(files[0]?.lines.join() ?? '', /checksum of each file in the ZIP archive is right/);
      assert.match(files[1]?.lines.join() ?? '', /not there any more.+Verified by its length alone/);
      assert.deepEqual(
        files[1]?.buttons.map(({ words }) => words),
        ['Copy Path', 'Copy SHA-256'],
      );
      press('Inspect Adapter: Adapter: a.zip');
      press('Show in File Manager: Adapter: a.zip');
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

  it('reads more runs to compare with, at most ten, those of the same model first', async () => {
    const others = Array.from({ length: 12 }, (_, n) => ({
      ...row(`o${n}`, -n, 'complete'),
      model_id: n === 11 ? 'm' : 'x',
    }));
    const whole = answer;
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [available(), ...others], has_more: false }]
        : /\/o\d+$/.test(where)
          ? [200, { run: detail({ run_id: where.split('/').at(-1), model_id: 'x' }) }]
          : whole(where);
    await openRead();
    assert.match(texts(), /No other run is loaded to compare it with\./);
    press('Read 10 More Runs to Compare');
    await eventually(() => texts().includes('As long as your 10 other runs.'));
    const read = paths.filter((one) => /\/o\d+$/.test(one)).map((one) => one.split('/').at(-1));
    assert.deepEqual(read, ['o11', ...Array.from({ length: 9 }, (_, n) => `o${n}`)]);
    press('Read 2 More Runs to Compare');
    await eventually(() => texts().includes('every finished run that is loaded'));
  });

  it('counts down, and sees the adapter expire by itself', async () => {
    const whole = answer;
    const soon = new Date(Date.now() + 2_500).toISOString();
    answer = (where) =>
      where.endsWith('/runs')
        ? [200, { data: [{ ...available(), artifacts_expires_at: soon }], has_more: false }]
        : whole(where);
    await openRead();
    assert.ok(actions().includes('Download Adapter…'));
    const drawn = states().length;
    await until(() => states().length > drawn + 1 || texts().includes('The adapter expired'));
    const clocks = panel.posted.filter((one) => (one as { type: string }).type === 'clocks');
    assert.ok(clocks.length >= 3, JSON.stringify(clocks));
    assert.deepEqual(clocks.at(-1), { type: 'clocks', texts: {} });
    assert.equal(states().length, drawn + 1);
    assert.ok(!actions().includes('Download Adapter…'));
  });

  it('does nothing any more once it is closed', async () => {
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
