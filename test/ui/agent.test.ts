import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { results, root } from '../env/project.ts';
import { smallDataset, writeBigDataset } from './datasets.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { walkThroughSteps } from './submission.ts';
import { extensionsFolder, VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

/** What test/fixtures/agent reports. */
interface Report {
  /** The ids that were run. */
  commands: string[];
  /** How many there are at all. */
  all: number;
}

describe('another extension that plays the person', () => {
  const extensions = path.join(results, 'ui/extensions-with-agent');
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    await cp(extensionsFolder, extensions, { recursive: true });
    // VS Code looks at the folders where it has no list of them.
    await rm(path.join(extensions, 'extensions.json'));
    await cp(path.join(root, 'test/fixtures/agent'), path.join(extensions, 'test.agent-1.0.0'), {
      recursive: true,
    });
  });

  // Nobody knows what a window is like when the agent has been in it.
  beforeEach(async () => {
    vscode = await VSCode.start({ extensions });
    await writeFile(vscode.file('wanted.jsonl'), smallDataset('wanted'));
    await writeBigDataset(vscode.file('big.jsonl'));
    service = await Service.start('service_agent_test');
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: 'service_agent_test' });
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') console.log(this.currentTest.err, await workbench.words());
    await vscode.close();
    await service.close();
  });

  /**
   * Lets the agent start a command and then press whatever there is to press.
   * @param steps how many rows it goes down in each box before it accepts
   * @param isBrief without every command that moves something, which are run before those that say yes
   */
  async function play(command: string, args: unknown[], steps: number[], isBrief = false): Promise<Report> {
    const report = vscode.file('agent.report.json');
    await rm(report, { force: true });
    await writeFile(vscode.file('agent.json'), JSON.stringify({ command, args, steps, isBrief }));
    await workbench.runCommand('Agent: Play');
    for (;;) {
      const text = await readFile(report, 'utf8').catch(() => undefined);
      if (text !== undefined) return JSON.parse(text) as Report;
      await sleep(100);
    }
  }

  function assertTried({ commands, all }: Report, least: number): void {
    console.log(`        ${commands.length} commands were run, of the ${all} there are`);
    for (const id of ['quickInput.accept', 'notification.acceptPrimaryAction', 'list.select'])
      assert.ok(commands.includes(id), id);
    assert.ok(commands.length > least, String(commands.length));
  }

  /** Waits for the last question, and returns what says yes to it, whatever else the agent has opened over it. */
  async function lastQuestion(fileName: string): Promise<() => Promise<void>> {
    const question = `Submit ${fileName} to Work and pay?`;
    const dialog = workbench.dialogs.modal.filter({ hasText: question });
    await dialog.waitFor();
    return () => dialog.getByRole('button', { name: 'Submit and Pay' }).dispatchEvent('click');
  }

  /** Notifications may be switched off by now. */
  async function isCharged(): Promise<void> {
    while ((await service.runs()).length === 0) await sleep(50);
  }

  it('gets as far as the last question, and charges nothing', async () => {
    const file = vscode.file('wanted.jsonl');
    // The summary; in the terms it goes down to the last row.
    const report = await play(
      'fineTuning.submitDataset',
      [{ file }, null, { modelId: 'qwen3-8b' }],
      [0, 2, 4],
    );
    assertTried(report, 500);
    assert.equal(service.submissions, 0, 'submissions that reached the service');
    assert.equal(await service.balanceCents(), 100_000);
    const submit = await lastQuestion('wanted.jsonl');
    await workbench.screenshot('agent-submit');
    // A person can.
    await submit();
    await isCharged();
    assert.equal(service.submissions, 1);
  });

  it('cannot send again what was interrupted', async () => {
    service.holdsUploads = true;
    await workbench.editors.open(vscode.file('big.jsonl'));
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'big.jsonl', model: 'Qwen3 8B' });
    while (service.held === 0) await sleep(50);
    await vscode.killExtensionHosts();
    service.release();
    // With "Continue…", its first button.
    await workbench.dialogs.waitForToast(/Not charged: the upload of big\.jsonl was interrupted/);
    const balanceCents = await service.balanceCents();
    assertTried(await play('fineTuning.resolveSubmission', [], [0, 1], true), 100);
    assert.equal(service.submissions, 1, 'submissions that reached the service');
    assert.equal(await service.balanceCents(), balanceCents);
    const submit = await lastQuestion('big.jsonl');
    await workbench.screenshot('agent-continue');
    await submit();
    await isCharged();
    assert.equal(service.submissions, 2);
    assert.equal(new Set(service.idempotencyKeys).size, 1);
  });
});
