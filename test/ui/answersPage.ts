import type { FrameLocator, Locator } from 'playwright-core';
import { untilEqual } from './waits.ts';
import type { Workbench } from './workbench.ts';

/** The page that compares answers in the active editor. */
export class AnswersPage {
  readonly frame: FrameLocator;

  constructor(window: Pick<Workbench, 'webview'>) {
    this.frame = window.webview('panel');
  }

  title(text: string | RegExp): Locator {
    return this.frame.locator('h1').filter({ hasText: text });
  }

  button(name: string): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  row(line: number): Locator {
    const title = this.frame.getByRole('heading', { name: `Row ${line.toLocaleString('en')}`, exact: true });
    return this.frame.locator('article').filter({ has: title });
  }

  /** The numbers of the rows in the page, from the top. */
  async rowNumbers(): Promise<number[]> {
    const titles = await this.frame.locator('article h2').allTextContents();
    return titles.map((title) => Number(title.replace(/\D/g, '')));
  }

  /** The sentences of the headline. */
  headline(): Promise<string[]> {
    return this.frame.locator('.headline p').allTextContents();
  }

  /** The cells of the table, row by row. */
  async table(): Promise<string[][]> {
    const rows = await this.frame.locator('tbody tr').all();
    return Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
  }

  /** What the live regions say. */
  async said(): Promise<string[]> {
    const regions = await this.frame.locator('[role=status]').allTextContents();
    return regions.filter((text) => text !== '');
  }

  async waitUntilSaid(text: string): Promise<void> {
    const region = this.frame.locator('[role=status]').filter({ hasText: text });
    await region.first().waitFor({ state: 'attached' });
  }

  /** Waits until exactly these rows are in the page. */
  async waitForRows(lines: readonly number[]): Promise<void> {
    await untilEqual([...lines], () => this.rowNumbers());
  }

  focused(): Locator {
    return this.frame.locator(':focus');
  }
}
