import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import { Journal } from '../../../../src/core/submission/journal.ts';
import { CODEC } from '../../../../src/core/submission/record.ts';
import type { KnownSubmissions } from '../../../../src/core/submission/earlier.ts';
import { stageOf } from '../../../../src/core/submission/stage.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { chargedAt, sameDataset, sampleIntent, uploadedAttempt } from '../../../helpers/submissions.ts';

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

  const fileOf = ({ id }: { id: string }, n = 1) => path.join(directory, `${id}.${n}.json`);
  const nameOf = (intent: { id: string }, n = 1) => path.basename(fileOf(intent, n));
  /** Writes the versions of a record. */
  const put = (...versions: (Intent | { id: string; text: string })[]) => {
    for (const [index, version] of versions.entries())
      writeFileSync(fileOf(version, index + 1), 'text' in version ? version.text : JSON.stringify(version));
  };
  const spoilt = ({ id }: Intent) => ({ id, text: 'spoilt' });

  async function opened(): Promise<Journal> {
    const journal = new Journal(directory, {
      onUnreadable: (file) => reports.push(path.basename(file)),
      onHarmless: (file) => harmless.push(path.basename(file)),
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

  /** Makes reading a file fail with a code. */
  function failReading(file: string, code: string): void {
    const read = fs.readFile;
    mock.method(fs, 'readFile', (name: string, ...rest: never[]) =>
      name === file
        ? Promise.reject(Object.assign(new Error(code), { code, syscall: 'open' }))
        : read(name, ...rest),
    );
    syncBuiltinESMExports();
  }

  /** The text of a version that is no record. */
  const FOREIGN: Readonly<Record<string, (id: string) => string | Buffer>> = {
    torn: (id) => JSON.stringify(sampleIntent({ id })).slice(0, 200),
    zeros: () => Buffer.alloc(4096),
    'JSON of another kind': () => '[1]',
    'an older version': (id) => JSON.stringify({ ...sampleIntent({ id }), version: 0 }),
    'a field missing': (id) => JSON.stringify({ ...sampleIntent({ id }), boundary: undefined }),
    'the intent of another id': () => JSON.stringify(sampleIntent()),
  };

  describe('of which no version can be read', () => {
    for (const [what, textOf] of Object.entries(FOREIGN))
      it(`are left in place, and reported once: ${what}`, async () => {
        const good = [sampleIntent(), sampleIntent()];
        const receipt = chargedAt(sampleIntent(), 1);
        const { id } = sampleIntent();
        for (const one of [...good, receipt]) put(one);
        writeFileSync(fileOf({ id }), textOf(id));
        writeFileSync(path.join(directory, 'notes.json'), textOf(id));
        const journal = await opened();
        assert.deepEqual(journal.intents, good);
        assert.deepEqual(await journal.receipts(), [receipt]);
        assert.deepEqual([journal.unreadable, reports], [[id], [nameOf({ id })]]);
        await journal.reload();
        assert.equal(reports.length, 1);
        assert.deepEqual((await opened()).unreadable, [id], 'also after a restart');
      });

    it('prevent a new intent unless the user agreed to exactly these', async () => {
      const [one, two] = [sampleIntent(), sampleIntent()];
      put(spoilt(one));
      const journal = await opened();
      const refused = { code: 'journal-unreadable' };
      await assert.rejects(journal.create(sampleIntent()), refused);
      await create(journal, sampleIntent(), { unreadable: [one.id] });
      put(spoilt(two));
      await assert.rejects(journal.create(sampleIntent(), { unreadable: [one.id] }), refused);
      assert.equal(journal.intents.length, 1, 'what was not created is withdrawn');
    });

    it('can be set aside, and no longer count then', async () => {
      const lost = sampleIntent();
      put(spoilt(lost), spoilt(lost));
      const journal = await opened();
      let fired = 0;
      journal.onDidChangeUnreadable(() => fired++);
      await journal.setAside([lost.id]);
      assert.deepEqual([journal.unreadable, fired], [[], 1]);
      assert.deepEqual(
        readdirSync(path.join(directory, 'damaged')),
        [1, 2].map((n) => nameOf(lost, n)),
      );
      await create(journal, sampleIntent());
      assert.deepEqual((await opened()).unreadable, []);
    });

    it('are only logged if version 1 was emptied: then it was settled', async () => {
      const settled = sampleIntent();
      put({ id: settled.id, text: '' }, { id: settled.id, text: '' }, spoilt(settled));
      const journal = await opened();
      assert.deepEqual([journal.unreadable, reports, harmless], [[], [], [nameOf(settled, 3)]]);
      await create(journal, sampleIntent());
    });
  });

  describe('whose highest version can’t be read', () => {
    const at = { localMs: 1 };
    const lower: Readonly<Record<string, Partial<Intent>>> = {
      'a draft': {},
      'an attempt': { attempts: [{ started: at }] },
      'a lost answer': { attempts: [uploadedAttempt(0)] },
      'a refusal': { refused: { at, code: 'insufficient_balance' } },
      'a proof': { settled: { kind: 'not-charged', at } },
      'a discard': { settled: { kind: 'discarded', at } },
    };
    for (const [what, changes] of Object.entries(lower))
      it(`count as a closing boundary that may have been sent, on top of ${what}`, async () => {
        const intent = sampleIntent(changes);
        put(intent, spoilt(intent));
        const journal = await opened();
        const [read] = journal.intents;
        assert.equal(stageOf(read!).name, 'closing');
        assert.equal(read?.attempts.length, (intent.attempts.length || 0) + 1);
        assert.deepEqual(await journal.create(sameDataset(intent)), { existing: read });
        const owned = await journal.acquire(intent.id);
        assert.deepEqual(owned?.intent, JSON.parse(JSON.stringify(read)));
        owned?.lease.release();
        const written = JSON.parse(readFileSync(fileOf(intent, 3), 'utf8')) as Intent;
        assert.equal(stageOf(written).name, 'closing', 'who acts writes it first');
        assert.deepEqual([reports, journal.unreadable], [[], []]);
      });

    it('keep the charge below', async () => {
      const receipt = chargedAt(sampleIntent(), 1);
      put(receipt, spoilt(receipt));
      const journal = await opened();
      assert.deepEqual([journal.intents, await journal.receipts()], [[], [receipt]]);
    });
  });

  it('keep what is known while a newer version can’t be read now', async () => {
    const intent = sampleIntent();
    put(intent);
    const journal = await opened();
    failReading(fileOf(intent, 2), 'EIO');
    writeFileSync(fileOf(intent, 2), JSON.stringify({ ...intent, keyId: 'new' }));
    await journal.reload();
    assert.deepEqual([journal.intents, journal.unreadable], [[intent], []]);
    assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
    await assert.rejects(journal.acquire(intent.id), { code: 'EIO' });
    mock.restoreAll();
    syncBuiltinESMExports();
    await journal.reload();
    assert.equal(journal.intents[0]?.keyId, 'new');
  });

  it('of its own are no longer known not to be charged while a newer version can’t be read', async () => {
    const intent = sampleIntent();
    const journal = await opened();
    await create(journal, intent);
    assert.equal(journal.isLooked(intent.id), true);
    failReading(fileOf(intent, 2), 'EIO');
    writeFileSync(fileOf(intent, 2), JSON.stringify(chargedAt(intent, 1)));
    let changes = 0;
    journal.onDidChange(() => changes++);
    await journal.reload();
    assert.equal(journal.isLooked(intent.id), false);
    assert.equal(changes, 1, 'what shows it changes');
    await journal.reload();
    assert.equal(changes, 1);
  });

  it('that can’t be read now, of which nothing is known, prevent a new intent until they can', async () => {
    const intent = sampleIntent();
    put(intent);
    failReading(fileOf(intent), 'EBUSY');
    const journal = await opened();
    assert.deepEqual(journal.unreadable, [intent.id]);
    await assert.rejects(journal.create(sampleIntent()), { code: 'journal-unreadable' });
    mock.restoreAll();
    syncBuiltinESMExports();
    await create(journal, sampleIntent());
    assert.deepEqual([journal.unreadable, journal.intents.length], [[], 2]);
  });

  it('that were set back and written again are read from the disk, whatever this window knew under their number', async () => {
    const draft = sampleIntent();
    put(draft, { ...draft, keyId: 'old' });
    const journal = await opened();
    const closing = { ...draft, attempts: [{ started: { localMs: 1 }, closed: { localMs: 2 } }] };
    put(draft, closing);
    const owned = await journal.acquire(draft.id);
    assert.deepEqual(owned?.intent, closing);
    owned.lease.release();
  });

  it('of which it can’t be read whether another window has written may be that window’s', async () => {
    const journal = await opened();
    const intent = sampleIntent();
    const created = await journal.create(intent);
    assert.ok('lease' in created);
    const failed = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
    for (const name of ['link', 'lstat'] as const) mock.method(fs, name, failed);
    syncBuiltinESMExports();
    await assert.rejects(journal.write(created.lease, intent), { code: 'not-owner' });
  });

  it('of a rival whose next version can’t be read now end the creation with that error', async () => {
    const rival = sampleIntent();
    const intent = sampleIntent({ dataset: rival.dataset, created: { localMs: 1 } });
    put(rival);
    const journal = await opened();
    put(rival, { ...rival, keyId: 'x' });
    failReading(fileOf(rival, 2), 'EACCES');
    await assert.rejects(journal.create(intent), { code: 'EACCES' });
    assert.deepEqual(journal.intents, [rival]);
  });

  it('are set aside only if they still can’t be read', async () => {
    const [lost, restored] = [sampleIntent(), chargedAt(sampleIntent(), 1)];
    put(spoilt(lost));
    put(spoilt(restored));
    const journal = await opened();
    put(restored);
    await journal.setAside([lost.id, restored.id]);
    assert.deepEqual(await journal.receipts(), [restored]);
    assert.deepEqual(readdirSync(path.join(directory, 'damaged')), [nameOf(lost)]);
  });

  it('of a later version stay, alarm nobody, and prevent a duplicate of an open one', async () => {
    const good = sampleIntent();
    const later = { ...sampleIntent(), version: 2, more: true, attempts: 'other' };
    const settled = { ...chargedAt(sampleIntent(), 1), version: 3 };
    const refused = { ...sampleIntent(), version: 2, refused: { kind: 'other' } };
    put(good);
    for (const each of [later, settled, refused]) writeFileSync(fileOf(each), JSON.stringify(each));
    const journal = await opened();
    assert.deepEqual(journal.intents, [good]);
    assert.deepEqual(await journal.receipts(), []);
    assert.deepEqual([reports, harmless], [[], [nameOf(later)]]);
    assert.equal(await journal.acquire(later.id), undefined);
    await assert.rejects(journal.create(sampleIntent({ dataset: later.dataset })), { code: 'later-version' });
    await create(journal, sampleIntent({ dataset: later.dataset, model_id: 'another' }));
    await create(journal, sampleIntent({ dataset: settled.dataset }));
    assert.equal(readFileSync(fileOf(later), 'utf8'), JSON.stringify(later));
  });

  it('of a later version prevent any submission if their dataset isn’t recognized', async () => {
    const later = { ...sampleIntent(), version: 2, dataset: undefined };
    writeFileSync(fileOf(later), JSON.stringify(later));
    const journal = await opened();
    await assert.rejects(journal.create(sampleIntent()), { code: 'later-version' });
  });

  it('have prices below 0 as not provided', async () => {
    const run = { run_id: 'r', price_cents: -100, balance_after_cents: -100 };
    const charged = sampleIntent({ settled: { kind: 'charged', at: { localMs: 1 }, run, foundBy: 'found' } });
    writeFileSync(fileOf(charged), JSON.stringify(charged));
    const [receipt] = await (await opened()).receipts();
    assert.ok(receipt?.settled.kind === 'charged');
    assert.deepEqual(
      [receipt.settled.run.price_cents, receipt.settled.run.balance_after_cents],
      [undefined, -100],
    );
  });

  it('have infinite amounts as not provided, and currency codes that can be compared', async () => {
    const at = { localMs: 1 };
    const balanceBefore = { balance_cents: 0, currency: 'USD' };
    const lastCheck = { at, complete: true, candidates: [], balance_cents: 0 };
    const run = { run_id: 'r', price_cents: 0, balance_after_cents: 0, currency: ' usd ' };
    const charged = sampleIntent({
      balanceBefore,
      lastCheck,
      settled: { kind: 'charged', at, run, foundBy: 'found' },
    });
    writeFileSync(fileOf(charged), JSON.stringify(charged).replaceAll('_cents":0', '_cents":1e999'));
    const [receipt] = await (await opened()).receipts();
    assert.ok(receipt?.settled.kind === 'charged');
    assert.deepEqual(
      JSON.parse(JSON.stringify([receipt.settled.run, receipt.lastCheck, receipt.balanceBefore])),
      [{ run_id: 'r', currency: 'USD' }, { at, complete: true, candidates: [] }, null],
    );
  });

  it('store nothing from the service beyond the contract, and truncate long text', () => {
    const settled = {
      kind: 'charged' as const,
      at: { localMs: 1 },
      foundBy: 'answered' as const,
      run: {
        run_id: 'run-1',
        plan_name: 'p'.repeat(5_000_000),
        upload_url: 'https://storage.test/?signature=x',
      },
    };
    const balanceBefore = { balance_cents: 1, currency: 'USD', row: 'the text of a row' };
    const text = CODEC.format({ ...sampleIntent(), balanceBefore, settled });
    assert.doesNotMatch(text, /signature|the text of a row/);
    assert.ok(text.length < 10_000);
    assert.match(text, /"run_id": "run-1"/);
  });
});
