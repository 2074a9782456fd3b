import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../env/project.ts';
import { unzip } from '../helpers/unzip.ts';
import { chooseClockSpeed } from './sandbox.ts';
import { charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

describe('the main job in the sandbox', () => {
  let folder: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await cp(path.join(root, 'test/fixtures/sample'), folder, { recursive: true });
    vscode = await VSCode.start();
    workbench = await vscode.open(folder);
  });

  after(async () => {
    await vscode.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is installed', async () => {
    await workbench.runCommand('View: Show Extensions');
    await workbench.page
      .locator('.extension-list-item .name')
      .getByText('Fine-Tuning', { exact: true })
      .waitFor();
  });

  it('leaves a JSONL file to the text editor', async () => {
    await workbench.editors.open(path.join(folder, 'train.jsonl'));
    await workbench.editors.typeAtStart('{}');
    assert.equal(await workbench.editors.isDirty('train.jsonl'), true);
    await workbench.editors.closeAll();
  });

  it('begins signed out, with the sandbox offered', async () => {
    await workbench.sideBar.open('Fine-Tuning');
    const runs = workbench.sideBar.view('Runs');
    await runs.welcomeButton('Use the Sandbox').waitFor();
    await runs.welcomeButton('Sign In').waitFor();
    assert.equal(await workbench.statusItem('balance').count(), 0);
    await workbench.screenshot('signed-out');
  });

  it('enters the sandbox with one click', async () => {
    await workbench.sideBar.view('Runs').welcomeButton('Use the Sandbox').click();
    await workbench.statusItem('balance').getByText('Sandbox').waitFor();
    const models = await workbench.sideBar.models();
    await models
      .row(/models/)
      .first()
      .waitFor();
    await workbench.screenshot('sandbox-empty');
  });

  it('submits 7,473 rows from the palette and reports the price', async () => {
    await workbench.clearNotifications();
    await workbench.editors.open(path.join(folder, 'train.jsonl'));
    await workbench.runCommand('Fine-Tuning: Submit Dataset…');
    await workbench.quickInput.waitForTitle(/Submit train\.jsonl /);
    await workbench.screenshot('step-model');
    await walkThroughSteps(workbench, {
      fileName: 'train.jsonl',
      model: 'Llama 3.1 8B Instruct',
      label: 'maths',
    });
    await workbench.dialogs.waitForToast(charged('maths'));
    await workbench.sideBar
      .view('Runs')
      .row(/Run maths/)
      .waitFor();
    await workbench.screenshot('submitted');
  });

  it('downloads the adapter when the run has finished', async () => {
    await chooseClockSpeed(workbench, 100);
    const runs = workbench.sideBar.view('Runs');
    await runs.row(/Run maths, Completed/).waitFor({ timeout: 30_000 });
    await workbench.dialogs.waitForToast('Sandbox: maths completed. Its adapter expires in 6 days.');
    await workbench.screenshot('finished');
    await runs.pressInRow(/Run maths/, 'Download Adapter…');
    await workbench.quickInput.choosePath(folder);
    await workbench.dialogs.waitForToast(/Downloaded .+ to /);
    const archive = (await readdir(folder)).find((name) => name.endsWith('.zip'));
    assert.ok(archive !== undefined, 'an archive is in the folder');
    const files = await unzip(await readFile(path.join(folder, archive)));
    assert.deepEqual([...files.keys()].sort(), [
      'README.md',
      'adapter_config.json',
      'adapter_model.safetensors',
    ]);
    const config = JSON.parse(String(files.get('adapter_config.json'))) as Record<string, unknown>;
    assert.deepEqual([config.peft_type, config.base_model_name_or_path], ['LORA', 'Llama 3.1 8B Instruct']);
    assert.match(String(files.get('README.md')), /nothing was trained/i);
    await workbench.screenshot('downloaded');
  });

  it('has ticked its steps of a walkthrough that is opened afterwards', async () => {
    await workbench.runCommand('Fine-Tuning: Open Walkthrough');
    const done = workbench.page
      .locator('.getting-started-step')
      .filter({ has: workbench.page.locator('[data-done-step-id][aria-checked=true]') });
    for (const title of ['Try the sandbox', 'Check a dataset', 'Submit a run', 'Use the adapter'])
      await done.filter({ hasText: title }).waitFor();
    assert.equal(await done.count(), 4);
  });

  it('told of it three times: submitted, completed, downloaded', async () => {
    const told = await workbench.dialogs.notifications();
    assert.equal(told.length, 3, told.join('\n'));
    for (const [index, text] of [
      /^Sandbox: Downloaded /,
      /^Sandbox: maths completed\./,
      /^Sandbox: Submitted maths /,
    ].entries())
      assert.match(told[index] ?? '', text);
  });
});
