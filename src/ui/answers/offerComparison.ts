import * as vscode from 'vscode';
import { isAnswersFile } from '../../core/answers/answersFile.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import { COMMANDS, CONTEXT_KEYS } from '../shared/ids.ts';
import { inBackground, type Log } from '../shared/log.ts';
import { setting } from '../shared/settings.ts';
import { urisOf } from '../shared/tabs.ts';
import { TERMS } from '../shared/terms.ts';

/** A script may save many rows a second. */
const SETTLE_MS = 200;

/** Offers to compare open files of answers, in their first line and beside their tabs. */
export class ComparisonOffers implements vscode.CodeLensProvider, Disposable {
  readonly #store = new DisposableStore();
  readonly #found = this.#store.add(new Emitter<void>());
  readonly onDidChangeCodeLenses = this.#found.event;
  #settling: NodeJS.Timeout | undefined;
  /** Paths of open files that have answers. */
  #files: readonly string[] = [];

  constructor(log: Pick<Log, 'error'>) {
    const { languages, window, workspace } = vscode;
    const update = () => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => inBackground(log, this.#update()), SETTLE_MS);
    };
    for (const one of [
      languages.registerCodeLensProvider({ language: 'jsonl', scheme: 'file' }, this),
      window.tabGroups.onDidChangeTabs(update),
      workspace.onDidSaveTextDocument(update),
      // A change that leaves the document clean means that it was reloaded.
      workspace.onDidChangeTextDocument(({ document }) => {
        if (document.languageId === 'jsonl' && !document.isDirty) update();
      }),
    ])
      this.#store.add(one);
    inBackground(log, this.#update());
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    if (!setting('codeLens', uri) || !this.#files.includes(uri.fsPath)) return [];
    const command = { title: TERMS.compareAnswers, command: COMMANDS.compareAnswers, arguments: [uri] };
    return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command)];
  }

  dispose(): void {
    clearTimeout(this.#settling);
    this.#store.dispose();
  }

  async #update(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const paths = tabs.flatMap(urisOf).flatMap(({ scheme, fsPath }) => (scheme === 'file' ? [fsPath] : []));
    const files = [...new Set(paths)].filter((path) => /\.(jsonl|ndjson)$/i.test(path));
    const haveAnswers = await Promise.all(files.map((file) => isAnswersFile(file)));
    const found = files.filter((_, index) => haveAnswers[index]);
    if (JSON.stringify(found) === JSON.stringify(this.#files) || this.#store.disposed) return;
    this.#files = found;
    this.#found.fire();
    await vscode.commands.executeCommand('setContext', CONTEXT_KEYS.answersFiles, found);
  }
}
