import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import type { Reading } from '../../core/datasets/readFacts.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import type { Log } from '../shared/log.ts';
import { setting } from '../shared/settings.ts';
import { tabsOf, urisOf } from '../shared/tabs.ts';
import { openDocument } from './datasetProblems.ts';

/** Skips files that are closed immediately, for example while stepping through the explorer. */
const DEBOUNCE_MS = 250;

/**
 * Checks JSONL files up to the size in the settings when their documents are opened, saved or reloaded. Drops
 * a report when its file is deleted, or when no tab shows the file and the user didn't ask for the report.
 */
export function checkAutomatically(reports: Reports, log: Log): Disposable {
  const { workspace, window } = vscode;
  const store = new DisposableStore();
  /** Pending and running checks, by path. */
  const stops = new Map<string, AbortController>();

  const check = async (uri: vscode.Uri, stop: AbortController) => {
    const path = uri.fsPath;
    try {
      const found = await stat(path).catch(() => undefined);
      if (stop.signal.aborted) return;
      // A report that the user asked for remains until the file changes.
      if (found?.isFile() !== true || found.size === 0 || found.size > maxBytesOf(uri))
        await reports.dropIfOld(path);
      else await reports.currentReport(path, stop.signal);
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
  /** Releases the report if no tab shows the file. */
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
    // A change that leaves the document clean means that it was reloaded or reverted.
    workspace.onDidChangeTextDocument(({ document }) => {
      if (!document.isDirty) schedule(document);
    }),
    workspace.onDidCloseTextDocument(({ uri }) => leave(uri)),
    // VS Code may close a document minutes after its last tab.
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

/** Reads what the texts of a file say when it has a verdict, if it is small enough to be checked automatically. */
export function readAutomatically(reports: Reports, readings: Reports<Reading>, log: Log): Disposable {
  const stop = new AbortController();
  const changed = reports.onDidChange(({ path, progress, report }) => {
    if (progress !== undefined) return;
    if (report === undefined) readings.drop(path);
    else if (report.kind === 'rows' && report.sizeBytes <= maxBytesOf(vscode.Uri.file(path)))
      readings.currentReport(path, stop.signal).catch((error: unknown) => {
        // A changed file gets another verdict.
        if (!(error instanceof ExpectedError)) log.error('texts-not-read', error);
      });
  });
  return {
    dispose: () => {
      stop.abort();
      changed.dispose();
    },
  };
}

function maxBytesOf(uri: vscode.Uri): number {
  return setting('checkAutomaticallyUpToMB', uri) * 1_000_000;
}
