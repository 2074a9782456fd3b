import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { hasDatasetRows } from '../../core/datasets/fileKind.ts';
import { shownProblems, type Problem, type Report } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { formatCount } from '../shared/format.ts';
import { EXTENSION_NAME } from '../shared/ids.ts';
import { onDidChangeSettings, setting } from '../shared/settings.ts';
import { kindSentence, problemSentence } from './problemTexts.ts';

/** Maximum UTF-16 units of a document that VS Code syncs to extensions and shows diagnostics in. */
export const MAX_SYNCED_UNITS = 50 * 1024 * 1024;

/** Maximum diagnostics per file; VS Code itself shows at most 1,000. */
const MAX_SHOWN = 200;

/** Shows each dataset's last report in the Problems panel if VS Code can show diagnostics for the file. */
export function showProblems(reports: Reports): Disposable {
  const store = new DisposableStore();
  const collection = store.add(vscode.languages.createDiagnosticCollection('fineTuning.dataset'));
  const shown = new Map<string, Report | undefined>();
  const show = (path: string) => {
    const known = reports.get(path)?.report;
    const uri = vscode.Uri.file(path);
    const isShown = known !== undefined && canShowProblems(known) && isDataset(reports, uri);
    const report = isShown ? known : undefined;
    // Progress events don't change the report.
    if (shown.has(path) && shown.get(path) === report) return;
    if (known === undefined) shown.delete(path);
    else shown.set(path, report);
    collection.set(uri, report && diagnosticsOf(report));
  };
  store.add(reports.onDidChange(({ path }) => show(path)));
  store.add(onDidChangeSettings(['codeLens', 'datasetFiles'], () => [...shown.keys()].forEach(show)));
  // The user may open a file as text that VS Code doesn't display by itself, and close it.
  const follow = ({ uri }: vscode.TextDocument) => {
    if (shown.has(uri.fsPath)) show(uri.fsPath);
  };
  store.add(vscode.workspace.onDidOpenTextDocument(follow));
  store.add(vscode.workspace.onDidCloseTextDocument(follow));
  return store;
}

function diagnosticsOf(report: Report): vscode.Diagnostic[] {
  const start = new vscode.Range(0, 0, 0, 1);
  const kind =
    report.kind === 'rows' ? [] : [diagnostic(start, kindSentence(report.kind), 'error', report.kind)];
  // One diagnostic is reserved for the number of hidden problems.
  const { shown, hiddenErrors, hiddenWarnings } = shownProblems(report, MAX_SHOWN - kind.length - 1);
  const count = hiddenErrors + hiddenWarnings;
  const [listed, all] = [formatCount(shown.length), formatCount(shown.length + count)];
  const hidden = count === 0 ? [] : [vscode.l10n.t('Only {0} of {1} problems are listed.', listed, all)];
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

/** Returns a file's open text document if VS Code syncs it to extensions. */
export function openDocument(path: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
}

/** Whether an editor can show a file's problems: its document is open, or VS Code would open it as text. */
export function canShowProblems({ path, kind, sizeBytes }: Report): boolean {
  if (openDocument(path) !== undefined) return true;
  return kind !== 'binary' && kind !== 'gzip' && opensAsText(vscode.Uri.file(path), sizeBytes);
}

/** Whether VS Code opens a file of this size as text and syncs it to extensions. */
export function opensAsText(uri: vscode.Uri, sizeBytes: number): boolean {
  // 10 MB by default if VS Code runs in a browser or works on another machine.
  const maxMiB = vscode.workspace
    .getConfiguration('workbench', uri)
    .get('editorLargeFileConfirmation', Number.POSITIVE_INFINITY);
  // A file has at least as many bytes as UTF-16 units.
  return sizeBytes <= Math.min(maxMiB * 1024 * 1024, MAX_SYNCED_UNITS);
}

/**
 * Whether to treat a JSONL file as a dataset and show its problems. Never if it has answers to compare;
 * always if the user asked to check or submit it. Otherwise by the setting, then by its rows: it may be a
 * log.
 */
export function isDataset(reports: Reports, uri: vscode.Uri): boolean {
  const report = reports.get(uri.fsPath)?.report;
  if (report?.kind === 'answers') return false;
  if (reports.isAskedFor(uri.fsPath)) return true;
  return datasetFileSetting(uri) ?? (report !== undefined && hasDatasetRows(report));
}

/** Whether the setting treats a file as a dataset: the last matching glob decides; undefined if none matches. */
function datasetFileSetting(uri: vscode.Uri): boolean | undefined {
  const globs = Object.entries(setting('datasetFiles', uri));
  const folder = globs.length === 0 ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  // `match` reads only these two properties.
  const document = { uri, languageId: 'jsonl' } as vscode.TextDocument;
  return globs.findLast(([glob]) => {
    const pattern = folder === undefined ? glob : new vscode.RelativePattern(folder, glob);
    return vscode.languages.match({ pattern }, document) > 0;
  })?.[1];
}
