import assert from 'node:assert/strict';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { Lease } from '../../../../src/core/storage/lease.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { OtherWindow } from '../../../helpers/runs/otherWindow.ts';

describe('Lease', () => {
  const folder = useFolder();
  let file: string;
  let other: OtherWindow;
  const windows: OtherWindow[] = [];
  const taken: Lease[] = [];

  function window(): OtherWindow {
    const started = new OtherWindow();
    windows.push(started);
    return started;
  }

  /** Takes a lease that is released at the end of the test. */
  async function take(at = file, tries?: number): Promise<Lease | undefined> {
    const lease = await Lease.take(at, tries);
    if (lease !== undefined) taken.push(lease);
    return lease;
  }

  before(() => void (other = window()));
  after(() => Promise.all(windows.map((each) => each.kill())));
  beforeEach(() => {
    file = path.join(folder(), 'leases', 'a.lock');
  });
  afterEach(async () => {
    for (const lease of taken.splice(0)) lease.release();
    await other.ask('release');
  });

  it('has one holder in a process, and an empty file without others beside it', async () => {
    const first = await take();
    assert.equal(first?.isHeld(), true);
    assert.equal(await take(), undefined);
    assert.deepEqual(readdirSync(path.dirname(file)), ['a.lock']);
    first.release();
    first.release();
    assert.equal(first.isHeld(), false);
    assert.equal((await take())?.isHeld(), true);
    assert.deepEqual(readdirSync(path.dirname(file)), ['a.lock']);
    assert.equal(statSync(file).size, 0);
  });

  it('has one holder among processes, even after a second attempt', async () => {
    const mine = await take();
    assert.equal(await take(file, 1), undefined);
    assert.equal(await Lease.isTaken(file), true);
    assert.equal(await other.ask('take', file), false);
    mine?.release();
    assert.equal(await other.ask('take', file), true);
    assert.equal(await take(), undefined);
    await other.ask('release');
    const again = await take();
    assert.equal(again?.isHeld(), true);
    // It waits for a holder that releases it soon.
    setTimeout(() => again.release(), 8);
    assert.equal((await take())?.isHeld(), true);
  });

  it('stays with a suspended process, and is free at once after a killed one', async function () {
    if (process.platform === 'win32') this.skip();
    const owner = window();
    assert.equal(await owner.ask('take', file), true);
    owner.suspend();
    assert.equal(await take(), undefined);
    assert.equal(await Lease.isTaken(file), true);
    await owner.kill();
    assert.equal((await take(file, 1))?.isHeld(), true);
  });

  it('is lost when its file or folder is deleted or replaced, and can then be acquired by others', async () => {
    const leases = path.dirname(file);
    const away = path.join(folder(), 'away');
    for (const lose of [
      () => rmSync(file),
      () => renameSync(file, path.join(folder(), 'b.lock')),
      () => rmSync(leases, { recursive: true }),
      () => renameSync(leases, away),
      () => {
        rmSync(file);
        mkdirSync(file);
      },
    ]) {
      const mine = await take();
      assert.equal(mine?.isHeld(), true);
      lose();
      assert.equal(mine.isHeld(), false, lose.toString());
      if (existsSync(file)) rmSync(file, { recursive: true });
      const next = await take();
      assert.equal(next?.isHeld(), true);
      assert.equal(mine.isHeld(), false, 'of another file of the same name');
      mine.release();
      assert.equal(next.isHeld(), true);
      next.release();
      rmSync(away, { recursive: true, force: true });
    }
  });

  it('has one holder while many compete for it', async () => {
    const more = [other, window(), window()];
    const counts = await Promise.all(more.map((each) => each.ask('churn', file, 100)));
    assert.deepEqual(counts, [0, 0, 0]);
  });

  it('is held on the file that others open, whenever it is replaced', async () => {
    for (const isThere of [true, false])
      for (let call = 1; call <= 3; call++) {
        mkdirSync(path.dirname(file), { recursive: true });
        if (isThere) writeFileSync(file, '');
        const { statSync: original } = fs;
        let calls = 0;
        // Replaces the file between two steps: each step starts with statSync.
        mock.method(fs, 'statSync', (...given: Parameters<typeof original>) => {
          if (++calls === call && existsSync(file)) renameSync(file, path.join(folder(), `old-${call}`));
          if (calls === call) writeFileSync(file, '');
          return original(...given);
        });
        syncBuiltinESMExports();
        const mine = await take();
        mock.restoreAll();
        syncBuiltinESMExports();
        assert.ok(calls >= 3);
        assert.equal(mine?.isHeld(), true);
        assert.equal(await take(file, 1), undefined, `replaced before look ${call}`);
        mine.release();
      }
  });

  it('throws instead of blaming another window if the file system reports a new inode each time', async () => {
    const { statSync: original } = fs;
    let number = 1n;
    mock.method(fs, 'statSync', (...given: Parameters<typeof original>) => {
      const stats = original(...given) as { ino: bigint } | undefined;
      if (stats !== undefined) stats.ino = number++;
      return stats;
    });
    syncBuiltinESMExports();
    try {
      for (const tries of [1, undefined])
        await assert.rejects(Lease.take(file, tries), { code: 'lease-unavailable' });
      await assert.rejects(Lease.isTaken(file), { code: 'lease-unavailable' });
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal((await take())?.isHeld(), true);
  });

  it('leaves no probe files behind, even of a killed process', async () => {
    const mine = await take();
    writeFileSync(path.join(path.dirname(file), 'killed.probe'), '');
    assert.equal(await take(), undefined);
    assert.deepEqual(readdirSync(path.dirname(file)), ['a.lock']);
    assert.equal(mine?.isHeld(), true);
  });

  it('can be probed without being created, acquired, or ended', async () => {
    assert.equal(await Lease.isTaken(file), false);
    assert.equal(existsSync(path.dirname(file)), false);
    const mine = await take();
    for (let times = 0; times < 3; times++) assert.equal(await Lease.isTaken(file), true);
    assert.equal(mine?.isHeld(), true);
    assert.equal(await other.ask('take', file), false);
    mine.release();
    assert.equal(await Lease.isTaken(file), false);
    assert.equal(await other.ask('take', file), true);
    assert.equal(await Lease.isTaken(file), true);
  });

  it('leaks no descriptor', async function () {
    if (process.platform !== 'linux') this.skip();
    // Count only those of lock files: others may open and close meanwhile. Removed files keep their names here.
    const open = () =>
      readdirSync('/proc/self/fd').filter((descriptor) => {
        try {
          return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(folder());
        } catch {
          return false;
        }
      }).length;
    const mine = await take();
    assert.equal(open(), 1);
    await take(file, 3);
    await Lease.isTaken(file);
    mine?.release();
    assert.equal(open(), 0);
    (await take())?.release();
    await Lease.isTaken(file);
    const lost = await take();
    rmSync(file);
    lost?.release();
    writeFileSync(file, 'not a database, '.repeat(100));
    await assert.rejects(take());
    assert.equal(open(), 0);
  });

  it('throws if there is nothing to lock', async () => {
    const unavailable = { code: 'lease-unavailable' };
    mkdirSync(file, { recursive: true });
    await assert.rejects(take(), unavailable);
    await assert.rejects(Lease.isTaken(file), unavailable);
    rmSync(file, { recursive: true });
    writeFileSync(file, 'not a database, '.repeat(100));
    await assert.rejects(take(), unavailable);
    await assert.rejects(Lease.isTaken(file), unavailable);
    assert.equal(statSync(file).size, 1600);
    const inFile = path.join(file, 'b.lock');
    await assert.rejects(take(inFile), unavailable);
    assert.equal(await Lease.isTaken(inFile), false);
  });
});
