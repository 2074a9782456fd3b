import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { beginFromList, charged, walkThroughSteps, waitForConfirm, type Way } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const row = (n: number) => `${JSON.stringify({ prompt: `${n} + ${n} is`, completion: `${2 * n}.` })}\n`;
const rows = (count: number) => Array.from({ length: count }, (_, n) => row(n)).join('');

describe('paying for a run', () => {
  let work: Service;
  let home: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  const file = (name: string) => vscode.file(`${name}.jsonl`);

  before(async () => {
    vscode = await VSCode.start();
    for (const [name, count] of [
      ['small', 20_000],
      ['large', 40_000],
      ['middle', 30_000],
    ] as const)
      await writeFile(file(name), rows(count));
    work = await Service.start('service_work_test');
    home = await Service.start('service_home_test');
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: work.baseUrl, name: 'Work', apiKey: 'service_work_test' });
  });

  after(async () => {
    await vscode.close();
    await Promise.all([work.close(), home.close()]);
  });

  async function descriptionOf(name: string): Promise<string> {
    return workbench.quickInput.item(name).first().locator('.label-description').innerText();
  }

  async function submit(name: string, way: Omit<Way, 'fileName'> = {}): Promise<void> {
    await beginFromList(workbench, `${name}.jsonl`);
    await walkThroughSteps(workbench, { ...way, fileName: `${name}.jsonl` });
    if (way.until !== undefined) return;
    await workbench.dialogs.waitForToast(charged(name));
    await workbench.clearNotifications();
  }

  it('shows a likely range for the third run, and charges within it', async () => {
    const model = 'Qwen3 8B';
    await submit('small', { model, until: 'summary' });
    assert.equal(await descriptionOf('Price'), 'Not known until charged');
    await workbench.quickInput.close();
    await submit('small', { model });
    await submit('large', { until: 'summary' });
    assert.match(await descriptionOf('Price'), /^Not known until charged · your one run \(.+\) cost .+ USD$/);
    await workbench.quickInput.close();
    await submit('large');
    await submit('middle', { until: 'summary' });
    const price = await descriptionOf('Price');
    const [, range = '', low, high] = /^Likely (([\d.]+)–([\d.]+) USD)/.exec(price) ?? [];
    assert.match(price, /^Likely .+ · based on 2 runs$/);
    await workbench.screenshot('summary-range');
    await walkThroughSteps(workbench, { fileName: 'middle.jsonl', until: 'confirm' });
    const asked = await waitForConfirm(workbench, 'middle.jsonl');
    assert.match(asked, new RegExp(`^Price: known only after the charge\\. Likely ${range}$`, 'm'));
    await workbench.screenshot('confirm-range');
    await workbench.dialogs.press('Submit and Pay');
    await workbench.dialogs.waitForToast(charged('middle'));
    await workbench.clearNotifications();
    const [run] = await work.runs();
    const cents = run?.price_cents ?? 0;
    assert.ok(Number(low) * 100 <= cents && cents <= Number(high) * 100, `${price}: ${cents}`);
  });

  it('shows a note if the balance may be too low', async () => {
    work.setBalance(0);
    await submit('middle', { until: 'summary' });
    const note = 'The balance is 0.00 USD. The service will refuse this run unless your plan includes it.';
    await workbench.quickInput.item('Balance').getByText(note).waitFor();
    await workbench.screenshot('balance-note');
    await workbench.quickInput.close();
    work.setBalance(100_000);
  });

  it('names the active account in each step, and charges only that', async () => {
    await signIn(workbench, { address: home.baseUrl, name: 'Home', apiKey: 'service_home_test' });
    await workbench.statusItem('balance').getByText('Home 1,000.00 USD').waitFor();
    const before = await work.balanceCents();
    await submit('small', { model: 'Qwen3 8B', until: 'summary' });
    await workbench.quickInput.waitForTitle('Submit small.jsonl to Home');
    assert.equal(await descriptionOf('Account'), `Home (${new URL(home.baseUrl).host})`);
    // Prices of another account do not apply.
    assert.equal(await descriptionOf('Price'), 'Not known until charged');
    await walkThroughSteps(workbench, { fileName: 'small.jsonl' });
    const said = await workbench.dialogs.waitForToast(charged('small'));
    assert.match(said, /^Submitted small to Home\. /);
    await workbench.screenshot('two-accounts');
    assert.equal(await work.balanceCents(), before);
    assert.equal(home.submissions, 1);
  });
});
