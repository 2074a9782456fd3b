import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../env/project.ts';
import { zipOf } from '../helpers/adapters/support.ts';
import { rowsOfCsv } from '../helpers/csv.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { Preview } from './preview.ts';
import { enterSandbox, sandboxPrices } from './sandbox.ts';
import { SpendPage } from './spendPage.ts';
import { beginSubmission, charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';

const THEMES = path.join(root, 'test/pages/themes.json');
const VARIABLE = /--(?:vscode|monaco|text-link)[\w-]*/g;

/** What VS Code adds to a page. */
interface Dress {
  id: string;
  kind: string;
  variables: Record<string, string>;
}

/** What only VS Code can show of a page; the rest is in test/pages. No test relies on another one. */
describe('pages in VS Code', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('lora.zip'), zipOf(trainedAdapter({ layers: 4 })));
    await writeFile(vscode.file('small.jsonl'), ROW.repeat(40));
    await writeFile(vscode.file('broken.jsonl'), '{"text":"a"}\n{"text":"b",}\n{"text":"c"}\n');
    await writeFile(vscode.file('edited.jsonl'), '{"prompt":"a","completion":"b"}\n');
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

  it('exports the spending every run with its dataset, regardless of the search', async () => {
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

  it('shows a row of the preview in the editor, and returns from there', async () => {
    const preview = new Preview(workbench);
    await preview.open('broken.jsonl');
    await preview.row(2).getByRole('button', { name: 'line 2, column 12', exact: true }).click();
    const caret = (text: string | RegExp) =>
      workbench.page.locator('[id="status.editor.selection"]', { hasText: text }).waitFor();
    await caret(/Ln 2, Col \d+ \(1 selected\)/);
    await workbench.page.keyboard.press('Control+End');
    await workbench.page.keyboard.press('ArrowUp');
    await caret('Ln 3');
    await workbench.editors.titleAction('Preview Dataset').click();
    await preview.waitUntilInView(3);
  });

  it('has a preview that follows its editor', async () => {
    const preview = new Preview(workbench);
    await preview.open('edited.jsonl');
    await preview.row(1).waitFor();
    await preview.row(1).getByRole('button', { name: 'Open in Editor' }).click();
    await workbench.editors.waitForLine('{"prompt":"a","completion":"b"}');
    await workbench.editors.typeAtStart('{"prompt":"c","completion":"d"}\n');
    await workbench.page.keyboard.press('Control+s');
    await workbench.editors.titleAction('Preview Dataset').click();
    await preview.waitForStatus('2 rows');
    await preview.row(1).getByText('d', { exact: true }).waitFor();
    await preview.frame.getByText('unsaved changes').waitFor({ state: 'hidden' });
  });

  // `GOLDEN=write npm run test:ui -- pages.test` writes the file that the pages of test/pages are dressed with.
  it('is what the pages outside of VS Code are dressed with', async () => {
    const preview = new Preview(workbench);
    await preview.open('small.jsonl');
    await preview.row(1).waitFor();
    const page = preview.frame.locator('html');
    const defaultStyles = (await page.locator('#_defaultStyles').textContent()) ?? '';
    const sources = globSync('media/**/*.{css,ts}', { cwd: root }).map((one) =>
      readFileSync(path.join(root, one), 'utf8'),
    );
    const used = [...new Set([defaultStyles, ...sources].flatMap((one) => one.match(VARIABLE) ?? []))].sort();
    const themes: Record<string, Dress> = {};
    for (const theme of ['dark', 'light', 'high contrast'] as const) {
      await workbench.setTheme(theme);
      const script = `(() => {
        const { style } = document.documentElement;
        const { vscodeThemeId: id, vscodeThemeKind: kind } = document.body.dataset;
        const variables = ${JSON.stringify(used)}.map((name) => [name, style.getPropertyValue(name)]);
        return { id, kind, variables: Object.fromEntries(variables.filter(([, value]) => value !== '')) };
      })()`;
      themes[theme] = await page.evaluate<Dress, undefined>(script, undefined);
    }
    const text = `${JSON.stringify({ defaultStyles, themes }, undefined, 2)}\n`;
    if (process.env['GOLDEN'] === 'write') writeFileSync(THEMES, text);
    assert.deepEqual(JSON.parse(text), JSON.parse(readFileSync(THEMES, 'utf8')));
  });
});
