import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import type { Account } from '../../../../src/core/accounts/account.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { RowDifference } from '../../../../src/core/datasets/fingerprints.ts';
import type { ActiveDownload, DownloadRecord } from '../../../../src/core/downloads/downloads.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import {
  charged as chargedWith,
  type ChargedReceipt,
  type Receipt,
} from '../../../../src/core/submission/submission.ts';
import type { RunPageState } from '../../../../src/ui/runs/protocol.ts';
import type { RunPageParts } from '../../../../src/ui/runs/runPage.ts';
import { bodyOf, sendJson } from '../../../helpers/httpServer.ts';
import { PanelStandIn } from '../../../helpers/panelStandIn.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { Bench, row, until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { RunPanel: Patient, runPanels: createPanels } = await withVscode(
  () => import('../../../../src/ui/runs/runPage.ts'),
);

const MEMORY = { accountId: 'account-1', runId: 'r' };
/** Longer than the delay before changes are drawn. */
const DRAWN_MS = 25;
/** A text that appears with the details. */
const READ = 'after 5 min of training';

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
const listed = (more: object = {}) => ({ ...row('r', 0, 'complete'), artifacts_available: true, ...more });

/** Replaces a file at once: a late read of an earlier event mustn't find it empty, which is one more version. */
async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

class QuickPage extends Patient {
  protected override drawDelayMs(): number {
    return 5;
  }
}

describe('RunPage', () => {
  let bench: Bench;
  let session: Session;
  /** The rows of the list. */
  let rows: unknown[];
  let details: () => [status: number, body: unknown];
  let isRejected: boolean;
  let paths: string[];
  /** What the responses with details wait for. */
  let held: Promise<unknown>;
  let accounts: Account[];
  let receipts: () => Promise<Receipt[]>;
  let latest: Receipt[];
  let errors: string[];
  /** IDs of receipts with fingerprints, what was compared, and how. */
  let remembered: Set<string>;
  let compared: string[];
  let difference: () => Promise<RowDifference | undefined>;
  /** The compared files, and the results. */
  let verdicts: string[];
  let verdict: () => Promise<string | undefined>;
  let active: ActiveDownload[];
  let records: DownloadRecord[];
  let pending: PendingSubmission[];
  let checked: string[];
  let isActive: boolean;
  let changed: {
    accounts: Emitter<void>;
    receipts: Emitter<void>;
    downloads: Emitter<{ accountId: string; runId: string }>;
    kept: Emitter<void>;
  };
  let panel: PanelStandIn;
  let page: QuickPage | undefined;
  /** The service's clock. */
  let date: () => Date;

  beforeEach(async () => {
    standIn.forget();
    bench = await Bench.start();
    [paths, active, records, checked, rows, isRejected] = [[], [], [], [], [listed()], false];
    receipts = () => Promise.resolve([]);
    [pending, latest, errors, remembered, compared] = [[], [], [], new Set(), []];
    difference = () => Promise.resolve(undefined);
    [verdicts, verdict] = [[], () => Promise.resolve(undefined)];
    isActive = false;
    details = () => [200, { run: detail() }];
    held = Promise.resolve();
    date = () => new Date();
    session = await serve();
    accounts = [session.account];
    changed = {
      ...{ accounts: new Emitter(), receipts: new Emitter() },
      ...{ downloads: new Emitter(), kept: new Emitter() },
    };
    panel = new PanelStandIn();
    page = undefined;
  });
  afterEach(async () => {
    page?.dispose();
    await bench.end();
  });

  async function serve(): Promise<Session> {
    const answer = (where: string): [status: number, body: unknown] => {
      if (isRejected) return [401, { error: { code: 'invalid_api_key', message: '' } }];
      if (where.endsWith('/runs')) return [200, { data: rows, has_more: false }];
      if (where.endsWith('/r')) return details();
      return [404, { error: { code: 'not_found', message: '' } }];
    };
    const { url } = await bench.serve((request, response) => {
      const where = new URL(String(request.url), 'http://x.test').pathname;
      paths.push(where);
      const isHeld = where.endsWith('/r');
      bodyOf(request)
        .then(() => (isHeld ? held : undefined))
        .then(
          () => sendJson(response, ...answer(where), { date: date().toUTCString() }),
          () => undefined,
        );
    });
    return bench.session({ baseUrl: url, apiKey: 'service_test', keyId: 'key-1' });
  }

  function parts(): RunPageParts {
    return {
      context: { extensionUri: standIn.Uri.file('/extension'), extension: { id: 'x.y' } },
      accounts: {
        get accounts() {
          return accounts;
        },
        activate: (id: string) => Promise.resolve(void standIn.executed.push(['activate', id])),
        onDidChange: changed.accounts.event,
      },
      sessions: {
        get active() {
          return isActive ? session : undefined;
        },
        find: () => (accounts.length === 0 ? undefined : session),
        onDidChangeActive: new Emitter().event,
      },
      journal: {
        receipts: async () => (latest = await receipts()),
        get latest() {
          return latest;
        },
        onDidChange: changed.receipts.event,
      },
      fingerprints: {
        onDidKeep: changed.kept.event,
        has: (id: string) => Promise.resolve(remembered.has(id)),
        since: (id: string) => compare('since', id),
        between: (earlier: string, id: string) => compare(`between ${earlier}`, id),
      },
      openJournal: () => Promise.resolve(),
      answersVerdict: {
        get: () => (runId: string, file: string) => {
          verdicts.push(`${runId} ${file}`);
          return verdict();
        },
      },
      downloads: {
        get active() {
          return active;
        },
        records: () => records,
        check: (accountId: string) => Promise.resolve(void checked.push(accountId)),
        onDidChange: changed.downloads.event,
      },
      submissions: { pending },
      log: { error: (what: string) => void errors.push(what), warn: () => undefined },
    } as unknown as RunPageParts;
  }

  function open(runId = 'r'): void {
    page = new QuickPage({ ...MEMORY, runId }, panel as unknown as vscode.WebviewPanel, parts());
    panel.send({ type: 'ready' });
  }
  async function openRead(): Promise<void> {
    await session.runs.refresh();
    open();
    await shows(READ);
  }

  const compare = (how: string, id: string) => {
    compared.push(`${how} ${id}`);
    return difference();
  };
  const states = () => panel.posted as RunPageState[];
  const state = () => {
    const last = states().at(-1);
    assert.ok(last !== undefined);
    return last;
  };
  const texts = () => JSON.stringify(state());
  const shows = (text: string) => until(() => states().length > 0 && texts().includes(text));
  const reads = (runId = 'r') => paths.filter((one) => one.endsWith(`/runs/${runId}`)).length;
  const press = (action: string, target: string) => panel.send({ type: 'act', action, target });
  const progress = () => changed.downloads.fire(MEMORY);
  const isOffered = (action: string) =>
    state().actions.some((one) => one.action === action && one.isDisabled !== true);

  it('posts only to a ready page, nothing twice, and everything when it is shown again', async () => {
    await session.runs.refresh();
    page = new QuickPage(MEMORY, panel as unknown as vscode.WebviewPanel, parts());
    await sleep(DRAWN_MS);
    assert.deepEqual(panel.posted, []);
    panel.send({ type: 'ready' });
    await shows(READ);
    assert.deepEqual([state().memory, panel.title], [MEMORY, 'Run: maths']);
    await sleep(DRAWN_MS);
    const { length } = states();
    for (let turn = 0; turn < 2; turn++) {
      progress();
      await sleep(DRAWN_MS);
    }
    assert.equal(states().length, length);
    panel.show(false);
    rows = [row('r', 0, 'running')];
    await session.runs.refresh();
    await sleep(DRAWN_MS);
    assert.equal(states().length, length);
    panel.show(true);
    panel.send({ type: 'ready' });
    assert.equal(states().length, length + 1);
  });

  it('reads the details of a run once, however often the list is refreshed', async () => {
    open();
    assert.match(texts(), /Loading the run…/);
    await shows(READ);
    for (let turn = 0; turn < 3; turn++) await session.runs.refresh();
    await sleep(DRAWN_MS);
    assert.equal(reads(), 1);
  });

  it('requests an unknown run once, and again on Retry', async () => {
    open('none');
    await shows('doesn’t have this run');
    await session.runs.refresh();
    await sleep(DRAWN_MS);
    assert.equal(reads('none'), 1);
    press('refresh', 'none');
    await until(() => reads('none') === 2);
  });

  it('rereads a run that left the list, but not too often', async () => {
    await openRead();
    rows = [row('x', 9)];
    await session.runs.refresh();
    // The service still has it.
    await until(() => reads() === 2 && session.runs.get('r') !== undefined);
    await sleep(DRAWN_MS);
    assert.ok(state().sections.length > 0);
    await session.runs.refresh();
    await shows('no longer lists this run');
    assert.equal(reads(), 2);
    press('refresh', 'r');
    await until(() => reads() === 3);
  });

  it('shows the list’s data while the details cannot be loaded, until Retry', async () => {
    details = () => [200, { run: 7 }];
    await session.runs.refresh();
    open();
    await shows('Couldn’t load the details.');
    assert.equal(state().heading.status, 'Completed');
    details = () => [200, { run: detail() }];
    press('refresh', 'r');
    await shows(READ);
    assert.deepEqual(
      state().notices.map(({ kind }) => kind),
      ['info'],
    );
  });

  it('reads the details with the account’s new session while the old one is still reading', async () => {
    const never = Promise.withResolvers<undefined>();
    held = never.promise;
    await session.runs.refresh();
    open();
    await until(() => reads() === 1);
    // The account now has another address.
    held = Promise.resolve();
    session = await serve();
    changed.accounts.fire();
    await shows(READ);
    never.resolve(undefined);
  });

  it('shows the previous details while they are reread', async () => {
    await openRead();
    const goOn = Promise.withResolvers<undefined>();
    held = goOn.promise;
    rows = [row('r', 0, 'evaluating')];
    const { length } = states();
    await session.runs.refresh();
    await until(() => state().heading.status === 'Evaluating');
    goOn.resolve(undefined);
    for (const one of states().slice(length)) assert.match(JSON.stringify(one), /2\.50/);
  });

  it('hides the data of a rejected API key or a removed account, also in the tab’s title', async () => {
    receipts = () => Promise.resolve([charged('/data/train.jsonl')]);
    await openRead();
    await shows('/data/train.jsonl');
    accounts = [];
    changed.accounts.fire();
    await shows('isn’t on this machine');
    assert.doesNotMatch(texts() + panel.title, /maths|train|2\.50/);
    accounts = [session.account];
    changed.accounts.fire();
    await shows('/data/train.jsonl');
    isRejected = true;
    await assert.rejects(session.runs.refresh());
    await until(() => state().sections.length === 0);
    assert.doesNotMatch(texts() + panel.title, /maths|train|2\.50/);
  });

  it('uses the service’s clock', async () => {
    // This machine's clock is three hours ahead.
    date = () => new Date(Date.now() - 3 * 3_600_000);
    rows = [listed({ artifacts_expires_at: new Date(Date.now() - 3_540_000).toISOString() })];
    await openRead();
    assert.match(texts(), /"2 h left"/);
  });

  it('shows the expiry of the adapter without an event', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      let skewMs = 0;
      Object.defineProperty(session, 'clockSkewMs', { get: () => skewMs });
      rows = [listed({ artifacts_expires_at: new Date(Date.now() + 3_600_000).toISOString() })];
      await openRead();
      assert.ok(isOffered('download'));
      skewMs = 3_600_000;
      mock.timers.tick(2_000);
      assert.match(texts(), /This adapter has expired/);
      assert.ok(!isOffered('download'));
    } finally {
      mock.timers.reset();
    }
  });

  it('reads its account’s receipt when the journal changes', async () => {
    receipts = () => Promise.reject(new Error('disk'));
    await openRead();
    await shows('couldn’t be loaded');
    receipts = () => Promise.resolve([{ ...charged('/other.jsonl'), accountId: 'other' }]);
    changed.receipts.fire();
    await shows('Submitted elsewhere');
    const lastCheck = { at: { localMs: 1 }, complete: true, candidates: ['r'] };
    const attempts = [uploadedAttempt(0)];
    pending.push(pendingOf('idle', submissionOf({ accountId: 'account-1', attempts, lastCheck })));
    changed.receipts.fire();
    await until(() => !texts().includes('Submitted elsewhere'));
    pending.length = 0;
    // It isn't from elsewhere if a submission of this machine had another run before.
    const first = chargedReceipt({ run: { run_id: 'first' } });
    const charge = { ...first.charge, furtherRuns: [{ run_id: 'r' }] };
    receipts = () => Promise.resolve([{ ...first, accountId: 'account-1', charge }]);
    changed.receipts.fire();
    const several = /You may have been charged twice:/;
    await shows('You may have been charged twice: two runs have train.jsonl’s marker (first, r).');
    assert.doesNotMatch(texts(), /Submitted elsewhere|Idempotency-Key/);
    receipts = () => Promise.resolve([charged('/data/train.jsonl')]);
    changed.receipts.fire();
    await shows('/data/train.jsonl');
    assert.doesNotMatch(texts(), several);
    // A further run is linked while the page is open.
    const own = charged('/data/train.jsonl');
    receipts = () => Promise.resolve([{ ...own, charge: { ...own.charge, furtherRuns: [{ run_id: 's' }] } }]);
    changed.receipts.fire();
    await until(() => several.test(texts()));
  });

  it('shows the estimate from its account’s earlier receipts', async () => {
    const paid = (runId: string, atMs: number, cents: number, sha256: string) =>
      chargedReceipt({ atMs, dataset: { sha256 }, run: { run_id: runId, price_cents: cents } });
    const others = [paid('a', 0, 200, '1'), paid('b', 1, 400, '2')].map((one) => ({
      ...one,
      accountId: 'other',
    }));
    const before = [paid('a', 2, 200, '1'), paid('b', 3, 200, '2')];
    receipts = () => Promise.resolve([paid('c', 9, 900, '3'), paid('r', 5, 250, '4'), ...before, ...others]);
    await openRead();
    await shows('"value":"1.60–2.50 USD"');
    assert.match(
      texts(),
      /at most proportionally more\. The price was within the likely range for 1 of your last 2 runs\./,
    );
  });

  describe('the rows of its dataset', () => {
    const rows = (added: number) => () =>
      Promise.resolve({
        ...{ added, removed: 0, changed: 0, equal: 7, notCompared: 0 },
        rows: { total: added, rows: [] },
      });
    let file: string;

    beforeEach(async () => {
      file = path.join(bench.folder, 'a.jsonl');
      await writeFile(file, 'now\n');
    });
    /** A receipt of these bytes, with fingerprints, as if it was charged long ago. */
    function remember(runId: string, atMs: number, text: string, changes: object = {}): Receipt {
      const sha256 = createHash('sha256').update(text).digest('hex');
      const dataset = { path: file, sizeBytes: text.length, sha256 };
      const receipt = chargedReceipt({
        label: `${runId}1`,
        atMs,
        dataset,
        run: { run_id: runId },
        ...changes,
      });
      remembered.add(receipt.id);
      const earlier = receipts;
      receipts = async () => [receipt, ...(await earlier())];
      return receipt;
    }
    /** Shows the page again. */
    const showAgain = () => panel.send({ type: 'ready' });

    it('are compared with the file once for each of its versions', async () => {
      difference = rows(3);
      const { id } = remember('r', 5, 'as it was\n');
      await openRead();
      await shows('Since “r1” (Jan 1, 1970): 3 rows added, 7 unchanged.');
      for (let turn = 0; turn < 3; turn++) showAgain();
      await sleep(DRAWN_MS);
      assert.deepEqual(compared, [`since ${id}`]);
      const { promise, resolve } = Promise.withResolvers<RowDifference | undefined>();
      difference = () => promise;
      await replaceFile(file, 'now another one\n');
      showAgain();
      // Facts about the previous version aren't shown for this one.
      await shows('modified since');
      resolve(await rows(4)());
      await shows('4 rows added');
      await rm(file);
      showAgain();
      await shows('moved or deleted');
      assert.deepEqual(errors, []);
    });

    it('are those of the version read last, whichever comparison ends last', async () => {
      const { promise, resolve } = Promise.withResolvers<RowDifference | undefined>();
      difference = () => promise;
      remember('r', 5, 'as it was\n');
      await openRead();
      await until(() => compared.length === 1);
      difference = rows(4);
      await replaceFile(file, 'now another one\n');
      showAgain();
      await sleep(2 * DRAWN_MS);
      resolve(await rows(3)());
      await shows('4 rows added');
      await sleep(2 * DRAWN_MS);
      assert.match(texts(), /4 rows added/);
    });

    it('aren’t compared with a file that was only touched', async () => {
      remember('r', 5, 'now\n');
      await openRead();
      await shows('modified since');
      await sleep(DRAWN_MS);
      assert.deepEqual(compared, []);
    });

    it('are compared with the newest run before at this path and service that has fingerprints', async () => {
      difference = rows(2);
      remember('old', 1, 'x\n');
      const before = remember('before', 2, 'y\n');
      remembered.delete(remember('none', 3, 'z\n').id);
      remember('elsewhere', 4, 'a\n', { origin: 'https://other.test' });
      remember('other', 4, 'b\n', { dataset: { path: '/other.jsonl' } });
      const { id } = remember('r', 5, 'now\n');
      remember('later', 6, 'c\n');
      await openRead();
      await shows('Since “before1” (Jan 1, 1970): 2 rows added');
      showAgain();
      await sleep(DRAWN_MS);
      assert.deepEqual(compared, [`between ${before.id} ${id}`]);
    });

    it('are compared once there are fingerprints', async () => {
      difference = rows(3);
      const { id } = remember('r', 5, 'as it was\n');
      const before = remember('before', 2, 'y\n');
      remembered.clear();
      await openRead();
      await sleep(2 * DRAWN_MS);
      assert.doesNotMatch(texts(), /before1/);
      for (const one of [id, before.id]) remembered.add(one);
      changed.kept.fire();
      await shows('Since “before1” (Jan 1, 1970): 3 rows added, 7 unchanged.');
    });

    it('say nothing of a run before with the same bytes, and log errors only', async () => {
      const same = remember('same', 2, 'as it was\n');
      remember('r', 5, 'as it was\n');
      difference = () => Promise.reject(new Error('damaged'));
      await openRead();
      await shows('modified since');
      await until(() => errors.length === 1);
      assert.doesNotMatch(texts(), /Since the run before|same1/);
      assert.ok(!compared.some((one) => one.includes(same.id)));
      assert.deepEqual(errors, ['run-rows']);
    });
  });

  it('says what the answers beside its dataset show, compared once for each version', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'run-page-'));
    const answers = path.join(folder, 'train.answers.jsonl');
    await writeFile(answers, 'one');
    receipts = () =>
      Promise.resolve([
        chargedReceipt({
          ...{ accountId: 'account-1', run: { run_id: 'r' } },
          dataset: { path: path.join(folder, 'train.jsonl') },
        }),
      ]);
    const slow = Promise.withResolvers<string>();
    verdict = () => slow.promise;
    await openRead();
    await shows('Compare it with the base model on rows');
    await until(() => verdicts.length === 1);
    slow.resolve('Adapter closer in 9 rows.');
    await shows('"value":"Adapter closer in 9 rows."');
    standIn.focus.changed.fire({ focused: true });
    await sleep(2 * DRAWN_MS);
    assert.deepEqual(verdicts, [`r ${answers}`]);
    verdict = () => Promise.reject(new Error());
    await replaceFile(answers, 'another');
    standIn.focus.changed.fire({ focused: true });
    // The result of another version isn't shown for this one.
    await shows('Compare it with the base model on rows');
    await until(() => errors.length === 1);
    assert.deepEqual([verdicts.length, errors], [2, ['run-verdict']]);
    await rm(folder, { recursive: true });
  });

  it('does only what its buttons offer, for its run and account', async () => {
    const [dataset, adapter, answers] = ['a.jsonl', 'a.zip', 'a.answers.jsonl'].map((name) =>
      path.join(bench.folder, name),
    ) as [string, string, string];
    await openRead();
    for (const [action, target] of [
      ['inspect', ''],
      ['inspect', '/etc/passwd'],
      ['download', 'other'],
      ['cancelDownload', 'd1'],
      ['openDataset', dataset],
      ['compareAnswers', answers],
      ['howToCompare', adapter],
      ['replaceKey', 'account-1'],
      ['toString', 'r'],
    ] as const)
      press(action, target);
    panel.send({ type: 'submit' });
    await sleep(30);
    assert.deepEqual(standIn.executed, []);
    await Promise.all([dataset, adapter, answers].map((file) => writeFile(file, 'x')));
    receipts = () => Promise.resolve([charged(dataset)]);
    records = [recordOf(adapter)];
    active = [downloadOf('interrupted')];
    changed.receipts.fire();
    progress();
    await until(() => isOffered('inspect') && texts().includes('openDataset'));
    const target = { ...MEMORY, id: 'r' };
    const uri = (file: string) => standIn.Uri.file(file);
    for (const [action, on, expected] of [
      ['download', 'r', ['fineTuning.downloadAdapter', { accountId: target.accountId, id: 'r' }]],
      ['submitAgain', 'r', ['fineTuning.submitAgain', { accountId: target.accountId, id: 'r' }]],
      ['inspect', adapter, ['fineTuning.inspectAdapter', uri(adapter)]],
      ['reveal', adapter, ['revealFileInOS', uri(adapter)]],
      ['openDataset', dataset, ['fineTuning.previewDataset', uri(dataset)]],
      ['howToCompare', adapter, ['fineTuning.inspectAdapter', uri(adapter).with({ fragment: 'compare' })]],
      ['compareAnswers', answers, ['fineTuning.compareAnswers', uri(answers)]],
      ['cancelDownload', 'd1', ['fineTuning.cancelDownload', 'd1']],
      ['useAccount', 'account-1', ['activate', 'account-1']],
    ] as const) {
      standIn.forget();
      press(action, on);
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [expected]);
    }
    standIn.forget();
    isRejected = true;
    await assert.rejects(session.runs.refresh());
    await shows('replaceKey');
    press('replaceKey', 'account-1');
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.executed, [['fineTuning.replaceKey', 'account-1']]);
  });

  it('says how to compare an adapter that isn’t downloaded, and offers to download it', async () => {
    isActive = true;
    rows = [{ ...listed(), status: 'completed', artifacts_available: true }];
    details = () => [200, { run: { ...detail(), status: 'completed' } }];
    await openRead();
    await shows('howToCompare');
    standIn.shown.answer = ([button]) => button;
    press('howToCompare', '');
    await until(() => standIn.executed.length > 0);
    assert.deepEqual(standIn.shown.sentences, [
      'Download the adapter first. Its page has a script that compares it with the base model.',
    ]);
    const target = { accountId: MEMORY.accountId, id: 'r' };
    assert.deepEqual(standIn.executed, [['fineTuning.downloadAdapter', target]]);
  });

  it('shows its own downloads, and checks its files when it opens or the window gets the focus', async () => {
    records = [recordOf('/a.zip'), { ...recordOf('/c.zip'), runId: 'other' }];
    await openRead();
    await until(() => isOffered('inspect'));
    assert.deepEqual(new Set(checked), new Set([MEMORY.accountId]));
    checked.length = 0;
    records = [{ ...recordOf('/a.zip'), isGone: true }];
    active = [downloadOf('downloading'), { ...downloadOf('downloading'), id: 'd2', runId: 'other' }];
    progress();
    await shows('"fraction":0.4');
    assert.doesNotMatch(texts(), /"d2"|c\.zip/);
    assert.ok(!isOffered('inspect'));
    assert.deepEqual(checked, [], 'progress does not read the disk');
    press('download', 'r');
    standIn.focus.changed.fire({ focused: true });
    assert.deepEqual(checked, [MEMORY.accountId]);
    assert.deepEqual(standIn.executed, [], 'what is disabled cannot be pressed');
  });

  it('is restored from two IDs, in the one tab of runs', () => {
    const panels = createPanels(parts());
    const restored = (memory: unknown) => {
      const restoring = new PanelStandIn();
      void panels.deserializeWebviewPanel(restoring as unknown as vscode.WebviewPanel, memory);
      return !restoring.isDisposed;
    };
    for (const memory of [
      undefined,
      7,
      { accountId: 'a' },
      { accountId: 'a', runId: '' },
      { accountId: 1, runId: 'r' },
      { accountId: 'a', runId: 'r'.repeat(401) },
    ])
      assert.ok(!restored(memory), JSON.stringify(memory));
    const memory = { accountId: 'a', runId: 'r' };
    assert.deepEqual([memory, memory].map(restored), [true, false]);
    assert.ok(!restored({ ...memory, runId: 'other' }), 'its place is taken');
    // Earlier versions stored this of a run's own tab.
    assert.ok(!restored({ ...memory, runId: 'other', hasOwnTab: true }));
    panels.dispose();
  });

  it('posts nothing after it is closed, whatever is in progress', async () => {
    await openRead();
    await sleep(DRAWN_MS);
    const goOn = Promise.withResolvers<undefined>();
    held = goOn.promise;
    rows = [row('r', 0, 'running')];
    await session.runs.refresh();
    await sleep(DRAWN_MS);
    page?.dispose();
    const { length } = panel.posted;
    goOn.resolve(undefined);
    await session.runs.loadDetail('r');
    progress();
    panel.send({ type: 'ready' });
    await sleep(DRAWN_MS);
    assert.equal(panel.posted.length, length);
  });
});

function recordOf(file: string): DownloadRecord {
  const sha256 = 'ab'.repeat(32);
  return {
    runId: 'r',
    artifactType: 'model',
    path: file,
    sizeBytes: 3,
    sha256,
    verified: 'zip',
    completedAtMs: 1,
  };
}

function downloadOf(state: ActiveDownload['state']): ActiveDownload {
  return {
    id: 'd1',
    ...MEMORY,
    artifactType: 'model',
    filename: 'a.zip',
    target: '/home/a.zip',
    receivedBytes: 400,
    totalBytes: 1_000,
    state,
  };
}

function charged(file: string): ChargedReceipt {
  const submission = submissionOf({ dataset: { ...submissionOf().dataset, path: file } });
  return chargedWith(submission, { at: { localMs: 1 }, run: { run_id: 'r' }, foundBy: 'answered' });
}
