// The adapter page. It shows the extension's messages and sends requests, but reads no files and composes no sentences.
import type {
  AdapterMemory,
  AdapterMessage,
  AdapterPageState,
  AdapterRecipes,
  AdapterRequest,
  AdapterWork,
} from '../../src/ui/adapters/protocol.ts';
import { Client } from '../shared/client.ts';
import { button, element, icon, keepFocus } from '../shared/dom.ts';
import { drawFacts, drawFiles, drawNotes, drawVerdict } from './overview.ts';
import { drawBlocks, drawRecipes, revealBlock } from './recipes.ts';

type Words = AdapterPageState['words'];

class Page {
  readonly #client = new Client<{
    message: AdapterMessage;
    request: AdapterRequest;
    memory: AdapterMemory;
  }>();
  readonly #notice = element('div', { class: 'notice', attributes: { role: 'status' } });
  readonly #heading = element('h1', { attributes: { tabindex: '-1' } });
  readonly #origin = element('p', { class: 'note' });
  readonly #verdict = element('div', { attributes: { role: 'status' } });
  readonly #overview = element('div', { class: 'overview' });
  readonly #values = element('section', { class: 'values' });
  readonly #recipes = element('section', { class: 'recipes' });
  readonly #publishing = element('section', { class: 'publishing' });
  readonly #files = element('section', { class: 'files' });
  readonly #work: Readonly<Record<AdapterWork['kind'], HTMLElement>> = {
    measure: element('div', { class: 'work' }),
    unpack: element('div', { class: 'work' }),
  };
  /** The JSON that each part was last drawn from. */
  readonly #drawn = new Map<HTMLElement, string>();
  #words: Words | undefined;
  /** The section of the work in progress. */
  #busy: HTMLElement | undefined;
  #tool: string | undefined;

  constructor() {
    this.#tool = this.#client.remembered?.tool;
    const main = element('main', {}, [
      ...[this.#heading, this.#origin, this.#verdict, this.#overview, this.#values],
      ...[this.#recipes, this.#publishing, this.#files],
    ]);
    document.body.replaceChildren(this.#notice, main);
    this.#client.connect((message) => {
      if (message.type === 'page') this.#show(message);
      else if (message.type === 'reveal') revealBlock(this.#recipes, message.purpose);
      else this.#showWork(message);
    });
  }

  #show(page: AdapterPageState): void {
    const { words, fileName, origin, file, notice, status, verdict } = page;
    const { sections, values, recipes, publishing, files } = page;
    this.#words = words;
    this.#heading.textContent = fileName;
    this.#origin.textContent = origin ?? '';
    this.#client.remember(() => ({ file, tool: this.#tool }));
    const reload = (name: string) =>
      button(name, () => this.#client.send({ type: 'reload' }), { class: 'secondary' });
    this.#draw(this.#notice, notice, (text) => [element('span', { text }), reload(words.reload)]);
    this.#draw(this.#verdict, status ?? verdict, (one) => {
      if ('kind' in one) return [drawVerdict(one)];
      const { text, retry } = one;
      const progress = () => element('progress', { attributes: { 'aria-label': text } });
      return [
        element('p', { text }),
        retry === undefined ? progress() : element('p', { class: 'actions' }, [reload(retry)]),
      ];
    });
    this.#draw(this.#overview, sections, (all) =>
      all.map(({ title, facts = [], notes = [] }) =>
        element('section', {}, [
          heading(title),
          facts.length > 0 ? drawFacts(facts, words, this.#openCheckpoint) : drawNotes(notes, words),
        ]),
      ),
    );
    this.#draw(this.#values, values, (one) => [
      heading(one.title),
      drawNotes(one.notes, words),
      ...(one.measure === undefined ? [] : [this.#startButton(one.measure, { type: 'measure' }, 'primary')]),
      this.#work.measure,
    ]);
    this.#draw(this.#recipes, recipes, (one) => this.#drawRecipes(one, words, file));
    this.#draw(this.#publishing, publishing, (one) => [
      heading(one.title),
      drawNotes(one.notes, words),
      ...drawBlocks(one.title, one.blocks, words),
    ]);
    this.#draw(this.#files, files, (one) => [heading(one.title), ...drawFiles(one)]);
    if (status !== undefined) {
      this.#busy = undefined;
      for (const work of Object.values(this.#work)) work.replaceChildren();
    }
    this.#markBusy();
  }

  #drawRecipes(recipes: AdapterRecipes, words: Words, file: string): HTMLElement[] {
    const { title, packed, folder, notes, tools } = recipes;
    const question = ({ text, unpack, elsewhere }: NonNullable<AdapterRecipes['packed']>) =>
      element('div', { class: 'packed' }, [
        element('p', { text }),
        element('p', { class: 'actions' }, [
          this.#startButton(unpack, { type: 'unpack', elsewhere: false }, 'primary'),
          this.#startButton(elsewhere, { type: 'unpack', elsewhere: true }, 'secondary'),
        ]),
      ]);
    return [
      heading(title),
      ...(packed === undefined ? [] : [question(packed)]),
      this.#work.unpack,
      ...(folder === undefined ? [] : [drawFacts([folder], words, this.#openCheckpoint)]),
      drawNotes(notes, words),
      ...drawRecipes(tools, words, this.#tool, (tool) => {
        this.#tool = tool;
        this.#client.remember(() => ({ file, tool }));
      }),
    ];
  }

  readonly #openCheckpoint = (checkpoint: string) => this.#client.send({ type: 'open', checkpoint });

  /** Creates a button that starts work. */
  #startButton(name: string, request: AdapterRequest, look: 'primary' | 'secondary'): HTMLButtonElement {
    const send = () => this.#client.send(request);
    return button(name, send, { class: `${look} start`, key: name });
  }

  /** Only one work runs at a time: hides its start buttons and disables the others. */
  #markBusy(): void {
    for (const one of document.querySelectorAll<HTMLButtonElement>('button.start')) {
      one.setAttribute('aria-disabled', String(this.#busy !== undefined));
      one.hidden = this.#busy?.contains(one) === true;
    }
  }

  #showWork({ kind, progress, result }: AdapterWork): void {
    const section = kind === 'measure' ? this.#values : this.#recipes;
    const work = this.#work[kind];
    const hadFocus = work.contains(document.activeElement);
    this.#busy = progress && section;
    this.#markBusy();
    if (progress !== undefined) this.#showProgress(work, progress);
    if (result === undefined) return;
    work.replaceChildren();
    if (hadFocus) section.querySelector('h2')?.focus();
    this.#client.say(result.text);
    if (result.isQuiet) return;
    const shown = icon(result.isError ? 'error' : 'clean');
    work.append(element('p', { class: 'result' }, [shown, element('span', { text: result.text })]));
  }

  #showProgress(work: HTMLElement, { text, fraction }: NonNullable<AdapterWork['progress']>): void {
    if (work.querySelector('progress') === null && this.#words !== undefined) {
      const { progress, cancel } = this.#words;
      const stop = button(cancel, () => this.#client.send({ type: 'cancel' }), { class: 'secondary' });
      const bar = element('progress', { attributes: { max: '1', 'aria-label': progress } });
      work.replaceChildren(
        element('div', { class: 'running' }, [bar, element('span', { class: 'note' }), stop]),
      );
      // The start button, which had the focus, is hidden now.
      if (document.activeElement === null || document.activeElement === document.body) stop.focus();
    }
    work.querySelector('progress')?.setAttribute('value', String(fraction));
    work.querySelector('.note')?.replaceChildren(text);
  }

  /** Draws a part if it has changed; the focus stays on the same button or moves to the heading. */
  #draw<T>(part: HTMLElement, content: T | undefined, draw: (content: T) => readonly Node[]): void {
    const source = content === undefined ? '' : JSON.stringify(content);
    if (this.#drawn.get(part) === source) return;
    this.#drawn.set(part, source);
    const refocus = keepFocus(part);
    const open = [...part.querySelectorAll<HTMLElement>('details[open]')].map(
      ({ dataset }) => dataset['key'],
    );
    part.replaceChildren(...(content === undefined ? [] : draw(content)));
    for (const one of part.querySelectorAll('details'))
      one.open = 'key' in one.dataset && open.includes(one.dataset['key']);
    refocus(part, part.querySelector('h2') ?? this.#heading);
  }
}

function heading(text: string): HTMLElement {
  return element('h2', { text, attributes: { tabindex: '-1' } });
}

new Page();
