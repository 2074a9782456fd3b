import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { problemsOf, useChecker } from '../../../../helpers/checker.ts';

const MODULES = path.join(import.meta.dirname, '../../../../../node_modules');
/** Folders that aren't searched: the documentation of a generator of random data and of a linter for secrets has complete keys. */
const WITH_KEYS = ['@faker-js', '@secretlint'];
const MAX_FILE_BYTES = 1_000_000;
const CORPUS_BYTES = 16_000_000;
/** Files are taken from all over the folder. */
const STEP = 7;

describe('ordinary code and its documentation', () => {
  const { check } = useChecker();

  it('has no keys', async function () {
    const files = globSync('**/*.{js,ts,md}', { cwd: MODULES })
      .filter((file) => !WITH_KEYS.includes(file.split(path.sep)[0] ?? ''))
      .sort();
    const rows: string[] = [];
    const names: string[] = [];
    let sizeBytes = 0;
    for (let first = 0; first < STEP; first++)
      for (let at = first; at < files.length && sizeBytes < CORPUS_BYTES; at += STEP) {
        const file = path.join(MODULES, files[at]!);
        const about = await stat(file);
        if (!about.isFile() || about.size > MAX_FILE_BYTES) continue;
        rows.push(JSON.stringify({ text: await readFile(file, 'utf8') }));
        names.push(files[at]!);
        sizeBytes += about.size;
      }
    assert.ok(sizeBytes >= CORPUS_BYTES, `only ${sizeBytes} bytes`);
    const keys = problemsOf(await check(rows.join('\n'))).filter(
      ({ code }) => code === 'api-key' || code === 'private-key',
    );
    assert.deepEqual(
      keys.map(({ row, detail }) => `${names[row - 1]}: ${detail}`),
      [],
    );
  });
});
