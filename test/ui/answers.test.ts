import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { datasetRow, supportRows, WORD } from '../helpers/answers.ts';
import { assertAccessible } from './accessible.ts';
import { AnswersPage } from './answersPage.ts';
import { smallDataset } from './datasets.ts';
import { enterSandbox } from './sandbox.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';
import { actUntil, untilEqual } from './waits.ts';

const ANSWERS = supportRows(15);

describe('comparison of answers', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let page: AnswersPage;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('train.answers.jsonl'), ANSWERS.join(''));
    await writeFile(
      file('train.holdout.jsonl'),
      ANSWERS.toReversed()
        .map((row) => datasetRow(row))
        .join(''),
    );
    await writeFile(file('leak.answers.jsonl'), ANSWERS.join(''));
    await writeFile(
      file('leak.prepared.jsonl'),
      ANSWERS.slice(0, 5)
        .map((row) => datasetRow(row))
        .join(''),
    );
    await writeFile(file('rows.jsonl'), smallDataset('rows'));
    // Its name doesn't say what it has.
    await writeFile(file('compared.jsonl'), ANSWERS.join(''));
    workbench = await vscode.open();
    page = new AnswersPage(workbench);
  });

  after(() => vscode.close());
  afterEach(() => workbench.editors.closeAll());

  async function open(name: string): Promise<void> {
    const { quickInput } = workbench;
    await workbench.runCommand('Fine-Tuning: Compare Answers…');
    await quickInput.waitForTitle('Choose Answers to Compare');
    await quickInput.pickUntil(name, page.title(name));
    await page.row(1).waitFor();
  }
  const openSample = async () => {
    await workbench.runCommand('Fine-Tuning: Open Sample Comparison');
    await page.title('sample.answers.jsonl · 20 rows').waitFor();
  };

  it('is opened from the palette, and writes nothing beside the user’s files', async () => {
    const before = await readdir(vscode.folder);
    await openSample();
    await page.row(1).getByText('2+3?').waitFor();
    await untilEqual(3, async () => (await page.headline()).length);
    await assertAccessible(page.frame);
    await workbench.screenshot('answers-sample');
    assert.deepEqual(await readdir(vscode.folder), before);
  });

  describe('is voted on', () => {
    it('by keyboard', async () => {
      await openSample();
      const { keyboard } = workbench.page;
      await page.button('Vote Blind').focus();
      await keyboard.press('Enter');
      await page.waitForVote('1 of 20');
      await page.frame.getByText('20 of 20 rows').waitFor();
      // Nothing says which model is which, or who is ahead.
      const seen = await page.frame.locator('body').innerText();
      assert.doesNotMatch(seen, /Base model|Adapter|= expected|Exact|\nExpected/);
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-vote');
      await keyboard.press('e');
      await page.frame.locator('.voting h2').getByText('Expected').waitFor();
      await page.focused().and(page.frame.locator('.voting')).waitFor();
      await workbench.screenshot('answers-vote-expected');
      const keys = ['ArrowLeft', 'ArrowRight', 'ArrowDown', 'Space'];
      for (let at = 1; at <= 4; at++) {
        await keyboard.press(keys[at - 1] ?? '');
        await page.waitForVote(`${at + 1} of 20`);
        const spoken = ['Left', 'Right', 'Equal', 'Equal'][at - 1];
        await page.waitUntilSaid(`${spoken}. ${at} of 20.`);
        // The next one is hidden again.
        assert.equal(await page.frame.locator('.voting h2').getByText('Expected').count(), 0);
      }
      await keyboard.press('Backspace');
      await page.waitForVote('4 of 20');
      assert.equal(await page.button('Equal').getAttribute('aria-pressed'), 'true');
      for (let at = 4; at <= 20; at++) {
        await page.waitForVote(`${at} of 20`);
        await keyboard.press('ArrowLeft');
      }
      const end = page.frame.locator('.voting [role=status] p');
      await end
        .filter({ hasText: /^You preferred the adapter in \d+ rows, the base model in \d+; 1 equal\.$/ })
        .waitFor();
      assert.match(await end.nth(1).innerText(), / would come up in (< )?[\d.]+% of sessions\.$/);
      assert.equal(await page.button('20 More').count(), 0);
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-vote-end');
      await keyboard.press('Escape');
      await page.row(1).waitFor();
      await page.button('Voted').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      assert.equal(await page.focused().innerText(), 'Vote Blind');
      await page.row(1).getByText('Your vote').waitFor();
      await workbench.screenshot('answers-voted');
    });

    it('with the mouse, and ended early', async () => {
      await openSample();
      await page.button('Vote Blind').click();
      await page.button('Left').click();
      await page.button('End').click();
      await page.button('Discard Votes').click();
      await page.button('Vote Blind').click();
      for (let at = 1; at <= 20; at++) {
        await page.waitForVote(`${at} of 20`);
        await page.button(at % 3 === 0 ? 'Equal' : at % 3 === 1 ? 'Left' : 'Right').click();
        if (at === 10) {
          await page.waitForVote('11 of 20');
          await page.button('End').click();
          await page.button('Continue').click();
        }
      }
      await page.button('Show Rows').click();
      await page.button('Voted').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      await page.button('All').click();
      await page.row(1).waitFor();
    });

    it('but not on rows that are in a dataset beside', async () => {
      await open('leak.answers.jsonl');
      await page.waitUntilSaid('5 of these 15 prompts are also in leak.prepared.jsonl.');
      await page.button('Vote Blind').click();
      const asked: number[] = [];
      for (let at = 1; at <= 10; at++) {
        await page.waitForVote(`${at} of 10`);
        const text = await page.frame.locator('.voting').innerText();
        asked.push(Number(/Where is order (\d+)\?/.exec(text)?.[1]));
        await workbench.page.keyboard.press('ArrowDown');
      }
      await page.waitUntilSaid('You preferred the adapter in 0 rows, the base model in 0; 10 equal.');
      assert.deepEqual(
        asked.toSorted((one, other) => one - other),
        Array.from({ length: 10 }, (_, index) => 1_185 + index * 37),
      );
    });
  });

  it('is shown again after it was hidden, with its votes, and after a reload, without, and stores no text', async () => {
    await open('train.answers.jsonl');
    await page.button('Vote Blind').click();
    await page.waitForVote('1 of 15');
    await workbench.page.keyboard.press('ArrowDown');
    await page.waitForVote('2 of 15');
    await openSample();
    await workbench.page.locator('.tab').filter({ hasText: 'Answers: train.answers.jsonl' }).click();
    await page.waitForVote('2 of 15');
    await workbench.page.keyboard.press('Escape');
    await page.button('Show Rows').click();
    await page.waitUntilSaid('You preferred the adapter in 0 rows, the base model in 0; 1 equal.');
    await workbench.reload();
    await page.title('train.answers.jsonl · 15 rows').waitFor();
    await page.row(1).waitFor();
    assert.equal(await page.button('Voted').count(), 0);
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
  });

  it('shows a row in the hold-out beside it', async () => {
    await open('train.answers.jsonl');
    await page.row(2).getByRole('button', { name: 'Show in Hold-out' }).click();
    await workbench.editors.activeTab('train.holdout.jsonl').waitFor();
    const shown = page.frame.locator('article').filter({ hasText: 'Where is order 1037?' });
    await shown.getByRole('heading', { name: 'Row 14' }).waitFor();
  });

  describe('is offered instead of a submission', () => {
    before(() => enterSandbox(workbench));

    it('beside the tabs, above the first line, in the menus and in the language status', async () => {
      const { editors, sideBar } = workbench;
      await editors.open(file('compared.jsonl'));
      await editors.titleAction('Compare Answers…').waitFor();
      await workbench.page.locator('.codelens-decoration').getByText('Compare Answers').waitFor();
      await editors.titleAction('Submit Dataset for Training…').waitFor({ state: 'hidden' });
      assert.equal(await editors.titleAction('Preview Dataset').count(), 0);
      assert.deepEqual(await workbench.page.locator('.codelens-decoration a').allInnerTexts(), [
        'Compare Answers',
      ]);
      const status = workbench.page
        .locator('.hover-language-status')
        .filter({ hasText: 'a list of answers, not a dataset' });
      await actUntil(async () => {
        await workbench.page.mouse.move(0, 0);
        await workbench.page.locator('[id="status.languageStatus"] a').hover();
      }, status.getByText('Compare Answers'));
      await workbench.screenshot('answers-as-text');
      assert.equal(await workbench.page.locator('.squiggly-error, .squiggly-warning').count(), 0);
      const explorer = await sideBar.explorer();
      // Of a file that isn't open, the Explorer knows the name alone: the commands say what it is.
      for (const [name, offered] of [
        ['compared.jsonl', []],
        ['train.answers.jsonl', ['Submit Dataset for Training…', 'Check Dataset']],
      ] as const) {
        const menu = workbench.page.locator('.monaco-menu-container');
        await actUntil(
          () => explorer.row(name).first().click({ button: 'right' }),
          menu.getByRole('menuitem', { name: 'Compare Answers…' }),
        );
        const ours = await menu.getByRole('menuitem').allInnerTexts();
        assert.deepEqual(
          ours.map((item) => item.trim()).filter((item) => /Dataset|Prepare|Submit/.test(item)),
          offered,
          name,
        );
        await workbench.page.keyboard.press('Escape');
        await menu.waitFor({ state: 'hidden' });
      }
      await explorer.chooseInContextMenu('train.answers.jsonl', 'Compare Answers…');
      await page.title('train.answers.jsonl · 15 rows').waitFor();
      await editors.open(file('compared.jsonl'));
      await editors.pressTitleAction('Compare Answers…', page.title('compared.jsonl · 15 rows'));
    });

    it('in the list of datasets and before a submission', async () => {
      const { dialogs, editors, quickInput } = workbench;
      await workbench.runCommand('Fine-Tuning: Submit Dataset for Training…');
      await quickInput.waitForTitle('Choose a Dataset');
      const labels = (await quickInput.labels()).join();
      assert.match(labels, /rows\.jsonl/);
      assert.doesNotMatch(labels, /answers|compared/);
      await quickInput.close();
      await workbench.runCommand('Fine-Tuning: Compare Answers…');
      await quickInput.waitForTitle('Choose Answers to Compare');
      const offered = (await quickInput.labels()).join();
      assert.match(offered, /compared\.jsonl.*train\.answers\.jsonl/);
      assert.doesNotMatch(offered, /rows\.jsonl|holdout|prepared/);
      await quickInput.close();
      await editors.open(file('compared.jsonl'));
      await workbench.runCommand('Fine-Tuning: Submit Dataset for Training…');
      await dialogs.waitForModal('compared.jsonl is not ready to submit: a list of answers, not a dataset.');
      assert.deepEqual((await dialogs.modalButtons()).sort(), ['Cancel', 'Compare Answers']);
      await workbench.screenshot('answers-not-submitted');
      await dialogs.press('Compare Answers');
      await page.title('compared.jsonl · 15 rows').waitFor();
      await editors.closeAll();
      await editors.open(file('compared.jsonl'));
      await workbench.runCommand('Fine-Tuning: Preview Dataset');
      await page.frame
        .getByText('The file is a list of answers, not a dataset. Run Compare Answers.')
        .waitFor();
      await page.button('Compare Answers').click();
      await page.title('compared.jsonl · 15 rows').waitFor();
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
