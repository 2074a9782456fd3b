import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sharedVSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

describe('the packed extension in VS Code', () => {
  let folder: string;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await writeFile(path.join(folder, 'rows.jsonl'), '{"messages":[]}\n');
    workbench = await (await sharedVSCode()).open(folder);
  });

  after(async () => {
    await workbench.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is installed', async () => {
    await workbench.runCommand('View: Show Extensions');
    await workbench.page
      .locator('.extension-list-item .name')
      .getByText('Fine-Tuning', { exact: true })
      .waitFor();
  });

  it('has its container in the activity bar', async () => {
    await workbench.sideBar.open('Fine-Tuning');
    await workbench.screenshot('activity-bar');
  });

  it('leaves a JSONL file to the text editor', async () => {
    await workbench.editors.open(path.join(folder, 'rows.jsonl'));
    await workbench.editors.waitForLine('{"messages":[]}');
    await workbench.editors.typeAtStart('{}');
    assert.equal(await workbench.editors.isDirty('rows.jsonl'), true);
    await workbench.editors.closeAll();
  });
});
