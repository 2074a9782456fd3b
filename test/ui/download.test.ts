import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unzip } from '../helpers/unzip.ts';
import { weekly } from '../helpers/weekly.ts';
import { AdapterPage } from './adapterPage.ts';
import { smallDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { beginFromList, charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Download6w3pT9';

describe('downloads', () => {
  let folder: string;
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    service = await Service.start(API_KEY);
    // At this speed, a run takes a third of a second.
    service.setSpeed(1_000);
    vscode = await VSCode.start();
    workbench = await vscode.open(folder);
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: API_KEY });
    await workbench.statusItem('balance').getByText('1,000.00 USD').waitFor();
  });

  after(async () => {
    await vscode.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  afterEach(async () => {
    service.release();
    service.control.setScenario('none');
    await workbench.clearNotifications();
  });

  async function submit(name: string): Promise<void> {
    await writeFile(path.join(folder, `${name}.jsonl`), smallDataset(name));
    await beginFromList(workbench, `${name}.jsonl`);
    await walkThroughSteps(workbench, { fileName: `${name}.jsonl`, model: 'Qwen3 8B' });
  }

  async function newFolder(name: string): Promise<string> {
    const made = path.join(folder, name);
    await mkdir(made);
    return made;
  }

  const row = (name: string) => workbench.sideBar.view('Runs').row(new RegExp(`^Run ${name}, `));
  const downloaded = (name: string) => row(name).and(workbench.sideBar.view('Runs').row(/, Downloaded$/));
  const press = (name: string) =>
    workbench.sideBar.view('Runs').chooseInContextMenu(new RegExp(`^Run ${name}, `), 'Download Adapter…');
  const finished = (name: string) => workbench.dialogs.toast(new RegExp(`${name} completed\\.`));
  const visible = async (where: string) => (await readdir(where)).filter((name) => !name.startsWith('.'));

  /** Downloads an adapter that is already downloaded. */
  async function downloadAgain(where: string): Promise<void> {
    await press('maths');
    await workbench.dialogs.waitForModal('The adapter for maths has already been downloaded.');
    await workbench.dialogs.press('Download Again…');
    await workbench.quickInput.choosePath(where);
  }

  /** Asserts that a folder's only file is an adapter. */
  async function isAdapter(where: string): Promise<void> {
    const [name = '', ...others] = await readdir(where);
    assert.deepEqual(others, []);
    const files = await unzip(await readFile(path.join(where, name)));
    assert.ok(files.has('adapter_model.safetensors'));
  }

  /** Waits until a folder is empty, because the part is removed shortly after the notification. */
  async function isEmpty(where: string): Promise<void> {
    await until(`${where} is empty`, async () => (await readdir(where)).length === 0);
  }

  async function isHeld(): Promise<void> {
    await until('the download is held', () => service.held > 0);
  }

  it('start from the notification of a completed run, and then offer Inspect', async () => {
    const where = await newFolder('here');
    await submit('maths');
    await finished('maths').waitFor();
    await workbench.screenshot('run-finished');
    await workbench.dialogs.pressInToast(/maths completed/, 'Download');
    await workbench.quickInput.choosePath(where);
    const toast = await workbench.dialogs.waitForToast(/Downloaded .+ to /);
    assert.match(toast, /^Downloaded adapter-\w{8}\.zip to .+here\.$/);
    await isAdapter(where);
    await workbench.screenshot('download-shown');
    await downloaded('maths').waitFor();
    await workbench.dialogs.pressInToast(/Downloaded .+ to /, 'Inspect');
    await new AdapterPage(workbench).waitForVerdict('Sandbox: nothing was trained');
    await workbench.screenshot('download-inspected');
    // A notification closes when its button is pressed, and VS Code shows that of a progress for a moment longer.
    const others = () => workbench.dialogs.notifications();
    await until('one notification is left', async () => (await others()).length === 1);
    assert.match((await others()).join('\n'), /^Submitted maths /);
  });

  it('complete the steps of a walkthrough that is opened afterwards', async () => {
    await workbench.runCommand('Fine-Tuning: Open Walkthrough');
    const done = workbench.page
      .locator('.getting-started-step')
      .filter({ has: workbench.page.locator('[data-done-step-id][aria-checked=true]') });
    for (const title of ['Check a dataset', 'Submit a run']) await done.filter({ hasText: title }).waitFor();
    assert.equal(await done.count(), 2);
    await workbench.editors.closeAll();
  });

  it('ask first if the adapter is already downloaded', async () => {
    await press('maths');
    const detail = await workbench.dialogs.waitForModal('The adapter for maths has already been downloaded.');
    assert.match(detail, /here\/adapter-\w{8}\.zip$/);
    await workbench.screenshot('downloaded-already');
    await workbench.dialogs.press('Cancel');
  });

  it('leave nothing when canceled in the notification', async () => {
    const where = await newFolder('cancelled');
    service.holdsDownloads = true;
    await downloadAgain(where);
    await isHeld();
    await workbench.dialogs.waitForToast(/Downloading maths: .+ of [\d.]+ kB/);
    await workbench.screenshot('downloading');
    assert.deepEqual(await visible(where), []);
    await workbench.dialogs.pressInToast('Downloading maths', 'Cancel');
    await workbench.dialogs.toast('Downloading maths').waitFor({ state: 'hidden' });
    await isEmpty(where);
  });

  it('resume automatically after a cut', async () => {
    const where = await newFolder('cut');
    service.control.setScenario('cut-download');
    await downloadAgain(where);
    await workbench.dialogs.waitForToast(/Downloaded .+ to .+\. It was interrupted and resumed\./);
    await isAdapter(where);
    assert.ok(service.requests.filter((request) => request.startsWith('GET /artifacts/')).length > 1);
  });

  weekly(() => {
    it('are offered by a reminder before the adapter expires', async () => {
      service.control.setScenario('short-retention');
      await submit('soon');
      await workbench.dialogs.waitForToast(charged('soon'));
      service.control.setScenario('none');
      // The reminder is due half a minute later by the service's clock, so it is not part of this notification.
      await finished('soon').waitFor();
      // A little more, because the service's clock is only known to the second.
      service.passTime(35_000);
      await workbench.runCommand('Fine-Tuning: Refresh');
      const reminder = workbench.dialogs.toast(/The adapter for soon expires in /);
      await reminder.waitFor();
      assert.match(await reminder.innerText(), /expires in [12] h and hasn’t been downloaded/);
      await workbench.screenshot('reminder');
      const where = await newFolder('soon');
      await workbench.dialogs.pressInToast(/hasn’t been downloaded/, 'Download');
      await workbench.quickInput.choosePath(where);
      await workbench.dialogs.waitForToast(/Downloaded .+ to /);
      await isAdapter(where);
    });

    it('start automatically if the settings say so, each into a separate folder, and are not offered then', async () => {
      const directory = await newFolder('directory');
      await vscode.set({
        'fineTuning.downloadDirectory': directory,
        'fineTuning.downloadWhenComplete': 'always',
      });
      await workbench.reload();
      await workbench.sideBar.open('Fine-Tuning');
      await submit('verse');
      await finished('verse').hover();
      assert.equal(await finished('verse').getByRole('button', { name: 'Download', exact: true }).count(), 0);
      await downloaded('verse').waitFor();
      await workbench.screenshot('downloaded-when-complete');
      const [own = '', ...others] = await readdir(directory);
      assert.deepEqual(others, []);
      assert.match(own, /^verse \w{8}$/);
      await isAdapter(path.join(directory, own));
    });
  });
});
