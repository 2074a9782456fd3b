import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AdapterPage } from './adapterPage.ts';
import { Preview } from './preview.ts';
import { RunPage } from './runPage.ts';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { SpendPage } from './spendPage.ts';
import { beginSubmission, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { actUntil, succeeds, until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const KEY = 'service_Page9f2kQ7';
const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
const LINK = 'vscode://fine-tuning-tools.fine-tuning/run/';
const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

describe('the run page', () => {
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;
  let page: RunPage;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('rows.jsonl'), ROW.repeat(40));
    await mkdir(vscode.file('adapters'));
    service = await Service.start(KEY);
    workbench = await vscode.open();
    page = new RunPage(workbench);
  });

  after(async () => {
    await vscode.close();
    await service.close();
  });

  const runId = async (label: string) => {
    const run = (await service.runs()).find((one) => one.label?.startsWith(`${label} ft-`));
    assert.ok(run !== undefined);
    return run.run_id;
  };

  /** Waits for the clipboard, because the page shows "Copied" before the extension has copied. */
  async function waitForClipboard(text: string | RegExp): Promise<void> {
    const fits = (copied: string) => (typeof text === 'string' ? copied === text : text.test(copied));
    await until(`the clipboard has ${text}`, async () => fits(await workbench.clipboard()));
  }

  async function submit(label: string): Promise<void> {
    await workbench.editors.open(vscode.file('rows.jsonl'));
    await beginSubmission(workbench, 'rows.jsonl');
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Qwen3 8B', label });
    await workbench.dialogs.waitForToast(/Charged/);
    await workbench.clearNotifications();
  }

  it('is not opened by a link without an active account', async () => {
    await page.follow(`${LINK}${UNKNOWN}`);
    await workbench.dialogs.waitForToast('No account is active.');
    assert.equal(await page.tabs.count(), 0);
    await workbench.clearNotifications();
  });

  describe('of a run that was submitted here', () => {
    before(async () => {
      await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: KEY });
      await workbench.sideBar.open('Fine-Tuning');
      service.setSpeed(1_000);
      for (const label of ['first', 'second']) await submit(label);
      await workbench.sideBar
        .view('Runs')
        .row(/^Run second, Completed/)
        .waitFor();
      // At this speed, a run is queued for a minute.
      service.setSpeed(1);
      await submit('page');
      await page.open('page', 'Queued');
    });

    it('shows a queued run and its future events', async () => {
      assert.equal(await page.heading.innerText(), 'page');
      assert.equal(await page.status.innerText(), 'Queued');
      await page
        .event('Queued')
        .getByText(/^\d+ s so far( \(usually .+\))?$/)
        .waitFor();
      await page.event('Started').getByText('not yet').waitFor();
      await page.event('Completed').getByText('not yet').waitFor();
      await page.event('Submitted').getByText('From this machine: rows.jsonl').waitFor();
      assert.equal(await page.button('Download Adapter…').getAttribute('aria-disabled'), 'true');
      await workbench.screenshot('run-page-queued');
    });

    it('shows everything in the receipt', async () => {
      const id = await runId('page');
      assert.match(await page.fact('File').innerText(), /^rows\.jsonl/);
      assert.match(await page.fact('Path').innerText(), new RegExp(vscode.file('rows.jsonl')));
      assert.match(await page.fact('Now').innerText(), /^unchanged/);
      assert.equal(await page.fact('Rows').innerText(), '40');
      assert.match(await page.fact('SHA-256').innerText(), /^[\da-f]{64}/);
      assert.equal(await page.fact('Label').innerText(), 'page');
      assert.equal(await page.fact('Queue').innerText(), 'Standard');
      assert.match(await page.fact('Price').innerText(), /^\d+\.\d\d USD$/);
      assert.match(await page.fact('Balance').innerText(), /^[\d,.]+ USD before, [\d,.]+ USD after$/);
      assert.match(await page.fact('Terms of the provider').innerText(), /^accepted /);
      assert.match(await page.fact('Data policy').innerText(), /^accepted /);
      assert.match(await page.fact('License terms').innerText(), /^https:/);
      assert.match(await page.fact('Run ID').innerText(), new RegExp(`^${id}`));
      assert.match(
        await page.fact('Link').innerText(),
        new RegExp(`://fine-tuning-tools\\.fine-tuning/run/${id}`),
      );
    });

    it('is opened only once per run', async () => {
      await page.open('page');
      await workbench.runCommand('Fine-Tuning: Show Run');
      await workbench.quickInput.pick('page');
      assert.equal(await page.tabs.count(), 1);
    });

    it('copies by mouse and by keyboard, and confirms it', async () => {
      const id = await runId('page');
      await page.button('Copy Run ID').first().focus();
      await workbench.page.keyboard.press('Enter');
      await page.button('Copied').waitFor();
      await waitForClipboard(id);
      // Two buttons copy the ID; only the pressed one confirms it.
      await page.fact('Run ID').getByRole('button').click();
      await page.fact('Run ID').getByRole('button', { name: 'Copied' }).waitFor();
      await page.fact('Link').getByRole('button', { name: 'Copy Link' }).click();
      await page.fact('Link').getByRole('button', { name: 'Copied' }).waitFor();
      await waitForClipboard(new RegExp(`/run/${id}$`));
      await page.fact('Link').getByRole('button', { name: 'Copy Link' }).locator('svg').waitFor();
    });

    it('updates automatically, and keeps the focus when redrawn', async () => {
      await page.button('Submit Again…').focus();
      service.setSpeed(20);
      await page.status.filter({ hasText: 'running' }).waitFor();
      service.setSpeed(1);
      await page
        .event('Started')
        .getByText(/^after \d+ (s|min) in the queue/)
        .waitFor();
      await page
        .event('Started')
        .getByText(/\d (s|min) ago$/)
        .waitFor();
      await page.button('Submit Again…').and(page.frame.locator(':focus')).waitFor();
      await workbench.screenshot('run-page-running');
      service.setSpeed(100);
      await page.status.filter({ hasText: 'Completed' }).waitFor();
      await page
        .event('Completed')
        .getByText(/^after \d+ (s|min) of training/)
        .waitFor();
      await page
        .event('Adapter expires')
        .getByText(/^7 days left$/)
        .waitFor();
      await page.button('Submit Again…').and(page.frame.locator(':focus')).waitFor();
    });

    const adapters = () => vscode.file('adapters');
    const downloaded = async (): Promise<string> => {
      const [name = ''] = (await readdir(adapters())).filter((one) => !one.startsWith('.'));
      return path.join(adapters(), name);
    };

    it('downloads the adapter, and shows how it was verified', async () => {
      const place = async (): Promise<number[]> =>
        await page.button('Submit Again…').evaluate((one) => {
          const { offsetLeft, offsetTop } = one as unknown as { offsetLeft: number; offsetTop: number };
          return [offsetLeft, offsetTop];
        });
      const before = await place();
      assert.ok(before.every((pixels) => pixels > 0));
      await page.button('Download Adapter…').click();
      await workbench.quickInput.waitForTitle(/Choose a Folder/);
      await workbench.quickInput.choosePath(`${adapters()}/`);
      await page
        .section('Adapter')
        .getByText(/^Verified: /)
        .waitFor();
      await page
        .section('Adapter')
        .getByText(await downloaded(), { exact: true })
        .waitFor();
      await page
        .section('Adapter')
        .getByText(/^SHA-256: [\da-f]{64}/)
        .waitFor();
      await page.button('Inspect Adapter').first().waitFor();
      await page.button('Download Again…').waitFor();
      assert.deepEqual(await place(), before, 'what costs money does not slide under the pointer');
      await workbench.clearNotifications();
      await workbench.screenshot('run-page-downloaded');
    });

    it('leads to the script that compares it with the base model, and to the answers beside the dataset', async () => {
      const [holdOut, answers] = ['rows.holdout.jsonl', 'rows.holdout.answers.jsonl'].map((name) =>
        vscode.file(name),
      ) as [string, string];
      assert.equal(await page.button('Compare Answers').count(), 0);
      await writeFile(holdOut, ROW);
      await writeFile(answers, '');
      const adapter = new AdapterPage(workbench);
      await page.button('How to compare it with the base model').click();
      await adapter.waitForVerdict('Sandbox: nothing was trained');
      const heading = adapter.frame.getByRole('heading', { name: 'Compare with the base model' });
      await heading.and(adapter.focused()).waitFor();
      assert.ok(((await heading.boundingBox())?.y ?? 900) < 600, 'it is in view');
      await adapter.recipePanel.getByText(`rows = "${holdOut}"`).waitFor();
      await workbench.screenshot('adapter-compare');
      await page.tabs.first().click();
      await page.button('Compare Answers').waitFor();
      await workbench.screenshot('run-page-compare');
      await rm(holdOut);
      await rm(answers);
    });

    it('shows whether the file of its adapter is gone', async () => {
      await rename(await downloaded(), vscode.file('adapter-elsewhere.zip'));
      await rename(vscode.file('rows.jsonl'), vscode.file('moved.jsonl'));
      await workbench.editors.open(vscode.file('moved.jsonl'));
      await page.tabs.first().click();
      await page.section('Adapter').getByText('The file was moved or deleted.').waitFor();
      await page.section('Dataset').getByText('moved or deleted').waitFor();
      await page.button('Download Adapter…').waitFor();
      assert.equal(await page.button('Open Dataset').count(), 0);
      await rename(vscode.file('moved.jsonl'), vscode.file('rows.jsonl'));
    });

    const tab = (label: string) => page.tabs.filter({ hasText: `Run: ${label}` });

    it('shows different runs in one tab', async () => {
      for (const label of ['second', 'first', 'page']) {
        await page.open(label);
        await tab(label).waitFor();
        assert.equal(await page.tabs.count(), 1);
      }
      // A page stores its state when it is drawn.
      await page.heading.getByText('page', { exact: true }).waitFor();
    });

    it('is restored after a reload of the window, like the other pages', async () => {
      const preview = new Preview(workbench);
      await preview.open('rows.jsonl');
      await preview.goTo(30);
      const adapter = await AdapterPage.open(workbench, 'adapter-elsewhere.zip');
      await adapter.waitForVerdict('Sandbox: nothing was trained');
      const spending = await SpendPage.open(workbench);
      await spending.search.fill('FIRST');
      await spending.run('second').waitFor({ state: 'detached' });
      await workbench.reload();

      await workbench.page.locator('.tab').filter({ hasText: 'Spending: Work' }).click();
      await spending.run('first').waitFor();
      assert.equal(await spending.search.inputValue(), 'FIRST');
      await AdapterPage.tab(workbench, 'adapter-elsewhere.zip').click();
      await adapter.waitForVerdict('Sandbox: nothing was trained');
      // The preview's tab is beside the text editor's.
      await workbench.editors.tab('rows.jsonl').last().click();
      await preview.waitUntilInView(30);
      // The tab shows its run, and then the next one.
      await workbench.sideBar.open('Fine-Tuning');
      await tab('page').click();
      await page.event('Submitted').getByText('From this machine: rows.jsonl').waitFor();
      await page.open('first');
      await tab('first').waitFor();
      assert.equal(await page.tabs.count(), 1);
      await page.open('page');
      await tab('page').waitFor();
    });

    it('is reached by keyboard in reading order', async () => {
      const order = await page.tabOrder();
      assert.deepEqual(order.slice(0, 5), [
        'Inspect Adapter',
        'Download Adapter…',
        'Submit Again…',
        'Copy Run ID',
        'Refresh',
      ]);
      assert.ok(order.includes('Copy SHA-256'), order.join());
    });

    for (const theme of ['dark', 'light', 'high contrast'] as const)
      it(`is readable in ${theme}, and accessible`, async () => {
        await workbench.setTheme(theme);
        await page.tabs.first().click();
        await page.heading.waitFor();
        await page.assertAccessible();
        // The browser's default progress bar has a white track in every theme.
        const bar: unknown = await page.frame.locator('html').evaluate(`(() => {
          const bar = document.body.appendChild(document.createElement('progress'));
          const { appearance } = getComputedStyle(bar);
          bar.remove();
          return appearance;
        })()`);
        assert.equal(bar, 'none');
        await workbench.screenshot(`run-page-${theme.replace(' ', '-')}`);
      });

    it('is readable in a narrow editor', async () => {
      await workbench.setTheme('dark');
      await workbench.resize(800, 900);
      await page.heading.waitFor();
      const cut: unknown = await page.frame
        .locator('html')
        .evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.equal(cut, 0, 'nothing is cut off at the side');
      await workbench.screenshot('run-page-narrow');
      await workbench.resize(1400, 900);
    });
  });

  describe('by a link', () => {
    beforeEach(() => workbench.editors.closeAll());

    it('opens for a run of the account', async () => {
      await page.follow(`${LINK}${await runId('first')}`);
      await page.heading.getByText('first', { exact: true }).waitFor();
    });

    it('does not open for a run that the account does not have', async () => {
      await page.follow(`${LINK}${UNKNOWN}`);
      await workbench.dialogs.waitForToast(`Work has no such run: ${UNKNOWN}`);
      assert.equal(await page.tabs.count(), 0);
      await workbench.clearNotifications();
    });

    it('does nothing for any other link', async () => {
      const asked = service.requests.length;
      for (const link of ['submit/rows.jsonl', `run/${UNKNOWN}?key=service_x`, 'run/..%2Fbalance']) {
        await page.follow(LINK.replace('run/', link));
        await workbench.dialogs.waitForToast(/Unsupported link/);
        await workbench.clearNotifications();
      }
      assert.equal(await page.tabs.count(), 0);
      const since = service.requests.slice(asked);
      assert.deepEqual(
        since.filter((request) => /POST|\/runs\/|balance/.test(request)),
        [],
      );
    });
  });

  describe('with a failing service', () => {
    before(async () => {
      await workbench.editors.closeAll();
      await page.open('page', 'Completed');
    });

    it('shows that the service is offline, and keeps known facts', async () => {
      await service.shut();
      await page.button('Refresh').click();
      await page.notice(/^Offline since .+\. This may be out of date\./).waitFor();
      await page
        .event('Completed')
        .getByText(/of training/)
        .waitFor();
      await workbench.screenshot('run-page-offline');
      await page.assertAccessible();
      await page.button('Retry').focus();
      await service.reopen();
      // The watcher may have read first, which removes the notice with its button.
      await actUntil(
        () => succeeds((limit) => page.button('Retry').click(limit)),
        page.notice(/^Offline/),
        'hidden',
      );
      // The focused button is gone, so another button gets the focus, not the top of the page.
      await page.frame.locator('button:focus').waitFor();
    });

    it('hides everything that was read with a rejected API key', async () => {
      service.apiKey = undefined;
      // The watcher may be rejected first, which removes the button.
      await actUntil(
        () => succeeds((limit) => page.button('Refresh').click(limit)),
        page.notice(/rejected this account’s API key/),
      );
      assert.equal(await page.section('Timeline').count(), 0);
      assert.doesNotMatch(await page.text(), /rows\.jsonl|Qwen|USD|ft-/);
      // The tab's title changes independently of the page.
      await page.tabs.filter({ hasText: /^Run: [0-9a-f]{8}$/ }).waitFor();
      await page.button('Replace API Key…').waitFor();
      await page.assertAccessible();
      await workbench.screenshot('run-page-key-rejected');
      service.apiKey = KEY;
    });
  });
});
