import type { Locator, Page } from 'playwright-core';
import { AGAIN_MS, comes, LIMIT_MS, succeeds, until } from './waits.ts';

/** The modal dialogs and notifications. */
export class Dialogs {
  readonly #page: Page;
  /** The visible modal dialog. */
  readonly modal: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.modal = page.locator('.monaco-dialog-box');
  }

  /** Waits for a modal dialog with this message and returns its detail. */
  async waitForModal(message: string | RegExp): Promise<string> {
    await this.modal.locator('.dialog-message-text').filter({ hasText: message }).waitFor();
    const detail = this.modal.locator('.dialog-message-detail');
    return (await detail.count()) > 0 ? detail.innerText() : '';
  }

  modalButtons(): Promise<string[]> {
    return this.modal.locator('.dialog-buttons .monaco-button').allTextContents();
  }

  /** Presses a button of the modal dialog and waits until the dialog is gone or replaced. */
  async press(button: string): Promise<void> {
    const dialog = await this.modal.elementHandle();
    await this.modal.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitForElementState('hidden').catch(() => undefined);
  }

  toast(text: string | RegExp): Locator {
    return this.#page.locator('.notifications-toasts .notification-list-item').filter({ hasText: text });
  }

  /** Waits for a toast and returns its complete message. */
  async waitForToast(text: string | RegExp): Promise<string> {
    const toasts = this.toast(text).filter({ visible: true });
    let message: string | undefined;
    // Read at once, since a toast may be hidden a moment later.
    await until(`a toast says ${text}`, async () => {
      [message] = await toasts.locator('.notification-list-item-message').allTextContents();
      return message !== undefined;
    });
    return message ?? '';
  }

  /** Waits for a notification. VS Code shows at most three as toasts; a further one is only in the list. */
  async waitForNotification(text: RegExp): Promise<void> {
    const isIn = (messages: readonly string[]) => messages.some((message) => text.test(message));
    const listed = () => this.notifications(AGAIN_MS).catch(() => []);
    await until(
      `a notification says ${text}`,
      async () => isIn(await this.toastTexts()) || isIn(await listed()),
    );
  }

  /** The messages of visible toasts. */
  toastTexts(): Promise<string[]> {
    return this.#page
      .locator('.notifications-toasts .notification-list-item .notification-list-item-message')
      .allTextContents();
  }

  /** The messages of all notifications that were not cleared, newest first. */
  async notifications(timeout = LIMIT_MS): Promise<string[]> {
    const bell = this.#page.locator('[id="status.notifications"] a');
    const center = this.#page.locator('.notifications-center');
    const messages = center.locator('.notification-list-item-message');
    // The bell opens and closes.
    if (!(await center.isVisible())) await bell.click({ timeout });
    try {
      await messages.first().waitFor({ timeout });
      return await messages.allTextContents();
    } finally {
      // While the list is open, VS Code shows no toasts.
      if (await center.isVisible()) await bell.click({ timeout });
    }
  }

  async pressInToast(text: string | RegExp, button: string): Promise<void> {
    // A toast shows its buttons only while hovered or focused.
    const toast = this.toast(text).first();
    await toast.hover();
    await toast.getByRole('button', { name: button, exact: true }).click();
  }
}

/** Opens a context menu and clicks an item. @param open right-clicks; returns whether the menu can be that of the intended element */
export async function chooseInContextMenu(
  page: Page,
  item: string,
  open: () => Promise<boolean>,
): Promise<void> {
  const menu = page.locator('.monaco-menu-container');
  const choice = menu.getByRole('menuitem', { name: item, exact: true });
  // The menu closes if the window moves the focus elsewhere, and lacks items that were not known when it opened.
  await until(`the context menu takes "${item}"`, async () => {
    if ((await open()) && (await isTaken(choice))) return true;
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    return false;
  });
  await menu.waitFor({ state: 'hidden' });
}

/**
 * Points at an item of a menu and presses Enter. A click would be unsafe: for 100 ms a menu ignores clicks,
 * so that the click that opened it chooses no item.
 * @returns whether the menu was still there
 */
export async function isTaken(choice: Locator): Promise<boolean> {
  if (!(await comes(choice))) return false;
  return (
    (await succeeds((limit) => choice.hover(limit))) && succeeds((limit) => choice.press('Enter', limit))
  );
}
