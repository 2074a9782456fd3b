import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keyOf, OvertakenError, VersionStore, type Head } from '../../../../src/core/storage/versions.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { useFolderSyncs } from '../../../helpers/folderSyncs.ts';
import { itOnPosix } from '../../../helpers/platform.ts';
import { until } from '../../../helpers/runs/support.ts';
import { useDiskCalls } from '../../../helpers/storage/diskCalls.ts';
import { BYTES, ENTRY_CODEC, newEntry, OTHER_BYTES, type Entry } from '../../../helpers/storage/entry.ts';

type Store = VersionStore<Entry>;
type Options = ConstructorParameters<typeof VersionStore<Entry>>[2];

const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code, syscall: 'any' }));
const FIRST = { bytes: BYTES, k: 1 };

describe('VersionStore', () => {
  const folder = useFolder();
  const replaceCall = useDiskCalls();
  const failSyncs = useFolderSyncs();
  const stores: Store[] = [];
  afterEach(() => stores.splice(0).forEach((store) => store.dispose()));

  const at = (...names: string[]) => path.join(folder(), 'records', ...names);
  const fileOf = (n: number, k = 1) => at(`${BYTES}.${k}.${n}.json`);
  const nameOf = (n: number, k = 1) => path.basename(fileOf(n, k));
  const names = () => readdirSync(at()).sort();
  const remove = (...numbers: [n: number, k?: number][]) => numbers.forEach((one) => rmSync(fileOf(...one)));
  const inFolder = (n: number) => path.join(fileOf(n), 'record');
  const isEmpty = (n: number) => readFileSync(existsSync(inFolder(n)) ? inFolder(n) : fileOf(n)).length === 0;
  /** Which of four versions have content. */
  const filled = () => [1, 2, 3, 4].filter((n) => !isEmpty(n)).join('');
  /** Another window. */
  const open = (options?: Options): Store => {
    const store = new VersionStore<Entry>(at(), ENTRY_CODEC, options);
    stores.push(store);
    return store;
  };
  const openListed = async (store = open()) => store.list().then(() => store);
  const listed = async (store?: Store) => (await openListed(store)).heads.get(keyOf(FIRST));
  const claim = (told: readonly Head<Entry>[], store = open()) => store.claim(BYTES, told, newEntry());
  const append = (head: Head<Entry>, store = open()) => store.append(head, newEntry(head.record));
  const keys = async () => (await open().headsOf(BYTES)).map(keyOf);
  /** Claims the next record and appends to it, the last version over if that is said. Returns the heads. */
  const write = async (count: number, isOver = false, options?: Options, bytes = BYTES) => {
    const store = open(options);
    const heads = [await store.claim(bytes, await store.headsOf(bytes), newEntry())];
    for (let n = 2; n <= count; n++) {
      const entry = newEntry(heads.at(-1)!.record, { isOver: isOver && n === count });
      heads.push(await store.append(heads.at(-1)!, entry));
    }
    return heads;
  };
  const allReject = async (code: string, ...steps: Promise<unknown>[]) => {
    for (const end of await Promise.allSettled(steps))
      assert.equal(end.status === 'rejected' && (end.reason as OvertakenError).code, code);
  };
  const relist = (change: (names: string[]) => string[]) =>
    replaceCall('readdir', (own) => async (name: string) => change((await own(name)) as string[]));

  for (const [variant, options] of [
    ['with hard links', undefined],
    ['without hard links', { link: () => failing('EPERM') }],
  ] as const)
    describe(variant, () => {
      it('writes versions, which every window reads alike', async () => {
        const heads = await write(3, false, options);
        const [second] = await write(1, false, options);
        assert.deepEqual(names(), [nameOf(1), nameOf(2), nameOf(3), nameOf(1, 2)]);
        const { record } = heads[2]!;
        assert.deepEqual(await open().read(FIRST), { ...FIRST, n: 3, record, isOver: false });
        assert.deepEqual([await listed(), await open().headsOf(BYTES)], [heads[2], [heads[2], second]]);
        assert.equal(await open().read({ ...FIRST, k: 3 }), undefined);
        assert.deepEqual(await open().headsOf(OTHER_BYTES), []);
      });

      const appendToFirst = ([head]: Head<Entry>[], store: Store) => append(head!, store);
      for (const [step, first] of [
        ['claim after the same list', claim],
        ['append to the same version', appendToFirst],
      ] as const)
        it(`lets one of many windows ${step}, and keeps what it wrote`, async () => {
          const told = await write(1, false, options);
          const ends = await Promise.allSettled(Array.from({ length: 8 }, () => first(told, open(options))));
          const won = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
          assert.ok(ends.every((end) => end.status === 'fulfilled' || end.reason instanceof OvertakenError));
          assert.deepEqual([(await open().headsOf(BYTES)).at(-1)], won);
          assert.equal(names().length, 2);
        });

      it('replaces nothing that has the next name', async () => {
        const [head] = await write(1, false, options);
        for (const put of [
          () => writeFileSync(fileOf(2), 'mine'),
          () => writeFileSync(fileOf(2), ''),
          () => mkdirSync(path.join(fileOf(2), 'mine'), { recursive: true }),
          ...(process.platform === 'win32' ? [] : [() => symlinkSync('nowhere', fileOf(2))]),
        ]) {
          put();
          const store = open(options);
          await allReject('overtaken', store.assertHighest(head!), append(head!, store));
          assert.deepEqual(await listed(), { ...FIRST, n: 2, record: undefined, isOver: false });
          rmSync(fileOf(2), { recursive: true });
        }
        await open().assertHighest(head!);
      });

      it('appendAnyway writes on top of whatever is highest', async () => {
        await write(1, false, options);
        let left = 2;
        const overtaking = async (point: string) => {
          if (point === 'temporary' && left-- > 0) await append((await open().read(FIRST))!, open(options));
        };
        const seen: (number | undefined)[] = [];
        await open({ ...options, at: overtaking }).appendAnyway(FIRST, (head) => {
          seen.push(head?.n);
          return newEntry(head?.record, { isOver: true });
        });
        await open().appendAnyway(FIRST, () => undefined);
        assert.deepEqual([seen, filled(), names().length], [[1, 2, 3], '4', 4]);
      });

      it('empties the versions below one that is over, and keeps their names', async () => {
        const heads = await write(4, true, options);
        await open().emptyBelow(heads[2]!);
        assert.equal(filled(), '1234');
        // The next clean-up goes on where one was interrupted.
        await open({ at: () => failing('killed') }).emptyBelow(heads[3]!);
        assert.equal(filled(), '124');
        await open().emptyBelow(heads[3]!);
        assert.equal(filled(), '4');
        assert.deepEqual(await listed(), heads[3]);
        const store = open(options);
        await allReject('overtaken', append(heads[0]!, store), append(heads[2]!, store), claim([], store));
      });
    });

  describe('reads the highest version:', () => {
    const rewrite = (change: (text: string) => string) => () =>
      writeFileSync(fileOf(2), change(readFileSync(fileOf(2), 'utf8')), 'latin1');
    const later = (isOver: boolean) => rewrite(() => JSON.stringify({ ...newEntry(), format: 2, isOver }));
    const instead = (put: () => unknown) => () => (rmSync(fileOf(2)), put());
    const isWindows = process.platform === 'win32';
    const NO_RECORD = [false, false] as const;
    for (const [kind, put, [hasRecord, isOver]] of [
      ['a record', () => undefined, [true, false]],
      ['one that is over', rewrite((text) => text.replace('r":false', 'r":true')), [true, true]],
      ['a later format', later(false), NO_RECORD],
      ['a later format that is over', later(true), [false, true]],
      ['what was cut off', rewrite((text) => text.slice(0, 40)), NO_RECORD],
      ['what was emptied', rewrite(() => ''), NO_RECORD],
      ['no UTF-8', rewrite((text) => text.replace('xxx', 'x\xffx')), NO_RECORD],
      ['too much', rewrite((text) => `${text}${' '.repeat(1024 * 1024)}`), NO_RECORD],
      ['no record', rewrite(() => '{}'), NO_RECORD],
      ['a folder without a record', instead(() => mkdirSync(fileOf(2))), NO_RECORD],
      ['a folder in a folder', instead(() => mkdirSync(inFolder(2), { recursive: true })), NO_RECORD],
      ['a named pipe', instead(() => isWindows || execFileSync('mkfifo', [fileOf(2)])), NO_RECORD],
      ['a link', instead(() => isWindows || symlinkSync(fileOf(1), fileOf(2))), NO_RECORD],
    ] as const)
      it(kind, async () => {
        await write(2);
        put();
        if (!names().includes(nameOf(2))) return;
        const head = (await open().read(FIRST))!;
        assert.deepEqual([head.n, head.record !== undefined, head.isOver], [2, hasRecord, isOver]);
        assert.deepEqual([await listed(), await open().headsOf(BYTES)], [head, [head]]);
        await open().emptyBelow(head);
        assert.deepEqual([names().length, isEmpty(1)], [2, isOver]);
        // Only a charge is written on what can't be read.
        if (!hasRecord) await allReject('overtaken', append(head), open().assertHighest(head));
        assert.equal((await claim([head])).k, 2);
        await open().appendAnyway(FIRST, (seen) => (assert.deepEqual(seen, head), newEntry(head.record)));
        assert.equal((await open().read(FIRST))?.n, 3);
      });

    it('one that was written meanwhile, if the one below was emptied', async () => {
      const [head] = await write(1);
      let reads = 0;
      replaceCall('readFile', (own) => async (file: string) => {
        if (reads++ === 0) await open().appendAnyway(FIRST, () => newEntry(head!.record, { isOver: true }));
        return own(file);
      });
      const { n, isOver } = (await open().read(FIRST))!;
      assert.deepEqual([n, isOver, isEmpty(1)], [2, true, true]);
    });

    it('one that was restored, each time it is listed or read', async () => {
      const heads = await write(2);
      const text = readFileSync(fileOf(2));
      for (const look of [listed, (store: Store) => store.read(FIRST)]) {
        truncateSync(fileOf(2), 40);
        const store = open();
        assert.equal((await look(store))?.record, undefined);
        writeFileSync(fileOf(2), text);
        assert.deepEqual(await look(store), heads[1]);
      }
    });
  });

  describe('claims the number above the highest that the user was told of,', () => {
    it('and not above a record that came after that', async () => {
      const told = await write(1);
      await write(1);
      await allReject('overtaken', claim(told));
      assert.deepEqual(names(), [nameOf(1), nameOf(1, 2)]);
      assert.equal((await claim(await open().headsOf(BYTES))).k, 3);
    });

    it('even if a listing is late', async () => {
      for (let k = 1; k <= 3; k++) await write(2);
      const store = await openListed();
      for (const late of [[nameOf(1)], []]) {
        relist(() => late);
        assert.deepEqual([(await keys()).length, (await listed(store))?.n], [3, 2]);
      }
    });

    it('even if some were deleted by hand', async () => {
      for (let k = 1; k <= 3; k++) await write(2);
      remove([1, 2], [2, 2], [1, 3]);
      // It was listed before that.
      relist((listed) => [...listed, nameOf(3)]);
      assert.equal((await openListed()).heads.size, 1);
      const told = await open().headsOf(BYTES);
      assert.deepEqual(told.map(keyOf), [`${BYTES}.1`, `${BYTES}.3`]);
      assert.deepEqual([told[1]!.n, (await claim(told)).k], [2, 4]);
    });
  });

  describe('after storage was set back', () => {
    it('keeps apart two records that were given the same names', async () => {
      const [, old] = await write(2);
      const [store, other] = [await openListed(), await openListed()];
      remove([1], [2]);
      const [, again] = await write(2, true);
      await allReject('overtaken', append(old!, store), other.assertHighest(old!));
      assert.equal(store.heads.size, 0);
      await store.appendAnyway(FIRST, (head) => (assert.deepEqual(head, again), undefined));
      assert.deepEqual([await listed(store), names().length], [again, 2]);
      await store.assertHighest(again!);
    });

    it('goes back, and leaves no gap', async () => {
      const heads = await write(3);
      await write(1, false, undefined, OTHER_BYTES);
      const store = await openListed();
      remove([2], [3]);
      assert.deepEqual(await store.read(FIRST), heads[0]);
      await allReject('overtaken', append(heads[2]!, store), store.assertHighest(heads[2]!));
      await store.appendAnyway(FIRST, (head) => newEntry(head?.record));
      assert.equal((await store.read(FIRST))?.n, 2);
      const other = await openListed();
      remove([2]);
      assert.equal((await listed(store))?.n, 1);
      remove([1]);
      assert.deepEqual([await listed(store), store.heads.size], [undefined, 1]);
      assert.deepEqual([await other.read(FIRST), other.heads.size], [undefined, 1]);
    });
  });

  describe('when the file system fails', () => {
    for (const [code, call] of [
      ['EACCES', 'lstat'],
      ['EIO', 'readFile'],
    ] as const)
      it(`keeps what is known: ${code} of ${call}`, async () => {
        const [head] = await write(1);
        const store = await openListed();
        await append(head!);
        await write(1);
        await write(1, false, undefined, OTHER_BYTES);
        const bad = [fileOf(2), fileOf(1, 2)];
        replaceCall(call, (own) => (file: string) => (bad.includes(file) ? failing(code) : own(file)));
        assert.deepEqual((await store.list()).toSorted(), [`${BYTES}.1`, `${BYTES}.2`]);
        assert.deepEqual([...store.heads.keys()].sort(), [`${BYTES}.1`, `${OTHER_BYTES}.1`]);
        assert.deepEqual(store.heads.get(keyOf(FIRST)), head);
        const charge = store.appendAnyway(FIRST, () => assert.fail('nothing was read'));
        await allReject(code, store.read(FIRST), store.headsOf(BYTES), charge);
        if (call === 'lstat') await allReject(code, store.assertHighest(head!));
        bad.length = 0;
        assert.deepEqual([await store.list(), (await listed(store))?.n], [[], 2]);
      });

    itOnPosix('rejects where the folder is none', async () => {
      const [head] = await write(1);
      const store = await openListed();
      rmSync(at(), { recursive: true });
      writeFileSync(at(), '');
      await allReject('ENOTDIR', store.list(), store.headsOf(BYTES), store.read(FIRST), append(head!));
      assert.deepEqual(store.heads.get(keyOf(FIRST)), head);
    });

    itOnPosix('may have written the version', async () => {
      const store = open();
      failSyncs('EIO');
      await allReject('EIO', claim([], store));
      await allReject('overtaken', claim([], store));
      await allReject('EIO', append((await store.read(FIRST))!, store));
      assert.deepEqual([(await store.read(FIRST))?.n, names()], [2, [nameOf(1), nameOf(2)]]);
    });
  });

  it('reads nothing of a folder that doesn’t exist, and writes for its owner only', async () => {
    assert.deepEqual([await open().list(), await open().read(FIRST), await keys()], [[], undefined, []]);
    await open().removeTemporaries();
    await write(1);
    if (process.platform === 'win32') return;
    for (const file of [at(), fileOf(1)])
      assert.match(execFileSync('ls', ['-ld', file], { encoding: 'utf8' }), /^.rw.------/);
  });

  it('lists new versions, and reads only the highest ones, eight at once', async () => {
    for (let k = 1; k <= 20; k++) await write(3);
    for (const name of ['1.json', '0.1.json', '1.04.json', '1.4.json.bak', `1.4.json.${randomUUID()}.tmp`])
      writeFileSync(at(`${BYTES}.${name}`), 'foreign');
    mkdirSync(at('leases'));
    const reads: string[] = [];
    let [running, most] = [0, 0];
    replaceCall('readFile', (own) => async (file: string) => {
      reads.push(path.basename(file));
      most = Math.max(most, ++running);
      await delay(5);
      running--;
      return own(file);
    });
    relist((listed) => listed.sort().reverse());
    const store = open();
    assert.deepEqual([await store.list(), most, store.heads.size], [[], 8, 20]);
    assert.deepEqual(reads.sort(), Array.from({ length: 20 }, (_, index) => nameOf(3, index + 1)).sort());
    const [first, second] = [...store.heads.values()] as [Head<Entry>, Head<Entry>];
    await append(first);
    await append(second, store);
    reads.length = 0;
    await store.list();
    assert.deepEqual(reads, [nameOf(4, first.k)]);
    // The same object for the same content, so that callers see no change.
    const known = store.heads.get(keyOf(second));
    assert.equal(await store.read(second), known);
  });

  it('doesn’t write a record that could not be read back', async () => {
    const [head] = await write(1);
    const tooLong = { below: 'x'.repeat(1024 * 1024) };
    for (const change of [{ nonce: 1 as never }, { format: 2, isOver: true }, tooLong])
      await assert.rejects(open().append(head!, newEntry(head!.record, change)), RangeError);
    assert.equal(names().length, 1);
  });

  it('keeps the highest head, whichever is read last', async () => {
    const [head] = await write(1);
    const store = open();
    let next: Head<Entry> | undefined;
    let reads = 0;
    replaceCall('readFile', (own) => async (file: string) => {
      const text = await own(file);
      if (reads++ === 0) next = await append(head!, store);
      return text;
    });
    assert.deepEqual([await listed(store), next?.n], [next, 2]);
  });

  it('reports versions of other windows, but not temporary files', async () => {
    const store = open();
    let calls = 0;
    store.watch(() => Promise.resolve(void calls++));
    const first = await claim([], store);
    await until(() => calls === 1);
    writeFileSync(`${fileOf(2)}.${randomUUID()}.tmp`, '');
    await delay(80);
    assert.equal(calls, 1);
    await append(first);
    await until(() => calls === 2);
  });

  it('removes temporaries that are older than a day, and nothing else', async () => {
    await write(2);
    const [old, oldFolder, fresh] = [1, 2, 3].map((n) => `${nameOf(n)}.${randomUUID()}.tmp`);
    mkdirSync(at(oldFolder!));
    for (const name of [old!, `${oldFolder}/record`, fresh!, 'mine.tmp']) writeFileSync(at(name), '');
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 60 * 60_000);
    for (const name of names()) utimesSync(at(name), 0, hoursAgo(name === fresh ? 23 : 25));
    // Its window may stand still right before it gives a folder its name: one without a record must not get it.
    replaceCall('rm', (own) => (file: string, ...rest: never[]) => {
      assert.ok(![old, oldFolder].includes(path.basename(file)));
      return own(file, ...rest);
    });
    await open().removeTemporaries();
    assert.deepEqual(names(), [nameOf(1), nameOf(2), fresh, 'mine.tmp']);
    replaceCall('readdir', () => () => failing('EIO'));
    await open().removeTemporaries();
  });
});
