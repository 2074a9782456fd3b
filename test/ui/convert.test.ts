import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { openInSandbox, sandboxLedger } from './sandbox.ts';
import { charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
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
/** A batch of 14 requests; 11 have an answer. */
const IDS = Array.from({ length: 14 }, (_, at) => `request-${at}`);
const BATCH_INPUT = IDS.slice(1).map((id) => ({
  ...{ custom_id: id, method: 'POST', url: '/v1/chat/completions' },
  body: { model: 'gpt-4o-mini', temperature: 0.2, messages: [{ role: 'user', content: `Is it ${id}?` }] },
}));
const BATCH_OUTPUT = IDS.map((id, at) => ({
  ...{ id: `batch_req_${at}`, custom_id: id, error: null },
  response: {
    status_code: at === 3 ? 429 : 200,
    body: {
      id: `chatcmpl-${at}`,
      choices: [
        {
          ...{ index: 0, logprobs: null, finish_reason: at === 5 ? 'length' : 'stop' },
          message: { role: 'assistant', content: `Yes, ${id}.`, refusal: null },
        },
      ],
    },
  },
}));
const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
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
    await writeFile(file('fragen.csv'), Buffer.from('Frage;Antwort\r\nGrüße?;Schöne Grüße.\r\n', 'latin1'));
    await writeFile(file('batch_7_input.jsonl'), lines(BATCH_INPUT));
    await writeFile(file('batch_7_output.jsonl'), lines(BATCH_OUTPUT));
    workbench = await openInSandbox(vscode);
  });

  after(() => vscode.close());

  it('is converted from the explorer’s menu if it is a table, and what was created is checked', async () => {
    const { dialogs, editors, sideBar } = workbench;
    const explorer = await sideBar.explorer();
    await explorer.chooseInContextMenu('alpaca.csv', 'Convert to JSONL (CSV, OpenAI Batch, Logs)');
    assert.equal(
      await dialogs.waitForToast('Created alpaca.jsonl'),
      'Created alpaca.jsonl: 22 of 23 rows, no problems. Left out: 1 with more or fewer values than the header.',
    );
    await editors.activeTab('alpaca.jsonl').waitFor();
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

  it('becomes chat if it is the output of a batch, and is led to Submit’s summary', async () => {
    const { dialogs, editors, quickInput } = workbench;
    await editors.open(file('batch_7_output.jsonl'));
    await workbench.runCommand('Fine-Tuning: Submit Dataset for Training…');
    const kind = 'batch_7_output.jsonl isn’t ready to submit: API requests or responses, not a dataset.';
    assert.equal(await dialogs.waitForModal(kind), 'Convert it to JSONL. Nothing has been sent.');
    assert.deepEqual((await dialogs.modalButtons()).sort(), [
      ...['Cancel', 'Convert to JSONL', 'Show Problems', 'Submit Anyway…'],
    ]);
    await workbench.screenshot('convert-batch-stopped');
    await dialogs.press('Convert to JSONL');
    await quickInput.waitForTitle('Choose the batch’s input file');
    await until('the dialog begins at the input', async () =>
      (await quickInput.value()).endsWith('batch_7_input.jsonl'),
    );
    await workbench.screenshot('convert-batch-input');
    await quickInput.choosePath(file('batch_7_input.jsonl'));
    assert.equal(
      await dialogs.waitForToast('Created batch_7_output.chat.jsonl'),
      'Created batch_7_output.chat.jsonl: 11 of 14 rows, no problems. Left out: 1 failed, 1 cut off at the token limit, 1 without a request.',
    );
    await editors.activeTab('batch_7_output.chat.jsonl').waitFor();
    await workbench.screenshot('convert-batch');
    const [first = ''] = (await readFile(file('batch_7_output.chat.jsonl'), 'utf8')).split('\n');
    assert.equal(
      first,
      '{"messages":[{"role":"user","content":"Is it request-1?"},{"role":"assistant","content":"Yes, request-1."}]}',
    );
    await dialogs.pressInToast('Created batch_7_output.chat.jsonl', 'Submit…');
    await walkThroughSteps(workbench, { fileName: 'batch_7_output.chat.jsonl', until: 'summary' });
    await workbench.screenshot('convert-batch-summary');
    await quickInput.close();
    await editors.closeAll();
    await workbench.clearNotifications();
  });

  it('is read in the encoding that reads right, and asks which columns it is about', async () => {
    const { dialogs, editors, page, quickInput, sideBar } = workbench;
    const explorer = await sideBar.explorer();
    await explorer.chooseInContextMenu('fragen.csv', 'Convert to JSONL (CSV, OpenAI Batch, Logs)');
    await quickInput.waitForTitle('fragen.csv');
    assert.equal((await quickInput.labels()).length, 5);
    assert.equal(await quickInput.activeItem.count(), 0);
    await workbench.screenshot('convert-encoding');
    await quickInput.pick('Windows-1252');
    for (const [step, column] of [
      [/fragen\.csv.*1\/2/, 'Frage'],
      [/fragen\.csv.*2\/2/, 'Antwort'],
    ] as const) {
      await quickInput.waitForTitle(step);
      assert.match((await quickInput.activeItem.textContent()) ?? '', new RegExp(column));
      await page.keyboard.press('Enter');
    }
    assert.equal(
      await dialogs.waitForToast('Created fragen.chat.jsonl'),
      'Created fragen.chat.jsonl: 1 row of chat, no problems, read as Windows-1252.',
    );
    await editors.activeTab('fragen.chat.jsonl').waitFor();
    assert.match(await readFile(file('fragen.chat.jsonl'), 'utf8'), /Schöne Grüße\./);
    await editors.closeAll();
    await workbench.clearNotifications();
  });

  it('is converted from its language status if it is in UTF-16', async () => {
    const { dialogs, editors } = workbench;
    await editors.open(file('wide.jsonl'));
    const status = await workbench.languageStatus('UTF-16, not UTF-8');
    await status.getByText('Convert to JSONL').click();
    assert.equal(
      await dialogs.waitForToast('Created wide.utf-8.jsonl'),
      'Created wide.utf-8.jsonl: 2 rows of prompt/completion, no problems, read as UTF-16.',
    );
    await editors.activeTab('wide.utf-8.jsonl').waitFor();
    assert.equal(await readFile(file('wide.utf-8.jsonl'), 'utf8'), `${ROW}\n${ROW.replace('du', 'sie')}\n`);
    await workbench.screenshot('convert-utf-16');
    assert.deepEqual((await readdir(vscode.folder)).sort(), [
      ...['alpaca-2.jsonl', 'alpaca.csv', 'alpaca.jsonl', 'alpaca.prepared.jsonl'],
      ...['batch_7_input.jsonl', 'batch_7_output.chat.jsonl', 'batch_7_output.jsonl'],
      ...['fragen.chat.jsonl', 'fragen.csv', 'wide.jsonl', 'wide.utf-8.jsonl'],
    ]);
  });
});
