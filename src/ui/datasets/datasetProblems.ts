import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Problem } from '../../core/datasets/problems.ts';
import { type Report, shownProblems } from '../../core/datasets/report.ts';
import type { CheckState, Reports } from '../../core/datasets/reports.ts';
import { EXTENSION_NAME } from '../shared/ids.ts';
import { kindSentence } from '../shared/datasetMessages.ts';
import { moreSentence, problemSentence } from './messages.ts';

/** Above this many UTF-16 units VS Code doesn't give a document to extensions, and shows none of their diagnostics in it. */
export const MAX_SYNCED_UNITS = 50 * 1024 * 1024;

/** More of one file would flood the Problems panel; VS Code itself cuts at 1,000. */
const MAX_SHOWN = 200;

/** Shows the last report of each checked file in the Problems panel, where VS Code can show the file at all. */
export class DatasetProblems implements Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('fineTuning.dataset');
  readonly #subscription: Disposable;
  readonly #shown = new Map<string, Report>();

  constructor(reports: Reports) {
    this.#subscription = reports.onDidChange((state) => this.#show(state));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#collection.dispose();
  }

  #show({ path, report }: CheckState): void {
    // A check reports its progress many times.
    if (this.#shown.get(path) === report) return;
    const uri = vscode.Uri.file(path);
    if (report === undefined || !canShowProblems(path, report.sizeBytes)) {
      this.#shown.delete(path);
      this.#collection.delete(uri);
    } else {
      this.#shown.set(path, report);
      this.#collection.set(uri, diagnosticsOf(report));
    }
  }
}

function diagnosticsOf(report: Report): vscode.Diagnostic[] {
  const start = new vscode.Range(0, 0, 0, 1);
  // The problems of rows mean nothing in a file without rows.
  if (report.kind !== 'rows') return [diagnostic(start, kindSentence(report.kind), 'error', report.kind)];
  const { shown, hiddenErrors, hiddenWarnings } = shownProblems(report, MAX_SHOWN);
  const diagnostics = shown.map((problem) =>
    diagnostic(rangeOf(problem), problemSentence(problem), problem.severity, problem.code),
  );
  if (hiddenErrors + hiddenWarnings > 0)
    diagnostics.push(
      diagnostic(
        start,
        moreSentence(shown.length, hiddenErrors, hiddenWarnings),
        hiddenErrors > 0 ? 'error' : 'warning',
        'more',
      ),
    );
  return diagnostics;
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
