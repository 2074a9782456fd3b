import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Verdict } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { summaryOf } from '../../core/datasets/summary.ts';
import { COMMANDS } from '../shared/ids.ts';
import { datasetStatus } from './statusMessages.ts';

/** Shows the verdict on the active JSONL document among the status of its language. */
export class DatasetStatus implements Disposable {
  readonly #reports: Reports;
  readonly #item = vscode.languages.createLanguageStatusItem('fineTuning.dataset', {
    language: 'jsonl',
    scheme: 'file',
  });
  readonly #subscriptions: Disposable[];
  #drawn = '';

  constructor(reports: Reports) {
    this.#reports = reports;
    this.#subscriptions = [
      this.#item,
      reports.onDidChange(({ path }) => {
        if (path === activeDocument()?.uri.fsPath) this.#draw();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.#draw()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === activeDocument()) this.#draw();
      }),
    ];
    this.#draw();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #draw(): void {
    const document = activeDocument();
    if (document === undefined) return;
    const state = this.#reports.get(document.uri.fsPath);
    const summary = state?.report && summaryOf(state.report);
    const isBusy = state?.progress !== undefined;
    const words = datasetStatus(summary, isBusy, document.isDirty);
    // It is asked for at each key that is pressed.
    const drawn = JSON.stringify([document.uri, words, isBusy, summary?.verdict]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#item.name = words.name;
    this.#item.text = words.text;
    this.#item.detail = words.detail;
    this.#item.busy = isBusy;
    this.#item.severity = severityOf(summary?.verdict);
    const isSound = summary === undefined || summary.verdict === 'clean';
    this.#item.command = {
      title: words.action,
      command: isSound ? COMMANDS.checkDataset : COMMANDS.showDatasetProblems,
      arguments: [document.uri],
    };
  }
}

function activeDocument(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'jsonl' && document.uri.scheme === 'file' ? document : undefined;
}

function severityOf(verdict: Verdict | undefined): vscode.LanguageStatusSeverity {
  const { Error, Warning, Information } = vscode.LanguageStatusSeverity;
  return verdict === 'errors' ? Error : verdict === 'warnings' ? Warning : Information;
}
