import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DatasetChecker } from '../../../src/dataset/checker.ts';
import { datasetChecker } from '../../helpers/checker.ts';

describe('a check of a dataset', () => {
  let checker: DatasetChecker;
  let folder: string;

  before(async function () {
    this.timeout(60_000);
    checker = await datasetChecker();
    folder = await mkdtemp(path.join(tmpdir(), 'dataset-test-'));
  });

  after(async () => {
    await checker.dispose();
    await rm(folder, { recursive: true });
  });

  async function check(content: string | Uint8Array) {
    const file = path.join(folder, 'dataset.jsonl');
    await writeFile(file, content);
    return checker.check(file);
  }

  it('finds nothing in a clean one', async () => {
    const report = await check('{"question":"1+1?","answer":"2"}\n{"question":"1+2?","answer":"3"}\n');
    assert.deepEqual(report.problems, []);
    assert.equal(report.rows, 2);
    assert.equal(report.format, 'question-answer');
  });
});
