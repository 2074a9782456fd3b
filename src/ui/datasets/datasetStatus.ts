import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { summaryOf, type Summary } from '../../core/datasets/report.ts';
import { COMMANDS } from '../shared/ids.ts';
import { openDocument } from './datasetProblems.ts';
import { checkMessages, datasetStatus } from './messages.ts';

/** Shows the verdict on JSONL documents: in the language status of the active one, and above the first line of each. */
export class DatasetStatus implements vscode.CodeLensProvider, Disposable {
  readonly #reports: Reports;
  readonly #item = vscode.languages.createLanguageStatusItem('fineTuning.dataset', {
    language: 'jsonl',
    scheme: 'file',
  });
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#lensesChanged.event;
  readonly #subscriptions: Disposable[];
  /** The verdict last shown above a document, by path. */
  readonly #lenses = new Map<string, string>();
  #drawn = '';

  constructor(reports: Reports) {
    this.#reports = reports;
    const { languages, window, workspace } = vscode;
    this.#subscriptions = [
      this.#item,
      this.#lensesChanged,
      reports.onDidChange(({ path }) => this.#refresh(path)),
      window.onDidChangeActiveTextEditor(() => this.#draw()),
      workspace.onDidChangeTextDocument(({ document }) => this.#refresh(document.uri.fsPath)),
      workspace.onDidCloseTextDocument(({ uri }) => this.#lenses.delete(uri.fsPath)),
      languages.registerCodeLensProvider({ language: 'jsonl', scheme: 'file' }, this),
    ];
    this.#draw();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { summary, text } = this.#stateOf(document);
    this.#lenses.set(document.uri.fsPath, text.lens);
    const lens = (title: string, command: string) =>
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command, arguments: [document.uri] });
    return [
      lens(text.lens, commandFor(summary)),
      lens(checkMessages.preview(), COMMANDS.previewDataset),
      lens(checkMessages.submit(), COMMANDS.submitDataset),
    ];
  }

  #stateOf({ uri, isDirty }: vscode.TextDocument) {
    const state = this.#reports.get(uri.fsPath);
    const summary = state?.report && summaryOf(state.report);
    const isBusy = state?.progress !== undefined;
    return { summary, isBusy, text: datasetStatus(summary, isBusy, isDirty) };
  }

  /** Redraws what differs: this is called at each key and with each progress. */
  #refresh(path: string): void {
    if (path === activeDocument()?.uri.fsPath) this.#draw();
    const shown = this.#lenses.get(path);
    const document = shown === undefined ? undefined : openDocument(path);
    if (document !== undefined && this.#stateOf(document).text.lens !== shown) this.#lensesChanged.fire();
  }

  #draw(): void {
    const document = activeDocument();
    if (document === undefined) return;
    const { summary, isBusy, text } = this.#stateOf(document);
    const drawn = JSON.stringify([document.uri, text, summary?.verdict]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const { Error, Warning, Information } = vscode.LanguageStatusSeverity;
    this.#item.name = text.name;
    this.#item.text = text.text;
    this.#item.detail = text.detail;
    this.#item.busy = isBusy;
    this.#item.severity =
      summary?.verdict === 'errors' ? Error : summary?.verdict === 'warnings' ? Warning : Information;
    this.#item.command = { title: text.action, command: commandFor(summary), arguments: [document.uri] };
  }
}

function commandFor(summary: Summary | undefined): string {
  const hasProblems = summary !== undefined && summary.verdict !== 'clean';
  return hasProblems ? COMMANDS.showDatasetProblems : COMMANDS.checkDataset;
}

function activeDocument(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'jsonl' && document.uri.scheme === 'file' ? document : undefined;
}
