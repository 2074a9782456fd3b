import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { zipOf } from '../helpers/adapters/support.ts';
import { supportRows, WORD } from '../helpers/answers.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { AnswersPage } from './answersPage.ts';
import { Preview } from './preview.ts';
import { RunPage } from './runPage.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { SpendPage } from './spendPage.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const KEY = 'service_Page9f2kQ7';
const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
const LINK = 'vscode://fine-tuning-tools.fine-tuning/run/';
const [FIRST, SECOND] = ['Past run 1', 'Past run 2'] as const;

describe('the run page, in its tab', () => {
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;
  let page: RunPage;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('rows.jsonl'), ROW.repeat(40));
    await writeFile(vscode.file('lora.zip'), zipOf(trainedAdapter()));
    await writeFile(vscode.file('train.answers.jsonl'), supportRows(15).join(''));
    service = await Service.start(KEY);
    service.addPastRuns(2);
    workbench = await vscode.open();
    page = new RunPage(workbench);
  });

  after(async () => {
    await vscode.close();
    await service.close();
  });

  const tab = (label: string) => page.tabs.filter({ hasText: `Run: ${label}` });

  describe('of an account', () => {
    before(() => signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: KEY }));
    beforeEach(() => workbench.sideBar.open('Fine-Tuning'));
    afterEach(() => workbench.editors.closeAll());

    /** Asserts that no file of VS Code and nothing in the browser has a word of the answers. */
    async function storesNoText(): Promise<void> {
      const kept = await readdir(vscode.userData, { recursive: true, withFileTypes: true });
      const files = kept.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
      assert.ok(files.some((name) => name.includes('logs')));
      const found = await Promise.all(
        // A file of a transaction may be gone.
        files.map(async (name) => ((await readFile(name).catch(() => '')).includes(WORD) ? [name] : [])),
      );
      assert.deepEqual(found.flat(), []);
      const stored = await storedInBrowser(workbench);
      assert.match(stored, /fineTuning\.answers/);
      assert.ok(!stored.includes(WORD));
    }

    it('is opened by a link', async () => {
      const [newest] = await service.runs();
      await page.follow(`${LINK}${newest?.run_id ?? ''}`);
      await page.heading.getByText(FIRST, { exact: true }).waitFor();
    });

    it('shows different runs in one tab', async () => {
      for (const label of [SECOND, FIRST, SECOND]) {
        await page.open(label);
        await tab(label).waitFor();
        assert.equal(await page.tabs.count(), 1);
      }
    });

    it('is restored after a reload of the window, like the other pages, which store no text of rows', async () => {
      const preview = new Preview(workbench);
      await page.open(FIRST);
      // A page stores its state when it is drawn.
      await page.heading.getByText(FIRST, { exact: true }).waitFor();
      await preview.open('rows.jsonl');
      await preview.goTo(30);
      const adapter = await AdapterPage.open(workbench, 'lora.zip');
      await adapter.waitForVerdict('Complete LoRA adapter');
      const spending = await SpendPage.open(workbench);
      await spending.search.fill(FIRST.toUpperCase());
      await spending.run(SECOND).waitFor({ state: 'detached' });
      const answers = new AnswersPage(workbench);
      await workbench.runCommand('Fine-Tuning: Compare Answers…');
      await workbench.quickInput.waitForTitle('Choose Answers to Compare');
      await workbench.quickInput.pickUntil('train.answers.jsonl', answers.title('train.answers.jsonl'));
      await answers.row(1).waitFor();
      await workbench.reload();

      await answers.title('train.answers.jsonl · 15 rows').waitFor();
      await answers.row(1).waitFor();
      await storesNoText();
      await workbench.page.locator('.tab').filter({ hasText: 'Spending: Work' }).click();
      await spending.run(FIRST).waitFor();
      assert.equal(await spending.search.inputValue(), FIRST.toUpperCase());
      await AdapterPage.tab(workbench, 'lora.zip').click();
      await adapter.waitForVerdict('Complete LoRA adapter');
      await workbench.editors.tab('rows.jsonl').last().click();
      await preview.waitUntilInView(30);
      // The tab shows its run, and then the next one.
      await workbench.sideBar.open('Fine-Tuning');
      await tab(FIRST).click();
      await page.heading.getByText(FIRST, { exact: true }).waitFor();
      await page.open(SECOND);
      await tab(SECOND).waitFor();
      assert.equal(await page.tabs.count(), 1);
    });
  });
});

/** All that the window has stored in the browser, such as the states of pages. */
function storedInBrowser({ page }: Workbench): Promise<string> {
  return page.evaluate<string>(`(async () => {
    const done = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const found = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })];
    for (const { name } of await indexedDB.databases()) {
      const database = await done(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const values = await done(database.transaction(store).objectStore(store).getAll());
        found.push(...values.map((value) => typeof value === 'string' ? value : value instanceof Uint8Array ? new TextDecoder().decode(value) : JSON.stringify(value)));
      }
      database.close();
    }
    return found.join('\\n');
  })()`);
}
