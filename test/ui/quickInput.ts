import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { pressUntil } from './keys.ts';
import { actUntil, comes, startUntil, succeeds, until } from './waits.ts';

/** After so many looks without a change, a dialog is at rest. */
const LOOKS_AT_REST = 6;

/** The box at the top of the window: command palette, quick picks, input boxes, file and folder dialogs. */
export class QuickInput {
  readonly #page: Page;
  readonly #widget: Locator;
  readonly #input: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#widget = page.locator('.quick-input-widget');
    this.#input = this.#widget.locator('input.input');
  }

  /** Runs a command from the palette by its full title. */
  async runCommand(title: string): Promise<void> {
    await this.pickByKey('F1', `>${title}`, title);
  }

  /** Opens a file by its absolute path, as "Go to File…" does. */
  async goToFile(file: string): Promise<void> {
    await this.pickByKey('Control+P', file, path.basename(file));
  }

  /** Opens the box with a key, types, and picks the item with this label once it appears. */
  async pickByKey(key: string, text: string, label: string): Promise<void> {
    // An open palette doesn't show commands that are registered later, as in a new window. A change of the
    // window's focus loses a key, and closes the box. So each try opens it again.
    await until(`the box of ${key} has "${label}"`, async () => {
      await this.close();
      await this.#page.keyboard.press(key);
      if (!(await comes(this.#input))) return false;
      if (!(await succeeds((limit) => this.#input.fill(text, limit)))) return false;
      return comes(this.item(label).first());
    });
    await this.pick(label);
  }

  /** Opens the box of a command by its key binding. */
  async openByKey(key: string, title: string | RegExp): Promise<void> {
    await this.close();
    await startUntil(() => this.#page.keyboard.press(key), this.titled(title));
  }

  /** Waits until the box has this title, because one step often replaces another. */
  async waitForTitle(title: string | RegExp): Promise<void> {
    await this.titled(title).waitFor();
  }

  titled(title: string | RegExp): Locator {
    return this.#widget.locator('.quick-input-title').filter({ hasText: exact(title) });
  }

  async title(): Promise<string> {
    return (await this.#widget.locator('.quick-input-title').textContent()) ?? '';
  }

  /** Clicks the item with exactly this label, which must be visible: in a long list, type first. Toggles it in a multi-select list. */
  async pick(label: string | RegExp): Promise<void> {
    await this.#click(label, {});
  }

  async #click(label: string | RegExp, limit: { timeout?: number }): Promise<void> {
    // The hover of a row that appeared under the resting pointer would cover the next one.
    await this.#page.mouse.move(0, 0);
    await this.item(label).first().click(limit);
  }

  /** Clicks an item until `shown` is visible, because an answered box stays until the next one appears. */
  async pickUntil(label: string, shown: Locator): Promise<void> {
    await actUntil(() => succeeds((limit) => this.#click(label, limit)), shown);
  }

  /** The row with exactly this label, or one that matches a pattern. */
  item(label: string | RegExp): Locator {
    const name = this.#page
      .locator('.quick-input-list-row:first-child .label-name')
      .filter({ hasText: exact(label) });
    return this.#widget.locator('.monaco-list-row').filter({ has: name });
  }

  /** The row that Enter takes; none if there is no such row. */
  get activeItem(): Locator {
    return this.#widget.locator('.monaco-list-row.focused');
  }

  async labels(): Promise<string[]> {
    await this.#widget.locator('.monaco-list-row').first().waitFor();
    return this.#widget
      .locator('.monaco-list-row .quick-input-list-row:first-child .label-name')
      .allTextContents();
  }

  /** Replaces the box's text. */
  async type(text: string): Promise<void> {
    await this.#input.fill(text);
  }

  /** Replaces the box's text and accepts. */
  async fill(text: string): Promise<void> {
    await this.#input.fill(text);
    await this.accept();
  }

  async accept(): Promise<void> {
    await this.#input.press('Enter');
  }

  value(): Promise<string> {
    return this.#input.inputValue();
  }

  async hidesInput(): Promise<boolean> {
    return (await this.#input.getAttribute('type')) === 'password';
  }

  /** Waits for the message below the box: a prompt or a validation message. */
  async waitForMessage(text: string | RegExp): Promise<void> {
    await this.#widget.locator('.quick-input-message').filter({ hasText: text }).waitFor();
  }

  /** Presses a button by its tooltip, such as "Back". */
  async press(button: string): Promise<void> {
    await this.#widget.getByRole('button', { name: button }).click();
  }

  /** Answers an open or save dialog with an absolute path. */
  async choosePath(file: string): Promise<void> {
    // When the dialog has read its initial folder, it inserts that folder's path into the text.
    const own = await this.#settled((value) => path.isAbsolute(value));
    const title = await this.title();
    if (own !== file) await this.#input.fill(file);
    await until(`the dialog "${title}" takes ${file}`, async () => {
      const value = await this.#settled(() => true);
      if (value === file) return this.#acceptCloses(title, file);
      await this.#input.fill(file);
      if ((await this.title()) === title) return false;
      // The dialog was replaced before the text came, which the next box would take for what is searched.
      await this.#input.fill('');
      return true;
    });
  }

  /** Returns the box's text once it fits and has come to rest: VS Code does not show that a dialog still reads a folder. */
  async #settled(fits: (value: string) => boolean): Promise<string> {
    let text: string | undefined;
    let looks = 0;
    await until('the box comes to rest', async () => {
      const value = await this.value();
      looks = value === text ? looks + 1 : 0;
      text = value;
      return looks === LOOKS_AT_REST && fits(value);
    });
    return text ?? '';
  }

  /** Presses Enter. @returns whether the box with this title then closes for good or is replaced */
  async #acceptCloses(title: string, value: string): Promise<boolean> {
    // If the box has closed meanwhile, Enter would go to the editor.
    const isHere = async () => (await this.isOpen()) && (await this.title()) === title;
    if (await isHere()) await this.accept();
    // If the dialog has not validated the path yet, Enter only starts that, and the box stays or comes back.
    let looks = 0;
    let gone = 0;
    await until('the box is gone or at rest', async () => {
      looks += 1;
      gone = (await isHere()) ? 0 : gone + 1;
      return (
        gone === LOOKS_AT_REST ||
        (gone === 0 && (looks > 3 * LOOKS_AT_REST || (await this.value()) !== value))
      );
    });
    return gone > 0;
  }

  async isOpen(): Promise<boolean> {
    return this.#widget.isVisible();
  }

  /** Waits until the box is closed or has another title. */
  async waitUntilOther(title: string): Promise<void> {
    await until(
      `the box "${title}" is gone`,
      async () => !(await this.isOpen()) || (await this.title()) !== title,
    );
  }

  async waitUntilClosed(): Promise<void> {
    await this.#widget.waitFor({ state: 'hidden' });
  }

  /** Closes an open box with Escape. */
  async close(): Promise<void> {
    if (await this.isOpen()) await pressUntil(this.#page, 'Escape', this.#widget, 'hidden');
  }
}

function exact(text: string | RegExp): RegExp {
  return text instanceof RegExp
    ? text
    : new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`);
}
