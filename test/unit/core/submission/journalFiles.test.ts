import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { type Intent, intentText } from '../../../../src/core/submission/intent.ts';
import { Journal, type JournalOptions } from '../../../../src/core/submission/journal.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { chargedAt, sameDataset, sampleIntent } from '../../../helpers/submissions.ts';

import fs from 'node:fs/promises';

describe('journal files', () => {
  const folder = useFolder();
  let directory: string;
  let journals: Journal[];
  let unreadable: string[];

  beforeEach(() => {
    directory = path.join(folder(), 'journal');
    journals = [];
    unreadable = [];
    mkdirSync(directory);
  });
  afterEach(() => {
    for (const journal of journals) journal.dispose();
  });

  const inside = (...parts: string[]) => path.join(directory, ...parts);
  const fileOf = ({ id }: { id: string }) => inside(`${id}.json`);
  const put = (intent: Intent) => writeFileSync(fileOf(intent), JSON.stringify(intent));

  async function opened(options: JournalOptions = {}): Promise<Journal> {
    const journal = new Journal(directory, { onUnreadable: (file) => unreadable.push(file), ...options });
    journals.push(journal);
    await journal.open();
    return journal;
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
    it(`sets aside ${what} and reads the others`, async () => {
      const good = [sampleIntent(), sampleIntent()];
      const receipt = chargedAt(sampleIntent(), 1);
      const { id } = sampleIntent();
      good.forEach((intent) => put(intent));
      put(receipt);
      make(fileOf({ id }), id);
      make(inside(`Notes.json`), id);
      const journal = await opened();
      assert.deepEqual(journal.intents, good);
      assert.deepEqual(await journal.receipts(), [receipt]);
      assert.equal(unreadable.length, 2);
      for (const file of unreadable) {
        assert.match(file, /(?:-[0-9a-f]{12}|Notes)\.json\.unreadable-\d+$/);
        assert.ok(readdirSync(path.dirname(file)).includes(path.basename(file)), 'nothing is deleted');
      }
      await journal.reload();
      await (await opened()).receipts();
      assert.equal(unreadable.length, 2, 'reported once');
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

  it('leaves files of a later version, reports each open one once, and creates no duplicate of it', async () => {
    const good = sampleIntent();
    const later = { ...sampleIntent(), version: 2, more: true, attempts: 'other' };
    const settled = { ...chargedAt(sampleIntent(), 1), version: 3 };
    const refused = { ...sampleIntent(), version: 2, refused: { kind: 'other' } };
    put(good);
    for (const each of [later, settled, refused]) writeFileSync(fileOf(each), JSON.stringify(each));
    const logged: string[] = [];
    const journal = await opened({ onLater: (file) => logged.push(file) });
    assert.deepEqual(journal.intents, [good]);
    assert.deepEqual(await journal.receipts(), []);
    await journal.reload();
    await journal.receipts();
    assert.deepEqual(unreadable, [fileOf(later)]);
    assert.deepEqual(logged.toSorted(), [fileOf(settled), fileOf(refused)].toSorted());
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
    const file = fileOf(intent);
    writeFileSync(file, 'spoilt');
    await journal.reload();
    assert.deepEqual(journal.intents, [intent]);
    assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
    const other = await opened();
    assert.deepEqual(other.intents, []);
    await assert.rejects(other.create(sameDataset(intent)), { code: 'journal-unreadable', file });
    assert.equal(readFileSync(file, 'utf8'), 'spoilt');
    await assert.rejects(journal.write(created.lease, intent), { code: 'not-owner' });
    await journal.settle(created.lease, chargedAt(intent, 1));
    assert.deepEqual(
      (await other.receipts()).map(({ id }) => id),
      [intent.id],
    );
  });

  it('does not set aside a file that its owner has rewritten', async () => {
    const intent = sampleIntent();
    const file = fileOf(intent);
    writeFileSync(file, 'spoilt');
    const { lstat } = fs;
    let looks = 0;
    mock.method(fs, 'lstat', async (looked: string) => {
      if (looked === file && ++looks === 2) put(intent);
      return lstat(looked);
    });
    syncBuiltinESMExports();
    try {
      assert.deepEqual((await opened()).intents, [intent]);
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.ok(looks > 1);
    assert.deepEqual(unreadable, []);
  });

  it('does not set aside a file that cannot be read, and creates nothing meanwhile', async () => {
    const intent = sampleIntent();
    put(intent);
    const journal = await opened();
    const read = fs.readFile;
    mock.method(fs, 'readFile', (file: string, ...rest: never[]) =>
      file === fileOf(intent) ? Promise.reject(new Error('EIO')) : read(file, ...rest),
    );
    syncBuiltinESMExports();
    try {
      await journal.reload();
      assert.deepEqual(journal.intents, [intent], 'as it was last read');
      assert.deepEqual(unreadable, [fileOf(intent)]);
      assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
      await assert.rejects(journal.create(sampleIntent()), {
        code: 'journal-unreadable',
        file: fileOf(intent),
      });
      assert.deepEqual(
        readdirSync(directory).filter((name) => name.includes('.json')),
        [`${intent.id}.json`],
      );
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    const created = await journal.create(sampleIntent());
    assert.ok('lease' in created);
    created.lease.release();
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
