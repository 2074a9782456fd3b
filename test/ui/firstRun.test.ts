import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { sandboxLedger } from './sandbox.ts';
import { charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { actUntil } from './waits.ts';
import type { Workbench } from './workbench.ts';

const SAMPLE = 'sample-dataset.jsonl';
/** Marks a completed step of the walkthrough. */
const TICK = '[data-done-step-id][aria-checked=true]';

describe('the first run', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    workbench = await vscode.open();
  });

  after(() => vscode.close());

  /** A step of the walkthrough, which shows its text and button after a click. */
  const step = (title: string): Locator =>
    workbench.page.locator('.gettingStartedContainer .getting-started-step').filter({ hasText: title });

  async function pressInStep(title: string, button: string): Promise<void> {
    const one = step(title);
    if ((await one.getAttribute('aria-expanded')) !== 'true') await one.locator('.step-title').click();
    await one.getByRole('button', { name: button, exact: true }).click();
  }

  async function tickedSteps(): Promise<string[]> {
    const ticked = workbench.page
      .locator('.getting-started-step')
      .filter({ has: workbench.page.locator(TICK) });
    return ticked.locator('.step-title').allInnerTexts();
  }

  async function waitUntilTicked(title: string): Promise<void> {
    await step(title).locator(TICK).waitFor();
  }

  /** Moves the editor's cursor to a problem. */
  async function goToProblem(sentence: string, place: string): Promise<void> {
    const { page } = workbench;
    const row = page.locator('.markers-panel .monaco-list-row').filter({ hasText: sentence });
    // A row that is redrawn meanwhile loses the click.
    await actUntil(() => row.dblclick(), page.locator('.statusbar').getByText(place));
    await page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  }

  it('leads from a new profile through the walkthrough to a charged sandbox run', async () => {
    const { page, dialogs, editors, quickInput, sideBar } = workbench;
    await sideBar.open('Fine-Tuning');
    await sideBar.view('Runs').chooseInTitleMenu('Open Walkthrough');
    await step('Try the sandbox').waitFor();
    assert.deepEqual(await tickedSteps(), []);

    await pressInStep('Try the sandbox', 'Use the Sandbox');
    await waitUntilTicked('Try the sandbox');

    await pressInStep('Check a dataset', 'Open Sample Dataset');
    await editors.activeTab(SAMPLE).waitFor();
    await dialogs.waitForToast(`${SAMPLE}: 8 rows of chat, 1 error, 1 warning.`);
    await dialogs.pressInToast(SAMPLE, 'Show Problems');
    await goToProblem('Trailing comma. Remove it.', 'Ln 3,');
    await page.keyboard.press('Delete');
    await goToProblem('No assistant message. Add one for the model to learn from.', 'Ln 6,');
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
    await page.keyboard.insertText(',{"role":"assistant","content":"In the dark."}');
    await page.keyboard.press('Control+S');
    await page.locator('.codelens-decoration').getByText('no problems').waitFor();

    await page.locator('.tab').filter({ hasText: 'Welcome' }).click();
    await pressInStep('Submit a run', 'Submit Dataset');
    await quickInput.pickUntil(SAMPLE, quickInput.item('Qwen3 8B'));
    await walkThroughSteps(workbench, { fileName: SAMPLE, model: 'Qwen3 8B', label: 'first run' });
    await dialogs.waitForToast(charged('first run'));
    await waitUntilTicked('Submit a run');
    assert.deepEqual(await tickedSteps(), [
      'Try the sandbox',
      'Check a dataset',
      'Submit a run and use its adapter',
    ]);
    assert.deepEqual(sandboxLedger(vscode).labels.length, 1);

    // The corrected copy is never overwritten.
    const mended = await readFile(vscode.file(SAMPLE), 'utf8');
    assert.equal(
      mended
        .split('\n')
        .filter((line) => line !== '')
        .every(isJson),
      true,
    );
    await workbench.clearNotifications();
    await workbench.runCommand('Fine-Tuning: Open Sample Dataset');
    await dialogs.waitForToast(`${SAMPLE}: 8 rows of chat, no problems.`);
    assert.equal(await readFile(vscode.file(SAMPLE), 'utf8'), mended);
  });

  it('shows every step of the walkthrough in every theme', async () => {
    await workbench.clearNotifications();
    await workbench.runCommand('Fine-Tuning: Open Walkthrough');
    for (const title of ['Try the sandbox', 'Check a dataset', 'Submit a run']) {
      await step(title).click();
      await workbench.screenshotInThemes(`walkthrough-${title}`, () => step(title).waitFor());
    }
  });

  it('ends with a diagnosis and support info that contains nothing private', async () => {
    const { dialogs, quickInput } = workbench;
    await workbench.clearNotifications();
    const diagnose = async () => {
      await workbench.runCommand('Fine-Tuning: Diagnose Connection');
      await quickInput.item('Reachability').waitFor();
    };
    await workbench.screenshotInThemes('diagnosis', diagnose, () => quickInput.close());
    await workbench.runCommand('Fine-Tuning: Copy Support Info');
    await dialogs.waitForToast(/^Support info copied/);
    const info = await workbench.clipboard();
    assert.match(info, /"contract": "1\.0\.0"[^]*"stage": "charged"/);
    for (const hidden of [vscode.folder, SAMPLE, 'first run', 'service_', '127.0.0.1', 'Qwen'])
      assert.ok(!info.includes(hidden), hidden);
  });
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
