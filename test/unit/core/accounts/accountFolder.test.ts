import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  accountFolder,
  removeOrphanedAccounts,
  watchLockOf,
} from '../../../../src/core/accounts/accountFolder.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { StateStore } from '../../../../src/core/storage/state.ts';
import { Lease } from '../../../../src/core/storage/lease.ts';

const ID = '7b0c1c5e-8a35-4c64-9a08-2f6f0d6f2f11';

describe('accountFolder', () => {
  it('lies in the folder of all accounts, whatever the id says', () => {
    assert.equal(accountFolder('/runs', ID), path.join('/runs', ID));
    const odd = ['', '.', '..', '../x', '/etc', 'a/b', 'a\\b', 'CON:', 'Ä', 'A', 'x41', '_41'];
    const ids = [...odd, 'a'.repeat(65)];
    const folders = ids.map((id) => accountFolder('/runs', id));
    for (const folder of folders) assert.equal(path.dirname(folder), path.resolve('/runs'));
    assert.equal(new Set(folders.map((folder) => folder.toLowerCase())).size, ids.length);
  });
});

describe('removeOrphanedAccounts', () => {
  let runs: string;
  let state: StateStore;

  beforeEach(async () => {
    runs = path.join(await mkdtemp(path.join(tmpdir(), 'account-folder-')), 'runs');
    state = new StateStore(path.dirname(runs));
  });
  afterEach(async () => {
    state.dispose();
    await rm(path.dirname(runs), { recursive: true });
  });

  async function make(id: string): Promise<void> {
    await mkdir(accountFolder(runs, id), { recursive: true });
    await state.transaction((tables) => {
      tables.run("INSERT INTO run_list (account, list) VALUES (?, '{}')", id);
      tables.touch('run-list', id);
    });
  }
  const remove = (ids: readonly string[] | undefined) =>
    removeOrphanedAccounts(runs, state, () => Promise.resolve(ids));
  const left = async () => ({
    folders: (await readdir(runs)).sort(),
    lists: await state.read((tables) =>
      tables
        .all<{ account: string }>('SELECT account FROM run_list ORDER BY 1')
        .map(({ account }) => account),
    ),
  });

  it('removes the folder and the state of accounts that are gone', async () => {
    for (const id of ['a', 'b', 'c']) await make(id);
    await remove(['b']);
    assert.deepEqual(await left(), { folders: ['b'], lists: ['b'] });
    assert.deepEqual(await state.accountIds(), ['b']);
  });

  it('leaves a folder in which a window still polls or downloads', async () => {
    for (const id of ['a', 'b', 'c']) await make(id);
    const polling = await Lease.take(watchLockOf(runs, 'a'));
    const downloading = await Lease.take(path.join(accountFolder(runs, 'b'), 'downloads', 'x.lock'));
    await remove([]);
    assert.deepEqual((await left()).folders, ['a', 'b']);
    assert.deepEqual([polling?.isHeld(), downloading?.isHeld()], [true, true]);
    polling?.release();
    downloading?.release();
    await remove([]);
    assert.deepEqual((await left()).folders, []);
  });

  it('removes nothing where the accounts cannot be read', async () => {
    await make('a');
    await remove(undefined);
    assert.deepEqual(await left(), { folders: ['a'], lists: ['a'] });
  });

  it('leaves what belongs to signed-out accounts: a service’s for good, a sandbox’s until another takes its place', async () => {
    const accounts = new AccountStore(path.dirname(runs));
    await accounts.open();
    const sweep = () => removeOrphanedAccounts(runs, state, () => accounts.readKnownIds());
    const use = (id: string) => accounts.save({ kind: 'sandbox', id, name: 'Sandbox' });
    await use('old');
    await make('old');
    await accounts.remove('old');
    await accounts.save({ kind: 'service', id: ID, name: 'n', baseUrl: 'https://service.test' });
    await make(ID);
    await accounts.remove(ID);
    await sweep();
    assert.deepEqual([accounts.accounts, (await left()).folders], [[], [ID, 'old']]);
    await use('new');
    await make('new');
    await sweep();
    assert.deepEqual(await left(), { folders: [ID, 'new'], lists: [ID, 'new'] });
    accounts.dispose();
  });
});
