// `npm run screenshots -- film`: makes README's moving picture of a first run.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../env/project.ts';
import { zipOf } from '../helpers/adapters/support.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { MovingPicture } from './movingPicture.ts';
import { RunPage } from './runPage.ts';
import { enterSandbox, setClockSpeed } from './sandbox.ts';
import { ACCEPT, beginSubmission, CONTINUE, pressSubmit, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

/** Rows of a support desk. */
function tickets(count: number): string {
  const rows = Array.from({ length: count }, (_, index) => ({
    messages: [
      {
        role: 'user',
        content: `Is there rye bread on May ${1 + (index % 28)}? My order is number ${1000 + index}.`,
      },
      { role: 'assistant', content: 'Yes, from half past six, and your order waits until noon.' },
    ],
  }));
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

describe('the moving picture for the README', () => {
  /** The path is visible. */
  const folder = path.join(tmpdir(), 'bakery-film');
  let vscode: VSCode;
  let workbench: Workbench;
  const file = (name: string) => path.join(folder, name);

  before(async () => {
    await mkdir(folder);
    await writeFile(file('first-run.jsonl'), tickets(600));
    await writeFile(file('bakery-lora.zip'), zipOf(trainedAdapter()));
    vscode = await VSCode.start({ settings: { 'editor.minimap.enabled': false } });
    workbench = await vscode.open(folder);
    await workbench.page.setViewportSize({ width: 1000, height: 620 });
  });

  after(async () => {
    await vscode.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('first run', async () => {
    const { page, dialogs, editors, sideBar } = workbench;
    const film = new MovingPicture(workbench, { width: 900, height: 558 });
    await sideBar.open('Fine-Tuning');
    await sideBar.view('Runs').welcomeButton('Use the Sandbox').waitFor();
    await film.take(1_500);
    await enterSandbox(workbench);
    setClockSpeed(vscode, 100);
    await workbench.clearNotifications();
    await editors.open(file('first-run.jsonl'));
    await page.locator('.codelens-decoration').getByText('no problems').waitFor();
    await film.take(1_800);
    const way = { fileName: 'first-run.jsonl', model: 'Qwen3 8B', label: 'bakery' };
    await beginSubmission(workbench, way.fileName);
    await walkThroughSteps(workbench, { ...way, until: 'summary' });
    await film.take(2_800);
    await workbench.quickInput.pickUntil(CONTINUE, workbench.quickInput.item(ACCEPT));
    await film.take(1_500);
    await workbench.quickInput.pickUntil(ACCEPT, dialogs.modal);
    await film.take(2_500);
    await pressSubmit(workbench);
    await dialogs.waitForToast(/sandbox money/);
    await film.take(2_000);
    await workbench.clearNotifications();
    const row = sideBar.view('Runs').row(/^Run bakery, Completed/);
    await row.waitFor();
    await workbench.clearNotifications();
    await row.click();
    await new RunPage(workbench).heading.waitFor();
    await film.take(2_500);
    await editors.closeAll();
    const adapter = await AdapterPage.open(workbench, 'bakery-lora.zip');
    await adapter.waitForVerdict('Complete LoRA adapter');
    await film.take(3_000);
    await film.save(path.join(root, 'media/screenshots/first-run.gif'));
  });
});
