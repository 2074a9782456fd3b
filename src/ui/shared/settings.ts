import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { ProxySettings } from '../../core/api/transport.ts';
import { directoryOf } from '../../core/downloads/localFiles.ts';
import { SETTINGS } from './ids.ts';

type Setting = keyof typeof SETTINGS;

const SECTION = 'fineTuning';

/** Returns a setting as the user wrote it; `uri` is the file that it applies to. */
export function setting<Name extends Setting>(name: Name, uri?: vscode.Uri): (typeof SETTINGS)[Name] {
  return vscode.workspace.getConfiguration(SECTION, uri).get(name, SETTINGS[name]);
}

/** Calls the listener when one of these settings changes. `http`: VS Code's HTTP settings. */
export function onDidChangeSettings(
  settings: readonly (Setting | 'http')[],
  listener: () => void,
): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    const names = settings.map((name) => (name === 'http' ? name : `${SECTION}.${name}`));
    if (names.some((name) => event.affectsConfiguration(name))) listener();
  });
}

/** Returns what to do when a run's adapter becomes available. */
export function downloadWhenCompleteSetting(): 'off' | 'ask' | 'always' {
  const value = setting('downloadWhenComplete');
  return value === 'off' || value === 'always' ? value : 'ask';
}

/** Returns the folder for automatic downloads; undefined if they are off or the folder is unusable. */
export function autoDownloadFolder(): string | undefined {
  if (downloadWhenCompleteSetting() !== 'always') return undefined;
  const directory = directoryOf(setting('downloadDirectory'), homedir());
  return directory.kind === 'there' ? directory.path : undefined;
}

/** Returns VS Code's proxy and certificate settings. */
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
