import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, mkdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MAX_DATASET_BYTES } from '../../../../src/core/api/types.ts';
import { inspectDataset } from '../../../../src/core/datasets/fileKind.ts';

describe('inspectDataset', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'inspect-'));
    file = path.join(folder, 'dätaset "1".jsonl');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function sized(sizeBytes: number) {
    await writeFile(file, '');
    await truncate(file, sizeBytes); // sparse
    return inspectDataset(file, MAX_DATASET_BYTES);
  }

  it('tells size and path of a file that can be sent', async () => {
    const found = await sized(1);
    const { mtimeMs } = await stat(file, { bigint: true });
    assert.deepEqual(found, { path: file, sizeBytes: 1, mtimeMs: Number(mtimeMs) });
  });

  it('follows a link', async () => {
    await writeFile(file, '{}');
    const link = path.join(folder, 'link.jsonl');
    await symlink(file, link);
    const found = await inspectDataset(link, MAX_DATASET_BYTES);
    const { mtimeMs } = await stat(file, { bigint: true });
    assert.deepEqual(found, { path: link, sizeBytes: 2, mtimeMs: Number(mtimeMs) });
  });

  it('tells the time of the last write in whole milliseconds, rounded down', async () => {
    await writeFile(file, '{}');
    // A number with a fraction would round this one up.
    execFileSync('touch', ['-d', '2026-01-05T12:00:00.122999999Z', file]);
    const found = await inspectDataset(file, MAX_DATASET_BYTES);
    assert.equal(typeof found === 'object' && found.mtimeMs, Date.parse('2026-01-05T12:00:00.122Z'));
  });

  it('refuses above 629,145,600 bytes', async () => {
    assert.equal(typeof (await sized(629_145_600)), 'object');
    assert.equal(await sized(629_145_601), 'too-large');
    assert.equal(await sized(2 ** 40), 'too-large');
  });

  it('refuses an empty file', async () => assert.equal(await sized(0), 'empty'));

  it('refuses a missing file, and a link to one', async () => {
    assert.equal(await inspectDataset(file, MAX_DATASET_BYTES), 'missing');
    await symlink(file, path.join(folder, 'dangling'));
    assert.equal(await inspectDataset(path.join(folder, 'dangling'), MAX_DATASET_BYTES), 'missing');
  });

  it('refuses a folder, and a link to one', async () => {
    await mkdir(file);
    assert.equal(await inspectDataset(file, MAX_DATASET_BYTES), 'folder');
    await symlink(file, path.join(folder, 'link'));
    assert.equal(await inspectDataset(path.join(folder, 'link'), MAX_DATASET_BYTES), 'folder');
  });

  it('refuses a pipe without waiting for its writer, and a device', async function () {
    if (process.platform === 'win32') assert.fail('run this on a system with pipes in the file system');
    this.timeout(2000);
    execFileSync('mkfifo', [file]);
    assert.equal(await inspectDataset(file, MAX_DATASET_BYTES), 'not-a-file');
    assert.equal(await inspectDataset('/dev/null', MAX_DATASET_BYTES), 'not-a-file');
  });

  it('refuses what cannot be read: a loop of links, an impossible name', async () => {
    await symlink(file, file);
    assert.equal(await inspectDataset(file, MAX_DATASET_BYTES), 'unreadable');
    assert.equal(await inspectDataset(path.join(folder, 'x'.repeat(5000)), MAX_DATASET_BYTES), 'unreadable');
    assert.equal(await inspectDataset('a\0b', MAX_DATASET_BYTES), 'unreadable');
  });
});
