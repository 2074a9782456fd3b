import assert from 'node:assert/strict';
import fs, { readdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { DownloadStage, type Window } from '../../../helpers/runs/downloadStage.ts';
import { until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const watchers = await withVscode(() => import('../../../../src/ui/downloads/watchers.ts'));
// Load what the watchers import at their first use.
await withVscode(() => import('../../../../src/ui/downloads/autoDownload.ts'));
await withVscode(() => import('../../../../src/ui/downloads/reminders.ts'));

const { downloadsByRun } = await withVscode(() => import('../../../../src/ui/runs/runRows.ts'));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('download watchers', () => {
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

  const said = () => standIn.shown.sentences;
  const claiming = (claim: Window['notices']['claim']) => ({
    notices: { claim } as unknown as Window['notices'],
  });

  describe('downloadWhenComplete', () => {
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

    /** Submits a run that finishes while it is watched. */
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
    /** Waits for anything that must not happen. */
    const later = () => new Promise((resolve) => setTimeout(resolve, 60));

    it('downloads the adapter of a completing run into its folder without a notification', async () => {
      watch(first);
      const runId = await finish(first);
      await isDownloaded(first);
      assert.deepEqual(await readdir(folderOf(runId)), [fileOf(runId)]);
      await later();
      assert.deepEqual(said(), []);
    });

    it('reports a file of unknown format', async () => {
      const unsure = stage.window('account-1', () => Promise.resolve('unknown'));
      watch(unsure);
      await finish(unsure);
      await until(() => said().length > 0);
      assert.match(said()[0] ?? '', /its format is unknown/);
    });

    it('ignores runs that were complete when first seen', async () => {
      await stage.submit(first, 'old');
      stage.pass(HOUR);
      const second = stage.window();
      watch(second);
      await second.session.runs.refresh();
      await second.session.runs.refresh();
      await later();
      assert.deepEqual(await readdir(stage.out), []);
    });

    it('downloads once, in one window', async () => {
      const second = stage.window();
      for (const window of [first, second]) watch(window);
      const runId = await stage.submit(first, 'maths');
      for (const { session } of [first, second]) await session.runs.refresh();
      stage.pass(HOUR);
      await Promise.all([first, second].map(({ session }) => session.runs.refresh()));
      await until(() => [first, second].some(({ downloads }) => downloads.records('account-1').length > 0));
      // The file that describes a part goes a moment after the download is recorded.
      await until(() => readdirSync(folderOf(runId)).length === 1);
      await later();
      assert.deepEqual(await readdir(folderOf(runId)), [fileOf(runId)]);
    });

    it('downloads one adapter at a time and never replaces a file', async () => {
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

    for (const isDone of [true, false])
      it(`leaves out what the user ${isDone ? 'has downloaded' : 'is downloading'} meanwhile`, async () => {
        const verified = Promise.withResolvers<'zip'>();
        const window = stage.window('account-1', () => verified.promise);
        const { downloads, notices, session } = window;
        downloads.onDidChange(() =>
          isDone || downloads.active.length > 1 ? verified.resolve('zip') : undefined,
        );
        let mine: string | undefined;
        const claim: Window['notices']['claim'] = async (account, runId, what) => {
          if (mine === undefined) {
            const [artifact] = await downloads.list(session, (mine = runId));
            const target = path.join(stage.out, 'mine.zip');
            const done = downloads.start({ session, runId, artifact: artifact!, target });
            await (isDone ? done : until(() => downloads.active.length > 0));
          }
          return notices.claim(account, runId, what);
        };
        watch({ ...window, ...claiming(claim) });
        for (const label of ['one', 'two']) await stage.submit(window, label);
        await session.runs.refresh();
        stage.pass(HOUR);
        await session.runs.refresh();
        const records = () => downloads.records('account-1').map(({ runId }) => runId === mine);
        await until(() => records().includes(false) && downloads.active.length === 0);
        assert.equal(records().length, 2);
      });

    for (const [mode, directory] of [
      ['off', 'there'],
      ['ask', 'there'],
      ['always', ''],
      ['always', 'missing'],
      ['always', 'relative'],
    ] as const)
      it(`does nothing if the setting is “${mode}” and the folder is ${directory === '' ? 'not set' : directory}`, async () => {
        const text = { there: stage.out, '': '', missing: path.join(stage.out, 'missing'), relative: 'a/b' };
        set(mode, text[directory]);
        watch(first);
        await finish(first);
        await later();
        assert.deepEqual([await readdir(stage.out), said()], [[], []]);
      });

    it('reports a failure once, with the run, and offers the download', async () => {
      watch(first);
      const runId = await stage.submit(first, 'maths');
      await first.session.runs.refresh();
      stage.pass(HOUR);
      // A file is in place of the run's folder.
      await writeFile(folderOf(runId), '');
      standIn.shown.answer = (buttons) => buttons[0];
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

    it('updateDownloadedFilesContext sets the context key of the active account’s files', async () => {
      watching.push(watchers.updateDownloadedFilesContext(first));
      watch(first);
      const runId = await finish(first);
      await isDownloaded(first);
      const known = standIn.executed.filter(([, key]) => key === 'fineTuning.downloadedFiles');
      assert.deepEqual(known.at(-1)?.[2], [path.join(folderOf(runId), fileOf(runId))]);
      assert.ok(known.length <= 3, 'not for its progress');
    });

    it('updateDownloadedFilesContext rechecks files on focus and after file changes in the window', async () => {
      watching.push(watchers.updateDownloadedFilesContext(first));
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
      // Its row shows the same.
      assert.equal(downloadsByRun(first.downloads, 'account-1').downloaded.size, 0);
      await rename(away, folderOf(runId));
      standIn.filesChanged.fire(undefined);
      await until(() => isGone() === undefined);
      assert.equal(downloadsByRun(first.downloads, 'account-1').downloaded.size, 1);
    });

    it('continues after an unexpected failure', async () => {
      let failures = 1;
      const claim: Window['notices']['claim'] = (...args) =>
        failures-- > 0 ? Promise.reject(new Error('first')) : first.notices.claim(...args);
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

  describe('remindBeforeExpiry', () => {
    const watch = (window: Window) =>
      watching.push(watchers.remindBeforeExpiry(window, { focused: 5, behind: 5, always: 200 }));

    /** Waits, since a reminder may be late on a busy machine. */
    async function saidTimes(count: number): Promise<void> {
      await until(() => said().length >= count);
      assert.equal(said().length, count);
    }

    /** Submits a run that finishes; the sandbox keeps its adapter for 7 days. */
    async function finished(label: string): Promise<string> {
      const runId = await stage.submit(first, label);
      stage.pass(HOUR);
      return runId;
    }

    /** Makes the window read the list and gives it the focus. */
    async function look({ session }: Window): Promise<void> {
      await session.runs.refresh();
      standIn.focus.changed.fire({ focused: true });
      await new Promise((resolve) => setTimeout(resolve, 60));
    }

    it('reminds once at each stage, with the time left by the service’s clock', async () => {
      watch(first);
      await finished('maths');
      await look(first);
      assert.deepEqual(said(), []);
      stage.pass(6 * DAY);
      await look(first);
      await look(first);
      await saidTimes(1);
      assert.match(said()[0] ?? '', /^The adapter for maths expires in 23 h and hasn’t been downloaded\.$/);
      stage.pass(22 * HOUR);
      await look(first);
      await look(first);
      await saidTimes(2);
      assert.match(said()[1] ?? '', /expires in 1 h and/);
      assert.deepEqual(standIn.shown.buttons.at(-1), ['Download', 'Show']);
      stage.pass(2 * HOUR);
      await look(first);
      await saidTimes(2);
    });

    it('names the fault of the sandbox that shortens the time', async () => {
      stage.fault = 'Sandbox scenario “Adapter expires in two hours” is on.';
      watch(first);
      await finished('maths');
      stage.pass(6 * DAY);
      await look(first);
      await saidTimes(1);
      assert.match(
        said()[0] ?? '',
        /hasn’t been downloaded\. Sandbox scenario “Adapter expires in two hours” is on\.$/,
      );
      assert.deepEqual(standIn.shown.buttons.at(-1), ['Download', 'Show', 'Choose Another']);
    });

    it('shows missed reminders once, and several runs in one notification', async () => {
      await finished('one');
      await finished('two');
      stage.pass(6 * DAY + 21 * HOUR);
      standIn.shown.answer = () => 'Show';
      watch(first);
      await look(first);
      await saidTimes(1);
      assert.deepEqual(said(), ['2 adapters expire within 24 hours.']);
      assert.deepEqual(standIn.shown.buttons, [['Download…', 'Show']]);
      await until(() => standIn.executed.length === 1);
      assert.equal(standIn.executed[0]?.[0], 'fineTuning.runs.focus');
    });

    it('reminds in one window only, even if another one opens later', async () => {
      const second = stage.window();
      watch(first);
      watch(second);
      await finished('maths');
      stage.pass(6 * DAY);
      await Promise.all([look(first), look(second)]);
      const third = stage.window();
      watch(third);
      await look(third);
      await saidTimes(1);
    });

    it('skips an adapter on disk, but not after the file was deleted', async () => {
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

    it('skips an adapter that another window downloaded, though nothing told this one', async () => {
      const runId = await finished('maths');
      stage.pass(6 * DAY);
      await first.session.runs.refresh();
      const { downloads } = stage.window();
      const watch = mock.method(fs, 'watch', () => {
        throw new Error('ENOSPC');
      });
      syncBuiltinESMExports();
      await first.downloads.open('account-1');
      watch.mock.restore();
      syncBuiltinESMExports();
      const target = path.join(stage.out, 'a.zip');
      await downloads.start({ session: first.session, runId, artifact: { type: 'model' }, target });
      assert.equal(first.downloads.records('account-1').length, 0);
      const { remind } = await withVscode(() => import('../../../../src/ui/downloads/reminders.ts'));
      await remind(first, first.session, new AbortController().signal);
      assert.deepEqual(said(), []);
    });

    it('reminds after a failed check', async () => {
      const failure = new Error('no');
      const claim: Window['notices']['claim'] = (...args) =>
        stage.logged.length === 0 ? Promise.reject(failure) : first.notices.claim(...args);
      watch({ ...first, ...claiming(claim) });
      await finished('maths');
      stage.pass(6 * DAY);
      await look(first);
      await until(() => stage.logged.length > 0);
      await look(first);
      await saidTimes(1);
      assert.deepEqual(stage.logged, [failure]);
    });

    it('waits until the downloaded files are known', async () => {
      await finished('maths');
      stage.pass(6 * DAY);
      const opened = Promise.withResolvers<undefined>();
      const open = () => opened.promise;
      const downloads = { active: [], records: () => [], open, check: open };
      watch({ ...first, downloads } as unknown as Window);
      await look(first);
      await look(first);
      assert.deepEqual(said(), []);
      opened.resolve(undefined);
      await saidTimes(1);
    });

    it('offers the download and the run', async () => {
      watch(first);
      const runId = await finished('maths');
      stage.pass(6 * DAY);
      standIn.shown.answer = () => 'Download';
      await look(first);
      await until(() => standIn.executed.length === 1);
      stage.pass(22 * HOUR);
      standIn.shown.answer = () => 'Show';
      await look(first);
      await until(() => standIn.executed.length === 2);
      assert.deepEqual(standIn.executed, [
        ['fineTuning.downloadAdapter', { accountId: 'account-1', id: runId }],
        ['fineTuning.showRun', { accountId: 'account-1', id: runId }],
      ]);
    });

    it('reminds when the time comes, without an event', async () => {
      stage.sandbox.control.setScenario('short-retention');
      await stage.submit(first, 'maths');
      // The run finishes after 36 s. Half a minute later, its adapter expires in two hours.
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
