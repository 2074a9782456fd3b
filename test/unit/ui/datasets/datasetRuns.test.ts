import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type * as vscode from 'vscode';
import type { Balance, RunSummary } from '../../../../src/core/api/types.ts';
import { Emitter } from '../../../../src/core/base/event.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { RowDifference } from '../../../../src/core/datasets/fingerprints.ts';
import { Reports } from '../../../../src/core/datasets/reports.ts';
import type { RunChange } from '../../../../src/core/runs/runStore.ts';
import { Latest, type Session } from '../../../../src/core/runs/session.ts';
import type { Receipt } from '../../../../src/core/submission/submission.ts';
import { useFileReads } from '../../../helpers/fileReads.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { DatasetRuns } = await withVscode(() => import('../../../../src/ui/datasets/datasetRuns.ts'));
const { DatasetStatus } = await withVscode(() => import('../../../../src/ui/datasets/datasetStatus.ts'));

const TEXT = '{"prompt":"a","completion":"b"}\n';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');
/** An unexpected read would start within this time. */
const SETTLING_MS = 200;
const TRAINED = 'Trained May 3, 2026 with Qwen3 8B, 5.17 USD';
const VERDICT = '10 rows · chat · no problems';
const difference = {
  ...{ added: 3, removed: 1, changed: 0, equal: 7, notCompared: 0 },
  rows: { total: 3, rows: [1, 2, 3] },
};

describe('DatasetRuns', () => {
  const folder = useFolder();
  const beforeReads = useFileReads();
  let file: string;
  /** Number of reads; one reads the whole file. */
  let hashed: number;
  let receipts: Receipt[];
  let reads: number;
  let active: Session | undefined;
  let settled: Emitter<void>;
  let switched: Emitter<Session | undefined>;
  let run: RunSummary;
  let moved: Emitter<Partial<RunChange>>;
  let reports: Reports;
  let runs: InstanceType<typeof DatasetRuns>;
  let status: InstanceType<typeof DatasetStatus>;
  let redraws: number;
  let errors: unknown[];
  /** IDs of receipts that have fingerprints, and of those that were compared. */
  let remembered: Set<string>;
  let compared: string[];
  let isReadable: boolean;
  /** What each look for fingerprints waits for. */
  let held: Promise<unknown>;
  let since: (id: string, signal: AbortSignal | undefined) => Promise<RowDifference | undefined>;

  beforeEach(async () => {
    file = path.join(folder(), 'train.jsonl');
    await writeFile(file, TEXT);
    [receipts, reads, hashed, redraws, errors] = [[], 0, 0, 0, []];
    beforeReads(() => hashed++);
    [remembered, compared, isReadable] = [new Set(), [], true];
    since = () => Promise.resolve(difference);
    held = Promise.resolve();
    [settled, switched, moved] = [new Emitter(), new Emitter(), new Emitter()];
    run = { run_id: 'r', status: 'complete', model_id: 'm', artifacts_available: true };
    active = sessionOf('account-1');
    reports = new Reports({
      check: async (name) => reportOf({ path: name, ...stampOf(await stat(name, { bigint: true })) }),
    });
    runs = new DatasetRuns(reports, {
      fingerprints: {
        has: (id) => held.then(() => remembered.has(id)),
        since: (id, _, signal) => {
          compared.push(id);
          return since(id, signal);
        },
      },
      journal: {
        onDidChange: settled.event,
        receipts: () => {
          reads++;
          return isReadable ? Promise.resolve([...receipts]) : Promise.reject(new Error('unreadable'));
        },
      },
      openJournal: () => Promise.resolve(),
      log: { error: (_: string, error: unknown) => void errors.push(error) },
      sessions: {
        find: () => active,
        otherName: () => undefined,
        get active() {
          return active;
        },
        onDidChangeActive: switched.event,
      } as never,
    });
    status = new DatasetStatus(reports, runs);
    status.onDidChangeCodeLenses(() => redraws++);
    standIn.workspace.textDocuments.push(document());
  });
  afterEach(() => {
    standIn.workspace.textDocuments.length = 0;
    for (const one of [status, runs, reports]) one.dispose();
    assert.deepEqual(errors, []);
  });

  const sessionOf = (id: string, baseUrl = 'https://service.test', kind = 'service') =>
    ({
      account: { id, kind, name: id, baseUrl },
      models: { nameOf: () => 'Qwen3 8B', onDidChange: () => ({ dispose: () => undefined }) },
      isLocked: false,
      runs: { get: () => run, detail: () => undefined, onDidChange: moved.event },
      balance: new Latest<Balance>(
        () => assert.fail(),
        () => assert.fail(),
      ),
    }) as unknown as Session;
  const charged = (dataset: Partial<Receipt['dataset']>, changes: object = {}) =>
    chargedReceipt({
      atMs: Date.parse('2026-05-03T12:00:00Z'),
      dataset: { path: '/elsewhere', sizeBytes: TEXT.length, sha256: SHA256, rows: 10, ...dataset },
      run: { run_id: 'r', price_cents: 517 },
      ...changes,
    });
  const document = () =>
    ({ uri: standIn.Uri.file(file), languageId: 'jsonl', isDirty: false }) as unknown as vscode.TextDocument;
  const lenses = () => status.provideCodeLenses(document()).map(({ command }) => command);
  const titles = () =>
    lenses()
      .map((one) => one?.title)
      .filter((title) => title !== 'Preview' && title !== 'Submit…');
  async function shows(...expected: string[]): Promise<void> {
    const giveUpAt = Date.now() + 60_000;
    while (String(titles()) !== String(expected) && Date.now() < giveUpAt) await delay(5);
    assert.deepEqual(titles(), expected);
  }
  function settle(...receipt: Receipt[]): void {
    receipts = [...receipt, ...receipts];
    settled.fire();
  }

  it('names the sandbox in the lens that submits to it', async () => {
    active = sessionOf('account-1', undefined, 'sandbox');
    await reports.check(file);
    await shows(VERDICT, 'Submit to Sandbox…');
  });

  it('hashes a file once, only if a run had its size, and links to the run with the same bytes', async () => {
    receipts = [charged({ sizeBytes: 1 })];
    await reports.check(file);
    await shows(VERDICT);
    await delay(SETTLING_MS);
    assert.equal(hashed, 0);
    settle(charged({}));
    await shows(`${VERDICT} · 5.17 USD last time`, TRAINED);
    const run = lenses().at(-1);
    assert.deepEqual(
      [run?.command, run?.arguments],
      ['fineTuning.showRun', [{ accountId: 'account-1', id: 'r' }]],
    );
    settle(charged({ sizeBytes: 2 }));
    await reports.check(file);
    await delay(SETTLING_MS);
    assert.equal(hashed, 1);
  });

  it('stops hashing when disposed', async () => {
    const text = TEXT.repeat(300_000);
    await writeFile(file, text);
    receipts = [charged({ sizeBytes: text.length })];
    beforeReads(() => delay(20, hashed++));
    await reports.check(file);
    while (hashed < 2) await delay(5);
    runs.dispose();
    const known = hashed;
    await delay(100);
    assert.ok(hashed <= known + 1, `${known} reads, then ${hashed}`);
  });

  it('shows only a likely price for different bytes of the same size', async () => {
    receipts = [charged({ sha256: '0'.repeat(64) }), charged({ sha256: '1'.repeat(64) })];
    await reports.check(file);
    await shows(`${VERDICT} · likely 4.10–6.50 USD`);
    for (const [currency, price] of [
      ['JPY', ''],
      ['USD', ' · likely 4.10–6.50 USD'],
    ] as const) {
      active?.balance.set({ balance_cents: 1, currency });
      await shows(`${VERDICT}${price}`);
    }
    const known = lenses()[0]?.tooltip;
    assert.match(known ?? '', /^Assumes that .* proportionally more\.$/);
    // Each charge changes the accuracy, even if the range stays the same.
    settle(...[7, 8].map((atMs) => charged({ sha256: `${atMs}`.repeat(64) }, { atMs })));
    while (lenses()[0]?.tooltip === known) await delay(5);
    assert.match(lenses()[0]?.tooltip ?? '', /within the likely range for 2 of your last 2 runs\.$/);
    assert.notEqual(redraws, 0);
    settle(charged({}));
    await shows(`${VERDICT} · 5.17 USD last time`, TRAINED);
    assert.equal(lenses()[0]?.tooltip, undefined);
  });

  it('shows that a file has changed since its last run, never by a net number', async () => {
    for (const rows of [3, 11, 10, undefined]) {
      receipts = [charged({ path: file, sizeBytes: 1, rows })];
      settled.fire();
      await reports.check(file);
      await shows(VERDICT, `${TRAINED}; changed since`);
    }
  });

  it('says “trained” only of a completed run, and that any other was submitted', async () => {
    run = { ...run, status: 'queued', artifacts_available: false };
    receipts = [charged({})];
    await reports.check(file);
    const price = `${VERDICT} · 5.17 USD last time`;
    await shows(price, `${TRAINED.replace('Trained', 'Submitted')} · queued`);
    run = { ...run, status: 'complete' };
    moved.fire({ added: [], changed: ['r'], moved: [{} as never] });
    await shows(price, TRAINED);
  });

  it('needs a report and an account, and shows a price only to the account that paid', async () => {
    receipts = [charged({})];
    settled.fire();
    active = undefined;
    await reports.check(file);
    settled.fire();
    assert.deepEqual([reads, titles()], [0, [VERDICT]]);
    const switchTo = (id: string) => switched.fire((active = sessionOf(id)));
    switchTo('account-1');
    await shows(`${VERDICT} · 5.17 USD last time`, TRAINED);
    switchTo('account-2');
    await shows(VERDICT, TRAINED);
    switched.fire((active = undefined));
    await shows(VERDICT);
  });

  describe('since the last run', () => {
    /** A receipt of other bytes of the file, with fingerprints. */
    const remember = (atMs: number, dataset: Partial<Receipt['dataset']> = {}, changes: object = {}) => {
      const receipt = charged(
        { path: file, sizeBytes: 1, sha256: `${atMs}`.repeat(64), ...dataset },
        changes,
      );
      receipt.created.localMs = atMs;
      remembered.add(receipt.id);
      receipts = [...receipts, receipt];
      return receipt.id;
    };
    const pastOf = () => {
      const report = reports.get(file)?.report;
      return report && runs.of(report);
    };
    async function becomes(expected: string | null): Promise<void> {
      const giveUpAt = Date.now() + 60_000;
      const shown = () => {
        const known = pastOf()?.since;
        return known && known.run.label;
      };
      while (shown() !== expected && Date.now() < giveUpAt) await delay(5);
      assert.equal(shown(), expected);
    }

    it('compares a file with the newest run of its path at this service that has fingerprints, once', async () => {
      remember(1, {}, { label: 'oldest' });
      const newer = remember(3, {}, { label: 'newer ft-7k3m9qpx' });
      remembered.delete(remember(4, {}, { label: 'no fingerprints' }));
      remember(5, { path: '/elsewhere' }, { label: 'another file' });
      remember(6, {}, { label: 'another service', origin: 'https://other.test' });
      await reports.check(file);
      await becomes('newer');
      assert.deepEqual(pastOf()?.since?.difference, difference);
      for (let turn = 0; turn < 3; turn++) settled.fire();
      await delay(SETTLING_MS);
      assert.deepEqual(compared, [newer]);
      switched.fire((active = sessionOf('account-2', 'https://other.test')));
      await becomes('another service');
    });

    it('begins the CodeLens with its numbers, if they are of the run that it names', async () => {
      remember(Date.parse('2026-05-03T12:00:00Z'), { rows: 1 }, { label: 'one' });
      await reports.check(file);
      await shows(VERDICT, '+3 −1 since May 3 · Qwen3 8B · 5.17 USD');
      run = { ...run, status: 'queued', artifacts_available: false };
      moved.fire({ added: [], changed: ['r'], moved: [{} as never] });
      await shows(VERDICT, '+3 −1 since May 3 · Qwen3 8B · 5.17 USD · queued');
      remembered.delete(remember(Date.parse('2026-05-04T12:00:00Z'), {}, { label: 'no fingerprints' }));
      settled.fire();
      await shows(VERDICT, 'Submitted May 4, 2026 with Qwen3 8B, 5.17 USD; changed since · queued');
    });

    it('says nothing if the last run had the same bytes, even without fingerprints', async () => {
      remember(1, {}, { label: 'older' });
      await reports.check(file);
      await becomes('older');
      remembered.delete(remember(2, { sizeBytes: TEXT.length, sha256: SHA256 }));
      settled.fire();
      await becomes(null);
      assert.deepEqual([compared.length, hashed], [1, 1]);
    });

    it('waits for the hash of a file whose size an earlier run had', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      beforeReads(() => promise);
      remember(1, { sizeBytes: TEXT.length, sha256: SHA256 });
      await reports.check(file);
      for (let turn = 0; turn < 3; turn++) settled.fire();
      await delay(SETTLING_MS);
      assert.deepEqual([compared, pastOf()?.since], [[], undefined]);
      resolve(undefined);
      await becomes(null);
      assert.deepEqual(compared, []);
    });

    it('is known not to be known without a run, without fingerprints, and after any failure', async () => {
      await reports.check(file);
      await becomes(null);
      remember(1, {}, { label: 'one' });
      for (const fails of [() => Promise.reject(new Error('damaged')), () => Promise.resolve(undefined)]) {
        since = fails;
        await writeFile(file, TEXT.repeat(2 + compared.length));
        await reports.check(file);
        const asked = compared.length;
        while (compared.length === asked) await delay(5);
        await becomes(null);
      }
      isReadable = false;
      await writeFile(file, TEXT.repeat(9));
      await reports.check(file);
      await becomes(null);
      assert.deepEqual(errors.splice(0).map(String), ['Error: damaged', 'Error: unreadable']);
    });

    for (const step of ['finding', 'comparing'] as const)
      it(`is that of the active account, whatever ends last: ${step}`, async () => {
        const { promise, resolve } = Promise.withResolvers<RowDifference | undefined>();
        if (step === 'finding') held = promise;
        else since = () => promise;
        remember(1, {}, { label: 'here' });
        remember(2, {}, { label: 'there', origin: 'https://other.test' });
        await reports.check(file);
        await delay(SETTLING_MS);
        [held, since] = [Promise.resolve(), () => Promise.resolve(difference)];
        switched.fire((active = sessionOf('account-2', 'https://other.test')));
        await becomes('there');
        resolve({ ...difference, added: 9 });
        await delay(SETTLING_MS);
        const { run, difference: shown } = pastOf()?.since ?? {};
        assert.deepEqual([run?.label, shown?.added], ['there', 3]);
      });

    it('is aborted with the report, and never shown for another one', async () => {
      const { promise, resolve } = Promise.withResolvers<RowDifference>();
      const signals: (AbortSignal | undefined)[] = [];
      since = (_, signal) => {
        signals.push(signal);
        return promise;
      };
      remember(1, {}, { label: 'one' });
      await reports.check(file);
      while (signals.length < 1) await delay(5);
      await writeFile(file, TEXT.repeat(3));
      since = () => Promise.resolve({ ...difference, added: 9 });
      await reports.check(file);
      assert.equal(signals[0]?.aborted, true);
      resolve(difference);
      await becomes('one');
      await delay(SETTLING_MS);
      assert.equal(pastOf()?.since?.difference.added, 9);
    });
  });
});
