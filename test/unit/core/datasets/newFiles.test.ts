import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  link as linkFile,
  lutimes,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { NewFiles } from '../../../../src/core/datasets/newFiles.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { useFolderSyncs } from '../../../helpers/folderSyncs.ts';
import { killWhileNaming } from '../../../helpers/killedNaming.ts';
import { textOf } from '../../../helpers/newFilesChild.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { Random } from '../../../helpers/random.ts';

const NAMES = ['train.prepared', 'train.holdout'];
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const HOUR_MS = 60 * 60_000;
const RANDOM = '0123456789abcdef';

describe('NewFiles', function () {
  const folder = useFolder();
  const failSync = useFolderSyncs();
  const at = (name: string) => path.join(folder(), name);
  const all = async () => (await readdir(folder())).toSorted();
  /** The error of a file system without hard links. */
  const noLinks = () => Promise.reject(Object.assign(new Error('no hard links'), { code: 'EPERM' }));
  const begin = (link?: () => Promise<void>) => new NewFiles(at('train.jsonl'), 0o100644, link);

  /** Makes files older than an hour. */
  async function age(names: readonly string[], ms = HOUR_MS + 1_000): Promise<void> {
    const time = (Date.now() - ms) / 1_000;
    for (const name of names) await lutimes(at(name), time, time);
  }

  async function write(files: NewFiles, texts: readonly string[]): Promise<void> {
    for (const text of texts) await (await files.add()).writeFile(text);
  }

  for (const [name, link] of [
    ['with hard links', undefined],
    ['without hard links', noLinks],
  ] as const) {
    it(`${name} names all files at the end, and leaves nothing else`, async () => {
      const files = begin(link);
      await write(files, ['one', 'two']);
      assert.deepEqual(
        (await all()).map((one) => /^\.fine-tuning-[0-9a-f]{8}-\d+-[0-9a-f]{16}\.part$/.test(one)),
        [true, true],
      );
      assert.deepEqual(await files.name(NAMES), [at('train.prepared.jsonl'), at('train.holdout.jsonl')]);
      await files.dispose();
      assert.deepEqual(await all(), ['train.holdout.jsonl', 'train.prepared.jsonl']);
      assert.equal(await readFile(at('train.prepared.jsonl'), 'utf8'), 'one');
      assert.equal(await readFile(at('train.holdout.jsonl'), 'utf8'), 'two');
    });

    it(`${name} takes the first number that is free for every name`, async () => {
      await mkdir(at('train.prepared.jsonl'));
      await writeFile(at('train.holdout-2.jsonl'), 'mine');
      await symlink('nowhere', at('train.prepared-3.jsonl'));
      const before = await all();
      const files = begin(link);
      await write(files, ['one', 'two']);
      await files.name(NAMES);
      const added = ['train.holdout-4.jsonl', 'train.prepared-4.jsonl'];
      assert.deepEqual(await all(), [...before, ...added].toSorted());
      assert.equal(await readFile(at('train.holdout-2.jsonl'), 'utf8'), 'mine');
    });

    it(`${name} takes the next number for all if another program takes one name meanwhile`, async () => {
      let links = 0;
      const racing = async (from: string, to: string) => {
        if (++links === 2) await writeFile(to, 'mine');
        await (link ?? linkFile)(from, to);
      };
      const files = new NewFiles(at('train.jsonl'), 0o644, racing);
      await write(files, ['one', 'two']);
      await files.name(NAMES);
      assert.deepEqual(await all(), [
        'train.holdout-2.jsonl',
        'train.holdout.jsonl',
        'train.prepared-2.jsonl',
      ]);
      assert.equal(await readFile(at('train.holdout.jsonl'), 'utf8'), 'mine');
      assert.equal(await readFile(at('train.prepared-2.jsonl'), 'utf8'), 'one');
    });

    it(`${name} gives two at once different numbers`, async () => {
      const two = [begin(link), begin(link)];
      await Promise.all(two.map((files, index) => write(files, [`prepared ${index}`, `holdout ${index}`])));
      const named = await Promise.all(two.map((files) => files.name(NAMES)));
      for (const [index, paths] of named.entries())
        assert.deepEqual(await Promise.all(paths.map((one) => readFile(one, 'utf8'))), [
          `prepared ${index}`,
          `holdout ${index}`,
        ]);
      assert.equal((await all()).length, 4);
    });
  }

  it('is never named incompletely, whenever its process is killed, and the next use removes what it left', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = new Random(seed);
    let leftovers = 0;
    const child = path.join(import.meta.dirname, '../../../helpers/newFilesChild.ts');
    // Most kills leave a part; without one, the test would prove nothing.
    for (let kill = 0; kill < 8 || leftovers === 0; kill++) {
      const running = spawn(process.execPath, [child, at('train.jsonl')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      running.stdout.once('data', () => setTimeout(() => running.kill('SIGKILL'), random.below(60)));
      await once(running, 'close');
      const names = await all();
      leftovers += names.filter((name) => name.endsWith('.part')).length;
      for (const name of names.filter((one) => one.endsWith('.jsonl')))
        assert.equal(
          await readFile(at(name), 'utf8'),
          textOf(name.includes('prepared') ? 'prepared' : 'holdout'),
          `${name} with the seed ${seed}`,
        );
    }
    await age(await all());
    const files = begin();
    await files.add();
    await files.dispose();
    assert.deepEqual(
      (await all()).filter((name) => !name.endsWith('.jsonl')),
      [],
    );
  });

  it('removes only what ended processes of this machine left', async () => {
    const ended = spawn(process.execPath, ['--version']);
    await once(ended, 'close');
    const pids = { ended: ended.pid, own: process.pid, root: 1 };
    const kept = [
      `.fine-tuning-${HOST}-${pids.own}-${RANDOM}.part`,
      // We may not signal it, unless the tests run as root.
      `.fine-tuning-${HOST}-${pids.root}-${RANDOM}.part`,
      `.fine-tuning-00000000-${pids.ended}-${RANDOM}.part`,
      `.fine-tuning-${HOST}-${pids.ended}-${RANDOM}.part.jsonl`,
      `.${RANDOM}.part`,
    ].toSorted();
    const left = `.fine-tuning-${HOST}-${pids.ended}-${RANDOM}.part`;
    await writeFile(at('elsewhere'), 'mine');
    await symlink(at('elsewhere'), at(left));
    for (const name of kept) await writeFile(at(name), '');
    const use = async () => {
      const files = begin();
      await files.add();
      await files.dispose();
    };
    await age([...kept, left]);
    // Its process may run in a container, where we can't see it.
    await age([left], HOUR_MS - 60_000);
    await use();
    assert.deepEqual(await all(), [...kept, left, 'elsewhere'].toSorted());
    await age([left]);
    await use();
    assert.deepEqual(await all(), [...kept, 'elsewhere'].toSorted());
  });

  it('without hard links takes the name that a killed process claimed, and no other empty file', async () => {
    const ended = spawn(process.execPath, ['--version']);
    await once(ended, 'close');
    const left = `.fine-tuning-${HOST}-${ended.pid}-${RANDOM}.part`;
    const [claimed, older, younger] = [
      'train.prepared.jsonl',
      'train.prepared-2.jsonl',
      'train.prepared-3.jsonl',
    ];
    const copy = async () => {
      const files = begin(noLinks);
      await write(files, ['two']);
      return path.basename((await files.name(['train.prepared']))[0] ?? '');
    };
    const leave = async () => {
      await writeFile(at(left), 'one');
      await age([left], 2 * HOUR_MS);
    };
    for (const name of [claimed, older, younger]) await writeFile(at(name), '');
    await age([claimed, younger]);
    await age([older], 3 * HOUR_MS);
    assert.equal(await copy(), 'train.prepared-4.jsonl');
    // The process may have been killed before it claimed a name: then these files are the user's.
    await leave();
    assert.equal(await copy(), 'train.prepared-5.jsonl');
    await leave();
    await rm(at(claimed));
    await killWhileNaming(at(left), at(claimed));
    assert.equal(await readFile(at(claimed), 'utf8'), '');
    assert.equal(await copy(), claimed);
    assert.equal(await readFile(at(claimed), 'utf8'), 'two');
    for (const name of [older, younger]) assert.equal(await readFile(at(name), 'utf8'), '');
  });

  it('counts a process that may not be signaled as running', async () => {
    const name = `.fine-tuning-${HOST}-4000000-${RANDOM}.part`;
    await writeFile(at(name), '');
    await age([name]);
    const kill = mock.method(process, 'kill', () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    });
    try {
      const files = begin();
      await files.add();
      await files.dispose();
    } finally {
      kill.mock.restore();
    }
    assert.deepEqual(await all(), [name]);
  });

  it('leaves nothing if it is disposed, again, or while a file is being added', async () => {
    const files = begin();
    await write(files, ['one']);
    const adding = files.add();
    await files.dispose();
    await adding;
    assert.deepEqual(await all(), []);
    await files.dispose();
  });

  it('names nothing if a file cannot be synced, and accepts a folder that cannot', async () => {
    for (const [of, isNamed] of [
      ['file', false],
      ['folder', true],
    ] as const) {
      failSync('EIO', of);
      const files = begin();
      await write(files, ['one']);
      const naming = files.name([of]);
      if (isNamed) await naming;
      else await assert.rejects(naming, { code: 'EIO' });
      await files.dispose();
      assert.deepEqual(await all(), isNamed ? ['folder.jsonl'] : []);
    }
  });

  it('names nothing if what was written so far could not be synced, which the system reports once', async () => {
    const files = begin();
    const file = await files.add();
    await file.writeFile('one');
    file.datasync = () => Promise.reject(Object.assign(new Error('input/output error'), { code: 'EIO' }));
    files.beginSync();
    await file.appendFile('two');
    await assert.rejects(files.name(['one']), { code: 'EIO' });
    await files.dispose();
    assert.deepEqual(await all(), []);
  });

  it('names nothing in a folder that refuses the last name', async () => {
    let links = 0;
    const files = new NewFiles(at('train.jsonl'), 0o644, (from, to) =>
      ++links === 1 ? linkFile(from, to) : Promise.reject(new Error('refused')),
    );
    await write(files, ['one', 'two']);
    await assert.rejects(files.name(['train.prepared', `x`.repeat(300)]), { code: 'ENAMETOOLONG' });
    await files.dispose();
    assert.deepEqual(await all(), []);
  });

  itOnPosix('says that it may not write to a folder', async function () {
    const { platform, getuid } = process;
    const isRoot = platform === 'win32' || getuid?.() === 0;
    const source = isRoot ? '/proc/train.jsonl' : at('train.jsonl');
    if (!isRoot) await chmod(folder(), 0o500);
    const files = new NewFiles(source, 0o644);
    await assert.rejects(files.add(), { syscall: 'open' });
    await files.dispose();
    if (!isRoot) await chmod(folder(), 0o700);
  });

  itOnPosix('gives its files the read permissions of the dataset', async () => {
    const files = new NewFiles(at('train.jsonl'), 0o100440);
    await write(files, ['one']);
    const [file = ''] = await files.name(['train.prepared']);
    // The umask may remove further permissions.
    assert.equal((await stat(file)).mode & 0o737, 0o600);
  });
});
