import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { rowsOfCsv } from '../helpers/csv.ts';
import { zipOf } from '../helpers/adapters/support.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { enterSandbox, sandboxPrices } from './sandbox.ts';
import { SpendPage } from './spendPage.ts';
import { beginSubmission, charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';

/** What only VS Code can show of a page; the rest is in test/pages. No test counts on what another one left. */
describe('pages in VS Code', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('lora.zip'), zipOf(trainedAdapter({ layers: 4 })));
    await writeFile(vscode.file('small.jsonl'), ROW.repeat(40));
    await mkdir(vscode.file('folder'));
    await writeFile(vscode.file('folder/mine.txt'), 'mine');
    workbench = await vscode.open();
    await enterSandbox(workbench);
  });

  after(() => vscode.close());
  afterEach(() => workbench.editors.closeAll());

  it('opens one adapter page per file, and restores its state when shown again', async () => {
    await AdapterPage.open(workbench, 'lora.zip');
    const page = await AdapterPage.open(workbench, 'lora.zip');
    assert.equal(await workbench.page.locator('.tabs-container .tab').count(), 1);
    await page.recipe('Ollama').click();
    // A hidden page is recreated when shown, with the same tool.
    await workbench.editors.open(vscode.file('folder/mine.txt'));
    await workbench.editors.waitForLine('mine');
    await AdapterPage.tab(workbench, 'lora.zip').click();
    await page.recipePanel
      .getByText(/FROM \.\/model\.gguf/)
      .first()
      .waitFor();
  });

  it('exports the spending of every run with its dataset, regardless of the search', async () => {
    await workbench.editors.open(vscode.file('small.jsonl'));
    await beginSubmission(workbench, 'small.jsonl');
    await walkThroughSteps(workbench, { fileName: 'small.jsonl', model: 'Qwen3 8B', label: 'spent' });
    await workbench.dialogs.waitForToast(charged('spent'));
    await workbench.clearNotifications();
    const page = await SpendPage.open(workbench);
    await page.search.fill('nothing like it');
    await page.frame.getByText('No matching runs', { exact: true }).waitFor();
    await page.button('Export CSV…').click();
    await workbench.quickInput.waitForTitle('Export Spending');
    await workbench.quickInput.choosePath(vscode.file('spend.csv'));
    await workbench.dialogs.waitForToast(/Exported \d+ runs? to /);
    const rows = rowsOfCsv(await readFile(vscode.file('spend.csv'), 'utf8'));
    assert.deepEqual(
      rows.map((row) => Number(row['price_cents'])),
      sandboxPrices(vscode).toReversed(),
    );
    const [newest = {}] = rows;
    const bytes = await readFile(vscode.file('small.jsonl'));
    assert.equal(newest['dataset_sha256'], createHash('sha256').update(bytes).digest('hex'));
    assert.equal(newest['dataset_path'], vscode.file('small.jsonl'));
    assert.equal(newest['currency'], 'USD');
    await workbench.clearNotifications();
  });
});
