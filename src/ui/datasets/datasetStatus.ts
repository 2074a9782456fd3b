import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { isMendable } from '../../core/datasets/copyTypes.ts';
import { verdictOf, type Report, type Verdict } from '../../core/datasets/report.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { kindLine, trainedPhrase, useOf, verdictLine } from '../shared/datasetTexts.ts';
import { compact, formatRows } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { likelyPrice, rangeTooltip } from '../shared/priceText.ts';
import { onDidChangeSettings, setting } from '../shared/settings.ts';
import { TERMS } from '../shared/terms.ts';
import { isDataset, openDocument } from './datasetProblems.ts';
import type { DatasetRuns } from './datasetRuns.ts';

/** Shows the verdict on a JSONL file as a CodeLens, or in the status bar if there is none. With it, the status bar only names the file's kind. */
export class DatasetStatus implements vscode.CodeLensProvider, Disposable {
  readonly #reports: Reports;
  readonly #runs: DatasetRuns;
  readonly #item = vscode.languages.createLanguageStatusItem('fineTuning.dataset', {
    language: 'jsonl',
    scheme: 'file',
  });
  /** For files that VS Code doesn't sync to extensions. */
  readonly #largeItem = vscode.window.createStatusBarItem('dataset', vscode.StatusBarAlignment.Right, 100);
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#lensesChanged.event;
  readonly #subscriptions: Disposable[];
  /** CodeLens titles last shown, by path. */
  readonly #lenses = new Map<string, string>();
  #drawn = '';

  constructor(reports: Reports, runs: DatasetRuns) {
    this.#reports = reports;
    this.#runs = runs;
    const { languages, window, workspace } = vscode;
    this.#subscriptions = [
      this.#item,
      this.#largeItem,
      this.#lensesChanged,
      reports.onDidChange(({ path }) => this.#refresh(path)),
      runs.onDidChange(() => this.#refreshAll()),
      onDidChangeSettings(['codeLens', 'datasetFiles'], () => this.#refreshAll()),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('editor.codeLens')) this.#refreshAll();
      }),
      window.onDidChangeActiveTextEditor(() => this.#draw()),
      window.tabGroups.onDidChangeTabs(() => this.#draw()),
      window.tabGroups.onDidChangeTabGroups(() => this.#draw()),
      workspace.onDidChangeTextDocument(({ document }) => this.#refresh(document.uri.fsPath)),
      workspace.onDidCloseTextDocument(({ uri }) => this.#lenses.delete(uri.fsPath)),
      languages.registerCodeLensProvider({ language: 'jsonl', scheme: 'file' }, this),
    ];
    this.#item.name = this.#largeItem.name = vscode.l10n.t('Dataset Check');
    this.#draw();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const lenses = this.#lensesOf(document);
    this.#lenses.set(document.uri.fsPath, titlesOf(lenses));
    return lenses;
  }

  #lensesOf(document: vscode.TextDocument): vscode.CodeLens[] {
    const { report, verdict, hasLens, isBusy, past, text } = this.#stateOf(document);
    if (!hasLens) return [];
    const lens = (title: string, command: string, argument: unknown = document.uri, tooltip?: string) =>
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), {
        title,
        command,
        arguments: [argument],
        ...(tooltip !== undefined && { tooltip }),
      });
    const use = report && useOf(report);
    const tooltip = !isBusy && past?.price.kind === 'range' ? rangeTooltip(past.accuracy) : undefined;
    const lenses = [
      lens(text.lens, commandFor(verdict), document.uri, tooltip),
      lens(vscode.l10n.t('Preview'), COMMANDS.previewDataset),
      use === undefined
        ? lens(
            past?.isSandbox ? vscode.l10n.t('Submit to Sandbox…') : vscode.l10n.t('Submit…'),
            COMMANDS.submitDataset,
          )
        : lens(use.title, use.command),
    ];
    if (report !== undefined && isMendable(report))
      lenses.push(lens(TERMS.prepareCopy, COMMANDS.prepareDataset));
    if (past?.trained !== undefined) {
      const { accountId, runId, isCompleted, status } = past.trained.run;
      const phrase = trainedPhrase(past.trained);
      const name = isCompleted
        ? vscode.l10n.t('Trained {0}', phrase)
        : vscode.l10n.t('Submitted {0}', phrase);
      // Numbers come first, where a long line is cut.
      const text = past.trained.since === undefined ? name : phrase;
      const title = compact(text, !isCompleted && status).join(' · ');
      lenses.push(lens(title, COMMANDS.showRun, { accountId, id: runId }));
    }
    return lenses;
  }

  #stateOf({ uri, isDirty }: ShownFile) {
    const state = this.#reports.get(uri.fsPath);
    const report = state?.report;
    const isBusy = state?.progress !== undefined;
    const past = report && this.#runs.of(report);
    const isOther = report?.kind === 'requests' || report?.kind === 'other-form';
    const isShown = isOther || isDataset(this.#reports, uri);
    const verdict = report && isShown ? verdictOf(report) : undefined;
    const price = past && likelyPrice(past.price);
    const text = statusText({ report, verdict, isDataset: isShown, isBusy, isDirty, price });
    const hasLens = isShown && setting('codeLens', uri) && isCodeLensOn(uri);
    return { report, verdict, hasLens, isBusy, past, text };
  }

  #refreshAll(): void {
    this.#draw();
    for (const path of [...this.#lenses.keys()]) this.#refresh(path);
  }

  /** Redraws only what differs, because this is called for every keystroke and progress event. */
  #refresh(path: string): void {
    if (path === (activeDocument() ?? activeLargeFile())?.uri.fsPath) this.#draw();
    const shown = this.#lenses.get(path);
    const document = shown === undefined ? undefined : openDocument(path);
    if (document !== undefined && titlesOf(this.#lensesOf(document)) !== shown) this.#lensesChanged.fire();
  }

  #draw(): void {
    const document = activeDocument();
    const file = document ?? activeLargeFile();
    if (document !== undefined || file === undefined) this.#largeItem.hide();
    if (file === undefined) return;
    const { report, verdict, hasLens, isBusy, text } = this.#stateOf(file);
    const isSaidAbove = hasLens && document !== undefined;
    const drawn = JSON.stringify([file.uri, text, verdict, isSaidAbove, document === undefined]);
    if (document === undefined) this.#largeItem.show();
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const { Error, Warning, Information } = vscode.LanguageStatusSeverity;
    this.#item.text = isSaidAbove || verdict === undefined ? text.kind : text.lens;
    this.#item.busy = isBusy;
    const shown = isSaidAbove ? undefined : verdict;
    this.#item.severity = shown === 'errors' ? Error : shown === 'warnings' ? Warning : Information;
    const command = (report && useOf(report)?.command) ?? commandFor(verdict);
    this.#item.command = { title: text.action, command, arguments: [file.uri] };
    this.#largeItem.text = this.#item.text;
    this.#largeItem.tooltip = text.action;
    this.#largeItem.command = this.#item.command;
  }
}

/** A file in an editor. */
type ShownFile = Pick<vscode.TextDocument, 'uri' | 'isDirty'>;

/** Texts of a JSONL document's language status and of its first CodeLens. */
interface StatusText {
  /** What the file is, without a verdict. */
  kind: string;
  /** Title of the language status command. */
  action: string;
  lens: string;
}

/** State of a JSONL document. */
interface DatasetState {
  report: Report | undefined;
  verdict: Verdict | undefined;
  /** Whether the file is treated as a dataset. */
  isDataset: boolean;
  isBusy: boolean;
  /** Whether the editor has changes that are not in the checked file. */
  isDirty: boolean;
  /** Estimated price for the CodeLens. */
  price: string | undefined;
}

export function statusText(state: DatasetState): StatusText {
  const { report, verdict, isDataset, isBusy, isDirty, price } = state;
  const check = report === undefined || !isDataset ? TERMS.checkDataset : TERMS.checkAgain;
  const use = report && useOf(report)?.title;
  const isOther = report?.kind === 'rows' && !isDataset;
  const kind = isBusy ? TERMS.checking : report && (isOther ? otherRows : kindLine)(report);
  const line = isBusy ? TERMS.checking : report && verdictLine(report);
  const saved = isDirty && report !== undefined && vscode.l10n.t('saved version');
  return {
    kind: kind ?? TERMS.notChecked,
    action: use ?? (!isDataset || verdict === undefined || verdict === 'clean' ? check : TERMS.showProblems),
    lens: isDataset ? compact(line ?? check, !isBusy && price, !isBusy && saved).join(' · ') : '',
  };
}

/** The only text about a file that is not a dataset. */
function otherRows({ rows }: Report): string {
  return vscode.l10n.t('JSONL, {0} · no known training format', formatRows(rows));
}

function titlesOf(lenses: readonly vscode.CodeLens[]): string {
  return lenses.map(({ command }) => `${command?.title} ${command?.tooltip}`).join('\n');
}

function commandFor(verdict: Verdict | undefined): string {
  const hasProblems = verdict !== undefined && verdict !== 'clean';
  return hasProblems ? COMMANDS.showDatasetProblems : COMMANDS.checkDataset;
}

/** Whether VS Code shows CodeLenses at all. */
function isCodeLensOn(uri: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration('editor', uri).get('codeLens', true);
}

function activeDocument(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'jsonl' && document.uri.scheme === 'file' ? document : undefined;
}

/** Returns the file of the active tab if it is JSONL that is too large to be synced to extensions. */
function activeLargeFile(): ShownFile | undefined {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
  if (!(tab?.input instanceof vscode.TabInputText)) return undefined;
  const { uri } = tab.input;
  const isJsonl = uri.scheme === 'file' && /\.(jsonl|ndjson)$/i.test(uri.path);
  return isJsonl && openDocument(uri.fsPath) === undefined ? { uri, isDirty: tab.isDirty } : undefined;
}
