import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { STARTING_BALANCE_CENTS } from '../../../src/sandbox/catalog.ts';
import { useBench } from '../../helpers/sandbox/stage.ts';

describe('sandbox database', () => {
  const bench = useBench();
  const file = () => path.join(bench().directory, 'sandbox.sqlite');
  async function restartOn(damage: () => void): Promise<string> {
    const { accountId } = bench().sandbox;
    await bench().sandbox.close();
    damage();
    await bench().start();
    return accountId;
  }

  const damages: Record<string, () => void> = {
    'a file that is no database': () => writeFileSync(file(), 'not a database, '.repeat(1000)),
    'an empty file': () => truncateSync(file()),
    'a torn file': () => truncateSync(file(), 8192),
    'a damaged page that opening does not need': () => {
      const descriptor = openSync(file(), 'r+');
      writeSync(descriptor, Buffer.alloc(4096, 0xee), 0, 4096, fstatSync(descriptor).size - 4096);
      closeSync(descriptor);
    },
    'another schema version': () => {
      const database = new DatabaseSync(file());
      database.exec('PRAGMA user_version = 999');
      database.close();
    },
  };
  for (const [name, damage] of Object.entries(damages))
    it(`replaces ${name}, and says so`, async () => {
      const accountId = await restartOn(() => {
        damage();
        writeFileSync(`${file()}-journal`, 'of the one before');
      });
      assert.notEqual(bench().sandbox.accountId, accountId);
      assert.equal((await bench().submit()).status, 201);
      assert.equal(bench().log.length, 1);
      assert.equal(existsSync(`${file()}-journal`), false);
    });

  it('does not replace what it cannot open for another reason than its bytes', async () => {
    await bench().sandbox.close();
    rmSync(file());
    mkdirSync(file());
    await assert.rejects(bench().start(), /unable to open/);
    assert.ok(existsSync(file()));
  });

  it('answers reads while another window is writing', async () => {
    const other = new DatabaseSync(file());
    other.exec('BEGIN IMMEDIATE; UPDATE account SET balance_cents = 1');
    assert.equal((await bench().get('/balance')).body.balance_cents, STARTING_BALANCE_CENTS);
    other.exec('COMMIT');
    other.close();
    assert.equal((await bench().get('/balance')).body.balance_cents, 1);
  });

  it('leaves an account, runs and balance as they were at a restart, with a new address and API key', async () => {
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

  it('never has the API key on disk', async () => {
    await bench().submit();
    const { apiKey } = bench().sandbox;
    for (const name of readdirSync(bench().directory)) {
      assert.ok(!readFileSync(path.join(bench().directory, name)).includes(apiKey), name);
    }
  });
});
