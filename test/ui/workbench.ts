import path from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { Dialogs } from './dialogs.ts';
import { Editors } from './editors.ts';
import { KEYS, pressUntil } from './keys.ts';
import { QuickInput } from './quickInput.ts';
import { SideBar } from './sideBar.ts';
import { actUntil, until } from './waits.ts';

/** The folder for screenshots; undefined for none, because they take a tenth of the time. */
const screenshotFolder = process.env.FINE_TUNING_SCREENSHOTS;

/** Matches the page of a view, not of an editor. */
const IN_VIEW = '[src*="purpose=webviewView"]';

const themes = { dark: 'Dark Modern', light: 'Light Modern', 'high contrast': 'Dark High Contrast' } as const;

/** Where a page object finds its page: a VS Code window, or plain Chromium. */
export interface PageHost {
  readonly page: Page;
  /** The content of the page in the active editor. */
  webview(kind: 'panel'): FrameLocator;
}

/** A VS Code window and the user's actions in it. Each action waits until it is possible, and fails after a minute. */
export class Workbench implements PageHost {
  readonly page: Page;
  readonly quickInput: QuickInput;
  readonly dialogs: Dialogs;
  readonly sideBar: SideBar;
  readonly editors: Editors;

  constructor(page: Page) {
    this.page = page;
    this.quickInput = new QuickInput(page);
    this.dialogs = new Dialogs(page);
    this.sideBar = new SideBar(page);
    this.editors = new Editors(page, this.quickInput);
  }

  /** Opens a URL of the server and waits until the window has started its extensions. */
  async goto(url: string): Promise<void> {
    await this.page.goto(url);
    await this.#ready();
  }

  /** Runs "Reload Window", because reloading the browser's page may lose open editors. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent('load');
    await Promise.all([loaded, this.runCommand('Developer: Reload Window')]);
    await this.#ready();
  }

  async close(): Promise<void> {
    await this.page.close();
  }

  /** Runs a command from the palette by its full title, such as "Fine-Tuning: Sign In". */
  async runCommand(title: string): Promise<void> {
    await this.quickInput.runCommand(title);
  }

  async clearNotifications(): Promise<void> {
    await this.quickInput.close();
    const toast = this.page.locator('.notifications-toasts .notification-list-item').first();
    await pressUntil(this.page, KEYS['notifications.clearAll'], toast, 'hidden');
  }

  /** Describes the visible boxes, menus, dialogs, tabs, focus, and notifications, for the log of a failed test. */
  async describeScreen(): Promise<string[]> {
    const parts = {
      box: '.quick-input-widget',
      menu: '.monaco-menu-container',
      dialog: '.monaco-dialog-box',
      notification: '.notifications-toasts .notification-list-item',
      tab: '.tab.active',
      selected: '[role=treeitem][aria-selected=true]',
      focus: '*:focus',
    };
    const words: string[] = [];
    for (const [name, selector] of Object.entries(parts)) {
      for (const part of await this.page.locator(selector).filter({ visible: true }).all()) {
        const text = await part.innerText({ timeout: 1_000 }).catch(() => 'gone');
        words.push(`${name}: ${text.replace(/\s+/g, ' ').slice(0, 300)}`);
      }
    }
    // VS Code shows only three toasts within 800 ms; the others are in its notification center alone.
    const kept = await this.dialogs.notifications(1_000).catch(() => []);
    return [...words, ...kept.map((message) => `in the notification center: ${message.slice(0, 300)}`)];
  }

  /** An item of the status bar by its ID, such as "balance". */
  statusItem(id: string): Locator {
    return this.page.locator(`[id="fine-tuning-tools.fine-tuning.${id}"] a`);
  }

  /** Opens the language status, and waits until it has a part with a text. @returns the part */
  async languageStatus(text: string): Promise<Locator> {
    const part = this.page.locator('.hover-language-status').filter({ hasText: text });
    // A pointer that is there already, or a change of the focus, shows nothing.
    await actUntil(async () => {
      await this.page.mouse.move(0, 0);
      await this.page.locator('[id="status.languageStatus"] a').hover();
    }, part);
    return part;
  }

  /** The content of the webview of the active editor (`panel`) or of a view. */
  webview(kind: 'panel' | 'view'): FrameLocator {
    return this.page
      .frameLocator(`iframe.webview${kind === 'view' ? IN_VIEW : `:not(${IN_VIEW})`}`)
      .frameLocator('iframe#active-frame');
  }

  /** Resizes the window, and waits until it and the page in its editor are laid out. */
  async resize(width: number, height: number): Promise<void> {
    await this.page.setViewportSize({ width, height });
    const widthOf = async (one: Locator) => Math.round((await one.boundingBox())?.width ?? 0);
    const panel = this.page.locator(`iframe.webview:not(${IN_VIEW})`).filter({ visible: true });
    const editor = this.page.locator('.editor-group-container.active .editor-container');
    await until('the window is laid out', async () => {
      if ((await widthOf(this.page.locator('.monaco-workbench'))) !== width) return false;
      if ((await panel.count()) === 0) return true;
      const inner: unknown = await this.webview('panel').locator('html').evaluate('innerWidth');
      const [outer, room] = [await widthOf(panel.first()), await widthOf(editor)];
      return inner === outer && outer === room;
    });
  }

  async setTheme(theme: keyof typeof themes): Promise<void> {
    await this.quickInput.pickByKey(KEYS['workbench.action.selectTheme'], themes[theme], themes[theme]);
    const className = { dark: 'vs-dark', light: 'vs', 'high contrast': 'hc-black' }[theme];
    await this.page.locator(`.monaco-workbench.${className}`).waitFor();
  }

  clipboard(): Promise<string> {
    return this.page.evaluate<string>('navigator.clipboard.readText()');
  }

  /** Saves a screenshot of the window as `<name>.png` if enabled. */
  async screenshot(name: string, folder = screenshotFolder): Promise<void> {
    if (folder === undefined) return;
    // Avoid differences by the blinking caret or a hover under the pointer.
    const { width = 0, height = 0 } = this.page.viewportSize() ?? {};
    await this.page.mouse.move(width / 2, height - 1);
    await this.page.screenshot({
      path: path.join(folder, `${name}.png`),
      caret: 'hide',
      animations: 'disabled',
    });
  }

  /** Shows something, and saves a screenshot of it in each theme if enabled. */
  async screenshotInThemes(
    name: string,
    show: () => Promise<unknown>,
    hide?: () => Promise<unknown>,
  ): Promise<void> {
    for (const theme of screenshotFolder === undefined
      ? []
      : (Object.keys(themes) as (keyof typeof themes)[])) {
      await this.setTheme(theme);
      await show();
      await this.screenshot(`${name}-${theme.replace(' ', '-')}`);
      await hide?.();
    }
    if (screenshotFolder !== undefined) await this.setTheme('dark');
    await show();
    await hide?.();
  }

  async #ready(): Promise<void> {
    await this.page.locator('.monaco-workbench .statusbar').waitFor();
    await this.sideBar.tab('Fine-Tuning').waitFor();
  }
}
