import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
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
    for (const name of ['small', 'unanswered', 'unread', 'torn', 'lost'])
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

    it('in the row is reported as not charged, and its notification disappears', async () => {
      await submit('big');
      await uploading();
      await cancelInRow('big');
      await workbench.dialogs.toast('Submitting big.jsonl').waitFor({ state: 'hidden' });
      assert.equal(service.submissions, 1);
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
        /(Not charged: the|The) upload of killed\.jsonl was interrupted\./,
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

    it('of the extension host during the upload says nothing of a charge until the service answers', async () => {
      const { dialogs, quickInput } = workbench;
      service.holdsUploads = true;
      await submit('big');
      await firstRowIs(/^big, big\.jsonl, Uploading \d+%/);
      await isHeld();
      await vscode.killExtensionHosts();
      await service.shut();
      service.release();
      const sentence = await dialogs.waitForToast(
        'The upload of big.jsonl was interrupted. The service didn’t answer whether it was charged.',
      );
      await firstRowIs(/^big, big\.jsonl, Upload stopped$/);
      await workbench.screenshot('interrupted-stopped');

      await service.reopen();
      await dialogs.pressInToast(sentence, 'Check Now');
      await quickInput.waitForTitle('Submission of big.jsonl');
      await workbench.screenshot('interrupted-looked');
      await quickInput.pick('Discard…');
      await dialogs.waitForModal('Discard the submission of big?');
      await dialogs.press('Discard');
      await runs()
        .row(/^big, big\.jsonl, /)
        .waitFor({ state: 'hidden' });
      await isNotCharged();
      // Within five minutes, VS Code starts an extension host only twice by itself.
      await workbench.reload();
      await workbench.sideBar.open('Fine-Tuning');
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
      await firstRowIs(/^unanswered, unanswered\.jsonl, May be charged, no answer$/);
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

    /** Leaves a submission that was charged and not answered. @returns the files of its record, oldest version first */
    const leaveUnanswered = async (name: string): Promise<string[]> => {
      service.holdsAnswers = true;
      await submit(name);
      await isHeld();
      await vscode.killExtensionHosts();
      await service.shut();
      service.release();
      await runs().row(`${name}, ${name}.jsonl, May be charged, no answer`).waitFor();
      const folder = path.join(vscode.globalStorage, 'submissions');
      const numberOf = (file: string) => Number(/\.(\d+)\.json$/.exec(file)?.[1]);
      const files = (await readdir(folder)).filter((file) => file.endsWith('.json'));
      const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
      const id = files[texts.findIndex((text) => text.includes(`${name}.jsonl`))]?.split('.')[0] ?? '';
      return files
        .filter((file) => file.startsWith(id))
        .sort((one, other) => numberOf(one) - numberOf(other))
        .map((file) => path.join(folder, file));
    };

    it('and then of the newest version of its record, is found all the same', async () => {
      const files = await leaveUnanswered('torn');
      await writeFile(files.at(-1)!, 'spoilt');
      await workbench.reload();
      await workbench.sideBar.open('Fine-Tuning');
      await runs().row('torn, torn.jsonl, May be charged, no answer').waitFor();
      await service.reopen();
      await workbench.runCommand('Fine-Tuning: Refresh');
      // By an automatic check, or else by the label that the refresh reads. The new window may also report the charges
      // of earlier tests.
      await workbench.dialogs.waitForNotification(
        /(?:torn was submitted to .+ after all|Submitted torn to .+)\. Charged \d/,
      );
      await isChargedOnce('torn');
      assert.equal(service.submissions, 1);
    });

    it('and then of its whole record, is asked about before the next submission, until it is set aside', async () => {
      const { dialogs, quickInput } = workbench;
      for (const file of await leaveUnanswered('lost')) await writeFile(file, 'spoilt');
      await workbench.reload();
      await workbench.sideBar.open('Fine-Tuning');
      const message = workbench.page.getByText('A submission record can’t be read.').first();
      await message.waitFor();
      await dialogs.waitForToast(
        /You may have been charged: the submission record [\w-]+\.\d+\.json can’t be read\./,
      );
      await workbench.screenshot('record-unreadable');
      await service.reopen();
      await workbench.clearNotifications();

      const begin = async () => {
        await beginFromList(workbench, 'lost.jsonl');
        await quickInput.pickUntil('Continue', dialogs.modal);
        return dialogs.waitForModal('A submission record can’t be read.');
      };
      assert.match(await begin(), /you could be charged twice\.\s+Don’t delete single files\.$/);
      await workbench.screenshot('submit-beside-unreadable');
      await dialogs.press('Back to Summary');
      await quickInput.pickUntil('Continue', dialogs.modal);
      await dialogs.press('Set Aside…');
      await dialogs.waitForModal('Set the record aside?');
      await dialogs.press('Set Aside');
      // By keyboard: once its label is read, the run that no record has gets a row, which moves the others.
      await quickInput.activeItem.filter({ hasText: 'Continue' }).waitFor();
      await quickInput.accept();
      await quickInput.waitForTitle(/^Terms /);
      await quickInput.close();
      await message.waitFor({ state: 'hidden' });
      assert.equal(service.submissions, 1);
    });
  });
});
