import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../env/project.ts';
import { isTaken } from './dialogs.ts';
import { Preview } from './preview.ts';
import { VSCode } from './vscode.ts';
import { comes, until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const row = (n: number) =>
  JSON.stringify({
    prompt: `What is ${n}+${n}?`,
    completion: `${n}+${n} is ${2 * n}. The answer is ${2 * n}.`,
  });
const FAULTY = [row(1), row(2).replace(/}$/, ',}'), '', row(3), row(1), '   ', row(4), ''].join('\n');
/** 150 rows; 30 lack a field: one problem. */
const HALVES = Array.from({ length: 150 }, (_, n) =>
  n % 5 === 2 ? JSON.stringify({ prompt: `${n}?` }) : row(n),
);
const API_KEY = `service_${'a1B2c3D4'.repeat(5)}`;
const SECRET = [
  row(1),
  JSON.stringify({ prompt: 'Which API key?', completion: API_KEY }),
  'nonsense',
  '',
].join('\n');
const BIG_BYTES = 60 * 1024 * 1024;

describe('the problems of a dataset', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('faulty.jsonl'), FAULTY);
    await writeFile(file('secret.jsonl'), SECRET);
    await writeFile(file('halves.jsonl'), `${HALVES.join('\n')}\n`);
    await cp(path.join(root, 'test/fixtures/jsonl/others/log.jsonl'), file('log.jsonl'));
    await writeFile(file('big.jsonl'), `${row(1)}\n`.repeat(Math.ceil(BIG_BYTES / row(1).length)));
    workbench = await vscode.open();
  });

  after(() => vscode.close());

  const panel = () => workbench.page.locator('.markers-panel-container');
  const problem = (text: string | RegExp) => panel().locator('.monaco-list-row').filter({ hasText: text });
  const lens = (text: string | RegExp) =>
    workbench.page.locator('.editor-group-container.active .codelens-decoration a').filter({ hasText: text });

  const pictures = (name: string, ...how: [show: () => Promise<unknown>, hide?: () => Promise<unknown>]) =>
    workbench.screenshotInThemes(`dataset-${name}`, ...how);

  /** Chooses a quick fix of a problem in the panel, which redraws its rows after every check. */
  async function fix(text: string | RegExp, title: string): Promise<void> {
    const menu = workbench.page.locator('.monaco-menu-container');
    const item = menu.getByRole('menuitem', { name: title, exact: true });
    await until(`the quick fix "${title}" is taken`, async () => {
      await workbench.page.keyboard.press('Escape');
      await problem(text).first().click();
      await workbench.page.keyboard.press('Control+.');
      if (!(await comes(item))) return false;
      await workbench.screenshot(`dataset-fix-${title.split(' ').slice(0, 3).join('-').toLowerCase()}`);
      return (await isTaken(item)) && comes(menu, 'hidden');
    });
  }

  it('are in the Problems panel and above the first line', async () => {
    await workbench.editors.open(file('faulty.jsonl'));
    await lens('7 rows · prompt/completion · 1 error · 3 warnings').click();
    await problem('Trailing comma.').waitFor();
    await problem('Identical to row 1').waitFor();
    await problem('Blank line.').nth(1).waitFor();
    assert.equal(await problem('Blank line.').count(), 2);
    for (const text of ['Preview', 'Submit…']) await lens(text).waitFor();
    await pictures('problems', () => problem('Blank line.').first().waitFor());
  });

  it('are in the language status, which names the kind of file and leads to them', async () => {
    const status = await workbench.languageStatus('prompt/completion');
    await status.getByText('7 rows · prompt/completion', { exact: true }).waitFor();
    await status.getByText('Show Problems').waitFor();
    await workbench.page.keyboard.press('Escape');
    await workbench.editors.closeAll();
  });

  it('are not shown for a file that is not a dataset, except for a line in the language status', async () => {
    await workbench.editors.open(file('log.jsonl'));
    const status = await workbench.languageStatus('JSONL, 8 rows · no known training format');
    await status.getByText('Check Dataset').waitFor();
    await workbench.page.keyboard.press('Escape');
    await pictures('log', () =>
      panel().getByText('No problems have been detected in the workspace.').waitFor(),
    );
    assert.equal(await lens(/./).count(), 0);
    await workbench.editors.closeAll();
  });

  it('are one problem for a fault of many rows, which the preview lists', async () => {
    await workbench.editors.open(file('halves.jsonl'));
    await lens('150 rows · prompt/completion · 30 warnings').waitFor();
    const missing = 'Field “completion” is missing; treated as prompt/completion (30 rows).';
    await problem(missing).waitFor();
    assert.equal(await panel().locator('.marker-icon').count(), 1);
    await pictures('one', () => problem(missing).waitFor());
    await fix(missing, 'Show all in preview');
    const preview = new Preview(workbench);
    await preview.waitForStatus('30 of 150 rows');
    await workbench.screenshot('dataset-show-all');
    await workbench.editors.closeAll();
  });

  it('are shown from the explorer for a file that is not open', async () => {
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu('secret.jsonl', 'Check Dataset');
    const text = await workbench.dialogs.waitForToast(/secret\.jsonl: 3 rows/);
    assert.equal(text, 'secret.jsonl: 3 rows of prompt/completion, 1 error, 1 secret.');
    await problem('Possible API key').waitFor();
    assert.ok(!(await panel().innerText()).includes(API_KEY));
    await workbench.dialogs.toast('secret.jsonl').hover();
    await workbench.screenshot('dataset-verdict');
    await workbench.dialogs.pressInToast('secret.jsonl', 'Show Problems');
    await workbench.editors.tab('secret.jsonl').waitFor();
    await workbench.editors.closeAll();
  });

  it('are counted for a file that is too large for the editor', async () => {
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu('big.jsonl', 'Check Dataset');
    const text = await workbench.dialogs.waitForToast(/big\.jsonl: .* rows/);
    assert.match(text, /^big\.jsonl: [\d,]+ rows of prompt\/completion, [\d,]+ warnings\.$/);
    assert.equal(await problem('Identical to row').count(), 0);
    await workbench.clearNotifications();
  });
});
