import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accountFolder, removeForsakenFolders } from '../../../../src/core/accounts/accountFolder.ts';
import { AccountStore } from '../../../../src/core/accounts/accountStore.ts';
import { Lease } from '../../../../src/core/storage/lease.ts';

const ID = '7b0c1c5e-8a35-4c64-9a08-2f6f0d6f2f11';

describe('accountFolder', () => {
  it('lies in the folder of all accounts, whatever the id says', () => {
    assert.equal(accountFolder('/runs', ID).path, path.join('/runs', ID));
    const ids = [
      '',
      '.',
      '..',
      '../x',
      '/etc',
      'a/b',
      'a\\b',
      'CON:',
      'Ä',
      'A',
      'a'.repeat(65),
      'x41',
      '_41',
    ];
    const folders = ids.map((id) => accountFolder('/runs', id).path);
    for (const folder of folders) assert.equal(path.dirname(folder), path.resolve('/runs'));
    assert.equal(new Set(folders.map((folder) => folder.toLowerCase())).size, ids.length);
  });
});

describe('removeForsakenFolders', () => {
  let runs: string;

  beforeEach(async () => {
    runs = path.join(await mkdtemp(path.join(tmpdir(), 'account-folder-')), 'runs');
  });
  afterEach(() => rm(path.dirname(runs), { recursive: true }));

  async function make(id: string): Promise<void> {
    const folder = accountFolder(runs, id);
    await mkdir(folder.details, { recursive: true });
    await writeFile(folder.list, '{}');
  }
  const left = async () => (await readdir(runs)).sort();

  it('removes what belongs to no account, with all that is in it', async () => {
    for (const id of ['a', 'b', 'c']) await make(id);
    await removeForsakenFolders(runs, () => Promise.resolve(['b']));
    assert.deepEqual(await left(), ['b']);
  });

  it('removes nothing where a window still watches or downloads', async () => {
    for (const id of ['a', 'b', 'c']) await make(id);
    const watching = await Lease.take(accountFolder(runs, 'a').watchLock);
    const downloading = await Lease.take(path.join(accountFolder(runs, 'b').path, 'downloads', 'x.lock'));
    await removeForsakenFolders(runs, () => Promise.resolve([]));
    assert.deepEqual(await left(), ['a', 'b']);
    assert.deepEqual([watching?.isHeld(), downloading?.isHeld()], [true, true]);
    watching?.release();
    downloading?.release();
    await removeForsakenFolders(runs, () => Promise.resolve([]));
    assert.deepEqual(await left(), []);
  });

  it('removes nothing where it cannot be told which accounts there are', async () => {
    await make('a');
    await removeForsakenFolders(runs, () => Promise.resolve(undefined));
    assert.deepEqual(await left(), ['a']);
  });

  it('asks which accounts there are after it saw the folders, and not at all without one', async () => {
    const accounts = new AccountStore(path.dirname(runs));
    await removeForsakenFolders(runs, () => assert.fail('no folder'));
    await make(ID);
    await removeForsakenFolders(runs, () => accounts.readKeptIds());
    assert.deepEqual(await left(), [ID]);
    await accounts.open();
    await accounts.save({ kind: 'service', id: ID, name: 'n', baseUrl: 'https://service.test' });
    await make('other');
    await removeForsakenFolders(runs, () => accounts.readKeptIds());
    assert.deepEqual(await left(), [ID]);
    accounts.dispose();
  });

  it('leaves accounts that are signed out of their folders: a service’s for good, a sandbox’s until another takes its place', async () => {
    const accounts = new AccountStore(path.dirname(runs));
    await accounts.open();
    const sweep = () => removeForsakenFolders(runs, () => accounts.readKeptIds());
    const use = (id: string) => accounts.save({ kind: 'sandbox', id, name: 'Sandbox' });
    await use('old');
    await make('old');
    await accounts.remove('old');
    await accounts.save({ kind: 'service', id: ID, name: 'n', baseUrl: 'https://service.test' });
    await make(ID);
    await accounts.remove(ID);
    await sweep();
    assert.deepEqual([accounts.accounts, await left()], [[], [ID, 'old']]);
    await use('new');
    await make('new');
    await sweep();
    assert.deepEqual(await left(), [ID, 'new']);
    accounts.dispose();
  });
});
