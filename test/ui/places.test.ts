import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { weekly } from '../helpers/weekly.ts';
import { Preview } from './preview.ts';
import { openInSandbox, sandboxLedger } from './sandbox.ts';
import { beginSubmission, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { actUntil, untilEqual } from './waits.ts';
import type { Workbench } from './workbench.ts';

const START_CENTS = 100_000;
const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
const BIG_BYTES = 60 * 1024 * 1024;
const SUBMIT = 'Submit Dataset for Training…';

describe('submitting from each place', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    // Prevents the editor from asking before it opens a large file.
    vscode = await VSCode.start({ settings: { 'workbench.editorLargeFileConfirmation': 1024 } });
    await writeFile(file('first.jsonl'), ROW.repeat(20));
    await writeFile(file('second.jsonl'), ROW.repeat(30));
    await writeFile(file('draft.jsonl'), ROW);
    await writeFile(file('gone.jsonl'), ROW);
    await writeFile(file('empty.jsonl'), '');
    await mkdir(file('folder.jsonl'));
    for (const name of ['lora.zip', 'photos.zip']) await writeFile(file(name), '');
    workbench = await openInSandbox(vscode);
  });

  after(() => vscode.close());

  async function leaveAt(title: RegExp): Promise<void> {
    await workbench.quickInput.waitForTitle(title);
    await workbench.quickInput.close();
  }

  async function leaveFirstStepOf(fileName: string): Promise<void> {
    await leaveAt(new RegExp(`^Submit ${fileName.replace('.', '\\.')} to the sandbox$`));
  }

  function assertNothingSent(): void {
    assert.deepEqual(sandboxLedger(vscode), { balanceCents: START_CENTS, labels: [] });
  }

  async function refusal(pattern: RegExp): Promise<void> {
    await workbench.dialogs.waitForToast(pattern);
    if (await workbench.quickInput.isOpen())
      assert.doesNotMatch(await workbench.quickInput.title(), /Submit|Choose/);
    await workbench.clearNotifications();
  }

  describe('opens the first step without sending anything', () => {
    afterEach(async function () {
      assertNothingSent();
      if (this.currentTest?.state === 'failed') await workbench.editors.closeAll();
    });

    it('from the palette, for the file in the active tab', async () => {
      await workbench.editors.open(file('first.jsonl'));
      await workbench.runCommand(`Fine-Tuning: ${SUBMIT}`);
      await leaveFirstStepOf('first.jsonl');
    });

    it("from a tab's context menu, for its file, active or not", async () => {
      await workbench.editors.open(file('second.jsonl'));
      await workbench.editors.chooseInTabMenu('first.jsonl', SUBMIT);
      await leaveFirstStepOf('first.jsonl');
    });

    it('from the button beside the tabs, for the active file', async () => {
      await workbench.editors.tab('second.jsonl').click();
      await beginSubmission(workbench, 'second.jsonl');
      await leaveFirstStepOf('second.jsonl');
      await workbench.editors.closeAll();
    });

    it('from the explorer for several files, after asking which one', async () => {
      const explorer = await workbench.sideBar.explorer();
      await explorer.select('first.jsonl', 'second.jsonl');
      await explorer.chooseInContextMenu('second.jsonl', SUBMIT);
      await workbench.quickInput.waitForTitle('Choose a Dataset');
      await workbench.screenshot('which-file');
      assert.deepEqual((await workbench.quickInput.labels()).map((label) => label.trim()).sort(), [
        'first.jsonl',
        'second.jsonl',
      ]);
      await workbench.quickInput.pick('second.jsonl');
      await leaveFirstStepOf('second.jsonl');
      await workbench.editors.closeAll();
    });

    it('for a file with unsaved changes, after "Save and Continue"', async () => {
      // A preview of the same file must not count as unsaved.
      await new Preview(workbench).open('draft.jsonl');
      await workbench.editors.openAsText(file('draft.jsonl'));
      await workbench.editors.typeAtStart('{"messages":[]}\n');
      await workbench.editors.pressTitleAction(SUBMIT, workbench.dialogs.modal);
      const detail = await workbench.dialogs.waitForModal('draft.jsonl has unsaved changes.');
      assert.equal(detail, 'Only the saved file is submitted.');
      assert.deepEqual((await workbench.dialogs.modalButtons()).sort(), ['Cancel', 'Save and Continue']);
      await workbench.screenshot('unsaved');
      await workbench.dialogs.press('Cancel');
      assert.equal(await workbench.quickInput.isOpen(), false);
      assert.equal(await workbench.editors.isDirty('draft.jsonl'), true);
      assert.equal(await readFile(file('draft.jsonl'), 'utf8'), ROW);

      await workbench.editors.pressTitleAction(SUBMIT, workbench.dialogs.modal);
      await workbench.dialogs.waitForModal('draft.jsonl has unsaved changes.');
      await workbench.dialogs.press('Save and Continue');
      await leaveFirstStepOf('draft.jsonl');
      assert.equal(await readFile(file('draft.jsonl'), 'utf8'), `{"messages":[]}\n${ROW}`);
      await workbench.editors.closeAll();
    });

    it('but not for an empty file', async () => {
      const explorer = await workbench.sideBar.explorer();
      await explorer.chooseInContextMenu('empty.jsonl', SUBMIT);
      await refusal(/empty\.jsonl is empty\./);
    });

    it('but not for a deleted file that is still open', async () => {
      await workbench.editors.open(file('gone.jsonl'));
      await rm(file('gone.jsonl'));
      await workbench.runCommand(`Fine-Tuning: ${SUBMIT}`);
      await refusal(/gone\.jsonl no longer exists\./);
      await workbench.editors.closeAll();
    });

    it('from the Models view without an open JSONL file, after choosing any file', async () => {
      await workbench.sideBar.open('Fine-Tuning');
      const boxes = workbench.quickInput.titled('Choose a Dataset');
      await (await workbench.sideBar.models()).pressInRowUntil('Qwen3 8B', SUBMIT, boxes);
      await workbench.quickInput.item('second.jsonl').waitFor();
      const labels = (await workbench.quickInput.labels()).map((label) => label.trim());
      assert.deepEqual([labels[0], labels.at(-1)], ['draft.jsonl', 'Choose Another File…']);
      assert.ok(!labels.some((label) => label.includes('folder')), labels.join());
      await workbench.screenshot('choose-dataset');
      await workbench.quickInput.pick('Choose Another File…');
      await leaveAt(/^Choose a Dataset/);
    });

    it('from the menu of a text editor, but not of a folder or a comparison', async () => {
      const explorer = await workbench.sideBar.explorer();
      const menu = workbench.page.locator('.monaco-menu-container');
      const itemsOf = async (target: Locator, other: string) => {
        // A redraw loses the click.
        await actUntil(() => target.click({ button: 'right' }), menu.getByRole('menuitem', { name: other }));
        const names = await menu.locator('.action-label[aria-label]').allTextContents();
        await workbench.page.keyboard.press('Escape');
        await menu.waitFor({ state: 'hidden' });
        return names.filter((name) => /Dataset|Adapter/.test(name));
      };
      assert.deepEqual(await itemsOf(explorer.row('folder.jsonl'), 'Rename...'), []);
      assert.deepEqual(await itemsOf(explorer.row('lora.zip'), 'Rename...'), ['Inspect Adapter']);
      assert.deepEqual(await itemsOf(explorer.row('photos.zip'), 'Rename...'), []);
      await workbench.editors.open(file('first.jsonl'));
      const lines = workbench.page.locator('.editor-group-container .view-line').last();
      await untilEqual([SUBMIT, 'Check Dataset'], () => itemsOf(lines, 'Command Palette'));
      await explorer.select('first.jsonl', 'second.jsonl');
      await explorer.chooseInContextMenu('second.jsonl', 'Compare Selected');
      await workbench.page.locator('.monaco-diff-editor').waitFor();
      await untilEqual([], () => itemsOf(lines, 'Command Palette'));
      await workbench.editors.titleAction(SUBMIT).waitFor({ state: 'hidden' });
      await workbench.editors.closeAll();
    });

    it('from a row of the Models view, for the active file with that model', async () => {
      await workbench.editors.open(file('second.jsonl'));
      await workbench.sideBar.open('Fine-Tuning');
      const summary = workbench.quickInput.titled(/^Submit second\.jsonl to /);
      const models = await workbench.sideBar.models();
      await models.pressInRowUntil('Mistral Nemo 12B Instruct', SUBMIT, summary);
      await walkThroughSteps(workbench, { fileName: 'second.jsonl', until: 'summary' });
      const model = workbench.quickInput.item('Model').locator('.label-description');
      assert.match(await model.innerText(), /^Mistral Nemo 12B Instruct, /);
      await workbench.quickInput.close();
      await workbench.editors.closeAll();
    });

    weekly(() =>
      it('for an untitled document, after asking where to save it', async () => {
        await workbench.runCommand('File: New Untitled Text File');
        await workbench.editors.tab('Untitled-1').waitFor();
        await workbench.editors.typeAtStart(ROW);
        await workbench.runCommand('Change Language Mode');
        await workbench.quickInput.type('JSON Lines');
        await workbench.page
          .locator('.quick-input-widget .monaco-list-row', { hasText: 'JSON Lines' })
          .first()
          .click();
        await workbench.page.locator('[id="status.editor.mode"]', { hasText: 'JSON Lines' }).waitFor();

        await workbench.runCommand(`Fine-Tuning: ${SUBMIT}`);
        await workbench.quickInput.waitForTitle(/Save/);
        await workbench.quickInput.close();
        assert.equal(await workbench.editors.isDirty('Untitled-1'), true);

        await workbench.runCommand(`Fine-Tuning: ${SUBMIT}`);
        await workbench.quickInput.waitForTitle(/Save/);
        await workbench.quickInput.choosePath(file('new.jsonl'));
        await leaveFirstStepOf('new.jsonl');
        assert.equal(await readFile(file('new.jsonl'), 'utf8'), ROW);
        await workbench.editors.closeAll();
      }),
    );

    weekly(() =>
      it('for a file of 60 MB, although extensions cannot see its document', async () => {
        await writeFile(file('big.jsonl'), ROW.repeat(Math.ceil(BIG_BYTES / ROW.length)));
        await workbench.editors.open(file('big.jsonl'));
        await beginSubmission(workbench, 'big.jsonl');
        await leaveFirstStepOf('big.jsonl');
        await workbench.editors.chooseInTabMenu('big.jsonl', SUBMIT);
        await leaveFirstStepOf('big.jsonl');
        await workbench.runCommand(`Fine-Tuning: ${SUBMIT}`);
        await leaveFirstStepOf('big.jsonl');
      }),
    );
  });
});
