// The page of an adapter. It shows what it is told and asks for what it needs: it reads no file, and makes no sentence of
// its own.
import type {
  AdapterFailure,
  AdapterMessage,
  AdapterOverview,
  AdapterPicture,
  AdapterRecipes,
  AdapterStart,
  AdapterWork,
} from '../../src/ui/adapters/protocol.ts';
import { button, element } from '../shared/dom.ts';
import { Extension } from '../shared/extension.ts';
import { CopyButtons } from './copyButtons.ts';
import { drawOverview, drawVerdict } from './overview.ts';
import type { AdapterExtension } from './pageState.ts';
import { drawPicture } from './picture.ts';
import { RecipeTabs } from './recipes.ts';
import { WorkBox } from './workBox.ts';

/** Everything on the page, from one start to the next. */
class Page {
  readonly #extension: AdapterExtension;
  readonly #start: AdapterStart;
  readonly #copies: CopyButtons;
  readonly #heading: HTMLElement;
  readonly #spoken = element('div', { class: 'spoken', attributes: { role: 'status' } });
  readonly #notice = element('div', { class: 'notice', attributes: { role: 'status' } });
  readonly #verdict = element('div', { attributes: { role: 'status' } });
  readonly #overview = element('div', { class: 'overview' });
  readonly #picture = element('section', { class: 'picture' });
  readonly #recipes = element('section', { class: 'recipes' });
  readonly #files = element('section', { class: 'files' });
  readonly #work: Readonly<Record<AdapterWork['kind'], WorkBox>>;
  #tool: string | undefined;

  constructor(extension: AdapterExtension, start: AdapterStart) {
    const { words } = start;
    this.#heading = element('h1', { text: start.fileName, attributes: { tabindex: '-1' } });
    this.#extension = extension;
    this.#start = start;
    this.#copies = new CopyButtons(words, (id, text) => extension.send({ type: 'copy', id, text }));
    const box = () => new WorkBox(words, () => extension.send({ type: 'cancel' }));
    this.#work = { measure: box(), unpack: box() };
    const remembered = extension.remembered;
    this.#tool = remembered?.file === start.file ? remembered.tool : undefined;
    this.#remember();
    this.#notice.hidden = true;
    document.body.replaceChildren(
      this.#notice,
      element('main', {}, [
        this.#heading,
        this.#verdict,
        this.#overview,
        this.#picture,
        this.#recipes,
        this.#files,
      ]),
      this.#spoken,
    );
  }

  take(message: AdapterMessage): void {
    switch (message.type) {
      case 'loading':
        this.#load(message.text);
        return;
      case 'failure':
        this.#fail(message);
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
        this.#say(this.#start.words.copied);
        return;
      case 'start':
        // It makes another page.
        return;
    }
  }

  #load(text: string): void {
    // The keyboard does not get lost with what it was on.
    if (document.activeElement !== document.body) this.#heading.focus();
    for (const section of [this.#overview, this.#picture, this.#recipes, this.#files])
      section.replaceChildren();
    for (const work of Object.values(this.#work)) work.show(undefined, undefined);
    this.#verdict.replaceChildren(
      element('p', { class: 'note', text }),
      element('progress', { attributes: { 'aria-label': text } }),
    );
  }

  #fail({ text, retry }: AdapterFailure): void {
    this.#verdict.replaceChildren(
      element('p', { class: 'failure', text }),
      button(retry, () => this.#extension.send({ type: 'reload' }), { class: 'secondary' }),
    );
  }

  #showOverview(overview: AdapterOverview): void {
    const { words } = this.#start;
    this.#verdict.replaceChildren(...drawVerdict(overview.verdict));
    const drawn = drawOverview(overview, words, this.#copies);
    this.#redraw(this.#overview, drawn.overview);
    this.#redraw(this.#files, drawn.files);
  }

  #showPicture(picture: AdapterPicture): void {
    const { words } = this.#start;
    this.#redraw(this.#picture, [
      element('h2', { text: words.picture, attributes: { tabindex: '-1' } }),
      ...drawPicture(picture, words, this.#work.measure.root, () =>
        this.#extension.send({ type: 'measure' }),
      ),
    ]);
  }

  #showRecipes(recipes: AdapterRecipes): void {
    const { words } = this.#start;
    const tabs = new RecipeTabs(recipes, words, this.#copies, this.#tool, {
      onTool: (tool) => {
        this.#tool = tool;
        this.#remember();
      },
      onUnpack: (elsewhere) => this.#extension.send({ type: 'unpack', elsewhere }),
    });
    this.#redraw(this.#recipes, [
      element('h2', { text: words.recipes, attributes: { tabindex: '-1' } }),
      ...tabs.draw(this.#work.unpack.root),
    ]);
  }

  #showWork({ kind, progress, result }: AdapterWork): void {
    for (const other of ['measure', 'unpack'] as const) {
      const isBusy = progress !== undefined;
      // One at a time: the buttons of the other work wait as well.
      const section = other === 'measure' ? this.#picture : this.#recipes;
      for (const one of section.querySelectorAll<HTMLButtonElement>('button.begins')) {
        one.setAttribute('aria-disabled', String(isBusy));
        one.hidden = isBusy && other === kind;
      }
    }
    const focusGone = this.#work[kind].show(progress, result);
    if (progress === undefined && focusGone)
      (kind === 'measure' ? this.#picture : this.#recipes).querySelector('h2')?.focus();
    if (result !== undefined) this.#say(result.text);
  }

  #showNotice(text: string | undefined): void {
    this.#notice.hidden = text === undefined;
    this.#notice.replaceChildren();
    if (text === undefined) return;
    this.#notice.append(
      element('span', { text }),
      button(this.#start.words.reload, () => this.#extension.send({ type: 'reload' }), {
        class: 'secondary',
      }),
    );
  }

  /** Draws anew what the person may be in: the keyboard stays where it was, or at the heading. */
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
    this.#extension.remember(() => ({ file: this.#start.file, tool: this.#tool }));
  }
}

function main(): void {
  const extension: AdapterExtension = new Extension();
  let page: Page | undefined;
  window.addEventListener('message', ({ data }: MessageEvent<AdapterMessage>) => {
    if (data.type === 'start') page = new Page(extension, data);
    else page?.take(data);
  });
  extension.send({ type: 'ready' });
}

main();
