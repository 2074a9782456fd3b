import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { summaryOf } from '../../core/datasets/summary.ts';
import { COMMANDS } from '../shared/ids.ts';
import { openDocument } from './syncedDocuments.ts';
import { lensWords } from './statusMessages.ts';

/** Writes the verdict and what can be done above the first line of a JSONL document. */
export class DatasetLens implements vscode.CodeLensProvider, Disposable {
  readonly #reports: Reports;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #subscriptions: Disposable[];
  /** What was last written above a document, by path. */
  readonly #written = new Map<string, string>();

  constructor(reports: Reports) {
    this.#reports = reports;
    this.#subscriptions = [
      this.#changed,
      reports.onDidChange(({ path }) => this.#refresh(path)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#refresh(document.uri.fsPath)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#written.delete(uri.fsPath)),
      vscode.languages.registerCodeLensProvider({ language: 'jsonl', scheme: 'file' }, this),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const path = document.uri.fsPath;
    const words = this.#words(path, document.isDirty);
    this.#written.set(path, words.verdict);
    const report = this.#reports.get(path)?.report;
    const hasProblems = report !== undefined && summaryOf(report).verdict !== 'clean';
    const lens = (title: string, command: string) =>
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command, arguments: [document.uri] });
    return [
      lens(words.verdict, hasProblems ? COMMANDS.showDatasetProblems : COMMANDS.checkDataset),
      lens(words.preview, COMMANDS.previewDataset),
      lens(words.submit, COMMANDS.submitDataset),
    ];
  }

  #words(path: string, isDirty: boolean): ReturnType<typeof lensWords> {
    const state = this.#reports.get(path);
    return lensWords(state?.report && summaryOf(state.report), state?.progress !== undefined, isDirty);
  }

  /** Asks for the lenses again where they would read differently: this is called at each key and with each progress. */
  #refresh(path: string): void {
    const written = this.#written.get(path);
    if (written === undefined) return;
    const document = openDocument(path);
    if (document !== undefined && this.#words(path, document.isDirty).verdict !== written)
      this.#changed.fire();
  }
}
