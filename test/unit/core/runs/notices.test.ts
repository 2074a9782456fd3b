import assert from 'node:assert/strict';
import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { Notices } from '../../../../src/core/runs/notices.ts';
import { useFolder } from '../../../helpers/folder.ts';

const DAY = 24 * 60 * 60_000;

describe('Notices', () => {
  const folder = useFolder();
  const open: { dispose(): void }[] = [];
  const window = () => {
    const notices = new Notices(folder());
    open.push(notices);
    return notices;
  };
  const filesOf = (account: string) => path.join(folder(), account, 'notices');
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  };

  afterEach(() => {
    for (const one of open.splice(0)) one.dispose();
    mock.timers.reset();
  });

  it('let exactly one window show each notification of each run of each account', async () => {
    const windows = [window(), window(), window()];
    for (const [account, run, what] of [
      ['a', 'r', 'finished'],
      ['a', 'r', 'status'],
      ['a', 's', 'finished'],
      ['b', 'r', 'finished'],
    ] as const) {
      const claims = windows.flatMap((notices) => [
        notices.claim(account, run, what, true),
        notices.claim(account, run, what),
      ]);
      assert.equal((await Promise.all(claims)).filter(Boolean).length, 1);
    }
    assert.equal(await window().claim('a', 'r', 'finished'), false, 'a window that starts later');
  });

  it('store no service text, neither as a name nor in a file', async () => {
    await window().claim('../a', 'x'.repeat(100_000), '../../up', true);
    const [account = ''] = await readdir(folder());
    assert.match(account, /^_[0-9a-f]+$/);
    assert.match((await readdir(filesOf(account))).sort().join(' '), /^([0-9a-f]{40}(\.unseen)?( |$)){2}$/);
  });

  for (const [what, block] of [
    ['all', () => rm(folder(), { recursive: true }).then(() => writeFile(folder(), ''))],
    [
      'its notices',
      () =>
        window()
          .claim('a', 'r', 'x')
          .then(() => rm(filesOf('a'), { recursive: true })),
    ],
  ] as const)
    it(`show a notification once in each window if the folder of ${what} can’t be written`, async () => {
      await block();
      if (what !== 'all') await writeFile(filesOf('a'), '');
      for (const notices of [window(), window()]) {
        assert.equal(await notices.claim('a', 'r', 'finished', true), true);
        assert.equal(await notices.claim('a', 'r', 'finished', true), false);
        await notices.markSeen('a');
      }
    });

  it('are removed after 90 days', async () => {
    const age = async (days: number) => {
      const [at, files] = [(Date.now() - days * DAY) / 1_000, await readdir(filesOf('a'))];
      for (const name of files) await utimes(path.join(filesOf('a'), name), at, at);
    };
    await window().claim('a', 'old', 'finished');
    await age(91);
    const [old = ''] = await readdir(filesOf('a'));
    await writeFile(path.join(filesOf('a'), 'young'), '');
    await window().claim('a', 'new', 'finished');
    await until(async () => !(await readdir(filesOf('a'))).includes(old));
    assert.equal((await readdir(filesOf('a'))).length, 2);
    await age(89);
    await window().claim('a', 'old', 'finished');
    await until(() =>
      window()
        .claim('a', 'new', 'finished')
        .then((isMine) => !isMine),
    );
  });

  it('count ended runs that the user has not seen, across all windows', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const [one, two] = [window(), window()];
    const changes: string[] = [];
    two.onDidChangeUnseen((accountId) => changes.push(accountId));
    open.push(one.follow('a'), two.follow('a'));
    for (const runId of ['r', 's', 's']) await one.claim('a', runId, 'finished', true);
    await two.claim('a', 's', 'finished', true);
    await two.claim('a', 's', 'failed', true);
    await one.claim('a', 'shown', 'finished');
    await until(() => (mock.timers.tick(5_000), two.unseenCount('a') === 2));
    assert.deepEqual([one.unseenCount('a'), window().unseenCount('a')], [2, 0]);
    await one.markSeen('a');
    await until(() => (mock.timers.tick(5_000), two.unseenCount('a') === 0));
    assert.deepEqual([one.unseenCount('a'), new Set(changes)], [0, new Set(['a'])]);
    assert.equal(await window().claim('a', 'r', 'finished'), false, 'what was seen was shown');
  });
});
