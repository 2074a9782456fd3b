import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ProxySettings } from '../../core/api/transport.ts';
import { directoryOf } from '../../core/downloads/localFiles.ts';
import { SETTINGS } from './ids.ts';

const SECTION = 'fineTuning';

/** The address that sign-in offers; empty by default, since no address of the service is known. */
export function baseUrlSetting(): string {
  return own().get(SETTINGS.baseUrl, '');
}

/** Below this balance, in whole units of its currency, the status bar warns; 0 never warns. */
export function lowBalanceSetting(): number {
  return own().get(SETTINGS.lowBalance, 0);
}

export function onDidChangeLowBalance(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`${SECTION}.${SETTINGS.lowBalance}`)) listener();
  });
}

/** Up to this size a JSONL document is checked without being asked; 0 never is. */
export function autoCheckMaxBytes(uri: vscode.Uri): number {
  return own(uri).get(SETTINGS.checkAutomaticallyUpToMB, 0) * 1_000_000;
}

export function codeLensSetting(uri: vscode.Uri): boolean {
  return own(uri).get(SETTINGS.codeLens, true);
}

/** Whether the setting takes a file for a dataset or not: the last of its globs that matches decides; undefined without one. */
export function datasetFileSetting(uri: vscode.Uri): boolean | undefined {
  const globs = Object.entries(own(uri).get<Record<string, boolean>>(SETTINGS.datasetFiles, {}));
  const folder = globs.length === 0 ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  // Only these two of a document are compared.
  const document = { uri, languageId: 'jsonl' } as vscode.TextDocument;
  return globs.findLast(([glob]) => {
    const pattern = folder === undefined ? glob : new vscode.RelativePattern(folder, glob);
    return vscode.languages.match({ pattern }, document) > 0;
  })?.[1];
}

export function onDidChangeDatasetSettings(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    const names = [SETTINGS.codeLens, SETTINGS.datasetFiles];
    if (names.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) listener();
  });
}

/** Whether a marker is added to the label of each run, by which it is recognised. */
export function labelMarkerSetting(): boolean {
  return own().get(SETTINGS.labelMarker, true);
}

/** Of which runs the user is notified: of every new status, of their ends, or of none but by the badge. */
export function notificationsSetting(): 'all' | 'finished' | 'badge' {
  const value = own().get<string>(SETTINGS.notifications, 'finished');
  return value === 'all' || value === 'badge' ? value : 'finished';
}

export function onDidChangeNotifications(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`${SECTION}.${SETTINGS.notifications}`)) listener();
  });
}

/** The folder that adapters are downloaded into, as the user wrote it; empty where it is asked for each time. */
export function downloadDirectorySetting(): string {
  return own().get(SETTINGS.downloadDirectory, '');
}

/** What happens when a run's adapter can be downloaded. */
export function downloadWhenCompleteSetting(): 'off' | 'ask' | 'always' {
  const value = own().get<string>(SETTINGS.downloadWhenComplete, 'ask');
  return value === 'off' || value === 'always' ? value : 'ask';
}

/** The folder that adapters of completed runs are downloaded into without a question; undefined where the user wants to be asked. */
export function autoDownloadFolder(): string | undefined {
  if (downloadWhenCompleteSetting() !== 'always') return undefined;
  const directory = directoryOf(downloadDirectorySetting(), homedir());
  return directory.kind === 'there' ? directory.path : undefined;
}

/** VS Code's own settings of proxies and certificates. */
export function proxySettings(): ProxySettings {
  const http = vscode.workspace.getConfiguration('http');
  const isOff = http.get<string>('proxySupport') === 'off';
  return {
    httpProxy: isOff ? '' : http.get('proxy', ''),
    proxyAuthorization: http.get<string | null>('proxyAuthorization') ?? '',
    noProxy: http.get<string[]>('noProxy', []),
    strictSsl: http.get('proxyStrictSSL', true),
    systemCertificates: http.get('systemCertificates', true),
    env: isOff ? {} : process.env,
  };
}

export function onDidChangeProxySettings(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('http')) listener();
  });
}

function own(uri?: vscode.Uri): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION, uri);
}
