import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ProxySettings } from '../../core/api/transport.ts';
import { directoryOf } from '../../core/downloads/localFiles.ts';
import type { SETTINGS } from './ids.ts';

type Setting = (typeof SETTINGS)[number];

const SECTION = 'fineTuning';

function own<T>(setting: Setting, preset: T, uri?: vscode.Uri): T {
  return vscode.workspace.getConfiguration(SECTION, uri).get(setting, preset);
}

/** Calls the listener when one of these settings changes; `http` are VS Code's own. */
export function onDidChangeSettings(
  settings: readonly (Setting | 'http')[],
  listener: () => void,
): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    const names = settings.map((name) => (name === 'http' ? name : `${SECTION}.${name}`));
    if (names.some((name) => event.affectsConfiguration(name))) listener();
  });
}

/** The address that sign-in offers; empty by default, since no address of the service is known. */
export function baseUrlSetting(): string {
  return own('baseUrl', '');
}

/** Below this balance, in whole units of its currency, the status bar warns; 0 never warns. */
export function lowBalanceSetting(): number {
  return own('lowBalance', 0);
}

/** Up to this size a JSONL document is checked without being asked; 0 never is. */
export function autoCheckMaxBytes(uri: vscode.Uri): number {
  return own('checkAutomaticallyUpToMB', 0, uri) * 1_000_000;
}

export function codeLensSetting(uri: vscode.Uri): boolean {
  return own('codeLens', true, uri);
}

/** Whether the setting takes a file for a dataset or not: the last of its globs that matches decides; undefined without one. */
export function datasetFileSetting(uri: vscode.Uri): boolean | undefined {
  const globs = Object.entries(own<Record<string, boolean>>('datasetFiles', {}, uri));
  const folder = globs.length === 0 ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  // Only these two of a document are compared.
  const document = { uri, languageId: 'jsonl' } as vscode.TextDocument;
  return globs.findLast(([glob]) => {
    const pattern = folder === undefined ? glob : new vscode.RelativePattern(folder, glob);
    return vscode.languages.match({ pattern }, document) > 0;
  })?.[1];
}

/** Whether a marker is added to the label of each run, by which it is recognised. */
export function labelMarkerSetting(): boolean {
  return own('labelMarker', true);
}

/** Of which runs the user is notified: of every new status, of their ends, or of none but by the badge. */
export function notificationsSetting(): 'all' | 'finished' | 'badge' {
  const value = own<string>('notifications', 'finished');
  return value === 'all' || value === 'badge' ? value : 'finished';
}

/** The folder that adapters are downloaded into, as the user wrote it; empty where it is asked for each time. */
export function downloadDirectorySetting(): string {
  return own('downloadDirectory', '');
}

/** What happens when a run's adapter can be downloaded. */
export function downloadWhenCompleteSetting(): 'off' | 'ask' | 'always' {
  const value = own<string>('downloadWhenComplete', 'ask');
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
