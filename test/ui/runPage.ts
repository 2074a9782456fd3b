import assert from 'node:assert/strict';
import type { FrameLocator, Locator } from 'playwright-core';
import { assertAccessible } from './accessible.ts';
import { until } from './waits.ts';
import type { PageHost, Workbench } from './workbench.ts';

/** The run page, in the active editor or in plain Chromium. */
export class RunPage<Host extends PageHost = Workbench> {
  readonly #host: Host;
  readonly frame: FrameLocator;

  constructor(host: Host) {
    this.#host = host;
    this.frame = host.webview('panel');
  }

  /** Opens the page of a run from its row, which reads on with `rest`; before, that of another run may be shown. */
  async open(this: RunPage, label: string, rest = ''): Promise<void> {
    const heading = this.heading.filter({ hasText: new RegExp(`^${label}$`) });
    await this.#host.sideBar.view('Runs').clickUntil(new RegExp(`^Run ${label}, ${rest}`), heading);
    await this.#waitForFocus();
  }

  /** Waits for the page to get the focus, because a late page takes it from the next step. */
  async #waitForFocus(): Promise<void> {
    await until('the page has the focus', async () => {
      // If another run replaces the page, its frame is removed.
      const asked = this.frame.locator('html').evaluate('document.hasFocus()');
      return (await asked.catch(() => false)) === true;
    });
  }

  /** Opens a link as if it was clicked in another program. */
  async follow(this: RunPage, link: string): Promise<void> {
    const { quickInput, dialogs } = this.#host;
    await this.#host.runCommand('Developer: Open URL');
    await quickInput.fill(link);
    // VS Code asks before it passes a link to an extension.
    await dialogs.waitForModal(/Allow .* extension to open this URI\?/);
    await dialogs.press('Open');
  }

  get tabs(): Locator {
    return this.#host.page.locator('.tabs-container .tab').filter({ hasText: /^\s*Run: / });
  }

  get heading(): Locator {
    return this.frame.getByRole('heading', { level: 1 });
  }

  get status(): Locator {
    return this.frame.locator('header .status');
  }

  section(title: string): Locator {
    return this.frame.getByRole('region', { name: title });
  }

  event(name: string): Locator {
    return this.section('Timeline')
      .getByRole('listitem')
      .filter({ has: this.frame.getByText(name, { exact: true }) });
  }

  /** The value beside a fact's name. */
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

  /** All visible text of the page. */
  text(): Promise<string> {
    return this.frame.locator('main').innerText();
  }

  async assertAccessible(): Promise<void> {
    await assertAccessible(this.frame);
  }

  /** The names of the buttons in Tab order, from the top of the page. */
  async tabOrder(): Promise<string[]> {
    const { keyboard } = this.#host.page;
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
