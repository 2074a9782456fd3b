import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Told } from '../../../../src/core/runs/told.ts';
import { until } from '../../../helpers/runs/support.ts';

const DAY_MS = 24 * 60 * 60_000;

describe('Told', () => {
  let folder: string;
  let windows: Told[];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'told-test-'));
    windows = Array.from({ length: 3 }, () => window());
  });
  afterEach(async () => {
    for (const told of windows) told.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const folderOf = (accountId: string) => path.join(folder, accountId, 'told');
  const window = (nowMs?: () => number) => new Told(folderOf, nowMs);
  const [A, B] = ['account-a', 'account-b'];

  it('lets exactly one of the windows tell something, ever', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const claims = await Promise.all(
        windows.flatMap((told) => [
          told.claim(A, `r${turn}`, 'finished'),
          told.claim(A, `r${turn}`, 'finished'),
        ]),
      );
      assert.equal(claims.filter(Boolean).length, 1);
    }
    // And after a restart.
    const later = window();
    assert.equal(await later.claim(A, 'r0', 'finished'), false);
    later.dispose();
  });

  it('tells each thing of each run of each account', async () => {
    const told = windows[0] as Told;
    for (const [account, run, what] of [
      [A, 'r', 'finished'],
      [B, 'r', 'finished'],
      [A, 's', 'finished'],
      [A, 'r', 'status:x'],
      [A, 'r","status:', 'x'],
    ] as const)
      assert.equal(await told.claim(account, run, what), true);
  });

  it('makes no path of what the service says, and keeps nothing of it', async () => {
    const told = windows[0] as Told;
    for (const runId of ['../../outside', 'a\0b', 'x'.repeat(100_000), 'service_secret'])
      assert.equal(await told.claim(A, runId, '/../status'), true);
    assert.deepEqual(await readdir(folder), [A]);
    for (const name of await readdir(folderOf(A))) assert.match(name, /^[0-9a-f]{40}$/);
  });

  it('rather tells than not, where the disk takes no file: each window once', async () => {
    await mkdir(path.join(folder, A));
    await writeFile(path.join(folder, A, 'told'), 'a file in the place of the folder');
    for (const told of windows.slice(0, 2))
      assert.deepEqual(
        [await told.claim(A, 'r', 'finished'), await told.claim(A, 'r', 'finished')],
        [true, false],
      );
  });

  it('forgets what is older than 90 days', async () => {
    const told = windows[0] as Told;
    await told.claim(A, 'old', 'finished');
    await told.claim(A, 'young', 'finished');
    const [first = ''] = await readdir(folderOf(A));
    const at = (days: number) => new Date(Date.now() - days * DAY_MS);
    for (const name of await readdir(folderOf(A))) await utimes(path.join(folderOf(A), name), at(89), at(89));
    await utimes(path.join(folderOf(A), first), at(91), at(91));
    const later = window();
    await later.claim(A, 'new', 'finished');
    later.dispose();
    const names = await readdir(folderOf(A));
    assert.deepEqual([names.length, names.includes(first)], [2, false]);
  });

  it('counts finished runs that nobody has seen, for all windows', async () => {
    const [first, second] = windows as [Told, Told];
    const heard: string[] = [];
    second.onDidChangeUnseen((accountId) => heard.push(accountId));
    await second.follow(A);
    await first.addUnseen(A, 'r');
    await first.addUnseen(A, 's');
    await until(() => second.unseen(A) === 2);
    assert.ok(heard.every((accountId) => accountId === A) && heard.length > 0);
    assert.equal(second.unseen(B), 0);
    await second.see(A);
    assert.equal(second.unseen(A), 0);
    // A restart counts what is left.
    await first.addUnseen(A, 't');
    const later = window();
    await later.follow(A);
    assert.equal(later.unseen(A), 1);
    later.dispose();
    assert.equal(await first.claim(A, 'r', 'finished'), true);
  });

  it('counts on where the account was signed out of and comes again', async () => {
    const [first, second] = windows as [Told, Told];
    await first.follow(A);
    await second.follow(A);
    await first.addUnseen(A, 'r');
    await until(() => second.unseen(A) === 1);
    await rm(path.join(folder, A), { recursive: true });
    // What that itself sets off is over.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await Promise.all([first.follow(A), second.follow(A)]);
    assert.equal(second.unseen(A), 0);
    await first.addUnseen(A, 's');
    await until(() => second.unseen(A) === 1);
  });
});
