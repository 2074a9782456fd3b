import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';
import { until } from '../../../helpers/runs/support.ts';
import { DownloadStage, type Window } from '../../../helpers/runs/downloadStage.ts';

const { downloadWhenComplete: create, keepDownloadedFiles } = await withVscode(
  () => import('../../../../src/ui/downloads/watchers.ts'),
);
// It is loaded at its first use.
await withVscode(() => import('../../../../src/ui/downloads/autoDownload.ts'));

const HOUR = 3_600_000;

describe('"Download when complete"', () => {
  let stage: DownloadStage;
  let first: Window;
  let faces: { dispose(): unknown }[];
  let logged: unknown[];

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    [logged, faces] = [[], []];
    stage = await DownloadStage.start();
    first = stage.window();
    set('always', stage.out);
  });
  afterEach(async () => {
    for (const face of faces) face.dispose();
    await stage.end();
  });

  function watch(window: Window): { dispose(): unknown } {
    const log = { error: (_what: string, error: unknown) => void logged.push(error) };
    const face = create({ ...window, log });
    faces.push(face);
    return face;
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

  const said = () => standIn.told.sentences;
  const folderOf = (runId: string, label = 'maths') => path.join(stage.out, `${label} ${runId.slice(0, 8)}`);
  const fileOf = (runId: string) => `adapter-${runId.slice(0, 8)}.zip`;
  const isDownloaded = (window: Window, count = 1) =>
    until(
      () => window.downloads.records('account-1').length === count && window.downloads.active.length === 0,
    );
  /** For what must not happen. */
  const later = () => new Promise((resolve) => setTimeout(resolve, 150));

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
    assert.match(said()[0] ?? '', /not a known adapter format/);
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

  it('reports that the folder is gone since the run completed', async () => {
    watch(first);
    const runIds = [await stage.submit(first, 'one'), await stage.submit(first, 'two')];
    await first.session.runs.refresh();
    stage.pass(HOUR);
    stage.sandbox.control.setScenario('slow-download');
    await first.session.runs.refresh();
    await until(() => first.downloads.active.some(({ receivedBytes }) => receivedBytes > 0));
    const [active] = first.downloads.active;
    const other = runIds.find((runId) => runId !== active?.runId);
    set('always', path.join(stage.out, 'gone'));
    await first.downloads.discard(active?.id ?? '');
    await until(() => said().length > 0);
    assert.equal(
      said()[0],
      `Download of ${other === runIds[0] ? 'one' : 'two'} failed. That folder no longer exists.`,
    );
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
    assert.equal(logged.length, 1);
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
    faces.push(keepDownloadedFiles(first.sessions, first.downloads));
    watch(first);
    const runId = await finish(first);
    await isDownloaded(first);
    const known = standIn.executed.filter(([, key]) => key === 'fineTuning.downloadedFiles');
    assert.deepEqual(known.at(-1)?.[2], [path.join(folderOf(runId), fileOf(runId))]);
    assert.ok(known.length <= 3, 'not for its progress');
  });

  it('goes on after one that failed unexpectedly', async () => {
    let failures = 1;
    const claim: Window['claim'] = (...args) =>
      failures-- > 0 ? Promise.reject(new Error('first')) : first.claim(...args);
    first.sessions.isReportedByState = () => {
      throw new Error('second');
    };
    watch({ ...first, claim });
    for (const label of ['one', 'two']) await stage.submit(first, label);
    await first.session.runs.refresh();
    stage.pass(HOUR);
    await first.session.runs.refresh();
    await isDownloaded(first);
    assert.deepEqual(logged.map(String), ['Error: first', 'Error: second']);
  });

  it('ends with the window', async () => {
    const face = watch(first);
    await stage.submit(first, 'maths');
    await first.session.runs.refresh();
    stage.pass(HOUR);
    face.dispose();
    await first.session.runs.refresh();
    await later();
    assert.deepEqual(await readdir(stage.out), []);
  });
});
