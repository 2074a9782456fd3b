import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Account } from '../../../src/core/accounts/account.ts';
import { AccountStore } from '../../../src/core/accounts/accountStore.ts';
import { stampOf } from '../../../src/core/base/fileStamp.ts';
import { DatasetChecker } from '../../../src/core/datasets/checker.ts';
import type { DatasetFile } from '../../../src/core/datasets/fileKind.ts';
import { Fingerprints } from '../../../src/core/datasets/fingerprints.ts';
import { DownloadStore } from '../../../src/core/downloads/downloadStore.ts';
import { PartFile, type PartPaths } from '../../../src/core/downloads/partFile.ts';
import { FinalDetails } from '../../../src/core/runs/finalDetails.ts';
import { Notices } from '../../../src/core/runs/notices.ts';
import type { RunStore } from '../../../src/core/runs/runStore.ts';
import { Journal } from '../../../src/core/submission/journal.ts';
import { CODEC } from '../../../src/core/submission/record.ts';
import { bytesKeyOf, type Submission, isOver } from '../../../src/core/submission/submission.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { checkerFiles } from '../../helpers/checker.ts';
import { useFolder } from '../../helpers/folder.ts';
import { sendJson } from '../../helpers/httpServer.ts';
import { Bench, row, silent, until } from '../../helpers/runs/support.ts';
import { Bench as SandboxBench } from '../../helpers/sandbox/stage.ts';
import { submissionOf, uploadedAttempt } from '../../helpers/submissions.ts';

/**
 * One folder for each released version, with a file of each format as that version wrote it. They are never changed: every later
 * version must read them. `FORMATS=write` stores what the present one writes under its number.
 */
const STORED = path.join(import.meta.dirname, '../../fixtures/formats');

const AT = Date.parse('2026-12-01T10:00:00Z');
const moment = { localMs: AT, monotonicMs: 1_000, serviceMs: AT };
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const ACCOUNTS: Account[] = [
  {
    kind: 'service',
    id: 'account-1',
    name: 'Wörk',
    baseUrl: 'https://service.test',
    budget: { perRunCents: 1_000, perMonthCents: 5_000, currency: 'USD' },
    website: 'https://service.test/billing',
  },
  { kind: 'sandbox', id: 'sandbox-1', name: 'Sandbox' },
];
const FORMER: Account = { kind: 'service', id: 'account-0', name: 'Old', baseUrl: 'https://old.test' };

const full: Partial<Submission> = {
  keyId: 'key-1',
  label: 'tutor ft-abcd2345',
  marker: 'ft-abcd2345',
  balanceBefore: { balance_cents: 3_500, currency: 'USD' },
  created: moment,
};
const check = { at: moment, complete: true, candidates: ['run-9'], balance_cents: 3_500, currency: 'USD' };
const run = { run_id: 'run-1', status: 'queued', price_cents: 517, currency: 'USD', plan_name: 'Basic' };

/** One of each kind, with every field. */
const INTENTS: Submission[] = [
  submissionOf({
    ...full,
    id: id(1),
    keyCheck: { salt: 'c2FsdA==', hash: 'aGFzaA==' },
    attempts: [{ ...uploadedAttempt(AT), httpStatus: 504, notBefore: moment }],
    firstCleanCheck: { ...check, candidates: [], explainedByReceipts: true },
    lastCheck: { ...check, otherKey: true },
  }),
  submissionOf({
    ...full,
    id: id(2),
    reason: 'refused',
    end: { at: moment, code: 'insufficient_balance', httpStatus: 402 },
  }),
  submissionOf({
    ...full,
    id: id(3),
    attempts: [uploadedAttempt(AT)],
    charge: {
      at: moment,
      foundBy: 'recognised',
      run: { ...run, balance_after_cents: 2_983 },
      furtherRuns: [{ ...run, run_id: 'run-2' }],
      unshown: true,
    },
  }),
  submissionOf({ ...full, id: id(4), reason: 'not-charged', end: { at: moment } }),
  submissionOf({ ...full, id: id(5), reason: 'discarded', end: { at: moment } }),
  submissionOf({ ...full, id: id(6), stage: 'cleared', attempts: [uploadedAttempt(AT)] }),
];

const UNFINISHED = {
  id: 'part-1',
  runId: 'run-1',
  artifactType: 'adapter',
  filename: 'tutor.zip',
  target: '/adapters/tutor.zip',
};
const RECORD = {
  runId: 'run-0',
  artifactType: 'adapter',
  filename: 'first.zip',
  path: '/adapters/first.zip',
  sizeBytes: 12,
  sha256: 'a'.repeat(64),
  verified: 'zip',
  completedAtMs: AT,
} as const;
const LISTED = row('run-1', 1, 'completed');
const PART_BYTES = 3 * 1024 * 1024;

/** A bench whose service has a finished run, and its details. */
async function openBench(): Promise<[Bench, ReturnType<Bench['session']>]> {
  const bench = await Bench.start();
  const { url } = await bench.serve((request, response) =>
    sendJson(
      response,
      200,
      request.url?.includes('/runs/run-1') === true
        ? { run: { ...LISTED, label: 'tutor', price_cents: 517 } }
        : { data: [LISTED], has_more: false },
    ),
  );
  return [bench, bench.session({ baseUrl: url, apiKey: 'k', keyId: 'key-1' })];
}

const downloadsIn = (folder: string) =>
  new DownloadStore({
    accountId: 'account-1',
    folder: path.join(folder, 'runs/account-1/downloads'),
    isRunning: () => false,
    onChange: () => undefined,
  });

const detailsIn = (runs: RunStore, folder: string) =>
  new FinalDetails(runs, path.join(folder, 'runs/account-1/details.jsonl'), (error) =>
    assert.fail(String(error)),
  );

const noticesIn = (folder: string) => new Notices(path.join(folder, 'runs'));

/** Runs with what keeps the fingerprints of submitted rows, and a dataset of some rows. */
async function withFingerprints<T>(
  folder: string,
  rows: readonly number[],
  use: (kept: Fingerprints, file: DatasetFile) => Promise<T>,
): Promise<T> {
  const checker = new DatasetChecker(await checkerFiles());
  const file = path.join(folder, 'dataset.jsonl');
  const lines = rows.map((row) => JSON.stringify({ prompt: `Question ${row}`, completion: 'Answer' }));
  await writeFile(file, lines.join('\n'));
  try {
    const kept = new Fingerprints(path.join(folder, 'fingerprints'), () => Promise.resolve(checker));
    return await use(kept, { path: file, ...stampOf(await stat(file, { bigint: true })) });
  } finally {
    await rm(file);
    await checker.dispose();
  }
}

const partIn = (folder: string): PartPaths => ({
  id: UNFINISHED.id,
  part: path.join(folder, 'part-1.part'),
  sidecar: path.join(folder, 'part-1.part.json'),
  target: path.join(folder, 'tutor.zip'),
});

/** The submissions have the numbers of their IDs. */
function nameOf(submission: Submission, n = 1): string {
  return `${bytesKeyOf(submission)}.${Number(submission.id.slice(-2))}.${n}.json`;
}

/** Writes a file of each format. */
async function write(folder: string): Promise<void> {
  const accounts = new AccountStore(folder);
  for (const account of [FORMER, ...ACCOUNTS]) await accounts.save(account);
  await accounts.remove(FORMER.id);
  await accounts.activate('account-1');

  const submissions = path.join(folder, 'submissions');
  await mkdir(submissions, { recursive: true });
  for (const submission of INTENTS)
    await writeFile(path.join(submissions, nameOf(submission)), CODEC.format(submission));
  // An emptied version below.
  const second = submissionOf({ ...full, id: id(7), reason: 'discarded', end: { at: moment } });
  await writeFile(path.join(submissions, nameOf(second)), '');
  await writeFile(path.join(submissions, nameOf(second, 2)), CODEC.format(second));

  const downloads = downloadsIn(folder);
  await downloads.open();
  await downloads.begin(UNFINISHED);
  await downloads.complete({ ...UNFINISHED, id: 'done' }, RECORD);
  const [bench, session] = await openBench();
  const details = detailsIn(session.runs, folder);
  session.balance.set({ balance_cents: 2_983, currency: 'USD' }, AT);
  await session.runs.refresh();
  await session.runs.loadDetail('run-1');
  await details.readShared();
  for (const one of [details, downloads]) one.dispose();
  await bench.end();
  await rm(path.join(folder, 'accounts.lock'), { force: true });

  await noticesIn(folder).claim('account-1', 'run-1', 'completed', true);
  await withFingerprints(folder, [1, 2, 3], (kept, dataset) =>
    kept.keep({ id: id(3), dataset, submittedAtMs: AT }, []),
  );

  const part = await PartFile.open(partIn(folder), silent());
  await part.begin('"etag"', PART_BYTES + 1);
  await part.add(Buffer.alloc(PART_BYTES, 'x'));
  await part.sync();
  await part.close();
  // Its bytes are known; only the sidecar is a format.
  await rm(partIn(folder).part);

  const sandbox = await new SandboxBench().start();
  await sandbox.submit();
  await sandbox.sandbox.close();
  await cp(path.join(sandbox.directory, 'sandbox.sqlite'), path.join(folder, 'sandbox/sandbox.sqlite'));
  await rm(sandbox.directory, { recursive: true });
}

if (process.env['FORMATS'] === 'write') {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  before(async () => {
    await rm(path.join(STORED, version), { recursive: true, force: true });
    await mkdir(path.join(STORED, version), { recursive: true });
    await write(path.join(STORED, version));
  });
}

for (const version of readdirSync(STORED))
  describe(`the stored files of ${version}`, () => {
    const root = useFolder();
    const folder = () => path.join(root(), 'storage');
    const textOf = (...parts: string[]) => readFile(path.join(folder(), ...parts), 'utf8');
    const reported: string[] = [];
    const report = (file: string) => void reported.push(file);

    beforeEach(() => cp(path.join(STORED, version), folder(), { recursive: true }));
    afterEach(() => assert.deepEqual(reported.splice(0), [], 'nothing is reported or set aside'));

    it('give back the accounts', async () => {
      const before = await textOf('accounts.json');
      const store = new AccountStore(folder(), report);
      await store.open();
      assert.deepEqual([store.accounts, store.active, store.former], [ACCOUNTS, ACCOUNTS[0], [FORMER]]);
      store.dispose();
      assert.equal(await textOf('accounts.json'), before);
    });

    it('give back the submissions, their ends, and charges that were not shown', async () => {
      const journal = new Journal(path.join(folder(), 'submissions'), {
        onUnreadable: report,
      });
      await journal.open();
      const receipts = await journal.receipts();
      const read = new Map((await journal.records()).map((submission) => [submission.id, submission]));
      for (const submission of INTENTS)
        assert.deepEqual(read.get(submission.id), CODEC.parse(CODEC.format(submission)));
      assert.equal(
        receipts.length,
        INTENTS.filter(isOver).length,
        'one is refused, one is at its second version',
      );
      assert.deepEqual(
        (await journal.unreported()).map((receipt) => receipt.id),
        [id(3)],
      );
      journal.dispose();
    });

    it('give back runs, their details, and downloads', async () => {
      const downloads = downloadsIn(folder());
      await downloads.open();
      assert.deepEqual(downloads.unfinished, [UNFINISHED]);
      // `open` doesn't wait for the look at the files.
      await until(() => downloads.records[0]?.isGone === true);
      assert.deepEqual(downloads.records, [{ ...RECORD, isGone: true }]);
      const bench = await Bench.start();
      const session = bench.session(() => Promise.resolve(undefined));
      session.runs.acceptSaved(
        { rows: [LISTED], contiguous: 1, hasMore: false, skipped: 0, labels: [], changedAtMs: [] },
        AT,
      );
      const details = detailsIn(session.runs, folder());
      await details.readShared();
      assert.equal(session.runs.detail('run-1')?.price_cents, 517);
      for (const one of [details, downloads]) one.dispose();
      await bench.end();
    });

    it('show no notification of a run a second time', async () => {
      const notices = noticesIn(folder());
      assert.equal(await notices.claim('account-1', 'run-1', 'completed'), false);
      assert.equal(await notices.claim('account-1', 'run-1', 'expires'), true);
      const following = notices.follow('account-1');
      await until(() => notices.unseenCount('account-1') === 1);
      following.dispose();
      notices.dispose();
    });

    it('say which rows changed since a submission', async () => {
      const found = await withFingerprints(folder(), [3, 1, 4], (kept, file) => kept.since(id(3), file));
      assert.ok(found);
      assert.deepEqual([found.equal, found.added, found.removed], [2, 1, 1]);
    });

    it('resume a download', async () => {
      const place = partIn(folder());
      await writeFile(place.part, Buffer.alloc(PART_BYTES, 'x'));
      const part = await PartFile.open(place, silent());
      assert.deepEqual(part.kept, { startByte: PART_BYTES, etag: '"etag"', totalBytes: PART_BYTES + 1 });
      await part.close();
    });

    it('give back the sandbox’s runs and money', async () => {
      const log: string[] = [];
      const options = { directory: path.join(folder(), 'sandbox'), log: (line: string) => log.push(line) };
      const sandbox = await startSandbox(options);
      const headers = { authorization: `Bearer ${sandbox.apiKey}` };
      const response = await fetch(`${sandbox.baseUrl}/api/v1/runs`, { headers });
      assert.equal(((await response.json()) as { data: unknown[] }).data.length, 1);
      assert.deepEqual(log, []);
      await sandbox.close();
    });
  });

describe('beside a later version of the extension', () => {
  const folder = useFolder();

  it('nothing of its files is moved, changed, or reported', async () => {
    const version = readdirSync(STORED).at(-1)!;
    await cp(path.join(STORED, version), folder(), { recursive: true });
    const file = (...parts: string[]) => path.join(folder(), ...parts);
    const changed = async (name: string, change: (value: Record<string, unknown>) => unknown) => {
      const value = JSON.parse(await readFile(file(name), 'utf8')) as Record<string, unknown>;
      await writeFile(file(name), JSON.stringify(change(value)));
    };
    await changed('accounts.json', (value) => ({ ...value, version: 2, teams: [] }));
    const row = (number: number) => {
      const name = readdirSync(file('submissions')).find((one) => one.includes(`.${number}.1.json`));
      return `submissions/${name}`;
    };
    await changed(row(1), (value) => ({ ...value, version: 2, attempts: 'other' }));
    await changed(row(3), (value) => ({
      ...value,
      version: 2,
      stage: 'ended',
      reason: 'refunded',
    }));
    await changed(row(4), (value) => ({ ...value, version: 9, dataset: undefined }));
    const database = new DatabaseSync(file('sandbox/sandbox.sqlite'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    const bytes = () =>
      readdirSync(folder(), { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile() && !/\.lock$/.test(entry.name))
        .map((entry) => path.join(entry.parentPath, entry.name))
        .sort()
        .map((name) => [name, readFileSync(name).toString('latin1')]);
    const before = bytes();

    const reported: string[] = [];
    const report = (name: string) => void reported.push(name);
    const accounts = new AccountStore(folder(), report);
    await accounts.open();
    assert.deepEqual(accounts.accounts, ACCOUNTS);
    await assert.rejects(accounts.remove('account-1'), { code: 'accounts-later-version' });
    const journal = new Journal(file('submissions'), { onUnreadable: report });
    await journal.open();
    assert.equal((await journal.receipts()).length, 2);
    await assert.rejects(startSandbox({ directory: file('sandbox') }), /later version/);
    for (const one of [journal, accounts]) one.dispose();

    // What only the later version can read may be charged.
    assert.deepEqual(reported, [file(row(1))]);
    assert.deepEqual(bytes(), before);
  });
});
