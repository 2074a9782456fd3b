import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';
import { until } from '../../../helpers/runs/support.ts';
import { DownloadStage, type Window } from '../../../helpers/runs/downloadStage.ts';

const { offerInterruptedDownloads: create } = await withVscode(
  () => import('../../../../src/ui/downloads/watchers.ts'),
);
// It is loaded at its first use.
await withVscode(() => import('../../../../src/ui/downloads/interruptedDownloads.ts'));

const HOUR = 3_600_000;

describe('downloads that were interrupted', () => {
  let stage: DownloadStage;
  let faces: { dispose(): unknown }[];

  beforeEach(async () => {
    standIn.forget();
    [faces, asked, agrees] = [[], [], true];
    stage = await DownloadStage.start();
  });
  afterEach(async () => {
    for (const face of faces) face.dispose();
    await stage.end();
  });

  /** The accounts that the user was asked to switch to. */
  let asked: string[];
  let agrees: boolean;
  const ensureActiveAccount = (accountId: string) => {
    asked.push(accountId);
    return Promise.resolve(agrees);
  };
  const watch = (window: Window) => faces.push(create({ ...window, ensureActiveAccount }));
  const said = () => standIn.told.sentences;
  /** For what must not happen, or not again. */
  const later = () => new Promise((resolve) => setTimeout(resolve, 700));

  /** Begins downloads in a window, and comes back when something of each is there. */
  async function begin(window: Window, ...labels: string[]): Promise<string[]> {
    const runIds: string[] = [];
    for (const label of labels) runIds.push(await stage.submit(window, label));
    stage.pass(HOUR);
    stage.sandbox.control.setScenario('slow-download');
    for (const runId of runIds) {
      const target = path.join(stage.out, `${runId}.zip`);
      window.downloads
        .start({ session: window.session, runId, artifact: { type: 'model' }, target })
        .catch(() => undefined);
    }
    await until(
      () => window.downloads.active.filter(({ receivedBytes }) => receivedBytes > 0).length === labels.length,
    );
    stage.sandbox.control.setScenario('none');
    return runIds;
  }

  /** What a window leaves that ends in the middle of it. */
  async function leave(...labels: string[]): Promise<string[]> {
    const window = stage.window();
    const runIds = await begin(window, ...labels);
    await window.downloads.dispose();
    return runIds;
  }

  it('are offered after a restart, in one window and once', async () => {
    const [runId] = await leave('maths');
    const windows = [stage.window(), stage.window()];
    for (const { session } of windows) await session.runs.loadDetail(runId ?? '');
    for (const window of windows) watch(window);
    await until(() => said().length > 0);
    await later();
    assert.equal(said().length, 1);
    assert.match(said()[0] ?? '', /^The download of maths was interrupted at \d%\.$/);
    assert.deepEqual(standIn.told.buttons, [['Resume', 'Discard']]);
    watch(stage.window());
    await later();
    assert.equal(said().length, 1);
  });

  it('are resumed or discarded, as the user chooses', async () => {
    for (const button of ['Resume', 'Discard']) {
      standIn.forget();
      standIn.told.answer = () => button;
      const [runId] = await leave(button);
      const window = stage.window();
      watch(window);
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [
        button === 'Resume'
          ? ['fineTuning.downloadAdapter', { accountId: 'account-1', id: runId }, 'resume']
          : ['fineTuning.cancelDownload', window.downloads.active[0]?.id],
      ]);
      for (const face of faces.splice(0)) face.dispose();
      const cleaning = stage.window();
      await cleaning.downloads.discardAll('account-1');
    }
  });

  it('are not discarded by an old offer, where they are resumed since', async () => {
    await leave('one', 'two');
    const window = stage.window();
    standIn.told.answer = () => 'Discard All';
    const isRunning = () => window.downloads.active.some(({ state }) => state !== 'interrupted');
    const claim: Window['claim'] = async (...args) => {
      if (!isRunning()) {
        stage.sandbox.control.setScenario('slow-download');
        window.downloads.resume(window.downloads.active[0]?.id ?? '').catch(() => undefined);
        await until(isRunning);
      }
      return window.claim(...args);
    };
    watch({ ...window, claim });
    await until(() => standIn.executed.length > 0);
    const left = window.downloads.active.filter(({ state }) => state === 'interrupted');
    assert.deepEqual(standIn.executed, [['fineTuning.cancelDownload', left[0]?.id]]);
    assert.equal(left.length, 1);
  });

  it('are not offered of an account that was left while they were read', async () => {
    await leave('maths');
    const window = stage.window();
    watch(window);
    Object.assign(window.sessions, { active: undefined });
    await later();
    assert.deepEqual(said(), []);
  });

  it('are all resumed after one question about the account, or none is', async () => {
    const runIds = await leave('one', 'two');
    standIn.told.answer = () => 'Resume All';
    for (const isAgreed of [false, true]) {
      [asked, agrees] = [[], isAgreed];
      faces.push(create({ ...stage.window(), claim: () => Promise.resolve(true), ensureActiveAccount }));
      await until(() => asked.length > 0);
      await later();
      assert.deepEqual(asked, ['account-1']);
      const resumed = standIn.executed.map(([, target]) => (target as { id: string }).id);
      assert.deepEqual(resumed.sort(), isAgreed ? runIds.sort() : []);
      faces.pop()?.dispose();
    }
  });

  it('are offered if they were claimed when their account is left, and not claimed after that', async () => {
    await leave('one', 'two');
    const claims: string[] = [];
    const claim = (_accountId: string, runId: string) => {
      claims.push(runId);
      faces[0]?.dispose();
      return Promise.resolve(true);
    };
    faces.push(create({ ...stage.window(), claim, ensureActiveAccount }));
    await until(() => said().length > 0);
    assert.equal(claims.length, 1);
    assert.match(said()[0] ?? '', /^The download of .+ was interrupted/);
  });

  it('are not offered while another window runs them, and are when that one ends', async () => {
    const other = stage.window();
    const mine = stage.window();
    await mine.downloads.open('account-1');
    watch(mine);
    await begin(other, 'maths');
    await later();
    assert.deepEqual(said(), []);
    await other.downloads.dispose();
    await until(() => said().length > 0);
    assert.equal(said().length, 1);
  });

  it('are not offered where this window reported why they ended, nor those of another account', async () => {
    const mine = stage.window();
    watch(mine);
    const runId = await stage.submit(mine, 'maths');
    stage.pass(HOUR);
    const target = path.join(stage.out, 'a.zip');
    const follow = mine.downloads.onDidChange(() => {
      if (mine.downloads.active[0]?.state === 'downloading') writeFileSync(target, 'mine');
    });
    await assert.rejects(
      mine.downloads.start({ session: mine.session, runId, artifact: { type: 'model' }, target }),
      {
        code: 'file-exists',
      },
    );
    follow.dispose();
    const other = stage.window('account-2');
    await begin(other, 'theirs');
    await other.downloads.dispose();
    await mine.downloads.open('account-2');
    assert.equal(mine.downloads.active.length, 2);
    watch(mine);
    await later();
    assert.deepEqual(said(), []);
  });

  it('are offered by the next window where the account was left before', async () => {
    const before = stage.window();
    await begin(before, 'maths');
    watch(before);
    faces[0]?.dispose();
    await before.downloads.dispose();
    await later();
    assert.deepEqual(said(), []);
    assert.ok((await readdir(stage.out)).length > 0);
    watch(stage.window());
    await until(() => said().length > 0);
  });
});
