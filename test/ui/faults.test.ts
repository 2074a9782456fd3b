import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { chooseClockSpeed, chooseScenario, enterSandbox, sandboxLedger } from './sandbox.ts';
import { walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[]}\n';

describe('faults of the service, simulated by the sandbox', () => {
  let downloads: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    downloads = vscode.file('adapters');
    await mkdir(downloads);
    await writeFile(vscode.file('rows.jsonl'), ROW.repeat(10));
    workbench = await vscode.open();
    await enterSandbox(workbench);
    await workbench.editors.open(vscode.file('rows.jsonl'));
  });

  after(() => vscode.close());

  const runs = () => workbench.sideBar.view('Runs');
  const balance = (text: string) => workbench.statusItem('balance').getByText(text);

  /** Reads at once instead of waiting for the watcher. */
  const refresh = () => workbench.runCommand('Fine-Tuning: Refresh');

  async function submit(label: string): Promise<void> {
    await workbench.editors.titleAction('Submit Dataset for Training…').click();
    await walkThroughSteps(workbench, {
      fileName: 'rows.jsonl',
      model: 'Qwen3 8B',
      label,
      queue: 'Priority queue',
    });
  }

  async function download(label: string): Promise<void> {
    await runs().chooseInContextMenu(new RegExp(`^Run ${label}, Completed`), 'Download Adapter…');
    await workbench.quickInput.waitForTitle(/^Choose a Folder for the Adapter/);
    await workbench.quickInput.choosePath(`${downloads}/`);
  }

  it('response lost: its run is found before it would be sent again, and one charge is reported', async () => {
    await chooseScenario(workbench, 'Response lost after the charge');
    await submit('lost');
    await workbench.dialogs.waitForToast(
      /Sandbox: lost was submitted after all\. Charged 1\.52 USD of sandbox money once: the response was lost/,
    );
    await runs()
      .row(/^Run lost, /)
      .waitFor();
    const { balanceCents, labels } = sandboxLedger(vscode);
    assert.equal(balanceCents, 99_848);
    assert.match(labels.join(), /^lost ft-[\da-z]{8}$/);
    await workbench.screenshot('answer-lost');
    await workbench.clearNotifications();
  });

  it('response lost and retry refused: the run is found by its marker, and one charge is reported', async () => {
    await chooseScenario(workbench, 'conflict-on-replay');
    await submit('found');
    await workbench.dialogs.waitForToast(
      /Sandbox: found was submitted after all\. Charged 1\.52 USD of sandbox money once: the response was lost/,
    );
    await runs()
      .row(/^Run found, /)
      .waitFor();
    await runs().row('rows.jsonl').waitFor({ state: 'hidden' });
    const { balanceCents, labels } = sandboxLedger(vscode);
    assert.equal(balanceCents, 99_696);
    assert.match(labels[1] ?? '', /^found ft-/);
    await workbench.screenshot('answer-lost-found');
    await workbench.clearNotifications();
  });

  it('unknown statuses: shown unchanged and counted as active', async () => {
    await chooseScenario(workbench, 'unknown-statuses');
    await submit('strange');
    await workbench.dialogs.waitForToast(/sandbox money/);
    await workbench.clearNotifications();
    await refresh();
    await runs()
      .row(/^Run strange, (Warming_up|Calibrating|Evaluating), Qwen3 8B, /)
      .waitFor();
    await workbench.page
      .locator('.activitybar')
      .getByRole('tab', { name: /^Fine-Tuning.* - 3 runs active$/ })
      .waitFor();
    await workbench.screenshot('unknown-status');
  });

  it('expired download URL: reported, and no file is left', async () => {
    await chooseClockSpeed(workbench, 100);
    await runs()
      .row(/^Run strange, Completed, /)
      .waitFor();
    await workbench.clearNotifications();
    await chooseScenario(workbench, 'expired-url');
    await download('strange');
    await workbench.dialogs.waitForToast(
      /Download of strange failed\. The download server returned an error \(403\)\./,
    );
    await workbench.screenshot('link-expired');
    assert.deepEqual(await readdir(downloads), []);
    await workbench.clearNotifications();
  });

  for (const [scenario, label] of [
    ['Connection lost before the charge', 'repeated'],
    ['Too many requests', 'patient'],
  ] as const)
    it(`${scenario}: what was survived is reported, with one charge`, async () => {
      await chooseScenario(workbench, scenario);
      await submit(label);
      // The service may also ask to wait before the reads that prove that there was one charge.
      await workbench.dialogs.waitForToast(
        scenario === 'Too many requests'
          ? new RegExp(`Sandbox: submitted ${label}.* attempt 2\\.`)
          : `Sandbox: submitted ${label}. Charged 1.52 USD of sandbox money once; the answer came at attempt 2.`,
      );
      await workbench.screenshot(`survived-${label}`);
      await workbench.clearNotifications();
    });

  it('"Reset Sandbox" asks first, then resets runs and balance', async () => {
    await workbench.runCommand('Fine-Tuning: Reset Sandbox…');
    await workbench.dialogs.waitForModal('Reset the sandbox?');
    await workbench.dialogs.press('Cancel');
    assert.equal(sandboxLedger(vscode).labels.length, 5);
    await workbench.runCommand('Fine-Tuning: Reset Sandbox…');
    await workbench.dialogs.waitForModal('Reset the sandbox?');
    await workbench.dialogs.press('Reset');
    await runs().welcomeButton('Submit Dataset').waitFor();
    await balance('Sandbox 1,000.00 USD').waitFor();
    assert.deepEqual(sandboxLedger(vscode), { balanceCents: 100_000, labels: [] });
  });
});
