import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { chooseInContextMenu } from './dialogs.ts';
import { KEYS, pressUntil } from './keys.ts';
import type { QuickInput } from './quickInput.ts';
import { actUntil, startUntil, succeeds } from './waits.ts';

/** The editors, their tabs, and the buttons beside the tabs. */
export class Editors {
  readonly #page: Page;
  readonly #quickInput: QuickInput;

  constructor(page: Page, quickInput: QuickInput) {
    this.#page = page;
    this.#quickInput = quickInput;
  }

  /** Opens a file by its absolute path, in its last editor. */
  async open(file: string): Promise<void> {
    // Until then, the buttons beside the tabs belong to the previous editor.
    const tab = this.activeTab(path.basename(file));
    // A pick is lost if a page takes the focus back at that moment.
    await actUntil(() => this.#quickInput.goToFile(file), tab);
  }

  /** Opens a file by its absolute path as text, even if its last editor was another one. */
  async openAsText(file: string): Promise<void> {
    await this.#quickInput.runCommand('File: Open File...');
    await this.#quickInput.waitForTitle(/Open File/);
    await this.#quickInput.choosePath(file);
    await this.activeTab(path.basename(file)).waitFor();
  }

  tab(fileName: string): Locator {
    return this.#page.locator(`.tab[data-resource-name="${fileName}"]`);
  }

  activeTab(fileName: string): Locator {
    return this.tab(fileName).and(this.#page.locator('.active'));
  }

  async isDirty(fileName: string): Promise<boolean> {
    return this.tab(fileName).and(this.#page.locator('.dirty')).isVisible();
  }

  /** Types at the start of the active text editor. */
  async typeAtStart(text: string): Promise<void> {
    await this.#page.locator('.editor-group-container.active .view-lines').click();
    await this.#page.keyboard.press('Control+Home');
    await this.#page.keyboard.insertText(text);
    await this.#page.locator('.editor-group-container.active .tab.active.dirty').waitFor();
  }

  async chooseInTabMenu(fileName: string, item: string): Promise<void> {
    await chooseInContextMenu(this.#page, item, () =>
      succeeds((limit) => this.tab(fileName).click({ button: 'right', ...limit })),
    );
  }

  /** A button to the right of the tabs. */
  titleAction(title: string): Locator {
    return this.#page
      .locator('.editor-group-container.active .editor-actions')
      .getByRole('button', { name: title });
  }

  /** Presses a button to the right of the tabs, which are redrawn after a change of the active editor: that loses a click. */
  async pressTitleAction(title: string, shown: Locator): Promise<void> {
    await startUntil(() => this.titleAction(title).click(), shown);
  }

  /** Waits until a visible line of the active text editor is this text. */
  async waitForLine(text: string): Promise<void> {
    const lines = this.#page.locator('.editor-group-container.active .view-line');
    await lines.getByText(text, { exact: true }).first().waitFor();
  }

  /** Closes every editor without saving. */
  async closeAll(): Promise<void> {
    await this.#quickInput.close();
    const discard = this.#page
      .locator('.monaco-dialog-box')
      .getByRole('button', { name: "Don't Save", exact: true });
    const empty = this.#page.locator('.part.editor .editor-group-container.empty');
    const command = 'workbench.action.closeAllEditors';
    await pressUntil(this.#page, KEYS[command], discard.or(empty).first(), 'visible');
    if (await discard.isVisible()) await discard.click();
    await empty.waitFor();
  }
}
