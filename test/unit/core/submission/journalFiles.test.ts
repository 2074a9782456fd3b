import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { Lease } from '../../../../src/core/storage/lease.ts';
import { StateStore } from '../../../../src/core/storage/state.ts';
import { type Intent, intentText, type Receipt } from '../../../../src/core/submission/intent.ts';
import {
  Journal,
  type JournalOptions,
  type KnownSubmissions,
} from '../../../../src/core/submission/journal.ts';
import { SubmissionHints } from '../../../../src/core/submission/submissionHints.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { until } from '../../../helpers/runs/support.ts';
import { chargedAt, sameDataset, sampleIntent } from '../../../helpers/submissions.ts';

import fs from 'node:fs/promises';

describe('journal files', () => {
  const folder = useFolder();
  let directory: string;
  let journals: Journal[];
  /** The names of the reported files. */
  let reports: string[];
  let harmless: string[];

  beforeEach(() => {
    directory = path.join(folder(), 'journal');
    journals = [];
    [reports, harmless] = [[], []];
    mkdirSync(directory);
  });
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
    for (const journal of journals) journal.dispose();
  });

  const inside = (...parts: string[]) => path.join(directory, ...parts);
  const fileOf = ({ id }: { id: string }) => inside(`${id}.json`);
  const put = (intent: Intent) => writeFileSync(fileOf(intent), JSON.stringify(intent));

  const nameOf = ({ id }: { id: string }) => `${id}.json`;
  const spoil = (intent: Intent) => writeFileSync(fileOf(intent), 'spoilt');

  async function opened(options: JournalOptions = {}): Promise<Journal> {
    const journal = new Journal(directory, {
      onUnreadable: (file) => reports.push(path.basename(file)),
      onHarmless: (file) => harmless.push(path.basename(file)),
      inUseAgainMs: 10,
      ...options,
    });
    journals.push(journal);
    await journal.open();
    return journal;
  }

  async function create(journal: Journal, intent: Intent, known: KnownSubmissions = {}): Promise<void> {
    const created = await journal.create(intent, known);
    assert.ok('lease' in created);
    created.lease.release();
  }

  /** Makes reading a file fail with a code, as often as given. */
  function failReading(intent: Intent, code: string, times = Infinity): void {
    const read = fs.readFile;
    let left = times;
    mock.method(fs, 'readFile', (file: string, ...rest: never[]) =>
      file === fileOf(intent) && left-- > 0
        ? Promise.reject(Object.assign(new Error(code), { code, syscall: 'open' }))
        : read(file, ...rest),
    );
    syncBuiltinESMExports();
  }

  /** Each creates a foreign file at a path. */
  const FOREIGN: Readonly<Record<string, (file: string, id: string) => unknown>> = {
    empty: (file) => writeFileSync(file, ''),
    torn: (file, id) => writeFileSync(file, JSON.stringify(sampleIntent({ id })).slice(0, 200)),
    zeros: (file) => writeFileSync(file, Buffer.alloc(4096)),
    binary: (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0x80])),
    'JSON of another kind': (file) => writeFileSync(file, '[1]'),
    'an older version': (file, id) =>
      writeFileSync(file, JSON.stringify({ ...sampleIntent({ id }), version: 0 })),
    'a field missing': (file, id) =>
      writeFileSync(file, JSON.stringify({ ...sampleIntent({ id }), boundary: undefined })),
    'bytes that are no text': (file, id) =>
      writeFileSync(file, Buffer.from(JSON.stringify(sampleIntent({ id, label: 'x\xffy' })), 'latin1')),
    'the intent of another id': (file) => writeFileSync(file, JSON.stringify(sampleIntent())),
    'more than a megabyte': (file, id) =>
      writeFileSync(file, JSON.stringify(sampleIntent({ id })) + ' '.repeat(2 ** 20)),
    'a folder': (file) => mkdirSync(path.join(file, 'with a folder'), { recursive: true }),
  };
  if (process.platform !== 'win32')
    Object.assign(FOREIGN, {
      'a link to a good one': (file: string, id: string) => {
        const target = path.join(folder(), 'target.json');
        writeFileSync(target, JSON.stringify(sampleIntent({ id })));
        symlinkSync(target, file);
      },
      'a link to nothing': (file: string) => symlinkSync('/nothing/there', file),
      'a pipe': (file: string) => execFileSync('mkfifo', [file]),
    });

  for (const [what, make] of Object.entries(FOREIGN))
    it(`leaves ${what} in place until the user ends it, and reads the others`, async () => {
      const good = [sampleIntent(), sampleIntent()];
      const receipt = chargedAt(sampleIntent(), 1);
      const { id } = sampleIntent();
      good.forEach((intent) => put(intent));
      put(receipt);
      make(fileOf({ id }), id);
      make(inside(`notes.json`), id);
      const journal = await opened();
      assert.deepEqual(journal.intents, good);
      assert.deepEqual(await journal.receipts(), [receipt]);
      assert.deepEqual(reports.toSorted(), [nameOf({ id }), 'notes.json'], 'reported once');
      const damagedOf = ({ damaged }: Journal) => damaged.map((record) => [record.id, record.state]);
      assert.deepEqual(damagedOf(journal), [
        [id, 'damaged'],
        ['notes', 'damaged'],
      ]);
      const next = await opened();
      assert.deepEqual(damagedOf(next), damagedOf(journal), 'also after a restart');
      for (const record of next.damaged) assert.equal(await next.endDamaged(record), true);
      await journal.reload();
      for (const each of [journal, next, await opened()]) assert.deepEqual(each.damaged, []);
      const left = readdirSync(directory).filter((name) => name.includes('.json.discarded-'));
      assert.deepEqual(
        left.map((name) => name.replace(/\.json\.discarded-\d+$/, '')).sort(),
        [id, 'notes'].sort(),
      );
    });

  it('reads infinite amounts as not provided, and currency codes so that they can be compared', async () => {
    const at = { localMs: 1 };
    const balanceBefore = { balance_cents: 0, currency: 'USD' };
    const lastCheck = { at, complete: true, candidates: [], balance_cents: 0 };
    const run = { run_id: 'r', price_cents: 0, balance_after_cents: 0, currency: ' usd ' };
    const charged = sampleIntent({
      balanceBefore,
      lastCheck,
      settled: { kind: 'charged', at, run, how: 'found' },
    });
    writeFileSync(fileOf(charged), JSON.stringify(charged).replaceAll('_cents":0', '_cents":1e999'));
    const [receipt] = await (await opened()).receipts();
    assert.ok(receipt?.settled.kind === 'charged');
    assert.deepEqual(
      JSON.parse(JSON.stringify([receipt.settled.run, receipt.lastCheck, receipt.balanceBefore])),
      [{ run_id: 'r', currency: 'USD' }, { at, complete: true, candidates: [] }, null],
    );
  });

  it('counts an open file of a later version as unread if its dataset isn’t recognized', async () => {
    const later = { ...sampleIntent(), version: 2, dataset: undefined };
    writeFileSync(fileOf(later), JSON.stringify(later));
    const journal = await opened();
    assert.deepEqual(
      journal.damaged.map(({ id }) => id),
      [later.id],
    );
    await assert.rejects(journal.create(sampleIntent()), { code: 'journal-unreadable' });
  });

  it('leaves files of a later version, alarms nobody, and creates no duplicate of an open one', async () => {
    const good = sampleIntent();
    const later = { ...sampleIntent(), version: 2, more: true, attempts: 'other' };
    const settled = { ...chargedAt(sampleIntent(), 1), version: 3 };
    const refused = { ...sampleIntent(), version: 2, refused: { kind: 'other' } };
    put(good);
    for (const each of [later, settled, refused]) writeFileSync(fileOf(each), JSON.stringify(each));
    const journal = await opened();
    assert.deepEqual(journal.intents, [good]);
    assert.deepEqual(await journal.receipts(), []);
    await journal.reload();
    await journal.receipts();
    assert.deepEqual([reports, harmless.toSorted()], [[], [later, settled, refused].map(nameOf).sort()]);
    assert.equal(await journal.acquire(later.id), undefined);
    await assert.rejects(journal.create(sampleIntent({ dataset: later.dataset })), { code: 'later-version' });
    for (const intent of [
      sampleIntent({ dataset: later.dataset, model_id: 'another' }),
      sampleIntent({ dataset: settled.dataset }),
    ]) {
      const created = await journal.create(intent);
      assert.ok('lease' in created);
      created.lease.release();
    }
    assert.equal(readFileSync(fileOf(later), 'utf8'), JSON.stringify(later));
  });

  it('keeps an owned intent whose file was corrupted; only its charge is written over it', async () => {
    const journal = await opened();
    const intent = sampleIntent();
    const created = await journal.create(intent);
    assert.ok('lease' in created);
    spoil(intent);
    await journal.reload();
    assert.deepEqual(journal.intents, [intent]);
    assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
    await create(journal, sampleIntent());
    const other = await opened();
    assert.deepEqual([other.intents.length, other.damaged, reports], [1, [], []], 'its owner knows about it');
    const refused = { code: 'record-in-use', file: fileOf(intent) };
    await assert.rejects(other.create(sampleIntent()), refused);
    await assert.rejects(journal.write(created.lease, intent), { code: 'not-owner' });
    assert.equal(readFileSync(fileOf(intent), 'utf8'), 'spoilt');
    await journal.settle(created.lease, chargedAt(intent, 1));
    assert.deepEqual(
      (await other.receipts()).map(({ id }) => id),
      [intent.id],
    );
  });

  it('reads again what an owner has rewritten', async () => {
    const intent = sampleIntent();
    const file = fileOf(intent);
    spoil(intent);
    const { lstat } = fs;
    let looks = 0;
    mock.method(fs, 'lstat', async (looked: string) => {
      if (looked === file && ++looks === 2) put(intent);
      return lstat(looked);
    });
    syncBuiltinESMExports();
    const journal = await opened();
    assert.deepEqual([journal.intents, journal.damaged, reports], [[intent], [], []]);
    assert.ok(looks > 1);
  });

  it('keeps an intent that cannot be read now as it was last read', async () => {
    const intent = sampleIntent();
    put(intent);
    const journal = await opened();
    failReading(intent, 'EIO');
    await journal.reload();
    assert.deepEqual([journal.intents, journal.damaged], [[intent], []]);
    assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
    await create(journal, sampleIntent());
    assert.deepEqual(reports, [nameOf(intent)]);
  });

  describe('that cannot be read', () => {
    const refused = (intent: Intent) => ({ code: 'journal-unreadable', file: fileOf(intent) });
    const consentTo = ({ damaged }: Journal) => ({ unread: damaged.map(({ stamp }) => stamp) });

    it('prevent a new intent unless the user agreed to exactly these files, as they were then', async () => {
      const [one, two] = [sampleIntent(), sampleIntent()];
      spoil(one);
      const journal = await opened();
      await assert.rejects(journal.create(sampleIntent()), refused(one));
      const agreed = consentTo(journal);
      await create(journal, sampleIntent(), agreed);
      put(two);
      failReading(two, 'EACCES');
      const next = await opened();
      await assert.rejects(next.create(sampleIntent(), agreed), refused(two));
      await create(next, sampleIntent(), consentTo(next));
      mock.restoreAll();
      syncBuiltinESMExports();
      put(two);
      writeFileSync(inside('other.tmp'), 'spoilt');
      renameSync(inside('other.tmp'), fileOf(one));
      await assert.rejects(next.create(sampleIntent(), consentTo(next)), refused(one));
    });

    it('are read again while another program uses them, and then prevent a new intent whatever the user agreed to', async () => {
      const intent = sampleIntent();
      put(intent);
      failReading(intent, 'EBUSY');
      const journal = await opened();
      assert.deepEqual(reports, []);
      await assert.rejects(journal.create(sampleIntent(), consentTo(journal)), {
        code: 'record-in-use',
        file: fileOf(intent),
      });
      mock.restoreAll();
      failReading(intent, 'EBUSY', 3);
      assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
      assert.deepEqual(journal.damaged, []);
    });

    it('are shown as soon as they can be read, though nothing in the folder changes', async () => {
      const intent = sampleIntent();
      put(intent);
      failReading(intent, 'EBUSY', 1);
      const journal = await opened();
      assert.deepEqual(journal.intents, []);
      await until(() => journal.intents.length === 1);
    });

    it('are not ended if they changed since the user was asked, or a window owns them', async () => {
      const [one, two] = [sampleIntent(), sampleIntent()];
      spoil(one);
      spoil(two);
      const journal = await opened();
      const [first, second] = [one, two].map(({ id }) => journal.damaged.find((record) => record.id === id)!);
      put(one);
      assert.equal(await journal.endDamaged(first!), false);
      const lease = await Lease.take(inside('leases', `${two.id}.lock`));
      assert.equal(await journal.endDamaged(second!), false);
      lease?.release();
      assert.equal(await journal.endDamaged(second!), true);
      assert.deepEqual([journal.intents, journal.damaged], [[one], []]);
    });

    describe('but are known from state.sqlite', () => {
      let states: StateStore[];
      beforeEach(() => (states = []));
      afterEach(() => states.forEach((state) => state.dispose()));

      function hints(): SubmissionHints {
        const state = new StateStore(folder());
        states.push(state);
        return new SubmissionHints(state);
      }

      /** Has a window read these, then damages them, and returns what another window reads. */
      async function damaged(...intents: (Intent | Receipt)[]): Promise<Journal> {
        intents.forEach((intent) => put(intent));
        const before = hints();
        const first = await opened({ hints: before });
        await before.learn(intents);
        // It would see the damage as well.
        first.dispose();
        intents.forEach((intent) => spoil(intent));
        [reports, harmless] = [[], []];
        return opened({ hints: hints() });
      }

      it('prevent only intents for the same bytes, model, and service', async () => {
        const open = sampleIntent({ marker: 'ft-7k3m9qpx' });
        const journal = await damaged(open);
        assert.deepEqual(reports, [nameOf(open)]);
        const { dataset, accountId, origin, model_id, marker } = open;
        const { filename, sha256 } = dataset;
        assert.deepEqual(
          journal.damaged.map(({ hint }) => hint),
          [{ id: open.id, accountId, origin, model_id, marker, dataset: { filename, sha256 }, isOpen: true }],
        );
        await assert.rejects(
          journal.create(sameDataset(open), { duplicates: [open.id], ...consentTo(journal) }),
          refused(open),
        );
        const theirs = sameDataset(open, { accountId: 'another' });
        await assert.rejects(journal.create(theirs), refused(open));
        await create(journal, theirs, { duplicates: [open.id] });
        await create(journal, sameDataset(open, { model_id: 'another' }));
        await create(journal, sampleIntent());
      });

      it('are only logged if they are receipts or were refused', async () => {
        const receipt = chargedAt(sampleIntent(), 1);
        const refusedIntent = sampleIntent({ refused: { at: { localMs: 1 }, code: 'insufficient_balance' } });
        const journal = await damaged(receipt, refusedIntent);
        assert.deepEqual(journal.damaged, []);
        assert.deepEqual([reports, harmless.toSorted()], [[], [receipt, refusedIntent].map(nameOf).sort()]);
        await create(journal, sameDataset(receipt));
      });

      it('stay ended, also for other windows', async () => {
        const open = sampleIntent();
        const journal = await damaged(open);
        assert.equal(await journal.endDamaged(journal.damaged[0]!), true);
        spoil(open);
        for (const each of [journal, await opened({ hints: hints() })]) {
          await each.reload();
          assert.deepEqual(each.damaged, []);
        }
      });
    });
  });

  it('stores nothing from the service beyond the contract, and truncates long text', () => {
    const settled = {
      kind: 'charged' as const,
      at: { localMs: 1 },
      how: 'answered' as const,
      run: {
        run_id: 'run-1',
        plan_name: 'p'.repeat(5_000_000),
        upload_url: 'https://storage.test/?signature=x',
      },
    };
    const balanceBefore = { balance_cents: 1, currency: 'USD', row: 'the text of a row' };
    const { text } = intentText({ ...sampleIntent(), balanceBefore, settled });
    assert.doesNotMatch(text, /signature|the text of a row/);
    assert.ok(text.length < 10_000);
    assert.match(text, /"run_id": "run-1"/);
  });
});
