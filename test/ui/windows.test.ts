import assert from 'node:assert/strict';
import { writeBigDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { beginFromList, charged, pressSubmit, waitForConfirm, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Windows8n2hB6';
const NEXT_KEY = 'service_Windows3k7tQ9';

describe('two windows', () => {
  let service: Service;
  let vscode: VSCode;
  let windows: [Workbench, Workbench];

  before(async () => {
    vscode = await VSCode.start();
    for (const name of ['both', 'left']) await writeBigDataset(vscode.file(`${name}.jsonl`));
    service = await Service.start(API_KEY);
    const first = await vscode.open();
    await first.sideBar.open('Fine-Tuning');
    await signIn(first, { address: service.baseUrl, name: 'Work', apiKey: API_KEY });
    windows = [first, await vscode.open()];
    for (const window of windows) {
      await window.sideBar.open('Fine-Tuning');
      await window.statusItem('balance').getByText('1,000.00 USD').waitFor();
    }
  });

  after(async () => {
    await vscode.close();
    await service.close();
  });

  const runs = (window: Workbench) => window.sideBar.view('Runs');

  async function begin(window: Workbench, name: string): Promise<void> {
    // In the background, a page is drawn only once a second.
    await window.page.bringToFront();
    await beginFromList(window, `${name}.jsonl`);
  }

  /** Returns the window whose submission is open in the other one. */
  function later(): Promise<Workbench> {
    return Promise.any(
      windows.map(async (window) => {
        await window.quickInput.waitForTitle('Submission of both.jsonl');
        return window;
      }),
    );
  }

  let winner: Workbench;
  let loser: Workbench;

  it('submit the same file at once: one sends it, the other shows the open submission', async () => {
    for (const window of windows) {
      await begin(window, 'both');
      await walkThroughSteps(window, { fileName: 'both.jsonl', model: 'Qwen3 8B', until: 'confirm' });
    }
    service.holdsUploads = true;
    await Promise.all(windows.map((window) => pressSubmit(window)));
    loser = await later();
    winner = loser === windows[0] ? windows[1] : windows[0];
    await runs(winner)
      .row(/^both, both\.jsonl, Uploading \d+%/)
      .waitFor();
    await loser.page.bringToFront();
    const labels = (await loser.quickInput.labels()).map((label) => label.trim());
    await loser.screenshot('elsewhere-resolve');
    for (const action of ['Check Now', 'Continue…', 'Resend…', 'Discard…', 'Cancel Upload'])
      assert.ok(!labels.includes(action));
    await loser.quickInput.close();
    await runs(loser).row('both.jsonl, Other window').waitFor();
    await loser.screenshot('elsewhere');
    await until('it was sent once', () => service.submissions === 1);
  });

  it('submit it again meanwhile: the open submission is offered instead', async () => {
    await begin(loser, 'both');
    await walkThroughSteps(loser, { fileName: 'both.jsonl', model: 'Qwen3 8B', until: 'summary' });
    await loser.quickInput.pick('Continue');
    const detail = await loser.dialogs.waitForModal('A submission of both.jsonl is already open.');
    assert.match(detail, /Continue (in the other window|there)\.\nModel: Qwen3 8B\. /);
    await loser.screenshot('open-already');
    await loser.dialogs.press('Open It');
    await loser.quickInput.waitForTitle('Submission of both.jsonl');
    await loser.quickInput.close();
    assert.equal(service.submissions, 1);
  });

  it('show the charged run once, and one of them reports its completion', async () => {
    service.release();
    await winner.dialogs.waitForToast(charged('both'));
    for (const window of windows) {
      await runs(window)
        .row(/^both, both\.jsonl, /)
        .waitFor({ state: 'hidden' });
      await runs(window)
        .row(/^Run (both|Qwen3 8B), /)
        .waitFor();
    }
    assert.equal((await service.runs()).length, 1);
    assert.equal(service.submissions, 1);
    assert.equal(await loser.dialogs.modal.count(), 0);

    const told = Promise.any(windows.map(({ dialogs }) => dialogs.waitForToast('both completed.')));
    service.setSpeed(1_000);
    for (const window of windows)
      await runs(window)
        .row(/^Run both, Completed, /)
        .waitFor();
    await told;
    // Each window has the focus as far as it knows, so what it would show comes before the answer to a command.
    for (const window of windows) {
      await window.runCommand('Fine-Tuning: Copy Support Info');
      await window.dialogs.waitForToast(/^Support info copied/);
    }
    // Toasts are hidden after ten seconds; the notification center keeps them.
    const kept: string[] = [];
    for (const { dialogs, page } of windows) {
      await page.bringToFront();
      kept.push(...(await dialogs.notifications()).filter((text) => text.includes('both completed.')));
    }
    assert.equal(kept.length, 1, kept.join('\n'));
  });

  it('replace an API key: the other one is asked to reload, and stores none until then', async () => {
    const [first, second] = windows;
    service.apiKey = NEXT_KEY;
    await first.page.bringToFront();
    await first.runCommand('Fine-Tuning: Replace API Key…');
    await first.quickInput.waitForTitle('Replace the API Key of Work');
    await first.quickInput.fill(NEXT_KEY);
    await first.dialogs.waitForToast('Replaced the API key of Work.');
    await second.page.bringToFront();
    await second.clearNotifications();
    await second.runCommand('Fine-Tuning: Replace API Key…');
    await second.dialogs.waitForToast('The API key was replaced in another window.');
    await second.runCommand('Fine-Tuning: Sign In…');
    await second.dialogs.waitForToast('API keys were changed in another window. Reload this one first.');
    await second.screenshot('keys-changed');
    const loaded = second.page.waitForEvent('load');
    await second.dialogs.pressInToast('API keys were changed', 'Reload Window');
    await loaded;
    await second.statusItem('balance').getByText(/ USD/).waitFor();
    await first.page.bringToFront();
    await first.reload();
    await first.statusItem('balance').getByText(/ USD/).waitFor();
  });

  it('continue each other’s interrupted uploads with one charge', async () => {
    const [, staying] = windows;
    const [runsBefore, sentBefore] = [(await service.runs()).length, service.submissions];
    service.holdsUploads = true;
    await begin(windows[0], 'left');
    await walkThroughSteps(windows[0], { fileName: 'left.jsonl', model: 'Qwen3 8B' });
    await runs(staying).row('left.jsonl, Other window').waitFor();
    await until('the upload is held', () => service.held === 1);
    await windows[0].close();
    await runs(staying).row('left.jsonl, Not charged, upload stopped').waitFor();
    assert.equal((await service.runs()).length, runsBefore);
    service.release();
    const { modal } = staying.dialogs;
    await runs(staying).pressInRowUntil('left.jsonl, Not charged', 'Continue Submission…', modal);
    assert.match(
      await waitForConfirm(staying, 'left.jsonl'),
      /^Not charged: the upload of left\.jsonl was interrupted\./,
    );
    await pressSubmit(staying);
    await staying.dialogs.waitForToast(charged('left'));
    assert.equal((await service.runs()).length, runsBefore + 1);
    assert.equal(service.submissions, sentBefore + 2);
    const [first, second] = service.idempotencyKeys.slice(-2);
    assert.equal(first, second);
  });
});
