import type { FrameLocator, Locator } from 'playwright-core';
import type { Workbench } from './workbench.ts';

/** The adapter page in the active editor, or alone in a browser. */
export class AdapterPage {
  readonly frame: FrameLocator;

  constructor(shown: Pick<Workbench, 'webview'>) {
    this.frame = shown.webview('panel');
  }

  /** Opens the page of a file from the explorer. */
  static async open(workbench: Workbench, fileName: string): Promise<AdapterPage> {
    const explorer = await workbench.sideBar.explorer();
    await explorer.chooseInContextMenu(fileName, 'Inspect Adapter');
    await AdapterPage.tab(workbench, fileName).and(workbench.page.locator('.active')).waitFor();
    return new AdapterPage(workbench);
  }

  static tab({ page }: Workbench, fileName: string): Locator {
    return page.locator(`.tab[aria-label^="Adapter ${fileName}"]`);
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
}
