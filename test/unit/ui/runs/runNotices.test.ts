import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { RunSummary } from '../../../../src/core/api/types.ts';
import type { Disposable } from '../../../../src/core/base/disposable.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { RunChange } from '../../../../src/core/runs/runStore.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/submission.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { row } from '../../../helpers/runs/support.ts';
import { faultOf, servicesOf, sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { RunNotices } = await withVscode(() => import('../../../../src/ui/runs/runNotices.ts'));
// Load it now, since the tests mock time.
await withVscode(() => import('../../../../src/ui/runs/showNotices.ts'));

/** The part of a window's run store that notices use. */
class Runs {
  readonly changed = new Emitter<RunChange>();
  readonly onDidChange = this.changed.event;
  readonly labels = new Map([
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

  async loadDetail(runId: string, options: object): Promise<void> {
    assert.deepEqual(options, { isBackground: true });
    this.read.push(runId);
    if (runId === 'broken') throw new Error('offline');
    if (runId !== 'slow') setTimeout(() => this.learn(runId), 400);
    return Promise.resolve();
  }

  learn(runId: string): void {
    this.labels.set(runId, `read ${runId}`);
    this.changed.fire({ added: [], changed: [runId], moved: [] });
  }

  move(...moved: [before: RunSummary, after: RunSummary][]): void {
    const ofRun = moved.map(([before, after]) => ({ runId: after.run_id, before, after }));
    this.changed.fire({ added: [], changed: [], moved: ofRun });
  }
}

const done = (runId: string): [RunSummary, RunSummary] => [
  row(runId, 1, 'running'),
  { ...row(runId, 1, 'complete'), artifacts_available: true },
];
const status = (runId: string, after: string, before = 'queued'): [RunSummary, RunSummary] => [
  row(runId, 1, before),
  row(runId, 1, after),
];

describe('RunNotices', () => {
  let windows: { runs: Runs; notices: Disposable; left: Emitter<undefined> }[];
  /** The claims of all windows. */
  let claimed: Set<string>;
  let unseen: string[];
  let acted: string[];
  let offers: boolean;
  let receipts: ChargedReceipt[];
  /** How many background requests may be sent. */
  let spare: number;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    standIn.forget();
    [windows, claimed, unseen, acted, offers, spare] = [[], new Set(), [], [], true, Infinity];
    receipts = [];
  });
  afterEach(() => {
    for (const { notices } of windows) notices.dispose();
    standIn.settings.clear();
    standIn.focus.focused = true;
    mock.timers.reset();
  });

  function open(kind: 'service' | 'sandbox' = 'service') {
    const runs = new Runs();
    const session = sessionOf({
      account: { kind },
      runs,
      quota: { takeForExtras: () => spare-- > 0 },
      models: { nameOf: (modelId: string) => `Model ${modelId}` },
    });
    const left = new Emitter<undefined>();
    const notices = new RunNotices({
      sessions: servicesOf({ sessions: { active: session, onDidChangeActive: left.event } }).sessions,
      notices: {
        claim: (accountId, runId, what, isUnseen) => {
          const key = [accountId, runId, what].join();
          if (!claimed.has(key) && isUnseen === true) unseen.push(runId);
          return Promise.resolve(!claimed.has(key) && claimed.add(key).size > 0);
        },
      },
      ensureActiveAccount: (accountId) => Promise.resolve(acted.push(accountId) > 0),
      offersDownload: () => offers,
      faultOf: ({ kind }, some) =>
        kind === 'sandbox' && some && 'join' in some
          ? faultOf(`Sandbox scenario “${some.join()}” is on.`)
          : undefined,
      receiptsOf: () => Promise.resolve(receipts),
    });
    const window = { runs, notices, left };
    windows.push(window);
    return window;
  }

  /** Lets time pass, and then promises settle. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      mock.timers.tick(100);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  async function shown(ms = 8_000): Promise<string[]> {
    standIn.shown.sentences.length = 0;
    await pass(ms);
    return [...standIn.shown.sentences];
  }

  it('offers Download and Show Run, which act in the account of the run', async () => {
    const { runs } = open();
    standIn.shown.answer = ([download]) => download;
    runs.move(done('a'));
    assert.deepEqual(await shown(), ['my label completed.']);
    assert.deepEqual(standIn.shown.buttons, [['Download', 'Show Run']]);
    assert.deepEqual([acted, standIn.executed], [['account-1'], [['fineTuning.downloadAdapter', 'a']]]);
    standIn.shown.answer = (names) => names.at(-1);
    runs.move(done('b'));
    await pass(1_000);
    assert.deepEqual(standIn.executed.at(-1), ['fineTuning.showRun', 'b']);
  });

  it('shows when the adapter expires, and offers no download if none exists or none is wanted', async () => {
    const { runs } = open('sandbox');
    const expiring = (runId: string, hours: number) => {
      const [before, after] = done(runId);
      const artifacts_expires_at = new Date(Date.now() + hours * 3_600_000 + 60_000).toISOString();
      runs.move([before, { ...after, artifacts_expires_at }]);
    };
    expiring('a', 6 * 24);
    assert.deepEqual(await shown(), ['Sandbox: my label completed. Its adapter expires in 6 days.']);
    // The first notification replaces no reminder, the second one does.
    expiring('b', 21);
    assert.deepEqual(await shown(), ['Sandbox: other completed. Its adapter expires in 21 h.']);
    assert.deepEqual(
      [...claimed],
      [...['account-1,a,finished', 'account-1,b,finished', 'account-1,b,expires-in-1-day']],
    );
    runs.move([row('c', 1, 'running'), row('c', 1, 'completed')]);
    assert.deepEqual(await shown(), ['Sandbox: read c completed.']);
    offers = false;
    expiring('d', 1);
    assert.deepEqual(await shown(), ['Sandbox: read d completed.']);
    assert.deepEqual(standIn.shown.buttons.slice(2), [['Show Run'], ['Show Run']]);
    assert.equal(claimed.size, 5);
  });

  it('reads an unknown label, waits at most 3 s, and reads none for a digest or the badge', async () => {
    const { runs } = open();
    runs.move(done('new'));
    assert.deepEqual([await shown(1_000), runs.read], [['read new completed.'], ['new']]);
    for (const runId of ['slow', 'broken']) {
      runs.move(done(runId));
      assert.deepEqual(await shown(3_000), []);
      assert.deepEqual(await shown(500), ['Model m completed.']);
    }
    runs.read.length = 0;
    runs.details.set('bare', {});
    runs.move(done('bare'));
    assert.deepEqual(await shown(500), ['Model m completed.']);
    runs.move(done('x'), done('y'));
    standIn.settings.set('fineTuning.notifications', 'badge');
    await shown();
    runs.move(done('z'));
    assert.deepEqual([await shown(), runs.read], [[], []]);
  });

  it('gets the label from the polling window', async () => {
    spare = 1;
    const [polling, other] = [open(), open()];
    standIn.focus.focused = false;
    polling.runs.move(done('new'));
    standIn.focus.focused = true;
    other.runs.move(done('new'));
    setTimeout(() => other.runs.learn('new'), 1_000);
    assert.deepEqual(await shown(), ['read new completed.']);
    assert.deepEqual([polling.runs.read, other.runs.read], [['new'], []]);
  });

  it('stays silent if nothing completed and no status is new', async () => {
    const { runs } = open();
    const [, finished] = done('a');
    runs.move([finished, { ...finished, artifacts_available: false }]);
    runs.move([row('b', 1, 'complete'), row('b', 1, 'completed')]);
    runs.move(status('c', 'queued', 'running'));
    runs.move([row('d', 1, 'failed'), { ...row('d', 1, 'failed'), artifacts_expires_at: 'x' }]);
    assert.deepEqual(await shown(), []);
  });

  it('notifies once of a status that reads as an end, whatever an earlier version stored', async () => {
    const { runs } = open();
    runs.details.set('a', {});
    const unpriced = ' The price is unknown; contact the service with its run ID.';
    const sentence = (word: string) =>
      `my label: the service reports “${word}”.${word === 'Failed' ? unpriced : ''}`;
    for (const [setting, expected] of [
      ['finished', ['Failed']],
      ['all', []],
      ['nonsense', []],
    ] as const) {
      standIn.settings.set('fineTuning.notifications', setting);
      const said: string[] = [];
      for (const [before, after] of [
        ['queued', 'warming_up'],
        // It hasn’t ended yet.
        ['warming_up', 'cancelling'],
        ['cancelling', 'warming_up'],
        ['warming_up', ''],
        ['', 'Failed'],
      ] as const) {
        runs.move(status('a', after, before));
        said.push(...(await shown()));
      }
      assert.deepEqual(said, expected.map(sentence));
    }
    assert.deepEqual(standIn.shown.buttons, [['Copy Run ID', 'Show Run']]);
    for (const setting of ['on', 'all', 'finished']) {
      standIn.settings.set('fineTuning.notifications', setting);
      runs.labels.set(setting, setting);
      runs.move(done(setting));
      assert.deepEqual(await shown(), [`${setting} completed.`]);
    }
  });

  it('always says what a run that reads as failed cost, by its receipt or details', async () => {
    standIn.settings.set('fineTuning.notifications', 'badge');
    standIn.shown.answer = ([copy]) => copy;
    const run = { run_id: 'a', price_cents: 1_250, currency: 'USD' };
    receipts = [chargedReceipt({ atMs: 1, run })];
    const { runs } = open();
    runs.details.set('a', {});
    runs.move(status('a', 'failed'));
    assert.deepEqual(await shown(), [
      'my label: the service reports “failed”. Charged 12.50 USD; contact the service with its run ID.',
    ]);
    assert.deepEqual(standIn.executed, [['copy', 'a']]);
    runs.details.set('b', { price_cents: 300, assumedCurrency: 'USD' });
    runs.move(status('b', 'failed'));
    assert.deepEqual(await shown(), [
      'other: the service reports “failed”. Charged 3.00 USD (currency assumed from the balance); contact the service with its run ID.',
    ]);
    const sandbox = open('sandbox');
    sandbox.runs.details.set('a', {});
    sandbox.runs.move(status('a', 'error'));
    assert.deepEqual(await shown(), [
      'Sandbox: my label: the service reports “error”. Sandbox scenario “failed-run” is on.',
    ]);
    assert.deepEqual(standIn.shown.buttons.at(-1), ['Copy Run ID', 'Show Run', 'Choose Another']);
    standIn.settings.clear();
    const failedTogether = (...ids: string[]) => ids.map((id) => status(id, 'failed'));
    for (const [moved, said] of [
      [
        failedTogether('c', 'd'),
        'Sandbox: The service reports “failed” for 2 runs. Sandbox scenario “failed-run” is on.',
      ],
      [
        [done('e'), ...failedTogether('f', 'g')],
        'Sandbox: 1 run completed. The service reports “failed” for 2 runs.',
      ],
    ] as const) {
      sandbox.runs.move(...moved);
      assert.deepEqual(await shown(), [said]);
      assert.deepEqual(standIn.shown.buttons.at(-1), ['Show Runs', 'Choose Another']);
    }
  });

  it('claims when the facts are known, so that a window that closes meanwhile leaves the notification', async () => {
    spare = 0;
    for (const move of [done('slow'), status('slow', 'failed')]) {
      const [closed, other] = [open(), open()];
      closed.runs.move(move);
      await pass(2_000);
      closed.notices.dispose();
      assert.deepEqual([await shown(2_000), [...claimed]], [[], []]);
      other.runs.move(move);
      await pass(2_000);
      assert.equal(claimed.size, 0);
      other.runs.details.set('slow', {});
      other.runs.learn('slow');
      assert.equal((await shown(100)).length, 1);
      claimed.clear();
    }
  });

  it('shows a notification whose label takes long, and meanwhile the others', async () => {
    spare = 0;
    const { runs } = open();
    runs.move(done('slow'));
    await pass(500);
    runs.move(done('b'));
    assert.deepEqual(await shown(), ['other completed.', 'Model m completed.']);
  });

  it('sanitizes and cuts the service’s text', async () => {
    const { runs } = open();
    runs.details.set('a', {});
    runs.labels.set('a', '[click](command:workbench.action.quit)\n\u202eevil');
    runs.move(status('a', `[failed](https://evil.test)${'\u0007y'.repeat(5_000)}`));
    const [text = ''] = await shown();
    assert.doesNotMatch(text, /\]\(|[\p{Cc}\u202e]/u);
    assert.ok(text.length < 220 && text.includes('…'), text);
    assert.match(
      text,
      /^\[click\] \(command:workbench\.action\.quit\) <U\+202E>evil: the service reports “\[failed\] \(https:/,
    );
  });

  it('notifies in one window: the focused one, or the first to get the focus', async () => {
    for (const focused of [true, false]) {
      standIn.focus.focused = focused;
      for (let count = 0; count < 4; count++) open();
      for (const { runs } of windows) runs.move(done(focused ? 'x' : 'y'));
      assert.equal((await shown()).length, 1);
    }
    const [behind, front] = [open(), open()];
    front.runs.labels.set('a', 'front');
    behind.runs.move(done('a'), done('b'));
    await pass(1_000);
    standIn.focus.focused = true;
    front.runs.move(done('a'));
    assert.deepEqual(await shown(1_000), ['front completed.']);
    standIn.focus.changed.fire({ focused: true });
    assert.deepEqual(await shown(300), ['other completed.']);
  });

  it('shows several runs as one digest in one window, with a button that opens the view', async () => {
    standIn.shown.answer = ([show]) => show;
    for (let count = 0; count < 3; count++) open();
    const changes = [done('a'), done('b'), done('c'), status('d', 'failed'), status('e', 'x)[error](')];
    for (const { runs } of windows) runs.move(...changes);
    assert.deepEqual(await shown(), [
      '3 runs completed. You were charged: the service reports “failed”, “x)[error] (” for 2 runs. Contact it with each run ID.',
    ]);
    assert.deepEqual(standIn.executed, [['fineTuning.runs.focus']]);
    for (const [moved, sentence] of [
      [
        [done('f'), status('g', 'failed')],
        '1 run completed. You were charged: the service reports “failed” for 1 run. Contact it with each run ID.',
      ],
      [
        [status('h', 'failed'), status('i', 'failed')],
        'You were charged: the service reports “failed” for 2 runs. Contact it with each run ID.',
      ],
    ] as const) {
      windows[0]?.runs.move(...moved);
      assert.deepEqual(await shown(), [sentence]);
    }
    // Notices in quick succession are combined, with the last status of each run.
    windows[0]?.runs.move(status('j', 'failed'));
    windows[0]?.runs.move(done('j'));
    await pass(200);
    windows[0]?.runs.move(done('k'));
    assert.deepEqual(await shown(), ['2 runs completed.']);
  });

  it('only counts completed runs if the setting is “badge”', async () => {
    standIn.settings.set('fineTuning.notifications', 'badge');
    for (let count = 0; count < 2; count++) open();
    for (const { runs } of windows)
      runs.move(done('a'), done('b'), status('c', 'failed'), status('d', 'busy'));
    assert.deepEqual([(await shown()).length, unseen], [1, ['a', 'b', 'c']]);
  });

  it('shows waiting notices when the account changes, but not when disposed', async () => {
    const { runs, left, notices } = open();
    runs.move(done('a'));
    left.fire(undefined);
    runs.move(done('b'));
    assert.deepEqual(await shown(), ['my label completed.']);
    const other = open();
    other.runs.move(done('c'));
    notices.dispose();
    other.notices.dispose();
    assert.deepEqual(await shown(), []);
  });
});
