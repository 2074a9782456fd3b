import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renameOver } from '../../../../src/core/base/renameOver.ts';
import { removeTemporaries, writeFileDurably } from '../../../../src/core/storage/durableFile.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { useFolderSyncs } from '../../../helpers/folderSyncs.ts';

describe('writeFileDurably', () => {
  const folder = useFolder();
  const failSyncs = useFolderSyncs();

  it('replaces a file in a new folder, readable by its owner only', async () => {
    const file = path.join(folder(), 'new', 'folder', 'state.json');
    await writeFileDurably(file, 'öld and long');
    await writeFileDurably(file, 'néw');
    assert.equal(await readFile(file, 'utf8'), 'néw');
    assert.deepEqual(await readdir(path.dirname(file)), ['state.json']);
    if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  it('leaves one complete text and no temporary file when many write at once', async () => {
    const file = path.join(folder(), 'state.json');
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
    await Promise.all(texts.map((text) => writeFileDurably(file, text)));
    assert.ok(texts.includes(await readFile(file, 'utf8')));
    assert.deepEqual(await readdir(folder()), ['state.json']);
  });

  it('never shows a partial text to a reader', async () => {
    const file = path.join(folder(), 'state.json');
    const texts = ['a', 'b'].map((letter) => letter.repeat(500_000));
    await writeFileDurably(file, texts[0] ?? '');
    const written = new AbortController();
    const writing = (async () => {
      for (let turn = 0; turn < 10; turn++) await writeFileDurably(file, texts[turn % 2] ?? '');
      written.abort();
    })();
    while (!written.signal.aborted) assert.ok(texts.includes(await readFile(file, 'utf8')));
    await writing;
  });

  it('removes its temporary file if the rename fails', async () => {
    const file = path.join(folder(), 'state.json');
    await mkdir(path.join(file, 'a folder in the way'), { recursive: true });
    await assert.rejects(writeFileDurably(file, 'text'));
    assert.deepEqual(await readdir(folder()), ['state.json']);
  });

  it('keeps the old text when the folder is a file', async () => {
    const file = path.join(folder(), 'plain');
    await writeFile(file, 'mine');
    await assert.rejects(writeFileDurably(path.join(file, 'state.json'), 'text'));
    assert.equal(await readFile(file, 'utf8'), 'mine');
  });

  it('keeps the old text if the new one cannot be made durable', async () => {
    const file = path.join(folder(), 'state.json');
    await writeFileDurably(file, 'old');
    failSyncs('EIO', 'file');
    await assert.rejects(writeFileDurably(file, 'new'), { code: 'EIO' });
    assert.equal(await readFile(file, 'utf8'), 'old');
    assert.deepEqual(await readdir(folder()), ['state.json']);
  });

  it('succeeds where folders cannot be synced, but not if syncing fails', async function () {
    if (process.platform === 'win32') this.skip();
    const file = path.join(folder(), 'state.json');
    for (const code of ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']) {
      failSyncs(code);
      await writeFileDurably(file, code);
      assert.equal(await readFile(file, 'utf8'), code);
    }
    for (const code of ['EIO', 'ENOSPC']) {
      failSyncs(code);
      await assert.rejects(writeFileDurably(file, code), { code });
    }
  });
});

describe('removeTemporaries', () => {
  const folder = useFolder();

  it('removes only temporary files that are older than an hour', async () => {
    const minutesAgo = { 'a.tmp': 61, 'b.tmp': 59, 'c.json': 61 };
    for (const [name, minutes] of Object.entries(minutesAgo)) {
      await writeFile(path.join(folder(), name), '');
      await utimes(path.join(folder(), name), new Date(), Date.now() / 1000 - minutes * 60);
    }
    await removeTemporaries(folder());
    await removeTemporaries(path.join(folder(), 'missing'));
    assert.deepEqual((await readdir(folder())).sort(), ['b.tmp', 'c.json']);
  });
});

describe('renameOver', () => {
  const refusing = (code: string, times: number) => {
    const renames: string[] = [];
    const renameFile = (from: unknown, to: unknown) => {
      renames.push(`${String(from)} ${String(to)}`);
      return renames.length > times
        ? Promise.resolve()
        : Promise.reject(Object.assign(new Error(code), { code }));
    };
    return { renames, renameFile: renameFile as typeof rename };
  };

  it('retries while the file is in use, as Windows reports it', async () => {
    for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
      const { renames, renameFile } = refusing(code, 3);
      await renameOver('a', 'b', renameFile);
      assert.deepEqual(renames, ['a b', 'a b', 'a b', 'a b']);
    }
  });

  it('gives up after a while, and at once if retrying cannot help', async () => {
    const used = refusing('EBUSY', Infinity);
    await assert.rejects(renameOver('a', 'b', used.renameFile), { code: 'EBUSY' });
    assert.ok(used.renames.length > 3);
    const full = refusing('ENOSPC', Infinity);
    await assert.rejects(renameOver('a', 'b', full.renameFile), { code: 'ENOSPC' });
    assert.equal(full.renames.length, 1);
  });
});
