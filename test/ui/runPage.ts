import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameLocator, Locator } from 'playwright-core';
import { assertAccessible } from './accessible.ts';
import type { Workbench } from './workbench.ts';

/** The page of a run in the active editor. */
export class RunPage {
  readonly #workbench: Workbench;
  readonly frame: FrameLocator;

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
    this.frame = workbench.webview('panel');
  }

  /** Opens the page of a run by its row. */
  async open(row: RegExp): Promise<void> {
    await this.#workbench.sideBar.view('Runs').row(row).click();
    await this.heading.waitFor();
    await this.#waitForFocus();
  }

  /** A page that comes to the front late takes the focus from what comes next; one that has it already is not waited for long. */
  async #waitForFocus(): Promise<void> {
    for (let look = 0; look < 20; look++) {
      // Where another run takes the page, its frame goes.
      const asked = this.frame.locator('html').evaluate('document.hasFocus()');
      const hasFocus: unknown = await asked.catch(() => false);
      if (hasFocus === true) return;
      await sleep(100);
    }
  }

  /** Follows a link, as one that was clicked somewhere else. */
  async follow(link: string): Promise<void> {
    const { quickInput, dialogs } = this.#workbench;
    await this.#workbench.runCommand('Developer: Open URL');
    await quickInput.fill(link);
    // VS Code asks before it hands a link to an extension.
    await dialogs.waitForModal(/Allow .* extension to open this URI\?/);
    await dialogs.press('Open');
  }

  get tabs(): Locator {
    return this.#workbench.page.locator('.tabs-container .tab').filter({ hasText: /^\s*Run: / });
  }

  get heading(): Locator {
    return this.frame.getByRole('heading', { level: 1 });
  }

  get status(): Locator {
    return this.frame.locator('header .status');
  }

  /** A section by its title. */
  section(title: string): Locator {
    return this.frame.getByRole('region', { name: title });
  }

  /** An event of the timeline by its name. */
  event(name: string): Locator {
    return this.section('Timeline')
      .getByRole('listitem')
      .filter({ has: this.frame.getByText(name, { exact: true }) });
  }

  /** What stands beside a fact's name. */
  fact(name: string): Locator {
    return this.frame
      .locator('dt')
      .filter({ hasText: new RegExp(`^${name}$`) })
      .locator('xpath=following-sibling::dd[1]');
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  notice(text: string | RegExp): Locator {
    return this.frame.locator('.notice').filter({ hasText: text });
  }

  /** Everything that can be read on it. */
  text(): Promise<string> {
    return this.frame.locator('main').innerText();
  }

  async assertAccessible(): Promise<void> {
    await assertAccessible(this.frame);
  }

  /** The names of the buttons in the order in which Tab reaches them, from the top of the page. */
  async tabOrder(): Promise<string[]> {
    const { keyboard } = this.#workbench.page;
    const first = this.frame.getByRole('button').first();
    await first.focus();
    const names: string[] = [];
    for (let presses = 0; presses < 40; presses++) {
      const focused = this.frame.locator('button:focus');
      if ((await focused.count()) === 0) break;
      const name = (await focused.getAttribute('aria-label')) ?? (await focused.innerText());
      if (presses > 0 && name === names[0]) break;
      names.push(name);
      await keyboard.press('Tab');
    }
    assert.ok(names.length > 0);
    return names;
  }
}
