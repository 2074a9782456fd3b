import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Preview } from './preview.ts';
import { RunPage } from './runPage.ts';
import { openInSandbox, sandboxLedger } from './sandbox.ts';
import { beginFromList, charged, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const row = (question: number, answer = question * 2) =>
  `${JSON.stringify({ prompt: `${question} + ${question}?`, completion: `${answer}.` })}\n`;
const ROWS = Array.from({ length: 20 }, (_, index) => row(index));

describe('what changed since a run', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let preview: Preview;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('train.jsonl'), ROWS.join(''));
    workbench = await openInSandbox(vscode);
    preview = new Preview(workbench);
  });
  after(() => vscode.close());

  const folder = () => path.join(vscode.globalStorage, 'fingerprints');
  const kept = async () => {
    const names = await readdir(folder()).catch(() => []);
    return names.filter((name) => name !== 'key' && !name.endsWith('.part'));
  };

  const logged = async () => {
    const logs = path.join(vscode.userData, 'logs');
    const names = (await readdir(logs, { recursive: true })).filter((name) =>
      name.endsWith('Fine-Tuning.log'),
    );
    return (await Promise.all(names.map((name) => readFile(path.join(logs, name), 'utf8')))).join('');
  };

  async function submit(label: string): Promise<void> {
    await workbench.editors.closeAll();
    await beginFromList(workbench, 'train.jsonl');
    await walkThroughSteps(workbench, { fileName: 'train.jsonl', model: 'Qwen3 8B', label });
    await workbench.dialogs.waitForToast(charged(label));
    await workbench.clearNotifications();
  }

  it('isn’t known if no fingerprints can be kept, and the submission ends as ever', async () => {
    await writeFile(folder(), 'a file in its place');
    await submit('first');
    assert.deepEqual(
      sandboxLedger(vscode).labels.map((label) => label.split(' ')[0]),
      ['first'],
    );
    await until('the failure is in the log', async () => (await logged()).includes('rows-not-remembered'));
    await rm(folder());
  });

  it('is on the card of its dataset, with the added and changed rows', async () => {
    await writeFile(vscode.file('train.jsonl'), [...ROWS, row(20)].join(''));
    await submit('second');
    await until('the fingerprints are kept', async () => (await kept()).length === 1);
    const [, , ...rest] = ROWS;
    const changed = [row(100), ...rest, row(20, 41), row(101)].join('');
    await writeFile(vscode.file('train.jsonl'), changed);
    await preview.open('train.jsonl');
    await preview.card
      .locator('dt', { hasText: 'Changes' })
      .locator('+ dd')
      .getByText(/^Since “second” \(.+\): 2 rows added, 2 removed, 1 changed, 18 unchanged\./)
      .waitFor();
    await workbench.screenshot('preview-since');
    await preview.button('Show Rows: Added and changed rows').click();
    await preview.waitForRows([1, 20, 21]);
    await preview.waitForStatus('3 of 21 rows');
    await preview.assertAccessible();
  });

  it('is on the page of the run, and on that of the next run', async () => {
    await workbench.sideBar.open('Fine-Tuning');
    const page = new RunPage(workbench);
    const fact = (text: RegExp) => page.section('Dataset').getByText(text);
    await page.open('second');
    await fact(/^Since “second” \(.+\): 2 rows added, 2 removed, 1 changed, 18 unchanged\.$/).waitFor();
    await submit('third');
    await until('the fingerprints are kept', async () => (await kept()).length === 2);
    await workbench.sideBar.open('Fine-Tuning');
    await page.open('third');
    await fact(/^Since “second” \(.+\): 2 rows added, 2 removed, 1 changed, 18 unchanged\.$/).waitFor();
    await workbench.screenshot('run-page-since');
  });
});
