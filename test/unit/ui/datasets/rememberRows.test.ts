import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SubmittedDataset } from '../../../../src/core/datasets/fingerprints.ts';
import { Journal } from '../../../../src/core/submission/journal.ts';
import { ended, type Submission, type Receipt } from '../../../../src/core/submission/submission.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { chargedAt, sampleSubmission } from '../../../helpers/submissions.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { rowsKeeper } = await withVscode(() => import('../../../../src/ui/datasets/rememberRows.ts'));

const DAY_MS = 24 * 60 * 60_000;
/** An unexpected call would come within this time. */
const SETTLING_MS = 50;

describe('rowsKeeper', () => {
  const folder = useFolder();
  let journals: Journal[];
  let journal: Journal;
  let kept: [one: SubmittedDataset, ids: string[]][];
  let removals: number;
  let errors: string[];
  /** What each keeping waits for. */
  let held: Promise<unknown>;
  let following: { dispose(): void };

  beforeEach(() => {
    standIn.forget();
    standIn.settings.set('fineTuning.rememberRows', true);
    [journals, kept, removals, errors, held] = [[], [], 0, [], Promise.resolve()];
    journal = window();
    const update = rowsKeeper({
      journal,
      fingerprints: {
        keep: async (one, all) => {
          kept.push([one, all.map(({ id }) => id)]);
          await held;
        },
        removeAll: () => {
          removals++;
          return Promise.resolve();
        },
      },
      log: { error: (what: string) => void errors.push(what) } as never,
    });
    journal.onDidChange(() => void update());
    following = standIn.workspace.onDidChangeConfiguration(() => void update());
  });
  afterEach(() => {
    for (const one of [...journals, following]) one.dispose();
    standIn.settings.delete('fineTuning.rememberRows');
  });

  function window(): Journal {
    const one = new Journal(path.join(folder(), 'submissions'));
    journals.push(one);
    return one;
  }
  /** Writes a receipt as another window does. */
  async function charge(
    atMs: number,
    settle: (submission: Submission, localMs: number) => Receipt = chargedAt,
  ): Promise<Receipt> {
    const other = window();
    await other.open();
    const submission: Submission = sampleSubmission();
    const created = await other.create(submission, []);
    assert.ok('lease' in created);
    // A record that this window never saw open changes nothing for it.
    if (journal.latest.length > 0) await journal.reload();
    const receipt = settle(submission, atMs);
    await other.settle(created.lease, receipt);
    created.lease.release();
    return receipt;
  }
  const ids = () => kept.map(([{ id }]) => id);

  it('keeps those of what was charged within a day, found when the journal is opened or later, once each', async () => {
    const now = Date.now();
    const old = await charge(now - DAY_MS - 1_000);
    const found = await charge(now - DAY_MS + 60_000);
    assert.equal(kept.length, 0);
    await journal.open();
    await until(() => kept.length === 1);
    assert.deepEqual(ids(), [found.id]);
    const charged = await charge(now);
    await journal.reload();
    await until(() => kept.length === 2);
    await journal.reload();
    await delay(SETTLING_MS);
    assert.deepEqual(ids(), [found.id, charged.id]);
    const { id, dataset, created } = charged;
    const [one, all] = kept.at(-1)!;
    assert.deepEqual([one.id, one.dataset, one.submittedAtMs], [id, dataset, created.localMs]);
    assert.deepEqual(all.sort(), [old, found, charged].map((receipt) => receipt.id).sort());
    assert.deepEqual(errors, []);
  });

  it('keeps nothing of what was not charged', async () => {
    await charge(Date.now(), (submission, localMs) => ended(submission, 'not-charged', { at: { localMs } }));
    await journal.open();
    await delay(SETTLING_MS);
    assert.deepEqual(kept, []);
  });

  it('logs a failure once, does not repeat it, and goes on with the next', async () => {
    held = Promise.reject(new Error('EACCES'));
    held.catch(() => undefined);
    const first = await charge(Date.now());
    await journal.open();
    await until(() => errors.length > 0);
    held = Promise.resolve();
    const second = await charge(Date.now());
    await journal.reload();
    await until(() => kept.length === 2);
    assert.deepEqual([ids(), errors], [[first.id, second.id], ['rows-not-remembered']]);
  });

  it('removes all and keeps nothing while the setting is off, at the start as well', async () => {
    standIn.settings.set('fineTuning.rememberRows', false);
    const receipt = await charge(Date.now());
    await journal.open();
    await until(() => removals === 1);
    await charge(Date.now() - 1);
    await journal.reload();
    await delay(SETTLING_MS);
    assert.deepEqual([kept, removals], [[], 1]);
    standIn.changeSetting('rememberRows', true);
    await until(() => kept.length === 2);
    assert.ok(ids().includes(receipt.id));
    standIn.changeSetting('rememberRows', false);
    await until(() => removals === 2);
    standIn.changeSetting('rememberRows', true);
    await until(() => kept.length === 4);
  });

  it('removes what was being kept when the setting was turned off, and keeps none of the others', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    held = promise;
    await charge(Date.now());
    await charge(Date.now());
    await journal.open();
    await until(() => kept.length === 1);
    standIn.changeSetting('rememberRows', false);
    await delay(SETTLING_MS);
    assert.equal(removals, 0);
    resolve(undefined);
    await until(() => removals === 1);
    assert.equal(kept.length, 1);
  });
});
