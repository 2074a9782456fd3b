import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { Journal } from '../../../../src/core/submission/journal.ts';
import { CODEC } from '../../../../src/core/submission/record.ts';
import { bytesKeyOf, charged, type Submission } from '../../../../src/core/submission/submission.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { chargedAt, refusedWith, sameDataset, sampleSubmission } from '../../../helpers/submissions.ts';

describe('journal files', () => {
  const folder = useFolder();
  let journal: Journal;
  let reports: string[];
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
    journal.dispose();
  });

  const nameOf = (submission: Submission, n: number) => `${bytesKeyOf(submission)}.1.${n}.json`;
  const fileOf = (submission: Submission, n: number) => path.join(folder(), nameOf(submission, n));
  const put = (submission: Submission, n = 1, text = CODEC.format(submission)) =>
    writeFileSync(fileOf(submission, n), text);
  async function open(): Promise<void> {
    const onUnreadable = (file: string) => reports.push(path.basename(file));
    reports = [];
    journal = new Journal(folder(), { onUnreadable, onOldNames: () => reports.push('old names') });
    await journal.open();
  }

  /** Texts of files that can’t be read, or are only known to be over. */
  const FOREIGN: Readonly<Record<string, object | string>> = {
    torn: '{"version":1,',
    zeros: '\0'.repeat(4096),
    empty: '',
    'of an older format': { version: 0 },
    'without a field': { boundary: undefined },
    'charged without a run': { stage: 'charged' },
    'ended without a reason': { ...refusedWith('x'), reason: undefined },
    'open in a later format': { version: 2 },
    'ended in a later format': { version: 2, stage: 'ended', dataset: 'other' },
    'charged in a later format': { version: 9, stage: 'charged' },
  };
  for (const [what, text] of Object.entries(FOREIGN))
    it(`that are ${what} stop only their own bytes, are reported once, and get only a charge`, async () => {
      const isOver = /(ended|charged) in/.test(what);
      const [good, bad] = [sampleSubmission(), sampleSubmission()];
      for (const one of [good, bad]) put(one);
      await open();
      const { lease } = (await journal.acquire(bad.id))!;
      put(bad, 2, typeof text === 'string' ? text : JSON.stringify({ ...bad, ...text }));
      for (let times = 0; times < 2; times++) await journal.reload();
      assert.deepEqual([journal.submissions, reports], [[good], isOver ? [] : [nameOf(bad, 2)]]);
      assert.deepEqual(journal.unreadable, isOver ? [] : [`${bytesKeyOf(bad)}.1`]);
      const told = await journal.knownOf(bad);
      assert.deepEqual([told[0]?.record, await journal.acquire(bad.id)], [undefined, undefined]);
      await assert.rejects(journal.write(lease, bad), { code: 'not-owner' });
      const created = await journal.create(sameDataset(bad), told);
      assert.ok('lease' in created, 'the question named it');
      created.lease.release();
      await journal.settle(lease, chargedAt(bad, 1));
      assert.equal(existsSync(fileOf(bad, 3)), !what.startsWith('charged in'));
    });

  it('that can’t be read now don’t count as damaged: the known records stay, and nothing is submitted instead', async () => {
    const [known, unknown] = [sampleSubmission(), sampleSubmission()];
    put(known);
    await open();
    put(known, 2);
    put(unknown);
    writeFileSync(path.join(folder(), `${known.id}.1.json`), '');
    mock.method(fs, 'readFile', () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })));
    syncBuiltinESMExports();
    await journal.reload();
    assert.deepEqual([journal.submissions, journal.unreadable], [[known], [`${bytesKeyOf(unknown)}.1`]]);
    for (const work of [journal.knownOf(known), journal.acquire(known.id)])
      await assert.rejects(work, { code: 'EIO' });
    mock.restoreAll();
    syncBuiltinESMExports();
    const owned = await journal.acquire(known.id);
    assert.equal(owned?.lease.isHeld(), true, 'its lease was not kept');
    owned.lease.release();
    await open();
    assert.deepEqual([journal.unreadable, reports], [[], ['old names']]);
  });

  it('have only fields of the contract: no other text, no secret once it is over, no impossible amount', () => {
    const run = {
      run_id: 'r',
      plan_name: 'p'.repeat(2 ** 20),
      price_cents: -1,
      currency: ' usd ',
      upload_url: 'secret',
    };
    const charge = { at: { localMs: 1 }, foundBy: 'answered' as const, run };
    const text = CODEC.format(charged(sampleSubmission({ keyCheck: { salt: 'secret', hash: '' } }), charge));
    assert.doesNotMatch(text, /secret/);
    const { plan_name, ...read } = (
      CODEC.parse(text.replace('"USD"', '"USD", "balance_after_cents": 1e999')) as Submission
    ).charge!.run;
    assert.deepEqual(JSON.parse(JSON.stringify([read, plan_name?.length])), [
      { run_id: 'r', currency: 'USD' },
      200,
    ]);
  });
});
