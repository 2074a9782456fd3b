import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import type { Log } from '../shared/log.ts';
import { setting } from '../shared/settings.ts';
import { openDocument } from './datasetProblems.ts';
import { tabsOf, urisOf } from '../shared/tabs.ts';

/** A file that is closed at once, as when stepping through the explorer, is not checked. */
const DEBOUNCE_MS = 250;

/**
 * Checks JSONL files when their documents are opened, saved or reloaded, up to the size of the setting. Reports that the user
 * did not ask for are dropped when no editor shows the file any longer, all reports when the file is deleted.
 */
export class AutoCheck implements Disposable {
  readonly #reports: Reports;
  readonly #log: Log;
  readonly #subscriptions: Disposable[];
  /** Checks that wait or run, by path. */
  readonly #stops = new Map<string, AbortController>();

  constructor(reports: Reports, log: Log) {
    this.#reports = reports;
    this.#log = log;
    const { workspace, window } = vscode;
    const watcher = workspace.createFileSystemWatcher('**/*.{jsonl,ndjson}', true, true, false);
    this.#subscriptions = [
      watcher,
      watcher.onDidDelete((uri) => void this.#dropIfGone(uri.fsPath)),
      workspace.onDidOpenTextDocument((document) => this.#schedule(document)),
      workspace.onDidSaveTextDocument((document) => this.#schedule(document)),
      // Reloaded from the disk, or reverted: the document is as it is there.
      workspace.onDidChangeTextDocument(({ document }) => {
        if (!document.isDirty) this.#schedule(document);
      }),
      workspace.onDidCloseTextDocument(({ uri }) => this.#leave(uri)),
      // VS Code may keep a document for minutes after its last tab.
      window.tabGroups.onDidChangeTabs(({ opened, closed }) => {
        for (const uri of closed.flatMap(urisOf)) this.#leave(uri);
        for (const { fsPath } of opened.flatMap(urisOf)) {
          const document = openDocument(fsPath);
          if (document !== undefined) this.#schedule(document);
        }
      }),
    ];
    for (const document of workspace.textDocuments) this.#schedule(document);
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    for (const stop of this.#stops.values()) stop.abort();
  }

  #schedule({ languageId, uri }: vscode.TextDocument): void {
    if (languageId !== 'jsonl' || uri.scheme !== 'file') return;
    const path = uri.fsPath;
    this.#stops.get(path)?.abort();
    const stop = new AbortController();
    this.#stops.set(path, stop);
    const timer = setTimeout(() => void this.#check(uri, stop), DEBOUNCE_MS);
    stop.signal.addEventListener('abort', () => clearTimeout(timer));
  }

  async #check(uri: vscode.Uri, stop: AbortController): Promise<void> {
    const path = uri.fsPath;
    try {
      const found = await stat(path).catch(() => undefined);
      if (stop.signal.aborted) return;
      if (
        found?.isFile() !== true ||
        found.size === 0 ||
        found.size > setting('checkAutomaticallyUpToMB', uri) * 1_000_000
      ) {
        // A report that the user asked for stays until the file changes.
        await this.#reports.dropIfOld(path);
        return;
      }
      await this.#reports.fresh(path, stop.signal);
    } catch (error) {
      if (!(error instanceof CancelledError)) this.#log.error('not-checked', error);
    } finally {
      if (this.#stops.get(path) === stop) this.#stops.delete(path);
    }
  }

  /** Drops the report if no editor shows the file any longer. */
  #leave(uri: vscode.Uri): void {
    if (uri.scheme !== 'file' || tabsOf(uri).length > 0) return;
    this.#stops.get(uri.fsPath)?.abort();
    this.#stops.delete(uri.fsPath);
    this.#reports.release(uri.fsPath);
  }

  /** Some file systems report a replaced file as deleted. */
  async #dropIfGone(path: string): Promise<void> {
    if ((await stat(path).catch(() => undefined)) === undefined) this.#reports.drop(path);
  }
}
