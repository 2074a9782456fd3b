import assert from 'node:assert/strict';
import { weekly } from '../helpers/weekly.ts';
import { openInSandbox } from './sandbox.ts';
import { SpendPage } from './spendPage.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

weekly(() =>
  describe('the Runs view with 10,000 runs', () => {
    let vscode: VSCode;
    let workbench: Workbench;

    before(async () => {
      vscode = await VSCode.start();
      workbench = await openInSandbox(vscode, 10_000);
    });

    after(() => vscode.close());

    const runs = () => workbench.sideBar.view('Runs');

    it('reads the labels of the first rows automatically', async () => {
      await runs()
        .row(/^Run Past run 1, Completed, /)
        .waitFor();
      await runs()
        .row(/^Run Past run 10, Completed, /)
        .waitFor();
    });

    it('loads the next page by mouse and by keyboard', async () => {
      const rowsBeside = (count: number) =>
        workbench.page.locator(`[role=treeitem][aria-setsize="${count}"]`).first().waitFor();
      // Scroll to the end and click once, which must not expand a row.
      const { x, y } = (await runs().root.boundingBox()) ?? assert.fail('the view is not visible');
      let turn = 0;
      await until('the last row is in view', async () => {
        // A resting pointer would open the hover of its row, which would take the wheel.
        await workbench.page.mouse.move(x + 100 + 4 * (turn++ % 2), y + 200);
        await workbench.page.mouse.wheel(0, 400);
        return (await runs().row('Load More').count()) > 0;
      });
      await runs().row('Load More').click();
      // Two pages of runs, and the row to load more.
      await rowsBeside(201);
      assert.equal(await runs().root.locator('[role=treeitem][aria-expanded=true]').count(), 0);

      await workbench.page.keyboard.press('End');
      await runs().row('Load More').waitFor();
      await workbench.page.keyboard.press('Enter');
      await rowsBeside(301);
    });

    it('loads all runs with progress, and draws them', async () => {
      await workbench.runCommand('Fine-Tuning: Load All Runs');
      await workbench.dialogs.waitForToast(/Loading all runs/);
      await workbench.dialogs.toast(/Loading all runs/).waitFor({ state: 'hidden' });
      await workbench.page.locator('[role=treeitem][aria-setsize="10000"]').first().waitFor();
      await workbench.screenshot('runs-all');
    });

    it('has all runs on the spending page, which shows them in pages', async () => {
      const page = await SpendPage.open(workbench);
      await page.frame.getByText('200 of 10,000 runs', { exact: true }).waitFor();
      await page.button('Load More').click();
      await page.frame.getByText('400 of 10,000 runs', { exact: true }).waitFor();
      await workbench.editors.closeAll();
    });
  }),
);
