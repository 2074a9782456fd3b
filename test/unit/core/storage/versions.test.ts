import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { OvertakenError, VersionStore, type Head } from '../../../../src/core/storage/versions.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { until } from '../../../helpers/runs/support.ts';
import { useDiskCalls } from '../../../helpers/storage/diskCalls.ts';
import { ENTRY_CODEC, IDS, newEntry, type Entry } from '../../../helpers/storage/entry.ts';

type Options = ConstructorParameters<typeof VersionStore<Entry>>[2];

const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code, syscall: 'any' }));
const noLink = () => failing('EPERM');
const [ID, OTHER] = IDS as [string, string];

describe('VersionStore', () => {
  const folder = useFolder();
  const replaceCall = useDiskCalls();
  const stores: VersionStore<Entry>[] = [];
  afterEach(() => {
    for (const store of stores.splice(0)) store.dispose();
  });

  const at = (...names: string[]) => path.join(folder(), 'records', ...names);
  const fileOf = (n: number, id = ID) => at(`${id}.${n}.json`);
  /** Another window. */
  const open = (options?: Options) => {
    const store = new VersionStore<Entry>(at(), ENTRY_CODEC, options);
    stores.push(store);
    return store;
  };
  /** Writes versions, the last `settled` ones settled. Returns the heads. */
  const write = async (count: number, settled = 0, options?: Options, id = ID): Promise<Head<Entry>[]> => {
    const store = open(options);
    const heads: Head<Entry>[] = [];
    for (let n = 1; n <= count; n++) {
      const below = heads.at(-1);
      const entry = newEntry(id, below?.record, n > count - settled);
      heads.push(await (below === undefined ? store.create(id, entry) : store.append(below, entry)));
    }
    return heads;
  };
  const readAnew = async (id = ID) => open().read(id);
  const listed = async (id = ID, store = open()) => {
    await store.list();
    return store.heads.get(id);
  };
  const isOvertaken = (error: unknown) => error instanceof OvertakenError;
  const sizes = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const file = fileOf(index + 1);
      return readFileSync(existsSync(path.join(file, 'record')) ? path.join(file, 'record') : file).length;
    });

  for (const [variant, options] of [
    ['with hard links', undefined],
    ['without hard links', { link: noLink }],
  ] as const)
    describe(variant, () => {
      it('appends versions, which every window reads alike', async () => {
        const heads = await write(3, 0, options);
        assert.deepEqual(
          heads.map(({ n, state }) => [n, state]),
          [
            [1, 'sound'],
            [2, 'sound'],
            [3, 'sound'],
          ],
        );
        assert.deepEqual(
          readdirSync(at()).sort(),
          [1, 2, 3].map((n) => path.basename(fileOf(n))),
        );
        assert.deepEqual(await readAnew(), heads[2]);
        assert.deepEqual(await listed(), heads[2]);
        assert.equal(await readAnew(OTHER), undefined);
      });

      it('lets one of many windows append to a version, whose content stays', async () => {
        const [head] = await write(1, 0, options);
        const entries = Array.from({ length: 8 }, () => newEntry(ID, head!.record));
        const ends = await Promise.allSettled(entries.map((entry) => open(options).append(head!, entry)));
        const won = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
        assert.equal(won.length, 1);
        assert.ok(ends.every((end) => end.status === 'fulfilled' || isOvertaken(end.reason)));
        assert.deepEqual(await readAnew(), won[0]);
        assert.equal(readdirSync(at()).length, 2);
        await assert.rejects(open(options).create(ID, newEntry(ID)), isOvertaken);
      });

      it('replaces nothing that has the next name', async () => {
        const [head] = await write(1, 0, options);
        for (const put of [
          () => writeFileSync(fileOf(2), 'mine'),
          () => writeFileSync(fileOf(2), ''),
          () => mkdirSync(path.join(fileOf(2), 'mine'), { recursive: true }),
          ...(process.platform === 'win32' ? [] : [() => symlinkSync('nowhere', fileOf(2))]),
        ]) {
          put();
          assert.equal(await open().isHighest(head!), false);
          await assert.rejects(open(options).append(head!, newEntry(ID, head!.record)), isOvertaken);
          assert.equal((await listed())?.state, 'damaged');
          rmSync(fileOf(2), { recursive: true });
        }
        assert.equal(await open().isHighest(head!), true);
      });

      it('writes what must not be lost on top of whatever is highest', async () => {
        let left = 2;
        const faster = open(options);
        const store = open({
          ...options,
          at: async (point) => {
            if (point !== 'temporary' || left-- <= 0) return;
            const head = await faster.read(ID);
            await faster.append(head!, newEntry(ID, head?.record));
          },
        });
        await write(1, 0, options);
        const seen: (number | undefined)[] = [];
        const head = await store.appendAnyway(ID, (found) => {
          seen.push(found?.n);
          return newEntry(ID, found?.record, true);
        });
        assert.deepEqual(seen, [1, 2, 3]);
        assert.deepEqual([head?.n, head?.record?.isSettled], [4, true]);
        assert.deepEqual(await readAnew(), head);
        assert.equal(await store.appendAnyway(ID, () => undefined), head);
        assert.equal((await store.appendAnyway(OTHER, () => newEntry(OTHER)))?.n, 1);
      });

      it('empties what is below a settled version, whose names stay', async () => {
        const heads = await write(4, 1, options);
        await open().empty(heads[2]!);
        assert.ok(sizes(4).every((size) => size > 0));
        await open().empty(heads[3]!);
        assert.deepEqual(
          sizes(4).map((size) => size > 0),
          [false, false, false, true],
        );
        assert.deepEqual(await listed(), heads[3]);
        await assert.rejects(open(options).append(heads[1]!, newEntry(ID)), isOvertaken);
      });

      it('keeps a settled version right below the settled one, which says how it ended', async () => {
        const heads = await write(5, 3, options);
        await open().empty(heads[4]!);
        assert.deepEqual(
          sizes(5).map((size) => size > 0),
          [false, false, false, true, true],
        );
        writeFileSync(path.join(fileOf(5), options === undefined ? '' : 'record'), 'torn');
        assert.deepEqual(await listed(), { ...heads[3], n: 5, state: 'damaged' });
        await open().empty((await readAnew())!);
        assert.ok(sizes(5)[3]! > 0);
      });
    });

  it('empties version 1 last, and goes on where it was interrupted', async () => {
    const heads = await write(4, 1);
    let emptied = 0;
    const at = () => (++emptied === 2 ? failing('killed') : Promise.resolve());
    await open({ at }).empty(heads[3]!);
    assert.deepEqual(
      sizes(4).map((size) => size > 0),
      [true, false, false, true],
    );
    await open().empty(heads[3]!);
    assert.equal(sizes(1)[0], 0);
  });

  it('empties nothing below a damaged version', async () => {
    const heads = await write(3, 1);
    for (const n of [4, 5]) writeFileSync(fileOf(n), 'torn');
    const head = (await readAnew())!;
    assert.deepEqual(head, { ...heads[2], n: 5, state: 'damaged' });
    await open().empty(head);
    assert.ok(sizes(5).every((size) => size > 0));
  });

  itOnPosix('empties no file that a link leads to', async () => {
    const heads = await write(3, 1);
    writeFileSync(at('mine'), 'mine');
    rmSync(fileOf(1));
    symlinkSync('mine', fileOf(1));
    await open().empty(heads[2]!);
    assert.deepEqual(sizes(2), [4, 0]);
  });

  it('reads nothing of a folder that doesn’t exist', async () => {
    assert.deepEqual(await open().list(), { changed: [], failed: new Map() });
    assert.equal(await readAnew(), undefined);
    await open().removeTemporaries();
  });

  itOnPosix('writes what only its owner can read', async () => {
    await write(1);
    for (const file of [at(), fileOf(1)])
      assert.match(execFileSync('ls', ['-ld', file], { encoding: 'utf8' }), /^.rw.------/);
  });

  it('lists what is new, and reads only the highest version of that, eight at once', async () => {
    const ids = Array.from({ length: 20 }, () => randomUUID());
    for (const id of ids) await write(3, 0, undefined, id);
    for (const name of ['a.1.json', `${ID}.0.json`, `${ID}.01.json`, `${ID}.json`, `${ID}.1.json.bak`])
      writeFileSync(at(name), 'foreign');
    writeFileSync(at(`${ID}.1.json.${randomUUID()}.tmp`), 'part of a ver');
    mkdirSync(at('leases'));
    // File systems list in any order.
    replaceCall(
      'readdir',
      (own) =>
        async (...args: never[]) =>
          ((await own(...args)) as string[]).sort().reverse(),
    );
    const reads: string[] = [];
    let [running, most] = [0, 0];
    const eight = Promise.withResolvers<undefined>();
    replaceCall('readFile', (own) => async (file: string) => {
      reads.push(path.basename(file));
      most = Math.max(most, ++running);
      if (running === 8) eight.resolve(undefined);
      await eight.promise;
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return own(file);
    });
    const store = open();
    const { changed, failed } = await store.list();
    assert.deepEqual([changed.toSorted(), failed.size], [ids.toSorted(), 0]);
    assert.deepEqual([...store.heads.keys()].sort(), ids.toSorted());
    assert.deepEqual(reads.sort(), ids.map((id) => `${id}.3.json`).sort());
    assert.equal(most, 8);
    const head = store.heads.get(ids[0]!)!;
    await open().append(head, newEntry(ids[0]!, head.record));
    await store.append(store.heads.get(ids[1]!)!, newEntry(ids[1]!));
    reads.length = 0;
    assert.deepEqual((await store.list()).changed, [ids[0]]);
    assert.deepEqual(reads, [`${ids[0]}.4.json`]);
    assert.equal(await store.read(ids[1]!), store.heads.get(ids[1]!), 'the same object for the same content');
    assert.deepEqual((await store.list()).changed, []);
  });

  describe('of a highest version that is no record', () => {
    const posix: Record<string, () => void> = {
      'a named pipe': () => void execFileSync('mkfifo', [fileOf(3)]),
      'a link': () => symlinkSync(fileOf(2), fileOf(3)),
    };
    const kinds: Record<string, () => void> = {
      'cut off': () => writeFileSync(fileOf(3), readFileSync(fileOf(2), 'utf8').slice(0, 40)),
      empty: () => writeFileSync(fileOf(3), ''),
      'of another ID': () => copyFileSync(fileOf(1, OTHER), fileOf(3)),
      'not UTF-8': () => {
        const bytes = readFileSync(fileOf(2));
        bytes[bytes.indexOf('xxx')] = 0xff;
        writeFileSync(fileOf(3), bytes);
      },
      'too large': () => writeFileSync(fileOf(3), readFileSync(fileOf(2), 'utf8') + ' '.repeat(1024 * 1024)),
      'a folder without a record': () => mkdirSync(fileOf(3)),
      'a folder in a folder': () => mkdirSync(path.join(fileOf(3), 'record'), { recursive: true }),
      ...(process.platform === 'win32' ? {} : posix),
    };
    for (const [kind, damage] of Object.entries(kinds))
      it(`says what follows from the one below: ${kind}`, async () => {
        await write(1, 0, undefined, OTHER);
        const heads = await write(2);
        damage();
        const head = (await listed())!;
        const { record } = heads[1]!;
        assert.deepEqual(head, { id: ID, n: 3, state: 'damaged', record: { ...record, isDoubtful: true } });
        assert.deepEqual(await readAnew(), head);
        const next = await open().append(head, newEntry(ID, head.record));
        assert.equal(next.n, 4);
        assert.deepEqual(await readAnew(), next);
      });

    it('goes down to the next record', async () => {
      const [head] = await write(4);
      for (const n of [2, 3, 4]) writeFileSync(fileOf(n), n === 3 ? '' : 'torn');
      assert.deepEqual(await readAnew(), {
        ...{ id: ID, n: 4, state: 'damaged' },
        record: { ...head!.record, isDoubtful: true },
      });
    });

    it('tells records that were settled from those of which nothing is known', async () => {
      const state = async (...texts: string[]) => {
        rmSync(at(), { recursive: true, force: true });
        mkdirSync(at());
        texts.forEach((text, index) => writeFileSync(fileOf(index + 1), text));
        const head = (await readAnew())!;
        assert.deepEqual(await listed(), head);
        assert.deepEqual([head.n, head.record], [texts.length, undefined]);
        return head.state;
      };
      assert.equal(await state('torn'), 'unreadable');
      // Clean-up empties version 1 only below another one.
      assert.equal(await state(''), 'unreadable');
      assert.equal(await state('torn', '', 'torn'), 'unreadable');
      assert.equal(await state('torn', ''), 'unreadable');
      assert.equal(await state('', 'torn'), 'emptied');
      // Nor ever the highest one.
      assert.equal(await state('', 'torn', ''), 'unreadable');
    });

    it('says so only if no higher one came meanwhile', async () => {
      const heads = await write(2);
      replaceCall('readFile', (own) => async (file: string, ...rest: never[]) => {
        if (file === fileOf(2) && !existsSync(fileOf(3))) {
          const settled = await open().append(heads[1]!, newEntry(ID, heads[1]!.record, true));
          await open().empty(settled);
        }
        return own(file, ...rest);
      });
      const head = await readAnew();
      assert.deepEqual([head?.n, head?.state], [3, 'sound']);
    });

    it('reads it again when somebody acts, as it may have been repaired', async () => {
      const heads = await write(2);
      renameSync(fileOf(2), at('aside'));
      writeFileSync(fileOf(2), 'torn');
      const store = open();
      assert.equal((await store.read(ID))?.state, 'damaged');
      renameSync(at('aside'), fileOf(2));
      assert.deepEqual(await store.read(ID), heads[1]);
      assert.deepEqual(store.heads.get(ID), heads[1]);
    });
  });

  it('returns a record of a later format as the codec reads it', async () => {
    const [head] = await write(1);
    const later = { ...newEntry(ID, head!.record), format: 2 };
    writeFileSync(fileOf(2), JSON.stringify(later));
    assert.deepEqual(await readAnew(), { id: ID, n: 2, state: 'sound', record: later });
  });

  describe('when the file system fails', () => {
    for (const code of ['EACCES', 'EIO', 'EBUSY', 'EMFILE'])
      for (const call of ['lstat', 'readFile'] as const)
        it(`keeps what is known: ${code} of ${call}`, async () => {
          const [head] = await write(1);
          const store = open();
          await store.list();
          await open().append(head!, newEntry(ID, head!.record));
          await write(1, 0, undefined, OTHER);
          const third = randomUUID();
          await write(1, 0, undefined, third);
          let isFailing = true;
          replaceCall(
            call,
            (own) =>
              async (file: string, ...rest: never[]) =>
                isFailing && [fileOf(2), fileOf(1, third)].includes(file)
                  ? failing(code)
                  : own(file, ...rest),
          );
          const { changed, failed } = await store.list();
          assert.deepEqual([changed, [...failed.keys()].sort()], [[OTHER], [ID, third].sort()]);
          assert.equal((failed.get(ID) as NodeJS.ErrnoException).code, code);
          assert.deepEqual([store.heads.get(ID), store.heads.get(third)], [head, undefined]);
          await assert.rejects(store.read(ID), { code });
          if (call === 'lstat') await assert.rejects(store.isHighest(head!), { code });
          isFailing = false;
          assert.deepEqual((await store.list()).changed.toSorted(), [ID, third].sort());
          assert.equal(store.heads.get(ID)?.n, 2);
        });

    it('is silent about what is below a damaged version that can’t be read either', async () => {
      await write(2);
      writeFileSync(fileOf(2), 'torn');
      replaceCall(
        'readFile',
        (own) => async (file: string) => (file === fileOf(1) ? failing('EIO') : own(file)),
      );
      await assert.rejects(readAnew(), { code: 'EIO' });
    });

    itOnPosix('rejects where the folder is none', async () => {
      const [head] = await write(1);
      const store = open();
      await store.list();
      rmSync(at(), { recursive: true });
      writeFileSync(at(), '');
      for (const code of ['ENOTDIR', 'ELOOP']) {
        await assert.rejects(store.list(), { code });
        await assert.rejects(store.read(ID), { code });
        await assert.rejects(store.isHighest(head!), { code });
        await assert.rejects(store.append(head!, newEntry(ID)), { code });
        assert.deepEqual(store.heads.get(ID), head);
        rmSync(at());
        symlinkSync('records', at());
      }
    });
  });

  describe('of storage that was changed by hand', () => {
    it('forgets records that are gone', async () => {
      await write(2);
      await write(1, 0, undefined, OTHER);
      const store = open();
      await store.list();
      for (const n of [1, 2]) rmSync(fileOf(n));
      assert.deepEqual((await store.list()).changed, [ID]);
      assert.deepEqual([...store.heads.keys()], [OTHER]);
      assert.equal(await store.read(ID), undefined);
    });

    it('goes back with storage that was set back', async () => {
      const heads = await write(3);
      const store = open();
      await store.list();
      for (const n of [2, 3]) rmSync(fileOf(n));
      assert.deepEqual((await store.list()).changed, [ID]);
      assert.deepEqual(store.heads.get(ID), heads[0]);
    });

    it('appends nothing to a version that is gone, which would leave a gap', async () => {
      const heads = await write(3);
      const store = open();
      await store.list();
      for (const n of [2, 3]) rmSync(fileOf(n));
      await assert.rejects(store.append(heads[2]!, newEntry(ID)), isOvertaken);
      assert.deepEqual(await store.read(ID), heads[0]);
      assert.equal((await store.appendAnyway(ID, (head) => newEntry(ID, head?.record)))?.n, 2);
    });

    it('keeps a head that a late listing doesn’t show', async () => {
      const heads = await write(2);
      const store = open();
      await store.list();
      replaceCall(
        'readdir',
        (own) =>
          async (...args: never[]) =>
            ((await own(...args)) as string[]).filter((name) => name !== path.basename(fileOf(2))),
      );
      assert.deepEqual((await store.list()).changed, []);
      assert.deepEqual(store.heads.get(ID), heads[1]);
    });
  });

  it('writes nothing that could not be read back', async () => {
    const [head] = await write(1);
    for (const entry of [newEntry(OTHER), { ...newEntry(ID), below: 'x'.repeat(1024 * 1024) }])
      await assert.rejects(open().append(head!, entry), RangeError);
    assert.deepEqual(readdirSync(at()), [path.basename(fileOf(1))]);
  });

  it('has one object for a version that it wrote and listed', async () => {
    let listed: Head<Entry> | undefined;
    const store = open({
      at: async (point) => {
        if (point !== 'linked') return;
        await store.list();
        listed = store.heads.get(ID);
      },
    });
    const head = await store.create(ID, newEntry(ID));
    assert.equal(listed, head);
    assert.equal(store.heads.get(ID), head);
    assert.equal(await store.read(ID), head);
  });

  it('keeps the highest head, whichever is read last', async () => {
    const [head] = await write(1);
    const store = open();
    let next: Head<Entry> | undefined;
    replaceCall('readFile', (own) => async (file: string) => {
      const text = await own(file);
      next ??= await store.append(head!, newEntry(ID, head!.record));
      return text;
    });
    await store.list();
    assert.equal(store.heads.get(ID), next);
    assert.equal(next?.n, 2);
  });

  it('tells of versions of other windows, but not of temporaries, until it is disposed', async () => {
    const [head] = await write(1);
    const store = open();
    let calls = 0;
    store.watch(() => {
      calls++;
      return Promise.resolve();
    });
    writeFileSync(at(`${ID}.2.json.${randomUUID()}.tmp`), '');
    await new Promise((resolve) => setTimeout(resolve, 80));
    assert.equal(calls, 0);
    const next = await open().append(head!, newEntry(ID, head!.record));
    await until(() => calls === 1);
    store.dispose();
    await open().append(next, newEntry(ID, next.record));
    await new Promise((resolve) => setTimeout(resolve, 80));
    assert.equal(calls, 1);
  });

  it('watches a folder that is created later', async () => {
    const store = open();
    let calls = 0;
    store.watch(() => {
      calls++;
      return Promise.resolve();
    });
    const head = await store.create(ID, newEntry(ID));
    await open().append(head, newEntry(ID, head.record));
    await until(() => calls > 0);
  });

  it('removes temporaries that are older than a day, and nothing else', async () => {
    await write(2);
    const [old, oldFolder, fresh] = [1, 2, 3].map((n) => at(`${ID}.${n}.json.${randomUUID()}.tmp`)) as [
      string,
      string,
      string,
    ];
    mkdirSync(oldFolder);
    for (const file of [old, path.join(oldFolder, 'record'), fresh, at('mine.tmp'), at('mine.json')])
      writeFileSync(file, '');
    const hours = (count: number) => new Date(Date.now() - count * 60 * 60_000);
    for (const name of readdirSync(at())) utimesSync(at(name), hours(25), hours(25));
    utimesSync(fresh, hours(23), hours(23));
    // Its window may stand still right before it gives a folder its name: one without a record must not get it.
    replaceCall('rm', (own) => async (file: string, ...rest: never[]) => {
      assert.ok(![old, oldFolder].some((one) => existsSync(one)) || ![old, oldFolder].includes(file));
      return own(file, ...rest);
    });
    await open().removeTemporaries();
    assert.deepEqual(
      readdirSync(at()).sort(),
      [fileOf(1), fileOf(2), fresh, 'mine.tmp', 'mine.json'].map((file) => path.basename(file)).sort(),
    );
    replaceCall('readdir', () => () => failing('EIO'));
    await open().removeTemporaries();
  });
});
