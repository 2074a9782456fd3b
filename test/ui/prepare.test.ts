import assert from 'node:assert/strict';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { weekly } from '../helpers/weekly.ts';
import { Preview } from './preview.ts';
import { openInSandbox, sandboxLedger } from './sandbox.ts';
import { charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const KEY = `service_${'a1B2c3D4'.repeat(5)}`;
const chat = (question: string, answer = 'Four.') => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
});
/** 40 different questions, and one of each fault. */
const FAULTY = [
  ...Array.from({ length: 40 }, (_, at) => JSON.stringify(chat(`What is ${at}+4?`))),
  JSON.stringify(chat('What is 0+4?')),
  JSON.stringify(chat('Which key?', `It is ${KEY}, or ask me@corp.org.`)),
  `${JSON.stringify(chat('A comma?')).slice(0, -1)},}`,
  '',
].join('\n');
const BIG_BYTES = 120_000_000;

describe('a prepared copy of a dataset', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  const file = (name: string) => vscode.file(name);
  const files = async () =>
    (await readdir(file('.'))).filter((name) => /^(big|faulty)|part/.test(name)).sort();

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('faulty.jsonl'), `${FAULTY}\n`);
    workbench = await openInSandbox(vscode);
  });

  after(() => vscode.close());

  /** Opens the dialog from the explorer. */
  async function begin(name: string): Promise<void> {
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu(name, 'Prepare Copy…');
    await workbench.quickInput.waitForTitle(`Prepare a copy of ${name}`);
  }

  it('is mended and submitted without touching the editor', async () => {
    const { dialogs, editors, page, quickInput } = workbench;
    await workbench.screenshotInThemes(
      'prepare-choices',
      () => begin('faulty.jsonl'),
      () => quickInput.close(),
    );
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu('faulty.jsonl', 'Check Dataset');
    await dialogs.pressInToast('faulty.jsonl: 44 rows of chat', 'Prepare Copy…');
    await quickInput.waitForTitle('Prepare a copy of faulty.jsonl');
    await quickInput.pick('Mask email addresses and card numbers');
    await page.keyboard.press('Enter');
    const text = await dialogs.waitForToast('Created faulty.prepared.jsonl');
    assert.equal(
      text,
      'Created faulty.prepared.jsonl: 42 of 44 rows. Left out: 1 duplicate, 1 blank; 1 secret masked; 1 email address masked; 1 row repaired.',
    );
    await editors.tab('faulty.prepared.jsonl').waitFor();
    await workbench.screenshot('prepare-result');
    assert.equal(await readFile(file('faulty.jsonl'), 'utf8'), `${FAULTY}\n`);
    const written = await readFile(file('faulty.prepared.jsonl'), 'utf8');
    assert.ok(written.includes('It is [API_KEY], or ask [EMAIL].') && !written.includes(KEY));
    await dialogs.pressInToast('Created faulty.prepared.jsonl', 'Submit…');
    await walkThroughSteps(workbench, { fileName: 'faulty.prepared.jsonl', model: 'Qwen3 8B' });
    await dialogs.waitForToast(charged('faulty.prepared'));
    assert.equal(sandboxLedger(vscode).labels.length, 1);
    await editors.closeAll();
  });

  it('has a hold-out, chosen with the keyboard from the preview', async () => {
    const { dialogs, page, quickInput } = workbench;
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu('faulty.jsonl', 'Preview Dataset');
    await new Preview(workbench).waitForStatus('44 rows');
    const box = quickInput.titled('Prepare a copy of faulty.jsonl');
    await workbench.editors.pressTitleAction('Prepare Copy…', box);
    // The box has the focus: filter, tick with the space bar, accept.
    await page.keyboard.type('evaluation');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await quickInput.waitForMessage(/^Rows for evaluation/);
    await workbench.screenshot('prepare-amount');
    await page.keyboard.press('Enter');
    const text = await dialogs.waitForToast('Created faulty.prepared-2.jsonl');
    assert.match(
      text,
      /^Created faulty\.prepared-2\.jsonl: 38 of 44 rows, and faulty\.holdout-2\.jsonl \(4 rows for evaluation\)\. /,
    );
    assert.deepEqual(await files(), [
      ...['faulty.holdout-2.jsonl', 'faulty.jsonl', 'faulty.prepared-2.jsonl', 'faulty.prepared.jsonl'],
    ]);
    // It opens after the notification.
    await workbench.editors.activeTab('faulty.prepared-2.jsonl').waitFor();
    await workbench.editors.closeAll();
    await workbench.clearNotifications();
  });

  weekly(() =>
    it('of 120 MB can be canceled, and leaves nothing', async () => {
      const { dialogs, page, quickInput } = workbench;
      const rows = Buffer.from(
        Array.from({ length: 20_000 }, (_, at) =>
          JSON.stringify({ instruction: `Question ${at}? ${'x'.repeat(200)}`, output: `Answer ${at}.` }),
        ).join('\n') + '\n',
      );
      const handle = await open(file('big.jsonl'), 'w');
      for (let bytes = 0; bytes + rows.length <= BIG_BYTES; bytes += rows.length) await handle.write(rows);
      await handle.close();
      await begin('big.jsonl');
      await quickInput.pick('Duplicate rows');
      await quickInput.pick('Convert to chat messages');
      await page.keyboard.press('Enter');
      const progress = dialogs.toast('Preparing a copy of big.jsonl');
      await progress.waitFor();
      await workbench.screenshot('prepare-progress');
      await progress.getByRole('button', { name: 'Cancel' }).click();
      await progress.waitFor({ state: 'hidden' });
      // A later message of the command would come before the answer to the next one.
      const explorer = await workbench.sideBar.explorer();
      await explorer.chooseInContextMenu('faulty.jsonl', 'Check Dataset');
      await dialogs.waitForToast('faulty.jsonl: 44 rows of chat');
      assert.deepEqual(
        (await dialogs.toastTexts()).filter((text) => text.includes('big')),
        [],
      );
      assert.deepEqual(
        (await files()).filter((name) => !name.startsWith('faulty')),
        ['big.jsonl'],
      );
    }),
  );
});
