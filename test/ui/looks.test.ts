import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseClockSpeed, chooseScenario, enterSandbox } from './sandbox.ts';
import { walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
/** The row of the submission whose answer got lost. */
const OPEN = /^lost, rows\.jsonl, May be charged, 1 possible run$/;

describe('looks and keyboard', () => {
  let folder: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await writeFile(path.join(folder, 'rows.jsonl'), ROW.repeat(40));
    // Without it a run that looks like an open submission stays a question.
    vscode = await VSCode.start({ settings: { 'fineTuning.labelMarker': false } });
    workbench = await vscode.open(folder);
    await workbench.sideBar.open('Fine-Tuning');
  });

  after(async () => {
    await vscode.close();
    await rm(folder, { recursive: true, force: true });
  });

  const runs = () => workbench.sideBar.view('Runs');
  const focused = () => workbench.page.locator('.sidebar .monaco-list-row.focused');

  /** Presses Down, and waits until another row has the focus: it is drawn a moment later. */
  async function downARow(): Promise<void> {
    const row = runs().root.locator('.monaco-list-row.focused').first();
    const before = await row.getAttribute('id');
    await workbench.page.keyboard.press('ArrowDown');
    for (let look = 0; look < 40 && (await row.getAttribute('id')) === before; look++) await sleep(25);
  }

  /** A picture of each state in each theme. */
  async function pictures(states: Record<string, () => Promise<unknown>>): Promise<void> {
    for (const [name, show] of Object.entries(states))
      await workbench.screenshotInThemes(`looks-${name}`, show, () => workbench.quickInput.close());
  }

  async function submit(label: string): Promise<void> {
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Llama 3.1 8B Instruct', label });
    await workbench.dialogs.waitForToast(/Charged/);
    await workbench.clearNotifications();
  }

  it('signed out', () => pictures({ 'signed-out': () => runs().welcomeButton('Use the Sandbox').waitFor() }));

  it('runs in every phase', async () => {
    await enterSandbox(workbench);
    await workbench.editors.open(path.join(folder, 'rows.jsonl'));
    await chooseClockSpeed(workbench, 100);
    await submit('arithmetic');
    await runs()
      .row(/^Run arithmetic, Completed/)
      .waitFor();
    await chooseClockSpeed(workbench, 1);
    await chooseScenario(workbench, 'Balance too low');
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Gemma 2 2B IT', label: 'too poor' });
    await workbench.dialogs.waitForToast(/Not charged: the balance of/);
    await workbench.clearNotifications();
    await chooseScenario(workbench, 'conflict-on-replay');
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Qwen3 8B', label: 'lost' });
    await workbench.dialogs.waitForToast(/ may have been charged: /);
    await workbench.screenshot('may-be-charged');
    await workbench.clearNotifications();
  });

  it('runs, summary, a submission that is open, and account menu', () =>
    pictures({
      runs: () =>
        runs()
          .row(/^Run arithmetic/)
          .waitFor(),
      // Everything that is known is in its tooltip.
      tooltip: async () => {
        await runs()
          .row(/^Run arithmetic/)
          .hover();
        await workbench.page
          .locator('.monaco-hover')
          .getByText(/Model: Llama 3\.1 8B Instruct \(llama-3\.1-8b-instruct\)/)
          .waitFor();
      },
      summary: async () => {
        await workbench.editors.titleAction('Submit Dataset…').click();
        await walkThroughSteps(workbench, {
          fileName: 'rows.jsonl',
          model: 'Llama 3.1 8B Instruct',
          until: 'summary',
        });
      },
      resolve: async () => {
        await runs().clickUntil(OPEN, workbench.quickInput.item('This Is the Run: lost'));
        await workbench.quickInput.waitForTitle('Submission of rows.jsonl');
      },
      'account-menu': async () => {
        await workbench.statusItem('balance').click();
        await workbench.quickInput.waitForTitle('Account');
      },
    }));

  it('rows and status bar speak whole sentences', async () => {
    const label = await runs()
      .row(/^Run arithmetic/)
      .getAttribute('aria-label');
    assert.match(label ?? '', /^Run arithmetic, Completed, Llama 3\.1 8B Instruct, .+, 6 days left/);
    // Each of these fails where it is there twice.
    await runs().row(OPEN).waitFor();
    await runs()
      .row(/^too poor, rows\.jsonl, Not charged, balance too low$/)
      .waitFor();
    const models = await workbench.sideBar.models();
    await models.row(/^Meta, 2 models/).waitFor();
    await models.row(/^Gemma 2 9B IT \(gemma-2-9b-it\), not available/).waitFor();
    const status = await workbench.statusItem('balance').getAttribute('aria-label');
    assert.match(
      status ?? '',
      /Fine-Tuning account: Sandbox, Sandbox: no training, no charges\., Balance: .+ USD \(read .+\),.* Click for the account menu\./,
    );
    // The buttons show while the pointer is on the view.
    await runs().root.locator('.pane-header').hover();
    for (const name of ['Submit Dataset…', 'Refresh', 'Switch Account…'])
      await runs().root.locator('.pane-header').getByRole('button', { name }).waitFor();
  });

  it('the keyboard alone reaches rows and their menu', async () => {
    const { keyboard } = workbench.page;
    await workbench.runCommand('Fine-Tuning: Focus on Runs View');
    await keyboard.press('Home');
    await focused()
      .and(runs().row(/^too poor, rows\.jsonl, Not charged/))
      .waitFor();
    // A row that is not settled opens what is known of it.
    await keyboard.press('Enter');
    await workbench.quickInput.waitForTitle('Submission of rows.jsonl');
    const actions = (await workbench.quickInput.labels()).map((label) => label.trim()).slice(0, 3);
    assert.deepEqual(actions, ['Continue…', 'Discard…', 'Balance before']);
    await workbench.quickInput.close();
    await workbench.runCommand('Fine-Tuning: Resolve Submission…');
    await workbench.quickInput.waitForTitle('Choose a Submission');
    assert.deepEqual(await workbench.quickInput.labels(), ['too poor', 'lost']);
    await workbench.screenshot('choose-submission');
    await workbench.quickInput.close();

    await workbench.runCommand('Fine-Tuning: Focus on Runs View');
    await keyboard.press('Home');
    for (
      let rows = 0;
      rows < 5 &&
      (await focused()
        .and(runs().row(/^Run arithmetic/))
        .count()) === 0;
      rows++
    )
      await downARow();
    await keyboard.press('Shift+F10');
    const menu = workbench.page.locator('.monaco-menu-container');
    await menu.getByRole('menuitem', { name: 'Copy Run ID' }).waitFor();
    assert.deepEqual(
      (await menu.locator('.action-label[aria-label]').allTextContents()).filter((text) => text !== ''),
      ['Download Adapter…', 'Open in New Tab', 'Copy Run ID', 'Submit Again…'],
    );
    await workbench.screenshot('row-menu');
    // Until the chosen one is reached: what a menu takes first differs between systems.
    await keyboard.press('ArrowDown');
    for (let items = 0; items < 5; items++) {
      const item = await workbench.page.locator('.monaco-menu-container .action-item.focused').textContent();
      if (item?.includes('Copy Run ID') === true) break;
      await keyboard.press('ArrowDown');
    }
    await keyboard.press('Enter');
    await workbench.page.getByText('Run ID copied').waitFor();
    assert.match(await workbench.clipboard(), /^[\da-f]{8}-/);
  });
});
