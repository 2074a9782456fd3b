import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunSummary } from '../../../../src/core/api/types.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { RunChange } from '../../../../src/core/runs/runStore.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { NotificationLedger } from '../../../../src/core/runs/notificationLedger.ts';
import { StateStore } from '../../../../src/core/storage/state.ts';
import type { NoticePatience, RunNotices, RunNoticesParts } from '../../../../src/ui/runs/runNotices.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { row, until } from '../../../helpers/runs/support.ts';

const PATIENCE: NoticePatience = { togetherMs: 10, focusedMs: 400, fasterMs: 200, labelMs: 50 };

/** The runs of a window, as far as notices ask. */
class Runs {
  readonly changed = new Emitter<RunChange>();
  readonly onDidChange = this.changed.event;
  readonly labels = new Map<string, string>([
    ['a', 'my label ft-7k3m9qpx'],
    ['b', 'other'],
  ]);
  readonly details = new Map<string, object>();
  readonly read: string[] = [];

  label(runId: string): string | undefined {
    return this.labels.get(runId);
  }

  detail(runId: string): object | undefined {
    return this.details.get(runId);
  }

  loadDetail(runId: string, options: object): Promise<void> {
    assert.deepEqual(options, { isBackground: true });
    this.read.push(runId);
    if (runId === 'slow') return new Promise(() => undefined);
    if (runId === 'broken') return Promise.reject(new Error('offline'));
    return new Promise((resolve) => {
      setTimeout(() => {
        this.learn(runId);
        resolve();
      }, 20);
    });
  }

  learn(runId: string): void {
    this.labels.set(runId, `read ${runId}`);
    this.changed.fire({ added: [], changed: [runId], moved: [] });
  }

  move(...moved: [before: RunSummary, after: RunSummary][]): void {
    this.changed.fire({
      added: [],
      changed: [],
      moved: moved.map(([before, after]) => ({ runId: after.run_id, before, after })),
    });
  }
}

describe('RunNotices', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let createNotices: new (parts: RunNoticesParts) => RunNotices;
  let folder: string;
  let windows: {
    runs: Runs;
    state: StateStore;
    told: NotificationLedger;
    notices: RunNotices;
    left: Emitter<undefined>;
  }[];
  let acted: string[];
  let offers: boolean;
  /** GETs that the background may send. */
  let spare: number;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ RunNotices: createNotices } = await import('../../../../src/ui/runs/runNotices.ts'));
  });
  after(() => hooks.deregister());

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    standIn.focus.focused = true;
    folder = await mkdtemp(path.join(tmpdir(), 'notices-test-'));
    [acted, windows, offers, spare] = [[], [], true, Infinity];
  });
  afterEach(async () => {
    for (const { state, told, notices } of windows) {
      notices.dispose();
      told.dispose();
      state.dispose();
    }
    standIn.settings.clear();
    standIn.focus.focused = true;
    await rm(folder, { recursive: true, force: true });
  });

  function open(kind: 'service' | 'sandbox' = 'service', labelMs = PATIENCE.labelMs) {
    const runs = new Runs();
    const state = new StateStore(folder);
    const told = new NotificationLedger(state);
    const session = {
      account: { id: 'account-1', kind },
      runs,
      budget: { takeSpare: () => spare-- > 0 },
      models: { nameOf: (modelId: string) => `Model ${modelId}` },
    } as unknown as Session;
    const left = new Emitter<undefined>();
    const sessions = { active: session, onDidChangeActive: left.event } as unknown as Sessions;
    const notices = new createNotices({
      sessions,
      ledger: told,
      ensureActiveAccount: (accountId) => Promise.resolve(void acted.push(accountId)).then(() => true),
      offersDownload: () => offers,
      patience: { ...PATIENCE, labelMs },
    });
    const window = { runs, state, told, notices, left };
    windows.push(window);
    return window;
  }

  const done = (runId: string): [RunSummary, RunSummary] => [
    row(runId, 1, 'running'),
    { ...row(runId, 1, 'complete'), artifacts_available: true },
  ];
  const status = (runId: string, after: string, before = 'queued'): [RunSummary, RunSummary] => [
    row(runId, 1, before),
    row(runId, 1, after),
  ];
  const said = async (count: number) => {
    await until(() => standIn.told.sentences.length >= count);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(standIn.told.sentences.length, count, JSON.stringify(standIn.told.sentences));
    return standIn.told.sentences;
  };
  const nothing = () => said(0);

  it('tells the end of a run, with Download and Show, which act for its account', async () => {
    standIn.told.answer = ([download]) => download;
    open().runs.move(done('a'));
    assert.deepEqual(await said(1), ['“my label” completed.']);
    assert.deepEqual(standIn.told.buttons, [['Download', 'Show Run']]);
    assert.deepEqual([acted, standIn.executed], [['account-1'], [['fineTuning.downloadAdapter', 'a']]]);
    standIn.told.answer = (names) => names.at(-1);
    windows[0]?.runs.move(done('b'));
    await said(2);
    assert.deepEqual(standIn.executed.at(-1), ['fineTuning.showRun', 'b']);
  });

  it('offers no download where there is nothing to download, or none is wanted', async () => {
    const { runs } = open('sandbox');
    runs.move([row('a', 1, 'running'), row('a', 1, 'completed')]);
    await said(1);
    offers = false;
    runs.move(done('b'));
    const [first = ''] = await said(2);
    assert.deepEqual(standIn.told.buttons, [['Show Run'], ['Show Run']]);
    assert.match(first, /^“my label” completed\. Sandbox: /);
  });

  it('says until when the adapter is kept', async () => {
    const [before, after] = done('a');
    open().runs.move([before, { ...after, artifacts_expires_at: '2026-05-03T12:00:00Z' }]);
    assert.match((await said(1))[0] ?? '', /^“my label” completed\. Its adapter expires on .*2026/);
  });

  it('reads the label that nobody knows yet, and does not wait for it long', async () => {
    const { runs } = open();
    runs.move(done('new'));
    assert.deepEqual([await said(1), runs.read], [['“read new” completed.'], ['new']]);
    runs.move(done('slow'));
    assert.equal((await said(2))[1], 'Model m completed.');
    runs.move(done('broken'));
    assert.equal((await said(3))[2], 'Model m completed.');
  });

  it('reads no label of a run that has none, nor of several that are told together, nor where none is told', async () => {
    const { runs } = open();
    runs.details.set('bare', {});
    runs.move(done('bare'));
    assert.deepEqual(await said(1), ['Model m completed.']);
    runs.move(done('x'), done('y'));
    await said(2);
    standIn.settings.set('fineTuning.notifications', 'badge');
    runs.move(done('z'));
    await said(2);
    assert.deepEqual(runs.read, []);
  });

  it('learns the label from the window that watches, where it is another one', async () => {
    spare = 1;
    const [watching, other] = [open(), open('service', 60_000)];
    standIn.focus.focused = false;
    watching.runs.move(done('new'));
    standIn.focus.focused = true;
    other.runs.move(done('new'));
    setTimeout(() => other.runs.learn('new'), 30);
    assert.deepEqual(await said(1), ['“read new” completed.']);
    assert.deepEqual([watching.runs.read, other.runs.read], [['new'], []]);
  });

  it('is silent where nothing finished and no status is new', async () => {
    const { runs } = open();
    const [, finished] = done('a');
    runs.move([finished, { ...finished, artifacts_available: false }]);
    runs.move([row('b', 1, 'complete'), row('b', 1, 'completed')]);
    runs.move(status('c', 'queued', 'running'));
    runs.move([row('d', 1, 'running'), { ...row('d', 1, 'running'), artifacts_expires_at: 'x' }]);
    await nothing();
  });

  it('tells each status that the contract does not name once, in its own words', async () => {
    const { runs } = open();
    for (const [before, after] of [
      ['queued', 'warming_up'],
      ['warming_up', 'calibrating'],
      ['calibrating', 'warming_up'],
      ['warming_up', 'failed'],
    ] as const) {
      runs.move(status('a', after, before));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    assert.deepEqual(await said(3), [
      '“my label”: the service reports “warming_up”.',
      '“my label”: the service reports “calibrating”.',
      '“my label”: the service reports “failed”.',
    ]);
    assert.deepEqual(standIn.told.buttons[0], ['Show Run']);
  });

  it('tells that a status is unknown where the service sends an empty one', async () => {
    const { runs } = open();
    runs.move(status('a', '', 'warming_up'));
    assert.deepEqual(await said(1), ['“my label”: the service reports “unknown”.']);
  });

  it('tells one after the other what became of a run, however long a label takes', async () => {
    spare = 0;
    const { runs } = open('service', 100);
    runs.move(status('slow', 'warming_up'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    runs.labels.set('b', 'other');
    runs.move(status('b', 'failed'));
    assert.deepEqual(await said(2), [
      'Model m: the service reports “warming_up”.',
      '“other”: the service reports “failed”.',
    ]);
  });

  it('makes no link, no second line and no endless text of what the service says', async () => {
    const { runs } = open();
    runs.labels.set('a', '[click](command:workbench.action.quit)\n\u202eevil');
    runs.move(status('a', `[x](https://evil.test)${'\u0007y'.repeat(5_000)}`));
    const [text = ''] = await said(1);
    assert.doesNotMatch(text, /\]\(|[\p{Cc}\u202e]/u);
    assert.ok(text.length < 160 && text.includes('…'), text);
    assert.match(
      text,
      /^“\[click\] \(command:workbench\.action\.quit\) <U\+202E>evil”: the service reports “\[x\] \(https:/,
    );
  });

  it('is told by one of many windows, whichever has the focus or not', async () => {
    for (const focused of [true, false]) {
      standIn.forget();
      standIn.focus.focused = focused;
      for (let count = 0; count < 4; count++) open();
      const runId = focused ? 'a' : 'b';
      for (const { runs } of windows) runs.move(done(runId));
      await said(1);
    }
  });

  it('is the window with the focus that tells, also where the other ones heard of it first', async () => {
    const [behind, front] = [open(), open()];
    front.runs.labels.set('a', 'front');
    standIn.focus.focused = false;
    behind.runs.move(done('a'));
    standIn.focus.focused = true;
    await new Promise((resolve) => setTimeout(resolve, 20));
    front.runs.move(done('a'));
    assert.deepEqual(await said(1), ['“front” completed.']);
  });

  it('tells at once where its window comes to the front', async () => {
    standIn.focus.focused = false;
    const started = performance.now();
    open().runs.move(done('a'));
    standIn.focus.changed.fire({ focused: true });
    await until(() => standIn.told.sentences.length === 1);
    assert.ok(performance.now() - started < PATIENCE.focusedMs);
  });

  it('tells several in one digest, whole in one window, whose Show leads to the view', async () => {
    standIn.told.answer = ([show]) => show;
    for (let count = 0; count < 3; count++) open();
    for (const { runs } of windows) runs.move(done('a'), done('b'), done('c'), status('d', 'failed'));
    assert.deepEqual(await said(1), ['While you were away: 3 runs completed, 1 run changed status.']);
    assert.deepEqual(standIn.executed, [['fineTuning.runs.focus']]);
  });

  it('keeps what comes in one go together, and the last word of each run', async () => {
    const { runs } = open();
    runs.move(status('a', 'running'));
    runs.move(done('a'));
    runs.move(done('b'));
    assert.deepEqual(await said(1), ['While you were away: 2 runs completed.']);
  });

  it('says nothing where only the badge is wanted, which then counts', async () => {
    standIn.settings.set('fineTuning.notifications', 'badge');
    for (let count = 0; count < 2; count++) open();
    const [{ told }] = windows as [(typeof windows)[0]];
    await told.follow('account-1');
    for (const { runs } of windows) runs.move(done('a'), done('b'), status('c', 'failed'));
    await until(() => told.unseen('account-1') === 2);
    await nothing();
    assert.equal(told.unseen('account-1'), 2);
  });

  it('tells what it has heard before the person went to another account', async () => {
    const { runs, left } = open();
    runs.move(done('a'));
    left.fire(undefined);
    runs.move(done('b'));
    assert.deepEqual(await said(1), ['“my label” completed.']);
  });

  it('tells nothing more after its end', async () => {
    const { runs, notices } = open();
    runs.move(done('a'));
    notices.dispose();
    await nothing();
  });
});
