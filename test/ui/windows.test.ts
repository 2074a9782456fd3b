import assert from 'node:assert/strict';
import { writeBigDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { beginFromList, charged, pressSubmit, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Windows8n2hB6';

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
        await runs(window).row('both.jsonl, Other window').waitFor();
        return window;
      }),
    );
  }

  let winner: Workbench;
  let loser: Workbench;

  it('submit the same file at once: one sends it, the other follows it without a box', async () => {
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
    assert.equal(await loser.page.locator('.quick-input-widget:visible').count(), 0);
    assert.equal(await loser.dialogs.modal.count(), 0);
    await loser.screenshot('elsewhere');
    await until('it was sent once', () => service.submissions === 1);
  });

  it('submit it again meanwhile: the open submission is offered instead', async () => {
    await begin(loser, 'both');
    await walkThroughSteps(loser, { fileName: 'both.jsonl', model: 'Qwen3 8B', until: 'summary' });
    await loser.quickInput.pick('Continue');
    const detail = await loser.dialogs.waitForModal('A submission of both.jsonl is already open.');
    assert.match(detail, /^Open in another window\. Continue there\.\nModel: Qwen3 8B\. /);
    await loser.screenshot('open-already');
    await loser.dialogs.press('Show Submission');
    await loser.dialogs.waitForToast('Open in another window. Continue there.');
    assert.equal(await loser.page.locator('.quick-input-widget:visible').count(), 0);
    assert.equal(service.submissions, 1);
  });

  it('show the charged run once, both say so, and one of them reports its completion', async () => {
    service.release();
    for (const { dialogs } of [winner, loser]) await dialogs.waitForToast(charged('both'));
    await until(
      'no box stays beside the charge',
      async () => (await loser.page.locator('.quick-input-widget:visible').count()) === 0,
    );
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
});
