import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Services } from '../../../../src/services.ts';
import { adapterRun } from '../../../../src/ui/adapters/adapterRun.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';

describe('adapterRun', () => {
  const folder = useFolder();
  const accepted_at = '2026-05-01T11:00:00.000Z';
  const urls = ['https://a.test/terms'];
  const receipt = () =>
    chargedReceipt({
      accountId: 'account-2',
      dataset: { path: path.join(folder(), 'train.prepared.jsonl') },
      consents: { model_terms: { accepted_at, urls }, data_policy: { accepted_at } },
      run: { run_id: 'run-1' },
    });

  /** @param downloads the runs of the downloaded files, by account */
  const runOf = (file: string, downloads: Record<string, Record<string, string>>, receipts = [receipt()]) => {
    const opened: string[] = [];
    return adapterRun(
      {
        accounts: { accounts: Object.keys(downloads).map((id) => ({ id })) },
        downloads: {
          open: (id: string) => Promise.resolve(void opened.push(id)),
          // Records are known only after they were read.
          records: (id: string) =>
            Object.entries((opened.includes(id) && downloads[id]) || {}).map(([at, runId]) => ({
              path: at,
              runId,
            })),
        },
        openJournal: () => Promise.resolve(void opened.push('journal')),
        journal: { receipts: () => Promise.resolve(opened.includes('journal') ? receipts : []) },
      } as unknown as Services,
      file,
    );
  };

  it('finds the run that a file was downloaded from, in any account, and the hold-out beside its dataset', async () => {
    const downloads = { 'account-1': { '/b.zip': 'run-1' }, 'account-2': { '/a.zip': 'run-1' } };
    assert.deepEqual(await runOf('/a.zip', downloads), { holdOut: undefined, termsUrls: urls });
    const holdOut = path.join(folder(), 'train.holdout.jsonl');
    await writeFile(holdOut, '{}\n');
    assert.deepEqual(await runOf('/a.zip', downloads), { holdOut, termsUrls: urls });
  });

  it('knows nothing of a file or a run that isn’t from this machine', async () => {
    assert.equal(await runOf('/a.zip', {}), undefined);
    assert.equal(await runOf('/a.zip', { 'account-2': { '/b.zip': 'run-1' } }), undefined);
    assert.equal(await runOf('/a.zip', { 'account-2': { '/a.zip': 'run-2' } }), undefined);
    // The same ID at another account is another run.
    assert.equal(await runOf('/a.zip', { 'account-1': { '/a.zip': 'run-1' } }), undefined);
  });
});
