import type { FrameLocator, Locator } from 'playwright-core';
import { assertAccessible } from './accessible.ts';
import { until, untilEqual } from './waits.ts';
import type { PageHost, Workbench } from './workbench.ts';

/** The dataset preview, in the active editor or in plain Chromium. */
export class Preview<Host extends PageHost = Workbench> {
  readonly #host: Host;
  readonly frame: FrameLocator;

  constructor(host: Host) {
    this.#host = host;
    this.frame = host.webview('panel');
  }

  /** Opens the preview of a file from the explorer. */
  async open(this: Preview, fileName: string): Promise<void> {
    const explorer = await this.#host.sideBar.explorer();
    await explorer.chooseInContextMenu(fileName, 'Preview Dataset');
    await this.#host.editors.activeTab(fileName).waitFor();
  }

  /** The row with this number, if it is in the page. */
  row(number: number): Locator {
    const title = this.frame.getByRole('heading', {
      name: `Row ${number.toLocaleString('en')}`,
      exact: true,
    });
    return this.frame.locator('article').filter({ has: title });
  }

  get rows(): Locator {
    return this.frame.locator('article');
  }

  /** The numbers of the rows in the page, from the top. */
  async rowNumbers(): Promise<number[]> {
    const titles = await this.frame.locator('article h2').allTextContents();
    return titles.map((title) => Number(title.replace(/\D/g, '')));
  }

  /** Waits until exactly these rows are in the page. */
  async waitForRows(numbers: readonly number[]): Promise<void> {
    await untilEqual([...numbers], () => this.rowNumbers());
  }

  get card(): Locator {
    return this.frame.locator('aside');
  }

  get search(): Locator {
    return this.frame.getByRole('textbox', { name: 'Search in rows' });
  }

  get rowNumber(): Locator {
    return this.frame.getByRole('textbox', { name: 'Row number' });
  }

  button(name: string): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  async goTo(row: number): Promise<void> {
    await this.rowNumber.fill(String(row));
    await this.rowNumber.press('Enter');
    await this.row(row).waitFor();
  }

  /** Waits for a text in the line above the rows. */
  async waitForStatus(text: string | RegExp): Promise<void> {
    await this.frame.locator('.status').filter({ hasText: text }).waitFor();
  }

  async waitForVerdict(text: string | RegExp): Promise<void> {
    await this.card.locator('.verdict').filter({ hasText: text }).waitFor();
  }

  focused(): Locator {
    return this.frame.locator(':focus');
  }

  async isInView(row: number): Promise<boolean> {
    const box = await this.row(row).boundingBox();
    const view = await this.frame.locator('.viewport').boundingBox();
    if (box === null || view === null) return false;
    return box.y < view.y + view.height - 1 && box.y + box.height > view.y + 1;
  }

  async waitUntilInView(row: number): Promise<void> {
    await until(`row ${row} is in view`, () => this.isInView(row));
  }

  /** Fails on any accessibility violation in the page. */
  assertAccessible(): Promise<void> {
    return assertAccessible(this.frame);
  }
}
