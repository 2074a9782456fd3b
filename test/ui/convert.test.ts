import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { enterSandbox, sandboxLedger } from './sandbox.ts';
import { charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

/** As a spreadsheet writes it: quotes, line ends and separators in values, a row that someone cut, rows that are empty. */
const ALPACA = [
  'Instruction,Input,Output',
  '"Say ""four"".",,Four.',
  '"List two colors,\nplease.",,"red, blue"',
  ...Array.from({ length: 20 }, (_, at) => `What is ${at}+4?,,It is ${at + 4}.`),
  'Who wrote this?,',
  ',,',
  '',
].join('\r\n');
const ROW = JSON.stringify({ prompt: 'Wie heißt du?', completion: '😀' });

describe('a file that isn’t JSONL', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('alpaca.csv'), ALPACA);
    await writeFile(
      file('wide.jsonl'),
      Buffer.from(`\uFEFF${ROW}\r\n${ROW.replace('du', 'sie')}\r\n`, 'utf16le'),
    );
    workbench = await vscode.open();
  });

  after(() => vscode.close());

  it('is converted from the explorer’s menu if it is a table, and what was created is checked', async () => {
    const { dialogs, editors, sideBar } = workbench;
    const explorer = await sideBar.explorer();
    await explorer.chooseInContextMenu('alpaca.csv', 'Convert to JSONL');
    assert.equal(
      await dialogs.waitForToast('Created alpaca.jsonl'),
      'Created alpaca.jsonl: 22 rows. Left out: 1 with another number of values.',
    );
    await editors.activeTab('alpaca.jsonl').waitFor();
    assert.equal(
      await dialogs.waitForToast('alpaca.jsonl: 22 rows of'),
      'alpaca.jsonl: 22 rows of instruction/output, no problems.',
    );
    const rows = (await readFile(file('alpaca.jsonl'), 'utf8')).trimEnd().split('\n');
    assert.deepEqual(
      rows.slice(0, 2).map((row) => JSON.parse(row) as unknown),
      [
        { instruction: 'Say "four".', input: '', output: 'Four.' },
        { instruction: 'List two colors,\nplease.', input: '', output: 'red, blue' },
      ],
    );
    await workbench.screenshot('convert-created');
    await workbench.clearNotifications();
  });

  it('is found by the check of the active editor', async () => {
    const { dialogs, editors } = workbench;
    await editors.open(file('alpaca.csv'));
    await workbench.runCommand('Fine-Tuning: Check Dataset');
    await dialogs.waitForToast('alpaca.csv: CSV, not JSONL');
    await workbench.screenshot('convert-check');
    await dialogs.pressInToast('alpaca.csv: CSV, not JSONL', 'Convert to JSONL');
    await dialogs.waitForToast('Created alpaca-2.jsonl');
    // It opens after the notification.
    await editors.activeTab('alpaca-2.jsonl').waitFor();
    assert.equal(await readFile(file('alpaca.csv'), 'utf8'), ALPACA);
    await editors.closeAll();
    await workbench.clearNotifications();
  });

  it('becomes chat, and is submitted', async () => {
    const { dialogs, page, quickInput, sideBar } = workbench;
    await enterSandbox(workbench);
    const explorer = await sideBar.explorer();
    await explorer.chooseInContextMenu('alpaca.jsonl', 'Prepare Copy…');
    await quickInput.waitForTitle('Prepare a copy of alpaca.jsonl');
    await quickInput.pick('Convert to chat messages');
    await page.keyboard.press('Enter');
    assert.equal(
      await dialogs.waitForToast('Created alpaca.prepared.jsonl'),
      'Created alpaca.prepared.jsonl: 22 of 22 rows. 22 rows converted.',
    );
    await dialogs.pressInToast('Created alpaca.prepared.jsonl', 'Submit…');
    await walkThroughSteps(workbench, { fileName: 'alpaca.prepared.jsonl', model: 'Qwen3 8B' });
    await dialogs.waitForToast(charged('alpaca.prepared'));
    assert.equal(sandboxLedger(vscode).labels.length, 1);
    await workbench.editors.closeAll();
    await workbench.clearNotifications();
  });

  it('is converted from its language status if it is in UTF-16', async () => {
    const { dialogs, editors, page } = workbench;
    await editors.open(file('wide.jsonl'));
    await page.locator('[id="status.languageStatus"] a').hover();
    const status = page.locator('.hover-language-status').filter({ hasText: 'UTF-16, not UTF-8' });
    await status.getByText('Convert to JSONL').click();
    assert.equal(await dialogs.waitForToast('Created wide.utf-8.jsonl'), 'Created wide.utf-8.jsonl: 2 rows.');
    await dialogs.waitForToast('wide.utf-8.jsonl: 2 rows of prompt/completion, no problems.');
    await editors.activeTab('wide.utf-8.jsonl').waitFor();
    assert.equal(await readFile(file('wide.utf-8.jsonl'), 'utf8'), `${ROW}\n${ROW.replace('du', 'sie')}\n`);
    await workbench.screenshot('convert-utf-16');
    assert.deepEqual((await readdir(vscode.folder)).sort(), [
      ...['alpaca-2.jsonl', 'alpaca.csv', 'alpaca.jsonl', 'alpaca.prepared.jsonl'],
      ...['wide.jsonl', 'wide.utf-8.jsonl'],
    ]);
  });
});
