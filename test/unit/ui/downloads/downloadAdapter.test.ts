import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import path from 'node:path';
import type { Artifact } from '../../../../src/core/api/types.ts';
import { usePlatform } from '../../../helpers/platform.ts';
import { DownloadStage, type Window } from '../../../helpers/runs/downloadStage.ts';
import { until } from '../../../helpers/runs/support.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const commands = await withVscode(() => import('../../../../src/ui/downloads/downloadAdapter.ts'));

const HOUR = 3_600_000;
const { cancelDownload } = await withVscode(() => import('../../../../src/ui/downloads/cancelDownload.ts'));
type Parts = Parameters<typeof commands.downloadAdapter>[0];

/** Sends the first half of a file, and then nothing more. */
async function sendHalf(url: string, response: http.ServerResponse): Promise<void> {
  const answer = await fetch(url);
  const file = Buffer.from(await answer.arrayBuffer());
  response.writeHead(200, Object.fromEntries(answer.headers));
  response.write(file.subarray(0, file.length / 2));
}

describe('downloadAdapter', () => {
  let stage: DownloadStage;
  let window: Window;
  let runId: string;
  let out: string;
  let file: string;
  let logged: unknown[];
  const log = { error: (_what: string, error: unknown) => void logged.push(error) };

  beforeEach(async () => {
    standIn.forget();
    standIn.settings.clear();
    logged = [];
    stage = await DownloadStage.start();
    out = stage.out;
    standIn.shown.folder = () => out;
    window = stage.window();
    runId = await submit();
    file = `adapter-${runId.slice(0, 8)}.zip`;
    stage.pass(HOUR);
  });
  afterEach(() => stage.end());

  const submit = () => stage.submit(window, 'maths ft-7k3m9qpx');
  const download = (argument: unknown, mode?: 'resume') =>
    commands.downloadAdapter({ ...window, log } as unknown as Parts, argument, mode);
  const cancel = (argument: unknown) => cancelDownload(window.sessions, window.downloads, argument);
  const active = () => window.downloads.active;

  /** Changes which artifacts the service offers to this window. */
  const changeOffer = (change: (offered: Artifact[]) => Artifact[]) =>
    window.session.call((client) => {
      const offer = client.createArtifactDownloads.bind(client);
      client.createArtifactDownloads = async (...call) => change(await offer(...call));
      return Promise.resolve();
    });

  /** Starts a download that stops halfway. @returns its end, in an object so that it is not awaited here */
  async function begin(): Promise<{ ended: Promise<unknown> }> {
    const { baseUrl } = stage.sandbox;
    const slow = await stage.bench.serve(({ url = '' }, response) => void sendHalf(baseUrl + url, response));
    await changeOffer((offered) =>
      offered.map((one) => ({ ...one, url: one.url.replace(baseUrl, slow.url) })),
    );
    const ended = download(runId);
    await until(() => active().some(({ receivedBytes }) => receivedBytes > 0));
    return { ended };
  }

  /** Closes the window during a download, and opens another one. */
  async function interrupt(): Promise<void> {
    const { ended } = await begin();
    await window.downloads.dispose();
    await ended;
    window = stage.window();
    await window.downloads.open('account-1');
    assert.deepEqual(
      active().map(({ state }) => state),
      ['interrupted'],
    );
    standIn.forget();
    standIn.shown.folder = () => assert.fail('no folder is asked for');
  }

  const press = (...titles: string[]) => {
    standIn.shown.answer = (buttons) => titles.find((title) => buttons.includes(title));
  };
  const said = () => standIn.shown.sentences;
  const set = (directory: string) => standIn.settings.set('fineTuning.downloadDirectory', directory);

  it('rejects an unfinished, unknown, or expired run before asking for a folder', async () => {
    standIn.shown.folder = () => assert.fail('a folder is asked for');
    const running = await submit();
    await assert.rejects(download(running), { code: 'run-not-completed' });
    await assert.rejects(download('3fa85f64-5717-4562-b3fc-2c963f66afa6'), { code: 'run-unknown' });
    await window.session.runs.refresh();
    stage.pass(8 * 24 * 3_600_000);
    await assert.rejects(download(runId), { code: 'artifacts-expired' });
  });

  describe('with a download folder in the settings', () => {
    beforeEach(() => {
      standIn.shown.folder = () => assert.fail('a folder is asked for');
    });

    it('downloads into a subfolder for each run without asking', async () => {
      set(out);
      await download(runId);
      const folder = `maths ${runId.slice(0, 8)}`;
      assert.deepEqual(await readdir(out), [folder]);
      assert.deepEqual(await readdir(path.join(out, folder)), [file]);
      assert.equal(said().length, 1);
    });

    it('asks whether to create a missing folder', async () => {
      const missing = path.join(out, 'a', 'b');
      set(missing);
      press();
      await download(runId);
      assert.deepEqual(await readdir(out), []);
      assert.deepEqual(said(), ['The download folder doesn’t exist.']);
      press('Create Folder');
      await download(runId);
      assert.deepEqual(await readdir(path.join(missing, `maths ${runId.slice(0, 8)}`)), [file]);
    });

    it('reports an unusable folder and asks for another one', async () => {
      await writeFile(path.join(stage.bench.folder, 'file'), '');
      const texts = ['adapters', path.join(stage.bench.folder, 'file')];
      for (const [index, text] of texts.entries()) {
        set(text);
        const folder = path.join(out, String(index));
        await mkdir(folder);
        standIn.shown.folder = () => folder;
        press('Create Folder', 'Download Again…', 'Open Setting');
        await download(runId);
        assert.deepEqual(await readdir(folder), [file]);
        assert.ok(said().includes(`The download folder “${text}” isn’t an absolute path to a folder.`));
      }
      assert.deepEqual(standIn.executed[0], [
        'workbench.action.openSettings',
        'fineTuning.downloadDirectory',
      ]);
    });

    it('removes the new folder of a canceled download', async () => {
      set(out);
      const { ended } = await begin();
      assert.equal((await readdir(out)).length, 1);
      await cancel(runId);
      await ended;
      assert.deepEqual(await readdir(out), []);
    });
  });

  it('reports why a download failed and offers the matching action', async () => {
    await changeOffer((offered) => {
      stage.pass(HOUR);
      return offered;
    });
    await download(runId);
    assert.match(
      said()[0] ?? '',
      /^Download of maths failed\. The download server returned an error \(403\)\./,
    );
    assert.deepEqual(standIn.shown.buttons, [['Download Again…', 'Show Log']]);
    assert.equal(logged.length, 1);
  });

  describe('with several artifacts', () => {
    usePlatform('linux');
    const log = () => `training-log-${runId.slice(0, 8)}.jsonl`;
    beforeEach(() =>
      changeOffer(([adapter]) => [{ ...adapter!, artifact_type: 'training_log', filename: log() }, adapter!]),
    );

    it('asks which to download, with the adapter first and preselected', async () => {
      let rows: unknown;
      standIn.shown.tick = (items) => {
        rows = items.map(({ label, description, picked }) => [label, description, picked]);
        return items.filter(({ picked }) => picked);
      };
      await download(runId);
      assert.deepEqual(rows, [
        [file, 'the trained adapter', true],
        [log(), 'training_log', false],
      ]);
      assert.deepEqual(await readdir(out), [file]);
    });

    it('downloads all chosen artifacts and reports them once', async () => {
      standIn.shown.tick = (items) => items;
      press('Inspect');
      await download(runId);
      assert.deepEqual((await readdir(out)).sort(), [file, log()]);
      assert.deepEqual(said(), [`Downloaded 2 files to ${out}.`]);
      assert.equal((standIn.executed[0]?.[1] as { fsPath: string }).fsPath, path.join(out, file));
      assert.ok(standIn.shown.progress.some((text) => text.startsWith('2 of 2: ')));
    });

    it('downloads nothing if the list is canceled', async () => {
      standIn.shown.tick = () => undefined;
      standIn.shown.folder = () => assert.fail('a folder is asked for');
      await download(runId);
      assert.deepEqual(said(), []);
    });
  });

  it('names the fault of the sandbox that it waits for', async () => {
    stage.fault = 'Sandbox scenario “Interrupted download” is on.';
    stage.sandbox.control.setScenario('cut-download');
    await download(runId);
    const { progress } = standIn.shown;
    assert.deepEqual(
      [progress.includes(stage.fault), progress.join().includes('the network')],
      [true, false],
    );
    assert.match(said().join(), /It was interrupted and resumed\.$/);
  });

  it('never replaces a file: keeps both or does nothing', async () => {
    await writeFile(path.join(out, file), 'mine');
    await download(runId);
    assert.deepEqual([await readdir(out), said()], [[file], [`${file} already exists in that folder.`]]);
    press('Keep Both');
    await download(runId);
    assert.deepEqual((await readdir(out)).sort(), [file.replace('.zip', ' (2).zip'), file].sort());
  });

  it('offers to inspect, show, or download again an adapter that is already on disk', async () => {
    await download(runId);
    standIn.forget();
    standIn.shown.folder = () => assert.fail('a folder is asked for');
    press('Inspect');
    await download(runId);
    assert.deepEqual(said(), ['The adapter for maths has already been downloaded.']);
    assert.deepEqual(standIn.shown.buttons, [['Inspect', 'Open Containing Folder', 'Download Again…']]);
    press('Open Containing Folder');
    await download(runId);
    assert.deepEqual(
      standIn.executed.map(([command]) => command),
      ['fineTuning.inspectAdapter', 'revealFileInOS'],
    );
    standIn.shown.folder = () => stage.bench.folder;
    press('Download Again…');
    await download(runId);
    assert.ok((await readdir(stage.bench.folder)).includes(file));
  });

  describe('after an interruption', () => {
    it('discards the download and restarts it in another folder', async () => {
      await interrupt();
      press('Restart Download');
      standIn.shown.folder = () => stage.bench.folder;
      await download(runId);
      assert.deepEqual(await readdir(out), []);
      assert.ok((await readdir(stage.bench.folder)).includes(file));
    });

    it('does nothing if the question is canceled', async () => {
      await interrupt();
      await download(runId);
      assert.equal(active().length, 1);
      assert.equal((await readdir(out)).length, 2);
    });
  });

  it('reports a download in progress and offers to cancel it', async () => {
    const { ended } = await begin();
    const [running] = active();
    press('Cancel Download');
    await download(runId);
    assert.match(said()[0] ?? '', /^The adapter for maths is already downloading: [\d.]+ kB of [\d.]+ kB\.$/);
    assert.deepEqual(standIn.executed, [['fineTuning.cancelDownload', running?.id]]);
    await cancel(running?.id);
    await ended;
    assert.deepEqual([active(), await readdir(out)], [[], []]);
  });

  it('cancelDownload asks before it discards anything, with a row as well', async () => {
    await interrupt();
    await cancel(undefined);
    assert.deepEqual([standIn.shown.inputs.length, active().length], [1, 1]);
    // Anyone can pass a run's ID.
    await cancel({ kind: 'run', runId });
    await cancel(active()[0]?.id);
    assert.equal(active().length, 1);
    assert.match(said().at(-1) ?? '', /^Discard the interrupted download of run [0-9a-f]+\?$/);
    press('Discard');
    await cancel({ kind: 'run', runId });
    assert.deepEqual([active(), await readdir(out)], [[], []]);
  });
});
