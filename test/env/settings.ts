import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Settings without distractions: no welcome page, AI panels, prompts, background requests, or automatic saving. */
export const quietSettings: Readonly<Record<string, unknown>> = {
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.enableExperiments': false,
  'files.autoSave': 'off',
  // Would select an editor's file some time after it was opened.
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

/** For tests also without what only costs time to draw. */
export const testSettings: Readonly<Record<string, unknown>> = {
  ...quietSettings,
  'workbench.reduceMotion': 'on',
  'workbench.layoutControl.enabled': false,
  'window.commandCenter': false,
  'breadcrumbs.enabled': false,
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
  'editor.cursorBlinking': 'solid',
  'editor.occurrencesHighlight': 'off',
  'editor.selectionHighlight': false,
  'editor.bracketPairColorization.enabled': false,
  'editor.semanticHighlighting.enabled': false,
};

/** Writes the user settings, which VS Code reads at its start; `userFolder` is the `User` folder of a user-data directory. */
export async function writeSettings(
  userFolder: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  await mkdir(userFolder, { recursive: true });
  await writeFile(path.join(userFolder, 'settings.json'), JSON.stringify(settings, null, 2));
}

/** A key binding of the user. */
export interface KeyBinding {
  key: string;
  command: string;
  args?: unknown;
}

/** Writes the user's key bindings; `userFolder` as above. */
export async function writeKeys(userFolder: string, bindings: readonly KeyBinding[]): Promise<void> {
  await mkdir(userFolder, { recursive: true });
  await writeFile(path.join(userFolder, 'keybindings.json'), JSON.stringify(bindings, null, 2));
}
