import assert from 'node:assert/strict';
import { rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { CommonText, Reading } from '../../../../src/core/datasets/readFacts.ts';
import { CheckError } from '../../../../src/core/datasets/report.ts';
import type { Services } from '../../../../src/services.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { shownReading } from '../../../helpers/reading.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { adapterRun } = await withVscode(() => import('../../../../src/ui/adapters/adapterRun.ts'));

describe('adapterRun', () => {
  const folder = useFolder();
  const receipt = () =>
    chargedReceipt({
      accountId: 'account-2',
      label: 'maths',
      atMs: new Date(2026, 4, 1, 12).getTime(),
      dataset: { path: path.join(folder(), 'train.prepared.jsonl') },
      run: { run_id: 'run-1' },
    });

  /** @param downloads the runs of the downloaded files, by account */
  const runOf = (
    file: string,
    downloads: Record<string, Record<string, string>>,
    receipts = [receipt()],
    currentReport: (file: string, signal?: AbortSignal) => Promise<Reading> = () =>
      Promise.reject(new Error()),
  ) => {
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
        readings: () => Promise.resolve({ currentReport }),
        sessions: { find: (id: string) => (id === 'account-2' ? sessionOf() : undefined) },
        journal: { receipts: () => Promise.resolve(opened.includes('journal') ? receipts : []) },
      } as unknown as Services,
      file,
    );
  };

  it('finds the run that a file was downloaded from, in any account, and the hold-out beside its dataset', async () => {
    const downloads = { 'account-1': { '/b.zip': 'run-1' }, 'account-2': { '/a.zip': 'run-1' } };
    const known = async () => {
      const { id, holdOut: beside } = (await runOf('/a.zip', downloads)) ?? {};
      assert.equal(id, 'run-1');
      return beside;
    };
    assert.deepEqual(await known(), undefined);
    const holdOut = path.join(folder(), 'train.holdout.jsonl');
    await writeFile(holdOut, '{}\n');
    assert.deepEqual(await known(), holdOut);
  });

  it('names the run by its label if it has one, its dataset, day and model', async () => {
    const named = async (accountId: string, label: string) => {
      const other = { ...receipt(), accountId, label };
      return (await runOf('/a.zip', { [accountId]: { '/a.zip': 'run-1' } }, [other]))?.origin;
    };
    assert.equal(await named('account-2', 'maths'), 'maths · train.jsonl · May 1, 2026 · Qwen 3 8B');
    assert.equal(await named('account-2', ''), 'train.jsonl · May 1, 2026 · Qwen 3 8B');
    // Its account's models aren't known.
    assert.equal(await named('account-1', 'a\u202e'), 'a<U+202E> · train.jsonl · May 1, 2026 · qwen3-8b');
  });

  it('knows nothing of a file or a run that isn’t from this machine', async () => {
    assert.equal(await runOf('/a.zip', {}), undefined);
    assert.equal(await runOf('/a.zip', { 'account-2': { '/b.zip': 'run-1' } }), undefined);
    assert.equal(await runOf('/a.zip', { 'account-2': { '/a.zip': 'run-2' } }), undefined);
    // The same ID at another account is another run.
    assert.equal(await runOf('/a.zip', { 'account-1': { '/a.zip': 'run-1' } }), undefined);
  });

  describe('and its dataset', () => {
    const dataset = () => path.join(folder(), 'train.jsonl');
    const row = (system: string) =>
      JSON.stringify({
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: 'a' },
        ],
      });
    /** The submission of a file with this content. */
    const submitted = async (content: string) => {
      await writeFile(dataset(), content);
      const stamp = stampOf(await stat(dataset(), { bigint: true }));
      const run = { run_id: 'run-1' };
      return chargedReceipt({ accountId: 'a', dataset: { path: dataset(), ...stamp }, run });
    };
    const system = async (
      one: ReturnType<typeof chargedReceipt>,
      check: (file: string, signal?: AbortSignal) => Promise<Reading>,
      signal = new AbortController().signal,
    ) => (await runOf('/a.zip', { a: { '/a.zip': 'run-1' } }, [one], check))?.system(signal);
    const having = (main: CommonText | undefined, conversations = 10) => {
      const reading = shownReading({ system: { conversations, without: 0, texts: 2, main } });
      return () => Promise.resolve(reading);
    };

    it('has the system message of more than half of the conversations', async () => {
      const one = await submitted(`${row('No')}\n\n${row('Be brief.')}`);
      const found = (rows: number) => system(one, having({ row: 3, rows }));
      assert.deepEqual(await found(6), { text: 'Be brief.' });
      assert.equal(await found(5), undefined);
      assert.equal(await system(one, having(undefined)), undefined);
    });

    it('has one that isn’t read, because its row is long', async () => {
      const one = await submitted(row('x'.repeat(300_000)));
      assert.deepEqual(await system(one, having({ row: 1, rows: 10 })), { text: '' });
    });

    it('isn’t known once it was changed, even with the same size and time, or is gone', async () => {
      const never = () => Promise.reject(new Error('it was checked'));
      const one = await submitted(row('a'));
      const { mtimeMs } = one.dataset;
      await writeFile(dataset(), row('b'));
      await utimes(dataset(), mtimeMs / 1_000, mtimeMs / 1_000);
      assert.equal(await system(one, never), 'unknown');
      await rm(dataset());
      assert.equal(await system(one, never), 'unknown');
    });

    it('isn’t known if it changes while it is read, or can’t be checked', async () => {
      const main = { row: 1, rows: 10 };
      const change = async () => {
        await writeFile(dataset(), row('other'));
        return having(main)();
      };
      assert.equal(await system(await submitted(row('a')), change), 'unknown');
      const leave = async () => {
        await rm(dataset());
        return having(main)();
      };
      assert.equal(await system(await submitted(row('a')), leave), 'unknown');
      const changing = () => Promise.reject(new CheckError('changing'));
      assert.equal(await system(await submitted(row('a')), changing), 'unknown');
    });

    it('is no longer read once that is canceled', async () => {
      const stop = new AbortController();
      const check = (_: string, signal?: AbortSignal) => {
        stop.abort();
        assert.equal(signal?.aborted, true);
        return having({ row: 1, rows: 10 })();
      };
      await assert.rejects(system(await submitted(row('a')), check, stop.signal), CancelledError);
    });
  });
});
