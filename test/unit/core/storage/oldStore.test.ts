import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { removeOldStore } from '../../../../src/core/storage/oldStore.ts';
import { useFolder } from '../../../helpers/folder.ts';

describe('removeOldStore', () => {
  const folder = useFolder();

  it('removes the database of earlier versions with its companions, and nothing else', async () => {
    const left = ['accounts.json', 'runs', 'state.sqlite3', 'xstate.sqlite'];
    await mkdir(path.join(folder(), 'runs'));
    for (const name of left.filter((one) => one !== 'runs')) await writeFile(path.join(folder(), name), '');
    for (const ending of ['', '-wal', '-shm', '-journal', '.lock', '.damaged-1', '.damaged-1-journal'])
      await writeFile(path.join(folder(), `state.sqlite${ending}`), '');
    await removeOldStore(folder());
    assert.deepEqual((await readdir(folder())).sort(), left);
    await removeOldStore(path.join(folder(), 'none'));
  });
});
