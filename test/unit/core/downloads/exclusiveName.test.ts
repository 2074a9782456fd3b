import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nameExclusively } from '../../../../src/core/downloads/download.ts';

describe('nameExclusively', () => {
  let folder: string;
  let part: string;
  let target: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'name-'));
    part = path.join(folder, '.x.part');
    target = path.join(folder, 'adapter.zip');
    await writeFile(part, 'whole'.repeat(1_000_000));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** As a file system answers that has no hard links. */
  const noLinks = () => Promise.reject(Object.assign(new Error('no hard links'), { code: 'EPERM' }));

  for (const [name, link] of [
    ['with hard links', undefined],
    ['without hard links', noLinks],
  ] as const)
    describe(name, () => {
      it('leaves what is there: a file, an empty one, a folder, a link to nowhere', async () => {
        const inTheWay: Record<string, () => Promise<unknown>> = {
          file: () => writeFile(path.join(folder, 'file'), 'mine'),
          empty: () => writeFile(path.join(folder, 'empty'), ''),
          folder: () => mkdir(path.join(folder, 'folder')),
          link: () => symlink('nowhere', path.join(folder, 'link')),
        };
        for (const [taken, make] of Object.entries(inTheWay)) {
          await make();
          await assert.rejects(nameExclusively(part, path.join(folder, taken), link), {
            code: 'file-exists',
          });
        }
        assert.equal(await readFile(path.join(folder, 'file'), 'utf8'), 'mine');
        assert.equal(await readFile(path.join(folder, 'empty'), 'utf8'), '');
        assert.deepEqual((await readdir(folder)).toSorted(), ['.x.part', 'empty', 'file', 'folder', 'link']);
      });

      it('lets one of two have the name', async () => {
        const other = path.join(folder, '.y.part');
        await writeFile(other, 'other');
        const ends = await Promise.allSettled([
          nameExclusively(part, target, link),
          nameExclusively(other, target, link),
        ]);
        assert.deepEqual(ends.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      });
    });

  it('without hard links never shows a part under the name: nothing, or all of it', async () => {
    const sizes = new Set<number>();
    const stop = new AbortController();
    const watching = (async () => {
      for await (const { filename } of watch(folder, { signal: stop.signal })) {
        if (filename === path.basename(part)) continue;
        const seen = await readFile(target).catch(() => undefined);
        if (seen !== undefined) sizes.add(seen.byteLength);
      }
    })().catch(() => undefined);
    for (let turn = 0; turn < 20; turn++) {
      await nameExclusively(part, target, noLinks);
      await rm(target);
      await writeFile(part, 'whole'.repeat(1_000_000));
    }
    stop.abort();
    await watching;
    assert.deepEqual(
      [...sizes].filter((size) => size !== 0 && size !== 5_000_000),
      [],
    );
  });

  it('without hard links leaves what somebody wrote into the empty file', async () => {
    const write = (): void => {
      if (!existsSync(target)) setImmediate(write);
      else writeFileSync(target, 'mine');
    };
    write();
    await assert.rejects(nameExclusively(part, target, noLinks), { code: 'file-exists' });
    assert.equal(await readFile(target, 'utf8'), 'mine');
  });

  it('leaves no name where the complete file cannot take it', async () => {
    await rm(part);
    await assert.rejects(nameExclusively(part, target, noLinks), { code: 'ENOENT' });
    assert.deepEqual(await readdir(folder), []);
  });
});
