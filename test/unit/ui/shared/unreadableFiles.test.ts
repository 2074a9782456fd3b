import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { UnreadableFiles } = await withVscode(() => import('../../../../src/ui/shared/unreadableFiles.ts'));
await withVscode(() => import('../../../../src/ui/shared/notifyUnreadable.ts'));

describe('UnreadableFiles', () => {
  beforeEach(() => {
    standIn.forget();
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  async function pass(): Promise<string[]> {
    mock.timers.tick(1_000);
    await new Promise(setImmediate);
    return standIn.shown.sentences.splice(0);
  }

  it('reports the files of one kind that are found together once, and logs each without its folder', async () => {
    const logged: string[] = [];
    const log = { warn: (text: string) => void logged.push(text), error: () => assert.fail() };
    const files = new UnreadableFiles(log);
    for (const name of ['a', 'b', 'c']) files.of('submission')(`/storage/submissions/${name}.json`);
    files.of('accounts')('/storage/accounts.json.unreadable-1');
    assert.deepEqual(await pass(), [
      'You may have been charged: 3 submission records can’t be read. Compare your balance with your runs.',
      'You may have been charged for open submissions. ' +
        'Your accounts file couldn’t be read and was moved to accounts.json.unreadable-1; sign in again.',
    ]);
    assert.deepEqual(logged, [
      ...['a', 'b', 'c'].map((name) => `unreadable-submission: ${name}.json`),
      'unreadable-accounts: accounts.json.unreadable-1',
    ]);
    standIn.shown.answer = ([folder]) => folder;
    files.of('submission')('/storage/submissions/d.json');
    assert.deepEqual(await pass(), [
      'You may have been charged: the submission record d.json can’t be read. ' +
        'Compare your balance with your runs.',
    ]);
    assert.deepEqual(standIn.executed.map(String), ['revealFileInOS,file:///storage/submissions/d.json']);
  });
});
