import assert from 'node:assert/strict';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { makeFolder, syncDirectory } from '../../../../src/core/base/folders.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { onPlatform } from '../../../helpers/platform.ts';

describe('makeFolder', () => {
  const folder = useFolder();
  const failure = (code: string) => Object.assign(new Error(code), { code, syscall: 'mkdir' });

  it('creates missing parents and returns the first, as mkdir does', async () => {
    const inner = path.join(folder(), 'a', 'b', 'c');
    assert.equal(await makeFolder(inner), path.join(folder(), 'a'));
    assert.ok((await stat(inner)).isDirectory());
    assert.equal(await makeFolder(inner), undefined);
  });

  it('says why a folder can’t be created on a read-only disk, where a recursive mkdir says ENOENT', async () => {
    const asked: string[] = [];
    const make = (one: string, { recursive = false }: { recursive?: boolean }) => {
      if (!recursive) asked.push(one);
      return Promise.reject(failure(recursive ? 'ENOENT' : 'EROFS'));
    };
    const made = makeFolder(path.join(folder(), 'a', 'b'), undefined, make);
    await assert.rejects(made, (error: NodeJS.ErrnoException) => {
      return error.code === 'EROFS' && new DiskError(error).code === 'no-permission';
    });
    assert.deepEqual(asked, [path.join(folder(), 'a')]);
  });

  it('goes on if the missing folder appeared, and reports a missing drive as such', async () => {
    let failures = 1;
    const slow = async (one: string, options: { recursive?: boolean; mode: number }) => {
      if (failures-- > 0) throw failure('ENOENT');
      return mkdir(one, options);
    };
    const inner = path.join(folder(), 'a', 'b');
    assert.equal(await makeFolder(inner, undefined, slow), path.join(folder(), 'a'));
    assert.ok((await stat(inner)).isDirectory());
    const none = () => Promise.reject(failure('ENOENT'));
    await assert.rejects(makeFolder('/', undefined, none), { code: 'ENOENT' });
  });
});

describe('syncDirectory', () => {
  const folder = useFolder();

  it('opens the folder, except on Windows, which can’t', async () => {
    const gone = path.join(folder(), 'gone');
    for (const platform of ['linux', 'darwin'] as const)
      await assert.rejects(
        onPlatform(platform, () => syncDirectory(gone)),
        { code: 'ENOENT' },
      );
    await onPlatform('win32', () => syncDirectory(gone));
  });
});
