import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { smallDataset, writeBigDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { beginFromList, charged, pressSubmit, waitForConfirm, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Crash4t7vR1';
const START_CENTS = 100_000;

describe('an interrupted submission', () => {
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    for (const name of ['big', 'killed']) await writeBigDataset(vscode.file(`${name}.jsonl`));
    for (const name of ['small', 'unanswered', 'unread'])
      await writeFile(vscode.file(`${name}.jsonl`), smallDataset(name));
    service = await Service.start(API_KEY);
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: API_KEY });
    await workbench.statusItem('balance').getByText('1,000.00 USD').waitFor();
  });

  after(async () => {
    await vscode.close();
    await service.close();
  });

  beforeEach(async () => {
    service.requests.length = 0;
    service.idempotencyKeys.length = 0;
    earlier = { runs: (await service.runs()).length, cents: await service.balanceCents() };
  });

  afterEach(async () => {
    service.release();
    await service.reopen();
    await workbench.clearNotifications();
  });

  let earlier = { runs: 0, cents: START_CENTS };

  const runs = () => workbench.sideBar.view('Runs');
  const first = () => runs().root.getByRole('treeitem').first();

  async function submit(name: string): Promise<void> {
    await beginFromList(workbench, `${name}.jsonl`);
    await walkThroughSteps(workbench, { fileName: `${name}.jsonl`, model: 'Qwen3 8B' });
  }

  async function isHeld(): Promise<void> {
    await until('the submission is held', () => service.held > 0);
  }

  /** Waits until the first row has this name; no dialog may be open. */
  async function firstRowIs(name: RegExp): Promise<void> {
    await first().and(runs().row(name)).waitFor();
    assert.equal(await workbench.dialogs.modal.count(), 0);
  }

  /** Asserts that the run has replaced the submission's row, and that the service has charged once. */
  async function isChargedOnce(name: string): Promise<void> {
    await runs()
      .row(new RegExp(`^${name}, ${name}\\.jsonl, `))
      .waitFor({ state: 'hidden' });
    await firstRowIs(new RegExp(`^Run ${name}, `));
    const all = await service.runs();
    assert.equal(all.length, earlier.runs + 1);
    assert.ok((await service.balanceCents()) < earlier.cents);
    assert.match(all[0]?.label ?? '', new RegExp(`^${name} ft-`));
  }

  async function isNotCharged(): Promise<void> {
    assert.equal((await service.runs()).length, earlier.runs);
    assert.equal(await service.balanceCents(), earlier.cents);
  }

  /** Presses the row's Continue button and waits for the final confirmation. */
  async function continueIt(name: string): Promise<void> {
    const row = new RegExp(`^${name}, ${name}\\.jsonl, `);
    await runs().pressInRowUntil(row, 'Continue Submission…', workbench.dialogs.modal);
    const detail = await waitForConfirm(workbench, `${name}.jsonl`);
    assert.match(
      detail,
      /^Not charged: the upload of \S+ was interrupted\..+Model: Qwen3 8B \(Alibaba Cloud\)/s,
    );
  }

  describe('by Cancel', () => {
    beforeEach(() => {
      service.holdsUploads = true;
    });

    const row = (file: string) =>
      workbench.sideBar.view('Runs').row(new RegExp(`^${file}, ${file}\\.jsonl, `));

    const uploading = () =>
      workbench.sideBar
        .view('Runs')
        .row(/^big, big\.jsonl, Uploading \d+%/)
        .waitFor();

    async function isToldUncharged(file: string): Promise<void> {
      await workbench.dialogs.waitForToast(`Not charged: the upload of ${file}.jsonl was canceled.`);
      await row(file).waitFor({ state: 'hidden' });
      await isNotCharged();
    }

    /** Cancels in the row, which is redrawn each second while it uploads. */
    async function cancelInRow(file: string): Promise<void> {
      const told = workbench.dialogs.toast(`Not charged: the upload of ${file}.jsonl was canceled.`);
      await workbench.sideBar.view('Runs').pressInRowUntil(new RegExp(`^${file}, `), 'Cancel Upload', told);
      await isToldUncharged(file);
    }

    it('in the notification is reported as not charged, and its row disappears', async () => {
      await submit('big');
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

    it('while queued is never sent, and the previous one continues', async () => {
      await submit('big');
      await uploading();
      await submit('small');
      await workbench.sideBar.view('Runs').row('small.jsonl, Upload queued').waitFor();
      await cancelInRow('small');
      assert.equal(await row('big').count(), 1);
      await cancelInRow('big');
      assert.equal(service.submissions, 1);
      await workbench.clearNotifications();
    });

    it('does not prevent submitting the same file again, which is charged once', async () => {
      service.holdsUploads = false;
      await submit('small');
      await workbench.dialogs.waitForToast(charged('small'));
      await isChargedOnce('small');
    });
  });

  describe('by a crash', () => {
    it('of the extension host during the upload is not charged, and Continue charges once', async () => {
      service.holdsUploads = true;
      await submit('killed');
      await firstRowIs(/^killed, killed\.jsonl, Uploading \d+%/);
      await isHeld();
      await vscode.killExtensionHosts();
      service.release();
      await workbench.dialogs.waitForToast(
        /Not charged: the upload of killed\.jsonl was interrupted\.|whether killed\.jsonl was charged/,
      );
      await firstRowIs(/^killed, killed\.jsonl, Not charged, upload stopped$/);
      await workbench.screenshot('interrupted-unsent');
      assert.equal(service.submissions, 1);

      await continueIt('killed');
      await workbench.screenshot('continue');
      await workbench.dialogs.press('Cancel');
      await firstRowIs(/^killed, killed\.jsonl, Not charged, upload stopped$/);
      assert.equal(service.submissions, 1);
      await isNotCharged();

      await continueIt('killed');
      await pressSubmit(workbench);
      await workbench.dialogs.waitForToast(charged('killed'));
      await isChargedOnce('killed');
      assert.equal(service.submissions, 2);
      assert.equal(new Set(service.idempotencyKeys).size, 1);
    });

    it('of the extension host after the upload may have been charged, and Check Now finds the run', async () => {
      service.holdsAnswers = true;
      await submit('unanswered');
      await firstRowIs(/^unanswered, unanswered\.jsonl, Validating/);
      await isHeld();
      await vscode.killExtensionHosts();
      await service.shut();
      service.release();
      const sentence = await workbench.dialogs.waitForToast(/You may have been charged for unanswered: /);
      const toast = workbench.dialogs.toast(sentence);
      await toast.locator('.codicon-warning').waitFor();
      await firstRowIs(/^unanswered, unanswered\.jsonl, May be charged, no response$/);
      await workbench.screenshot('interrupted-unknown');

      await service.reopen();
      await workbench.dialogs.pressInToast(sentence, 'Check Now');
      await workbench.dialogs.waitForToast(/unanswered was submitted to .+ after all\. Charged [\d.]+ USD/);
      await isChargedOnce('unanswered');
      assert.equal(service.submissions, 1, 'nothing was sent again');
      await workbench.screenshot('interrupted-found');
    });

    it('of the window after the upload is found automatically and reported', async () => {
      service.holdsAnswers = true;
      await submit('unread');
      await isHeld();
      await workbench.reload();
      await workbench.sideBar.open('Fine-Tuning');
      await workbench.dialogs.waitForToast(/unread was submitted to .+ after all\. Charged \d/);
      await isChargedOnce('unread');
      service.release();
      assert.equal(service.submissions, 1);
    });
  });
});
