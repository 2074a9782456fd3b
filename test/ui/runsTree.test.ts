import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseClockSpeed, chooseScenario, endSandboxRuns, enterSandbox, sandboxRunIds } from './sandbox.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
const API_KEY = 'service_Tree7nq2kX';
/** For 100 pages of 100 on a busy machine. */
const ALL_MS = 60_000;

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 15_000;
  while (!(await condition())) {
    assert.ok(Date.now() < giveUpAt, `not yet: ${what}`);
    await sleep(50);
  }
}

describe('the Runs view', () => {
  let folder: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await writeFile(path.join(folder, 'rows.jsonl'), ROW.repeat(40));
    vscode = await VSCode.start();
    workbench = await vscode.open(folder);
    await enterSandbox(workbench);
  });

  after(async () => {
    await vscode.close();
    await rm(folder, { recursive: true, force: true });
  });

  const runs = (of = workbench) => of.sideBar.view('Runs');
  const command = (title: string, of = workbench) => of.runCommand(`Fine-Tuning: ${title}`);
  const message = (text: RegExp, of = workbench) =>
    runs(of).root.locator('.message').filter({ hasText: text });

  const pictures = (name: string) => workbench.screenshotInThemes(`runs-${name}`, () => Promise.resolve());

  async function submit(label: string): Promise<void> {
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Qwen3 8B', label });
    await workbench.dialogs.waitForToast(/Charged/);
    await workbench.clearNotifications();
  }

  describe('with 10,000 runs', () => {
    before(async () => {
      await chooseScenario(workbench, 'many-runs');
      await command('Refresh');
      await runs()
        .row(/^Run .+, Completed, (.+, )?1 h ago/)
        .waitFor();
    });

    it('reads the labels of the first rows by itself, and no others', async () => {
      await runs()
        .row(/^Run Past run 1, Completed, /)
        .waitFor();
      await runs()
        .row(/^Run Past run 10, Completed, /)
        .waitFor();
    });

    it('loads the next page with the mouse alone, and with the keyboard', async () => {
      const rowsBeside = (count: number) =>
        workbench.page.locator(`[role=treeitem][aria-setsize="${count}"]`).first().waitFor();
      // To the end with the wheel, and one click; no row is unfolded by it.
      await runs().row(/^Run /).first().hover();
      for (let turn = 0; turn < 90 && (await runs().row('Load More').count()) === 0; turn++) {
        await workbench.page.mouse.wheel(0, 200);
        await sleep(100);
      }
      await runs().row('Load More').click();
      // Two pages of runs, and a row for the next.
      await rowsBeside(201);
      assert.equal(await runs().root.locator('[role=treeitem][aria-expanded=true]').count(), 0);

      await workbench.page.keyboard.press('End');
      await runs().row('Load More').waitFor();
      await workbench.page.keyboard.press('Enter');
      await rowsBeside(301);
    });

    it('loads all with progress, and is fast with them', async () => {
      const startedMs = performance.now();
      await command('Load All Runs');
      await workbench.dialogs.waitForToast(/Loading all runs/);
      await workbench.dialogs.toast(/Loading all runs/).waitFor({ state: 'hidden', timeout: ALL_MS });
      const loadedMs = performance.now() - startedMs;
      await workbench.page
        .locator('[role=treeitem][aria-setsize="10000"]')
        .first()
        .waitFor({ timeout: 10_000 });
      const drawnMs = performance.now() - startedMs - loadedMs;
      process.stdout.write(
        `      ${Math.round(loadedMs)} ms to load, then ${Math.round(drawnMs)} ms to stand\n`,
      );
      assert.ok(drawnMs < 10_000);
      await workbench.screenshot('runs-all');
    });

    it('is filtered by what is typed and ticked in one box, and says so', async () => {
      await runs().pressInTitle('Filter Runs…');
      await workbench.quickInput.waitForTitle('Filter Runs');
      await workbench.quickInput.type('8B');
      // What is typed hides no row of the box.
      await workbench.quickInput.pick('Completed');
      await workbench.quickInput.pick('Llama 3.1 8B Instruct');
      await workbench.screenshot('runs-filter-box');
      await workbench.quickInput.accept();
      await message(
        /Filter “8B” · Llama 3\.1 8B Instruct · Completed: [\d,]+ of 10,000 loaded runs\. [\d,]+ labels are not loaded yet/,
      ).waitFor();
      // The rows are drawn a moment after it.
      await until('the rows that do not match go', async () =>
        (await runs().rowTexts()).every((text) => /^(Llama 3\.…nstruct|Past run)/.test(text)),
      );
      await pictures('filtered');
      // The keyboard alone changes it.
      await command('Filter Runs…');
      await workbench.quickInput.waitForTitle('Filter Runs');
      assert.equal(await workbench.quickInput.value(), '8B');
      await workbench.quickInput.fill('nothing is called so');
      await message(/: 0 of 10,000 loaded runs\./).waitFor();
      await workbench.screenshot('runs-none-fits');
      await runs().row('No loaded runs match. Select to clear the filter.').click();
      await message(/loaded runs/).waitFor({ state: 'hidden' });
    });

    it('is grouped by day, with the counts', async () => {
      const startedMs = performance.now();
      await command('Toggle Run Grouping by Day');
      // Until one in the morning none is of today: there is one an hour.
      const days = runs().row(/^(Today|Yesterday), \d+ runs?$/);
      await days.first().waitFor();
      process.stdout.write(`      ${Math.round(performance.now() - startedMs)} ms to group\n`);
      // The runs of a late day reach beyond the view.
      if (await runs().row('Today, ').isVisible()) await runs().collapse('Today, ');
      await runs()
        .row(/^Yesterday, 2[345] runs$/)
        .waitFor();
      await pictures('grouped');
      await command('Filter Runs…');
      await workbench.quickInput.waitForTitle('Filter Runs');
      await workbench.quickInput.fill(`${(9_000).toString(16).padStart(8, '0')}-`);
      await message(/: 1 of 10,000 loaded runs\./).waitFor();
      await runs()
        .row(/, 1 run$/)
        .waitFor();
      await runs()
        .row(/^Run .+, Completed|^Run .+, failed/)
        .waitFor();
      await command('Clear Run Filter');
      await days.first().waitFor();
      await command('Toggle Run Grouping by Day');
      await days.first().waitFor({ state: 'hidden' });
      await runs()
        .row(/^Run Past run 1, Completed, /)
        .waitFor();
    });

    after(async () => {
      await command('Reset Sandbox…');
      await workbench.dialogs.waitForModal('Reset the sandbox?');
      await workbench.dialogs.press('Reset');
      await runs().welcomeButton('Submit Dataset').waitFor();
      await workbench.clearNotifications();
    });
  });

  describe('and what it tells', () => {
    it('tells the end of a run once, in one of two windows', async () => {
      const other = await vscode.open(folder);
      await other.sideBar.open('Fine-Tuning');
      await runs(other).root.waitFor();
      await workbench.page.bringToFront();
      await workbench.editors.open(path.join(folder, 'rows.jsonl'));
      await chooseClockSpeed(workbench, 100);
      await submit('once');
      for (const window of [workbench, other])
        await runs(window)
          .row(/^Run once, Completed, /)
          .waitFor({ timeout: 30_000 });
      // As long as a window without the focus waits.
      await sleep(4_000);
      const told = (await Promise.all([workbench, other].map((window) => window.dialogs.toastTexts()))).map(
        (texts) => texts.filter((text) => text.includes('once completed.')),
      );
      assert.equal(told.flat().length, 1, JSON.stringify(told));
      const teller = told[0]?.length === 1 ? workbench : other;
      await teller.page.bringToFront();
      await teller.screenshot('run-finished');
      await teller.dialogs.pressInToast(/once completed\./, 'Show Run');
      await teller.page.locator('.tab').filter({ hasText: 'once' }).waitFor();
      await other.close();
      await workbench.clearNotifications();
    });

    it('tells what ended while nobody was there in one digest', async () => {
      await workbench.page.bringToFront();
      await chooseClockSpeed(workbench, 1);
      await workbench.editors.open(path.join(folder, 'rows.jsonl'));
      for (const label of ['first', 'second']) await submit(label);
      await runs()
        .row(/^Run second, (Queued|running), /)
        .waitFor();
      await vscode.waitUntilKept(sandboxRunIds(vscode));
      await vscode.restart();
      endSandboxRuns(vscode);
      workbench = await vscode.open(folder);
      const text = await workbench.dialogs.waitForToast(/runs completed/);
      assert.equal(text, 'Sandbox: 2 runs completed.');
      await workbench.screenshot('runs-digest');
      const told = (await workbench.dialogs.toastTexts()).filter((one) => one.includes('completed'));
      assert.deepEqual(told, [text]);
      await workbench.dialogs.pressInToast(/2 runs completed/, 'Show Runs');
      // Their labels stand at once.
      await runs()
        .row(/^Run second, Completed, /)
        .waitFor();
      await pictures('after-restart');
    });

    it('shows one run after the other in one page; "Open in New Tab" keeps one', async () => {
      await workbench.editors.closeAll();
      const tab = (label: string) => workbench.page.locator('.tab').filter({ hasText: `Run: ${label}` });
      const pages = workbench.page.locator('.tab').filter({ hasText: 'Run: ' });
      for (const label of ['second', 'first']) {
        await runs()
          .row(new RegExp(`^Run ${label}, `))
          .click();
        await tab(label).waitFor();
        assert.equal(await pages.count(), 1);
      }
      await runs().chooseInContextMenu(/^Run second, /, 'Open in New Tab');
      // What a page remembers it stores when it is drawn.
      const heading = workbench.webview('panel').getByRole('heading', { level: 1 });
      await heading.getByText('second', { exact: true }).waitFor();
      await runs()
        .row(/^Run once, /)
        .click();
      await heading.getByText('once', { exact: true }).waitFor();
      assert.deepEqual([await pages.count(), await tab('second').count()], [2, 1]);
      // After a reload, too, each is what it was.
      await workbench.reload();
      await tab('second').click();
      await tab('once').click();
      await runs()
        .row(/^Run first, /)
        .click();
      await tab('first').waitFor();
      assert.deepEqual([await pages.count(), await tab('second').count()], [2, 1]);
      await workbench.editors.closeAll();
    });
  });

  describe('of an account that is out of reach', () => {
    it('dims while the service is out of reach, and says since when', async () => {
      const service = await Service.start(API_KEY);
      try {
        service.control.setScenario('many-runs');
        await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: API_KEY });
        const row = runs().row(/^Run (Past run 1|Llama 3\.2 1B Instruct), Completed, (.+, )?1 h ago/);
        await row.waitFor();
        const label = '.sidebar [role="treeitem"][aria-label^="Run "] .label-name';
        const color = () =>
          workbench.page.evaluate<string>(`getComputedStyle(document.querySelector('${label}')).color`);
        const bright = await color();
        await service.shut();
        await command('Refresh');
        // Who asked is told; nobody is told of what is looked at by itself.
        await workbench.dialogs.waitForToast(/Nothing answers at the service URL\./);
        await workbench.clearNotifications();
        await message(/^Offline since .+\. This may be out of date\./).waitFor({ timeout: 30_000 });
        // VS Code asks for colors a moment after the rows.
        await until('the color changes', async () => (await color()) !== bright);
        await pictures('offline');
        assert.deepEqual(await workbench.dialogs.toastTexts(), []);
        await service.reopen();
        await command('Refresh');
        await message(/^Offline/).waitFor({ state: 'hidden' });
        await until('the color is back', async () => (await color()) === bright);
      } finally {
        await service.close();
      }
    });
  });
});
