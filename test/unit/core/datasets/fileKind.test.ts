import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, mkdir, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MAX_DATASET_BYTES } from '../../../../src/core/api/types.ts';
import { inspectDataset } from '../../../../src/core/datasets/fileKind.ts';

describe('inspectDataset', () => {
  let folder: string;
  let file: string;
  let link: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'inspect-'));
    file = path.join(folder, 'dätaset "1".jsonl');
    link = path.join(folder, 'link.jsonl');
    await symlink(file, link);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const inspect = (name: string) => inspectDataset(name, MAX_DATASET_BYTES);

  it('returns path, size and times of a file, or of what a link leads to', async () => {
    await writeFile(file, '{}');
    await utimes(file, 1, 1_767_614_400.125);
    const ctimeMs = Number((await stat(file, { bigint: true })).ctimeMs);
    for (const name of [file, link])
      assert.deepEqual(await inspect(name), {
        path: name,
        sizeBytes: 2,
        mtimeMs: 1_767_614_400_125,
        ctimeMs,
      });
  });

  it('rounds the time of the last write down to integer milliseconds', async () => {
    await writeFile(file, '{}');
    // A number with a fraction would round this one up.
    execFileSync('touch', ['-d', '2026-01-05T12:00:00.122999999Z', file]);
    const found = await inspect(file);
    assert.equal(typeof found === 'object' && found.mtimeMs, Date.parse('2026-01-05T12:00:00.122Z'));
  });

  it('refuses an empty file, and one above 629,145,600 bytes', async () => {
    await writeFile(file, '');
    for (const [sizeBytes, expected] of [
      [0, 'empty'],
      [629_145_600, undefined],
      [629_145_601, 'too-large'],
      [2 ** 40, 'too-large'],
    ] as const) {
      await truncate(file, sizeBytes); // sparse
      const found = await inspect(file);
      assert.equal(typeof found === 'string' ? found : undefined, expected, String(sizeBytes));
    }
  });

  it('refuses what is missing or a folder, also behind a link', async () => {
    for (const name of [file, link]) assert.equal(await inspect(name), 'missing');
    await mkdir(file);
    for (const name of [file, link]) assert.equal(await inspect(name), 'folder');
  });

  it('refuses a pipe without waiting for its writer, and a device', async function () {
    if (process.platform === 'win32') assert.fail('run this on a system with pipes in the file system');
    this.timeout(2000);
    execFileSync('mkfifo', [file]);
    for (const name of [file, '/dev/null']) assert.equal(await inspect(name), 'not-a-file');
  });

  it('refuses what cannot be read: a loop of links, an impossible name', async () => {
    await symlink(link, file);
    for (const name of [file, path.join(folder, 'x'.repeat(5000)), 'a\0b'])
      assert.equal(await inspect(name), 'unreadable');
  });
});
