import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { hasDatasetRows } from '../../core/datasets/fileKind.ts';
import type { Problem } from '../../core/datasets/problems.ts';
import { type Report, shownProblems } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { datasetFileSetting, onDidChangeSettings } from '../shared/settings.ts';
import { EXTENSION_NAME } from '../shared/ids.ts';
import { kindSentence } from '../shared/datasetMessages.ts';
import { moreSentence, problemSentence } from './messages.ts';

/** Above this many UTF-16 units VS Code doesn't give a document to extensions, and shows none of their diagnostics in it. */
export const MAX_SYNCED_UNITS = 50 * 1024 * 1024;

/** Diagnostics of a file; VS Code itself cuts at 1,000. */
const MAX_SHOWN = 200;

/** Shows the last report of each dataset in the Problems panel, where VS Code can show the file at all. */
export function showProblems(reports: Reports): Disposable {
  const store = new DisposableStore();
  const collection = store.add(vscode.languages.createDiagnosticCollection('fineTuning.dataset'));
  const shown = new Map<string, Report | undefined>();
  const show = (path: string) => {
    const known = reports.get(path)?.report;
    const uri = vscode.Uri.file(path);
    const isShown = known !== undefined && canShowProblems(path, known.sizeBytes) && isDataset(reports, uri);
    const report = isShown ? known : undefined;
    // A check reports its progress many times.
    if (shown.has(path) && shown.get(path) === report) return;
    if (known === undefined) shown.delete(path);
    else shown.set(path, report);
    collection.set(uri, report && diagnosticsOf(report));
  };
  store.add(reports.onDidChange(({ path }) => show(path)));
  store.add(onDidChangeSettings(['codeLens', 'datasetFiles'], () => [...shown.keys()].forEach(show)));
  return store;
}

function diagnosticsOf(report: Report): vscode.Diagnostic[] {
  const start = new vscode.Range(0, 0, 0, 1);
  const kind =
    report.kind === 'rows' ? [] : [diagnostic(start, kindSentence(report.kind), 'error', report.kind)];
  // One place is for what says that there are more.
  const { shown, hiddenErrors, hiddenWarnings } = shownProblems(report, MAX_SHOWN - kind.length - 1);
  const hidden =
    hiddenErrors + hiddenWarnings === 0 ? [] : [moreSentence(shown.length, hiddenErrors + hiddenWarnings)];
  return [
    ...kind,
    ...shown.map((problem) =>
      diagnostic(rangeOf(problem), problemSentence(problem), problem.severity, problem.code),
    ),
    ...hidden.map((sentence) => diagnostic(start, sentence, hiddenErrors > 0 ? 'error' : 'warning', 'more')),
  ];
}

function rangeOf({ line, column, length }: Problem): vscode.Range {
  return new vscode.Range(line - 1, column - 1, line - 1, column - 1 + length);
}

function diagnostic(
  range: vscode.Range,
  message: string,
  severity: Problem['severity'],
  code: string,
): vscode.Diagnostic {
  const { Error, Warning } = vscode.DiagnosticSeverity;
  const made = new vscode.Diagnostic(range, message, severity === 'error' ? Error : Warning);
  made.source = EXTENSION_NAME;
  made.code = code;
  return made;
}

/** The open text document of a file, if VS Code gives it to extensions. */
export function openDocument(path: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
}

/** Whether the editor of a file can show its problems: it is open and synced, or small enough to be. */
export function canShowProblems(path: string, sizeBytes: number): boolean {
  // A file has at least as many bytes as UTF-16 units.
  return sizeBytes <= MAX_SYNCED_UNITS || openDocument(path) !== undefined;
}

/**
 * Whether a JSONL file is treated as a dataset, with its problems and its verdict: the user asked for its check or submission, or the
 * setting says so, or else its rows do. Logs and exports are JSONL files, too, and are left alone.
 */
export function isDataset(reports: Reports, uri: vscode.Uri): boolean {
  if (reports.isAskedFor(uri.fsPath)) return true;
  const report = reports.get(uri.fsPath)?.report;
  return datasetFileSetting(uri) ?? (report !== undefined && hasDatasetRows(report));
}
