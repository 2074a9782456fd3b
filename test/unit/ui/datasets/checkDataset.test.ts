import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type * as vscode from 'vscode';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import { verdictOf, type Report } from '../../../../src/core/datasets/report.ts';
import { Reports } from '../../../../src/core/datasets/reports.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { checkDataset } = await withVscode(() => import('../../../../src/ui/datasets/checkDataset.ts'));
const { DatasetStatus, statusText } = await withVscode(
  () => import('../../../../src/ui/datasets/datasetStatus.ts'),
);

describe('checkDataset', () => {
  const folder = useFolder();

  const runs = { onDidChange: () => ({ dispose: () => undefined }), of: () => undefined };
  const statusOf = (reports: Reports) =>
    new DatasetStatus(reports, runs as unknown as ConstructorParameters<typeof DatasetStatus>[1]);

  /** Checks a file, and returns the commands of its notification's buttons and of its code lenses, by title. */
  async function check(found: Partial<Report>) {
    standIn.forget();
    const file = path.join(folder(), 'train.jsonl');
    await writeFile(file, '[]\n');
    const report = reportOf({ path: file, ...stampOf(await stat(file, { bigint: true })), ...found });
    const reports = new Reports({ check: () => Promise.resolve(report) });
    reports.markRequested(file);
    const status = statusOf(reports);
    const uri = standIn.Uri.file(file) as unknown as vscode.Uri;
    await checkDataset(reports, { error: () => undefined } as never, uri);
    const document = { uri, languageId: 'jsonl', isDirty: false } as unknown as vscode.TextDocument;
    const lenses = status.provideCodeLenses(document).flatMap(({ command }) => command ?? []);
    status.dispose();
    const verdict = verdictOf(report);
    const state = { report, verdict, isDataset: true, isBusy: false, isDirty: false, price: undefined };
    return { buttons: standIn.shown.buttons[0] ?? [], lenses, action: statusText(state).action };
  }

  it('offers nothing that the file’s first line or its language status doesn’t offer, too', async () => {
    const instructions = { ...reportOf({}).formats, chat: 0, instruction: 10 };
    for (const [found, wanted] of [
      [{}, ['Preview', 'Submit…']],
      [{ problems: [groupOf('bad-literal', [{ row: 3 }])] }, ['Show Problems', 'Preview', 'Submit…']],
      [{ format: 'instruction', formats: instructions }, ['Prepare Copy…', 'Preview', 'Submit…']],
      [
        { problems: [groupOf('email-address', [{ row: 3 }])] },
        ['Show Problems', 'Prepare Copy…', 'Preview', 'Submit…'],
      ],
      [{ kind: 'json-array' }, ['Convert to JSONL', 'Show Problems', 'Preview']],
      [{ kind: 'csv' }, ['Convert to JSONL', 'Show Problems', 'Preview']],
      [{ kind: 'utf-16' }, ['Convert to JSONL', 'Show Problems', 'Preview']],
      [{ kind: 'requests' }, ['Convert to JSONL', 'Show Problems', 'Preview']],
      [{ kind: 'other-form' }, ['Convert to JSONL', 'Show Problems', 'Preview']],
      [
        { problems: [groupOf('invalid-utf8', [{ row: 3 }])] },
        ['Convert to JSONL', 'Show Problems', 'Preview', 'Submit…'],
      ],
      [{ kind: 'answers' }, ['Compare Answers']],
    ] as const) {
      const { buttons, lenses, action } = await check(found);
      assert.deepEqual(buttons, wanted);
      // It is no dataset, even if the user asked.
      if ('kind' in found && found.kind === 'answers') assert.deepEqual(lenses, []);
      const others = [action, ...lenses.map(({ title }) => title)];
      const isShown = lenses.some(({ command }) => command === 'fineTuning.showDatasetProblems');
      for (const button of buttons.filter((one) => one !== 'Submit…' || !others.includes('Convert to JSONL')))
        assert.ok(others.includes(button) || (button === 'Show Problems' && isShown), button);
    }
  });

  it('says the verdict in the language status only where no CodeLens says it', async () => {
    standIn.forget();
    const item = { text: '', severity: 0, dispose: () => undefined };
    const { createLanguageStatusItem } = standIn.languages;
    standIn.languages.createLanguageStatusItem = () => item;
    const file = path.join(folder(), 'train.jsonl');
    await writeFile(file, '[]\n');
    const problems = [groupOf('bad-literal', [{ row: 3 }])];
    const check = async () =>
      reportOf({ path: file, ...stampOf(await stat(file, { bigint: true })), problems });
    const reports = new Reports({ check });
    reports.markRequested(file);
    await reports.check(file);
    const uri = standIn.Uri.file(file) as unknown as vscode.Uri;
    const document = { uri, languageId: 'jsonl', isDirty: false } as unknown as vscode.TextDocument;
    Object.assign(standIn.window, { activeTextEditor: { document } });
    try {
      for (const [name, text, severity] of [
        [undefined, '10 rows · chat', 0],
        ['fineTuning.codeLens', '10 rows · chat · 1 error', 2],
        ['editor.codeLens', '10 rows · chat · 1 error', 2],
      ] as const) {
        if (name !== undefined) standIn.settings.set(name, false);
        const status = statusOf(reports);
        const lenses = status.provideCodeLenses(document);
        status.dispose();
        standIn.settings.clear();
        assert.deepEqual([item.text, item.severity, lenses.length > 0], [text, severity, severity === 0]);
      }
    } finally {
      Object.assign(standIn.window, { activeTextEditor: undefined });
      Object.assign(standIn.languages, { createLanguageStatusItem });
    }
  });

  it('shows above an opened batch what it is, and beside a file that is too large for the editor', async () => {
    standIn.forget();
    const uri = standIn.Uri.file(path.join(folder(), 'train.jsonl'));
    await writeFile(uri.fsPath, '[]\n');
    let kind: Report['kind'] = 'requests';
    const check = async () =>
      reportOf({ path: uri.fsPath, ...stampOf(await stat(uri.fsPath, { bigint: true })), kind });
    const reports = new Reports({ check });
    const tab = { input: new standIn.TabInputText(uri), isDirty: false };
    Object.assign(standIn.window.tabGroups, { activeTabGroup: { activeTab: tab } });
    const status = statusOf(reports);
    try {
      const item = standIn.statusItems.at(-1);
      assert.deepEqual([item?.isShown, item?.text], [true, 'Not checked']);
      await reports.currentReport(uri.fsPath);
      assert.equal(item?.text, 'API requests or responses, not a dataset');
      const document = { uri, languageId: 'jsonl', isDirty: false } as unknown as vscode.TextDocument;
      assert.deepEqual(
        status.provideCodeLenses(document).map(({ command }) => command?.title),
        ['API requests or responses, not a dataset', 'Preview', 'Convert to JSONL'],
      );
      kind = 'rows';
      await reports.check(uri.fsPath);
      assert.equal(item.text, '10 rows · chat · no problems');
      // VS Code gives its document to extensions.
      standIn.workspace.textDocuments.push(document);
      standIn.tabsChanged.fire({ opened: [] });
      assert.equal(item.isShown, false);
    } finally {
      status.dispose();
      standIn.workspace.textDocuments.length = 0;
      Object.assign(standIn.window.tabGroups, { activeTabGroup: {} });
    }
  });
});
