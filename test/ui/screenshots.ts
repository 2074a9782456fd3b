// `npm run screenshots`: takes the README's screenshots from the real interface.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { zipOf } from '../helpers/adapters/support.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { AnswersPage } from './answersPage.ts';
import { Preview } from './preview.ts';
import { RunPage } from './runPage.ts';
import { enterSandbox, setClockSpeed } from './sandbox.ts';
import { SpendPage } from './spendPage.ts';
import { beginSubmission, walkThroughSteps, type Way } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const MODELS = ['Llama 3.1 8B Instruct', 'Qwen3 8B'];
/** Number of rows of each submitted dataset. */
const DATASETS = { 'orders.jsonl': 900, 'bread.jsonl': 1_400, 'cakes.jsonl': 2_600, 'tickets.jsonl': 3_100 };

/** Rows of a support desk, optionally with typical faults. */
function tickets(count: number, hasFaults: boolean): string {
  const row = (question: string, answer: string) =>
    JSON.stringify({
      messages: [
        { role: 'system', content: 'You answer the customers of a small bakery.' },
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ],
    });
  const breads = ['rye bread', 'baguettes', 'plum cake', 'croissants', 'sourdough'];
  const rows = Array.from({ length: count }, (_, index) => {
    const bread = breads[index % breads.length] ?? '';
    const day = 1 + (index % 28);
    return row(
      `Do you have ${bread} on May ${day}? My order is number ${1000 + index}.`,
      `Yes. There is ${bread} from half past six, and your order waits until noon.`,
    );
  });
  if (!hasFaults) return `${rows.join('\n')}\n`;
  rows[41] = row('Can you send me the bill?', 'It is on its way to mia@crumbs-and-co.net.');
  rows[42] = row('Is the cake vegan?', 'The plum cake is, the others are not.').replace('"}]}', '",}]}');
  rows[43] = row('Where are you?', '');
  rows[90] = rows[12] ?? '';
  return `${rows.join('\n')}\n`;
}

describe('screenshots for the README', () => {
  /** The path is visible in a screenshot. */
  const folder = path.join(tmpdir(), 'bakery');
  let vscode: VSCode;
  let workbench: Workbench;

  const file = (name: string) => path.join(folder, name);

  before(async () => {
    await mkdir(folder);
    await writeFile(file('drafts.jsonl'), tickets(240, true));
    for (const [name, rows] of Object.entries({ ...DATASETS, 'questions.jsonl': 2_200 }))
      await writeFile(file(name), tickets(rows, false));
    await writeFile(file('bakery-lora.zip'), zipOf(trainedAdapter()));
    vscode = await VSCode.start({ settings: { 'editor.minimap.enabled': false } });
    workbench = await vscode.open(folder);
    await workbench.page.setViewportSize({ width: 1100, height: 700 });
    await enterSandbox(workbench);
  });

  after(async () => {
    await vscode.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function take(name: string): Promise<void> {
    for (const theme of ['dark', 'light'] as const) {
      await workbench.setTheme(theme);
      await workbench.clearNotifications();
      await workbench.screenshot(`${name}-${theme}`);
    }
  }

  async function begin(way: Way): Promise<void> {
    await workbench.editors.open(file(way.fileName));
    await beginSubmission(workbench, way.fileName);
    await walkThroughSteps(workbench, way);
  }

  async function submit(way: Way): Promise<void> {
    await begin(way);
    await workbench.dialogs.waitForToast(/sandbox money/);
    await workbench.clearNotifications();
  }

  it('preview', async () => {
    const preview = new Preview(workbench);
    await preview.open('drafts.jsonl');
    await preview.waitForVerdict(/1 error/);
    await preview.goTo(42);
    await take('preview');
    await workbench.editors.closeAll();
  });

  it('spending page and summary', async () => {
    setClockSpeed(vscode, 100);
    const names = Object.keys(DATASETS);
    for (const [index, fileName] of names.entries())
      await submit({
        fileName,
        model: MODELS[index % MODELS.length] ?? '',
        label: fileName.replace('.jsonl', ''),
      });
    await workbench.sideBar.open('Fine-Tuning');
    await workbench.sideBar
      .view('Runs')
      .row(/^Run tickets, Completed/)
      .waitFor();
    await SpendPage.open(workbench);
    await take('spend');
    await workbench.editors.closeAll();
    for (const theme of ['dark', 'light'] as const) {
      await workbench.setTheme(theme);
      await begin({ fileName: 'questions.jsonl', model: 'Qwen3 8B', label: 'questions', until: 'summary' });
      await workbench.screenshot(`summary-${theme}`);
      await workbench.quickInput.close();
    }
  });

  it('run page', async () => {
    await workbench.sideBar
      .view('Runs')
      .row(/^Run tickets, Completed/)
      .click();
    await new RunPage(workbench).heading.waitFor();
    await take('run');
    await workbench.editors.closeAll();
  });

  it('adapter page', async () => {
    const page = await AdapterPage.open(workbench, 'bakery-lora.zip');
    await page.button('Measure').click();
    await page.waitForVerdict('Complete LoRA adapter');
    await workbench.sideBar.open('Fine-Tuning');
    // Pressing "Measure" scrolled down.
    await page.frame.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
    await take('adapter');
    await workbench.editors.closeAll();
  });

  it('comparison page', async () => {
    await workbench.runCommand('Fine-Tuning: Open Sample Comparison');
    await new AnswersPage(workbench).row(1).waitFor();
    await take('comparison');
  });
});
