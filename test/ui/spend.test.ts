import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { rowsOfCsv } from '../helpers/csv.ts';
import { assertAccessible } from './accessible.ts';
import { addRunsElsewhere, enterSandbox, sandboxLedger, sandboxPrices } from './sandbox.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { SpendPage } from './spendPage.ts';
import { beginSubmission, charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
/** Number of rows of each dataset; their prices differ. */
const DATASETS = { small: 40, middle: 3_000, large: 9_000 } as const;

describe('spending', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let page: SpendPage;
  let service: Service | undefined;

  before(async () => {
    vscode = await VSCode.start();
    for (const [name, rows] of Object.entries(DATASETS))
      await writeFile(vscode.file(`${name}.jsonl`), ROW.repeat(rows));
    workbench = await vscode.open();
    page = new SpendPage(workbench);
    await enterSandbox(workbench);
  });

  after(async () => {
    await vscode.close();
    await service?.close();
  });

  const money = (cents: number) => `${(cents / 100).toLocaleString('en', { minimumFractionDigits: 2 })} USD`;
  const sum = (amounts: readonly number[]) => amounts.reduce((total, cents) => total + cents, 0);
  const listed = async (column: number) => (await page.rows('runs')).map((cells) => cells[column]);

  it('shows that there are no runs yet', async () => {
    await page.open();
    await page.frame.getByText('No runs yet.').waitFor();
    assert.equal(await page.button('Export CSV…').getAttribute('aria-disabled'), 'true');
    await assertAccessible(page.frame);
    await workbench.screenshot('spend-empty');
  });

  it('agrees with the sandbox’s database to the cent', async () => {
    for (const [name, model, queue] of [
      ['small', 'Qwen3 8B', undefined],
      ['large', 'Llama 3.1 8B Instruct', 'Priority queue'],
      ['middle', 'Qwen3 8B', undefined],
    ] as const) {
      await workbench.editors.open(vscode.file(`${name}.jsonl`));
      await beginSubmission(workbench, `${name}.jsonl`);
      await walkThroughSteps(workbench, {
        fileName: `${name}.jsonl`,
        model,
        label: `run of ${name}`,
        ...(queue !== undefined && { queue }),
      });
      await workbench.dialogs.waitForToast(charged(`run of ${name}`));
      await workbench.clearNotifications();
    }
    await page.open();
    const pricesCents = sandboxPrices(vscode);
    assert.equal(new Set(pricesCents).size, 3);
    await page.waitForFact(/^Total of 3 runs$/, money(sum(pricesCents)));
    assert.equal(await page.fact(/\(UTC\)$/).innerText(), money(sum(pricesCents)));
    assert.equal(await page.fact(/^Balance$/).innerText(), money(sandboxLedger(vscode).balanceCents));
    assert.deepEqual(await listed(1), pricesCents.toReversed().map(money));
    const [, , total] = (await page.rows('groups'))[0] ?? [];
    assert.equal(total, money(sum(pricesCents)));
  });

  it('groups by model and plan', async () => {
    const [small = 0, large = 0, middle = 0] = sandboxPrices(vscode);
    await page.button('Model').first().click();
    await page.frame.getByRole('rowheader', { name: 'Qwen3 8B' }).first().waitFor();
    const expected = [
      ['Llama 3.1 8B Instruct', '1', money(large)],
      ['Qwen3 8B', '2', money(small + middle)],
    ];
    assert.deepEqual((await page.rows('groups')).sort(), expected);
    await page.frame.getByRole('group', { name: 'Spending by' }).first().getByText('Plan').click();
    await page.frame.getByRole('rowheader', { name: /Sandbox/ }).waitFor();
    assert.equal(await page.button('Plan').first().getAttribute('aria-pressed'), 'true');
  });

  it('sorts and searches by keyboard', async () => {
    const { keyboard } = workbench.page;
    const dear = sandboxPrices(vscode).toSorted((one, other) => other - one);
    await page.frame.locator('button[data-sort=price]').focus();
    await keyboard.press('Enter');
    await page.frame.locator('th[aria-sort=descending]').getByText('Price').waitFor();
    assert.deepEqual(await listed(1), dear.map(money));
    await keyboard.press('Enter');
    await page.frame.locator('th[aria-sort=ascending]').getByText('Price').waitFor();
    assert.deepEqual(await listed(1), dear.map(money).toReversed());
    await page.search.fill('QWEN');
    await page.frame.getByText('2 runs', { exact: true }).last().waitFor();
    assert.deepEqual((await listed(3)).sort(), ['run of middle', 'run of small']);
    await page.search.fill('');
    await page.run('run of large').waitFor();
  });

  it('exports every run with its dataset, regardless of the search', async () => {
    await page.search.fill('run of large');
    await page.frame.getByText('1 run', { exact: true }).waitFor();
    await page.exportTo(vscode.file('spend.csv'));
    const rows = rowsOfCsv(await readFile(vscode.file('spend.csv'), 'utf8'));
    const pricesCents = sandboxPrices(vscode);
    assert.deepEqual(
      rows.map((row) => Number(row['price_cents'])),
      pricesCents.toReversed(),
    );
    const [newest = {}] = rows;
    const bytes = await readFile(vscode.file('middle.jsonl'));
    assert.equal(newest['dataset_sha256'], createHash('sha256').update(bytes).digest('hex'));
    assert.equal(newest['dataset_path'], vscode.file('middle.jsonl'));
    assert.ok(rows.every((row) => row['currency'] === 'USD'));
    await page.search.fill('');
  });

  it('sets the budget in two boxes and shows it', async () => {
    await page.button('Set Budget…').click();
    await workbench.quickInput.waitForTitle(/^Budget of Sandbox/);
    await workbench.quickInput.fill('twenty');
    await workbench.quickInput.waitForMessage('Enter an amount such as 20 or 12.50.');
    await workbench.quickInput.fill('20');
    await workbench.quickInput.waitForMessage(/Limit per month \(UTC\)/);
    await workbench.quickInput.fill('50.5');
    await workbench.dialogs.waitForToast(/^Budget of Sandbox: 20\.00 USD per run · 50\.50 USD per month\./);
    await workbench.clearNotifications();
    await page.waitForFact(/^Budget$/, '20.00 USD per run · 50.50 USD per month');
  });

  it('opens the page of a run', async () => {
    await page.run('run of large').getByRole('button').click();
    await workbench.page.locator('.tab.active').filter({ hasText: 'Run: run of large' }).waitFor();
    await workbench.page.locator('.tab').filter({ hasText: 'Spending: Sandbox' }).click();
    await page.run('run of large').waitFor();
  });

  for (const theme of ['dark', 'light', 'high contrast'] as const)
    it(`is readable in ${theme}, and accessible`, async () => {
      await workbench.setTheme(theme);
      await page.button('Model').first().click();
      await page.frame.getByRole('rowheader', { name: 'Qwen3 8B' }).first().waitFor();
      await assertAccessible(page.frame);
      await workbench.screenshot(`spend-${theme.replace(' ', '-')}`);
    });

  it('is readable in a narrow editor', async () => {
    await workbench.setTheme('dark');
    await workbench.resize(650, 1_400);
    await page.frame.getByRole('img', { name: /^Balance: / }).waitFor();
    const cut: unknown = await page.frame
      .locator('html')
      .evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(cut, 0, 'nothing is cut off at the side');
    await workbench.screenshot('spend-narrow');
    await workbench.resize(1_400, 900);
  });

  it('shows what is unknown about runs submitted elsewhere, and offers to load them', async () => {
    addRunsElsewhere(vscode);
    await page.button('Refresh').click();
    await page.frame.getByText('Not all runs are loaded, so sums may be too low.').waitFor();
    await page.waitForFact(/^Total of/, /^at least .+ prices unknown, not all runs loaded\)$/);
    await workbench.screenshot('spend-unknown');
    await assertAccessible(page.frame);
    await page.button('Load All Runs').waitFor();
  });

  it('keeps three currencies and an unknown one apart, with a long name and every note', async () => {
    const { quickInput } = workbench;
    const apiKey = 'service_work_test';
    service = await Service.start(apiKey);
    const name = 'Research and Development Europe, bills 2026';
    await signIn(workbench, { address: service.baseUrl, name, apiKey });
    const balanceIn = async (currency: string) => {
      service!.currency = currency;
      await workbench.runCommand('Fine-Tuning: Refresh Balance');
      await workbench.statusItem('balance').getByText(currency).waitFor();
    };
    for (const one of ['small', 'large']) {
      await workbench.editors.open(vscode.file(`${one}.jsonl`));
      await beginSubmission(workbench, `${one}.jsonl`);
      await walkThroughSteps(workbench, { fileName: `${one}.jsonl`, model: 'Qwen3 8B' });
      await workbench.dialogs.waitForToast(charged(one));
      await workbench.clearNotifications();
    }
    // A run has the currency that the balance had when its details were first read.
    await page.open();
    for (const [currency, label] of [
      ['EUR', 'elsewhere, read in an earlier version'],
      ['EUR', 'elsewhere in euros'],
    ] as const) {
      await balanceIn(currency);
      await service.submitElsewhere(label);
      await page.button('Refresh').click();
      await page
        .run(label)
        .getByText(/EUR\*$/)
        .waitFor();
    }
    await workbench.runCommand('Fine-Tuning: Set Budget…');
    await quickInput.waitForTitle(/^Budget of/);
    await quickInput.fill('5');
    await quickInput.waitForMessage(/Limit per month \(UTC\)/);
    await quickInput.fill('20');
    await workbench.dialogs.waitForToast(/^Budget of Research/);
    await workbench.clearNotifications();
    service.passTime(3_600_000);
    await page.button('Refresh').click();
    await page.button('Read Prices').click();
    const [, unknown] = (await service.runs()).map(({ run_id }) => run_id);
    await vscode.forgetCurrency(unknown ?? '');
    service.currency = 'JPY';
    await workbench.close();
    workbench = await vscode.open();
    page = new SpendPage(workbench);
    await workbench.statusItem('balance').getByText('JPY').waitFor();
    await page.open();
    await workbench.setTheme('dark');
    await page
      .run('elsewhere, read in an earlier version')
      .getByText(/^[\d.]+\*\*$/)
      .waitFor();
    const cents = (await service.runs()).map(({ price_cents = 0 }) => price_cents).reverse();
    const text = (amount: number) => (amount / 100).toLocaleString('en', { minimumFractionDigits: 2 });
    const [small = 0, large = 0, other = 0, euros = 0] = cents;
    const all = `${text(euros)} EUR · ${text(other)} (currency unknown) · ${text(small + large)} USD`;
    assert.equal(await page.fact(/^Total of 4 runs$/).innerText(), all);
    assert.equal(await page.fact(/\(UTC\)$/).innerText(), all);
    assert.match(await page.fact(/^Balance$/).innerText(), / JPY$/);
    await assertAccessible(page.frame);
    await workbench.screenshot('spend-currencies');
    await workbench.resize(650, 1_400);
    const nameBox = await page.frame.locator('section.groups tbody th').first().boundingBox();
    assert.ok((nameBox?.width ?? 0) > 60, 'a name is not broken into letters');
    await workbench.screenshot('spend-currencies-narrow');
    await workbench.resize(1_400, 900);
    service.setBalance(0);
    await workbench.editors.open(vscode.file('small.jsonl'));
    await beginSubmission(workbench, 'small.jsonl');
    await walkThroughSteps(workbench, { fileName: 'small.jsonl', until: 'summary' });
    const shown = async (row: string) =>
      workbench.quickInput.item(row).first().locator('.label-description').innerText();
    assert.equal(await shown('Price'), 'Not known until charged');
    assert.equal(await shown('Budget'), 'Budget not checked: it is in EUR, this account is charged in JPY');
    assert.equal(await shown('Balance'), '0 JPY');
    await workbench.screenshot('summary-currencies');
    await walkThroughSteps(workbench, { fileName: 'small.jsonl', until: 'confirm' });
    await workbench.screenshot('confirm-currencies');
    await workbench.dialogs.press('Cancel');
    assert.equal(service.submissions, 4);
  });
});
