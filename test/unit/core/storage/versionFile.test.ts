import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { link as linkFile } from 'node:fs/promises';
import path from 'node:path';
import { readVersion, writeVersion, type At } from '../../../../src/core/storage/versionFile.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { useFolderSyncs } from '../../../helpers/folderSyncs.ts';
import { onPlatform } from '../../../helpers/platform.ts';
import { useDiskCalls } from '../../../helpers/storage/diskCalls.ts';

const failure = (code: string) => Object.assign(new Error(code), { code, syscall: 'any' });
const failing = (code: string) => () => Promise.reject(failure(code));
const nothing: At = () => Promise.resolve();

describe('writeVersion', () => {
  const folder = useFolder();
  const failSyncs = useFolderSyncs();
  const replaceCall = useDiskCalls();
  const file = () => path.join(folder(), 'a.1.json');
  const write = (link = linkFile as (from: string, to: string) => Promise<void>, text = 'text') =>
    writeVersion(file(), text, link, nothing);

  it('gives a complete and durable file its name, then makes that durable', async () => {
    for (const [link, kind] of [
      [linkFile, 'file'],
      [failing('EPERM'), 'folder'],
    ] as const) {
      const version = path.join(folder(), `${kind}.1.json`);
      const seen: unknown[] = [];
      const at: At = (point) => {
        const names = readdirSync(folder()).filter((name) => name.startsWith(kind));
        const temporary = names.find((name) => name.endsWith('.tmp'));
        seen.push([point, existsSync(version), temporary !== undefined]);
        if (point === 'temporary')
          assert.equal(readFileSync(path.join(folder(), temporary!), 'utf8'), 'text');
        else
          assert.equal(
            readFileSync(kind === 'file' ? version : path.join(version, 'record'), 'utf8'),
            'text',
          );
        return Promise.resolve();
      };
      assert.equal(await writeVersion(version, 'text', link, at), true);
      assert.deepEqual(seen, [
        ['temporary', false, true],
        ['linked', true, kind === 'file'],
        ['synced', true, false],
      ]);
      assert.equal(await readVersion(version), 'text');
      assert.equal(statSync(version).isDirectory(), kind === 'folder');
    }
  });

  it('recognizes its own file if a network share repeated its request', async () => {
    assert.equal(
      await write(async (from, to) => {
        await linkFile(from, to);
        throw failure('EEXIST');
      }),
      true,
    );
    assert.equal(await write(linkFile, 'later'), false);
    assert.equal(await readVersion(file()), 'text');
  });

  it('doesn’t take another file for its own where files have no inode numbers', async () => {
    copyFileSync(import.meta.filename, file());
    replaceCall(
      'lstat',
      (own) =>
        async (...args: never[]) =>
          Object.assign((await own(...args)) as object, { ino: 0n, dev: 0n }),
    );
    assert.equal(await write(failing('EEXIST')), false);
  });

  it('makes a folder where there are no hard links, whatever the error', async () => {
    for (const code of ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EINVAL', 'EXDEV', 'ENOSYS', 'UNKNOWN']) {
      const version = path.join(folder(), `${code}.1.json`);
      assert.equal(await writeVersion(version, code, failing(code), nothing), true);
      assert.equal(await readVersion(version), code);
      assert.deepEqual(readdirSync(version), ['record']);
      assert.equal(await writeVersion(version, 'later', failing(code), nothing), false);
      assert.equal(await readVersion(version), code);
    }
    assert.ok(readdirSync(folder()).every((name) => name.endsWith('.json')));
  });

  it('fails if the disk does, and leaves nothing', async () => {
    for (const code of ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'ENOENT'])
      await assert.rejects(write(failing(code)), { code });
    for (const link of [linkFile, failing('EPERM')]) {
      failSyncs('EIO', 'file');
      await assert.rejects(write(link), { code: 'EIO' });
    }
    assert.deepEqual(readdirSync(folder()), []);
  });

  it('rejects if the name may not be durable, though the version may exist', async function () {
    if (process.platform === 'win32') this.skip();
    failSyncs('EIO');
    await assert.rejects(write(), { code: 'EIO' });
    assert.equal(await readVersion(file()), 'text');
    assert.deepEqual(readdirSync(folder()), [path.basename(file())]);
  });

  it('asks the disk whether the name exists, whatever error Windows reports, and waits for a file in use', async () => {
    for (const code of ['EPERM', 'EACCES', 'EBUSY', 'EEXIST', 'ENOTEMPTY', 'ENOTDIR']) {
      const version = path.join(folder(), `${code}.1.json`);
      let renames = 0;
      replaceCall(
        'rename',
        (own) =>
          (...args: never[]) =>
            renames++ === 0 && existsSync(version) ? failing(code)() : own(...args),
      );
      await writeVersion(version, 'first', failing('EISDIR'), nothing);
      renames = 0;
      assert.equal(await writeVersion(version, 'second', failing('EISDIR'), nothing), false);
      assert.equal(renames, 1);
      assert.equal(await readVersion(version), 'first');
    }
    let inUse = 3;
    replaceCall(
      'rename',
      (own) =>
        (...args: never[]) =>
          inUse-- > 0 ? failing('EACCES')() : own(...args),
    );
    assert.equal(await write(failing('EISDIR')), true);
    assert.equal(await readVersion(file()), 'text');
    replaceCall('rename', () => failing('ENOSPC'));
    await assert.rejects(writeVersion(path.join(folder(), 'b.1.json'), '', failing('EPERM'), nothing), {
      code: 'ENOSPC',
    });
  });

  it('syncs no folder on Windows', async () => {
    failSyncs('EIO');
    await onPlatform('win32', async () => {
      for (const [index, link] of [linkFile, failing('EISDIR')].entries())
        assert.equal(await writeVersion(path.join(folder(), `${index}.1.json`), '', link, nothing), true);
    });
  });
});
