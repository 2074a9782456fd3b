import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, watch, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { nameExclusively } from '../../../../src/core/base/exclusiveName.ts';
import { useFolder } from '../../../helpers/folder.ts';

describe('nameExclusively', () => {
  const content = 'whole'.repeat(1_000_000);
  const folder = useFolder();
  let part: string;
  let target: string;

  beforeEach(async () => {
    [part, target] = [path.join(folder(), '.x.part'), path.join(folder(), 'adapter.zip')];
    await writeFile(part, content);
  });

  /** The error of a file system without hard links. */
  const noLinks = () => Promise.reject(Object.assign(new Error('no hard links'), { code: 'EPERM' }));

  for (const [name, link] of [
    ['with hard links', undefined],
    ['without hard links', noLinks],
  ] as const) {
    it(`${name} never replaces a file, an empty file, a folder, or a dangling link`, async () => {
      const at = (taken: string) => path.join(folder(), taken);
      await writeFile(at('file'), 'mine');
      await writeFile(at('empty'), '');
      await mkdir(at('folder'));
      await symlink('nowhere', at('link'));
      for (const taken of ['file', 'empty', 'folder', 'link'])
        await assert.rejects(nameExclusively(part, at(taken), link), { code: 'file-exists' });
      assert.deepEqual(
        [await readFile(at('file'), 'utf8'), await readFile(at('empty'), 'utf8')],
        ['mine', ''],
      );
      assert.deepEqual((await readdir(folder())).toSorted(), ['.x.part', 'empty', 'file', 'folder', 'link']);
    });

    it(`${name} gives the name to only one of two concurrent calls`, async () => {
      const other = path.join(folder(), '.y.part');
      await writeFile(other, 'other');
      const ends = await Promise.allSettled([part, other].map((one) => nameExclusively(one, target, link)));
      assert.deepEqual(ends.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    });
  }

  it('without hard links shows an empty or a complete file under the name', async () => {
    const sizes = new Set<number>();
    const stop = new AbortController();
    const watching = (async () => {
      for await (const { filename } of watch(folder(), { signal: stop.signal })) {
        if (filename === path.basename(part)) continue;
        const seen = await readFile(target).catch(() => undefined);
        if (seen !== undefined) sizes.add(seen.byteLength);
      }
    })().catch(() => undefined);
    for (let turn = 0; turn < 10; turn++) {
      await nameExclusively(part, target, noLinks);
      await rm(target);
      await writeFile(part, content);
    }
    stop.abort();
    await watching;
    sizes.delete(0);
    sizes.delete(content.length);
    assert.deepEqual([...sizes], []);
  });

  it('without hard links does not replace what another program wrote to the empty file', async () => {
    const write = (): void => {
      if (!existsSync(target)) setImmediate(write);
      else writeFileSync(target, 'mine');
    };
    write();
    await assert.rejects(nameExclusively(part, target, noLinks), { code: 'file-exists' });
    assert.equal(await readFile(target, 'utf8'), 'mine');
  });

  it('removes the name if the complete file cannot get it', async () => {
    await rm(part);
    await assert.rejects(nameExclusively(part, target, noLinks), { code: 'ENOENT' });
    assert.deepEqual(await readdir(folder()), []);
  });
});
