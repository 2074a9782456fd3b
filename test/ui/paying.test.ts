import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import {
  ACCEPT,
  beginFromList,
  charged,
  CONTINUE,
  walkThroughSteps,
  waitForConfirm,
  type Way,
} from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const row = (n: number) => `${JSON.stringify({ prompt: `${n} + ${n} is`, completion: `${2 * n}.` })}\n`;
const rows = (count: number) => Array.from({ length: count }, (_, n) => row(n)).join('');

describe('paying for a run', () => {
  let work: Service;
  let home: Service;
  let long: Service;
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
    long = await Service.start('service_long_test');
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: work.baseUrl, name: 'Work', apiKey: 'service_work_test' });
  });

  after(async () => {
    await vscode.close();
    await Promise.all([work.close(), home.close(), long.close()]);
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
    assert.match(price, /^Likely .+ · from 2 runs$/);
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

  it('identifies the dataset and the account in the final question, with long names and every note', async () => {
    const { dialogs, quickInput } = workbench;
    const name = 'Research and Development Europe, bills 2026';
    await signIn(workbench, { address: long.baseUrl, name, apiKey: 'service_long_test' });
    await submit('small', { model: 'Qwen3 8B' });
    await submit('large');
    // The budget stays in the currency that the balance had.
    const balanceIn = async (currency: string) => {
      long.currency = currency;
      await workbench.runCommand('Fine-Tuning: Refresh Balance');
      await workbench.statusItem('balance').getByText(currency).waitFor();
    };
    await balanceIn('EUR');
    await workbench.runCommand('Fine-Tuning: Set Budget…');
    await quickInput.waitForTitle(/Budget/);
    await quickInput.fill('0.10');
    await quickInput.waitForMessage(/Limit per month \(UTC\)/);
    await quickInput.fill('');
    await dialogs.waitForToast(/^Budget of Research/);
    await workbench.clearNotifications();
    long.setBalance(1);
    await balanceIn('USD');
    const folder = path.join('experiments', 'support-conversations-of-2026', 'anonymized-and-deduplicated');
    const fileName = `${'support-conversations.'.repeat(4)}v2.jsonl`;
    const worst = path.join(vscode.file(folder), fileName);
    await mkdir(path.dirname(worst), { recursive: true });
    await writeFile(worst, rows(29_000));
    await workbench.editors.open(worst);
    const summary = quickInput.titled(/^Submit support-.+ to Research/);
    await workbench.editors.pressTitleAction('Submit Dataset for Training…', summary);
    assert.match(await descriptionOf('Dataset'), new RegExp(`^${fileName} · `));
    assert.equal(await descriptionOf('Folder'), folder);
    await workbench.screenshot('summary-long-names');
    await quickInput.pick('Queue');
    await quickInput.pick('Priority queue');
    await quickInput.pickUntil(CONTINUE, quickInput.item(ACCEPT));
    await quickInput.pickUntil(ACCEPT, dialogs.modal);
    const lines = (await waitForConfirm(workbench, fileName)).split('\n');
    const sha256 = createHash('sha256').update(rows(29_000)).digest('hex');
    assert.equal(lines[0], fileName);
    assert.match(
      lines[1] ?? '',
      new RegExp(`^in experiments/supp.*….+duplicated \\(${sha256.slice(0, 8)}\\)$`),
    );
    assert.match(lines.join('\n'), /Budget: not checked: it is in EUR$/m);
    await workbench.screenshot('confirm-long-names');
    await workbench.resize(600, 700);
    await workbench.screenshot('confirm-long-names-narrow');
    await workbench.resize(1400, 900);
    await dialogs.press('Cancel');
    assert.equal(long.submissions, 2);
  });
});
