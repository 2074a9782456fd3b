import assert from 'node:assert/strict';
import { addRunsElsewhere, chooseInSandbox, enterSandbox } from './sandbox.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { SpendPage } from './spendPage.ts';
import { VSCode } from './vscode.ts';
import { actUntil, succeeds, until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const API_KEY = 'service_Tree7nq2kX';

describe('the Runs view', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    workbench = await vscode.open();
    await enterSandbox(workbench);
  });

  after(() => vscode.close());

  const runs = (of = workbench) => of.sideBar.view('Runs');
  const command = (title: string, of = workbench) => of.runCommand(`Fine-Tuning: ${title}`);
  const message = (text: RegExp, of = workbench) =>
    runs(of).root.locator('.message').filter({ hasText: text });

  const pictures = (name: string) => workbench.screenshotInThemes(`runs-${name}`, () => Promise.resolve());

  describe('with 10,000 runs', () => {
    before(async () => {
      addRunsElsewhere(vscode);
      await command('Refresh');
      await runs()
        .row(/^Run .+, Completed, (.+, )?(59 min|1 h) ago/)
        .first()
        .waitFor();
    });

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
      await command('Load All Runs');
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

    it('is filtered by text and checkboxes, and shows the filter', async () => {
      await runs().pressInTitle('Filter Runs…');
      await workbench.quickInput.waitForTitle('Filter Runs');
      await workbench.quickInput.type('8B');
      // The typed text does not hide rows of the box.
      await workbench.quickInput.pick('Completed');
      await workbench.quickInput.pick('Llama 3.1 8B Instruct');
      await workbench.screenshot('runs-filter-box');
      await workbench.quickInput.accept();
      await message(
        /Filter “8B” · Llama 3\.1 8B Instruct · Completed: [\d,]+ of 10,000 loaded runs\. Labels not searched: [\d,]+\./,
      ).waitFor();
      // The rows are redrawn a moment later.
      await until('the rows that do not match go', async () =>
        (await runs().rowTexts()).every((text) => /^(Llama 3\.1 8B Instruct|Past run)/.test(text)),
      );
      await pictures('filtered');
      // Change the filter by keyboard.
      await command('Filter Runs…');
      await workbench.quickInput.waitForTitle('Filter Runs');
      assert.equal(await workbench.quickInput.value(), '8B');
      await workbench.quickInput.fill('nothing is called so');
      await message(/: 0 of 10,000 loaded runs\./).waitFor();
      await workbench.screenshot('runs-none-fits');
      const row = runs().row('No loaded runs match. Select to clear the filter.');
      await actUntil(() => succeeds((limit) => row.click(limit)), message(/loaded runs/), 'hidden');
    });

    after(async () => {
      await chooseInSandbox(workbench, 'Reset Sandbox…');
      await workbench.dialogs.waitForModal('Reset the sandbox?');
      await workbench.dialogs.press('Reset');
      await runs().welcomeButton('Submit Dataset').waitFor();
      await workbench.clearNotifications();
    });
  });

  describe('of a service', () => {
    let service: Service;

    before(async () => {
      service = await Service.start(API_KEY);
      service.addPastRuns(100);
      await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: API_KEY });
    });

    after(() => service.close());

    it('are dimmed while it is offline, and say since when', async () => {
      // Created an hour before the runs were added, by a clock that is only known to the second.
      const row = runs().row(/^Run (Past run 1|Llama 3\.2 1B Instruct), Completed, (.+, )?(59 min|1 h) ago/);
      await row.waitFor();
      const label = '.sidebar [role="treeitem"][aria-label^="Run "] .label-name';
      const color = () =>
        workbench.page.evaluate<string>(`getComputedStyle(document.querySelector('${label}')).color`);
      const bright = await color();
      await service.shut();
      await command('Refresh');
      // Only the user's own refresh leads to a notification, not the watcher's.
      await workbench.dialogs.waitForToast(/Can’t reach the service\. Check its URL/);
      await workbench.clearNotifications();
      await message(/^Offline since .+\. This may be out of date\./).waitFor();
      // VS Code requests colors a moment after the rows.
      await until('the color changes', async () => (await color()) !== bright);
      await pictures('offline');
      assert.deepEqual(await workbench.dialogs.toastTexts(), []);
      await service.reopen();
      await command('Refresh');
      await message(/^Offline/).waitFor({ state: 'hidden' });
      await until('the color is back', async () => (await color()) === bright);
    });

    it('show an unknown status unchanged, and count as active', async () => {
      service.status = 'warming_up';
      await service.submitElsewhere('strange');
      await command('Refresh');
      await runs()
        .row(/^Run (strange|Qwen3 8B), Warming_up, /)
        .waitFor();
      await workbench.page
        .locator('.activitybar')
        .getByRole('tab', { name: /^Fine-Tuning.* - 1 run active$/ })
        .waitFor();
      await workbench.screenshot('unknown-status');
    });
  });
});
