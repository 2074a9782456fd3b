// `npm run screenshots`: the README's pictures, taken from the real interface.
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../env/project.ts';
import { chooseClockSpeed, enterSandbox } from './sandbox.ts';
import { walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

describe('pictures for the README', () => {
  let parent: string;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    parent = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    // The window's title shows the folder's name.
    const folder = path.join(parent, 'maths-tutor');
    await mkdir(folder);
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

  const runs = () => workbench.sideBar.view('Runs');

  async function submit(model: string, label: string): Promise<void> {
    await workbench.editors.titleAction('Submit Dataset…').click();
    await walkThroughSteps(workbench, { fileName: 'train.jsonl', model, label });
    await workbench.dialogs.waitForToast(/was submitted and charged/);
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
      .row(/^Run maths tutor, Finished/)
      .waitFor();
    await chooseClockSpeed(workbench, 1);
    await submit('Qwen3 8B', 'maths tutor, small');
    await runs().expand(/^Run maths tutor, Finished/);
    await runs()
      .row(/^Price: /)
      .waitFor();
    await workbench.screenshot('runs');
  });
});
