import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ProxySettings } from '../../core/api/transport.ts';
import { directoryOf } from '../../core/downloads/localFiles.ts';
import { SETTINGS } from './ids.ts';

type Setting = keyof typeof SETTINGS;

const SECTION = 'fineTuning';

/** A setting as the user wrote it. @param uri of the file that it is asked for */
export function setting<Name extends Setting>(name: Name, uri?: vscode.Uri): (typeof SETTINGS)[Name] {
  return vscode.workspace.getConfiguration(SECTION, uri).get(name, SETTINGS[name]);
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

/** Whether the setting takes a file for a dataset or not: the last of its globs that matches decides; undefined without one. */
export function datasetFileSetting(uri: vscode.Uri): boolean | undefined {
  const globs = Object.entries(setting('datasetFiles', uri));
  const folder = globs.length === 0 ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  // Only these two of a document are compared.
  const document = { uri, languageId: 'jsonl' } as vscode.TextDocument;
  return globs.findLast(([glob]) => {
    const pattern = folder === undefined ? glob : new vscode.RelativePattern(folder, glob);
    return vscode.languages.match({ pattern }, document) > 0;
  })?.[1];
}

/** Of which runs the user is notified: of every new status, of their ends, or of none but by the badge. */
export function notificationsSetting(): 'all' | 'finished' | 'badge' {
  const value = setting('notifications');
  return value === 'all' || value === 'badge' ? value : 'finished';
}

/** What happens when a run's adapter can be downloaded. */
export function downloadWhenCompleteSetting(): 'off' | 'ask' | 'always' {
  const value = setting('downloadWhenComplete');
  return value === 'off' || value === 'always' ? value : 'ask';
}

/** The folder that adapters of completed runs are downloaded into without a question; undefined where the user wants to be asked. */
export function autoDownloadFolder(): string | undefined {
  if (downloadWhenCompleteSetting() !== 'always') return undefined;
  const directory = directoryOf(setting('downloadDirectory'), homedir());
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
