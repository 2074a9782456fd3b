import assert from 'node:assert/strict';
import path from 'node:path';
import { accountFolder } from '../../../../src/core/accounts/account.ts';

const ID = '7b0c1c5e-8a35-4c64-9a08-2f6f0d6f2f11';

describe('accountFolder', () => {
  it('is a distinct folder inside the folder of all accounts, whatever the ID', () => {
    assert.equal(accountFolder('/runs', ID), path.join('/runs', ID));
    const odd = ['', '.', '..', '../x', '/etc', 'a/b', 'a\\b', 'CON:', 'Ä', 'A', 'x41', '_41'];
    const ids = [...odd, 'a'.repeat(65)];
    const folders = ids.map((id) => accountFolder('/runs', id));
    for (const folder of folders) assert.equal(path.dirname(folder), path.resolve('/runs'));
    assert.equal(new Set(folders.map((folder) => folder.toLowerCase())).size, ids.length);
  });
});
