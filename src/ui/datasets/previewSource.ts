import * as vscode from 'vscode';
import { lineOfRow, type RowFile } from '../../core/datasets/rowFile.ts';
import { type Report, problemsOfRow } from '../../core/datasets/report.ts';
import { MAX_SYNCED_UNITS } from './datasetProblems.ts';

/** Whether a row of the file can be shown in the text editor: in a document that is not synced nothing can be selected. */
export function hasSource(file: RowFile): boolean {
  return file.sizeBytes <= MAX_SYNCED_UNITS;
}

/**
 * Shows a row in the text editor, beside if one is open there, else as a tab of the same group.
 * @param problem the index of one of the row's problems, whose place is selected
 * @throws CheckError, CancelledError
 */
export async function showSource(
  uri: vscode.Uri,
  file: RowFile,
  report: Report | undefined,
  row: number,
  problem: number | undefined,
): Promise<void> {
  const found =
    problem === undefined || report === undefined
      ? undefined
      : problemsOfRow(report, row, problem + 1)[problem];
  const line = found?.line ?? (await lineOfRow(file, row));
  const column = found?.column ?? 1;
  const start = new vscode.Position(line - 1, column - 1);
  const selection = new vscode.Range(start, start.translate(0, found?.length ?? 0));
  const shown = vscode.window.visibleTextEditors.find(
    ({ document }) => document.uri.toString() === uri.toString(),
  );
  await vscode.window.showTextDocument(uri, {
    selection,
    preview: false,
    ...(shown?.viewColumn === undefined ? {} : { viewColumn: shown.viewColumn }),
  });
}
