import assert from 'node:assert/strict';
import { whenSignedIn } from '../../../src/host/signedIn.ts';

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
