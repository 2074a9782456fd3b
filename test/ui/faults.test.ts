import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { chooseInSandbox, chooseScenario, openInSandbox, sandboxLedger } from './sandbox.ts';
import { beginSubmission, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"text":"2+2="}\n';

describe('faults of the service, simulated by the sandbox', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('rows.jsonl'), ROW.repeat(10));
    workbench = await openInSandbox(vscode);
    await workbench.editors.open(vscode.file('rows.jsonl'));
  });

  after(() => vscode.close());

  const runs = () => workbench.sideBar.view('Runs');
  const balance = (text: string) => workbench.statusItem('balance').getByText(text);

  it('response lost: its run is found before it would be sent again, and one charge is reported', async () => {
    await chooseScenario(workbench, 'Response lost after the charge');
    await beginSubmission(workbench, 'rows.jsonl');
    const choices = { model: 'Qwen3 8B', label: 'lost', queue: 'Priority queue' } as const;
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', ...choices });
    await workbench.dialogs.waitForToast(
      /Sandbox: lost was submitted after all\. 1\.52 USD of sandbox money\./,
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

  it('"Reset Sandbox" asks first, then resets runs and balance', async () => {
    const before = sandboxLedger(vscode);
    await chooseInSandbox(workbench, 'Reset Sandbox…');
    await workbench.dialogs.waitForModal('Reset the sandbox?');
    await workbench.dialogs.press('Cancel');
    assert.deepEqual(sandboxLedger(vscode), before);
    await chooseInSandbox(workbench, 'Reset Sandbox…');
    await workbench.dialogs.waitForModal('Reset the sandbox?');
    await workbench.dialogs.press('Reset');
    await runs().welcomeButton('Submit Dataset').waitFor();
    await balance('Sandbox 1,000.00 USD').waitFor();
    assert.deepEqual(sandboxLedger(vscode), { balanceCents: 100_000, labels: [] });
  });
});
