import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { smallDataset, writeBigDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Cancel9f2kQ7';
const START_CENTS = 100_000;

describe('Cancel in the middle of an upload', () => {
  let folder: string;
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await writeBigDataset(path.join(folder, 'big.jsonl'));
    await writeFile(path.join(folder, 'small.jsonl'), smallDataset('small'));
    service = await Service.start(API_KEY);
    vscode = await VSCode.start();
    workbench = await vscode.open(folder);
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: API_KEY });
    await workbench.sideBar.view('Models').row('Qwen3 8B').waitFor();
  });

  after(async () => {
    await vscode.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    service.holdsUploads = true;
    service.requests.length = 0;
  });

  const row = (file: string) => workbench.sideBar.view('Runs').row(new RegExp(`^${file}, ${file}\\.jsonl, `));

  /** Submits a file from the explorer's menu. */
  async function submit(file: string): Promise<void> {
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu(`${file}.jsonl`, 'Submit Dataset…');
    await walkThroughSteps(workbench, { fileName: `${file}.jsonl`, model: 'Qwen3 8B' });
  }

  /** Submits a file, and looks at the Runs view meanwhile: at the end, that shows by itself. */
  async function startUpload(file: string): Promise<void> {
    await submit(file);
    await workbench.sideBar.open('Fine-Tuning');
  }

  const uploading = () =>
    workbench.sideBar
      .view('Runs')
      .row(/^big, big\.jsonl, Uploading \d+%/)
      .waitFor();

  async function isToldUncharged(file: string): Promise<void> {
    await workbench.dialogs.waitForToast(`Not charged: the upload of ${file}.jsonl was canceled.`);
    await row(file).waitFor({ state: 'hidden' });
    assert.equal(await service.balanceCents(), START_CENTS);
    assert.deepEqual(await service.runs(), []);
  }

  it('in the notification: says “Not charged”, and removes the row', async () => {
    await startUpload('big');
    await uploading();
    await workbench.dialogs.waitForToast(/Submitting big\.jsonl to Work: Uploading \d+%/);
    await workbench.screenshot('uploading');
    await workbench.dialogs.pressInToast('Submitting big.jsonl to Work', 'Cancel');
    await isToldUncharged('big');
    await workbench.dialogs.toast('Submitting big.jsonl').waitFor({ state: 'hidden' });
    assert.equal(service.submissions, 1);
    await workbench.screenshot('upload-cancelled');
    await workbench.clearNotifications();
  });

  it('in the row: the same, and the notification disappears as well', async () => {
    await startUpload('big');
    await uploading();
    await workbench.sideBar.view('Runs').pressInRow(/^big, /, 'Cancel Upload');
    await isToldUncharged('big');
    await workbench.dialogs.toast('Submitting big.jsonl').waitFor({ state: 'hidden' });
    assert.equal(service.submissions, 1);
    await workbench.clearNotifications();
  });

  it('in the row of one that waits: it is never sent, and the one before it continues', async () => {
    await startUpload('big');
    await uploading();
    await startUpload('small');
    await workbench.sideBar.view('Runs').row('small.jsonl, Upload queued').waitFor();
    await workbench.sideBar.view('Runs').pressInRow(/^small, /, 'Cancel Upload');
    await isToldUncharged('small');
    assert.equal(await row('big').count(), 1);
    await workbench.sideBar.view('Runs').pressInRow(/^big, /, 'Cancel Upload');
    await isToldUncharged('big');
    assert.equal(service.submissions, 1);
    await workbench.clearNotifications();
  });

  it('and after it, the same file is submitted and charged once', async () => {
    service.holdsUploads = false;
    await submit('small');
    await workbench.dialogs.waitForToast(charged('small'));
    assert.equal((await service.runs()).length, 1);
    assert.ok((await service.balanceCents()) < START_CENTS);
  });
});
