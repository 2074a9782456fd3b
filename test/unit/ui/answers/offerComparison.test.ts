import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { writtenAnswer } from '../../../helpers/answers.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { ComparisonOffers } = await withVscode(() => import('../../../../src/ui/answers/offerComparison.ts'));

describe('ComparisonOffers', () => {
  beforeEach(() => standIn.forget());

  it('offers to compare above the first row that is an answer, after blank lines', () => {
    const offers = new ComparisonOffers({ error: () => assert.fail() });
    const offered = (...lines: string[]) => {
      const document = {
        uri: standIn.Uri.file('/data/rows.jsonl'),
        lineCount: lines.length,
        lineAt: (line: number) => ({ text: lines[line], isEmptyOrWhitespace: lines[line]?.trim() === '' }),
      };
      return offers.provideCodeLenses(document as unknown as vscode.TextDocument).length;
    };
    for (const blank of [[], [''], ['', ' \t']]) {
      assert.equal(offered(...blank, writtenAnswer(), ''), 1);
      assert.equal(offered(...blank, '{"messages":[]}', writtenAnswer()), 0);
    }
    assert.equal(offered('', ''), 0);
    offers.dispose();
  });
});
