// The page of an adapter. It shows the messages of the extension, and sends requests: it reads no file, and makes no sentence.
import type {
  AdapterMessage,
  AdapterOverview,
  AdapterPicture,
  AdapterRecipes,
  AdapterRequest,
  AdapterStart,
  AdapterStatus,
  AdapterWork,
} from '../../src/ui/adapters/protocol.ts';
import { button, element, icon } from '../shared/dom.ts';
import { Extension } from '../shared/extension.ts';
import { CopyButtons, drawFacts, drawFiles, drawNotes, drawVerdict } from './overview.ts';
import { drawPicture } from './picture.ts';
import { RecipeTabs } from './recipes.ts';

/** What the page stores while it is hidden, and while the window reloads. */
interface PageState {
  file: string;
  /** The tool whose recipe is shown. */
  tool: string | undefined;
}

/** Everything on the page, from one start to the next. */
class Page {
  readonly #extension: Extension<AdapterRequest, PageState>;
  readonly #words: AdapterStart['words'];
  readonly #file: string;
  readonly #copies: CopyButtons;
  readonly #heading: HTMLElement;
  readonly #spoken = element('div', { class: 'spoken', attributes: { role: 'status' } });
  readonly #notice = element('div', { class: 'notice', attributes: { role: 'status' } });
  readonly #verdict = element('div', { attributes: { role: 'status' } });
  readonly #overview = element('div', { class: 'overview' });
  readonly #picture = element('section', { class: 'picture' });
  readonly #recipes = element('section', { class: 'recipes' });
  readonly #files = element('section', { class: 'files' });
  readonly #work: Readonly<Record<AdapterWork['kind'], HTMLElement>> = {
    measure: element('div', { class: 'work' }),
    unpack: element('div', { class: 'work' }),
  };
  #tool: string | undefined;

  constructor(extension: Extension<AdapterRequest, PageState>, { words, file, fileName }: AdapterStart) {
    this.#extension = extension;
    this.#words = words;
    this.#file = file;
    this.#heading = element('h1', { text: fileName, attributes: { tabindex: '-1' } });
    this.#copies = new CopyButtons(words, (id, text) => extension.send({ type: 'copy', id, text }));
    this.#tool = extension.remembered?.file === file ? extension.remembered.tool : undefined;
    this.#remember();
    this.#notice.hidden = true;
    const sections = [this.#verdict, this.#overview, this.#picture, this.#recipes, this.#files];
    document.body.replaceChildren(
      this.#notice,
      element('main', {}, [this.#heading, ...sections]),
      this.#spoken,
    );
  }

  show(message: Exclude<AdapterMessage, AdapterStart>): void {
    switch (message.type) {
      case 'status':
        this.#showStatus(message);
        return;
      case 'overview':
        this.#showOverview(message);
        return;
      case 'picture':
        this.#showPicture(message);
        return;
      case 'recipes':
        this.#showRecipes(message);
        return;
      case 'work':
        this.#showWork(message);
        return;
      case 'notice':
        this.#showNotice(message.text);
        return;
      case 'copied':
        this.#copies.confirm(message.id);
        this.#say(this.#words.copied);
    }
  }

  #showStatus({ text, retry }: AdapterStatus): void {
    // The keyboard does not get lost with what it was on.
    if (document.activeElement !== document.body) this.#heading.focus();
    for (const section of [this.#overview, this.#picture, this.#recipes, this.#files])
      section.replaceChildren();
    for (const work of Object.values(this.#work)) work.replaceChildren();
    this.#verdict.replaceChildren(
      element('p', { text }),
      retry === undefined
        ? element('progress', { attributes: { 'aria-label': text } })
        : button(retry, () => this.#extension.send({ type: 'reload' }), { class: 'secondary' }),
    );
  }

  #showOverview({ verdict, sections, files }: AdapterOverview): void {
    this.#verdict.replaceChildren(drawVerdict(verdict));
    this.#redraw(
      this.#overview,
      sections.map(({ title, facts = [], notes = [] }) =>
        element('section', {}, [
          heading(title),
          facts.length > 0 ? drawFacts(facts, this.#copies) : drawNotes(notes, this.#words),
        ]),
      ),
    );
    this.#redraw(this.#files, files === undefined ? [] : [heading(files.title), ...drawFiles(files)]);
  }

  #showPicture(picture: AdapterPicture): void {
    const { measure } = picture;
    const begin =
      measure === undefined
        ? []
        : [button(measure, () => this.#extension.send({ type: 'measure' }), { class: 'primary begins' })];
    this.#redraw(this.#picture, [
      heading(picture.title),
      ...drawPicture(picture),
      drawNotes(picture.findings, this.#words),
      ...begin,
      this.#work.measure,
    ]);
  }

  #showRecipes(recipes: AdapterRecipes): void {
    const { packed, folder } = recipes;
    const unpack = (elsewhere: boolean) => () => this.#extension.send({ type: 'unpack', elsewhere });
    const tabs = new RecipeTabs(recipes.tools, this.#words, this.#copies, this.#tool, (tool) => {
      this.#tool = tool;
      this.#remember();
    });
    const question =
      packed &&
      element('div', { class: 'packed' }, [
        element('p', { text: packed.text }),
        element('p', { class: 'actions' }, [
          button(packed.unpack, unpack(false), { class: 'primary begins' }),
          button(packed.elsewhere, unpack(true), { class: 'secondary begins' }),
        ]),
      ]);
    this.#redraw(this.#recipes, [
      heading(recipes.title),
      ...(question === undefined ? [] : [question]),
      this.#work.unpack,
      ...(folder === undefined ? [] : [drawFacts([folder], this.#copies)]),
      ...tabs.elements,
    ]);
  }

  #showWork({ kind, progress, result }: AdapterWork): void {
    const section = kind === 'measure' ? this.#picture : this.#recipes;
    const work = this.#work[kind];
    const hadFocus = work.contains(document.activeElement);
    for (const one of document.querySelectorAll<HTMLButtonElement>('button.begins')) {
      // One work at a time: the button of the other is shown, but disabled.
      one.setAttribute('aria-disabled', String(progress !== undefined));
      one.hidden = progress !== undefined && section.contains(one);
    }
    if (progress !== undefined) this.#showProgress(work, progress);
    else {
      work.replaceChildren();
      if (hadFocus) section.querySelector('h2')?.focus();
    }
    if (result === undefined) return;
    this.#say(result.text);
    if (!result.isQuiet)
      work.replaceChildren(
        element('p', { class: 'result' }, [
          icon(result.isError ? 'error' : 'clean'),
          element('span', { text: result.text }),
        ]),
      );
  }

  #showProgress(work: HTMLElement, { text, fraction }: NonNullable<AdapterWork['progress']>): void {
    const bar = work.querySelector('progress');
    if (bar === null) {
      const { progress, cancel } = this.#words;
      const stop = button(cancel, () => this.#extension.send({ type: 'cancel' }), { class: 'secondary' });
      work.replaceChildren(
        element('div', { class: 'running' }, [
          element('progress', { attributes: { max: '1', value: '0', 'aria-label': progress } }),
          element('span', { class: 'note', text }),
          stop,
        ]),
      );
      // The button that began it is hidden now.
      if (document.activeElement === null || document.activeElement === document.body) stop.focus();
      return;
    }
    bar.value = fraction;
    const note = work.querySelector('.note');
    if (note !== null) note.textContent = text;
  }

  #showNotice(text: string | undefined): void {
    this.#notice.hidden = text === undefined;
    const reload = button(this.#words.reload, () => this.#extension.send({ type: 'reload' }), {
      class: 'secondary',
    });
    this.#notice.replaceChildren(...(text === undefined ? [] : [element('span', { text }), reload]));
  }

  /** Draws a section again; the keyboard stays on the same button, or goes to the heading. */
  #redraw(section: HTMLElement, drawn: readonly Node[]): void {
    const focused = document.activeElement;
    const isIn = focused !== null && section.contains(focused);
    const key = isIn ? focused.getAttribute('data-key') : null;
    section.replaceChildren(...drawn);
    if (!isIn) return;
    const same = key === null ? null : section.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
    (same ?? section.querySelector('h2'))?.focus();
  }

  #say(text: string): void {
    // Cleared first, so that the same words are said again.
    this.#spoken.textContent = '';
    requestAnimationFrame(() => (this.#spoken.textContent = text));
  }

  #remember(): void {
    this.#extension.remember(() => ({ file: this.#file, tool: this.#tool }));
  }
}

function heading(text: string): HTMLElement {
  return element('h2', { text, attributes: { tabindex: '-1' } });
}

function main(): void {
  const extension = new Extension<AdapterRequest, PageState>();
  let page: Page | undefined;
  window.addEventListener('message', ({ data }: MessageEvent<AdapterMessage>) => {
    if (data.type === 'start') page = new Page(extension, data);
    else page?.show(data);
  });
  extension.send({ type: 'ready' });
}

main();
