import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { MIGRATIONS } from '../../../../src/core/storage/migrations.ts';
import { StateStore } from '../../../../src/core/storage/state.ts';
import { TEST_TABLES } from '../../../helpers/storage/testTables.ts';
import { readSources } from '../../house/sources.ts';

const CHILD = fileURLToPath(new URL('../../../helpers/storage/stateChild.ts', import.meta.url));
const BAD_DISK = fileURLToPath(new URL('../../../helpers/storage/badDisk.c', import.meta.url));

const add = (state: StateStore, name: string, account = 'a') =>
  state.transaction((tables) => {
    const { length } = names(tables, account);
    tables.run('INSERT INTO item (account, name, value) VALUES (?, ?, ?)', account, name, length);
    tables.touch('items', account);
  });
const names = (tables: Parameters<Parameters<StateStore['read']>[0]>[0], account = 'a') =>
  tables
    .all<{ name: string }>('SELECT name FROM item WHERE account = ? ORDER BY value', account)
    .map(({ name }) => name);
const namesOf = (state: StateStore, account = 'a') => state.read((tables) => names(tables, account));

describe('StateStore', () => {
  let folder: string;
  let file: string;
  let aside: string[];
  const stores: StateStore[] = [];
  const children: ChildProcess[] = [];

  function store(tables: readonly string[] = TEST_TABLES): StateStore {
    const made = new StateStore(folder, (one) => aside.push(one), tables);
    stores.push(made);
    return made;
  }

  /** Starts another window; `lines` grows with its output. */
  function child(name: string, count?: number, env: Record<string, string> = {}) {
    const args = [CHILD, folder, name, ...(count === undefined ? [] : [String(count)])];
    const made = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(made);
    const lines: string[] = [];
    const reader = createInterface({ input: made.stdout });
    reader.on('line', (line) => lines.push(line));
    return { process: made, lines, ended: Promise.all([once(made, 'exit'), once(reader, 'close')]) };
  }

  function damage(): void {
    writeFileSync(file, 'no database at all'.repeat(1000));
    writeFileSync(`${file}-journal`, '\0its journal');
  }

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'state-'));
    file = path.join(folder, 'state.sqlite');
    aside = [];
  });
  afterEach(async () => {
    for (const one of stores.splice(0)) one.dispose();
    for (const one of children.splice(0)) one.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('shares tables between windows, readable by the user only, without a write-ahead log', async () => {
    const [one, two] = [store(), store()];
    await add(one, 'x');
    assert.deepEqual(await namesOf(two), ['x']);
    assert.equal(one.problem, undefined);
    await one.requireShared();
    assert.deepEqual(readdirSync(folder), ['state.sqlite']);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    const settings = await one.read((tables) => ({
      ...tables.get('PRAGMA journal_mode'),
      ...tables.get('PRAGMA synchronous'),
    }));
    assert.deepEqual(settings, { journal_mode: 'delete', synchronous: 2 });
  });

  it('calls back only for what other windows touched', async () => {
    const [one, two] = [store(), store()];
    const calls: string[] = [];
    for (const [topic, account] of [
      ['items', 'a'],
      ['items', 'b'],
      ['other', 'a'],
    ] as const)
      one.follow(topic, account, () => calls.push(`${topic} ${account}`));
    await one.open();
    await add(one, 'x');
    await one.check();
    assert.deepEqual(calls, []);
    await add(two, 'y');
    await add(one, 'z');
    await one.check();
    await one.check();
    assert.deepEqual(calls, ['items a'], 'also where this window changed it since');
    const heard = new Promise<void>((resolve) => one.follow('items', 'c', resolve));
    await add(two, 'x', 'c');
    await heard;
  });

  it('stores all of a transaction or nothing, in the current file', async () => {
    const one = store();
    await add(one, 'x');
    const failing = one.transaction((tables) => {
      tables.run('DELETE FROM item');
      throw new Error('stop');
    });
    await assert.rejects(failing, /stop/);
    assert.deepEqual(await namesOf(one), ['x']);
    let turns = 0;
    await one.transaction(() => {
      // SQLite reports that the file was moved, so it is opened again.
      if (++turns === 1) throw Object.assign(new Error('readonly database'), { errcode: 1032 });
    });
    assert.equal(turns, 2);
  });

  it('waits for a lock without blocking this window', async () => {
    const one = store();
    await add(one, 'x');
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    const done = add(one, 'y');
    await new Promise((resolve) => setTimeout(resolve, 300));
    other.exec('COMMIT');
    other.close();
    await done;
    clearInterval(timer);
    assert.ok(turns >= 3, `${turns} turns`);
    assert.deepEqual(await namesOf(one), ['x', 'y']);
  });

  it('switches from memory to the file once its lock is free', async () => {
    await add(store(), 'theirs');
    const other = new DatabaseSync(file);
    other.exec('BEGIN EXCLUSIVE');
    let nowMs = 0;
    const now = mock.method(performance, 'now', () => (nowMs += 2_000));
    const one = store();
    await one.open();
    now.mock.restore();
    await add(one, 'mine');
    await assert.rejects(one.requireShared(), { problem: 'busy' });
    let calls = 0;
    one.follow('items', 'a', () => calls++);
    await one.check();
    assert.deepEqual([one.problem, calls, await namesOf(one)], ['busy', 0, ['mine']]);
    other.close();
    await Promise.all([one.check(), one.check()]);
    assert.deepEqual([one.problem, calls, await namesOf(one)], [undefined, 1, ['theirs']]);
    await add(one, 'y');
    assert.deepEqual(await namesOf(store()), ['theirs', 'y']);
  });

  it('loses no acknowledged row when three windows write and are killed', async function () {
    const written = await Promise.all(
      ['p', 'q', 'r'].map(async (name) => {
        const one = child(name);
        while (one.lines.length < 40) await new Promise((resolve) => setTimeout(resolve, 20));
        one.process.kill('SIGKILL');
        await one.ended;
        return { name, acknowledged: one.lines.slice(1) };
      }),
    );
    const one = store();
    for (const { name, acknowledged } of written) {
      const stored = await namesOf(one, name);
      assert.deepEqual(stored.slice(0, acknowledged.length), acknowledged);
      assert.ok(stored.length <= acknowledged.length + 1);
    }
  });

  for (const [how, lose] of [
    ['deleted', () => rmSync(file)],
    ['renamed', () => renameSync(file, `${file}.away`)],
    ['replaced by a restored copy', () => replaceBy(folder, file)],
  ] as const)
    it(`reopens the file at its path after the old one was ${how}`, async () => {
      if (process.platform === 'win32') return;
      const [one, two] = [store(), store()];
      await add(one, 'x');
      await two.open();
      let calls = 0;
      two.follow('items', 'a', () => calls++);
      lose();
      await two.check();
      assert.equal(calls, 1, 'what was read from the old file is no longer what windows share');
      await add(one, 'y');
      assert.deepEqual(await namesOf(two), ['y']);
      assert.deepEqual(await namesOf(one), ['y']);
    });

  it('sets a damaged file and its journal aside once, and continues with a new one', async () => {
    damage();
    const [one, two] = [store(), store()];
    await Promise.all([add(one, 'x'), two.open()]);
    assert.deepEqual(await namesOf(two), ['x']);
    assert.equal(one.problem, undefined);
    assert.equal(aside.length, 1);
    assert.ok(existsSync(aside[0]!) && existsSync(`${aside[0]}-journal`));
    // Also if it is damaged while it is open.
    await add(one, 'x'.repeat(100_000));
    writeFileSync(file, Buffer.alloc(statSync(file).size, 7));
    await add(one, 'y');
    assert.deepEqual([aside.length, await namesOf(one)], [2, ['y']]);
  });

  it('sets aside a file of which only rows are damaged', async () => {
    const one = store();
    await add(one, 'x'.repeat(100_000));
    const pages = readFileSync(file);
    writeFileSync(file, pages.fill(7, pages.length / 2));
    await add(one, 'y');
    assert.deepEqual([aside.length, await namesOf(one)], [1, ['y']]);
  });

  it('commits once another window has finished reading', async () => {
    const one = store();
    await add(one, 'x');
    const reader = new DatabaseSync(file);
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM item').all();
    const added = add(one, 'y');
    await delay(100);
    reader.exec('COMMIT');
    await added;
    reader.close();
    assert.deepEqual(await namesOf(one), ['x', 'y']);
  });

  it('reports that it is unknown whether a change was stored, and reads the disk again', async () => {
    const one = store();
    await add(one, 'x');
    const exec = mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
      if (sql !== 'COMMIT') return this.prepare(sql).run();
      exec.mock.restore();
      this.exec(sql);
      // The change is on the disk, but the device reports an error.
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
    });
    await assert.rejects(add(one, 'y'), /unknown whether/);
    assert.deepEqual(await namesOf(one), ['x', 'y']);
  });

  it('lets an older version write beside a newer one, unless excluded by it', async () => {
    const newer = [...TEST_TABLES, "ALTER TABLE item ADD COLUMN extra TEXT NOT NULL DEFAULT ''"];
    const [older, next] = [store(), store(newer)];
    await add(older, 'x');
    await next.open();
    await add(older, 'y');
    await add(next, 'z');
    assert.deepEqual(await namesOf(older), ['x', 'y', 'z']);
    assert.deepEqual(await namesOf(store()), ['x', 'y', 'z'], 'an older one that is started later');
    await store([
      ...newer,
      `INSERT INTO meta (key, value) VALUES ('min_reader', ${newer.length + 1})`,
    ]).open();
    const refused = store();
    await refused.open();
    assert.deepEqual([refused.problem, aside], ['newer', []]);
  });

  it('never changes existing tables, because older files already have them', () => {
    const digests = MIGRATIONS.map((sql) => {
      const text = sql.replace(/\s+/g, ' ').trim();
      return createHash('sha256').update(text).digest('hex').slice(0, 12);
    });
    const written = ['7bc4282af9be', '542f245847dc', '945bef69f15a', 'be9a675b75ea'];
    assert.deepEqual(digests.slice(0, written.length), written);
  });

  it('uses memory without a usable file, and reports why', async () => {
    mkdirSync(file);
    const one = store();
    await add(one, 'x');
    assert.deepEqual(await namesOf(one), ['x']);
    assert.equal(one.problem, 'read-only');
    await assert.rejects(one.requireShared(), { code: 'state-unavailable', problem: 'read-only' });
    assert.deepEqual(await namesOf(store()), []);
  });

  it('reports that SQLite is missing', async () => {
    const one = child('p', 0, { NODE_OPTIONS: '--no-experimental-sqlite' });
    await one.ended;
    assert.equal(one.lines[0], 'module-missing');
  });

  it('closes without waiting, and cancels later calls', async () => {
    const one = store();
    await add(one, 'x');
    const other = new DatabaseSync(file);
    other.exec('BEGIN EXCLUSIVE');
    const waiting = add(one, 'y');
    one.dispose();
    one.dispose();
    other.close();
    await assert.rejects(waiting, CancelledError);
    await assert.rejects(namesOf(one), CancelledError);
    await one.check();
    const unopened = store();
    unopened.dispose();
    await assert.rejects(namesOf(unopened), CancelledError);
  });

  describe('on a bad disk', function () {
    let shim = '';
    before(async function () {
      if (process.platform !== 'linux') this.skip();
      shim = path.join(await mkdtemp(path.join(tmpdir(), 'shim-')), 'badDisk.so');
      try {
        execFileSync('cc', ['-shared', '-fPIC', '-o', shim, BAD_DISK, '-ldl'], { stdio: 'ignore' });
      } catch (error) {
        // Only a missing compiler is an excuse.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        this.skip();
      }
    });

    after(async () => {
      if (shim !== '') await rm(path.dirname(shim), { recursive: true, force: true });
    });

    it('reports a file system without locks', async function () {
      const one = child('p', 1, { LD_PRELOAD: shim, NO_LOCKS: '1' });
      await one.ended;
      assert.deepEqual(one.lines.slice(0, 2), ['no-locks', '1']);
    });

    it('shares with two other windows even if a sync takes 20 ms', async function () {
      const windows = ['p', 'q', 'r'].map((name) => child(name, 4, { LD_PRELOAD: shim, SLOW_SYNC_MS: '20' }));
      await Promise.all(windows.map(({ ended }) => ended));
      const one = store();
      for (const name of ['p', 'q', 'r']) assert.equal((await namesOf(one, name)).length, 4);
    });
  });
});

describe('state.sqlite', () => {
  it('is opened by core/storage only', () => {
    const naming = readSources().filter(({ tree }) =>
      /state\.sqlite(?! )/.test(tree.text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')),
    );
    assert.deepEqual(
      naming.map(({ file }) => file),
      ['src/core/storage/state.ts', 'src/core/storage/stateProblem.ts'],
    );
  });
});

/** Replaces the file as restoring a backup does. */
function replaceBy(folder: string, file: string): void {
  const copy = path.join(folder, 'copy.sqlite');
  new DatabaseSync(copy).close();
  writeFileSync(copy, '');
  renameSync(copy, file);
}
