import type { Locator, Page } from 'playwright-core';
import { chooseInContextMenu, isTaken } from './dialogs.ts';
import { actUntil, comes, startUntil, succeeds, until } from './waits.ts';

/** The activity bar and the views of its active container. */
export class SideBar {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** The tab of a view container in the activity bar, such as "Fine-Tuning" or "Explorer". */
  tab(container: string): Locator {
    return this.#page.locator('.activitybar').getByRole('tab', { name: new RegExp(`^${container}`) });
  }

  async open(container: string): Promise<void> {
    const tab = this.tab(container);
    await tab.waitFor();
    const title = this.#page
      .locator('.sidebar .composite.title')
      .filter({ hasText: new RegExp(container, 'i') });
    // A new window restores its last container, and a click at that moment hides it.
    await actUntil(async () => {
      if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.click();
    }, title);
  }

  /** A view of the container "Fine-Tuning", such as "Runs". */
  view(title: string): View {
    const header = this.#page
      .locator(`.pane-header .title`)
      .filter({ hasText: new RegExp(`^${title}$`, 'i') });
    const root = this.#page.locator('.sidebar .pane').filter({ has: header });
    return new View(this.#page, root, () => this.open('Fine-Tuning'));
  }

  /** The Models view, which is initially collapsed. */
  async models(): Promise<View> {
    const view = this.view('Models');
    const header = view.root.locator('.pane-header');
    await header.waitFor();
    if ((await header.getAttribute('aria-expanded')) === 'true') return view;
    await header.press('Enter');
    await view.root.locator('[role=tree]').waitFor();
    // Make room for all rows, because rows that are scrolled away are not in the DOM. Opening moves the header.
    await until('the view is tall', async () => {
      if (await isTall(view)) return true;
      const { x = 0, y = 0 } = (await header.boundingBox()) ?? {};
      await this.#page.mouse.move(x + 100, y);
      await this.#page.mouse.down();
      await this.#page.mouse.move(x + 100, y - 400, { steps: 4 });
      await this.#page.mouse.up();
      return isTall(view);
    });
    return view;
  }

  /** Opens the explorer and returns its tree. */
  async explorer(): Promise<View> {
    await this.open('Explorer');
    const root = this.#page.locator('.sidebar .explorer-folders-view');
    return new View(this.#page, root, () => this.open('Explorer'));
  }
}

/** Whether a view shows more than a few rows. */
async function isTall({ root }: View): Promise<boolean> {
  return ((await root.boundingBox())?.height ?? 0) > 250;
}

/** A view: a tree, or its welcome content while the tree is empty. */
export class View {
  readonly #page: Page;
  readonly #reopen: () => Promise<void>;
  readonly root: Locator;

  /** @param reopen opens its container */
  constructor(page: Page, root: Locator, reopen: () => Promise<void>) {
    this.#page = page;
    this.root = root;
    this.#reopen = reopen;
  }

  /** Acts on a row. @returns whether that was possible soon; if not, the side bar may show another container, and this one is opened */
  async #can(act: (limit: { timeout: number }) => Promise<unknown>): Promise<boolean> {
    const isDone = await succeeds(act);
    if (!isDone) await this.#reopen();
    return isDone;
  }

  /** A row by its accessible name, which is its tooltip if it has one; a string may be a part of it. */
  row(name: string | RegExp): Locator {
    return this.root.getByRole('treeitem', { name });
  }

  /** Selects exactly these rows with the mouse. */
  async select(first: string, ...others: string[]): Promise<void> {
    const selected = this.root.locator('[role=treeitem][aria-selected=true]');
    // If the list changes between press and release, another row is selected.
    const names = [first, ...others];
    await until(`${names.join(' and ')} are selected`, async () => {
      if (!(await this.#can((limit) => this.row(first).click(limit)))) return false;
      for (const name of others) await this.row(name).click({ modifiers: ['ControlOrMeta'] });
      const each = await Promise.all(names.map((name) => comes(selected.and(this.row(name)))));
      return !each.includes(false) && (await selected.count()) === each.length;
    });
  }

  /** Clicks a row until `shown` is visible, because a row that is redrawn meanwhile loses the click. */
  async clickUntil(name: string | RegExp, shown: Locator): Promise<void> {
    await actUntil(() => this.#can((limit) => this.row(name).click(limit)), shown);
  }

  /** Presses an action of a row until `shown` is visible, because a row that is redrawn meanwhile loses the click. */
  async pressInRowUntil(name: string | RegExp, action: string, shown: Locator): Promise<void> {
    await startUntil(() => this.pressInRow(name, action), shown);
  }

  /** Presses an action of a row, which is visible on hover. */
  async pressInRow(name: string | RegExp, action: string): Promise<void> {
    const row = this.row(name).first();
    const button = row.getByRole('button', { name: action });
    // If the row moves, the pointer is on another one.
    await until(`${action} is pressed`, async () => {
      return (await this.#can((limit) => row.hover(limit))) && succeeds((limit) => button.click(limit));
    });
  }

  async chooseInContextMenu(name: string | RegExp, item: string): Promise<void> {
    const row = this.row(name).first();
    await chooseInContextMenu(
      this.#page,
      item,
      async () =>
        (await this.#can((limit) => row.click({ button: 'right', ...limit }))) &&
        // As in `select`, the menu may be another row's.
        comes(row.and(this.#page.locator('.focused'))),
    );
  }

  async chooseInTitleMenu(item: string): Promise<void> {
    const header = this.root.locator('.pane-header');
    const choice = this.#page
      .locator('.monaco-menu-container')
      .getByRole('menuitem', { name: item, exact: true });
    await until(`the menu of the view takes "${item}"`, async () => {
      // The button is visible on hover.
      await header.hover();
      await header.getByRole('button', { name: 'More Actions...' }).click();
      if (await isTaken(choice)) return true;
      await this.#page.keyboard.press('Escape');
      return false;
    });
  }

  welcomeLink(label: string): Locator {
    return this.root.locator('.welcome-view-content a.monaco-link').filter({ hasText: label });
  }

  welcomeButton(label: string): Locator {
    return this.root.locator('.welcome-view-content').getByRole('button', { name: label });
  }
}
