import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MAX_DATASET_BYTES } from '../../../../src/core/api/types.ts';
import type { Reports } from '../../../../src/core/datasets/reports.ts';
import type { Log } from '../../../../src/ui/shared/log.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { reportOf } from '../../../helpers/report.ts';
import * as stand from '../../../helpers/vscodeStandIn.ts';

const { checkDataset, rewriteDatasetBeside } = await withVscode(
  () => import('../../../../src/ui/datasets/checkDataset.ts'),
);

describe('the commands that write a changed copy of a dataset', () => {
  const folder = useFolder();
  const file = (name: string) => path.join(folder(), name);

  beforeEach(() => stand.forget());
  afterEach(() => (stand.window.tabGroups.activeTabGroup = {}));

  it('write it, open it, and name both files', async () => {
    await writeFile(file('array.jsonl'), '[{"a":1},\n{"a":2}]');
    await rewriteDatasetBeside('json-to-lines', stand.Uri.file(file('array.jsonl')));
    assert.deepEqual(stand.shown.sentences, ['Created array.lines.jsonl. array.jsonl is unchanged.']);
    assert.equal(await readFile(file('array.lines.jsonl'), 'utf8'), '{"a":1}\n{"a":2}\n');
    assert.deepEqual(stand.executed.map(String), [`vscode.open,file://${file('array.lines.jsonl')}`]);
  });

  it('take the file in the active editor, whatever its ending', async () => {
    await writeFile(file('rows.json'), '[{"a":1}]');
    stand.window.tabGroups.activeTabGroup = {
      activeTab: { input: new stand.TabInputText(stand.Uri.file(file('rows.json'))) },
    };
    await rewriteDatasetBeside('json-to-lines');
    const check = () => Promise.resolve(reportOf({ kind: 'json-array' }));
    await checkDataset({ check } as unknown as Reports, {} as unknown as Log);
    assert.match(stand.shown.sentences.join('|'), /^Created rows\.lines\.jsonl\..*\|rows\.json: /);
  });

  it('refuse what is no regular file, empty or above the limit, without opening or writing anything', async function () {
    if (process.platform === 'win32') this.skip();
    this.timeout(2_000);
    await symlink('/dev/zero', file('zero.jsonl'));
    execFileSync('mkfifo', [file('pipe.jsonl')]);
    await writeFile(file('empty.jsonl'), '');
    await writeFile(file('huge.jsonl'), '[');
    await truncate(file('huge.jsonl'), MAX_DATASET_BYTES + 1); // sparse
    const names = await readdir(folder());
    for (const rewriting of ['json-to-lines', 'without-bom'] as const)
      for (const name of names) {
        stand.forget();
        await rewriteDatasetBeside(rewriting, stand.Uri.file(file(name)));
        assert.match(stand.shown.sentences.join(), /regular file|is empty|larger than/, name);
      }
    assert.deepEqual(await readdir(folder()), names);
  });
});
