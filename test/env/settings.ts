import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A VS Code without noise: no welcome page, AI panels, prompts or calls home; nothing is saved by itself. */
export const quietSettings: Readonly<Record<string, unknown>> = {
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.enableExperiments': false,
  'files.autoSave': 'off',
  // It moves the selection to the file of an editor some time after that has opened.
  'explorer.autoReveal': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'git.enabled': false,
  'remote.autoForwardPorts': false,
  'security.workspace.trust.enabled': false,
  'window.titleBarStyle': 'custom',
  'window.dialogStyle': 'custom',
};

/** Writes the person's settings; `userFolder` is the `User` folder of a user-data directory. VS Code reads it at its start. */
export async function writeSettings(
  userFolder: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  await mkdir(userFolder, { recursive: true });
  await writeFile(path.join(userFolder, 'settings.json'), JSON.stringify(settings, null, 2));
}

/** Writes the person's own keys, by the commands that they run; `userFolder` as above. */
export async function writeKeys(userFolder: string, keys: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(userFolder, { recursive: true });
  const bindings = Object.entries(keys).map(([command, key]) => ({ key, command }));
  await writeFile(path.join(userFolder, 'keybindings.json'), JSON.stringify(bindings, null, 2));
}
