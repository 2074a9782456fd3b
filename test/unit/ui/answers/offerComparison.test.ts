import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type * as vscode from 'vscode';
import { writtenAnswer } from '../../../helpers/answers.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { ComparisonOffers } = await withVscode(() => import('../../../../src/ui/answers/offerComparison.ts'));

describe('ComparisonOffers', () => {
  const folder = useFolder();
  const { tabGroups } = standIn.window;
  const { all } = tabGroups;

  beforeEach(() => standIn.forget());
  afterEach(() => Object.assign(tabGroups, { all }));

  it('offers to compare in the editors of files that begin with an answer', async () => {
    const open = async (name: string, ...lines: string[]) => {
      await writeFile(path.join(folder(), name), lines.join('\n'));
      return standIn.Uri.file(path.join(folder(), name));
    };
    const uris = [
      await open('answers.jsonl', '', writtenAnswer()),
      await open('dataset.jsonl', '{"messages":[]}', writtenAnswer()),
    ];
    const tabs = uris.map((uri) => ({ input: new standIn.TabInputText(uri) }));
    Object.assign(tabGroups, { all: [{ tabs }] });
    const offers = new ComparisonOffers({ error: () => assert.fail() });
    await new Promise<void>((resolve) => offers.onDidChangeCodeLenses(resolve));
    const lenses = uris.map((uri) => offers.provideCodeLenses({ uri } as unknown as vscode.TextDocument));
    assert.deepEqual(
      lenses.map(({ length }) => length),
      [1, 0],
    );
    assert.deepEqual(standIn.executed, [['setContext', 'fineTuning.answersFiles', [uris[0]?.fsPath]]]);
    offers.dispose();
  });
});
