import assert from 'node:assert/strict';
import { appendFile, mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readAnswers } from '../../../../src/core/answers/answersFile.ts';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import { Fingerprints } from '../../../../src/core/datasets/fingerprints.ts';
import { ended, overAt, type Receipt } from '../../../../src/core/submission/submission.ts';
import { useChecker } from '../../../helpers/checker.ts';
import { chargedReceipt, type ReceiptOptions } from '../../../helpers/receipts.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { submissionOf } from '../../../helpers/submissions.ts';

const { fileData, trainedData } = await withVscode(() => import('../../../../src/ui/answers/trainedData.ts'));

const chat = (prompt: string, answer = 'yes') =>
  `${JSON.stringify({
    messages: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: answer },
    ],
  })}\n`;

const NONE = { name: undefined, label: undefined };

describe('trainedData', function () {
  const { checker, folder } = useChecker();
  let made = 0;
  let at: string;
  let fingerprints: Fingerprints;
  let receipts: Receipt[];
  /** When the answers were written. */
  let answeredAtMs: number;

  beforeEach(async () => {
    at = path.join(folder(), `answers${made++}`);
    await mkdir(at);
    fingerprints = new Fingerprints(path.join(at, 'kept'), () => Promise.resolve(checker()));
    receipts = [];
    answeredAtMs = Infinity;
  });

  const file = (name: string) => path.join(at, `${name}.jsonl`);
  const write = (name: string, ...rows: string[]) => writeFile(file(name), rows.join(''));
  /** A charge for a file as it is now, or for one that doesn't exist. */
  async function charge(name: string, more: ReceiptOptions = {}): Promise<Receipt> {
    const found = await stat(file(name), { bigint: true }).catch(() => undefined);
    const dataset = { path: file(name), ...(found && stampOf(found)) };
    const receipt = chargedReceipt({ label: name, ...more, dataset });
    receipts.push(receipt);
    return receipt;
  }
  async function find(runs: readonly string[] = [], answers = 'train.holdout.my-run.answers') {
    let isOpen = false;
    const journal = {
      // Newest first, as the journal has them.
      receipts: () => {
        assert.ok(isOpen);
        return Promise.resolve(receipts.toSorted((a, b) => overAt(b).localMs - overAt(a).localMs));
      },
    };
    const openJournal = () => Promise.resolve(void (isOpen = true));
    const written = { path: file(answers), mtimeMs: answeredAtMs };
    return trainedData({ fingerprints, journal, openJournal }, written, runs);
  }
  const named = async (...of: Parameters<typeof find>) => {
    const { compared } = await find(...of);
    if (compared === undefined) return undefined;
    const { data, name, isTraining, changed } = compared;
    const source = 'file' in data ? path.basename(data.file.path) : 'fingerprints';
    return [name, source, isTraining ? 'training' : 'file', ...(changed === undefined ? [] : [changed])];
  };

  it('takes the data of the run that the rows name: its fingerprints, its file, or that file as it is now', async () => {
    await write('other', chat('a'));
    await write('train.prepared', chat('b'));
    const receipt = await charge('other', { label: 'Bot ft-k7q2m9xa', run: { run_id: 'run-1' } });
    await charge('train.prepared', { atMs: 5 });
    assert.deepEqual((await find(['run-1'])).run, { name: 'run “Bot”', label: 'Bot' });
    assert.deepEqual(await named(['run-1']), ['run “Bot”', 'other.jsonl', 'training']);
    // Rows of several runs are compared with no run's data.
    assert.deepEqual(await named(['run-1', 'x']), ['train.prepared.jsonl', 'train.prepared.jsonl', 'file']);
    await fingerprints.keep({ id: receipt.id, dataset: receipt.dataset, submittedAtMs: 0 }, []);
    assert.deepEqual(await named(['run-1']), ['run “Bot”', 'fingerprints', 'training']);
    await appendFile(file('other'), chat('c'));
    assert.deepEqual(await named(['run-1']), ['run “Bot”', 'fingerprints', 'training']);
    await fingerprints.removeAll();
    assert.deepEqual(await named(['run-1']), ['run “Bot”', 'other.jsonl', 'training', 'other.jsonl']);
    // Data of another run isn't called training data, but a file beside is compared.
    await rm(file('other'));
    assert.deepEqual(await named(['run-1']), ['train.prepared.jsonl', 'train.prepared.jsonl', 'file']);
    assert.deepEqual(await find(['run-of-another-machine']), { ...(await find(['run-1'])), run: NONE });
  });

  it('takes the newest charged file beside, of any account: its fingerprints, or the file if unchanged', async () => {
    await write('train', chat('a'));
    await write('train.prepared', chat('b'));
    await charge('train', { atMs: 1, accountId: 'account-9' });
    assert.deepEqual(await named(), ['run “train”', 'train.jsonl', 'training']);
    // A charge after the answers were given can't have trained the model that gave them.
    answeredAtMs = receipts[0]!.created.localMs;
    assert.deepEqual(await named(), ['train.prepared.jsonl', 'train.prepared.jsonl', 'file']);
    answeredAtMs = Infinity;
    const prepared = await charge('train.prepared', {
      atMs: 2,
      label: undefined,
      run: { run_id: '0123456789' },
    });
    assert.deepEqual(await named(), ['run 01234567', 'train.prepared.jsonl', 'training']);
    await fingerprints.keep({ id: prepared.id, dataset: prepared.dataset, submittedAtMs: 0 }, []);
    await appendFile(file('train.prepared'), chat('c'));
    assert.deepEqual(await named(), ['run 01234567', 'fingerprints', 'training']);
    assert.deepEqual((await find()).run, NONE);
    await fingerprints.removeAll();
    assert.deepEqual(await named(), ['run “train”', 'train.jsonl', 'training']);
    // A file with the same size that was written to, also if its time was set back.
    const before = await stat(file('train'));
    await write('train', chat('z'));
    await utimes(file('train'), before.atime, before.mtime);
    assert.deepEqual(await named(), ['train.prepared.jsonl', 'train.prepared.jsonl', 'file']);
  });

  it('takes a copy beside otherwise, but never the source of a hold-out', async () => {
    await write('train', chat('a'));
    assert.equal(await named(), undefined);
    await write('train.trial', chat('a'));
    assert.deepEqual(await named(), ['train.trial.jsonl', 'train.trial.jsonl', 'file']);
    await write('train.prepared', chat('a'));
    assert.deepEqual(await named(), ['train.prepared.jsonl', 'train.prepared.jsonl', 'file']);
    assert.equal(await named([], 'train.holdout-2.my-run.answers'), undefined);
    await write('train.prepared-2', chat('a'));
    assert.equal((await named([], 'train.holdout-2.my-run.answers'))?.[0], 'train.prepared-2.jsonl');
    await write('train.prepared');
    assert.equal((await named())?.[0], 'train.trial.jsonl');
  });

  it('never takes a submission that wasn’t charged, or a file in another folder', async () => {
    await write('train.prepared', chat('a'));
    const { dataset } = await charge('train.prepared');
    receipts = (['not-charged', 'discarded'] as const).map((reason) =>
      ended(submissionOf({ label: 'x', dataset }), reason, { at: { localMs: 1 } }),
    );
    await mkdir(path.join(at, 'sub'));
    await charge(path.join('sub', 'train.prepared'));
    assert.equal((await named())?.[2], 'file');
  });

  it('names it by service text that is safe to show', async () => {
    await write('train.prepared', chat('a'));
    await charge('train.prepared', { label: '[x](command:y)\n$(zap)\u202e', run: { run_id: 'run-1' } });
    const { run } = await find(['run-1']);
    assert.equal(run.name, 'run “[x] (command:y) $ (zap)<U+202E>”');
    receipts = [];
    const hostile = '$(zap)\u202e';
    await write(hostile, chat('a'));
    assert.equal((await fileData(file(hostile)))?.name, '$ (zap)<U+202E>.jsonl');
    assert.equal(await fileData(at), undefined);
  });

  it('finds exactly the prompts that leaked, in 1,000 rows, from the file and from fingerprints', async () => {
    const isLeaked = (row: number) => row % 3 === 0;
    const rows = Array.from({ length: 1_000 }, (_, row) => row);
    const long = 'An answer of more than eighty characters, which only this row of the dataset has, and row ';
    const answers = rows.map((row) => ({
      messages: [
        { role: 'system', content: `Be brief ${row}` },
        { role: 'user', content: [{ type: 'text', text: `WHERE is\torder ${row}?` }] },
      ],
      ...{ expected: row === 1 ? `${long}1` : 'yes', base: 'a', adapter: 'b' },
    }));
    await write('train.holdout.my-run.answers', ...answers.map((one) => `${JSON.stringify(one)}\n`));
    const others = rows.map((row) =>
      chat(isLeaked(row) ? `Where is order ${row}?` : `Another prompt ${row}`),
    );
    await write('train.prepared', ...others, chat('A paraphrase of row 1', `${long}1`));
    const { id, dataset } = await charge('train.prepared');
    const opened = await readAnswers(file('train.holdout.my-run.answers'));
    assert.ok(typeof opened === 'object');
    for (const sameAnswer of [1, 0]) {
      const { compared } = await find();
      assert.equal('fingerprints' in compared!.data, sameAnswer === 0);
      const found = await fingerprints.find(opened.chat, compared!.data);
      assert.deepEqual(found, { isFound: rows.map(isLeaked), sameAnswer });
      await fingerprints.keep({ id, dataset, submittedAtMs: 0 }, []);
    }
  });
});
