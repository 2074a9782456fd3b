import * as vscode from 'vscode';
import {
  activeDownloadText,
  artifactName,
  artifactsText,
  downloadWords,
  fileLines,
} from './pageArtifactMessages.ts';
import { runPageWords } from './pageMessages.ts';
import type { ActiveDownload, DownloadRecord } from '../../core/downloads/types.ts';
import { artifactsOf } from '../../core/submission/runFacts.ts';
import type {
  RunPageAction,
  RunPageArtifacts,
  RunPageButton,
  RunPageDownload,
  RunPageFile,
} from './protocol.ts';
import type { PageButtons } from './runPageButtons.ts';
import type { KnownRunView } from './runPageView.ts';

/** Whether this machine's file manager can show a file: not from a browser, nor on another machine. */
export function hasFileManager(): boolean {
  return vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
}

/** Whether a file can be shown where it lies: in the file manager, or in the explorer if it is in the workspace. */
function canReveal(path: string): boolean {
  return hasFileManager() || vscode.workspace.getWorkspaceFolder(vscode.Uri.file(path)) !== undefined;
}

/** What of a run is on its way, and what came home. */
export function artifactsSection(view: KnownRunView, buttons: PageButtons): RunPageArtifacts {
  const { run, detail, nowMs } = view;
  const { kind, expiresAtMs } = artifactsOf(run, detail, nowMs);
  return {
    kind: 'artifacts',
    key: 'artifacts',
    title: runPageWords.artifacts(),
    text: artifactsText(kind, expiresAtMs, run.status),
    clock: kind === 'available' && expiresAtMs !== undefined ? 'artifacts' : undefined,
    downloads: downloadsOf(view).map((download) => drawDownload(download, buttons)),
    files: recordsOf(view).map((record) => drawFile(record, view, buttons)),
  };
}

/** What can be done about the adapter: always the same two buttons. What is not possible now is disabled. */
export function downloadActions(view: KnownRunView, buttons: PageButtons): RunPageButton[] {
  const { run, detail, nowMs, fileNow } = view;
  const { kind } = artifactsOf(run, detail, nowMs);
  const downloads = downloadsOf(view);
  const here = recordsOf(view).filter(({ path }) => fileNow(path) != null);
  const adapter = here.find(({ artifactType, verified }) => artifactType === 'model' && verified !== 'html');
  const isBusy = downloads.some(({ state }) => state !== 'interrupted');
  const words =
    downloads.length > 0 && !isBusy
      ? downloadWords.goOn()
      : here.length > 0
        ? downloadWords.again()
        : runPageWords.download();
  return [
    adapter === undefined
      ? buttons.disabled('inspect', 'adapter', runPageWords.inspect())
      : buttons.make('inspect', 'adapter', runPageWords.inspect(), { target: adapter.path, isFirst: true }),
    (kind === 'available' || kind === 'not-told') && !isBusy
      ? buttons.make('download', 'run', words, { isFirst: adapter === undefined })
      : buttons.disabled('download', 'run', words),
  ];
}

/** The paths of what came home of a run. */
export function recordsOf({
  accountId,
  runId,
  downloads,
}: Pick<KnownRunView, 'accountId' | 'runId' | 'downloads'>): readonly DownloadRecord[] {
  return downloads.records(accountId).filter((record) => record.runId === runId);
}

function downloadsOf({ accountId, runId, downloads }: KnownRunView): ActiveDownload[] {
  return downloads.active.filter((download) => download.accountId === accountId && download.runId === runId);
}

function drawDownload(download: ActiveDownload, buttons: PageButtons): RunPageDownload {
  const { id, artifactType, filename, state, receivedBytes, totalBytes } = download;
  const name = artifactName(artifactType, filename);
  const isBusy = state !== 'interrupted';
  const cancel = isBusy ? downloadWords.cancel() : downloadWords.discard();
  return {
    key: id,
    name,
    text: activeDownloadText(download),
    fraction: totalBytes === undefined || totalBytes === 0 ? undefined : receivedBytes / totalBytes,
    isBusy,
    buttons: [
      buttons.make('cancelDownload', id, cancel, { target: id, spoken: downloadWords.about(cancel, name) }),
    ],
  };
}

function drawFile(record: DownloadRecord, { fileNow }: KnownRunView, buttons: PageButtons): RunPageFile {
  const { path, artifactType, filename, sha256, completedAtMs } = record;
  const name = artifactName(artifactType, filename);
  const isGone = fileNow(path) === null;
  const key = `${completedAtMs}.${sha256.slice(0, 16)}`;
  const make = (action: RunPageAction, words: string) =>
    buttons.make(action, key, words, { target: path, spoken: downloadWords.about(words, name) });
  const copy = (what: string, text: string, words: string) =>
    buttons.copy(`${what}.${key}`, text, words, downloadWords.about(words, name));
  return {
    key,
    name,
    lines: fileLines({ ...record, isGone }),
    path,
    isGone,
    buttons: [
      ...(isGone ? [] : [make('inspect', runPageWords.inspect())]),
      ...(isGone || !canReveal(path) ? [] : [make('reveal', downloadWords.reveal(hasFileManager()))]),
      copy('path', path, downloadWords.copyPath()),
      copy('sha256', sha256, downloadWords.copyDigest()),
    ],
  };
}
