import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { zipOf } from '../helpers/adapters/support.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
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
const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
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

  it('is not opened by a link without an active account', async () => {
    await page.follow(`${LINK}${UNKNOWN}`);
    await workbench.dialogs.waitForToast('No account is active.');
    assert.equal(await page.tabs.count(), 0);
    await workbench.clearNotifications();
  });

  describe('of an account', () => {
    before(() => signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: KEY }));
    beforeEach(() => workbench.sideBar.open('Fine-Tuning'));
    afterEach(() => workbench.editors.closeAll());

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

    it('is restored after a reload of the window, like the other pages', async () => {
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
      await workbench.reload();

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
