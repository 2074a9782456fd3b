import * as vscode from 'vscode';
import { hasDatasetRows } from '../../core/datasets/fileKind.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { datasetFileSetting } from '../shared/settings.ts';

/**
 * Whether a JSONL file is treated as a dataset, with its problems and its verdict: the user asked for its check or submission, or the
 * setting says so, or else its rows do. Logs and exports are JSONL files, too, and are left alone.
 */
export function isDataset(reports: Reports, uri: vscode.Uri): boolean {
  if (reports.isAskedFor(uri.fsPath)) return true;
  const report = reports.get(uri.fsPath)?.report;
  return datasetFileSetting(uri) ?? (report !== undefined && hasDatasetRows(report));
}
