import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
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
export function checkAutomatically(reports: Reports, log: Log): Disposable {
  const { workspace, window } = vscode;
  const store = new DisposableStore();
  /** Checks that wait or run, by path. */
  const stops = new Map<string, AbortController>();

  const check = async (uri: vscode.Uri, stop: AbortController) => {
    const path = uri.fsPath;
    try {
      const found = await stat(path).catch(() => undefined);
      if (stop.signal.aborted) return;
      const maxBytes = setting('checkAutomaticallyUpToMB', uri) * 1_000_000;
      // A report that the user asked for stays until the file changes.
      if (found?.isFile() !== true || found.size === 0 || found.size > maxBytes)
        await reports.dropIfOld(path);
      else await reports.fresh(path, stop.signal);
    } catch (error) {
      if (!(error instanceof CancelledError)) log.error('not-checked', error);
    } finally {
      if (stops.get(path) === stop) stops.delete(path);
    }
  };
  const schedule = ({ languageId, uri }: vscode.TextDocument) => {
    if (languageId !== 'jsonl' || uri.scheme !== 'file') return;
    stops.get(uri.fsPath)?.abort();
    const stop = new AbortController();
    stops.set(uri.fsPath, stop);
    const timer = setTimeout(() => void check(uri, stop), DEBOUNCE_MS);
    stop.signal.addEventListener('abort', () => clearTimeout(timer));
  };
  /** Drops the report if no editor shows the file any longer. */
  const leave = (uri: vscode.Uri) => {
    if (uri.scheme !== 'file' || tabsOf(uri).length > 0) return;
    stops.get(uri.fsPath)?.abort();
    stops.delete(uri.fsPath);
    reports.release(uri.fsPath);
  };
  /** Some file systems report a replaced file as deleted. */
  const dropIfGone = async ({ fsPath }: vscode.Uri) => {
    if ((await stat(fsPath).catch(() => undefined)) === undefined) reports.drop(fsPath);
  };

  const watcher = workspace.createFileSystemWatcher('**/*.{jsonl,ndjson}', true, true, false);
  for (const one of [
    { dispose: () => stops.forEach((stop) => stop.abort()) },
    watcher,
    watcher.onDidDelete((uri) => void dropIfGone(uri)),
    workspace.onDidOpenTextDocument(schedule),
    workspace.onDidSaveTextDocument(schedule),
    // Reloaded from the disk, or reverted: the document is as it is there.
    workspace.onDidChangeTextDocument(({ document }) => {
      if (!document.isDirty) schedule(document);
    }),
    workspace.onDidCloseTextDocument(({ uri }) => leave(uri)),
    // VS Code may keep a document for minutes after its last tab.
    window.tabGroups.onDidChangeTabs(({ opened, closed }) => {
      for (const uri of closed.flatMap(urisOf)) leave(uri);
      for (const { fsPath } of opened.flatMap(urisOf)) {
        const document = openDocument(fsPath);
        if (document !== undefined) schedule(document);
      }
    }),
  ])
    store.add(one);
  workspace.textDocuments.forEach(schedule);
  return store;
}
