import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox database', () => {
  const bench = useBench();
  const file = () => path.join(bench().directory, 'sandbox.sqlite');
  const damages: Record<string, () => void> = {
    'a file that is no database': () => writeFileSync(file(), 'not a database, '.repeat(1000)),
    'an earlier schema': () => {
      const database = new DatabaseSync(file());
      database.exec('PRAGMA user_version = 1');
      database.close();
    },
  };
  for (const [name, damage] of Object.entries(damages))
    it(`replaces ${name}, and logs it`, async () => {
      const { accountId } = bench().sandbox;
      await bench().sandbox.close();
      damage();
      writeFileSync(`${file()}-journal`, 'of the one before');
      await bench().start();
      assert.notEqual(bench().sandbox.accountId, accountId);
      assert.equal((await bench().submit()).status, 201);
      assert.equal(bench().log.length, 1);
      assert.equal(existsSync(`${file()}-journal`), false);
    });

  it('is not replaced if it cannot be opened for a reason other than its content', async () => {
    await bench().sandbox.close();
    rmSync(file());
    mkdirSync(file());
    await assert.rejects(bench().start(), /unable to open/);
    assert.ok(existsSync(file()));
  });

  it('restores account, runs, and balance at a restart, with a new API key', async () => {
    const { accountId, apiKey } = bench().sandbox;
    await bench().submit();
    const before = await Promise.all(['/runs', '/balance'].map((url) => bench().get(url)));
    await bench().start();
    const after = await Promise.all(['/runs', '/balance'].map((url) => bench().get(url)));
    assert.deepEqual(
      after.map(({ body }): unknown => body),
      before.map(({ body }): unknown => body),
    );
    assert.equal(bench().sandbox.accountId, accountId);
    assert.notEqual(bench().sandbox.apiKey, apiKey);
    assert.deepEqual(bench().log, []);
  });

  it('never stores the API key on disk', async () => {
    await bench().submit();
    const { apiKey } = bench().sandbox;
    for (const name of readdirSync(bench().directory)) {
      assert.ok(!readFileSync(path.join(bench().directory, name)).includes(apiKey), name);
    }
  });
});
