import * as vscode from 'vscode';
import type { Reports } from '../../core/datasets/reports.ts';
import { shownProblems } from '../../core/datasets/shownProblems.ts';
import { COMMANDS } from '../shared/ids.ts';
import { canShowProblems } from './syncedDocuments.ts';

/** Shows the problems of a checked file, given by its URI: in its editor and the Problems panel, or in the preview. */
export function showDatasetProblems(reports: Reports) {
  return async (uri?: unknown): Promise<void> => {
    if (!(uri instanceof vscode.Uri)) return;
    const report = reports.get(uri.fsPath)?.report;
    if (report === undefined) {
      await vscode.commands.executeCommand(COMMANDS.checkDataset, uri);
    } else if (!canShowProblems(uri.fsPath, report.sizeBytes)) {
      await vscode.commands.executeCommand(COMMANDS.previewDataset, uri);
    } else {
      // What is no text opens in no text editor.
      if (report.kind !== 'binary') {
        const { line = 1, column = 1 } =
          (report.kind === 'rows' ? shownProblems(report, 1).shown[0] : undefined) ?? {};
        const place = new vscode.Position(line - 1, column - 1);
        await vscode.window.showTextDocument(uri, {
          selection: new vscode.Range(place, place),
          preserveFocus: true,
        });
      }
      await vscode.commands.executeCommand('workbench.panel.markers.view.focus');
    }
  };
}
