import assert from 'node:assert/strict';
import { whenAccountsRead, whenSignedIn } from '../../../../src/ui/shared/signedIn.ts';

describe('a command that needs an active account', () => {
  it('is called with its arguments while there is one, and told of otherwise', async () => {
    const seen: unknown[] = [];
    let isSignedIn = false;
    const command = whenSignedIn(
      () => isSignedIn,
      () => void seen.push('told'),
    )((...args) => void seen.push(args));
    await command('run', 2);
    isSignedIn = true;
    await command('run', 2);
    assert.deepEqual(seen, ['told', ['run', 2]]);
  });
});

describe('a command that needs the accounts', () => {
  it('reads those that could not be read, and ends where they still cannot be', async () => {
    const seen: unknown[] = [];
    let isReadable = false;
    const accounts = {
      isUnreadable: true,
      open() {
        if (!isReadable) return Promise.reject(new Error('not yet'));
        accounts.isUnreadable = false;
        return Promise.resolve();
      },
    };
    const command = whenAccountsRead(accounts)((...args) => void seen.push(args));
    await assert.rejects(async () => command('run', 1), /not yet/);
    isReadable = true;
    await command('run', 2);
    accounts.open = () => assert.fail('they are read');
    await command('run', 3);
    assert.deepEqual(seen, [
      ['run', 2],
      ['run', 3],
    ]);
  });
});
