import assert from 'node:assert/strict';
import type { FrameLocator, Locator } from 'playwright-core';
import { assertAccessible } from './accessible.ts';
import type { Workbench } from './workbench.ts';

/** The adapter page in the active editor. */
export class AdapterPage {
  readonly #workbench: Workbench;
  readonly frame: FrameLocator;

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
    this.frame = workbench.webview('panel');
  }

  /** Opens the page of a file from the explorer. */
  async open(fileName: string): Promise<void> {
    const explorer = await this.#workbench.sideBar.explorer();
    await explorer.chooseInContextMenu(fileName, 'Inspect Adapter');
    await this.tab(fileName).and(this.#workbench.page.locator('.active')).waitFor();
  }

  tab(fileName: string): Locator {
    return this.#workbench.page.locator(`.tab[aria-label^="Adapter ${fileName}"]`);
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  async waitForVerdict(title: string | RegExp): Promise<void> {
    await this.frame.locator('.verdict .title').filter({ hasText: title }).waitFor();
  }

  /** The value beside a fact's name. */
  async fact(name: string): Promise<string> {
    const term = this.frame.locator('dt').filter({ hasText: new RegExp(`^${name}$`) });
    return (await term.locator('xpath=following-sibling::dd[1]').first().innerText()).trim();
  }

  get grid(): Locator {
    return this.frame.getByRole('grid');
  }

  get cells(): Locator {
    return this.grid.locator('td[aria-label]');
  }

  recipe(tool: string): Locator {
    return this.frame.getByRole('tab', { name: tool, exact: true });
  }

  get recipePanel(): Locator {
    return this.frame.getByRole('tabpanel');
  }

  /** Shows the code that is folded, of the chosen tool. */
  async unfold(): Promise<void> {
    const folded = this.recipePanel.locator('details:not([open]) > summary');
    while ((await folded.count()) > 0) await folded.first().press('Enter');
  }

  focused(): Locator {
    return this.frame.locator(':focus');
  }

  /** Fails if something is wider than the page. */
  async assertFits(): Promise<void> {
    const over = await this.frame.locator('html').evaluate((root) => {
      const { scrollWidth, clientWidth } = root as unknown as { scrollWidth: number; clientWidth: number };
      return scrollWidth - clientWidth;
    });
    assert.equal(over, 0, 'the page scrolls sideways');
  }

  /** Fails on any accessibility violation in the page. */
  assertAccessible(): Promise<void> {
    return assertAccessible(this.frame);
  }
}
