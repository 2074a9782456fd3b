import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DownloadStage, type Window } from '../../../helpers/runs/downloadStage.ts';
import { until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const watchers = await withVscode(() => import('../../../../src/ui/downloads/watchers.ts'));
// What they do is loaded at its first use.
await withVscode(() => import('../../../../src/ui/downloads/autoDownload.ts'));
await withVscode(() => import('../../../../src/ui/downloads/reminders.ts'));

const { downloadsByRun } = await withVscode(() => import('../../../../src/ui/runs/runRows.ts'));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('watching downloads', () => {
  let stage: DownloadStage;
  let first: Window;
  let watching: { dispose(): unknown }[];

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    watching = [];
    stage = await DownloadStage.start();
    first = stage.window();
  });
  afterEach(async () => {
    for (const one of watching) one.dispose();
    await stage.end();
  });

  const said = () => standIn.told.sentences;
  const claiming = (claim: Window['ledger']['claim']) => ({
    ledger: { claim } as unknown as Window['ledger'],
  });

  describe('"Download when complete"', () => {
    beforeEach(() => set('always', stage.out));

    function watch(window: Window): { dispose(): unknown } {
      const made = watchers.downloadWhenComplete(window);
      watching.push(made);
      return made;
    }

    function set(mode: string, directory: string): void {
      standIn.settings.set('fineTuning.downloadWhenComplete', mode);
      standIn.settings.set('fineTuning.downloadDirectory', directory);
    }

    /** A run that finishes while it is watched. */
    async function finish(window: Window, label = 'maths'): Promise<string> {
      const runId = await stage.submit(window, label);
      await window.session.runs.refresh();
      stage.pass(HOUR);
      await window.session.runs.refresh();
      return runId;
    }

    const folderOf = (runId: string, label = 'maths') =>
      path.join(stage.out, `${label} ${runId.slice(0, 8)}`);
    const fileOf = (runId: string) => `adapter-${runId.slice(0, 8)}.zip`;
    const isDownloaded = (window: Window, count = 1) =>
      until(
        () => window.downloads.records('account-1').length === count && window.downloads.active.length === 0,
      );
    /** For what must not happen. */
    const later = () => new Promise((resolve) => setTimeout(resolve, 60));

    it('downloads the adapter of a run that completes into its folder, which only its row shows', async () => {
      watch(first);
      const runId = await finish(first);
      await isDownloaded(first);
      assert.deepEqual(await readdir(folderOf(runId)), [fileOf(runId)]);
      await later();
      assert.deepEqual(said(), []);
    });

    it('reports nothing but doubts', async () => {
      const unsure = stage.window('account-1', () => Promise.resolve('unknown'));
      watch(unsure);
      await finish(unsure);
      await until(() => said().length > 0);
      assert.match(said()[0] ?? '', /its format is unknown/);
    });

    it('ignores runs that had completed when they were first seen', async () => {
      await stage.submit(first, 'old');
      stage.pass(HOUR);
      const second = stage.window();
      watch(second);
      await second.session.runs.refresh();
      await second.session.runs.refresh();
      await later();
      assert.deepEqual(await readdir(stage.out), []);
    });

    it('downloads in one window, and once', async () => {
      const second = stage.window();
      for (const window of [first, second]) watch(window);
      const runId = await stage.submit(first, 'maths');
      for (const { session } of [first, second]) await session.runs.refresh();
      stage.pass(HOUR);
      await Promise.all([first, second].map(({ session }) => session.runs.refresh()));
      await until(() => [first, second].some(({ downloads }) => downloads.records('account-1').length > 0));
      await later();
      assert.deepEqual(await readdir(folderOf(runId)), [fileOf(runId)]);
    });

    it('downloads one after the other, and never over a file', async () => {
      watch(first);
      const runIds = [await stage.submit(first, 'one'), await stage.submit(first, 'two')];
      await first.session.runs.refresh();
      stage.pass(HOUR);
      const [one = '', two = ''] = runIds;
      await mkdir(folderOf(one, 'one'));
      await writeFile(path.join(folderOf(one, 'one'), fileOf(one)), 'mine');
      let most = 0;
      first.downloads.onDidChange(() => void (most = Math.max(most, first.downloads.active.length)));
      await first.session.runs.refresh();
      await isDownloaded(first, 2);
      assert.equal(most, 1);
      assert.equal((await readdir(folderOf(one, 'one'))).length, 2);
      assert.deepEqual(await readdir(folderOf(two, 'two')), [fileOf(two)]);
    });

    for (const [mode, directory] of [
      ['off', 'there'],
      ['ask', 'there'],
      ['always', ''],
      ['always', 'missing'],
      ['always', 'relative'],
    ] as const)
      it(`does nothing with “${mode}” and a directory that is ${directory === '' ? 'not set' : directory}`, async () => {
        const text = { there: stage.out, '': '', missing: path.join(stage.out, 'missing'), relative: 'a/b' };
        set(mode, text[directory]);
        watch(first);
        await finish(first);
        await later();
        assert.deepEqual([await readdir(stage.out), said()], [[], []]);
      });

    it('reports once why it could not, with the run, and offers the download', async () => {
      watch(first);
      const runId = await stage.submit(first, 'maths');
      await first.session.runs.refresh();
      stage.pass(HOUR);
      // A file stands where the run's folder would be.
      await writeFile(folderOf(runId), '');
      standIn.told.answer = (buttons) => buttons[0];
      await first.session.runs.refresh();
      await until(() => said().length > 0);
      assert.deepEqual(said(), ['Download of maths failed. That folder no longer exists.']);
      assert.equal(stage.logged.length, 1);
      await until(() => standIn.executed.length > 0);
      assert.deepEqual(standIn.executed, [
        ['fineTuning.downloadAdapter', { accountId: 'account-1', id: runId }],
      ]);
      await rm(folderOf(runId));
      await first.session.runs.refresh();
      await later();
      assert.equal(said().length, 1);
    });

    it('what was downloaded is known to the Explorer’s menu, of the active account', async () => {
      watching.push(watchers.keepDownloadedFiles(first));
      watch(first);
      const runId = await finish(first);
      await isDownloaded(first);
      const known = standIn.executed.filter(([, key]) => key === 'fineTuning.downloadedFiles');
      assert.deepEqual(known.at(-1)?.[2], [path.join(folderOf(runId), fileOf(runId))]);
      assert.ok(known.length <= 3, 'not for its progress');
    });

    it('what was deleted counts as gone once the window comes to the front, or if it was deleted there', async () => {
      watching.push(watchers.keepDownloadedFiles(first));
      watch(first);
      const runId = await finish(first);
      await isDownloaded(first);
      const away = `${folderOf(runId)} away`;
      await rename(folderOf(runId), away);
      const isGone = () => first.downloads.records('account-1')[0]?.isGone;
      standIn.focus.changed.fire({ focused: false });
      await later();
      assert.equal(isGone(), undefined);
      standIn.focus.changed.fire({ focused: true });
      await until(() => isGone() === true);
      // Its row says the same.
      assert.equal(downloadsByRun(first.downloads, 'account-1').downloaded.size, 0);
      await rename(away, folderOf(runId));
      standIn.filesChanged.fire(undefined);
      await until(() => isGone() === undefined);
      assert.equal(downloadsByRun(first.downloads, 'account-1').downloaded.size, 1);
    });

    it('goes on after one that failed unexpectedly', async () => {
      let failures = 1;
      const claim: Window['ledger']['claim'] = (...args) =>
        failures-- > 0 ? Promise.reject(new Error('first')) : first.ledger.claim(...args);
      first.sessions.isReportedByState = () => {
        throw new Error('second');
      };
      watch({ ...first, ...claiming(claim) });
      for (const label of ['one', 'two']) await stage.submit(first, label);
      await first.session.runs.refresh();
      stage.pass(HOUR);
      await first.session.runs.refresh();
      await isDownloaded(first);
      assert.deepEqual(stage.logged.map(String), ['Error: first', 'Error: second']);
    });
  });

  describe('reminders of adapters', () => {
    beforeEach(() => first.session.quota.open(false));

    const watch = (window: Window) =>
      watching.push(watchers.remindBeforeExpiry(window, { focused: 5, behind: 5, always: 200 }));

    /** It may come late on a machine that is busy. */
    async function saidTimes(count: number): Promise<void> {
      await until(() => said().length >= count);
      assert.equal(said().length, count);
    }

    /** A finished run; the sandbox keeps its adapter for 7 days. */
    async function finished(label: string): Promise<string> {
      const runId = await stage.submit(first, label);
      stage.pass(HOUR);
      return runId;
    }

    /** The window reads the list, and comes to the front. */
    async function look({ session }: Window): Promise<void> {
      await session.runs.refresh();
      standIn.focus.changed.fire({ focused: true });
      await new Promise((resolve) => setTimeout(resolve, 60));
    }

    it('come once at each time, with the time that is left by the clock of the service', async () => {
      watch(first);
      await finished('maths');
      await look(first);
      assert.deepEqual(said(), []);
      stage.pass(6 * DAY);
      await look(first);
      await look(first);
      await saidTimes(1);
      assert.match(said()[0] ?? '', /^The adapter for maths expires in 23 h and isn’t downloaded\.$/);
      stage.pass(22 * HOUR);
      await look(first);
      await look(first);
      await saidTimes(2);
      assert.match(said()[1] ?? '', /expires in 1 h and/);
      stage.pass(2 * HOUR);
      await look(first);
      await saidTimes(2);
    });

    it('that were missed come as one, and several runs in one sentence', async () => {
      await finished('one');
      await finished('two');
      stage.pass(6 * DAY + 21 * HOUR);
      standIn.told.answer = () => 'Show';
      watch(first);
      await look(first);
      await saidTimes(1);
      assert.deepEqual(said(), ['2 adapters expire within 24 h.']);
      assert.deepEqual(standIn.told.buttons, [['Download…', 'Show']]);
      await until(() => standIn.executed.length === 1);
      assert.equal(standIn.executed[0]?.[0], 'fineTuning.runs.focus');
    });

    it('come in one window of several, also in one that begins later', async () => {
      const second = stage.window();
      second.session.quota.open(false);
      watch(first);
      watch(second);
      await finished('maths');
      stage.pass(6 * DAY);
      await Promise.all([look(first), look(second)]);
      const third = stage.window();
      third.session.quota.open(false);
      watch(third);
      await look(third);
      await saidTimes(1);
    });

    it('do not come for what is on the disk, and do when it was deleted', async () => {
      const runId = await finished('maths');
      const target = path.join(stage.out, 'a.zip');
      await first.session.runs.refresh();
      await first.downloads.start({ session: first.session, runId, artifact: { type: 'model' }, target });
      watch(first);
      stage.pass(6 * DAY);
      await look(first);
      assert.deepEqual(said(), []);
      await rm(target);
      await look(first);
      await saidTimes(1);
    });

    it('come after a check that failed', async () => {
      const failure = new Error('no');
      const claim: Window['ledger']['claim'] = (...args) =>
        stage.logged.length === 0 ? Promise.reject(failure) : first.ledger.claim(...args);
      watch({ ...first, ...claiming(claim) });
      await finished('maths');
      stage.pass(6 * DAY);
      await look(first);
      await until(() => stage.logged.length > 0);
      await look(first);
      await saidTimes(1);
      assert.deepEqual(stage.logged, [failure]);
    });

    it('do not come before it is known what is downloaded', async () => {
      await finished('maths');
      stage.pass(6 * DAY);
      const opened = Promise.withResolvers<undefined>();
      const downloads = { active: [], records: () => [], open: () => opened.promise };
      watch({ ...first, downloads } as unknown as Window);
      await look(first);
      await look(first);
      assert.deepEqual(said(), []);
      opened.resolve(undefined);
      await saidTimes(1);
    });

    it('lead to the download and to the run', async () => {
      watch(first);
      const runId = await finished('maths');
      stage.pass(6 * DAY);
      standIn.told.answer = () => 'Download';
      await look(first);
      await until(() => standIn.executed.length === 1);
      stage.pass(22 * HOUR);
      standIn.told.answer = () => 'Show';
      await look(first);
      await until(() => standIn.executed.length === 2);
      assert.deepEqual(standIn.executed, [
        ['fineTuning.downloadAdapter', { accountId: 'account-1', id: runId }],
        ['fineTuning.showRun', { accountId: 'account-1', id: runId }],
      ]);
    });

    it('come of themselves when their time comes', async () => {
      stage.sandbox.control.setScenario('short-retention');
      await stage.submit(first, 'maths');
      // Finished after 36 s; from half a minute later on it is kept for two hours more.
      stage.pass(36_500);
      await first.session.runs.refresh();
      stage.pass(28_500);
      await first.session.balance.refresh();
      watch(first);
      await until(() => said().length > 0);
      assert.match(said()[0] ?? '', /expires in (1 h 59 min|2 h) and/);
    });
  });
});
