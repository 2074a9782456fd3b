import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { datasetRow, supportRows } from '../helpers/answers.ts';
import { assertAccessible } from './accessible.ts';
import { AnswersPage } from './answersPage.ts';
import { smallDataset } from './datasets.ts';
import { enterSandbox } from './sandbox.ts';
import { VSCode } from './vscode.ts';
import { actUntil, untilEqual } from './waits.ts';
import type { Workbench } from './workbench.ts';

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
    await writeFile(file('rows.jsonl'), smallDataset('rows'));
    // Its name doesn't say what it contains.
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
      const status = await workbench.languageStatus('a list of answers, not a dataset');
      await status.getByText('Compare Answers').waitFor();
      await workbench.screenshot('answers-as-text');
      assert.equal(await workbench.page.locator('.squiggly-error, .squiggly-warning').count(), 0);
      const explorer = await sideBar.explorer();
      // The Explorer knows only the name of a file that isn't open, so the commands say what it is.
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
      await dialogs.waitForModal('compared.jsonl isn’t ready to submit: a list of answers, not a dataset.');
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
