import assert from 'node:assert/strict';
import { stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import { Reports } from '../../../../src/core/datasets/reports.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { checkDataset, showDatasetProblems } = await withVscode(
  () => import('../../../../src/ui/datasets/checkDataset.ts'),
);
const { showProblems } = await withVscode(() => import('../../../../src/ui/datasets/datasetProblems.ts'));
const { openWritten } = await withVscode(() => import('../../../../src/ui/datasets/prepareCopy.ts'));

const MIB = 1024 * 1024;
const PREVIEW = 'fineTuning.previewDataset';
const LIST = 'workbench.panel.markers.view.focus';

describe('problems of a file that VS Code doesn’t display as text', () => {
  const folder = useFolder();
  const log = { error: () => undefined } as never;
  let reports: Reports;
  let shown: { dispose(): void };
  let kind: Report['kind'];

  beforeEach(() => {
    standIn.forget();
    kind = 'rows';
    reports = new Reports({
      check: async (file) => {
        const problems = [groupOf('bad-literal', [{ row: 7 }])];
        return reportOf({ path: file, ...stampOf(await stat(file, { bigint: true })), kind, problems });
      },
    });
    shown = showProblems(reports);
  });
  afterEach(() => {
    shown.dispose();
    reports.dispose();
    standIn.settings.clear();
    standIn.workspace.textDocuments.length = 0;
  });

  /** A file of so many bytes, as its URI. */
  async function fileOf(sizeBytes: number, name = 'train.jsonl') {
    const file = path.join(folder(), name);
    await writeFile(file, '{}\n');
    await truncate(file, sizeBytes);
    return standIn.Uri.file(file);
  }
  const limit = (mib: number) => standIn.settings.set('workbench.editorLargeFileConfirmation', mib);
  const listed = (uri: standIn.Uri) => (standIn.diagnostics.get(uri.path) ?? []).length > 0;
  /** Checks files with the command, presses Show Problems, and returns what opens. */
  async function check(...uris: standIn.Uri[]) {
    standIn.forget();
    standIn.shown.answer = (buttons) => buttons.find((button) => button === 'Show Problems');
    for (const { fsPath } of uris) reports.markRequested(fsPath);
    await checkDataset(reports, log, uris[0], uris);
    await turn();
    const uri = uris[0] as unknown as vscode.Uri;
    if (standIn.executed.at(-1)?.[0] === 'fineTuning.showDatasetProblems') {
      standIn.executed.length = 0;
      await showDatasetProblems(reports, uri);
    }
    return standIn.executed.map(([command, target, , options]) => [
      command,
      target === undefined ? undefined : path.basename((target as standIn.Uri).path),
      options,
    ]);
  }

  it('are shown in the preview, at the first one’s row, and not listed: a click would open an empty page', async () => {
    const [editor, preview] = [
      [
        ['show', 'train.jsonl', undefined],
        [LIST, undefined, undefined],
      ],
      [[PREVIEW, 'train.jsonl', { row: 7 }]],
    ];
    for (const [sizeMiB, limitMiB, isText] of [
      [40, 10, false],
      [10, 10, true],
      [40, 40, true],
      [40, undefined, true],
      [51, 1024, false],
      [51, undefined, false],
    ] as const) {
      standIn.settings.clear();
      if (limitMiB !== undefined) limit(limitMiB);
      const uri = await fileOf(sizeMiB * MIB);
      assert.deepEqual(await check(uri), isText ? editor : preview, `${sizeMiB} of ${limitMiB}`);
      assert.equal(listed(uri), isText);
    }
    for (kind of ['binary', 'gzip'] as const) {
      const uri = await fileOf(100);
      assert.deepEqual(await check(uri), [[PREVIEW, 'train.jsonl', { row: undefined }]]);
      assert.equal(listed(uri), false);
    }
  });

  it('are listed while the user has opened it as text', async () => {
    limit(10);
    const uri = await fileOf(40 * MIB);
    await check(uri);
    assert.equal(listed(uri), false);
    standIn.workspace.textDocuments.push({ uri });
    standIn.documentOpened.fire({ uri });
    assert.equal(listed(uri), true);
    standIn.workspace.textDocuments.length = 0;
    standIn.documentOpened.fire({ uri });
    assert.equal(listed(uri), false);
  });

  it('are shown in a preview of each such file after a check of several, and the list only if it has some', async () => {
    limit(10);
    const uris = [await fileOf(40 * MIB, 'a.jsonl'), await fileOf(41 * MIB, 'b.jsonl')];
    const previews = ['a.jsonl', 'b.jsonl'].map((name) => [PREVIEW, name, { row: 7 }]);
    assert.deepEqual(await check(...uris), previews);
    const all = await check(...uris, await fileOf(100, 'c.jsonl'));
    assert.deepEqual(all, [...previews, [LIST, undefined, undefined]]);
  });

  it('a written copy opens in the preview, too', async () => {
    limit(10);
    for (const [sizeMiB, command] of [
      [10, 'vscode.open'],
      [11, PREVIEW],
    ] as const) {
      standIn.forget();
      await openWritten((await fileOf(sizeMiB * MIB)).path);
      assert.equal(standIn.executed[0]?.[0], command);
    }
  });
});
