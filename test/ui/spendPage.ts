import type { FrameLocator, Locator } from 'playwright-core';
import type { Workbench } from './workbench.ts';

/** The spending page in the active editor, or alone in a browser. */
export class SpendPage {
  readonly frame: FrameLocator;

  constructor(shown: Pick<Workbench, 'webview'>) {
    this.frame = shown.webview('panel');
  }

  static async open(workbench: Workbench): Promise<SpendPage> {
    await workbench.runCommand('Fine-Tuning: Show Spending and Prices');
    const page = new SpendPage(workbench);
    await page.frame.getByRole('heading', { level: 1, name: /^Spending: / }).waitFor();
    return page;
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  /** The value below a fact's name. */
  fact(name: string | RegExp): Locator {
    return this.frame.locator('dt').filter({ hasText: name }).locator('xpath=following-sibling::dd[1]');
  }

  async waitForFact(name: string | RegExp, value: string | RegExp): Promise<void> {
    await this.fact(name).filter({ hasText: value }).waitFor();
  }

  /** The cells of each row of a section's table, as ordered on the page. */
  async rows(section: 'groups' | 'runs'): Promise<string[][]> {
    const rows = await this.frame.locator(`section.${section} tbody tr`).all();
    return Promise.all(
      rows.map(async (row) => (await row.locator('th, td').allInnerTexts()).map((text) => text.trim())),
    );
  }

  run(text: string): Locator {
    return this.frame.locator('section.runs tbody tr').filter({ hasText: text });
  }

  get search(): Locator {
    return this.frame.getByRole('searchbox');
  }
}
