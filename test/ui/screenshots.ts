// `npm run screenshots`: the README's pictures, taken from the real interface.
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../env/project.ts';
import { Preview } from './preview.ts';
import { chooseClockSpeed, enterSandbox } from './sandbox.ts';
import { walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

/** Rows of a support desk, with what is often wrong among them. */
function tickets(): string {
  const row = (question: string, answer: string) =>
    JSON.stringify({
      messages: [
        { role: 'system', content: 'You answer the customers of a small bakery.' },
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ],
    });
  const breads = ['rye bread', 'baguettes', 'plum cake', 'croissants', 'sourdough'];
  const rows = Array.from({ length: 240 }, (_, index) => {
    const bread = breads[index % breads.length] ?? '';
    const day = 1 + (index % 28);
    return row(
      `Do you have ${bread} on May ${day}? My order is number ${1000 + index}.`,
      `Yes. There is ${bread} from half past six, and your order waits until noon.`,
    );
  });
  rows[41] = row('Can you send me the bill?', 'It is on its way to mia@crumbs-and-co.net.');
  rows[42] = row('Is the cake vegan?', 'The plum cake is, the others are not.').replace('"}]}', '",}]}');
  rows[43] = row('Where are you?', '');
  rows[90] = rows[12] ?? '';
  return `${rows.join('\n')}\n`;
}

describe('pictures for the README', () => {
  let parent: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    parent = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    // The window's title shows the folder's name.
    const folder = path.join(parent, 'maths-tutor');
    await mkdir(folder);
    await writeFile(path.join(folder, 'tickets.jsonl'), tickets());
    await cp(path.join(root, 'test/fixtures/sample/train.jsonl'), path.join(folder, 'train.jsonl'));
    vscode = await VSCode.start({
      settings: { 'workbench.colorTheme': 'Dark Modern', 'editor.minimap.enabled': false },
    });
    workbench = await vscode.open(folder);
    await workbench.page.setViewportSize({ width: 1200, height: 750 });
    await workbench.setTheme('dark');
    await workbench.sideBar.open('Fine-Tuning');
    // Wider, so that the details of a run can be read.
    await workbench.page.mouse.move(350, 600);
    await workbench.page.mouse.down();
    await workbench.page.mouse.move(470, 600, { steps: 5 });
    await workbench.page.mouse.up();
    await workbench.editors.open(path.join(folder, 'train.jsonl'));
  });

  after(async () => {
    await vscode.close();
    await rm(parent, { recursive: true, force: true });
  });

  it('preview', async () => {
    const preview = new Preview(workbench);
    await preview.open('tickets.jsonl');
    await preview.waitForVerdict(/1 error/);
    await preview.goTo(42);
    await workbench.screenshot('preview');
    await workbench.editors.closeAll();
    await workbench.sideBar.open('Fine-Tuning');
    await workbench.editors.open(path.join(parent, 'maths-tutor/train.jsonl'));
  });

  const runs = () => workbench.sideBar.view('Runs');

  async function submit(model: string, label: string): Promise<void> {
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'train.jsonl', model, label });
    await workbench.dialogs.waitForToast(/Charged/);
    await workbench.clearNotifications();
  }

  it('submit', async () => {
    await enterSandbox(workbench);
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, {
      fileName: 'train.jsonl',
      model: 'Llama 3.1 8B Instruct',
      label: 'maths tutor',
      until: 'summary',
    });
    await workbench.screenshot('submit');
    await workbench.quickInput.close();
  });

  it('runs', async () => {
    await chooseClockSpeed(workbench, 100);
    await submit('Llama 3.1 8B Instruct', 'maths tutor');
    await runs()
      .row(/^Run maths tutor, Completed/)
      .waitFor();
    await chooseClockSpeed(workbench, 1);
    await submit('Qwen3 8B', 'maths tutor, small');
    await workbench.screenshot('runs');
  });
});
