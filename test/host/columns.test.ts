import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';

/** Rows with a tab inside a string, after bytes that the editor decodes in its own way. */
const ROWS: readonly (readonly [string, ...(string | number[])[]])[] = [
  ['ASCII', '{"text":"a', [0x09], '"}'],
  ['characters outside the basic plane', '{"text":"😀é日', [0x09], '"}'],
  ['a sequence cut short', '{"text":"', [0xe2, 0x82], [0x09], '"}'],
  ['a longer sequence cut short', '{"text":"', [0xf0, 0x9f, 0x98], 'x', [0x09], '"}'],
  ['an overlong form', '{"text":"', [0xc0, 0xaf], [0x09], '"}'],
  ['a surrogate', '{"text":"', [0xed, 0xa0, 0x80], [0x09], '"}'],
  ['no sequence at all', '{"text":"', [0xff, 0xfe], [0x09], '"}'],
  ['a CR that no LF follows', '{"text":', [0x0d], ' "é', [0x09], '"}'],
  ['a byte order mark inside', '{"text":"\uFEFF', [0x09], '"}'],
];

describe('columns of problems', () => {
  it('are those of the editor', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'columns-'));
    const file = vscode.Uri.file(path.join(folder, 'columns.jsonl'));
    const bytes = ROWS.map(([, ...parts]) =>
      Buffer.concat([...parts.map((part) => bytesOf(part)), bytesOf('\n')]),
    );
    // Without these rows, most rows would have the problem, and it would be shown only once.
    const others = bytesOf('{}\n'.repeat(2 * ROWS.length));
    await writeFile(file.fsPath, Buffer.concat([bytesOf('\uFEFF'), ...bytes, others]));
    try {
      const document = await vscode.workspace.openTextDocument(file);
      await vscode.commands.executeCommand('fineTuning.checkDataset', file);
      const tabs = vscode.languages
        .getDiagnostics(file)
        .filter(({ code }) => code === 'control-character')
        .map(({ range }) => document.getText(range));
      assert.deepEqual(
        tabs,
        ROWS.map(() => '\t'),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

function bytesOf(part: string | number[]): Buffer {
  return typeof part === 'string' ? Buffer.from(part) : Buffer.from(part);
}
