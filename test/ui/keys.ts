import type { Locator, Page } from 'playwright-core';
import type { KeyBinding } from '../env/settings.ts';
import { actUntil } from './waits.ts';

/** Key bindings for frequent commands, which are faster than the palette with its 3,000 commands. */
export const KEYS = {
  'notifications.clearAll': 'Shift+F9',
  'workbench.action.closeAllEditors': 'Shift+F8',
  'workbench.action.selectTheme': 'Shift+F7',
  'fineTuning.sandbox': 'Shift+F6',
  'fineTuning.signIn': 'Shift+F4',
  'fineTuning.submitDataset': 'Shift+F3',
} as const;

/** Every key binding of the tests. A menu would show that of a command itself, as a part of the item's name. */
export const BINDINGS: readonly KeyBinding[] = Object.entries(KEYS).map(([command, key]) => ({
  key,
  command: 'runCommands',
  args: { commands: [command] },
}));

/** Presses a key until an element appears or disappears, because a key is lost while the window changes its focus. */
export async function pressUntil(
  page: Page,
  key: string,
  on: Locator,
  state: 'visible' | 'hidden',
): Promise<void> {
  await actUntil(() => page.keyboard.press(key), on, state);
}
