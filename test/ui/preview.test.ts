import { writeFile } from 'node:fs/promises';
import { Preview } from './preview.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

describe('the preview of a dataset, beside its editor', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let preview: Preview;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('broken.jsonl'), '{"text":"a"}\n{"text":"b",}\n{"text":"c"}\n');
    await writeFile(vscode.file('edited.jsonl'), '{"prompt":"a","completion":"b"}\n');
    workbench = await vscode.open();
    preview = new Preview(workbench);
  });

  afterEach(() => workbench.editors.closeAll());
  after(() => vscode.close());

  it('shows a row in the editor, and returns from there', async () => {
    await preview.open('broken.jsonl');
    await preview.row(2).getByRole('button', { name: 'line 2, column 12', exact: true }).click();
    const caret = (text: string | RegExp) =>
      workbench.page.locator('[id="status.editor.selection"]', { hasText: text }).waitFor();
    await caret(/Ln 2, Col \d+ \(1 selected\)/);
    await workbench.page.keyboard.press('Control+End');
    await workbench.page.keyboard.press('ArrowUp');
    await caret('Ln 3');
    await workbench.editors.titleAction('Preview Dataset').click();
    await preview.waitUntilInView(3);
  });

  it('follows its editor', async () => {
    await preview.open('edited.jsonl');
    await preview.row(1).waitFor();
    await preview.row(1).getByRole('button', { name: 'Open in Editor' }).click();
    await workbench.editors.waitForLine('{"prompt":"a","completion":"b"}');
    await workbench.editors.typeAtStart('{"prompt":"c","completion":"d"}\n');
    await workbench.page.keyboard.press('Control+s');
    await workbench.editors.titleAction('Preview Dataset').click();
    await preview.waitForStatus('2 rows');
    await preview.row(1).getByText('d', { exact: true }).waitFor();
    await preview.frame.getByText('unsaved changes').waitFor({ state: 'hidden' });
  });
});
